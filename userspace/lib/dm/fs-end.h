/* SPDX-License-Identifier: GPL-2.0-only */
/* The file system on a device, and where it ends: what is behind it may become a reserved area. */
#ifndef RESSD_FS_END_H
#define RESSD_FS_END_H

#include "dm/blkdev.h"

struct file_system {
	char type[16];		/* as libblkid calls it: ext2, ext3, ext4, xfs, btrfs, f2fs, vfat */
	u64 bytes;		/* from the start of the device */
};

/*
 * Looks at the file system that begins with @dev.  0, or a negative errno with a sentence: -EEXIST
 * if there is something else or nothing, or one whose end is not known here.
 */
int fs_end(const struct blkdev *dev, struct file_system *fs, struct failure *failure);

/*
 * Does the file system that begins with @dev reach behind byte @end, where a reserved area begins?
 * It may: a device whose log was drained is a plain disk, and whoever uses it without ressd may
 * enlarge the file system.  What stands in the area is then the file system's.  0 if it does not,
 * or if nothing is known of it; -EEXIST with a sentence if it does, or another negative errno.
 */
int fs_check_end(const struct blkdev *dev, u64 end, struct failure *failure);

/*
 * How to make @fs on @path end at byte @bytes: commands, or that it cannot be done, as one sentence
 * without its full stop.  Returns @text (@size bytes).
 */
const char *fs_shrink_words(const struct file_system *fs, const char *path, u64 bytes, char *text,
			    size_t size);

#endif
