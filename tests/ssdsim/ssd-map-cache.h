/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pages of the map are in RAM, for drives that have too little of it. The
 * one not used for the longest time makes room. Plain C, no locks: the caller
 * serialises.
 */
#ifndef SSD_MAP_CACHE_H
#define SSD_MAP_CACHE_H

#include <linux/types.h>

/**
 * struct ssd_map_slot - one map page in RAM.
 * @map_page: which
 * @dirty: newer than in the NAND
 * @previous, @next: neighbours in the list by use
 */
struct ssd_map_slot {
	u32 map_page;
	bool dirty;
	u32 previous;
	u32 next;
};

/**
 * struct ssd_map_cache - the cache.
 * @slots: [capacity] linked from @oldest to @newest
 * @slot_of: [map pages] index of its slot, or a number that is none
 * @stale: [map pages] what the NAND has is older, because the power failed
 * @used: slots in use
 */
struct ssd_map_cache {
	struct ssd_map_slot *slots;
	u32 *slot_of;
	unsigned long *stale;
	u32 capacity;
	u32 used;
	u32 oldest;
	u32 newest;
};

/**
 * struct ssd_map_victim - what made room.
 * @map_page: which map page
 * @dirty: there was one and it must be written
 */
struct ssd_map_victim {
	u32 map_page;
	bool dirty;
};

/** ssd_map_cache_create - Return: 0 or -ENOMEM. Destroy it in both cases. */
int ssd_map_cache_create(struct ssd_map_cache *cache, u32 capacity, u32 map_pages);
void ssd_map_cache_destroy(struct ssd_map_cache *cache);

/**
 * ssd_map_cache_clear - nothing is in RAM any more, as when the power fails. A map page that
 * was newer than in the NAND is so again as soon as it is used.
 */
void ssd_map_cache_clear(struct ssd_map_cache *cache);

/**
 * ssd_map_cache_use - have a map page in RAM.
 * @dirty: it is going to be changed
 * @victim: what had to go for it
 *
 * Return: true if it was there already (then @victim is not set).
 */
bool ssd_map_cache_use(struct ssd_map_cache *cache, u32 map_page, bool dirty,
		       struct ssd_map_victim *victim);

#endif /* SSD_MAP_CACHE_H */
