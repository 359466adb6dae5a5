/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small reserved area in memory, and its packed form: what the fuzzer mutates and what the
 * corpus consists of.
 *
 * Packed: 8 bytes of geometry, then chunks "le16 block, le16 length, bytes": the block begins with
 * these bytes, the rest of it and every block without a chunk are zero.  Any bytes at all unpack
 * to some area.
 */
#ifndef FUZZ_AREA_H
#define FUZZ_AREA_H

#include <stddef.h>
#include "log/image.h"
#include "random.h"

#define AREA_MAX_BLOCKS		512U

struct area_memory {
	struct ressd_super_info info;	/* of its superblock; they are in the blocks as well */
	struct ressd_geom geom;
	u32 nr_blocks;
	u32 reads, blocks_read;		/* through area_source() */
	u8 *blocks;			/* nr_blocks * 4096 bytes */
};

/*
 * A formatted, empty area: @segments of @segment_blocks each (brought into the range that the
 * format allows), @remainder blocks more, for a normal area of @normal_blocks.
 */
void area_make(struct area_memory *area, u32 segments, u32 segment_blocks, u32 remainder,
	       u32 normal_blocks);

/*
 * The same: 4 segments and fewer than @more besides, @least normal blocks and fewer than @spread
 * besides.
 */
void area_make_random(struct area_memory *area, struct random *random, u32 more, u32 least,
		      u32 spread);
void area_free(struct area_memory *area);
void area_copy(struct area_memory *area, const struct area_memory *from);

void *area_block(const struct area_memory *area, u32 block);

struct log_source area_source(struct area_memory *area);

void area_unpack(struct area_memory *area, const u8 *data, size_t size);

/* Returns the size, or 0 if @limit is too small. */
size_t area_pack(const struct area_memory *area, u8 *data, size_t limit);

/* The whole file into memory made by malloc(); exits when it cannot be read. */
u8 *read_file(const char *path, size_t *size);

#endif
