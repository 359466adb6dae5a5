// SPDX-License-Identifier: GPL-2.0-only
/* Which regions of the normal area hold a mapped block; see ressd-regions.h. */
#include "ressd-regions.h"

/*
 * One more than there are whole blocks: reads may touch the piece of one at the
 * end.
 */
static u64 nr_regions(u32 normal_blocks, u32 shift)
{
	return ((u64)normal_blocks >> shift) + 1;
}

static u32 shift_for(u32 normal_blocks, u32 log_blocks)
{
	u32 shift = 0;

	while (nr_regions(normal_blocks, shift) >
	       (u64)log_blocks * RESSD_REGIONS_PER_BLOCK + 1)
		shift++;
	return shift;
}

size_t ressd_regions_bytes(u32 normal_blocks, u32 log_blocks)
{
	u64 nr =
		nr_regions(normal_blocks, shift_for(normal_blocks, log_blocks));

	return (nr + RESSD_REGIONS_WORD - 1) / RESSD_REGIONS_WORD *
	       sizeof(unsigned long);
}

void ressd_regions_init(struct ressd_regions *regions, unsigned long *bits,
			u32 normal_blocks, u32 log_blocks)
{
	size_t i, words = ressd_regions_bytes(normal_blocks, log_blocks) /
			  sizeof(*bits);

	*regions = (struct ressd_regions) {
		.bits = bits, .shift = shift_for(normal_blocks, log_blocks),
	};
	for (i = 0; i < words; i++)
		bits[i] = 0;
}

static unsigned long *word_of(const struct ressd_regions *regions, u32 lbn,
			      unsigned long *mask)
{
	u32 bit = lbn >> regions->shift;

	*mask = 1UL << bit % RESSD_REGIONS_WORD;
	return &regions->bits[bit / RESSD_REGIONS_WORD];
}

void ressd_regions_set(struct ressd_regions *regions, u32 lbn)
{
	unsigned long mask, *word = word_of(regions, lbn, &mask);

	if (*word & mask)
		return;
	/* Pairs with the acquires in ressd_regions_may_hold(). */
	smp_store_release(word, *word | mask);
}

void ressd_regions_clear(struct ressd_regions *regions, u32 lbn)
{
	unsigned long mask, *word = word_of(regions, lbn, &mask);

	/* Pairs with the acquires in ressd_regions_may_hold(). */
	smp_store_release(word, *word & ~mask);
}
