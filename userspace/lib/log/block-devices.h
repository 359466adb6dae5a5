/* SPDX-License-Identifier: GPL-2.0-only */
/* The block devices of the machine, as sysfs lists them: works without udev, too. */
#ifndef RESSD_BLOCK_DEVICES_H
#define RESSD_BLOCK_DEVICES_H

#include "dm/blkdev.h"
#include "ressd-record.h"

/* The path of the device whose number is the text "major:minor".  False if there is none. */
bool block_device_path(const char *number, char path[PATH_MAX]);

/*
 * Calls @visit for each block device at whose end or beginning a reserved area lies, in the order
 * of their names.  Those without a medium are left out; so are those that cannot be read, and areas
 * of other versions, with a warning.
 */
void block_devices_with_areas(void (*visit)(void *context, const struct blkdev *dev,
					    const struct ressd_super_info *info), void *context);

/*
 * The device that @text names: a path; "UUID=..." with the UUID of a reserved area; or PARTUUID= or
 * PARTLABEL=, as libblkid finds it.  0 and @path, or a negative errno with a sentence; -EEXIST if
 * there are several.
 */
int block_device_find(const char *text, char path[PATH_MAX], struct failure *failure);

#endif
