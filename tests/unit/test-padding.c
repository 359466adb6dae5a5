// SPDX-License-Identifier: GPL-2.0-only
/* core/ressd-padding.c: when commits are padded to the device's page. */
#include "harness.h"
#include "ressd-padding.h"

TEST_SUITE("padding");

#define UNIT	1024U
#define LOG	4096U

static struct ressd_padding padding;
static u32 dirty;	/* blocks since the last visit */
static u32 padded;

/* @nr records of @used blocks in pages of @page; the mover visits a unit for each @each blocks. */
static void commit(u32 nr, u32 used, u32 page, u32 each)
{
	u32 waste = (page - used % page) % page;

	padded = 0;
	for (; nr; nr--) {
		bool pads = ressd_padding_pays(&padding, UNIT);

		ressd_padding_record(&padding, used, waste, used + (pads ? waste : 0), LOG);
		padded += pads;
		for (dirty += used; dirty >= each; dirty -= each)
			ressd_padding_visit(&padding);
	}
}

static void reset(void)
{
	padding = (struct ressd_padding) { 0 };
	dirty = 0;
}

/* The mover finds whole units. */
TEST(journals_are_padded)
{
	reset();
	commit(400, 5, 4, UNIT);
	CHECK(padded > 0, "soon");
	commit(10000, 5, 4, UNIT);
	CHECK_EQ(padded, 10000);
}

/* 25 blocks a visit: padding would double them. */
TEST(random_commits_are_not)
{
	reset();
	commit(10000, 2, 4, 25);
	CHECK(padded < 1000, "%u before the visits are known", padded);
	commit(10000, 2, 4, 25);
	CHECK_EQ(padded, 0);
}

/* Where a page holds many commits an empty log would be full of padding before the first visit. */
TEST(large_pages_are_not_filled_with_padding)
{
	reset();
	commit(LOG / 2, 2, 32, LOG);
	CHECK_EQ(padded, 0);
}

/* Visits per block of the log: the same with padding, which must not forbid itself. */
TEST(decision_does_not_change_its_grounds)
{
	u32 round;

	reset();
	commit(4000, 3, 4, 600);
	CHECK(padded > 2000, "%u", padded);
	for (round = 0; round < 8; round++) {
		commit(1000, 3, 4, 360);
		CHECK_EQ(padded, 1000);
	}
}

TEST(what_is_written_changes_it)
{
	reset();
	commit(4000, 5, 4, UNIT);
	commit(10000, 2, 4, 25);
	commit(1000, 2, 4, 25);
	CHECK_EQ(padded, 0);
	commit(30000, 5, 4, UNIT);
	commit(1000, 5, 4, UNIT);
	CHECK_EQ(padded, 1000);
}

/*
 * Found with random writes without flushes on Super Talent: 141 times the bare drive instead of
 * 177, since a page of each segment was left to its summary.
 */
TEST(long_records_are_left_as_they_are)
{
	u32 i;

	reset();
	for (i = 0; i < 4000; i++) {
		commit(2, 128, 32, UNIT);
		CHECK(!ressd_padding_pays(&padding, UNIT), "record %u", i);
		commit(1, 70, 32, UNIT);
		CHECK(!padded, "one that the mover waits for");
	}
}
