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
	};
	buffer->entries = kvcalloc(buffer->slots, sizeof(*buffer->entries), GFP_KERNEL);
	return buffer->entries ? 0 : -ENOMEM;
}

void ssd_write_buffer_destroy(struct ssd_write_buffer *buffer)
{
	kvfree(buffer->entries);
}

void ssd_write_buffer_clear(struct ssd_write_buffer *buffer)
{
	buffer->count = 0;
	buffer->used = 0;
	buffer->leaving = 0;
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
		bitmap_zero(entry->sectors, buffer->page_sectors);
	}
	bitmap_set(entry->sectors, first, sectors);
	entry->count += need;
	entry->ready = ready;
	buffer->used += need;
	return found;
}

void ssd_write_buffer_settle(struct ssd_write_buffer *buffer, u64 now)
{
	if (buffer->leaving && buffer->left <= now) {
		buffer->used -= buffer->leaving;
		buffer->leaving = 0;
	}
}

void ssd_write_buffer_take(struct ssd_write_buffer *buffer, u64 left)
{
	struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, 0);

	/* The firmware sends one entry at a time, so the one before has left. */
	buffer->used -= buffer->leaving;
	buffer->leaving = entry->count;
	buffer->left = left;
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
	*buffer = (struct ssd_read_buffer) {
		.slots = profile->read_buffer_kb * 2 / page_sectors,
	};
	if (!buffer->slots)
		return 0;
	buffer->pages = kvcalloc(buffer->slots, sizeof(u32), GFP_KERNEL);
	if (!buffer->pages)
		return -ENOMEM;
	ssd_read_buffer_clear(buffer);
	return 0;
}

void ssd_read_buffer_clear(struct ssd_read_buffer *buffer)
{
	u32 i;

	for (i = 0; i < buffer->slots; i++)
		buffer->pages[i] = SSD_NO_PAGE;
}

void ssd_read_buffer_destroy(struct ssd_read_buffer *buffer)
{
	kvfree(buffer->pages);
}

static u32 find_slot(const struct ssd_read_buffer *buffer, u32 page)
{
	u32 slot;

	for (slot = 0; slot < buffer->slots; slot++) {
		if (buffer->pages[slot] == page)
			break;
	}
	return slot;
}

bool ssd_read_buffer_has(const struct ssd_read_buffer *buffer, u32 page)
{
	return find_slot(buffer, page) < buffer->slots;
}

void ssd_read_buffer_add(struct ssd_read_buffer *buffer, u32 page)
{
	if (!buffer->slots)
		return;
	buffer->pages[buffer->next] = page;
	buffer->next = (buffer->next + 1) % buffer->slots;
}

void ssd_read_buffer_forget(struct ssd_read_buffer *buffer, u32 page)
{
	u32 slot = find_slot(buffer, page);

	if (slot < buffer->slots)
		buffer->pages[slot] = SSD_NO_PAGE;
}
