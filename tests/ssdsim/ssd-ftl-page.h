/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the page-mapping layer: what ssd-ftl-page.c and its pseudo-SLC area in
 * ssd-ftl-slc.c share. Nobody else includes it.
 */
#ifndef SSD_FTL_PAGE_H
#define SSD_FTL_PAGE_H

#include "ssd-free.h"
#include "ssd-ftl.h"
#include "ssd-map-cache.h"

#define NO_BLOCK	0xffffffffU
#define NO_SLOT		0xffffffffU

/* Who fills a block. */
enum stream { STREAM_HOST, STREAM_COPY, STREAMS };

/*
 * struct slc_set - the pseudo-SLC area of a die set.
 * @free: erased blocks
 * @full: blocks to be folded, the oldest first
 * @open: block that the host's pages go to, or NO_BLOCK
 * @cursor: place in the oldest block to look at next, as in struct page_set
 */
struct slc_set {
	struct ssd_free_ring free;
	struct ssd_free_ring full;
	u32 open;
	u32 cursor;
};

/*
 * struct page_set - blocks of one die set.
 * @free: erased blocks
 * @open: [STREAMS] block being filled, or NO_BLOCK
 * @valid: valid pages
 * @victim: block being collected, or NO_BLOCK
 * @cursor: place in it to look at next, way by way, row by row
 * @since: time from which the set has too few erased blocks, and power
 * @slc: its pseudo-SLC area
 */
struct page_set {
	struct ssd_free_ring free;
	u32 open[STREAMS];
	u32 valid;
	u32 victim;
	u32 cursor;
	u64 since;
	struct slc_set slc;
};

/*
 * struct ftl_page - the layer. A slot is a physical page: row of a way of a block.
 * @erase_on_open: "erased" blocks are to be erased when they are opened
 * @limit: valid pages of a set above which the host's pages go elsewhere
 * @low: erased blocks below which a set collects garbage in the background
 * @turn: die set that is asked first
 * @logical: pages of host and map
 * @slot: [logical] where it is, or NO_SLOT
 * @owner: [slots] logical page that is there, or SSD_NO_PAGE
 * @valid: [blocks] valid pages
 * @filled: [blocks] programmed pages
 * @slc_from: blocks from that one on are the pseudo-SLC area
 * @slc_blocks: of it in each set; 0: there is none
 * @slc_rings: memory of slc_set's rings
 */
struct ftl_page {
	struct ssd_ftl ftl;
	bool serial;
	bool erase_on_open;
	u32 ways;
	u32 rows;
	u32 block_pages;
	u32 sets;
	u32 blocks_per_set;
	u32 limit;
	u32 low;
	u32 turn;
	u32 logical;
	struct page_set *set;
	u32 *free_blocks;
	u32 *slot;
	u32 *owner;
	u16 *valid;
	u16 *filled;
	u32 slc_from;
	u32 slc_blocks;
	u32 *slc_rings;
	struct ssd_map_cache cache;
};

static inline struct ssd_place ssd_page_place(const struct ftl_page *map, u32 slot)
{
	return (struct ssd_place) {
		.block = slot / map->block_pages,
		.way = slot / map->rows % map->ways,
		.row = slot % map->rows,
	};
}

/* Rows of a way that are used: half of them with one bit in a cell. */
static inline u32 ssd_page_rows(const struct ftl_page *map, u32 block)
{
	return block < map->slc_from ? map->rows : map->rows / 2;
}

static inline bool ssd_page_full(const struct ftl_page *map, u32 block)
{
	return block == NO_BLOCK || map->filled[block] == ssd_page_rows(map, block) * map->ways;
}

/**
 * ssd_page_best_way - the way of a block with room whose die is free first.
 * @first: is asked first
 * @free_at: when that die is free, not before @start; U64_MAX if no way has room
 */
u32 ssd_page_best_way(const struct ftl_page *map, u32 block, u32 first, u64 start, u64 *free_at);

/** ssd_page_next_valid - the first valid slot of a block from @cursor on, or NO_SLOT. */
u32 ssd_page_next_valid(struct ftl_page *map, u32 block, u32 *cursor);

/** ssd_page_move - copy a valid page to the set's block for copies. Return: when it is there. */
u64 ssd_page_move(struct ftl_page *map, struct page_set *set, u32 slot, u64 start);

/**
 * ssd_page_collect - collect garbage until the set has an erased block to give, or no garbage.
 *
 * Return: the end of the last copy.
 */
u64 ssd_page_collect(struct ftl_page *map, u32 index, u64 start);

/** ssd_slc_set_up - all blocks of a set's area are erased. */
void ssd_slc_set_up(struct ftl_page *map, u32 index);

/**
 * ssd_slc_choose - the block and the way of the area whose die is free first.
 * @place: its row is not set
 *
 * Return: false if there is no area, or no room in it.
 */
bool ssd_slc_choose(struct ftl_page *map, u64 start, struct ssd_place *place);

/**
 * ssd_slc_fold - copy the oldest blocks of a set's area to the others, on idle dies until @now, if
 * the host has been idle for long.
 * @from: not before this
 *
 * Return: the end of the last copy.
 */
u64 ssd_slc_fold(struct ftl_page *map, u32 index, u64 from, u64 now);

/** ssd_slc_fits - for tests: each block of a set's area is erased, open, or to be folded. */
bool ssd_slc_fits(const struct ftl_page *map, const struct slc_set *slc);

#endif /* SSD_FTL_PAGE_H */
