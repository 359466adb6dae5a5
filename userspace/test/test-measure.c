// SPDX-License-Identifier: GPL-2.0-only
/* The raw I/O of the probe, on a file: where it writes, and where never. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "blkdev.h"
#include "harness.h"
#include "measure.h"

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
	disk_device_init(&device, &dev, 0);
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

TEST(random_stays_in_the_region)
{
	struct result result;
	u32 inside;

	start(500);
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
