/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every hybrid translation layer is built on: data blocks mapped by block, in which
 * each page lies at its home place, the pages that are mapped, and the erased blocks of
 * each die set.
 *
 * Home places run diagonally over the ways (as parity does in RAID 5), so that no
 * power-of-two stride of writes falls on a single die. A logical block keeps to one die
 * set, so that the copies of a merge can stay inside the dies.
 *
 * Plain C, no locks: the caller serialises. Times are nanoseconds.
 */
#ifndef SSD_BLOCK_MAP_H
#define SSD_BLOCK_MAP_H

#include <linux/bitmap.h>
#include <linux/types.h>

#include "ssd-free.h"
#include "ssd-nand.h"
#include "ssd-profile.h"

#define SSD_NO_BLOCK	0xffffffffU

/**
 * struct ssd_block_map - the map.
 * @data: [data_blocks] physical data block of a logical block, or SSD_NO_BLOCK
 * @mapped: [pages] the page was written and not discarded
 * @live: [data_blocks] mapped pages
 * @free: [die_sets] erased blocks
 * @free_blocks: memory of @free
 */
struct ssd_block_map {
	struct ssd_nand *nand;
	u32 data_blocks;
	u32 ways;
	u32 block_pages;
	u32 *data;
	unsigned long *mapped;
	u16 *live;
	struct ssd_free_ring *free;
	u32 *free_blocks;
};

/**
 * ssd_block_map_create - a drive as new, or with prefill as if the whole of it had been
 * written once, in order.
 * @map: zeroed by the caller
 * @nand: must outlive the map
 *
 * Return: 0 or -ENOMEM. Destroy it in both cases.
 */
int ssd_block_map_create(struct ssd_block_map *map, const struct ssd_profile *profile,
			 const struct ssd_geometry *geometry, struct ssd_nand *nand);
void ssd_block_map_destroy(struct ssd_block_map *map);

/** ssd_block_map_home - where page @index of a block lies in data block @block. */
static inline struct ssd_place ssd_block_map_home(const struct ssd_block_map *map, u32 block,
						  u32 index)
{
	u32 row = index / map->ways;

	return (struct ssd_place) {
		.block = block,
		.way = (index + row) % map->ways,
		.row = row,
	};
}

/** ssd_block_map_set - die set of a logical or of a physical block. */
static inline u32 ssd_block_map_set(const struct ssd_block_map *map, u32 block)
{
	return block % map->nand->die_sets;
}

/** ssd_block_map_has - the page was written and not discarded. */
static inline bool ssd_block_map_has(const struct ssd_block_map *map, u32 page)
{
	return test_bit(page, map->mapped);
}

/** ssd_block_map_erased - erased blocks of a die set. */
static inline u32 ssd_block_map_erased(const struct ssd_block_map *map, u32 set)
{
	return map->free[set].count;
}

/** ssd_block_map_take - an erased block of a die set that has one. */
u32 ssd_block_map_take(struct ssd_block_map *map, u32 set);

/** ssd_block_map_erase - in the background: the dies are busy with it, the firmware is not. */
void ssd_block_map_erase(struct ssd_block_map *map, u32 block, u64 start);

/** ssd_block_map_replace - @block (or none) becomes the data block, the old one is erased. */
void ssd_block_map_replace(struct ssd_block_map *map, u32 logical, u32 block, u64 start);

/** ssd_block_map_add - the page is mapped from now on. */
void ssd_block_map_add(struct ssd_block_map *map, u32 page);

/** ssd_block_map_remove - it is not. Return: false if it was not before. */
bool ssd_block_map_remove(struct ssd_block_map *map, u32 page);

/**
 * struct ssd_block_census - every physical block must be in use once or erased.
 * @seen: [blocks] was counted
 * @used: how many were
 * @wrong: one was counted twice, or is in the ring of another die set
 */
struct ssd_block_census {
	unsigned long *seen;
	u32 used;
	bool wrong;
};

/** ssd_block_census_begin - counts data and erased blocks. Return: 0 or -ENOMEM. */
int ssd_block_census_begin(struct ssd_block_census *census, const struct ssd_block_map *map);

/** ssd_block_census_add - one more block, in use for something else. */
void ssd_block_census_add(struct ssd_block_census *census, u32 block);

/** ssd_block_census_end - Return: 0, or -EINVAL with a sentence. Frees the census. */
int ssd_block_census_end(struct ssd_block_census *census, const struct ssd_block_map *map,
			 char *error, size_t size);

/**
 * ssd_block_map_check - each logical block has as many mapped pages as it counts, and
 * each is where the layer finds it.
 * @lookup: the layer's
 *
 * Return: 0, or -EINVAL with a sentence.
 */
int ssd_block_map_check(const struct ssd_block_map *map,
			bool (*lookup)(void *layer, u32 page, struct ssd_place *place),
			void *layer, char *error, size_t size);

#endif /* SSD_BLOCK_MAP_H */
