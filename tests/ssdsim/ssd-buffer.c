// SPDX-License-Identifier: GPL-2.0-only
/* Write and read buffer of a drive. See ssd-buffer.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "ssd-buffer.h"
#include "ssd-nand.h"

int ssd_write_buffer_create(struct ssd_write_buffer *buffer,
			    const struct ssd_profile *profile, u32 page_sectors)
{
	*buffer = (struct ssd_write_buffer) {
		.capacity = profile->write_buffer_kb * 2,
		.slots = profile->write_buffer_kb * 2,
		.page_sectors = page_sectors,
		.match = profile->write_buffer_match,
		.order = profile->write_buffer_order,
	};
	buffer->entries = kvcalloc(buffer->slots, sizeof(*buffer->entries), GFP_KERNEL);
	buffer->departures = kvcalloc(buffer->slots, sizeof(*buffer->departures), GFP_KERNEL);
	return buffer->entries && buffer->departures ? 0 : -ENOMEM;
}

void ssd_write_buffer_destroy(struct ssd_write_buffer *buffer)
{
	kvfree(buffer->entries);
	kvfree(buffer->departures);
}

void ssd_write_buffer_clear(struct ssd_write_buffer *buffer)
{
	buffer->count = 0;
	buffer->used = 0;
	buffer->leaving = 0;
	buffer->departing = 0;
}

struct ssd_write_entry *ssd_write_buffer_find(const struct ssd_write_buffer *buffer,
					      u32 page)
{
	u32 candidates = buffer->count;
	u32 age;

	if (buffer->match == SSD_BUFFER_MATCH_TAIL)
		candidates = min(candidates, 1U);
	for (age = buffer->count; candidates--; age--) {
		struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, age - 1);

		if (entry->page == page)
			return entry;
	}
	return NULL;
}

u32 ssd_write_buffer_need(const struct ssd_write_buffer *buffer, u32 page,
			  u32 first, u32 sectors)
{
	const struct ssd_write_entry *entry = ssd_write_buffer_find(buffer, page);
	u32 i, need = sectors;

	for (i = first; entry && i < first + sectors; i++)
		need -= test_bit(i, entry->sectors);
	return need;
}

/* Make an entry the newest one. */
static struct ssd_write_entry *renew(struct ssd_write_buffer *buffer,
				     struct ssd_write_entry *entry)
{
	struct ssd_write_entry moved = *entry;
	u32 age = entry - buffer->entries;

	age = age >= buffer->head ? age - buffer->head : age + buffer->slots - buffer->head;
	for (; age + 1 < buffer->count; age++)
		*ssd_write_buffer_at(buffer, age) = *ssd_write_buffer_at(buffer, age + 1);
	entry = ssd_write_buffer_at(buffer, age);
	*entry = moved;
	return entry;
}

bool ssd_write_buffer_add(struct ssd_write_buffer *buffer, u32 page, u32 first,
			  u32 sectors, u64 ready)
{
	u32 need = ssd_write_buffer_need(buffer, page, first, sectors);
	struct ssd_write_entry *entry = ssd_write_buffer_find(buffer, page);
	bool found = entry;

	if (!entry) {
		entry = ssd_write_buffer_at(buffer, buffer->count++);
		entry->page = page;
		entry->count = 0;
		entry->completed = false;
		bitmap_zero(entry->sectors, buffer->page_sectors);
	} else if (buffer->order == SSD_BUFFER_ORDER_LRU) {
		entry = renew(buffer, entry);
	}
	bitmap_set(entry->sectors, first, sectors);
	entry->count += need;
	entry->ready = ready;
	buffer->used += need;
	return found;
}

void ssd_write_buffer_settle(struct ssd_write_buffer *buffer, u64 now)
{
	u32 i = 0;

	while (i < buffer->departing) {
		struct ssd_departure *departure = &buffer->departures[i];

		if (departure->left > now) {
			i++;
			continue;
		}
		buffer->used -= departure->sectors;
		buffer->leaving -= departure->sectors;
		*departure = buffer->departures[--buffer->departing];
	}
}

u64 ssd_write_buffer_next_left(const struct ssd_write_buffer *buffer)
{
	u64 earliest = buffer->departures[0].left;
	u32 i;

	for (i = 1; i < buffer->departing; i++)
		earliest = min(earliest, buffer->departures[i].left);
	return earliest;
}

void ssd_write_buffer_prefer(struct ssd_write_buffer *buffer, u32 age)
{
	struct ssd_write_entry moved;

	if (!age)
		return;
	moved = *ssd_write_buffer_at(buffer, age);
	for (; age; age--)
		*ssd_write_buffer_at(buffer, age) = *ssd_write_buffer_at(buffer, age - 1);
	*ssd_write_buffer_at(buffer, 0) = moved;
}

void ssd_write_buffer_take(struct ssd_write_buffer *buffer, u64 left)
{
	struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, 0);

	buffer->leaving += entry->count;
	buffer->departures[buffer->departing++] = (struct ssd_departure) {
		.left = left,
		.sectors = entry->count,
	};
	buffer->head = buffer->head + 1 < buffer->slots ? buffer->head + 1 : 0;
	buffer->count--;
}

bool ssd_write_buffer_covers(const struct ssd_write_buffer *buffer, u32 page,
			     u32 first, u32 sectors)
{
	DECLARE_BITMAP(missing, SSD_MAX_PAGE_SECTORS);
	bool any = false;
	u32 age;

	for (age = 0; age < buffer->count; age++) {
		struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, age);

		if (entry->page != page)
			continue;
		if (!any) {
			bitmap_zero(missing, buffer->page_sectors);
			bitmap_set(missing, first, sectors);
			any = true;
		}
		bitmap_andnot(missing, missing, entry->sectors, buffer->page_sectors);
	}
	return any && bitmap_empty(missing, buffer->page_sectors);
}

void ssd_write_buffer_forget(struct ssd_write_buffer *buffer, u32 page)
{
	u32 age, kept = 0;

	for (age = 0; age < buffer->count; age++) {
		struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, age);

		if (entry->page == page) {
			buffer->used -= entry->count;
			continue;
		}
		if (kept != age)
			*ssd_write_buffer_at(buffer, kept) = *entry;
		kept++;
	}
	buffer->count = kept;
}

int ssd_read_buffer_create(struct ssd_read_buffer *buffer,
			   const struct ssd_profile *profile, u32 page_sectors)
{
	u32 units = profile->partial_read ? profile->planes : 1;
	u32 buckets = 1;

	*buffer = (struct ssd_read_buffer) {
		.unit_sectors = page_sectors / units,
		.page_units = units,
	};
	buffer->slots = profile->read_buffer_kb * 2 / buffer->unit_sectors;
	if (!buffer->slots)
		return 0;
	while (buckets < buffer->slots)
		buckets *= 2;
	buffer->bucket_mask = buckets - 1;
	buffer->units = kvcalloc(buffer->slots, sizeof(*buffer->units), GFP_KERNEL);
	buffer->buckets = kvcalloc(buckets, sizeof(*buffer->buckets), GFP_KERNEL);
	if (!buffer->units || !buffer->buckets)
		return -ENOMEM;
	ssd_read_buffer_clear(buffer);
	return 0;
}

void ssd_read_buffer_clear(struct ssd_read_buffer *buffer)
{
	u32 i;

	for (i = 0; i < buffer->slots; i++)
		buffer->units[i].unit = SSD_NO_PAGE;
	for (i = 0; buffer->slots && i <= buffer->bucket_mask; i++)
		buffer->buckets[i] = SSD_NO_SLOT;
}

void ssd_read_buffer_destroy(struct ssd_read_buffer *buffer)
{
	kvfree(buffer->units);
	kvfree(buffer->buckets);
}

/* Where the number of the slot of @unit stands; SSD_NO_SLOT stands there if it has none. */
static u32 *find_link(const struct ssd_read_buffer *buffer, u32 unit)
{
	u32 *link = &buffer->buckets[unit & buffer->bucket_mask];

	while (*link != SSD_NO_SLOT && buffer->units[*link].unit != unit)
		link = &buffer->units[*link].chained;
	return link;
}

static void forget_unit(struct ssd_read_buffer *buffer, u32 unit)
{
	u32 *link = find_link(buffer, unit);
	struct ssd_read_slot *slot;

	if (*link == SSD_NO_SLOT)
		return;
	slot = &buffer->units[*link];
	*link = slot->chained;
	slot->unit = SSD_NO_PAGE;
}

/* In the place of the oldest one. */
static void remember_unit(struct ssd_read_buffer *buffer, u32 unit, u64 ready)
{
	struct ssd_read_slot *slot = &buffer->units[buffer->next];
	u32 *bucket = &buffer->buckets[unit & buffer->bucket_mask];

	if (slot->unit != SSD_NO_PAGE)
		forget_unit(buffer, slot->unit);
	slot->unit = unit;
	slot->ready = ready;
	slot->chained = *bucket;
	*bucket = buffer->next;
	buffer->next = buffer->next + 1 == buffer->slots ? 0 : buffer->next + 1;
}

u32 ssd_read_buffer_units(const struct ssd_read_buffer *buffer, u32 first, u32 sectors)
{
	return (first + sectors - 1) / buffer->unit_sectors - first / buffer->unit_sectors + 1;
}

bool ssd_read_buffer_has(const struct ssd_read_buffer *buffer, u32 page, u32 first,
			 u32 sectors, u64 *ready)
{
	u32 unit = page * buffer->page_units + first / buffer->unit_sectors;
	u32 end = unit + ssd_read_buffer_units(buffer, first, sectors);

	*ready = 0;
	if (!buffer->slots)
		return false;
	for (; unit < end; unit++) {
		u32 slot = *find_link(buffer, unit);

		if (slot == SSD_NO_SLOT)
			return false;
		*ready = max(*ready, buffer->units[slot].ready);
	}
	return true;
}

void ssd_read_buffer_add(struct ssd_read_buffer *buffer, u32 page, u32 first, u32 sectors,
			 u64 ready)
{
	u32 unit = page * buffer->page_units + first / buffer->unit_sectors;
	u32 end = unit + ssd_read_buffer_units(buffer, first, sectors);

	if (!buffer->slots)
		return;
	for (; unit < end; unit++) {
		if (*find_link(buffer, unit) == SSD_NO_SLOT)
			remember_unit(buffer, unit, ready);
	}
}

void ssd_read_buffer_forget(struct ssd_read_buffer *buffer, u32 page)
{
	u32 unit = page * buffer->page_units;
	u32 end = unit + buffer->page_units;

	for (; buffer->slots && unit < end; unit++)
		forget_unit(buffer, unit);
}
