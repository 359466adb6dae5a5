/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a repair is going to overwrite, in a file, so that it can be undone.
 *
 * The file says of which log it is.  It is a header (struct backup_header), then for each block
 * struct backup_block and its 4096 old bytes, then the crc32c of everything before.  All integers
 * are little-endian.
 */
#ifndef RESSD_BACKUP_H
#define RESSD_BACKUP_H

#include "dm/blkdev.h"
#include "ressd-record.h"

/* One block that a repair writes. */
struct planned_write {
	u64 offset;		/* bytes, on the device */
	const void *data;	/* 4096 bytes, or NULL for zeroes */
	bool flush;		/* what was written before must be durable first */
};

/* The log that is repaired. */
struct backup_log {
	u8 uuid[RESSD_UUID_SIZE];
	u64 start, sectors;	/* of its reserved area */
};

/*
 * Saves what stands on @dev, with @log, where @writes are going to write.  The file must not exist
 * yet; when this returns 0 it and its name are durable.  Else a negative errno with a sentence, and
 * no file is left.
 */
int backup_save(const char *path, const struct blkdev *dev, const struct backup_log *log,
		const struct planned_write *writes, size_t nr, struct failure *failure);

/*
 * Puts back on @dev what the backup @path holds.  Refuses a file that is no backup, or a damaged
 * one (-EBADMSG), and (-EPERM) a device of another size, without the log, or on which a block holds
 * neither what the repair wrote nor what was there before: then the device has been used since.
 * Nothing is written unless all of that is in order.  May be repeated.  *@blocks gets the number of
 * blocks.
 */
int backup_restore(const char *path, const struct blkdev *dev, u64 *blocks,
		   struct failure *failure);

#endif
