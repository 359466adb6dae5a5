// SPDX-License-Identifier: GPL-2.0-only
/* A disk with a volatile cache; see disk.h. */
#include <stdlib.h>
#include <string.h>
#include "disk.h"

/* Ways in which a power cut picks what survives; see pick_survivors(). */
enum cut {
	CUT_NOTHING_LOST,
	CUT_ALL_LOST,
	CUT_PREFIX,		/* the disk wrote in order and stopped somewhere */
	CUT_WHOLE_REQUESTS,
	CUT_ONE_LOST,
	CUT_ONE_SURVIVES,
	CUT_TORN_REQUESTS,	/* each survives whole, not at all, or up to or from some sector */
	CUT_ANY_SECTORS,
	CUT_FIRST_BLOCKS,	/* the first 4 KiB of each any how, the rest whole */
	NR_CUTS
};

static struct sector zero_sector = { .references = 1 };
static struct sector *free_sectors;

static void *allocate(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		abort();
	return p;
}

static struct sector *sector_new(void)
{
	struct sector *sector = free_sectors;

	if (sector)
		free_sectors = sector->next_free;
	else
		sector = allocate(sizeof(*sector));
	sector->references = 1;
	return sector;
}

static struct sector *sector_get(struct sector *sector)
{
	sector->references++;
	return sector;
}

static void sector_put(struct sector *sector)
{
	if (sector && !--sector->references) {
		sector->next_free = free_sectors;
		free_sectors = sector;
	}
}

static void sector_assign(struct sector **place, struct sector *sector)
{
	struct sector *old = *place;

	*place = sector_get(sector);
	sector_put(old);
}

void image_init(struct image *image, u32 nr_sectors)
{
	u32 i;

	image->nr = nr_sectors;
	image->sectors = allocate(nr_sectors * sizeof(image->sectors[0]));
	for (i = 0; i < nr_sectors; i++)
		image->sectors[i] = sector_get(&zero_sector);
}

void image_free(struct image *image)
{
	u32 i;

	for (i = 0; i < image->nr; i++)
		sector_put(image->sectors[i]);
	free(image->sectors);
}

void image_copy(struct image *to, const struct image *from)
{
	u32 i;

	for (i = 0; i < to->nr; i++)
		if (to->sectors[i] != from->sectors[i])
			sector_assign(&to->sectors[i], from->sectors[i]);
}

void image_read(const struct image *image, u32 first, u32 nr, void *data)
{
	u32 i;

	for (i = 0; i < nr; i++)
		memcpy((u8 *)data + i * SECTOR_BYTES, image->sectors[first + i]->words,
		       SECTOR_BYTES);
}

void disk_init(struct disk *disk, u32 nr_sectors)
{
	memset(disk, 0, sizeof(*disk));
	image_init(&disk->durable, nr_sectors);
	image_init(&disk->view, nr_sectors);
	INIT_LIST_HEAD(&disk->writes);
}

static void write_free(struct disk_write *write)
{
	u32 i;

	for (i = 0; i < write->nr; i++)
		sector_put(write->sectors[i]);
	list_del(&write->list);
	free(write);
}

static void drop_writes(struct disk *disk)
{
	struct disk_write *write, *next;

	list_for_each_entry_safe(write, next, &disk->writes, list)
		write_free(write);
}

void disk_free(struct disk *disk)
{
	drop_writes(disk);
	image_free(&disk->durable);
	image_free(&disk->view);
}

struct disk_write *disk_submit(struct disk *disk, u32 first, u32 nr, const void *data)
{
	struct disk_write *write = allocate(sizeof(*write) + nr * sizeof(write->sectors[0]));
	u32 i;

	write->first = first;
	write->nr = nr;
	for (i = 0; i < nr; i++) {
		write->sectors[i] = sector_new();
		memcpy(write->sectors[i]->words, (const u8 *)data + i * SECTOR_BYTES,
		       SECTOR_BYTES);
	}
	list_add_tail(&write->list, &disk->writes);
	return write;
}

static void write_apply(const struct disk_write *write, struct image *image)
{
	u32 i;

	for (i = 0; i < write->nr; i++)
		if (write->sectors[i])
			sector_assign(&image->sectors[write->first + i], write->sectors[i]);
}

/* @fua has made its sectors durable: what was written there before can not come back. */
static void forget_below(struct disk *disk, const struct disk_write *fua)
{
	struct disk_write *write;
	u32 i;

	list_for_each_entry(write, &disk->writes, list) {
		if (!write->order)
			continue;
		for (i = 0; i < write->nr; i++) {
			if (write->first + i - fua->first >= fua->nr)
				continue;
			sector_put(write->sectors[i]);
			write->sectors[i] = NULL;
		}
	}
}

void disk_complete(struct disk *disk, struct disk_write *write, bool fua)
{
	struct disk_write *other;

	write_apply(write, &disk->view);
	disk->nr_writes++;
	if (fua) {
		forget_below(disk, write);
		write_apply(write, &disk->durable);
		write_free(write);
		return;
	}
	write->order = ++disk->order;
	/* Behind the completed ones, before those in flight. */
	list_del(&write->list);
	list_for_each_entry(other, &disk->writes, list)
		if (!other->order)
			break;
	list_add_tail(&write->list, &other->list);
}

u64 disk_flush_begin(const struct disk *disk)
{
	return disk->order;
}

void disk_flush_end(struct disk *disk, u64 mark)
{
	struct disk_write *write, *next;

	list_for_each_entry_safe(write, next, &disk->writes, list) {
		if (!write->order || write->order > mark)
			break;
		write_apply(write, &disk->durable);
		write_free(write);
	}
}

void disk_read(const struct disk *disk, u32 first, u32 nr, void *data)
{
	image_read(&disk->view, first, nr, data);
}

/* Which sectors of the request number @index of @nr survive a cut: first .. end - 1. */
static void pick_survivors(struct random *random, enum cut cut, u32 chosen, u32 index,
			   const struct disk_write *write, u32 *first, u32 *end)
{
	bool whole = false;

	*first = 0;
	*end = write->nr;
	switch (cut) {
	case CUT_NOTHING_LOST:
	case CUT_ANY_SECTORS:
	case CUT_FIRST_BLOCKS:
		whole = true;
		break;
	case CUT_PREFIX:
		if (index == chosen)
			*end = random_below(random, write->nr + 1);
		whole = index <= chosen;
		break;
	case CUT_WHOLE_REQUESTS:
		whole = random_once_in(random, 2);
		break;
	case CUT_ONE_LOST:
		whole = index != chosen;
		break;
	case CUT_ONE_SURVIVES:
		whole = index == chosen;
		break;
	case CUT_TORN_REQUESTS:
		whole = !random_once_in(random, 3);
		if (random_once_in(random, 3))
			*end = random_below(random, write->nr + 1);
		else if (random_once_in(random, 3))
			*first = random_below(random, write->nr);
		break;
	default:
		break;
	}
	if (!whole)
		*end = 0;
}

static u32 count_writes(const struct disk *disk)
{
	const struct list_head *entry;
	u32 nr = 0;

	list_for_each(entry, &disk->writes)
		nr++;
	return nr;
}

void disk_cut(const struct disk *disk, struct random *random, struct image *image)
{
	enum cut cut = random_below(random, NR_CUTS);
	u32 nr = count_writes(disk), index = 0, i, first, end;
	u32 chosen = nr ? random_below(random, nr) : 0;
	const struct disk_write *write;

	image_copy(image, &disk->durable);
	list_for_each_entry(write, &disk->writes, list) {
		pick_survivors(random, cut, chosen, index++, write, &first, &end);
		for (i = first; i < end; i++) {
			if (!write->sectors[i])
				continue;
			if ((cut == CUT_ANY_SECTORS || (cut == CUT_FIRST_BLOCKS && i < 8)) &&
			    random_once_in(random, 2))
				continue;
			sector_assign(&image->sectors[write->first + i], write->sectors[i]);
		}
	}
}

void disk_adopt(struct disk *disk, const struct image *image)
{
	drop_writes(disk);
	image_copy(&disk->durable, image);
	image_copy(&disk->view, image);
}

void disk_host_stops(struct disk *disk, struct random *random)
{
	struct disk_write *write, *next;
	u32 i;

	list_for_each_entry_safe(write, next, &disk->writes, list) {
		if (write->order)
			continue;
		for (i = 0; i < write->nr; i++) {
			if (random_once_in(random, 3)) {
				sector_put(write->sectors[i]);
				write->sectors[i] = NULL;
			}
		}
		disk_complete(disk, write, false);
	}
}
