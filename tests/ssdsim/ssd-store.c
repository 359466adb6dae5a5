// SPDX-License-Identifier: GPL-2.0-only
/* The contents of an emulated drive. See ssd-store.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ssd-store.h"

#define NODE_SHIFT	9	/* NODE_SLOTS = 2^9 */
#define NODE_SLOTS	512U

/*
 * What a tracking store knows of a unit beside its newest contents: @pending
 * says which sectors are volatile, @undo holds their durable versions, @label
 * who wrote them. It stays when they are durable: the unit is likely to be
 * written again.
 */
struct shadow {
	u8 *undo;
	u64 label[SSD_UNIT_SECTORS];
	u8 pending;
};

/* A unit has its newest contents in @data; @shadow only if the store tracks. */
struct unit {
	u8 *data;
	struct shadow *shadow;
};

/* Units hang on a two-level table: a directory of nodes made when needed. */
struct ssd_store {
	u64 sectors;
	bool track;
	u64 bytes;
	u64 label;
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

/* No page: that may have 64 KiB. */
static u8 *take_memory(struct ssd_store *store)
{
	u8 *memory = kcalloc(1, SSD_UNIT_BYTES, GFP_ATOMIC | __GFP_NOWARN);

	if (memory)
		store->bytes += SSD_UNIT_BYTES;
	return memory;
}

static void give_memory(struct ssd_store *store, u8 **memory)
{
	if (!*memory)
		return;
	kfree(*memory);
	store->bytes -= SSD_UNIT_BYTES;
	*memory = NULL;
}

/* Returns false if there is no memory; what was taken then stays for the next try. */
static bool make_shadow(struct ssd_store *store, struct unit *unit)
{
	if (!unit->shadow) {
		unit->shadow = kcalloc(1, sizeof(*unit->shadow), GFP_ATOMIC | __GFP_NOWARN);
		if (!unit->shadow)
			return false;
		store->bytes += sizeof(*unit->shadow);
	}
	if (!unit->shadow->undo)
		unit->shadow->undo = take_memory(store);
	return unit->shadow->undo;
}

static void give_unit(struct ssd_store *store, struct unit *unit)
{
	give_memory(store, &unit->data);
	if (!unit->shadow)
		return;
	give_memory(store, &unit->shadow->undo);
	kfree(unit->shadow);
	unit->shadow = NULL;
	store->bytes -= sizeof(struct shadow);
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
		for (slot = 0; store->nodes[i] && slot < NODE_SLOTS; slot++)
			give_unit(store, &store->nodes[i][slot]);
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
		if (!unit->data || (store->track && !make_shadow(store, unit)))
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
static void save_durable(const struct ssd_store *store, struct unit *unit, u8 mask)
{
	struct shadow *shadow = unit->shadow;
	u32 i;

	for (i = 0; i < SSD_UNIT_SECTORS; i++) {
		if (!(mask & (1U << i)))
			continue;
		shadow->label[i] = store->label;
		if (!(shadow->pending & (1U << i)))
			memcpy(shadow->undo + i * 512, unit->data + i * 512, 512);
	}
	shadow->pending |= mask;
}

void ssd_store_label(struct ssd_store *store, u64 label)
{
	store->label = label;
}

void ssd_store_write(struct ssd_store *store, u64 sector, u32 sectors, const void *data)
{
	while (sectors) {
		struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
		u32 first = sector % SSD_UNIT_SECTORS;
		u32 count = min(sectors, SSD_UNIT_SECTORS - first);

		if (store->track)
			save_durable(store, unit, sector_mask(first, count));
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

		if (unit && unit->shadow)
			unit->shadow->pending &= ~sector_mask(first, count);
		sector += count;
		sectors -= count;
	}
}

/* Returns the first sector behind the node that would hold @sector. */
static u64 node_end(u64 sector)
{
	u64 span = (u64)NODE_SLOTS * SSD_UNIT_SECTORS;

	return (sector / span + 1) * span;
}

static void discard_part(struct ssd_store *store, struct unit *unit, u32 first, u32 count)
{
	if (!unit->data)
		return;
	/* Memory is taken for both at once, so where there are data there is a shadow. */
	if (store->track && unit->shadow && unit->shadow->undo)
		save_durable(store, unit, sector_mask(first, count));
	memset(unit->data + first * 512, 0, count * 512);
	if (!store->track && count == SSD_UNIT_SECTORS)
		give_unit(store, unit);
}

void ssd_store_discard(struct ssd_store *store, u64 sector, u64 sectors)
{
	u64 end = sector + sectors;

	while (sector < end) {
		struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
		u32 first = sector % SSD_UNIT_SECTORS;
		u32 count = min_t(u64, end - sector, SSD_UNIT_SECTORS - first);

		if (!unit) {
			sector = node_end(sector);
			continue;
		}
		discard_part(store, unit, first, count);
		sector += count;
	}
}

static u8 pending_of(const struct unit *unit)
{
	return unit && unit->shadow ? unit->shadow->pending : 0;
}

bool ssd_store_volatile(const struct ssd_store *store, u64 sector)
{
	const struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);

	return pending_of(unit) & (1U << (sector % SSD_UNIT_SECTORS));
}

u64 ssd_store_volatile_label(const struct ssd_store *store, u64 sector)
{
	const struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);

	return unit->shadow->label[sector % SSD_UNIT_SECTORS];
}

void ssd_store_revert(struct ssd_store *store, u64 sector)
{
	struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
	u32 first = sector % SSD_UNIT_SECTORS;

	if (!ssd_store_volatile(store, sector))
		return;
	memcpy(unit->data + first * 512, unit->shadow->undo + first * 512, 512);
	unit->shadow->pending &= ~(1U << first);
}

u64 ssd_store_volatile_before(const struct ssd_store *store, u64 sector, u64 end)
{
	while (sector < end) {
		const struct unit *unit = find_unit(store, sector / SSD_UNIT_SECTORS);
		u32 first = sector % SSD_UNIT_SECTORS;
		u32 later = pending_of(unit) >> first;

		if (!unit) {
			sector = node_end(sector);
		} else if (!later) {
			sector += SSD_UNIT_SECTORS - first;
		} else {
			while (!(later & 1)) {
				later >>= 1;
				sector++;
			}
			break;
		}
	}
	return min(sector, end);
}

u64 ssd_store_volatile_next(const struct ssd_store *store, u64 sector)
{
	return ssd_store_volatile_before(store, sector, store->sectors);
}

u64 ssd_store_bytes(const struct ssd_store *store)
{
	return store->bytes;
}
