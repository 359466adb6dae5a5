// SPDX-License-Identifier: GPL-2.0-only
/* ressd-pattern: batches of ascending writes, of which the log gets the first part. */
#include "patternbox.h"

TEST_SUITE("pattern-batches");

/* @nr blocks, ascending, one every @step sectors; returns how many were logged. */
static u32 batch(u64 start, u32 nr, u32 step)
{
	u32 i, logged = 0;

	for (i = 0; i < nr; i++)
		logged += ressd_pattern_write(&seen, start + (u64)i * step, 8, false);
	return logged;
}

TEST(long_batch_is_direct_but_for_its_first_part)
{
	init_units(2);
	CHECK_EQ(batch(0, 4000, 64), FIRST / 8);
	CHECK(seen.ordered, "the rest passes the first part");
	ressd_pattern_write(&seen, 4000 * 64, 1024, false);
	CHECK(!seen.ordered, "a large write waits behind small ones");
	/* It is longer than half of the log: the next one gains nothing either. */
	ressd_pattern_flush(&seen);
	CHECK_EQ(batch(32, 4000, 64), FIRST / 8);
}

TEST(batch_that_comes_again_is_logged)
{
	init_units(2);
	CHECK_EQ(batch(1000 * UNIT, 1000, 64), FIRST / 8);
	ressd_pattern_flush(&seen);
	CHECK_EQ(batch(1000 * UNIT + 32, 1000, 64), 1000);
	ressd_pattern_flush(&seen);
	CHECK_EQ(batch(1000 * UNIT + 16, 1000, 64), 1000);
	ressd_pattern_flush(&seen);
	CHECK_EQ(batch(5000 * UNIT, 1000, 64), FIRST / 8);
}

/* It is another batch if it lies below the one before, or if half of the log cannot hold it. */
TEST(batch_elsewhere_or_too_long_does_not_come_again)
{
	init_units(2);
	CHECK_EQ(batch(1000 * UNIT, 1000, 64), FIRST / 8);
	ressd_pattern_flush(&seen);
	CHECK_EQ(batch(100 * UNIT, 1000, 64), FIRST / 8);
	ressd_pattern_flush(&seen);
	CHECK_EQ(batch(100 * UNIT + 32, 4000, 64), LOG / 2 / 8);
}

/*
 * Of two batches at once the one that was last to go direct is what may come again. The other one
 * is logged from then on: unpacking packages on an SD card takes 10 % longer if both are direct.
 */
TEST(two_batches_at_once)
{
	u32 i, first = 0, logged = 0;

	init_units(4);
	for (i = 0; i < 1000; i++) {
		first += ressd_pattern_write(&seen, i * 64, 8, false);
		logged += ressd_pattern_write(&seen, 1000 * UNIT + i * 64, 8, false);
	}
	CHECK_EQ(logged, FIRST / 8);
	/* One was direct before the second batch had its first part in the log. */
	CHECK_EQ(first, 999);
	ressd_pattern_write(&seen, i * 64, 8, false);
	ressd_pattern_flush(&seen);
	CHECK_EQ(batch(1000 * UNIT + 32, 1000, 64), 1000);
}

TEST(flush_or_long_step_ends_a_batch)
{
	u32 i;

	init_units(2);
	for (i = 0; i < 4000; i++) {
		if (i % 100 == 99)
			ressd_pattern_flush(&seen);
		CHECK(ressd_pattern_write(&seen, i * 64ULL, 8, false), "write %u", i);
	}
	init_units(2);
	CHECK_EQ(batch(0, 4000, 2 * UNIT + 8), 4000);
}

/*
 * Found with 4,096 buffered writes and with dpkg on an SD card: the journal committed meanwhile,
 * the file lay on both sides of the journal, and each time another first part was logged.
 */
TEST(long_batch_goes_on_over_a_commit_and_longer_steps)
{
	u32 i;

	init_units(2);
	CHECK_EQ(batch(0, 1000, 64), FIRST / 8);
	CHECK(committed(3000 * UNIT, 8, false), "the journal");
	CHECK_EQ(batch(1000 * 64, 1000, 64), 0);
	CHECK_EQ(batch(2000 * 64 + 7 * UNIT, 1000, 64), 0);
	CHECK_EQ(batch(100 * UNIT, 1000, 64), FIRST / 8);
	/* Commits, not one in the middle of the batch: it is over. */
	for (i = 0; i < 8; i++)
		CHECK(committed(3000 * UNIT + i * 8, 8, false), "commit %u", i);
	CHECK_EQ(batch(109 * UNIT, 1000, 64), FIRST / 8);
}

/* How many of a batch of 1,000 are logged behind one of @before and a commit of @journal writes. */
static u32 behind_commit(u32 before, u32 journal, u32 elsewhere)
{
	u32 i;

	init_units(2);
	ressd_pattern_write(&seen, 3000 * UNIT, 8, false);
	batch(0, before, 64);
	for (i = 1; i <= journal; i++)
		ressd_pattern_write(&seen, 3000 * UNIT + i * 8, 8, false);
	for (i = 0; i < elsewhere; i++)
		ressd_pattern_write(&seen, (2000 + i * 20) * UNIT, 8, false);
	ressd_pattern_flush(&seen);
	return batch(before * 64, 1000, 64);
}

/* Found with tar: behind each of ext4's commits of 300 writes another first part was logged. */
TEST(batch_of_a_unit_goes_on_over_a_commit_of_many_writes)
{
	CHECK_EQ(behind_commit(2000, 100, 0), 0);
	CHECK(behind_commit(1000, 100, 0) >= FIRST / 8, "it was too short");
	CHECK(behind_commit(2000, 8, 1) >= FIRST / 8, "something else was written");
	CHECK_EQ(behind_commit(2000, 0, 1), 0);
}

/* Found with Postmark on a drive with 27 open units: 724 erases instead of 621. */
TEST(flush_or_long_step_ends_a_long_batch_where_units_are_many)
{
	init_units(RESSD_PATTERN_FEW_UNITS + 1);
	visit_all();
	CHECK_EQ(batch(0, 100, 1024), RESSD_PATTERN_MANY_UNITS_PART / 8);
	CHECK(committed(3000 * UNIT, 8, false), "the journal");
	CHECK_EQ(batch(20 * UNIT, 100, 1024), RESSD_PATTERN_MANY_UNITS_PART / 8);
	CHECK_EQ(batch(40 * UNIT, 100, 1024), RESSD_PATTERN_MANY_UNITS_PART / 8);
}

/* A unit of which the log has a part is visited by the mover in any case. */
TEST(the_direct_part_of_a_batch_begins_with_a_unit)
{
	init_units(2);
	seen.options.unit_phase = 24;
	/* The 256th block is in the middle of the third unit. */
	CHECK_EQ(batch(UNIT / 2 - 24, 4000, 64), (3 * UNIT - UNIT / 2) / 64);
	/* A quarter of the log could not hold a unit. */
	init_units(2);
	seen.options.log_sectors = 4 * UNIT - 8;
	CHECK_EQ(batch(1024, 4000, 64), seen.options.log_sectors / RESSD_PATTERN_BATCH_PART / 8);
}

/* Found with buffered writes on a slow card: what was written anew behind cost 300 erases. */
TEST(a_batch_goes_back_to_a_unit_that_is_open)
{
	u64 at;

	init_units(1);
	for (at = 0; at < 12 * UNIT; at += 64)
		ressd_pattern_write(&seen, at, 8, false);
	CHECK(!ressd_pattern_write(&seen, at - 120, 8, false), "it is in the batch's last unit");
	CHECK(ressd_pattern_write(&seen, at - 2 * UNIT, 8, false), "that unit is closed");
	init_units(1);
	for (at = 0; at < 12 * UNIT; at += 64)
		ressd_pattern_write(&seen, at, 8, false);
	ressd_pattern_write(&seen, at - 120, 8, false);
	CHECK(!ressd_pattern_write(&seen, at - 112 + 8 * UNIT, 8, false), "it ends where it did");
	init_units(3);
	for (at = 0; at < 12 * UNIT; at += 64)
		ressd_pattern_write(&seen, at, 8, false);
	CHECK(ressd_pattern_write(&seen, at - 120, 8, false), "the log has a unit of its own");
}
