/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests cut to the buffers and pages of the device (PA section 5.2).  The
 * target calls it for reads and writes of the normal area.
 *
 * PAS: no request is longer than the device's read or write buffer.  PASA: a
 * request that does not begin at a boundary of the clustered page is first cut
 * at the next one; what follows is cut to the buffer's size, which is a
 * multiple of the page, so all of it begins at a boundary.
 *
 * CELLS: the block layer below merges neighbours again, up to its own limit.
 * The device is divided into cells of the buffer's size, from its first sector
 * on.  A request that begins a cell, or crosses from one into the next, must
 * stay alone.  All others lie within a cell, and merge with others of that cell
 * only: what reaches the device is never longer than the buffer, and small
 * neighbours are still merged.
 *
 * Boundaries count from the first sector of the whole device, whatever
 * partition the area is in.
 *
 * Context: the caller serialises the calls on one struct.
 */
#ifndef RESSD_SPLIT_H
#define RESSD_SPLIT_H

#include <linux/types.h>

enum ressd_direction { RESSD_READ, RESSD_WRITE };

/* Everything in sectors. */
struct ressd_split {
	u32 longest[2];	/* request, by direction; 0: no limit */
	u32 align;	/* 0: off; divides each limit that is set */
	u32 page;	/* by which requests count as aligned; 0: unknown */
	u64 start;	/* of the normal area, in sectors of the device */
};

/* Requests sent to the normal area, by direction. */
struct ressd_split_counters {
	u64 aligned, unaligned;	/* begin at a @page or not; 0 if unknown */
	u64 within, over;	/* the limit */
};

/* Does it cut requests of either direction? */
static inline bool ressd_split_is_on(const struct ressd_split *split)
{
	return split->longest[RESSD_READ] || split->longest[RESSD_WRITE];
}

/* Does @sector begin a @unit, which is not 0? */
bool ressd_split_is_aligned(const struct ressd_split *split, u64 sector,
			    u32 unit);

/*
 * Length of the first piece of a request of @sectors at @sector of the normal
 * area.
 */
u32 ressd_split_first(const struct ressd_split *split,
		      enum ressd_direction direction, u64 sector, u32 sectors);

/*
 * Must the request stay alone, so that none is longer than the limit after
 * merging?
 */
bool ressd_split_is_alone(const struct ressd_split *split,
			  enum ressd_direction direction, u64 sector,
			  u32 sectors);

void ressd_split_count(const struct ressd_split *split,
		       enum ressd_direction direction, u64 sector, u32 sectors,
		       struct ressd_split_counters *counters);

#endif
