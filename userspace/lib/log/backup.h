/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a repair is going to overwrite, in a file, so that it can be undone.
 *
 * The file says of which log it is, and what shows later that this was used.  It is a header
 * (struct backup_header), then for each block struct backup_block and its 4096 old bytes, then the
 * crc32c of everything before.  All integers are little-endian.
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

/*
 * Saves what stands on @dev, with the log of @info, where @writes are going to write.  The file
 * must not exist yet; when this returns 0 it and its name are durable.  Else a negative errno with
 * a sentence, and no file is left.
 */
int backup_save(const char *path, const struct blkdev *dev, const struct ressd_super_info *info,
		const struct planned_write *writes, size_t nr, struct failure *failure);

/*
 * Puts back on @dev what the backup @path holds.  Refuses a file that is no backup, or a damaged
 * one (-EBADMSG), and (-EPERM) a device of another size, without the log, or one that was used
 * since: a block holds neither what the repair wrote nor what was there before, or the log has
 * other records (log/use.h).  Nothing is written unless all of that is in order.  May be repeated.
 * *@blocks gets the number of blocks.
 */
int backup_restore(const char *path, const struct blkdev *dev, u64 *blocks,
		   struct failure *failure);

#endif
