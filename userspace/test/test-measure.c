// SPDX-License-Identifier: GPL-2.0-only
/* The raw I/O of the probe, on a file: where it writes, and where never. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "disk-clock.h"
#include "dm/blkdev.h"
#include "harness.h"
#include "measure/measure.h"

const char test_suite[] = "probe-measure";

#define FILE_BLOCKS	2048U
#define FIRST		512U	/* the region: blocks 512 .. 1535 */
#define BLOCKS		1024U

static char path[64];
static struct blkdev dev;
static struct disk_device device;
static struct measure measure;
static struct failure failure;

static void start(u64 ops)
{
	int fd;

	strcpy(path, "/tmp/ressd-measure-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && !ftruncate(fd, FILE_BLOCKS * 4096), "no scratch file");
	close(fd);
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	unlink(path);
	measure_interrupted = false;
	disk_device_init(&device, &dev);
	measure = (struct measure){
		.disk = &device.disk,
		.offset = FIRST * 4096,
		.bytes = BLOCKS * 4096,
		.sequential_bytes = 65536,
		.effort = { .round_ns = 1, .min_ops = ops, .max_ops = ops },
	};
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
}

static void stop(void)
{
	measure_release(&measure);
	blkdev_close(&dev);
}

static bool is_written(u32 block)
{
	static const u8 zeroes[4096];
	u8 *data = blkdev_buffer(4096);
	bool written;

	CHECK(!blkdev_read(&dev, block * 4096ULL, data, 4096, &failure), "%s", failure.text);
	written = memcmp(data, zeroes, 4096);
	free(data);
	return written;
}

static void check_outside(void)
{
	u32 block;

	for (block = 0; block < FILE_BLOCKS; block++)
		if (block < FIRST || block >= FIRST + BLOCKS)
			CHECK(!is_written(block), "block %u is outside of the region", block);
}

static u32 count_inside(void)
{
	u32 block, count = 0;

	for (block = FIRST; block < FIRST + BLOCKS; block++)
		count += is_written(block);
	return count;
}

TEST(fill_writes_all_of_the_region)
{
	start(1);
	CHECK(!measure_fill(&measure, &failure), "%s", failure.text);
	CHECK_EQ(count_inside(), BLOCKS);
	CHECK_EQ(measure.written, BLOCKS * 4096);
	check_outside();
	stop();
}

static const struct disk_ops *device_ops;

static int even_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		      struct failure *why)
{
	int code = device_ops->write(disk, offset, data, bytes, ns, why);

	disk_spend(ns, 1000000);
	return code;
}

static int even_flush(struct disk *disk, u64 *ns, struct failure *why)
{
	int code = device_ops->flush(disk, ns, why);

	disk_spend(ns, 1000000);
	return code;
}

/* Behind start(): the file is written as ever, but what that takes does not hang on the machine. */
static void take_even_times(void)
{
	static const struct disk_ops even = {
		.write = even_write, .flush = even_flush, .pause = disk_pause, .now = disk_now,
	};

	device_ops = device.disk.ops;
	device.disk.ops = &even;
}

TEST(random_stays_in_the_region)
{
	struct result result;
	u32 inside;

	start(500);
	take_even_times();
	CHECK(!measure_cell(&measure, ACCESS_RANDOM_WRITE, 8192, 0, &result, &failure), "%s",
	      failure.text);
	check_outside();
	inside = count_inside();
	/* At least 2000 pieces over 512 places: all but e^-4 of them are hit. */
	CHECK(inside > 960, "%u blocks of %u", inside, BLOCKS);
	CHECK_EQ(measure.written, result.total_bytes);
	CHECK_EQ(result.ops, 3 * 500);
	CHECK(result.bandwidth && result.median_ns && result.worst_ns >= result.median_ns,
	      "figures are there");
	stop();
}

/* Exactly every eighth block, because one pass is enough for all rounds. */
TEST(ordered_ascends_by_the_stride)
{
	struct result result;
	u32 block, n, last;

	start(8);
	CHECK(!measure_cell(&measure, ACCESS_ORDERED_WRITE, 4096, 8 * 4096, &result, &failure),
	      "%s", failure.text);
	n = measure.written / 4096;
	last = FIRST + 8 * (n - 1);
	for (block = FIRST; block < FIRST + BLOCKS; block++)
		CHECK_EQ(is_written(block), block <= last && (block - FIRST) % 8 == 0);
	check_outside();
	stop();
}

/* The second pass takes the blocks after those of the first one. */
TEST(ordered_wraps_with_a_shift)
{
	struct result result;
	u32 pieces, passes, expected;

	start(16);
	CHECK(!measure_cell(&measure, ACCESS_ORDERED_WRITE, 4096, 64 * 4096, &result, &failure),
	      "%s", failure.text);
	pieces = measure.written / 4096;
	passes = pieces / 16;	/* 1024 / 64 pieces in a pass */
	expected = passes * 16;
	CHECK(passes >= 4, "%u", passes);
	CHECK_EQ(count_inside(), expected);
	CHECK(is_written(FIRST) && is_written(FIRST + 1) && !is_written(FIRST + 63), "shifted");
	check_outside();
	stop();
}

/* A stride longer than the region must not lead out of it. */
TEST(ordered_with_a_long_stride)
{
	struct result result;

	start(64);
	CHECK(!measure_cell(&measure, ACCESS_ORDERED_WRITE, 8192, 5000 * 4096ULL, &result,
			    &failure), "%s", failure.text);
	check_outside();
	CHECK(count_inside() > 0, "it wrote");
	stop();
}

TEST(sequential_wraps)
{
	struct result result;

	start(300);
	CHECK(!measure_cell(&measure, ACCESS_SEQUENTIAL_WRITE, 4096, 0, &result, &failure), "%s",
	      failure.text);
	CHECK_EQ(count_inside(), BLOCKS);
	check_outside();
	stop();
}

TEST(reads_write_nothing_and_notice_zeroes)
{
	struct result result;

	start(100);
	CHECK(!measure_cell(&measure, ACCESS_RANDOM_READ, 4096, 0, &result, &failure), "%s",
	      failure.text);
	CHECK_EQ(measure.written, 0);
	CHECK_EQ(measure.zero_reads, result.total_bytes / 4096);
	CHECK_EQ(count_inside(), 0);
	CHECK(!measure_fill(&measure, &failure), "%s", failure.text);
	measure.zero_reads = 0;
	CHECK(!measure_cell(&measure, ACCESS_RANDOM_READ, 4096, 0, &result, &failure), "%s",
	      failure.text);
	CHECK_EQ(measure.zero_reads, 0);
	stop();
}

/* No two blocks may be equal, or a drive that stores equal blocks once looks fast. */
TEST(blocks_are_unique)
{
	u64 first[BLOCKS], *data = blkdev_buffer(4096);
	u32 i, j;

	start(1);
	CHECK(!measure_fill(&measure, &failure), "%s", failure.text);
	for (i = 0; i < BLOCKS; i++) {
		CHECK(!blkdev_read(&dev, (FIRST + i) * 4096ULL, data, 4096, &failure), "%s",
		      failure.text);
		first[i] = data[0];
		for (j = 0; j < i; j++)
			CHECK(first[j] != first[i], "blocks %u and %u begin alike", i, j);
	}
	free(data);
	stop();
}

TEST(interrupted)
{
	struct result result;

	start(100);
	measure_interrupted = true;
	CHECK_EQ(exit_code_of(measure_cell(&measure, ACCESS_RANDOM_WRITE, 4096, 0, &result,
					   &failure)), EXIT_INTERRUPTED);
	CHECK_EQ(measure.written, 0);
	CHECK_HAS(failure.text, "0 bytes");
	CHECK_EQ(exit_code_of(measure_fill(&measure, &failure)), EXIT_INTERRUPTED);
	measure_interrupted = false;
	stop();
}

/* A disk in virtual time, on which every write takes as long as the test says. */
static struct {
	u64 write_ns;
	u64 flush_ns;		/* for each write since the flush before */
	u64 fast;		/* so many writes cost their flush nothing */
	u64 writes;
	u64 unflushed;
} slow;

static int slow_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		      struct failure *why)
{
	(void)disk;
	(void)offset;
	(void)data;
	(void)bytes;
	(void)why;
	slow.unflushed += slow.writes++ >= slow.fast;
	return disk_spend(ns, slow.write_ns);
}

static int slow_flush(struct disk *disk, u64 *ns, struct failure *why)
{
	(void)disk;
	(void)why;
	disk_spend(ns, slow.unflushed * slow.flush_ns);
	slow.unflushed = 0;
	return 0;
}

static u64 farthest;

static int note_farthest(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
			 struct failure *why)
{
	if (offset + bytes > farthest)
		farthest = offset + bytes;
	return slow_write(disk, offset, data, bytes, ns, why);
}

/* A part of the region might be just what the drive has spare blocks for. */
TEST(random_writes_leave_a_cut_filling)
{
	static const struct disk_ops ops = {
		.write = note_farthest, .flush = slow_flush, .now = disk_now,
	};
	struct disk disk = { .ops = &ops, .path = "a test disk", .granule = 512 };
	struct measure cut = {
		.disk = &disk, .bytes = 64 << 20, .sequential_bytes = 1 << 19,
		.fill_ns = 100000000, .least_fill = 1 << 20,
		.effort = { .round_ns = 500000000, .min_ops = 24, .max_ops = 1000 },
	};
	struct result result;

	slow.write_ns = 10000000;
	CHECK(!measure_init(&cut, &failure), "%s", failure.text);
	CHECK(!measure_fill(&cut, &failure), "%s", failure.text);
	CHECK(cut.bytes < 16 << 20, "%llu bytes are filled", cut.bytes);
	CHECK(farthest <= 16 << 20, "filled up to byte %llu", farthest);
	CHECK(!measure_cell(&cut, ACCESS_RANDOM_WRITE, 4096, 0, &result, &failure), "%s",
	      failure.text);
	CHECK(farthest > 32 << 20, "random writes end at byte %llu", farthest);
	CHECK(farthest <= 64 << 20, "random writes leave the region: byte %llu", farthest);
	measure_release(&cut);
}

static u64 seconds_of_cell(u64 deadline)
{
	static const struct disk_ops ops = {
		.write = slow_write, .flush = slow_flush, .now = disk_now,
	};
	struct disk disk = { .ops = &ops, .path = "a test disk", .granule = 512 };
	struct result result;

	disk_clock = 0;
	slow.writes = 0;
	slow.unflushed = 0;
	measure_interrupted = false;
	measure = (struct measure){
		.disk = &disk,
		.bytes = BLOCKS * 4096,
		.deadline = deadline,
		.effort = { .round_ns = 250000000, .min_ops = 24, .max_ops = 1024,
			    .slow_ns = 2000000000 },
	};
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	CHECK(!measure_cell(&measure, ACCESS_RANDOM_WRITE, 4096, 0, &result, &failure), "%s",
	      failure.text);
	CHECK(result.done, "there is a result");
	measure_release(&measure);
	return disk_clock / 1000000000;
}

/* Drives on which a random write takes a second once held up --quick for minutes. */
TEST(slow_writes_are_few)
{
	slow.write_ns = 1000000000;
	slow.flush_ns = 0;
	slow.fast = 0;
	CHECK_EQ(seconds_of_cell(0), 4 * MEASURE_LATE_OPS);
	CHECK_EQ(seconds_of_cell(1), MEASURE_LATE_OPS);
}

/* The first writes meet free log blocks; the flush pays for all that follow. */
TEST(a_fast_start_does_not_run_away)
{
	slow.write_ns = 100000;
	slow.flush_ns = 100000000;
	slow.fast = 8;
	CHECK(seconds_of_cell(1000000000) < 10, "%llu s", disk_clock / 1000000000);
}

/* A round whose flush pays for its writes is not begun so late that it would end after the time. */
TEST(no_round_that_ends_too_late)
{
	slow.write_ns = 100000;
	slow.flush_ns = 400000000;
	slow.fast = 0;
	/* 3.2 s each: three of them. */
	CHECK_EQ(seconds_of_cell(10000000000), 9);
	CHECK_EQ(seconds_of_cell(1), 3);
}

#define MERGED		(4ULL << 20)	/* a clustered block of the disk below */
#define MERGE_NS	100000000

/* 1 ms for a write, and a merge for the first one in each block. */
static int merging_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
			 struct failure *why)
{
	const u64 block = offset / MERGED + 1;

	(void)disk;
	(void)data;
	(void)bytes;
	(void)why;
	disk_spend(ns, 1000000 + (block == slow.fast ? 0 : MERGE_NS));
	slow.fast = block;
	return 0;
}

/* Ordered writes, so many in each block; @max_ops in a round. */
static struct result ordered_over_blocks(u32 in_a_block, u64 max_ops, u64 deadline)
{
	static const struct disk_ops ops = {
		.write = merging_write, .flush = slow_flush, .now = disk_now,
	};
	struct disk disk = { .ops = &ops, .path = "a test disk", .granule = 512 };
	struct result result;

	memset(&slow, 0, sizeof(slow));
	disk_clock = 0;
	measure_interrupted = false;
	measure = (struct measure){
		.disk = &disk,
		.bytes = 1000 * MERGED,
		.deadline = deadline,
		.whole_bytes = MERGED,
		.effort = { .round_ns = 20000000, .min_ops = 24, .max_ops = max_ops },
	};
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	CHECK(!measure_cell(&measure, ACCESS_ORDERED_WRITE, 4096, MERGED / in_a_block, &result,
			    &failure), "%s", failure.text);
	measure_release(&measure);
	return result;
}

/*
 * Found on the Transcend and Super Talent profiles: a round of some writes met a merge, or none, so
 * what bringing a block's writes home costs was wrong by a factor of eight, either way.
 */
TEST(rounds_pass_over_whole_blocks)
{
	const struct result result = ordered_over_blocks(64, 1024, 0);

	CHECK(result.steady, "the same in each block");
	CHECK_EQ(result.ops % 64, 0);
	CHECK_EQ(result.ns / (result.ops / 64), MERGE_NS + 64 * 1000000);
	/* Too late is no reason to end within a block. */
	CHECK_EQ(ordered_over_blocks(64, 1024, 1).ops, 64);
}

TEST(whole_blocks_do_not_exceed_a_round)
{
	/* 512 fit once, although 24 writes were enough; 1024 not at all. */
	CHECK_EQ(ordered_over_blocks(512, 1000, 0).ops, 3 * 512);
	CHECK(ordered_over_blocks(1024, 1000, 0).ops < 3 * 1000, "as if no block were known");
}

/* No clustered block is met again before all have had their turn; where none is known, any is. */
TEST(random_places_are_apart)
{
	struct measure apart = {
		.bytes = 64 << 20, .apart = 1 << 20, .apart_phase = 4096, .random = 7,
	};
	unsigned int round, i;

	for (round = 0; round < 3; round++) {
		u64 met = 0;

		for (i = 0; i < 63; i++) {
			const u64 at = measure_random_place(&apart, 4096);

			CHECK(at >= 4096 && at + 4096 <= apart.bytes && !(at % 4096), "%llu", at);
			met |= 1ULL << ((at - 4096) >> 20);
		}
		CHECK_EQ(met, ~0ULL >> 1);
	}
	apart.apart = 0;
	for (i = 0; i < 1000; i++)
		CHECK(measure_random_place(&apart, 8192) + 8192 <= apart.bytes, "in the region");
}
