// SPDX-License-Identifier: GPL-2.0-only
/* The contents of an emulated drive. See ssd-store.h. */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ssd-store.h"

#define NODE_SHIFT	9	/* NODE_SLOTS = 2^9 */
#define NODE_SLOTS	512U
#define STORE_GFP	(GFP_ATOMIC | __GFP_NOWARN | __GFP_ZERO)

/*
 * A unit has its newest contents in @data. If some of its sectors are volatile,
 * @undo holds their durable versions; @pending says which sectors these are.
 * @undo stays when they are durable: the unit is likely to be written again.
 */
struct unit {
	u8 *data;
	u8 *undo;
	u8 pending;
};

/* Units hang on a two-level table: a directory of nodes made when needed. */
struct ssd_store {
	u64 sectors;
	bool track;
	u64 bytes;
	u64 node_count;
	struct unit **nodes;
};

static struct unit *find_unit(const struct ssd_store *store, u64 unit)
{
	struct unit *node = store->nodes[unit >> NODE_SHIFT];

	return node ? &node[unit & (NODE_SLOTS - 1)] : NULL;
}

static struct unit *make_unit(struct ssd_store *store, u64 unit)
{
	struct unit **node = &store->nodes[unit >> NODE_SHIFT];

	if (!*node) {
		*node = kcalloc(NODE_SLOTS, sizeof(struct unit), GFP_ATOMIC | __GFP_NOWARN);
		if (!*node)
			return NULL;
		store->bytes += NODE_SLOTS * sizeof(struct unit);
	}
	return &(*node)[unit & (NODE_SLOTS - 1)];
}

static u8 *take_memory(struct ssd_store *store)
{
	u8 *memory = (u8 *)__get_free_page(STORE_GFP);

	if (memory)
		store->bytes += SSD_UNIT_BYTES;
	return memory;
}

static void give_memory(struct ssd_store *store, u8 **memory)
{
	if (!*memory)
		return;
	free_page((unsigned long)*memory);
	store->bytes -= SSD_UNIT_BYTES;
	*memory = NULL;
}

struct ssd_store *ssd_store_create(u64 sectors, bool track)
{
	struct ssd_store *store = kvcalloc(1, sizeof(*store), GFP_KERNEL);
	u64 units = DIV_ROUND_UP_ULL(sectors, SSD_UNIT_SECTORS);

	if (!store)
		return NULL;
	store->sectors = sectors;
	store->track = track;
	store->node_count = DIV_ROUND_UP_ULL(units, NODE_SLOTS);
	store->nodes = kvcalloc(store->node_count, sizeof(*store->nodes), GFP_KERNEL);
	if (!store->nodes) {
		kvfree(store);
		return NULL;
	}
	return store;
}

void ssd_store_destroy(struct ssd_store *store)
{
	u64 i;
	u32 slot;

	for (i = 0; i < store->node_count; i++) {
		for (slot = 0; store->nodes[i] && slot < NODE_SLOTS; slot++) {
			give_memory(store, &store->nodes[i][slot].data);
			give_memory(store, &store->nodes[i][slot].undo);
		}
		kfree(store->nodes[i]);
	}
	kvfree(store->nodes);
	kvfree(store);
}

int ssd_store_reserve(struct ssd_store *store, u64 sector, u32 sectors)
{
	u64 index = sector / SSD_UNIT_SECTORS;
	u64 last = (sector + sectors - 1) / SSD_UNIT_SECTORS;

	for (; index <= last; index++) {
		struct unit *unit = make_unit(store, index);

		if (!unit)
			return -ENOMEM;
		if (!unit->data)
			unit->data = take_memory(store);
		if (store->track && !unit->undo)
			unit->undo = take_memory(store);
		if (!unit->data || (store->track && !unit->undo))
			return -ENOMEM;
	}
	return 0;
}

/* Sectors [first, first + count) of a unit as a mask. */
static u8 sector_mask(u32 first, u32 count)
{
	return ((1U << count) - 1) << first;
}

/* Keep the durable versions of sectors about to be overwritten. */
static void save_durable(struct unit *unit, u8 mask)
{
	u32 i;

	for (i = 0; i < SSD_UNIT_SECTORS; i++) {
		if (mask & ~unit->pending & (1U << i))
			memcpy(unit->undo + i * 512, unit->data + i * 512, 512);
	}
	unit->pending |= mask;
}

void ssd_store_write(struct ssd_store *store, u64 sector, u32 sectors, const void *data)
{
	while (sectors) {
		struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
		u32 first = sector % SSD_UNIT_SECTORS;
		u32 count = min(sectors, SSD_UNIT_SECTORS - first);

		if (store->track)
			save_durable(unit, sector_mask(first, count));
		memcpy(unit->data + first * 512, data, count * 512);
		data += count * 512;
		sector += count;
		sectors -= count;
	}
}

void ssd_store_read(const struct ssd_store *store, u64 sector, u32 sectors, void *data)
{
	while (sectors) {
		const struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
		u32 first = sector % SSD_UNIT_SECTORS;
		u32 count = min(sectors, SSD_UNIT_SECTORS - first);

		if (unit && unit->data)
			memcpy(data, unit->data + first * 512, count * 512);
		else
			memset(data, 0, count * 512);
		data += count * 512;
		sector += count;
		sectors -= count;
	}
}

void ssd_store_commit(struct ssd_store *store, u64 sector, u32 sectors)
{
	if (!store->track)
		return;
	while (sectors) {
		struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
		u32 first = sector % SSD_UNIT_SECTORS;
		u32 count = min(sectors, SSD_UNIT_SECTORS - first);

		if (unit)
			unit->pending &= ~sector_mask(first, count);
		sector += count;
		sectors -= count;
	}
}

void ssd_store_discard(struct ssd_store *store, u64 sector, u64 sectors)
{
	while (sectors) {
		struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
		u32 first = sector % SSD_UNIT_SECTORS;
		u32 count = min_t(u64, sectors, SSD_UNIT_SECTORS - first);

		if (unit && unit->data) {
			unit->pending &= ~sector_mask(first, count);
			memset(unit->data + first * 512, 0, count * 512);
			if (count == SSD_UNIT_SECTORS) {
				give_memory(store, &unit->undo);
				give_memory(store, &unit->data);
			}
		}
		sector += count;
		sectors -= count;
	}
}

bool ssd_store_volatile(const struct ssd_store *store, u64 sector)
{
	const struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);

	return unit && (unit->pending & (1U << (sector % SSD_UNIT_SECTORS)));
}

void ssd_store_revert(struct ssd_store *store, u64 sector)
{
	struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
	u32 first = sector % SSD_UNIT_SECTORS;

	if (!ssd_store_volatile(store, sector))
		return;
	memcpy(unit->data + first * 512, unit->undo + first * 512, 512);
	unit->pending &= ~(1U << first);
}

u64 ssd_store_volatile_next(const struct ssd_store *store, u64 sector)
{
	while (sector < store->sectors) {
		const struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);

		if (!unit) {
			u64 span = (u64)NODE_SLOTS * SSD_UNIT_SECTORS;

			sector = (sector / span + 1) * span;
			continue;
		}
		if (unit->pending >> (sector % SSD_UNIT_SECTORS) & 1)
			return sector;
		sector++;
	}
	return store->sectors;
}

u64 ssd_store_bytes(const struct ssd_store *store)
{
	return store->bytes;
}
