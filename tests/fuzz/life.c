// SPDX-License-Identifier: GPL-2.0-only
/* Valid logs; see life.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "life.h"

#define MAX_VOLATILE	64	/* writes that one power cut can undo */

/* What a write has replaced, until a flush makes the write durable. */
struct undo {
	u32 block, nr;
	u8 *before;
};

struct life {
	struct area_memory *area;
	struct random *random;
	struct log_image image;
	struct undo undo[MAX_VOLATILE];
	u32 nr_undo;
	u64 stamp;		/* makes all data different */
};

static void forget_undo(struct life *life)
{
	while (life->nr_undo)
		free(life->undo[--life->nr_undo].before);
}

static void remember(struct life *life, u32 block, u32 nr)
{
	size_t bytes = (size_t)nr * RESSD_BLOCK_SIZE;
	struct undo *undo;

	if (life->nr_undo == MAX_VOLATILE)	/* a drive's cache is finite, too */
		forget_undo(life);
	undo = &life->undo[life->nr_undo++];
	*undo = (struct undo) { .block = block, .nr = nr, .before = malloc(bytes) };
	if (!undo->before)
		exit(2);
	memcpy(undo->before, area_block(life->area, block), bytes);
}

/* The power fails: each sector that was not flushed has its new or its old contents. */
static void cut_power(struct life *life)
{
	const u32 sectors = RESSD_BLOCK_SECTORS;
	u32 keep = random_below(life->random, 4);	/* in quarters: whole writes survive, too */
	u32 i;

	while (life->nr_undo) {
		struct undo *undo = &life->undo[life->nr_undo - 1];
		u8 *now = area_block(life->area, undo->block);

		for (i = 0; i < undo->nr * sectors; i++)
			if (random_below(life->random, 4) > keep)
				memcpy(now + i * 512, undo->before + i * 512, 512);
		free(undo->before);
		life->nr_undo--;
	}
}

static u32 write_out(struct life *life, u32 limit)
{
	struct ressd_log *log = &life->image.log;
	struct ressd_io io;
	u32 nr = 0;

	while (nr < limit && ressd_log_next(log, &io)) {
		nr++;
		if (io.kind == RESSD_IO_FLUSH || io.preflush)
			forget_undo(life);
		if (io.kind == RESSD_IO_WRITE) {
			ressd_log_encode(log, &io);
			remember(life, io.block, io.nr_blocks);
			memcpy(area_block(life->area, io.block), io.data,
			       (size_t)io.nr_blocks * RESSD_BLOCK_SIZE);
			if (io.fua)
				forget_undo(life);
		}
		ressd_log_done(log, &io, 0);
	}
	return nr;
}

u32 life_write(struct area_memory *area, struct ressd_log *log, u32 limit)
{
	struct ressd_io io;
	u32 nr = 0;

	while (nr < limit && ressd_log_next(log, &io)) {
		nr++;
		if (io.kind == RESSD_IO_WRITE) {
			if (!io.block || io.block + io.nr_blocks >= area->nr_blocks) {
				fprintf(stderr, "fuzz: a record over a superblock, %u + %u\n",
					io.block, io.nr_blocks);
				abort();
			}
			ressd_log_encode(log, &io);
			memcpy(area_block(area, io.block), io.data,
			       (size_t)io.nr_blocks * RESSD_BLOCK_SIZE);
		}
		ressd_log_done(log, &io, 0);
	}
	return nr;
}

/* Moves home what is in the oldest segments, as the mover does, so that they can be reused. */
static void move_home(struct life *life)
{
	struct ressd_log *log = &life->image.log;
	struct ressd_node *node = ressd_map_first_from(&log->map, 0);
	u64 frozen = log->head_seq - random_below(life->random, 2);

	for (; node; node = ressd_map_next(node)) {
		u32 block = ressd_map_block(&log->map, node);

		if (!ressd_map_is_clean(&log->map, block) &&
		    ressd_log_segment_seq(log, block) < frozen && !ressd_log_data(log, block))
			ressd_log_moved(log, block, node->lbn);
	}
	forget_undo(life);	/* the mover flushes before it reclaims */
	ressd_log_reclaim(log);
	write_out(life, ~0U);
}

static void write_small(struct life *life)
{
	u32 normal_blocks = life->image.log.normal_blocks;
	/* Half of the writes go to a few hot blocks. */
	u32 range = random_once_in(life->random, 2) ? min_t(u32, 8, normal_blocks) : normal_blocks;
	struct ressd_place place;
	u32 lbn = random_below(life->random, range);
	int ret = ressd_log_accept(&life->image.log, lbn, &place);

	if (!ret) {
		memset(place.data, 0, RESSD_BLOCK_SIZE);
		((u64 *)place.data)[0] = ++life->stamp;
		return;
	}
	write_out(life, ~0U);
	if (ressd_log_is_full(&life->image.log))
		move_home(life);
}

static void operate(struct life *life)
{
	struct ressd_log *log = &life->image.log;
	u32 normal_blocks = log->normal_blocks, nr;

	switch (random_below(life->random, 32)) {
	case 0 ... 3:
		ressd_log_sync(log);
		write_out(life, ~0U);
		break;
	case 4:
		ressd_log_write_soon(log);
		break;
	case 5:
		nr = 1 + random_below(life->random, 16);
		ressd_log_kill(log, random_below(life->random, normal_blocks), nr);
		break;
	case 6:
		move_home(life);
		break;
	case 7:
		if (random_once_in(life->random, 4))
			ressd_log_rotate(log);
		break;
	default:
		write_small(life);
	}
	if (random_once_in(life->random, 2))
		write_out(life, 1);
}

static void activate(struct life *life)
{
	struct ressd_log *log = &life->image.log;
	int code = log_image_recover(&life->image);

	if (code) {
		fprintf(stderr, "fuzz: a valid log is refused (%d): %s\n", code,
			life->image.error);
		abort();
	}
	log->activation = random_u64(life->random) | 1;
	ressd_log_sync(log);
	write_out(life, ~0U);
}

void life_run(struct area_memory *area, struct random *random, u32 operations)
{
	struct life life = { .area = area, .random = random };
	struct log_source source = area_source(area);
	struct failure failure;

	life.stamp = random_u64(random) << 32;
	if (log_image_open(&life.image, &area->info, &source, &failure)) {
		fprintf(stderr, "fuzz: %s\n", failure.text);
		exit(2);
	}
	activate(&life);
	while (operations--)
		operate(&life);
	cut_power(&life);
	log_image_close(&life.image);
}
