// SPDX-License-Identifier: GPL-2.0-only
/* A reserved area in memory; see area.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "area.h"

#define PACKED_HEADER	8
#define CHUNK_HEADER	4

static void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory) {
		fputs("fuzz: no memory\n", stderr);
		exit(2);
	}
	return memory;
}

/*
 * Areas come and go thousands of times a second, so their memory is kept.  Reads of it are checked
 * in read_memory().
 */
static u8 *pool[4];
static u32 nr_pooled;

static u8 *take_blocks(void)
{
	return nr_pooled ? pool[--nr_pooled] : allocate(AREA_MAX_BLOCKS * RESSD_BLOCK_SIZE);
}

void *area_block(const struct area_memory *area, u32 block)
{
	return area->blocks + (size_t)block * RESSD_BLOCK_SIZE;
}

void area_make(struct area_memory *area, u32 segments, u32 segment_blocks, u32 remainder,
	       u32 normal_blocks)
{
	char error[RESSD_ERROR_SIZE];

	segments = clamp_t(u32, segments, RESSD_MIN_SEGMENTS, 16);
	segment_blocks = clamp_t(u32, segment_blocks, RESSD_MIN_SEGMENT_BLOCKS, 32);
	remainder %= segment_blocks;
	normal_blocks = clamp_t(u32, normal_blocks, 1, RESSD_NO_BLOCK - 1);
	memset(area, 0, sizeof(*area));
	memcpy(area->info.uuid, "fuzz", 4);
	area->nr_blocks = min_t(u32, segments * segment_blocks + remainder, AREA_MAX_BLOCKS);
	area->info.table.len = (u64)normal_blocks * RESSD_BLOCK_SECTORS;
	area->info.table.reserved_start = area->info.table.len;
	area->info.table.reserved_sectors = area->nr_blocks * RESSD_BLOCK_SECTORS;
	area->info.segment_sectors = segment_blocks * RESSD_BLOCK_SECTORS;
	if (ressd_geom_init(&area->geom, area->info.table.reserved_sectors,
			    area->info.segment_sectors, error, sizeof(error))) {
		fprintf(stderr, "fuzz: %s\n", error);
		exit(2);
	}
	area->info.record_blocks = area->geom.record_blocks;
	area->blocks = take_blocks();
	memset(area->blocks, 0, (size_t)area->nr_blocks * RESSD_BLOCK_SIZE);
	ressd_super_encode(area_block(area, 0), &area->info, 0);
	ressd_super_encode(area_block(area, area->nr_blocks - 1), &area->info, 1);
}

/* One after the other: compilers differ in the order of arguments, and a seed means one area. */
void area_make_random(struct area_memory *area, struct random *random, u32 more, u32 least,
		      u32 spread)
{
	const u32 normal_blocks = least + random_below(random, spread);
	const u32 remainder = random_below(random, 24);
	const u32 segment_blocks = 16 + random_below(random, 9);

	area_make(area, 4 + random_below(random, more), segment_blocks, remainder, normal_blocks);
}

void area_free(struct area_memory *area)
{
	if (nr_pooled < ARRAY_SIZE(pool))
		pool[nr_pooled++] = area->blocks;
	else
		free(area->blocks);
}

void area_copy(struct area_memory *area, const struct area_memory *from)
{
	*area = *from;
	area->blocks = take_blocks();
	memcpy(area->blocks, from->blocks, (size_t)from->nr_blocks * RESSD_BLOCK_SIZE);
}

static int read_memory(void *context, u32 block, u32 nr, void *buffer, struct failure *failure)
{
	struct area_memory *area = context;

	(void)failure;
	if (!nr || block >= area->nr_blocks || nr > area->nr_blocks - block) {
		fprintf(stderr, "fuzz: a read of %u blocks from %u, of an area of %u\n", nr, block,
			area->nr_blocks);
		abort();
	}
	area->reads++;
	area->blocks_read += nr;
	memcpy(buffer, area_block(area, block), (size_t)nr * RESSD_BLOCK_SIZE);
	return 0;
}

struct log_source area_source(struct area_memory *area)
{
	return (struct log_source) { .read = read_memory, .context = area };
}

static u32 get16(const u8 *data)
{
	return data[0] | data[1] << 8;
}

static void put16(u8 *data, u32 value)
{
	data[0] = value;
	data[1] = value >> 8;
}

void area_unpack(struct area_memory *area, const u8 *data, size_t size)
{
	u8 header[PACKED_HEADER] = { 0 };
	size_t at = min_t(size_t, size, sizeof(header));

	memcpy(header, data, at);
	area_make(area, header[0], header[1], header[2],
		  get16(&header[4]) | get16(&header[6]) << 16);
	while (size - at > CHUNK_HEADER) {
		u32 block = get16(&data[at]) % area->nr_blocks;
		size_t length = min_t(size_t, get16(&data[at + 2]), RESSD_BLOCK_SIZE);

		at += CHUNK_HEADER;
		length = min_t(size_t, length, size - at);
		memset(area_block(area, block), 0, RESSD_BLOCK_SIZE);
		memcpy(area_block(area, block), &data[at], length);
		at += length;
	}
}

static size_t used_bytes(const u8 *block)
{
	size_t used = RESSD_BLOCK_SIZE;

	while (used && !block[used - 1])
		used--;
	return used;
}

size_t area_pack(const struct area_memory *area, u8 *data, size_t limit)
{
	u32 normal_blocks = area->info.table.len / RESSD_BLOCK_SECTORS, block;
	size_t at = PACKED_HEADER;

	if (limit < at)
		return 0;
	memset(data, 0, at);
	data[0] = area->nr_blocks / area->geom.segment_blocks;
	data[1] = area->geom.segment_blocks;
	data[2] = area->nr_blocks % area->geom.segment_blocks;
	put16(&data[4], normal_blocks);
	put16(&data[6], normal_blocks >> 16);
	/* The superblocks follow from the geometry. */
	for (block = 1; block < area->nr_blocks - 1; block++) {
		size_t used = used_bytes(area_block(area, block));

		if (!used)
			continue;
		if (limit - at < CHUNK_HEADER + used)
			return 0;
		put16(&data[at], block);
		put16(&data[at + 2], used);
		memcpy(&data[at + CHUNK_HEADER], area_block(area, block), used);
		at += CHUNK_HEADER + used;
	}
	return at;
}

u8 *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	u8 *data = allocate(1 << 20);

	if (!file) {
		perror(path);
		exit(2);
	}
	*size = fread(data, 1, 1 << 20, file);
	fclose(file);
	return data;
}
