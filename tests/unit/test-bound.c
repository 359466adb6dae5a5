// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much recovery reads of a full log, for records of every kind: counted in reads and blocks,
 * and told as the time of a device of 100 MB/s that takes 0.25 ms for each command.
 *
 * The disk is sparse: of a block it keeps what comes before the zeroes at its end, and of data only
 * the number that the block repeats.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "harness.h"
#include "plain-log.h"
#include "ressd-args.h"
#include "ressd-recover.h"
#include "ressd-summary.h"

TEST_SUITE("bound");

#define MIB_BLOCKS	256U
#define MAX_BLOCKS	(1024 * MIB_BLOCKS)
#define NORMAL_BLOCKS	4000000U

struct kept {
	u32 bytes;		/* 0: @word, repeated */
	u64 word;
	void *data;
};

static struct {
	struct ressd_log log;
	struct ressd_geom geom;
	struct kept *disk;
	struct ressd_node *nodes;
	unsigned long *clean;
	struct ressd_segment *segments;
	void *buffers[RESSD_RECORDS];
	void *summary;
	u64 activation;
	struct ressd_recovery recovery;
	u64 reads, blocks_read;	/* of this recovery */
	u32 next_lbn;
	u32 bad_length;		/* reads of so many blocks fail; 0: none */
	char error[RESSD_ERROR_SIZE];
} box;

static void activate(void)
{
	ressd_log_init(&box.log, &(struct ressd_log_setup) {
		.geom = box.geom,
		.uuid = (const u8 *)"recovery's bound",
		.activation = ++box.activation,
		.normal_blocks = NORMAL_BLOCKS,
		.nodes = box.nodes,
		.clean = box.clean,
		.segments = box.segments,
		.buffers = box.buffers,
		.summary = box.summary,
		.segment_busy = never_busy,
	});
}

static void start(u32 mib, u32 segment_blocks)
{
	u32 i;

	CHECK(!ressd_geom_init(&box.geom, 8ULL * mib * MIB_BLOCKS, 8 * segment_blocks, box.error,
			       sizeof(box.error)), "%s", box.error);
	box.disk = allocate(box.geom.nr_blocks * sizeof(box.disk[0]));
	box.nodes = allocate(ressd_map_nodes_bytes(box.geom.nr_blocks));
	box.clean = allocate(ressd_map_clean_bytes(box.geom.nr_blocks));
	box.segments = allocate(box.geom.nr_segments * sizeof(box.segments[0]));
	for (i = 0; i < RESSD_RECORDS; i++)
		box.buffers[i] = allocate(RESSD_MAX_RECORD_BLOCKS * RESSD_BLOCK_SIZE);
	box.summary = allocate(ressd_summary_bytes(&box.geom));
	box.next_lbn = 0;
	activate();
}

static void stop(void)
{
	u32 i;

	for (i = 0; i < box.geom.nr_blocks; i++)
		free(box.disk[i].data);
	free(box.disk);
	free(box.nodes);
	free(box.clean);
	free(box.segments);
	for (i = 0; i < RESSD_RECORDS; i++)
		free(box.buffers[i]);
	free(box.summary);
}

static void put(u32 block, const void *data, bool whole)
{
	struct kept *kept = &box.disk[block];
	u32 bytes = RESSD_BLOCK_SIZE;

	free(kept->data);
	memset(kept, 0, sizeof(*kept));
	kept->word = *(const u64 *)data;
	if (!whole)
		return;
	while (bytes && !((const u64 *)data)[bytes / 8 - 1])
		bytes -= 8;
	kept->bytes = bytes;
	kept->data = malloc(bytes);
	memcpy(kept->data, data, bytes);
}

static int get(void *context, u32 block, u32 nr, void *buffer)
{
	(void)context;
	CHECK(block + nr <= box.geom.nr_blocks, "read of %u + %u", block, nr);
	if (nr == box.bad_length)
		return -EIO;
	box.reads++;
	box.blocks_read += nr;
	for (; nr; nr--, block++, buffer = (u8 *)buffer + RESSD_BLOCK_SIZE) {
		const struct kept *kept = &box.disk[block];
		u32 i;

		memset(buffer, 0, RESSD_BLOCK_SIZE);
		if (kept->bytes)
			memcpy(buffer, kept->data, kept->bytes);
		else
			for (i = 0; kept->word && i < RESSD_BLOCK_SIZE / 8; i++)
				((u64 *)buffer)[i] = kept->word;
	}
	return 0;
}

static void run(void)
{
	struct ressd_io io;
	u32 i;

	do {
		while (ressd_log_next(&box.log, &io)) {
			if (io.kind == RESSD_IO_WRITE) {
				ressd_log_encode(&box.log, &io);
				for (i = 0; i < io.nr_blocks; i++)
					put(io.block + i,
					    (u8 *)io.data + (size_t)i * RESSD_BLOCK_SIZE,
					    !io.record || !i);
			}
			ressd_log_done(&box.log, &io, 0);
		}
	} while (ressd_log_tidy(&box.log));
}

static void sync_log(void)
{
	ressd_log_sync(&box.log);
	run();
}

/* False: the log is full. */
static bool write_block(void)
{
	struct ressd_place place;
	int ret = ressd_log_accept(&box.log, box.next_lbn, &place);
	u32 i;

	if (ret == -EAGAIN) {
		run();
		ret = ressd_log_accept(&box.log, box.next_lbn, &place);
	}
	if (ret)
		return false;
	box.next_lbn += 2;
	for (i = 0; i < RESSD_BLOCK_SIZE / sizeof(u64); i++)
		((u64 *)place.data)[i] = box.next_lbn;
	return true;
}

/* Recovers, and returns the seconds that reading takes for each GiB of log. */
static double recover(const char *what)
{
	struct ressd_reader reader = { .read = get, .buffer = box.buffers[1] };
	u32 mapped = box.log.map.nr_mapped;
	double seconds;

	activate();
	box.reads = 0;
	box.blocks_read = 0;
	CHECK(!ressd_recover(&box.log, &reader, &box.recovery, box.error, sizeof(box.error)),
	      "%s: %s", what, box.error);
	CHECK_EQ(box.log.map.nr_mapped, mapped);
	seconds = box.blocks_read * 4096.0 / 100e6 + box.reads * 0.00025;
	seconds *= (double)MAX_BLOCKS / box.geom.nr_blocks;
	printf("  %s: %llu records, %llu of %u segments by summary, %llu reads, %llu blocks: %.3f s per GiB\n",
	       what, (unsigned long long)box.recovery.records,
	       (unsigned long long)box.recovery.summaries, box.geom.nr_segments,
	       (unsigned long long)box.reads,
	       (unsigned long long)box.blocks_read, seconds);
	return seconds;
}

/* Shared with the tests, which are processes of their own. */
static double *worst;

__attribute__((constructor)) static void share_worst(void)
{
	worst = mmap(NULL, sizeof(*worst), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
}

static void bounded(const char *what)
{
	double seconds = recover(what);

	CHECK(seconds < 1, "%s takes %.3f s per GiB", what, seconds);
	if (seconds > *worst)
		*worst = seconds;
	stop();
}

/* As under fsync: one block a record, half a million headers' worth if there were no summaries. */
TEST(records_of_one_block)
{
	start(1024, 1024);
	while (write_block())
		sync_log();
	CHECK(box.next_lbn > MAX_BLOCKS * 9 / 10, "%u blocks", box.next_lbn / 2);
	bounded("1 GiB of records of one block");
}

/* Some summaries are written with PREFLUSH, others not: the log ends behind one or the other. */
TEST(records_of_one_block_not_flushed)
{
	u64 end;

	for (end = 61; end <= 64; end++) {
		start(256, 1024);
		while (box.log.head_seq < end && write_block()) {
			ressd_log_write_soon(&box.log);
			run();
		}
		bounded("records of one block, not flushed");
	}
}

TEST(largest_records_not_flushed)
{
	u64 end;

	for (end = 251; end <= 255; end++) {
		start(256, 256);
		while (box.log.head_seq < end && write_block())
			;
		ressd_log_write_soon(&box.log);
		run();
		bounded("records of 127 blocks, not flushed, segments of 1 MiB");
	}
}

TEST(records_of_all_lengths)
{
	start(256, 1024);
	while (write_block())
		if (!test_below(1 + test_below(200)))
			sync_log();
	sync_log();
	bounded("records of random length");
}

TEST(largest_records)
{
	start(256, 1024);
	while (write_block())
		;
	sync_log();
	bounded("records of 127 blocks");
}

/*
 * Half of the log is data, the other half nothing but UNMAPs, more than summaries have room for.
 * One block in each run is left alive, so that no segment is dead.
 */
TEST(records_of_unmaps)
{
	u32 unmaps, lbn;

	for (unmaps = 1; unmaps <= 300; unmaps = unmaps * 3 + 1) {
		start(256, 1024);
		while (box.log.head_seq < 32 && write_block())
			if (unmaps < 100)
				sync_log();
		for (lbn = 0; lbn < box.next_lbn && ressd_log_free_segments(&box.log) > 1;
		     lbn += 2 * unmaps + 2) {
			ressd_log_kill(&box.log, lbn, 2 * unmaps);
			sync_log();
		}
		bounded("records of UNMAPs");
	}
}

TEST(segments_of_1_mib)
{
	start(256, 256);
	while (write_block())
		sync_log();
	bounded("segments of 1 MiB");
}

/* Formatted over something else, which recovery sees behind the end of the log, and not full. */
static void young_log(u32 mib, u32 segment_blocks, u64 head_seq)
{
	u32 i;

	start(mib, segment_blocks);
	for (i = 0; i < box.geom.nr_blocks; i++)
		box.disk[i].word = 0x6f6c64;
	while (box.log.head_seq < head_seq && write_block())
		sync_log();
	bounded("young log on old contents");
}

TEST(young_log_on_old_contents)
{
	young_log(1024, 1024, 4);
	young_log(256, 1024, 32);
	young_log(256, 256, 128);
}

/* The longest segments: a summary is longer than what recovery reads at once. */
TEST(segments_of_256_mib)
{
	start(1024, 65536);
	while (box.log.head_seq < 3 && write_block())
		;
	sync_log();
	recover("segments of 256 MiB");
	CHECK(box.recovery.summaries, "no segment is taken by its summary");
	box.bad_length = box.geom.summary_blocks;
	recover("segments of 256 MiB, no summary can be read");
	CHECK(!box.recovery.summaries, "a summary is read");
	box.bad_length = 0;
	stop();
}

/* The last test: what all of them found. */
TEST(result)
{
	CHECK(*worst > 0.1, "%.3f s per GiB: nothing was measured", *worst);
	printf("# result recovery/worst/seconds-per-gib %.3f s <=1\n", *worst);
}
