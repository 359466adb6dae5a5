/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What blkdev_check_unused() asks: blkdev-unused.c calls blkdev-loops.c, and that blkdev-users.c.
 * extents.c asks for loops, too.
 */
#ifndef RESSD_BLKDEV_USERS_H
#define RESSD_BLKDEV_USERS_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>
#include "cli/failure.h"

/* What a loop device stands on: a regular file, or a block device. */
struct backing {
	dev_t rdev;		/* of a block device; 0: a file */
	dev_t dev;		/* of a file: its file system */
	ino_t inode;
};

/*
 * Mounts, swap and holders of the block device @number and of its partitions.  0, -EBUSY and a
 * sentence, or another negative errno.  @ressd_may: a holder that is a ressd device does not count.
 */
int users_of_device(dev_t number, bool ressd_may, struct failure *failure);

/* Is the file used as swap space?  0, or -EBUSY and a sentence. */
int users_of_swap_file(const struct backing *backing, const char *name, struct failure *failure);

/* The folder of the device in sysfs, symbolic links resolved; @folder has PATH_MAX bytes. */
int users_folder(dev_t number, char *folder, struct failure *failure);

/* Is @name, in the folder @disk of sysfs, a partition? */
bool users_is_partition(const char *disk, const char *name);

/* Loop devices that stand on @backing, called @name.  0, or -EBUSY and a sentence. */
int loops_above(const struct backing *backing, const char *name, struct failure *failure);

/* If @number is a loop device: who else uses what it stands on.  0, or -EBUSY and a sentence. */
int loops_below(dev_t number, struct failure *failure);

/* What the loop device @number stands on, and from which byte on; false if it is none. */
bool loop_backing(dev_t number, struct backing *backing, u64 *offset);

bool same_backing(const struct backing *a, const struct backing *b);

#endif
