// SPDX-License-Identifier: GPL-2.0-only
/* From the verdict to a reserved area and a device. */
#include <errno.h>
#include "dm/ressd-dm.h"
#include "log/area.h"
#include "log/find-logs.h"
#include "probe.h"

int probe_check_create(const struct probe *probe, struct failure *failure)
{
	if (probe->dev.is_file)
		return fail(failure, -EINVAL,
			    "--create needs a block device, but %s is a file; attach it with losetup first",
			    probe->dev.path);
	return ressd_dm_can_create(probe->arguments.create, failure);
}

static bool is_overwritten(const struct probe *probe)
{
	const struct ressd_table *table = &probe->line.table;
	const u64 start = table->reserved_start * 512;

	if (!probe->arguments.write || probe->arguments.preserve)
		return false;
	return start >= probe->region.offset &&
	       start + table->reserved_sectors * 512 <= probe->region.offset + probe->region.bytes;
}

/* Earlier logs must not be found again where the new one is. */
static int format(struct probe *probe, u8 *uuid, struct failure *failure)
{
	const struct byte_range area = {
		probe->line.table.reserved_start * 512, probe->line.table.reserved_sectors * 512,
	};
	struct found_logs logs;
	int code = find_logs(&probe->dev, &area, 1, &logs, failure);

	if (!code)
		code = found_logs_forget(&probe->dev, &logs, &area, failure);
	return code ? code : area_format(&probe->dev, &probe->line, 1, uuid, failure);
}

int probe_create(struct probe *probe, struct failure *failure)
{
	u8 uuid[RESSD_UUID_SIZE];
	char text[UUID_TEXT];
	int code;

	if (!verdict_pays(probe->analysis.verdict) ||
	    !(probe->arguments.create || is_overwritten(probe)))
		return 0;
	code = format(probe, uuid, failure);
	probe->formatted = !code;
	if (code || !probe->arguments.create)
		return code;
	/* The device is ours alone (O_EXCL); device-mapper wants the same. */
	blkdev_close(&probe->dev);
	code = ressd_dm_create(probe->arguments.create, uuid_print(uuid, text), &probe->line,
			       failure);
	probe->created = !code;
	return code;
}
