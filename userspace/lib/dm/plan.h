/* SPDX-License-Identifier: GPL-2.0-only */
/* Where things go on a device: the measured region, the normal and the reserved area.  Pure. */
#ifndef RESSD_PLAN_H
#define RESSD_PLAN_H

#include <stdbool.h>
#include "cli/failure.h"
#include "ressd-args.h"

struct region {
	u64 offset;	/* bytes, multiples of 4096 */
	u64 bytes;
};

#define REGION_MIN_BYTES	1048576ULL

/*
 * The region to measure on a device of @dev_bytes.  @text is "OFFSET[:LENGTH]" in the units of
 * size_parse(), or NULL: then 10 % of the device, but 256 MiB at least and 4 GiB at most, at its
 * end, where the reserved area is going to be.  0, or -EINVAL with a sentence.
 */
int plan_region(u64 dev_bytes, const char *text, struct region *region, struct failure *failure);

/*
 * Makes a region that nobody has chosen fit into @limit bytes, by its begin; 256 MiB of it stay.
 */
void plan_limit_region(struct region *region, u64 limit);

/*
 * Splits a device into normal area (from sector 0) and reserved area (up to the device's end) of at
 * least @reserved_bytes, or with 0: 5 % of the device, 1 MiB at least, 4 GiB at most.  The border
 * is on a multiple of 4 MiB, the clustered block of common drives, or less on devices under
 * 256 MiB.  @why (@size bytes) gets the reason for the size.  0, or -EINVAL with a sentence.
 */
int plan_areas(u64 dev_bytes, u64 reserved_bytes, struct ressd_table *table, char *why,
	       size_t size, struct failure *failure);

/*
 * Once the clustered block is known: moves the border between the areas down to one of its borders,
 * @first bytes from the start of the device and every @block bytes from there, so that segments can
 * be whole blocks.  With @may_grow the reserved area gets PLAN_BLOCKS of them, if that is at most
 * an eighth of the device; @why then gets the reason.  False, and nothing is changed, where that is
 * not possible.
 */
#define PLAN_BLOCKS	16U		/* fewer segments make a sweep too coarse */

bool plan_fit_block(u64 dev_bytes, u64 block, u64 first, bool may_grow, struct ressd_table *table,
		    char *why, size_t size);

/*
 * Distance in bytes at which the mover writes pieces of @bytes, when @percent of a reserved area of
 * blocks from all over the normal area goes back in ascending order: half of it is moved at a time.
 * Or, where the clustered block is known, each visit takes all that was logged of a block since the
 * one before, which is a round of the log; a twentieth is headers and what must be free.
 */
#define PLAN_HALF_LOG	50U
#define PLAN_VISITS	95U
u64 plan_mover_stride(const struct ressd_table *table, u32 bytes, unsigned int percent);

#endif
