// SPDX-License-Identifier: GPL-2.0-only
/* ressd-geom: every block of the reserved area belongs to exactly one slot or superblock. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include "harness.h"
#include "ressd-args.h"
#include "ressd-geom.h"

TEST_SUITE("geom");

static char error[RESSD_ERROR_SIZE];

static void check_blocks(const struct ressd_geom *geom)
{
	u32 slot, block = 1, unused;

	for (slot = 0; slot < geom->nr_segments; slot++) {
		u32 start = ressd_geom_slot_start(geom, slot);
		u32 end = ressd_geom_slot_end(geom, slot);

		CHECK_EQ(start, block);	/* no gap and no overlap */
		CHECK(end > start + 8, "slot %u spans %u..%u", slot, start, end);
		CHECK_EQ(ressd_geom_slot(geom, end + geom->summary_blocks - 1), slot);
		CHECK(slot == 0 || start % geom->segment_blocks == 0, "slot %u", slot);
		CHECK_EQ(ressd_geom_slot(geom, start), slot);
		CHECK_EQ(ressd_geom_slot(geom, end - 1), slot);
		block = end + geom->summary_blocks;
	}
	CHECK(block < geom->nr_blocks, "the last slot reaches %u of %u", block, geom->nr_blocks);
	unused = geom->nr_blocks - 1 - block;	/* but for the superblock at the very end */
	CHECK(unused < RESSD_MIN_SEGMENT_BLOCKS + geom->summary_blocks, "%u blocks belong to nothing",
	      unused);
}

/* All runs of slots that begin at some, counted one by one. */
static void check_sums(const struct ressd_geom *geom)
{
	u32 first = test_below(geom->nr_segments), slot = first, nr, sum = 0;

	for (nr = 0; nr <= geom->nr_segments; nr++) {
		CHECK_EQ(ressd_geom_slots_blocks(geom, first, nr), sum);
		sum += ressd_geom_slot_end(geom, slot) - ressd_geom_slot_start(geom, slot);
		slot = (slot + 1) % geom->nr_segments;
	}
}

TEST(every_block_has_one_owner)
{
	u32 round;

	for (round = 0; round < 3000; round++) {
		u32 segment = 16 + test_below(round % 2 ? 64 : 3000);
		u32 blocks = segment * (4 + test_below(40)) + test_below(segment);
		struct ressd_geom geom;

		CHECK_EQ(ressd_geom_init(&geom, (u64)blocks * 8, segment * 8, error,
					 sizeof(error)), 0);
		CHECK_EQ(geom.nr_blocks, blocks);
		CHECK_EQ(geom.segment_blocks, segment);
		CHECK(geom.nr_segments >= RESSD_MIN_SEGMENTS, "%u", geom.nr_segments);
		CHECK(geom.record_blocks <= RESSD_MAX_RECORD_BLOCKS &&
		      geom.record_blocks <= segment && geom.record_blocks > 1,
		      "record_blocks %u", geom.record_blocks);
		check_blocks(&geom);
		check_sums(&geom);
	}
}

TEST(largest_area)
{
	struct ressd_geom geom;

	CHECK_EQ(ressd_geom_init(&geom, 8ULL * RESSD_MAX_RESERVED_BLOCKS,
				 RESSD_MAX_SEGMENT_BLOCKS * 8, error, sizeof(error)), 0);
	CHECK_EQ(geom.nr_segments, RESSD_MAX_RESERVED_BLOCKS / RESSD_MAX_SEGMENT_BLOCKS);
	CHECK_EQ(geom.summary_blocks, 193);
	CHECK_EQ(ressd_geom_slot_end(&geom, geom.nr_segments - 1), geom.nr_blocks - 1 - 193);
	check_blocks(&geom);
}

/*
 * Room for a MAP and an UNMAP for each block and for the UNMAPs of one record more, and less than a
 * fiftieth of the segment unless that is very small.
 */
TEST(summary_has_room_and_is_short)
{
	struct ressd_geom geom;
	u32 blocks;

	for (blocks = RESSD_MIN_SEGMENT_BLOCKS; blocks <= RESSD_MAX_SEGMENT_BLOCKS; blocks++) {
		CHECK_EQ(ressd_geom_init(&geom, 4ULL * 8 * blocks, 8 * blocks, error,
					 sizeof(error)), 0);
		CHECK(geom.summary_blocks * 4096ULL >= 2112 + 12ULL * blocks, "%u", blocks);
		CHECK((geom.summary_blocks - 1) * 4096ULL < 2112 + 12ULL * blocks, "%u", blocks);
		CHECK(geom.summary_blocks * 50 < blocks || blocks < 64, "%u of %u",
		      geom.summary_blocks, blocks);
	}
	CHECK_EQ(ressd_geom_init(&geom, 1 << 20, 8192, error, sizeof(error)), 0);
	CHECK_EQ(geom.summary_blocks, 4);
}

TEST(slot_of_seq_is_the_remainder)
{
	struct ressd_geom geom;
	u32 round;

	CHECK_EQ(ressd_geom_init(&geom, 8 * 16 * 7, 8 * 16, error, sizeof(error)), 0);
	CHECK_EQ(geom.nr_segments, 7);
	for (round = 0; round < 1000; round++) {
		u64 seq = test_random();

		CHECK_EQ(ressd_geom_slot_of_seq(&geom, seq), seq % 7);
	}
}

TEST(default_segment_fits)
{
	u64 sectors;

	for (sectors = 1024; sectors < 1ULL << 31; sectors += sectors / 24 * 8 + 8) {
		u32 segment = ressd_geom_default_segment(sectors);
		struct ressd_geom geom;

		CHECK_EQ(ressd_geom_init(&geom, sectors, 0, error, sizeof(error)), 0);
		CHECK_EQ(geom.segment_blocks * 8, segment);
		CHECK(segment <= 8192, "%u sectors", segment);
		CHECK(geom.nr_segments >= 7, "%u segments", geom.nr_segments);
	}
	CHECK_EQ(ressd_geom_default_segment(16 * 8192), 8192);
	CHECK_EQ(ressd_geom_default_segment(16 * 8192 - 8), 4096);
}

static void refused(u64 reserved_sectors, u32 segment_sectors, const char *part)
{
	struct ressd_geom geom;

	error[0] = '\0';
	CHECK(ressd_geom_init(&geom, reserved_sectors, segment_sectors, error,
			      sizeof(error)) == -EINVAL, "%llu/%u accepted",
	      (unsigned long long)reserved_sectors, segment_sectors);
	CHECK_HAS(error, part);
}

TEST(refusals_say_why)
{
	refused(1 << 20, 129, "segment_sectors is 129, but must be a multiple of 8");
	refused(1 << 20, 120, "between 128 and 524288");
	refused(1 << 20, 524296, "segment_sectors is 524296");
	refused(4 * 128 - 8, 128, "at least 4 segments of 128 sectors");
	refused(4 * 128 + 4, 128, "reserved sectors is 516, but must be a multiple of 8");
	refused(0, 0, "reserved sectors is 0");
	refused(8ULL * RESSD_MAX_RESERVED_BLOCKS + 8, 8192, "choose a smaller one");
	refused(~7ULL, 8192, "choose a smaller one");
}
