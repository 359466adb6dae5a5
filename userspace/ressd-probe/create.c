// SPDX-License-Identifier: GPL-2.0-only
/* ressd-probe --create: from the verdict to a device. */
#include <errno.h>
#include "area.h"
#include "probe.h"
#include "ressd-dm.h"

int probe_check_create(const struct probe *probe, struct failure *failure)
{
	if (probe->dev.is_file)
		return fail(failure, -EINVAL,
			    "--create needs a block device, but %s is a file; attach it with losetup first",
			    probe->dev.path);
	return ressd_dm_can_create(probe->arguments.create, failure);
}

int probe_create(struct probe *probe, struct failure *failure)
{
	u8 uuid[RESSD_UUID_SIZE];
	char text[UUID_TEXT];
	int code = area_format(&probe->dev, &probe->line, uuid, failure);

	/* The device is ours alone (O_EXCL); device-mapper wants the same. */
	blkdev_close(&probe->dev);
	if (!code)
		code = ressd_dm_create(probe->arguments.create, uuid_print(uuid, text),
				       &probe->line, failure);
	probe->created = !code;
	return code;
}
