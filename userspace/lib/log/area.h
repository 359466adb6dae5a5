/* SPDX-License-Identifier: GPL-2.0-only */
/* The reserved area on its device: what is in it, and formatting it for ressd. */
#ifndef RESSD_AREA_H
#define RESSD_AREA_H

#include "dm/blkdev.h"
#include "dm/table-line.h"
#include "ressd-record.h"

#define UUID_TEXT	37	/* "8-4-4-4-12" and the final zero */

enum area_kind {
	AREA_BLANK,	/* nothing where superblocks and signatures are; not read in full */
	AREA_RESSD,	/* formatted for ressd; info tells for which table */
	AREA_FOREIGN,	/* something else, or a damaged ressd area */
};

struct area {
	enum area_kind kind;
	struct ressd_super_info info;	/* of AREA_RESSD */
	char what[RESSD_ERROR_SIZE];	/* a sentence about a foreign area, or a damaged copy */
};

/* Looks at the reserved area of @table on @dev.  0, or a negative errno with a sentence. */
int area_inspect(struct area *area, const struct blkdev *dev, const struct ressd_table *table,
		 struct failure *failure);

/*
 * Formats the reserved area of @line on @dev, which was opened with BLKDEV_WRITE, and stores the
 * line's options there.  @devices: 1 if both areas are on @dev, else 2.  Everything logged in it is
 * lost.  Durable on return; interrupted, it leaves an area without superblock, never a half new
 * one.  @uuid gets the new UUID.  0, or a negative errno with a sentence.
 */
int area_format(const struct blkdev *dev, const struct table_line *line, u32 devices, u8 *uuid,
		struct failure *failure);

/*
 * Stores @options in the superblocks of the area that has @info: changes nothing else.  Durable on
 * return; interrupted, it leaves the options as they were or as they shall be.
 */
int area_store_options(const struct blkdev *dev, const struct ressd_super_info *info,
		       const struct ressd_options *options, struct failure *failure);

/*
 * Makes an end of the area that has @info, whose log must be drained: blanks both superblocks, that
 * one last by which it is found, then all the rest, so that nothing of it is found later.  Durable
 * on return; interrupted, it leaves a log that can be opened, or none.
 */
int area_erase(const struct blkdev *dev, const struct ressd_super_info *info,
	       void (*progress)(void *context, u64 done, u64 total), void *context,
	       struct failure *failure);

/*
 * Finds the reserved area that ends with the device, by its second superblock copy: 1 and @info,
 * 0 if there is none, or a negative errno with a sentence, -EPROTONOSUPPORT if that is of another
 * version.  Where that copy is torn, what is left of it may still tell where the first one is.
 */
int area_find_at_end(const struct blkdev *dev, struct ressd_super_info *info,
		     struct failure *failure);

/*
 * Finds the reserved area that ends with the device, or else the one that begins with it.  The same
 * results; the area is within the device, and if both copies are good @info is what counts of them.
 * An end that cannot be read is an error only if nothing is found at the begin.
 */
int area_find(const struct blkdev *dev, struct ressd_super_info *info, struct failure *failure);

/* Writes @uuid as text.  Returns @text (UUID_TEXT bytes). */
char *uuid_print(const u8 *uuid, char *text);

#endif
