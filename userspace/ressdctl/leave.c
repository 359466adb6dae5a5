// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressdctl leave: drain, close, and erase the log, so that a plain disk remains.  Each step leaves
 * a device that works, so after an interruption it is just done again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/progress.h"
#include "cli/words.h"
#include "dm/ressd-dm.h"
#include "log/area.h"
#include "log/block-devices.h"
#include "log/contents.h"
#include "log/super-pair.h"
#include "ressdctl.h"

struct leave {
	const char *target;		/* as given */
	char path[PATH_MAX];		/* of the device with the reserved area */
	struct ressd_table table;	/* of the active device; all zero: it was closed */
	struct progress progress;
};

static void show_progress(void *context, u64 done, u64 total)
{
	struct leave *leave = context;

	progress_update(&leave->progress, done, total);
}

/* Drains and closes the active device @name. */
static int close_device(struct leave *leave, const char *name, struct failure *failure)
{
	char table[TABLE_LINE_TEXT];
	struct table_line line;
	int code = active_table(name, table, failure);

	if (!code)
		code = table_line_parse(&line, table, failure);
	/* A drain takes its time: first, whether it makes sense. */
	if (!code)
		code = ressd_dm_check_removable(name, failure);
	if (!code && !block_device_path(line.reserved_path, leave->path))
		code = fail(failure, -ENODEV, "the reserved device %.40s has no name in /dev",
			    line.reserved_path);
	leave->table = line.table;
	if (!code)
		code = drain_by_name(name, failure);
	return code ? code : ressd_dm_remove(name, failure);
}

static int find_super(const struct leave *leave, const struct blkdev *dev,
		      struct ressd_super_info *info, struct failure *failure)
{
	static struct super_pair supers;
	int found;

	if (!leave->table.reserved_sectors) {
		found = area_find(dev, info, failure);
		if (found)
			return found < 0 ? found : 0;
		return fail(failure, -ENODATA,
			    "no reserved area ends with %s or begins with it; of one that lies elsewhere, leave with the name of the open device",
			    dev->path);
	}
	super_pair_read(&supers, dev, leave->table.reserved_start, leave->table.reserved_sectors);
	if (supers.choice)
		return fail(failure, -EUCLEAN, "%s", supers.error);
	*info = supers.info;
	return 0;
}

static int erase(struct leave *leave, const struct blkdev *dev, struct failure *failure)
{
	struct ressd_super_info info;
	u64 blocks = 0;
	int code = find_super(leave, dev, &info, failure);

	if (!code)
		code = log_check_end(dev, &info, failure);
	if (!code)
		code = log_contents(dev, &info, &blocks, failure);
	if (code)
		return code;
	if (blocks)
		return fail(failure, -EEXIST,
			    "the log of %s holds %llu block%s of 4 KiB that the normal area does not have; open it, and leave with the name of the open device",
			    dev->path, blocks, plural(blocks));
	progress_start(&leave->progress, "erasing the log");
	code = area_erase(dev, &info, show_progress, leave, failure);
	progress_end();
	return code;
}

int command_leave(int argc, char **argv, struct failure *failure)
{
	struct leave leave = { .target = NULL };
	const char *name;
	struct blkdev dev;
	int code = one_word(argc, argv, &leave.target, failure);

	if (code)
		return code;
	name = ressd_dm_name(leave.target);
	if (name)
		code = close_device(&leave, name, failure);
	else
		snprintf(leave.path, sizeof(leave.path), "%s", leave.target);
	if (!code)
		code = blkdev_open(&dev, leave.path, BLKDEV_WRITE, failure);
	if (code)
		return code;
	code = erase(&leave, &dev, failure);
	blkdev_close(&dev);
	if (!code)
		printf("%s is a plain disk again\n", leave.path);
	return code;
}
