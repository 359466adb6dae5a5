// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressdctl adopt: a file system stays where it is, and what the device has behind it becomes the
 * reserved area.  Only that is written to.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/size.h"
#include "dm/fs-end.h"
#include "dm/plan.h"
#include "format.h"
#include "log/area.h"
#include "log/covers.h"
#include "ressdctl.h"

#define LEAST_SHARE	4	/* of the usual size: a tail that is smaller is not taken unasked */

struct adopt {
	struct format_arguments format;
	const char *device;
	const char *reserved;		/* --reserved SIZE */
	char **options;
	int nr_options;
};

static int no_space(const struct blkdev *dev, const struct file_system *fs,
		    const struct ressd_table *wanted, struct failure *failure)
{
	char size[SIZE_TEXT], free[SIZE_TEXT], shrink[sizeof(failure->text) - 256];
	const u64 left = fs->bytes < dev->bytes ? dev->bytes - fs->bytes : 0;

	return fail(failure, -ENOSPC,
		    "the %s on %.200s leaves %s behind it, but the log is to have %s; %s; then adopt again",
		    fs->type, dev->path, size_print(left, free),
		    size_print(wanted->reserved_sectors * 512, size),
		    fs_shrink_words(fs, dev->path, wanted->reserved_start * 512, shrink,
				    sizeof(shrink)));
}

/* The areas: as large a log as on a new device, or what there is, if that is enough. */
static int place_areas(struct adopt *adopt, const struct blkdev *dev,
		       const struct file_system *fs, struct failure *failure)
{
	const u64 end = dev->bytes / RESSD_BLOCK_SIZE * RESSD_BLOCK_SECTORS;
	const u64 first = (fs->bytes + RESSD_BLOCK_SIZE - 1) / RESSD_BLOCK_SIZE *
			  RESSD_BLOCK_SECTORS;
	struct ressd_table wanted, *table = &adopt->format.line.table;
	char why[128];
	u64 bytes = 0;

	if (adopt->reserved &&
	    size_parse(adopt->reserved, "--reserved", dev->bytes, &bytes, failure))
		return -EINVAL;
	if (adopt->reserved && !bytes)
		return fail(failure, -EINVAL,
			    "--reserved is '%.40s', but the log needs some space",
			    adopt->reserved);
	if (plan_areas(dev->bytes, bytes, &wanted, why, sizeof(why), failure))
		return -EINVAL;
	*table = wanted;
	if (first <= wanted.reserved_start)
		return 0;
	if (adopt->reserved || first >= end ||
	    (end - first) * LEAST_SHARE < wanted.reserved_sectors)
		return no_space(dev, fs, &wanted, failure);
	table->len = first;
	table->reserved_start = first;
	table->reserved_sectors = end - first;
	return 0;
}

/* With --force the file system makes an end of an older log; a device that is covered has none. */
static int check_new(const struct blkdev *dev, bool force, struct failure *failure)
{
	struct ressd_super_info info;
	struct file_system fs;
	char text[COVERS_TEXT];
	struct covers covers;
	struct failure why;
	int found = area_find(dev, &info, &why);

	if (found == -EPROTONOSUPPORT && !force)
		return fail(failure, -EEXIST,
			    "%.900s; or, if the file system is newer, add --force", why.text);
	if (found == -EPROTONOSUPPORT)
		found = 1;
	if (found < 0)
		return fail(failure, found, "%s", why.text);
	if (!found)
		found = covers_find(dev, 0, dev->bytes / 512, &covers, failure);
	if (found < 0 || (!found && !covers.sectors))
		return found;
	if (found && force && !fs_end(dev, &fs, failure))
		return 0;
	if (!found)
		return fail(failure, -EEXIST, "%s has %s; open that device and drain it first",
			    dev->path, covers_print(&covers, text));
	return fail(failure, -EEXIST,
		    "%s has a reserved area of ressd already; open it with: ressdctl open %.200s; or, if the file system is newer, add --force",
		    dev->path, dev->path);
}

static int adopt_device(struct adopt *adopt, const struct blkdev *dev, struct failure *failure)
{
	struct table_line *line = &adopt->format.line;
	struct file_system fs;
	char size[SIZE_TEXT];
	int code = check_new(dev, adopt->format.force, failure);

	if (!code)
		code = fs_end(dev, &fs, failure);
	if (!code)
		code = place_areas(adopt, dev, &fs, failure);
	if (code)
		return code;
	snprintf(line->normal_path, sizeof(line->normal_path), "%s", adopt->device);
	snprintf(line->reserved_path, sizeof(line->reserved_path), "%s", adopt->device);
	ressd_options_default(&line->options);
	if (ressd_options_parse(&line->options, adopt->nr_options, adopt->options, failure->text,
				sizeof(failure->text)) ||
	    table_line_check(line, dev, dev, failure))
		return -EINVAL;
	printf("%s of %s on %s stays as it is\n", fs.type, size_print(fs.bytes, size), dev->path);
	code = format_device(&adopt->format, dev, failure);
	if (!code && dev->is_file)
		printf("to use it: losetup -f --show %s; ressdctl open NAME LOOP_DEVICE; mount /dev/mapper/NAME\n",
		       adopt->device);
	else if (!code)
		printf("from now on use it by way of: ressdctl open NAME %s; mount /dev/mapper/NAME\n",
		       adopt->device);
	return code;
}

static int parse(struct adopt *adopt, int argc, char **argv, struct failure *failure)
{
	static const struct option options[] = {
		{ "reserved", required_argument, NULL, 'r' },
		{ "yes", no_argument, NULL, 'y' },
		{ "force", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, ":yfh", options, NULL)) != -1) {
		if (option == 'r')
			adopt->reserved = optarg;
		else if (option == 'y')
			adopt->format.yes = true;
		else if (option == 'f')
			adopt->format.force = true;
		else if (option == 'h')
			return COMMAND_HELP;
		else
			return bad_option(argv, option, failure);
	}
	if (optind == argc)
		return fail(failure, -EINVAL,
			    "adopt needs the device that holds the file system, and behind it options with their values if you like");
	adopt->device = argv[optind];
	adopt->options = argv + optind + 1;
	adopt->nr_options = argc - optind - 1;
	return 0;
}

int command_adopt(int argc, char **argv, struct failure *failure)
{
	struct adopt adopt = { .format = { .same_device = true, .adopts = true } };
	struct blkdev dev;
	int code = parse(&adopt, argc, argv, failure);

	if (!code)
		code = blkdev_open(&dev, adopt.device, BLKDEV_WRITE, failure);
	if (code)
		return code;
	code = adopt_device(&adopt, &dev, failure);
	blkdev_close(&dev);
	return code;
}
