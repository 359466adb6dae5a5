/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening a block device without harm: what it is, who uses it, what is on it.
 *
 * Regular files are accepted wherever a block device is, so that everything can be tried out
 * without one.
 */
#ifndef RESSD_BLKDEV_H
#define RESSD_BLKDEV_H

#include <limits.h>
#include <stdbool.h>
#include <linux/types.h>
#include "cli/failure.h"
#include "ressd-format.h"

/* Buffers, offsets and lengths of all I/O here are multiples of this: right for any O_DIRECT. */
#define BLKDEV_ALIGN	4096U

struct blkdev {
	int fd;
	char path[PATH_MAX];	/* symbolic links resolved */
	bool is_file;		/* a regular file */
	bool direct;		/* opened with O_DIRECT */
	unsigned int major;	/* of a block device */
	unsigned int minor;
	u64 bytes;		/* size, a multiple of 512 */
};

enum blkdev_mode {
	BLKDEV_READ,		/* shared, reading only */
	BLKDEV_WRITE,		/* exclusive (O_EXCL; a file is locked), reading and writing */
	BLKDEV_TRY,		/* all that BLKDEV_WRITE makes sure of, but reading only */
};

/*
 * Opens @path.  BLKDEV_WRITE and BLKDEV_TRY also make sure that nobody uses the device or a part
 * of it (see blkdev_check_unused) and that it can be written.  0, or a negative errno with a
 * sentence: -EBUSY in use, -EROFS read-only.
 */
int blkdev_open(struct blkdev *dev, const char *path, enum blkdev_mode mode,
		struct failure *failure);
void blkdev_close(struct blkdev *dev);

/*
 * Refuses (-EBUSY and a sentence that names the user) a device that is mounted, that is swap, that
 * another device is built on, or a partition of which is; a device or a file that a loop device
 * stands on; and a loop device if what it stands on is used in another way.
 */
int blkdev_check_unused(const struct blkdev *dev, struct failure *failure);

/*
 * Can a ressd device be made of it?  Another one may use it, too, and the kernel keeps two of them
 * apart; but device-mapper shares it with all others of its own, and sees nobody who uses a loop
 * device above or beside it.  0, -EBUSY and a sentence, or -EINVAL for a file.
 */
int blkdev_check_for_ressd(const struct blkdev *dev, struct failure *failure);

/* Where its last whole block ends. */
static inline u64 blkdev_blocks_end(const struct blkdev *dev)
{
	return dev->bytes / RESSD_BLOCK_SIZE * RESSD_BLOCK_SIZE;
}

/* True if both are the same device or file. */
bool blkdev_same(const struct blkdev *a, const struct blkdev *b);

/* A buffer for blkdev_read and blkdev_write; NULL when there is no memory.  Release with free(). */
void *blkdev_buffer(size_t bytes);

/*
 * Whole transfers; @offset, @bytes and @buffer aligned to BLKDEV_ALIGN.  0, or a sentence with the
 * kernel's words: reads and writes that fail are -EIO, of whatever kind (a bad sector is ENODATA).
 */
int blkdev_read(const struct blkdev *dev, u64 offset, void *buffer, size_t bytes,
		struct failure *failure);
int blkdev_write(const struct blkdev *dev, u64 offset, const void *buffer, size_t bytes,
		 struct failure *failure);
int blkdev_flush(const struct blkdev *dev, struct failure *failure);

/*
 * Looks with libblkid for a file system, RAID, LVM, swap, encryption or partition table in
 * [@offset, @offset + @bytes).  Returns 1 and its name in @what (@size bytes), 0 if there is none,
 * or a negative errno with a sentence.
 */
int blkdev_signature(const struct blkdev *dev, u64 offset, u64 bytes, char *what, size_t size,
		     struct failure *failure);

#endif
