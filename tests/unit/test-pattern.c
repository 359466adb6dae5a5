// SPDX-License-Identifier: GPL-2.0-only
/* ressd-pattern: the paper's rule for one stream, many interleaved ones, an oracle for the rest. */
#include <linux/string.h>
#include "harness.h"
#include "ressd-pattern.h"

TEST_SUITE("pattern");

static struct ressd_pattern seen;

static void init(struct ressd_pattern *one, u32 streams, u32 small)
{
	const struct ressd_pattern_options options = { .streams = streams, .small_sectors = small };

	ressd_pattern_init(one);
	ressd_pattern_set(one, &options);
}

static void set(struct ressd_pattern *one, u32 streams, u32 small)
{
	const struct ressd_pattern_options options = { .streams = streams, .small_sectors = small };

	ressd_pattern_set(one, &options);
}

/* RE section 3.3: small, and does not start where the write before it ended. */
TEST(one_stream_is_the_papers_rule)
{
	u64 end = ~0ULL;
	u32 round, small = 0;

	init(&seen, 1, 16);
	for (round = 0; round < 20000; round++) {
		u64 sector = test_below(3) ? test_below(1000) * 8 : end;
		u32 sectors = 8 * (1 + test_below(4));
		bool random = round == 0 || sector != end;

		if (round == 0)
			sector = 800;
		CHECK_EQ(ressd_pattern_write(&seen, sector, sectors, false),
			 random && sectors <= 16);
		small += random && sectors <= 16;
		end = sector + sectors;
	}
	CHECK(small > 3000 && small < 17000, "%u: the test no longer mixes both", small);
}

TEST(first_write_at_sector_zero_is_random)
{
	init(&seen, 16, 16);
	CHECK(ressd_pattern_write(&seen, 0, 8, false), "an unused stream must not match sector 0");
	CHECK(!ressd_pattern_write(&seen, 8, 8, false), "it continues");
}

TEST(size_limit_is_inclusive)
{
	init(&seen, 16, 16);
	CHECK(ressd_pattern_write(&seen, 1000, 16, false), "16 sectors are small");
	CHECK(!ressd_pattern_write(&seen, 5000, 17, false), "17 are not");
	CHECK(!ressd_pattern_write(&seen, 9000, 24, false), "24 are not");
	CHECK(ressd_pattern_write(&seen, 20000, 1, false), "1 is");
}

/* @writers sequential writers in turn; returns how many of their writes looked random. */
static u32 interleave(u32 streams, u32 writers)
{
	u32 round, writer, random = 0;

	init(&seen, streams, 16);
	for (round = 0; round < 50; round++)
		for (writer = 0; writer < writers; writer++)
			random += ressd_pattern_write(&seen, writer * 100000ULL + round * 8, 8,
						      false);
	return random;
}

TEST(interleaved_streams_are_sequential)
{
	CHECK_EQ(interleave(1, 1), 1);
	CHECK_EQ(interleave(1, 2), 100);	/* the paper's rule is fooled */
	CHECK_EQ(interleave(16, 16), 16);	/* only the first write of each */
	CHECK_EQ(interleave(64, 64), 64);
	CHECK_EQ(interleave(16, 17), 17 * 50);	/* one too many: each is forgotten in time */
}

/* The least recently used stream goes, so random writes do not push out a busy writer. */
TEST(random_writes_do_not_evict_a_busy_stream)
{
	u64 next = 1 << 20;
	u32 round;

	init(&seen, 4, 16);
	ressd_pattern_write(&seen, next, 8, false);
	for (round = 0; round < 1000; round++) {
		next += 8;
		CHECK(!ressd_pattern_write(&seen, next, 8, false), "round %u", round);
		CHECK(ressd_pattern_write(&seen, test_below(1000) * 64, 8, false),
		      "round %u", round);
	}
}

/* Regression: each rewrite of a page began a stream of its own, so the fifth page passed by. */
TEST(page_rewritten_is_random_each_time)
{
	u32 page, i, random = 0;

	init(&seen, 16, 16);
	for (page = 0; page < 100; page++)
		for (i = 0; i < 4; i++)
			random += ressd_pattern_write(&seen, 4000 + page * 8, 8, false);
	CHECK_EQ(random, 1 + 100 * 3);
}

/* The same rule written as a list of expected sectors, the youngest first. */
struct oracle {
	u64 next[8];
	u32 nr;
};

/* Index of the stream that expects @sector, or nr. */
static u32 oracle_find(const struct oracle *oracle, u64 sector)
{
	u32 i;

	for (i = 0; i < oracle->nr; i++)
		if (oracle->next[i] == sector)
			break;
	return i;
}

TEST(random_against_an_lru_list)
{
	struct oracle oracle = { .nr = 0 };
	u32 round;

	init(&seen, 8, 8);
	for (round = 0; round < 30000; round++) {
		u64 sector = test_below(24) * 8;
		u32 sectors = 8 + 8 * test_below(2);
		u32 i = oracle_find(&oracle, sector);
		bool found = i < oracle.nr;

		u32 same_end = oracle_find(&oracle, sector + sectors);

		/* Which of two streams that expect one sector is taken is not specified. */
		if (found && same_end < oracle.nr)
			continue;
		CHECK_EQ(ressd_pattern_write(&seen, sector, sectors, false),
			 !found && sectors <= 8);
		if (!found && same_end < oracle.nr)
			i = same_end;
		else if (!found && oracle.nr < 8)
			oracle.nr++;
		else if (!found)
			i = 7;
		memmove(&oracle.next[1], &oracle.next[0], i * sizeof(oracle.next[0]));
		oracle.next[0] = sector + sectors;
	}
}

TEST(set_keeps_what_fits)
{
	init(&seen, 2, 16);
	ressd_pattern_write(&seen, 1000, 8, false);
	ressd_pattern_write(&seen, 2000, 8, false);
	set(&seen, 64, 16);
	CHECK(!ressd_pattern_write(&seen, 1008, 8, false), "first stream");
	CHECK(!ressd_pattern_write(&seen, 2008, 8, false), "second stream");
	set(&seen, 1, 8);
	set(&seen, 64, 8);
	CHECK_EQ(ressd_pattern_write(&seen, 1016, 8, false) +
		 ressd_pattern_write(&seen, 2016, 8, false), 1);
	CHECK(!ressd_pattern_write(&seen, 9000, 9, false), "the new limit holds");
	set(&seen, 0, 8);
	CHECK_EQ(seen.options.streams, 1);
	set(&seen, 1000, 8);
	CHECK_EQ(seen.options.streams, RESSD_PATTERN_MAX_STREAMS);
}

/* Whichever of the two it is. */
TEST(stream_that_is_given_up_is_not_followed)
{
	u32 last;

	for (last = 2000; last <= 3000; last += 1000) {
		u32 sector;

		init(&seen, 2, 16);
		for (sector = 1000; sector <= last; sector += 1000)
			ressd_pattern_write(&seen, sector, 8, false);
		set(&seen, 1, 16);
		ressd_pattern_write(&seen, 4000, 8, false);
		for (sector = 1008; sector <= last + 8; sector += 1000)
			CHECK(ressd_pattern_write(&seen, sector, 8, false), "%u", sector);
	}
}
