/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffers of a drive: which sectors are in RAM. The data themselves are in
 * the store. Plain C, no locks: the caller serialises.
 */
#ifndef SSD_BUFFER_H
#define SSD_BUFFER_H

#include <linux/bitmap.h>
#include <linux/types.h>

#include "ssd-profile.h"

/**
 * struct ssd_write_entry - buffered sectors of one clustered page.
 * @page: logical clustered page
 * @count: sectors set in @sectors
 * @ready: time the last of them arrived
 * @completed: the rest of the page was read, too, at @rest_ready
 * @sectors: those that are buffered
 */
struct ssd_write_entry {
	u32 page;
	u32 count;
	u64 ready;
	bool completed;
	u64 rest_ready;
	DECLARE_BITMAP(sectors, SSD_MAX_PAGE_SECTORS);
};

/**
 * struct ssd_departure - sectors on their way to the NAND.
 * @left: time their transfer ends and their room is free
 */
struct ssd_departure {
	u64 left;
	u32 sectors;
};

/**
 * struct ssd_write_buffer - entries in the order they leave.
 * @entries: ring of @slots entries, the oldest at @head
 * @capacity: sectors it holds
 * @used: sectors occupied, those on their way to the NAND included
 * @leaving: sectors of the @departing @departures, which are in no order
 * @order: enum ssd_buffer_order
 * @match: which entries may take more sectors
 */
struct ssd_write_buffer {
	struct ssd_write_entry *entries;
	u32 slots;
	u32 head;
	u32 count;
	u32 capacity;
	u32 used;
	u32 leaving;
	u32 departing;
	struct ssd_departure *departures;
	u32 page_sectors;
	enum ssd_buffer_order order;
	enum ssd_buffer_match match;
};

/** ssd_write_buffer_create - Return: 0 or -ENOMEM. */
int ssd_write_buffer_create(struct ssd_write_buffer *buffer,
			    const struct ssd_profile *profile, u32 page_sectors);
void ssd_write_buffer_destroy(struct ssd_write_buffer *buffer);

/** ssd_write_buffer_clear - forget everything, as when the power fails. */
void ssd_write_buffer_clear(struct ssd_write_buffer *buffer);

/** ssd_write_buffer_at - the entry @age places behind the oldest one. */
static inline struct ssd_write_entry *
ssd_write_buffer_at(const struct ssd_write_buffer *buffer, u32 age)
{
	u32 slot = buffer->head + age;

	return &buffer->entries[slot < buffer->slots ? slot : slot - buffer->slots];
}

/** ssd_write_buffer_find - the entry that may take sectors of @page, or NULL. */
struct ssd_write_entry *ssd_write_buffer_find(const struct ssd_write_buffer *buffer,
					      u32 page);

/** ssd_write_buffer_need - sectors of a write to @page that need new room. */
u32 ssd_write_buffer_need(const struct ssd_write_buffer *buffer, u32 page,
			  u32 first, u32 sectors);

/**
 * ssd_write_buffer_add - take sectors for which there is room.
 * @first, @sectors: within the clustered page
 * @ready: time they have arrived
 *
 * Return: true if an existing entry took them.
 */
bool ssd_write_buffer_add(struct ssd_write_buffer *buffer, u32 page, u32 first,
			  u32 sectors, u64 ready);

/**
 * ssd_write_buffer_prefer - make one entry the oldest one.
 * @age: its age; no older entry is of the same page
 */
void ssd_write_buffer_prefer(struct ssd_write_buffer *buffer, u32 age);

/** ssd_write_buffer_take - remove the oldest entry; its room is freed at @left. */
void ssd_write_buffer_take(struct ssd_write_buffer *buffer, u64 left);

/** ssd_write_buffer_next_left - when the next room is freed; something is leaving. */
u64 ssd_write_buffer_next_left(const struct ssd_write_buffer *buffer);

/** ssd_write_buffer_settle - free the room of what has left by @now. */
void ssd_write_buffer_settle(struct ssd_write_buffer *buffer, u64 now);

/** ssd_write_buffer_covers - all these sectors of @page are buffered. */
bool ssd_write_buffer_covers(const struct ssd_write_buffer *buffer, u32 page,
			     u32 first, u32 sectors);

/** ssd_write_buffer_forget - drop all sectors of @page (it was discarded). */
void ssd_write_buffer_forget(struct ssd_write_buffer *buffer, u32 page);

/**
 * struct ssd_read_slot - one unit of the read buffer.
 * @unit: number of the unit on the drive, or SSD_NO_PAGE
 * @chained: the next slot whose unit is in the same bucket, or SSD_NO_SLOT
 * @ready: time it has been read
 */
struct ssd_read_slot {
	u32 unit;
	u32 chained;
	u64 ready;
};

#define SSD_NO_SLOT	0xffffffffU

/**
 * struct ssd_read_buffer - units read last, oldest at @next. A unit is what is
 * moved over the bus at least: a clustered page, or with partial_read the NAND pages
 * that the channels move at a time.
 * @page_units: units of a clustered page
 * @buckets: [@bucket_mask + 1] hash table of the units: first slot, or SSD_NO_SLOT
 */
struct ssd_read_buffer {
	struct ssd_read_slot *units;
	u32 *buckets;
	u32 bucket_mask;
	u32 slots;
	u32 next;
	u32 unit_sectors;
	u32 page_units;
};

/** ssd_read_buffer_create - Return: 0 or -ENOMEM. */
int ssd_read_buffer_create(struct ssd_read_buffer *buffer,
			   const struct ssd_profile *profile, u32 page_sectors);
void ssd_read_buffer_destroy(struct ssd_read_buffer *buffer);

/**
 * ssd_read_buffer_has - are these sectors of @page all there?
 * @ready: time the last of them is
 */
bool ssd_read_buffer_has(const struct ssd_read_buffer *buffer, u32 page, u32 first,
			 u32 sectors, u64 *ready);

/** ssd_read_buffer_add - the units of these sectors are there at @ready. */
void ssd_read_buffer_add(struct ssd_read_buffer *buffer, u32 page, u32 first, u32 sectors,
			 u64 ready);

/** ssd_read_buffer_units - units that these sectors of a page lie in. */
u32 ssd_read_buffer_units(const struct ssd_read_buffer *buffer, u32 first, u32 sectors);

/** ssd_read_buffer_clear - forget everything, as when the power fails. */
void ssd_read_buffer_clear(struct ssd_read_buffer *buffer);

/** ssd_read_buffer_forget - drop all units of @page (it was written or discarded). */
void ssd_read_buffer_forget(struct ssd_read_buffer *buffer, u32 page);

#endif /* SSD_BUFFER_H */
