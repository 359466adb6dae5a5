// SPDX-License-Identifier: GPL-2.0-only
/* Data blocks and erased blocks of a hybrid translation layer. See ssd-block-map.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "ssd-block-map.h"

u32 ssd_block_map_take(struct ssd_block_map *map, u32 set)
{
	return ssd_free_take(&map->free[set]);
}

void ssd_block_map_erase(struct ssd_block_map *map, u32 block, u64 start)
{
	ssd_nand_erase(map->nand, block, start);
	ssd_free_give(&map->free[ssd_block_map_set(map, block)], block);
}

void ssd_block_map_replace(struct ssd_block_map *map, u32 logical, u32 block, u64 start)
{
	u32 old = map->data[logical];

	map->data[logical] = block;
	if (old != SSD_NO_BLOCK)
		ssd_block_map_erase(map, old, start);
}

void ssd_block_map_add(struct ssd_block_map *map, u32 page)
{
	if (!test_and_set_bit(page, map->mapped))
		map->live[page / map->block_pages]++;
}

bool ssd_block_map_remove(struct ssd_block_map *map, u32 page)
{
	if (!test_and_clear_bit(page, map->mapped))
		return false;
	map->live[page / map->block_pages]--;
	return true;
}

int ssd_block_census_begin(struct ssd_block_census *census, const struct ssd_block_map *map)
{
	u32 logical, set, i;

	*census = (struct ssd_block_census) {
		.seen = bitmap_zalloc(map->nand->blocks, GFP_KERNEL),
	};
	if (!census->seen)
		return -ENOMEM;
	for (logical = 0; logical < map->data_blocks; logical++) {
		if (map->data[logical] == SSD_NO_BLOCK)
			continue;
		census->wrong |= ssd_block_map_set(map, map->data[logical]) !=
				 ssd_block_map_set(map, logical);
		ssd_block_census_add(census, map->data[logical]);
	}
	for (set = 0; set < map->nand->die_sets; set++) {
		const struct ssd_free_ring *ring = &map->free[set];

		for (i = 0; i < ring->count; i++) {
			u32 block = ring->block[(ring->head + i) % ring->size];

			census->wrong |= ssd_block_map_set(map, block) != set;
			ssd_block_census_add(census, block);
		}
	}
	return 0;
}

void ssd_block_census_add(struct ssd_block_census *census, u32 block)
{
	census->wrong |= __test_and_set_bit(block, census->seen);
	census->used++;
}

int ssd_block_census_end(struct ssd_block_census *census, const struct ssd_block_map *map,
			 char *error, size_t size)
{
	bitmap_free(census->seen);
	if (!census->wrong && census->used == map->nand->blocks)
		return 0;
	scnprintf(error, size, "%u of %u blocks accounted for%s", census->used,
		  map->nand->blocks,
		  census->wrong ? ", some of them twice or in the wrong die set" : "");
	return -EINVAL;
}

/* The page is programmed there, and with this page. */
static bool page_is_at(const struct ssd_nand *nand, const struct ssd_place *place, u32 page)
{
	size_t way = (size_t)place->block * nand->ways + place->way;

	return place->block < nand->blocks &&
	       place->row < ssd_nand_next_row(nand, place->block, place->way) &&
	       (!nand->tag || nand->tag[way * nand->rows + place->row] == page);
}

static int check_logical(const struct ssd_block_map *map, u32 logical,
			 bool (*lookup)(void *layer, u32 page, struct ssd_place *place),
			 void *layer, char *error, size_t size)
{
	u32 page = logical * map->block_pages, end = page + map->block_pages, live = 0;
	struct ssd_place place;

	for (; page < end; page++) {
		if (!lookup(layer, page, &place))
			continue;
		live++;
		if (!page_is_at(map->nand, &place, page)) {
			scnprintf(error, size, "page %u of block %u is not where it should be",
				  page % map->block_pages, logical);
			return -EINVAL;
		}
	}
	if (live != map->live[logical]) {
		scnprintf(error, size, "logical block %u counts %u pages but has %u", logical,
			  map->live[logical], live);
		return -EINVAL;
	}
	return 0;
}

int ssd_block_map_check(const struct ssd_block_map *map,
			bool (*lookup)(void *layer, u32 page, struct ssd_place *place),
			void *layer, char *error, size_t size)
{
	u32 logical;
	int r = 0;

	for (logical = 0; !r && logical < map->data_blocks; logical++)
		r = check_logical(map, logical, lookup, layer, error, size);
	return r;
}

static int allocate(struct ssd_block_map *map, const struct ssd_geometry *geometry)
{
	map->data = kvcalloc(map->data_blocks, sizeof(u32), GFP_KERNEL);
	map->mapped = bitmap_zalloc(geometry->pages, GFP_KERNEL);
	map->live = kvcalloc(map->data_blocks, sizeof(u16), GFP_KERNEL);
	map->free = kvcalloc(map->nand->die_sets, sizeof(*map->free), GFP_KERNEL);
	map->free_blocks = kvcalloc(geometry->total_blocks, sizeof(u32), GFP_KERNEL);
	if (!map->data || !map->mapped || !map->live || !map->free || !map->free_blocks)
		return -ENOMEM;
	return 0;
}

/* As if every page of the block had been written once. */
static void fill_block(struct ssd_block_map *map, u32 logical)
{
	u32 first = logical * map->block_pages, index;

	map->data[logical] = logical;
	map->live[logical] = map->block_pages;
	bitmap_set(map->mapped, first, map->block_pages);
	for (index = 0; index < map->block_pages; index++) {
		struct ssd_place home = ssd_block_map_home(map, logical, index);

		ssd_nand_fill(map->nand, &home, first + index);
	}
}

int ssd_block_map_create(struct ssd_block_map *map, const struct ssd_profile *profile,
			 const struct ssd_geometry *geometry, struct ssd_nand *nand)
{
	u32 set_blocks = geometry->total_blocks / nand->die_sets, logical, block, set;

	map->nand = nand;
	map->data_blocks = geometry->data_blocks;
	map->ways = profile->ways;
	map->block_pages = geometry->block_pages;
	if (allocate(map, geometry))
		return -ENOMEM;
	for (set = 0; set < nand->die_sets; set++)
		ssd_free_init(&map->free[set], &map->free_blocks[(size_t)set * set_blocks],
			      set_blocks);
	for (logical = 0; logical < map->data_blocks; logical++) {
		map->data[logical] = SSD_NO_BLOCK;
		if (profile->prefill)
			fill_block(map, logical);
	}
	for (block = profile->prefill ? map->data_blocks : 0; block < nand->blocks; block++)
		ssd_free_give(&map->free[ssd_block_map_set(map, block)], block);
	return 0;
}

void ssd_block_map_destroy(struct ssd_block_map *map)
{
	kvfree(map->data);
	bitmap_free(map->mapped);
	kvfree(map->live);
	kvfree(map->free);
	kvfree(map->free_blocks);
}
