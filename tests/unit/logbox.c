// SPDX-License-Identifier: GPL-2.0-only
/* A log in RAM for the tests; see logbox.h. */
#include <linux/string.h>
#include <linux/errno.h>
#include "logbox.h"

struct logbox box;

static const u8 uuid[RESSD_UUID_SIZE] = "unit test";
static u64 activation;

static bool slot_busy(void *context, u32 slot)
{
	(void)context;
	return slot == box.busy_slot;
}

static void init(void)
{
	void *buffers[RESSD_RECORDS];
	struct ressd_log_setup setup = {
		.uuid = uuid,
		.activation = ++activation,
		.normal_blocks = BOX_NORMAL_BLOCKS,
		.cover_blocks = box.cover_blocks,
		.nodes = box.nodes,
		.clean = box.clean,
		.regions = box.regions,
		.segments = box.segments,
		.buffers = buffers,
		.summary = box.summary,
		.segment_busy = slot_busy,
	};
	u32 i;

	CHECK(!ressd_geom_init(&setup.geom, box.blocks * 8, box.segment_blocks * 8, box.error,
			       sizeof(box.error)), "%s", box.error);
	for (i = 0; i < RESSD_RECORDS; i++)
		buffers[i] = box.buffers[i];
	ressd_log_init(&box.log, &setup);
	box.busy_slot = ~0U;
	box.writes = 0;
	box.flushes = 0;
}

static void format(u32 blocks, u32 segment_blocks)
{
	memset(&box, 0, sizeof(box));
	box.blocks = blocks;
	box.segment_blocks = segment_blocks;
	init();
}

void box_format(void)
{
	format(BOX_BLOCKS, BOX_SEGMENT_BLOCKS);
}

void box_format_short(void)
{
	format(BOX_BLOCKS - BOX_SEGMENT_BLOCKS / 2, BOX_SEGMENT_BLOCKS);
}

void box_format_large(void)
{
	format(BOX_MAX_BLOCKS, BOX_MAX_SEGMENT_BLOCKS);
}

static int read_disk(void *context, u32 block, u32 nr, void *buffer)
{
	(void)context;
	CHECK(block + nr <= box.blocks, "read of %u + %u", block, nr);
	if (++box.reads == box.bad_read)
		return -EIO;
	memcpy(buffer, box.disk + (size_t)block * RESSD_BLOCK_SIZE, (size_t)nr * RESSD_BLOCK_SIZE);
	return 0;
}

static void count_steps(void *context, u32 done, u32 total)
{
	(void)context;
	CHECK(done > box.steps && done <= total, "step %u of %u after %u", done, total, box.steps);
	box.steps = done;
}

int box_recover(void)
{
	struct ressd_reader reader = {
		.read = read_disk, .progress = count_steps, .buffer = box.buffers[1],
	};

	init();
	box.reads = 0;
	box.steps = 0;
	return ressd_recover(&box.log, &reader, &box.recovery, box.error, sizeof(box.error));
}

void box_refused(const char *sentence)
{
	CHECK(box_recover() == -EUCLEAN, "a durable record is gone, but recovery goes on");
	CHECK_HAS(box.error, "the log is damaged");
	CHECK_HAS(box.error, sentence);
	CHECK_HAS(box.error, "ressdctl check");
}

int box_write(u32 lbn, u64 id)
{
	struct ressd_place place;
	int ret = ressd_log_accept(&box.log, lbn, &place);
	u32 i;

	for (i = 0; !ret && i < RESSD_BLOCK_SIZE / sizeof(u64); i++)
		((u64 *)place.data)[i] = id;
	return ret;
}

bool box_io(struct ressd_io *io)
{
	bool at_rest = ressd_log_is_at_rest(&box.log);

	if (!ressd_log_next(&box.log, io)) {
		if (ressd_log_tidy(&box.log))
			return box_io(io);
		CHECK(at_rest || box.log.mode != RESSD_MODE_RW || box.log.busy ||
		      ressd_log_synced(&box.log) < box.log.sync_wanted,
		      "nothing to do, and not at rest");
		return false;
	}
	CHECK(!at_rest, "at rest, and has an I/O");
	if (io->kind == RESSD_IO_FLUSH) {
		box.flushes++;
	} else if (io->kind == RESSD_IO_READ) {
		read_disk(NULL, io->block, io->nr_blocks, io->data);
	} else {
		CHECK(io->block && io->block + io->nr_blocks < box.blocks,
		      "a record of %u + %u over a superblock", io->block, io->nr_blocks);
		ressd_log_encode(&box.log, io);
		memcpy(box.disk + (size_t)io->block * RESSD_BLOCK_SIZE, io->data,
		       (size_t)io->nr_blocks * RESSD_BLOCK_SIZE);
		box.writes++;
	}
	ressd_log_done(&box.log, io, 0);
	return true;
}

u32 box_run(void)
{
	struct ressd_io io;
	u32 nr = 0;

	while (box_io(&io))
		nr++;
	return nr;
}

void box_fill(u32 *lbn)
{
	const u32 end = *lbn + BOX_MAX_BLOCKS;
	int ret;

	while ((ret = box_write(*lbn % BOX_NORMAL_BLOCKS, *lbn + 1)) != -ENOSPC) {
		CHECK(!ret || (ret == -EAGAIN && box_run()), "%d, and nothing to wait for", ret);
		*lbn += !ret;
		CHECK(*lbn < end, "never full");
	}
}

void box_tidy(void)
{
	while (ressd_log_tidy(&box.log))
		;
}

void box_sync(void)
{
	u64 ticket = ressd_log_sync(&box.log);

	box_run();
	CHECK(ressd_log_synced(&box.log) >= ticket, "the sync does not end");
}

u32 box_block(u32 lbn)
{
	const struct ressd_node *node = ressd_map_find(&box.log.map, lbn);

	CHECK(node, "block %u is not mapped", lbn);
	return ressd_map_block(&box.log.map, node);
}

u64 box_read(u32 lbn)
{
	const struct ressd_node *node = ressd_map_find(&box.log.map, lbn);
	const void *ram;
	u32 block;

	if (!node)
		return 0;
	block = ressd_map_block(&box.log.map, node);
	if (ressd_map_is_clean(&box.log.map, block))
		return 0;
	ram = ressd_log_data(&box.log, block);
	return *(const u64 *)(ram ? ram : box.disk + (size_t)block * RESSD_BLOCK_SIZE);
}
