/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a read looks, without the lock, whether it may touch the log.
 *
 * The invariants: a read that begins when a write was acknowledged sees that
 * one or a newer one; and a read that has seen less than what the map has after
 * a failed flush finds that its number is not the last, and fails.
 *
 * Bits of the regions are set and cleared, and known_to_map is set, under the
 * lock; see DOC: without the lock in dm-ressd.h.
 *
 * tests/interleave runs this code in all interleavings and orders of stores,
 * and with loads that are late, with bugs planted.
 */
#ifndef DM_RESSD_LOOK_H
#define DM_RESSD_LOOK_H

#include <asm/barrier.h>
#include <linux/types.h>

#include "core/ressd-regions.h"

/*
 * May a block from @first to @last be mapped?  *@known: so many failures the
 * answer, and what the map says from now on, takes into account at least.
 */
static inline bool ressd_look(const int *known_to_map,
			      const struct ressd_regions *regions, u32 first,
			      u32 last, int *known)
{
	/*
	 * First of all: the regions, and the map, may show more failures than
	 * this, but not less.  Pairs with the release in ressd_look_known().
	 */
	*known = smp_load_acquire(known_to_map);
	return ressd_regions_may_hold(regions, first, last);
}

/* The map takes @known failures into account.  Under the lock. */
static inline void ressd_look_known(int *known_to_map, int known)
{
	if (known == *known_to_map)
		return;
	/*
	 * Pairs with the acquire in ressd_look(): who reads this sees the map's
	 * bits.
	 */
	smp_store_release(known_to_map, known);
}

#endif
