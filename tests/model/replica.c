// SPDX-License-Identifier: GPL-2.0-only
/* The bytes that a power cut has left; see replica.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/crc32c.h>
#include "replica.h"

#define BLOCK_BYTES		4096U
#define BLOCK_SECTORS		(BLOCK_BYTES / SECTOR_BYTES)

static struct replica *current;

static void *allocate(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!p)
		abort();
	memset(p, 0, bytes);
	return p;
}

static void give_up(const char *what)
{
	fprintf(stderr, "model: the simulator itself is wrong: %s\n", what);
	abort();
}

u32 __wrap_crc32c(u32 crc, const void *data, unsigned int bytes)
{
	uintptr_t at = (uintptr_t)data - (current ? (uintptr_t)current->bytes : 0);
	struct known_crc *known;

	if (!current || bytes < SECTOR_BYTES || at >= (uintptr_t)current->nr * SECTOR_BYTES ||
	    at % BLOCK_BYTES + bytes != BLOCK_BYTES)
		return __real_crc32c(crc, data, bytes);
	known = &current->crcs[at / BLOCK_BYTES][at % BLOCK_BYTES != 0];
	if (known->bytes != bytes || known->seed != crc) {
		*known = (struct known_crc) {
			.seed = crc, .bytes = bytes, .crc = __real_crc32c(crc, data, bytes),
		};
	}
#ifdef MODEL_VERIFY
	if (known->crc != __real_crc32c(crc, data, bytes))
		give_up("it remembers the checksum of a block that has changed");
#endif
	return known->crc;
}

void replica_init(struct replica *replica, u32 nr_sectors)
{
	u32 blocks = (nr_sectors + BLOCK_SECTORS - 1) / BLOCK_SECTORS;

	memset(replica, 0, sizeof(*replica));
	replica->nr = nr_sectors;
	replica->held = allocate(nr_sectors * sizeof(replica->held[0]));
	replica->wanted = allocate(nr_sectors * sizeof(replica->wanted[0]));
	replica->bytes = allocate((size_t)blocks * BLOCK_BYTES);
	replica->crcs = allocate(blocks * sizeof(replica->crcs[0]));
}

void replica_free(struct replica *replica)
{
	struct image image = replica_image(replica);

	if (current == replica)
		current = NULL;
	image_free(&image);
	free(replica->wanted);
	free(replica->bytes);
	free(replica->crcs);
	free(replica->keep);
}

void replica_make_current(struct replica *replica)
{
	current = replica;
}

struct image replica_image(const struct replica *replica)
{
	return (struct image){ .nr = replica->nr, .sectors = replica->held };
}

static u64 weigh(u32 sector, const struct sector *contents)
{
	u64 x;

	if (!contents)
		return 0;
	x = contents->hash + (sector + 1ULL) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

static void replica_set(struct replica *replica, u32 sector, struct sector *contents)
{
	struct known_crc *crcs = replica->crcs[sector / BLOCK_SECTORS];

	if (replica->held[sector] == contents)
		return;
	replica->hash ^= weigh(sector, replica->held[sector]) ^ weigh(sector, contents);
	sector_assign(&replica->held[sector], contents);
	memcpy(replica->bytes + (size_t)sector * SECTOR_BYTES, contents->words, SECTOR_BYTES);
	crcs[0].bytes = 0;
	crcs[1].bytes = 0;
}

void replica_follow(struct replica *replica, const struct image *image)
{
	u32 i;

	for (i = 0; i < replica->nr; i++)
		replica_set(replica, i, image->sectors[i]);
}

static void make_room(struct replica *replica, u32 nr)
{
	replica->nr_keep = nr;
	if (nr <= replica->max_keep)
		return;
	free(replica->keep);
	replica->max_keep = 2 * nr;
	replica->keep = allocate(replica->max_keep);
}

void replica_cut(struct replica *replica, const struct disk *disk, const struct cut *cut)
{
	const struct disk_write *write;
	u32 i, at = 0;

	make_room(replica, cut_nr_sectors(disk));
	cut_decide(cut, disk, replica->keep);
	list_for_each_entry(write, &disk->writes, list)
		memcpy(&replica->wanted[write->first], &disk->durable.sectors[write->first],
		       write->nr * sizeof(replica->wanted[0]));
	list_for_each_entry(write, &disk->writes, list)
		for (i = 0; i < write->nr; i++, at++)
			if (replica->keep[at] && write->sectors[i])
				replica->wanted[write->first + i] = write->sectors[i];
	list_for_each_entry(write, &disk->writes, list)
		for (i = write->first; i < write->first + write->nr; i++)
			replica_set(replica, i, replica->wanted[i]);
}

void replica_verify(const struct replica *replica)
{
	u32 i;

	for (i = 0; i < replica->nr; i++)
		if (memcmp(replica->bytes + (size_t)i * SECTOR_BYTES, replica->held[i]->words,
			   SECTOR_BYTES))
			give_up("a sector of the replica was overwritten");
}
