/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which regions of the normal area hold a mapped block: a bitmap in front of
 * the map, that is read without the lock.
 *
 * A region is one block, or 2^shift of them, so many that there are at most
 * RESSD_REGIONS_PER_BLOCK regions for each log block: that bounds the memory.
 * The map keeps the bits, under the lock: a bit is set as long as the tree has
 * a node of its region, clean or dirty.
 *
 * WITHOUT THE LOCK.  ressd_regions_may_hold() of a block that was mapped when
 * the lock was given up last is true until the call that takes its last node
 * out of the tree, and not only from one call to the next: a block that a newer
 * version takes over stays mapped.  ressd_map_take_out() leaves the bit alone,
 * for a reader would find it clear for a moment and read what is at home
 * (tests/unit/test-unlocked.c).
 *  - Who has learnt of the end of a write that was logged sees its bit: it was
 *    set under the lock before the write was completed.
 *  - Who finds a bit clear reads at home what made the log's copy superfluous:
 *    the bit is cleared after that, by smp_store_release(), and looked at by
 *    smp_load_acquire().
 * All else that it says is about the past: a region may be mapped, or not any
 * more, a moment later.
 */
#ifndef RESSD_REGIONS_H
#define RESSD_REGIONS_H

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define RESSD_REGIONS_PER_BLOCK	4U

#define RESSD_REGIONS_WORD	(8 * (u32)sizeof(unsigned long))

struct ressd_regions {
	unsigned long *bits;	/* NULL: not kept */
	u32 shift;
};

/* Bytes of the bitmap for @normal_blocks and a log of @log_blocks. */
size_t ressd_regions_bytes(u32 normal_blocks, u32 log_blocks);

/* No region holds anything.  @bits stay the caller's. */
void ressd_regions_init(struct ressd_regions *regions, unsigned long *bits,
			u32 normal_blocks, u32 log_blocks);

/* Under the lock, as all changes of the map. */
void ressd_regions_set(struct ressd_regions *regions, u32 lbn);
void ressd_regions_clear(struct ressd_regions *regions, u32 lbn);

/* The first block of the region of @lbn. */
static inline u32 ressd_regions_start(const struct ressd_regions *regions,
				      u32 lbn)
{
	return lbn >> regions->shift << regions->shift;
}

/*
 * False: none of the blocks from @first to @last is mapped.  No lock needed;
 * see above.
 */
static inline bool ressd_regions_may_hold(const struct ressd_regions *regions,
					  u32 first, u32 last)
{
	u32 bit = first >> regions->shift, end = last >> regions->shift;
	u32 word = bit / RESSD_REGIONS_WORD,
	    last_word = end / RESSD_REGIONS_WORD;
	unsigned long mask = ~0UL << bit % RESSD_REGIONS_WORD;

	for (; unlikely(word != last_word); word++, mask = ~0UL)
		/*
		 * Pairs with the releases in ressd_regions_set() and
		 * ressd_regions_clear().
		 */
		if (smp_load_acquire(&regions->bits[word]) & mask)
			return true;
	mask &= ~0UL >> (RESSD_REGIONS_WORD - 1 - end % RESSD_REGIONS_WORD);
	/* Likewise. */
	return smp_load_acquire(&regions->bits[word]) & mask;
}

#endif
