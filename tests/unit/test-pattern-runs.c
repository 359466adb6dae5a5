// SPDX-License-Identifier: GPL-2.0-only
/* ressd-pattern: streams with flushes, where few units are open. */
#include "patternbox.h"

TEST_SUITE("pattern-runs");

/* Found with SQLite on an SD card: WAL, journal, log and mover took turns in two open units. */
TEST(flushed_streams_are_logged_where_units_are_few)
{
	u32 i, direct = 0;

	init_units(2);
	for (i = 0; i < 1000; i++) {
		direct += !committed(10 * UNIT + i * 24, 24, false);
		direct += !committed(20 * UNIT + i * 8, 8, false);
	}
	CHECK_EQ(direct, 0);
}

/*
 * @count writes with a flush behind each, from @start on; with @beside sectors by turns, somewhere
 * else. How many were logged of the former.
 */
static u32 run(u64 start, u32 count, u32 sectors, u32 beside)
{
	u32 i, logged = 0;

	for (i = 0; i < count; i++) {
		logged += committed(start + (u64)i * sectors, sectors, false);
		if (beside)
			ressd_pattern_write(&seen, 40 * UNIT + (u64)i * beside, beside, false);
	}
	return logged;
}

/* Found with writes of 128 KiB, an fdatasync each: 0.28 of the speed of the bare SD card. */
TEST(run_over_flushes_opens_the_unit_that_it_runs_into)
{
	init_pages(2);
	CHECK_EQ(run(5 * UNIT, 3 * UNIT / 64, 64, 0), UNIT / 64);
	CHECK(committed(20 * UNIT, 8, false), "a random write");
	CHECK(!committed(8 * UNIT, 64, false), "it has not closed the run's unit");
	init_pages(2);
	CHECK_EQ(run(5 * UNIT + 40, 3 * UNIT / 64, 64, 0), UNIT / 64 - 1);
}

TEST(short_run_opens_no_unit)
{
	init_pages(2);
	CHECK_EQ(run(6 * UNIT - UNIT / 8, UNIT / 64, 64, 0), UNIT / 64);
}

/* Found with two programs that wrote 64 KiB by turns: 0.35 of the speed of the bare SD card. */
TEST(runs_open_units_as_far_as_the_device_keeps_them_open)
{
	u32 i, direct = 0;

	init_pages(2);
	CHECK_EQ(run(5 * UNIT, 2 * UNIT / 64, 64, 40), UNIT / 64);
	init_pages(2);
	CHECK_EQ(run(5 * UNIT, 2 * UNIT / 64, 64, 64), UNIT / 64);
	init_pages(2);
	for (i = 0; i < 2 * UNIT / 64; i++) {
		direct += !committed(5 * UNIT + i * 64, 64, false);
		direct += !committed(9 * UNIT + i * 64, 64, false);
		ressd_pattern_visit(&seen, (40 + i % 2) * UNIT);
	}
	CHECK_EQ(direct, 0);
}

/* Each flush costs a page, and the log needs as many for all that is flushed. */
TEST(run_of_less_than_a_page_a_flush_opens_no_unit)
{
	u32 i, logged = 0;

	init_pages(2);
	for (i = 0; i < 2 * UNIT / PAGE; i++) {
		logged += committed(5 * UNIT + i * PAGE, PAGE, false);
		ressd_pattern_flush(&seen);
	}
	CHECK_EQ(logged, UNIT / PAGE);
	init_pages(2);
	CHECK_EQ(run(5 * UNIT, 2 * UNIT / PAGE, PAGE, 0), UNIT / PAGE);
	init_pages(2);
	CHECK_EQ(run(5 * UNIT, 2 * UNIT / (PAGE / 2), PAGE / 2, 0), 2 * UNIT / (PAGE / 2));
}

/* Found with a log of 1 KiB commits and ext4's journal on a USB stick, which went on in pages. */
TEST(run_that_flushes_tear_opens_a_unit_only_if_it_is_alone)
{
	const u32 count = 2 * UNIT / 40;

	init_pages(2);
	CHECK(run(5 * UNIT, count, 40, 0) < count, "the log would write two pages for each");
	init_pages(2);
	CHECK_EQ(run(5 * UNIT, count, 40, 64), count);
}

/* Found with two programs whose files were in the log in part: 0.06 of the bare USB stick. */
TEST(a_record_of_unmaps_takes_the_unit_of_a_run)
{
	u32 i, direct = 0;

	init_pages(2);
	for (i = 0; i < 3 * UNIT / 64; i++) {
		direct += !committed(5 * UNIT + i * 64, 64, false);
		ressd_pattern_record(&seen);
		direct += !committed(9 * UNIT + i * 64, 64, false);
		ressd_pattern_record(&seen);
	}
	CHECK_EQ(direct, 2 * UNIT / 64);
	init_units(RESSD_PATTERN_FEW_UNITS + 1);
	ressd_pattern_record(&seen);
	CHECK_EQ(seen.units.open.nr, 0);
}

TEST(run_opens_no_unit_that_the_mover_needs)
{
	u32 i, logged = 0;

	init_pages(2);
	for (i = 0; i < 2 * UNIT / 64; i++)
		logged += committed(5 * UNIT + i * 64, 64, true);
	CHECK_EQ(logged, 2 * UNIT / 64);
}

/* It may go on there until something else is logged, or moved. */
TEST(run_takes_the_only_unit_while_nothing_else_is_written)
{
	init_pages(1);
	CHECK_EQ(run(5 * UNIT, 2 * UNIT / 64, 64, 0), UNIT / 64);
	CHECK(committed(20 * UNIT, 8, false), "a random write");
	CHECK_EQ(run(7 * UNIT, 2 * UNIT / 64, 64, 0), UNIT / 64);
	init_pages(1);
	CHECK_EQ(run(5 * UNIT, 2 * UNIT / 64, 64, 8), 2 * UNIT / 64);
	init_pages(1);
	CHECK_EQ(run(5 * UNIT, 3 * UNIT / 128, 64, 0), UNIT / 64);
	CHECK(committed(6 * UNIT + UNIT / 2, 64, true), "the mover needs it");
	init_pages(1);
	CHECK_EQ(run(5 * UNIT, 3 * UNIT / 128, 64, 0), UNIT / 64);
	ressd_pattern_visit(&seen, 30 * UNIT);
	CHECK(committed(6 * UNIT + UNIT / 2, 64, false), "the mover has closed it");
}

/*
 * Appends of @large sectors to a file, a flush behind each, that begin with the last @end sectors
 * once more; @beside small writes elsewhere before each flush. How many of @count ends were logged.
 */
static u32 append(u64 start, u32 count, u32 large, u32 end, u32 beside)
{
	u32 i, j, logged = 0;

	for (i = 0; i < count; i++, start += large) {
		logged += i && ressd_pattern_write(&seen, start - end, end, false);
		ressd_pattern_write(&seen, start, large, false);
		for (j = 0; j < beside; j++)
			ressd_pattern_write(&seen, 40 * UNIT + (i * beside + j) * 8ULL, 8, false);
		ressd_pattern_flush(&seen);
	}
	return logged;
}

/*
 * Found with a log that appends 320 KB and an fdatasync, and the rest of its last block with the
 * next ones: 0.89 of the bare SD card, for each unit was visited once more.
 */
TEST(end_of_a_run_is_written_again_where_it_is)
{
	init_pages(2);
	/* Less than a quarter of a unit came before three of them. */
	CHECK_EQ(append(5 * UNIT, 3 * UNIT / 624, 624, 8, 4), 3);
	init_pages(3);
	CHECK_EQ(append(5 * UNIT, 3 * UNIT / 624, 624, 8, 4), 3 * UNIT / 624 - 1);
}

/* Found with the journal of a system's messages: 15 times the speed of the bare SD card, not 22. */
TEST(end_of_a_file_that_grows_by_little_is_logged)
{
	const u32 count = 2 * UNIT / 24, pages = 2 * UNIT / PAGE;

	init_pages(2);
	CHECK_EQ(append(5 * UNIT, count, 24, 8, 4), count - 1);
	init_pages(2);
	CHECK_EQ(append(5 * UNIT, pages, PAGE, PAGE, 4), pages - 1);
}

TEST(end_of_a_run_is_logged_where_its_unit_is_closed)
{
	init_pages(2);
	append(5 * UNIT, UNIT / 1024, 624, 8, 0);
	CHECK(!ressd_pattern_write(&seen, 5 * UNIT + UNIT / 1024 * 624 - 8, 8, false), "open");
	visit_all();
	CHECK(ressd_pattern_write(&seen, 5 * UNIT + UNIT / 1024 * 624 - 8, 8, false), "closed");
}
