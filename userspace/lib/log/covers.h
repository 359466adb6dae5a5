/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Covers (core/ressd-cover.h) as they stand on a disk that nobody uses: finding them, and getting
 * rid of them when the log that they belong to is given up.
 */
#ifndef RESSD_COVERS_H
#define RESSD_COVERS_H

#include "dm/blkdev.h"
#include "ressd-record.h"

/* The covers of one normal area. */
struct covers {
	u32 sectors;			/* that are covers; 0: none */
	u8 uuid[RESSD_UUID_SIZE];	/* of the first one's device */
};

/*
 * Looks for covers, of whatever device, where a normal area at @start with @sectors would have
 * them.  0, or a negative errno with a sentence.
 */
int covers_find(const struct blkdev *dev, u64 start, u64 sectors, struct covers *covers,
		struct failure *failure);

/*
 * How many sectors of the covered blocks of @info, whose normal area is on @dev, are not its
 * covers, in @missing.  0, or a negative errno with a sentence.
 */
int covers_missing(const struct blkdev *dev, const struct ressd_super_info *info, u32 *missing,
		   struct failure *failure);

/* Blocks that cannot be read. */
struct covers_unread {
	u32 blocks;
	struct failure first;
};

/*
 * The same, going on behind blocks that cannot be read: those count for nothing but in @unread.
 */
int covers_look(const struct blkdev *dev, const struct ressd_super_info *info, u32 *missing,
		struct covers_unread *unread, struct failure *failure);

/*
 * Writes what the log @info on @reserved holds of covered blocks over its covers on @normal,
 * durably.  0, also where there are none; -EUCLEAN and a sentence if the log cannot be read or a
 * copy is damaged: then those covers stay.
 */
int covers_restore(const struct blkdev *normal, const struct blkdev *reserved,
		   const struct ressd_super_info *info, struct failure *failure);

/* Writes zeroes over all covers that covers_find() finds, durably. */
int covers_blank(const struct blkdev *dev, u64 start, u64 sectors, struct failure *failure);

#define COVERS_TEXT	192

/* What a device is that begins with @covers: "the covers of ...". */
const char *covers_print(const struct covers *covers, char text[COVERS_TEXT]);

#endif
