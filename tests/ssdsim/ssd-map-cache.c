// SPDX-License-Identifier: GPL-2.0-only
/* The part of the map that is in RAM. See ssd-map-cache.h. */
#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ssd-map-cache.h"

#define NO_SLOT	0xffffffffU

int ssd_map_cache_create(struct ssd_map_cache *cache, u32 capacity, u32 map_pages)
{
	*cache = (struct ssd_map_cache) {
		.capacity = min(capacity, map_pages),
		.oldest = NO_SLOT,
		.newest = NO_SLOT,
	};
	if (!map_pages)
		return 0;
	cache->slots = kvcalloc(cache->capacity, sizeof(*cache->slots), GFP_KERNEL);
	cache->slot_of = kvcalloc(map_pages, sizeof(u32), GFP_KERNEL);
	cache->stale = bitmap_zalloc(map_pages, GFP_KERNEL);
	if (!cache->slots || !cache->slot_of || !cache->stale)
		return -ENOMEM;
	memset(cache->slot_of, 0xff, map_pages * sizeof(u32));
	return 0;
}

void ssd_map_cache_destroy(struct ssd_map_cache *cache)
{
	kvfree(cache->slots);
	kvfree(cache->slot_of);
	bitmap_free(cache->stale);
}

void ssd_map_cache_clear(struct ssd_map_cache *cache)
{
	u32 index;

	for (index = 0; index < cache->used; index++) {
		const struct ssd_map_slot *slot = &cache->slots[index];

		cache->slot_of[slot->map_page] = NO_SLOT;
		if (slot->dirty)
			__set_bit(slot->map_page, cache->stale);
	}
	cache->used = 0;
	cache->oldest = NO_SLOT;
	cache->newest = NO_SLOT;
}

static void unlink_slot(struct ssd_map_cache *cache, u32 index)
{
	const struct ssd_map_slot *slot = &cache->slots[index];

	if (slot->previous == NO_SLOT)
		cache->oldest = slot->next;
	else
		cache->slots[slot->previous].next = slot->next;
	if (slot->next == NO_SLOT)
		cache->newest = slot->previous;
	else
		cache->slots[slot->next].previous = slot->previous;
}

static void link_newest(struct ssd_map_cache *cache, u32 index)
{
	struct ssd_map_slot *slot = &cache->slots[index];

	slot->previous = cache->newest;
	slot->next = NO_SLOT;
	if (cache->newest == NO_SLOT)
		cache->oldest = index;
	else
		cache->slots[cache->newest].next = index;
	cache->newest = index;
}

/* A slot for another map page. */
static u32 make_slot(struct ssd_map_cache *cache, struct ssd_map_victim *victim)
{
	u32 index = cache->oldest;

	victim->dirty = false;
	if (cache->used < cache->capacity)
		return cache->used++;
	victim->map_page = cache->slots[index].map_page;
	victim->dirty = cache->slots[index].dirty;
	cache->slot_of[victim->map_page] = NO_SLOT;
	unlink_slot(cache, index);
	return index;
}

bool ssd_map_cache_use(struct ssd_map_cache *cache, u32 map_page, bool dirty,
		       struct ssd_map_victim *victim)
{
	u32 index = cache->slot_of[map_page];
	bool found = index != NO_SLOT;

	if (found) {
		unlink_slot(cache, index);
	} else {
		index = make_slot(cache, victim);
		cache->slots[index].map_page = map_page;
		cache->slots[index].dirty = __test_and_clear_bit(map_page, cache->stale);
		cache->slot_of[map_page] = index;
	}
	cache->slots[index].dirty |= dirty;
	link_newest(cache, index);
	return found;
}
