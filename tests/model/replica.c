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

/*
 * Checksums are linear: that of A and B is that of A, carried over as many zeroes as B has bytes,
 * xor that of B with seed 0.  carry[] does the first for a whole sector and for one from BEHIND_CRC
 * on, byte by byte of the checksum.
 */
static u32 carry[2][4][256];

static void make_carry(void)
{
	static const u8 zeroes[SECTOR_BYTES];
	u32 behind, bytes, i, value;

	if (carry[0][0][1])
		return;
	for (behind = 0; behind < 2; behind++) {
		bytes = SECTOR_BYTES - behind * BEHIND_CRC;
		for (i = 0; i < 4; i++)
			for (value = 0; value < 256; value++)
				carry[behind][i][value] =
					__real_crc32c(value << 8 * i, zeroes, bytes);
	}
}

static u32 carry_over(u32 crc, bool behind)
{
	return carry[behind][0][crc & 0xff] ^ carry[behind][1][crc >> 8 & 0xff] ^
	       carry[behind][2][crc >> 16 & 0xff] ^ carry[behind][3][crc >> 24];
}

/* The checksum of @block whole, or from BEHIND_CRC on, out of those of its sectors. */
static u32 block_crc(const struct replica *replica, u32 block, bool behind, u32 seed)
{
	struct sector **sectors = &replica->shown[block * BLOCK_SECTORS];
	u32 i, crc;

	crc = carry_over(seed, behind) ^ (behind ? sectors[0]->crc_behind : sectors[0]->crc);
	for (i = 1; i < BLOCK_SECTORS; i++)
		crc = carry_over(crc, false) ^ sectors[i]->crc;
	return crc;
}

u32 __wrap_crc32c(u32 crc, const void *data, unsigned int bytes)
{
	uintptr_t at = (uintptr_t)data - (current ? (uintptr_t)current->bytes : 0);
	struct known_crc *known;

	if (!current || bytes < SECTOR_BYTES || at >= (uintptr_t)current->nr * SECTOR_BYTES ||
	    at % BLOCK_BYTES + bytes != BLOCK_BYTES ||
	    (at % BLOCK_BYTES && at % BLOCK_BYTES != BEHIND_CRC))
		return __real_crc32c(crc, data, bytes);
	known = &current->crcs[at / BLOCK_BYTES][at % BLOCK_BYTES != 0];
	if (known->bytes != bytes || known->seed != crc) {
		*known = (struct known_crc) {
			.seed = crc, .bytes = bytes,
			.crc = block_crc(current, at / BLOCK_BYTES, at % BLOCK_BYTES, crc),
		};
	}
#ifdef MODEL_VERIFY
	if (known->crc != __real_crc32c(crc, data, bytes))
		give_up("it remembers the checksum of a block that has changed");
#endif
	return known->crc;
}

void replica_init(struct replica *replica, u32 nr_sectors, u32 log_first)
{
	u32 blocks = (nr_sectors + BLOCK_SECTORS - 1) / BLOCK_SECTORS;

	make_carry();
	memset(replica, 0, sizeof(*replica));
	replica->nr = nr_sectors;
	replica->log_first = log_first;
	replica->held = allocate(nr_sectors * sizeof(replica->held[0]));
	replica->shown = allocate(nr_sectors * sizeof(replica->shown[0]));
	replica->weights = allocate(nr_sectors * sizeof(replica->weights[0]));
	replica->wanted = allocate(nr_sectors * sizeof(replica->wanted[0]));
	replica->bytes = allocate((size_t)blocks * BLOCK_BYTES);
	replica->crcs = allocate(blocks * sizeof(replica->crcs[0]));
}

void replica_free(struct replica *replica)
{
	struct image held = replica_image(replica);
	struct image shown = { .nr = replica->nr, .sectors = replica->shown };

	if (current == replica)
		current = NULL;
	image_free(&held);
	image_free(&shown);
	free(replica->weights);
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

	x = contents->hash + (sector + 1ULL) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

static void replica_set(struct replica *replica, u32 sector, struct sector *contents)
{
	u64 weight, change;

	if (replica->held[sector] == contents)
		return;
	weight = weigh(sector, contents);
	change = replica->weights[sector] ^ weight;
	replica->weights[sector] = weight;
	replica->hash ^= change;
	if (sector >= replica->log_first)
		replica->log_hash ^= change;
	sector_assign(&replica->held[sector], contents);
}

static void show_sector(struct replica *replica, u32 sector)
{
	struct known_crc *crcs = replica->crcs[sector / BLOCK_SECTORS];

	if (replica->shown[sector] == replica->held[sector])
		return;
	sector_assign(&replica->shown[sector], replica->held[sector]);
	memcpy(replica->bytes + (size_t)sector * SECTOR_BYTES, replica->held[sector]->words,
	       SECTOR_BYTES);
	crcs[0].bytes = 0;
	crcs[1].bytes = 0;
}

void *replica_read(struct replica *replica, u32 first, u32 nr)
{
	u32 i;

	for (i = first; i < first + nr; i++)
		show_sector(replica, i);
	return replica->bytes + (size_t)first * SECTOR_BYTES;
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
		if (replica->shown[i] &&
		    memcmp(replica->bytes + (size_t)i * SECTOR_BYTES, replica->shown[i]->words,
			   SECTOR_BYTES))
			give_up("a sector of the replica was overwritten");
}
