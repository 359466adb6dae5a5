// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pseudo-SLC area of the page-mapping layer.
 *
 * Some blocks of each set hold one bit in a cell: half as much, and faster. The host's pages go
 * there as long as one of them is erased, then straight to the others; when the host has been idle
 * for a while, the oldest blocks of the area are folded: their valid pages are copied to the
 * others, and they are erased.
 */
#include <linux/kernel.h>
#include <linux/limits.h>

#include "ssd-ftl-page.h"

#define FOLD_IDLE_NS	100000000ULL	/* the host is idle for so long before folding begins */

void ssd_slc_set_up(struct ftl_page *map, u32 index)
{
	struct slc_set *slc = &map->set[index].slc;
	u32 *rings = map->slc_rings + 2 * index * map->slc_blocks, i;

	slc->open = NO_BLOCK;
	ssd_free_init(&slc->free, rings, map->slc_blocks);
	ssd_free_init(&slc->full, rings + map->slc_blocks, map->slc_blocks);
	for (i = 0; i < map->slc_blocks; i++)
		ssd_free_give(&slc->free, map->slc_from + i * map->sets + index);
}

/* Have an open block of the pseudo-SLC area with room. Returns false if it is full. */
static bool open_slc(struct ftl_page *map, struct slc_set *slc)
{
	if (!ssd_page_full(map, slc->open))
		return true;
	if (slc->open != NO_BLOCK)
		ssd_free_give(&slc->full, slc->open);
	slc->open = slc->free.count ? ssd_free_take(&slc->free) : NO_BLOCK;
	return slc->open != NO_BLOCK;
}

/*
 * Choose the die of the pseudo-SLC area that is free first. What is valid there counts against the
 * room of its set, which must hold it later. Returns false if no set has room.
 */
bool ssd_slc_choose(struct ftl_page *map, u64 start, struct ssd_place *place)
{
	u64 earliest = U64_MAX;
	u32 i;

	for (i = 0; i < map->sets && map->slc_blocks && earliest > start; i++) {
		u32 index = (map->turn + i) % map->sets, way;
		struct page_set *set = &map->set[index];
		u64 time;

		if (set->valid >= map->limit || !open_slc(map, &set->slc))
			continue;
		way = ssd_page_best_way(map, set->slc.open,
					map->filled[set->slc.open] % map->ways, start, &time);
		if (time < earliest) {
			earliest = time;
			place->block = set->slc.open;
			place->way = way;
		}
	}
	return earliest != U64_MAX;
}

static void erase_folded(struct ftl_page *map, struct slc_set *slc, u64 start)
{
	u32 block = ssd_free_take(&slc->full);

	ssd_nand_erase(map->ftl.nand, block, start);
	map->filled[block] = 0;
	ssd_free_give(&slc->free, block);
	slc->cursor = 0;
}

/* Fold until @now on idle dies, if the host is idle for long. Returns the end of the last copy. */
u64 ssd_slc_fold(struct ftl_page *map, u32 index, u64 from, u64 now)
{
	struct page_set *set = &map->set[index];
	struct slc_set *slc = &set->slc;
	u64 end = max(from, set->since) + FOLD_IDLE_NS, last = from;

	while (slc->full.count && end < now) {
		u32 block = ssd_free_next(&slc->full), slot;
		u64 start;

		/* Garbage collection keeps the last erased block for its own copies. */
		if (ssd_page_full(map, set->open[STREAM_COPY]) && set->free.count < 2)
			end = ssd_page_collect(map, index, end);
		if (ssd_page_full(map, set->open[STREAM_COPY]) && set->free.count < 2)
			break;
		slot = ssd_page_next_valid(map, block, &slc->cursor);
		if (slot == NO_SLOT) {
			erase_folded(map, slc, end);
			continue;
		}
		start = ssd_nand_die_free(map->ftl.nand, block, ssd_page_place(map, slot).way);
		end = max(end, start);
		if (end >= now)
			break;
		end = ssd_page_move(map, set, slot, end);
		last = end;
	}
	return last;
}

/* Each block of a set's pseudo-SLC area is erased, open, or to be folded. */
bool ssd_slc_fits(const struct ftl_page *map, const struct slc_set *slc)
{
	u32 i, known = slc->free.count + slc->full.count + (slc->open != NO_BLOCK);
	bool good = known == map->slc_blocks;

	for (i = 0; i < slc->free.count; i++)
		good &= !map->filled[slc->free.block[(slc->free.head + i) % slc->free.size]];
	for (i = 0; i < slc->full.count; i++)
		good &= ssd_page_full(map, slc->full.block[(slc->full.head + i) % slc->full.size]);
	return good;
}
