// SPDX-License-Identifier: GPL-2.0-only
/* A disk with a volatile cache; see disk.h. */
#include <stdlib.h>
#include <string.h>
#include <linux/crc32c.h>
#include "disk.h"

static struct sector zero_sector = { .references = 1, .uniform = true };
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

/* A new sector with the contents at @data. */
static struct sector *sector_make(const void *data)
{
	struct sector *sector = sector_new();
	u64 hash = 0, differs = 0;
	u32 i;

	memcpy(sector->words, data, SECTOR_BYTES);
	for (i = 0; i < SECTOR_WORDS; i++) {
		hash = (hash ^ sector->words[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
		differs |= sector->words[i] ^ sector->words[0];
	}
	sector->hash = hash;
	sector->crc = crc32c(0, data, SECTOR_BYTES);
	sector->crc_behind = crc32c(0, (const u8 *)data + BEHIND_CRC, SECTOR_BYTES - BEHIND_CRC);
	sector->uniform = !differs;
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

void sector_assign(struct sector **place, struct sector *sector)
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

void disk_init(struct disk *disk, u32 nr_sectors, u32 second)
{
	memset(disk, 0, sizeof(*disk));
	disk->second = second;
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
	for (i = 0; i < nr; i++)
		write->sectors[i] = sector_make((const u8 *)data + i * SECTOR_BYTES);
	disk->changes++;
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

/* Takes sectors out of @write: a third of them, all, or those behind some place. */
static void write_cripple(struct disk_write *write, struct random *random)
{
	u32 kind = random_below(random, 4), limit = random_below(random, write->nr + 1), i;

	for (i = 0; i < write->nr; i++) {
		if (kind == 0 ? !random_once_in(random, 3) : kind == 1 && i < limit)
			continue;
		sector_put(write->sectors[i]);
		write->sectors[i] = NULL;
	}
}

void disk_complete(struct disk *disk, struct disk_write *write, bool fua)
{
	struct random random = { .state = write->lost };
	struct disk_write *other;

	if (write->lost && !fua)
		write_cripple(write, &random);
	write_apply(write, &disk->view);
	disk->changes++;
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

void disk_flush_end(struct disk *disk, u64 mark, u32 disks)
{
	struct disk_write *write, *next;

	disk->changes++;
	list_for_each_entry_safe(write, next, &disk->writes, list) {
		if (!write->order || write->order > mark)
			break;
		if (!(disks & (write->first < disk->second ? DISK_FIRST : DISK_SECOND)))
			continue;
		write_apply(write, &disk->durable);
		write_free(write);
	}
}

void disk_read(const struct disk *disk, u32 first, u32 nr, void *data)
{
	image_read(&disk->view, first, nr, data);
}

void disk_adopt(struct disk *disk, const struct image *image)
{
	drop_writes(disk);
	image_copy(&disk->durable, image);
	image_copy(&disk->view, image);
	disk->changes++;
}

void disk_fail(struct disk *disk, struct disk_write *write, u64 number)
{
	struct random random = { .state = number };

	write_cripple(write, &random);
	disk_complete(disk, write, false);
}

void disk_flush_fail(struct disk *disk, u32 disks, u64 number)
{
	struct random random = { .state = number };
	struct disk_write *write;

	if (number % 2)
		return;
	disk->lossy = true;
	disk->changes++;
	list_for_each_entry(write, &disk->writes, list) {
		if (!random_once_in(&random, 2) ||
		    !(disks & (write->first < disk->second ? DISK_FIRST : DISK_SECOND)))
			continue;
		if (write->order)
			write_cripple(write, &random);
		else
			write->lost = random_u64(&random) | 1;
	}
	image_copy(&disk->view, &disk->durable);
	list_for_each_entry(write, &disk->writes, list)
		if (write->order)
			write_apply(write, &disk->view);
}

void disk_host_stops(struct disk *disk, u64 number)
{
	struct random random = { .state = number };
	struct disk_write *write, *next;

	list_for_each_entry_safe(write, next, &disk->writes, list) {
		if (write->order)
			continue;
		if (random_once_in(&random, 2))
			write_cripple(write, &random);
		disk_complete(disk, write, false);
	}
}
