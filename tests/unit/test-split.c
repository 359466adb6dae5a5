// SPDX-License-Identifier: GPL-2.0-only
/* ressd-split: every request up to 4 MiB is cut as a model says that looks at each sector. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "harness.h"
#include "ressd-split.h"

TEST_SUITE("split");

#define STEP		8U
#define LARGEST		8192U		/* 4 MiB */
#define PLACES		3000U		/* longer than every unit of the tests */

/* The naive model: walks the request sector by sector, and starts a piece where one must begin. */
static u32 model_first(const struct ressd_split *split, enum ressd_direction direction, u64 sector,
		       u32 sectors)
{
	bool head = split->align && (split->start + sector) % split->align;
	u32 length;

	for (length = 1; length < sectors; length++) {
		if (!split->longest[direction])
			continue;
		if (head ? (split->start + sector + length) % split->align == 0 :
			   length == split->longest[direction])
			break;
	}
	return length;
}

/* Cuts a whole request: nothing is left out, no piece is too long, all but one are aligned. */
static void check_request(const struct ressd_split *split, enum ressd_direction direction,
			  u64 sector, u32 sectors)
{
	const u32 longest = split->longest[direction];
	const u64 end = sector + sectors;
	u32 nr = 0;

	for (; sector < end; nr++) {
		u32 left = end - sector;
		u32 piece = ressd_split_first(split, direction, sector, left);

		CHECK_EQ(piece, model_first(split, direction, sector, left));
		CHECK(piece && piece <= left, "%u of %u", piece, left);
		CHECK(!longest || piece <= longest, "%u of %u at %llu", piece, left,
		      (unsigned long long)sector);
		if (longest && split->align && nr)
			CHECK_EQ((split->start + sector) % split->align, 0);
		sector += piece;
	}
	CHECK_EQ(sector, end);
	if (!longest)
		CHECK_EQ(nr, 1);
	else
		CHECK(nr <= 1 + DIV_ROUND_UP(sectors, longest), "%u pieces of %u", nr, sectors);
}

static const struct ressd_split splits[] = {
	{ .longest = { 0, 0 } },
	{ .longest = { 512, 256 } },
	{ .longest = { 512, 512 }, .align = 32 },
	{ .longest = { 0, 512 }, .align = 512 },
	{ .longest = { 2400, 1200 }, .align = 24 },	/* none is a power of two */
	{ .longest = { 1056, 264 }, .align = 264, .start = 63 },
	{ .longest = { 720, 360 }, .align = 72, .start = (1ULL << 41) + 8 },
};

TEST(all_offsets_and_sizes)
{
	u32 i, at, sectors;

	for (i = 0; i < ARRAY_SIZE(splits); i++) {
		for (at = 0; at < PLACES; at += 13 * STEP) {
			for (sectors = STEP; sectors <= LARGEST; sectors += 23 * STEP) {
				check_request(&splits[i], RESSD_WRITE, at, sectors);
				check_request(&splits[i], RESSD_READ, at, sectors);
			}
		}
	}
}

/* The first piece alone for each offset and size in steps of 4 KiB, by arithmetic of its own. */
TEST(first_piece_of_each)
{
	u32 i, at, sectors;

	for (i = 0; i < ARRAY_SIZE(splits); i++) {
		const struct ressd_split *split = &splits[i];

		for (at = 0; at < PLACES; at += STEP) {
			u64 next = split->start + at;	/* where a piece from here must end */

			if (split->align && next % split->align)
				next = roundup(next, split->align);
			else
				next += split->longest[RESSD_WRITE];
			for (sectors = STEP; sectors <= LARGEST; sectors += STEP) {
				u64 end = split->start + at + sectors;

				if (split->longest[RESSD_WRITE])
					end = min(end, next);
				CHECK_EQ(ressd_split_first(split, RESSD_WRITE, at, sectors),
					 end - split->start - at);
			}
		}
	}
}

/* A size or offset of single sectors, as devices with blocks of 512 bytes have. */
TEST(odd_sectors)
{
	u32 round;

	for (round = 0; round < 3000; round++) {
		struct ressd_split split = { .align = 8 * test_below(20) };

		split.longest[RESSD_WRITE] = 8 * (1 + test_below(30));
		if (split.align)
			split.longest[RESSD_WRITE] = split.align * (1 + test_below(5));
		split.start = test_below(2) ? test_below(1000) : test_random() >> 20;
		check_request(&split, RESSD_WRITE, test_below(2000), 1 + test_below(2500));
	}
}

/*
 * Streams of requests, cut, then merged as greedily as a block layer may: none is longer than the
 * limit, whatever arrives in whatever lengths.
 */
TEST(merging_below_never_exceeds_the_limit)
{
	u32 round;

	for (round = 0; round < 2000; round++) {
		struct ressd_split split = { .start = test_below(5000) };
		u32 limit = 8 * (1 + test_below(100)), request = 0, end = 0;
		bool closed = true;
		u64 sector = test_below(3000);

		split.align = test_below(2) ? limit : 0;
		split.longest[RESSD_WRITE] = limit;
		while (end++ < 300) {
			u32 left = 1 + test_below(test_below(2) ? 16 : 3 * limit);

			while (left) {
				u32 piece = ressd_split_first(&split, RESSD_WRITE, sector, left);
				bool alone = ressd_split_is_alone(&split, RESSD_WRITE, sector,
								  piece);

				request = closed || alone ? piece : request + piece;
				CHECK(request <= limit, "%u sectors, limit %u", request, limit);
				closed = alone;
				sector += piece;
				left -= piece;
			}
		}
	}
}

/* Small neighbours still merge: a stream of 4 KiB costs two requests a cell, not one for each. */
TEST(small_neighbours_merge)
{
	struct ressd_split split = { .longest = { 512, 512 }, .start = 24 };
	u32 sector, alone = 0;

	for (sector = 0; sector < 512 * 10; sector += 8)
		alone += ressd_split_is_alone(&split, RESSD_WRITE, sector, 8);
	CHECK_EQ(alone, 10);
	split.longest[RESSD_WRITE] = 0;
	CHECK(!ressd_split_is_alone(&split, RESSD_WRITE, 512 - 24, 512), "off, but alone");
}

TEST(rows_of_the_papers_table)
{
	struct ressd_split split = { .longest = { 0, 512 }, .page = 32, .start = 8 };
	struct ressd_split_counters counters = { };

	ressd_split_count(&split, RESSD_WRITE, 24, 512, &counters);
	ressd_split_count(&split, RESSD_WRITE, 56, 520, &counters);
	ressd_split_count(&split, RESSD_WRITE, 0, 8, &counters);
	CHECK_EQ(counters.aligned, 2);
	CHECK_EQ(counters.unaligned, 1);
	CHECK_EQ(counters.within, 2);
	CHECK_EQ(counters.over, 1);
	ressd_split_count(&split, RESSD_READ, 24, 8192, &counters);	/* no limit */
	CHECK_EQ(counters.within + counters.over, 3);
	split.page = 0;
	ressd_split_count(&split, RESSD_WRITE, 24, 512, &counters);
	CHECK_EQ(counters.aligned + counters.unaligned, 4);
}
