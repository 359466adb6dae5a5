/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the measurements know of a disk: timed transfers, a flush, a clock.  The tool itself has one
 * kind (a block device or file, disk-device.c); the tests bring others.
 */
#ifndef PROBE_DISK_H
#define PROBE_DISK_H

#include "cli/failure.h"
#include <linux/types.h>

struct disk;

/*
 * All offsets and lengths are bytes and multiples of disk.granule, buffers are aligned to
 * BLKDEV_ALIGN.  @ns gets what the call took on the disk's clock.  0, or a negative errno with a
 * sentence.
 */
struct disk_ops {
	int (*read)(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		    struct failure *failure);
	int (*write)(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		     struct failure *failure);
	int (*flush)(struct disk *disk, u64 *ns, struct failure *failure);
	void (*pause)(struct disk *disk, u64 ns);	/* let the disk be idle */
	u64 (*now)(struct disk *disk);			/* ns since whenever, never backwards */
};

struct disk {
	const struct disk_ops *ops;
	const char *path;	/* for sentences */
	u64 bytes;
	u32 granule;		/* smallest transfer, a power of two from 512 to 4096 */
};

struct blkdev;

/* struct disk_device - an open block device or file. */
struct disk_device {
	struct disk disk;
	const struct blkdev *dev;
};

/* disk-device.c */
void disk_device_init(struct disk_device *device, const struct blkdev *dev);

#endif
