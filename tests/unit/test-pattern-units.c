// SPDX-License-Identifier: GPL-2.0-only
/* ressd-pattern: which writes open units, and what closes them. */
#include "patternbox.h"

TEST_SUITE("pattern-units");

/* A long run in large writes, in the unit 5; returns where it ends. */
static u64 large_run(bool moving)
{
	ressd_pattern_write(&seen, 5 * UNIT, 1024, moving);
	ressd_pattern_write(&seen, 5 * UNIT + 1024, 1024, moving);
	return 5 * UNIT + 2048;
}

/*
 * Found with etcd where five units are open: a small write went directly to any unit that a large
 * one had opened, and took its order; 1.24 times as fast as the bare drive instead of 1.94.
 */
TEST(commit_behind_a_large_write_is_logged)
{
	u32 i;

	init_pages(5);
	committed(20 * UNIT, 8, false);
	committed(30 * UNIT, 8, false);
	CHECK(!ressd_pattern_write(&seen, 5 * UNIT, 1024, false), "512 KiB are not small");
	CHECK(committed(5 * UNIT + 1024, 8, false), "no run");
	CHECK(committed(5 * UNIT + 1032, 8, false), "no run");
	for (i = 0; i < 32; i++)
		CHECK(ressd_pattern_write(&seen, 5 * UNIT + 1040 + i * 8, 8, false), "%u", i);
	CHECK(!ressd_pattern_write(&seen, 5 * UNIT + 1040 + i * 8, 8, false), "no commit");
}

/* Found with Postmark where five units are open: 7 times as fast as bare instead of 10. */
TEST(small_write_behind_a_large_one_is_direct_without_commits)
{
	init_pages(5);
	ressd_pattern_write(&seen, 5 * UNIT, 1024, false);
	CHECK(!ressd_pattern_write(&seen, 5 * UNIT + 1024, 8, false), "in the unit");
	ressd_pattern_visit(&seen, 50 * UNIT);
	CHECK(!ressd_pattern_write(&seen, 5 * UNIT + 1032, 8, true), "the mover has its own");
	ressd_pattern_write(&seen, 10 * UNIT, 1024, true);
	ressd_pattern_write(&seen, 15 * UNIT, 1024, true);
	CHECK(!ressd_pattern_write(&seen, 5 * UNIT + 1040, 8, true), "one of three that are left");
	ressd_pattern_write(&seen, 10 * UNIT + 1024, 1024, true);
	ressd_pattern_write(&seen, 15 * UNIT + 1024, 1024, true);
	ressd_pattern_write(&seen, 20 * UNIT, 1024, true);
	CHECK(ressd_pattern_write(&seen, 5 * UNIT + 1048, 8, true), "three others are");
}

TEST(run_of_large_writes_opens_its_unit)
{
	u64 end;

	init_pages(2);
	end = large_run(false);
	CHECK(!committed(end, PAGE, false), "it goes on in the unit that is open");
	CHECK(committed(20 * UNIT, 8, false), "a random write");
	CHECK(!committed(end + PAGE, PAGE, false), "the random one has opened no unit");
	ressd_pattern_write(&seen, 6 * UNIT, 1024, false);
	CHECK(!ressd_pattern_write(&seen, 8 * UNIT, 1024, false), "closes unit 5");
	CHECK(committed(end + 2 * PAGE, PAGE, false), "unit 5 is closed");
}

/* Found with a file whose writes of 316 KB cross from a unit to the next. */
TEST(large_write_opens_the_unit_that_it_ends_in)
{
	init_pages(2);
	ressd_pattern_write(&seen, 6 * UNIT - 2048, 2560, false);
	CHECK(!committed(6 * UNIT + 512, PAGE, false), "it goes on there");
	init_units(3);
	ressd_pattern_write(&seen, 6 * UNIT - 512, 1024, false);
	CHECK_EQ(seen.units.open.nr, 2);
	init_units(RESSD_PATTERN_FEW_UNITS + 1);
	ressd_pattern_write(&seen, 6 * UNIT - 512, 1024, false);
	CHECK(!ressd_pattern_write(&seen, 6 * UNIT + 4096, 8, false), "both are open");
	CHECK(!ressd_pattern_write(&seen, 5 * UNIT, 8, false), "both are open");
}

TEST(log_and_mover_occupy_a_unit_each)
{
	init_pages(2);
	CHECK(committed(large_run(false), PAGE, true), "nothing is left beside log and mover");
	init_pages(3);
	CHECK(!committed(large_run(true), PAGE, true), "one is left");
}

TEST(random_writes_are_logged_whatever_is_open)
{
	u32 i;

	init_units(16);
	visit_all();
	for (i = 0; i < 20000; i++)
		CHECK(ressd_pattern_write(&seen, test_below(1 << 20) * 4096ULL, 8, false),
		      "write %u", i);
}

/* Found with a database of 84 MB where 26 units of 4 MB are open: the log gains nothing. */
TEST(random_writes_to_few_of_many_units_go_direct)
{
	u32 i, logged = 0;

	init_units(26);
	for (i = 0; i < 20000; i++)
		logged += ressd_pattern_write(&seen, test_below(21 * 128) * (UNIT / 128), 8, i & 1);
	CHECK(logged < 21 * RESSD_UNITS_WRITES, "%u were logged", logged);
}

/*
 * Found with 64 units in use where 26 are open: the mover's visits had closed what was written to
 * directly, each time for a merge.
 */
TEST(visits_of_the_mover_close_units)
{
	u32 i;

	init_units(26);
	for (i = 0; i < 25; i++)
		CHECK(!ressd_pattern_write(&seen, i * 2 * UNIT, 8, true), "unit %u is opened", i);
	ressd_pattern_visit(&seen, 100 * UNIT);
	CHECK(ressd_pattern_write(&seen, 64, 8, true), "the least recently used one is closed");
	CHECK(!ressd_pattern_write(&seen, 2 * UNIT + 64, 8, true), "the next one is open");
	CHECK(!ressd_pattern_write(&seen, 100 * UNIT + 64, 8, true), "that of the visit is");
	/* So the first logged write does not come before all were opened once. */
	ressd_pattern_drained(&seen);
	ressd_pattern_write(&seen, 200 * UNIT, 512, false);
	ressd_pattern_flush(&seen);
	for (i = 0; i < 25; i++)
		CHECK(!committed((200 + i * 2) * UNIT, 8, false), "unit %u", i);
	CHECK(committed(300 * UNIT, 8, false), "now the log is cheaper");
}

/* Found with bursts on a drained log: 11 % of the speed of sequential writes instead of 106. */
TEST(a_burst_opens_no_unit)
{
	u32 i, round;

	init_units(26);
	committed(200 * UNIT, 8, false);
	ressd_pattern_drained(&seen);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 2000; i++)
			CHECK(ressd_pattern_write(&seen, test_below(128 * 128) * (UNIT / 128), 8,
						  false),
			      "write %u of burst %u", i, round);
		ressd_pattern_flush(&seen);
		ressd_pattern_flush(&seen);
	}
}

/*
 * Found with 2,000 UPDATEs of a database: of each unit that the journal went on in 8 to 24 blocks
 * were logged, and the unit was opened out of order.
 */
TEST(a_stream_opens_the_unit_that_it_runs_into)
{
	init_units(26);
	CHECK(ressd_pattern_write(&seen, UNIT - 16, 8, false),
	      "it begins in a unit that is closed");
	CHECK(ressd_pattern_write(&seen, UNIT - 8, 8, false), "as two random blocks may");
	CHECK(!ressd_pattern_write(&seen, UNIT, 8, false), "into the next one");
	CHECK(!ressd_pattern_write(&seen, UNIT + 8, 8, false), "which is open now");
	init_units(RESSD_PATTERN_FEW_UNITS);
	ressd_pattern_write(&seen, UNIT - 8, 8, false);
	CHECK(ressd_pattern_write(&seen, UNIT, 8, false), "few units");
}

/* A commit of @nr large writes. */
static void commit_of(u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		ressd_pattern_write(&seen, (100 + i) * UNIT, 512, false);
	ressd_pattern_flush(&seen);
}

/* But what gets many writes is opened, and where flushes follow few writes it is at once. */
TEST(many_writes_or_commits_open_a_unit)
{
	u32 i, nr;

	init_units(26);
	for (i = 1; i < RESSD_UNITS_WRITES; i++)
		CHECK(ressd_pattern_write(&seen, (i * 37 % 64) * 64, 8, false), "write %u", i);
	CHECK(!ressd_pattern_write(&seen, 0, 8, false), "now it is cheaper");
	/* As many writes between flushes as are a commit's, and one more. */
	for (nr = 32; nr <= 33; nr++) {
		init_units(26);
		commit_of(nr);
		commit_of(nr);
		CHECK_EQ(ressd_pattern_write(&seen, 64, 8, false), nr > 32);
	}
}

/*
 * The first writes of a burst may be of a commit, whose flush is to come; what goes on longer than
 * the last two is not.  Found with a burst behind one write and its flush: its first 32 writes
 * opened units, 21 % of the speed of sequential writes instead of 88.
 */
TEST(a_burst_behind_commits_opens_no_more_units_than_these)
{
	static const struct {
		u32 before, last, opened;
	} cases[] = {
		{ 1, 1, 1 }, { 3, 1, 3 }, { 1, 3, 3 }, { 32, 2, 32 }, { 33, 2, 0 }, { 2, 33, 0 },
	};
	u32 c, i;

	for (c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		init_units(RESSD_UNITS_MAX);
		commit_of(cases[c].before);
		commit_of(cases[c].last);
		for (i = 0; i < 40; i++)
			CHECK(ressd_pattern_write(&seen, (1000 + i * 3) * UNIT, 8, false) ==
			      (i >= cases[c].opened), "case %u, write %u", c, i);
	}
}

/* A file system below which nothing else is in the log: its first commit says nothing yet. */
TEST(the_first_commit_behind_a_drain_opens_no_unit)
{
	init_units(26);
	commit_of(1);
	commit_of(1);
	ressd_pattern_drained(&seen);
	commit_of(1);
	CHECK(ressd_pattern_write(&seen, 1000 * UNIT, 8, false), "one commit");
	ressd_pattern_flush(&seen);
	CHECK(!ressd_pattern_write(&seen, 1003 * UNIT, 8, false), "two");
}

/* Found on a drive with five open units: there the page that each write programs costs too much. */
TEST(random_writes_to_few_units_are_logged)
{
	u32 i;

	init_units(RESSD_PATTERN_FEW_UNITS);
	for (i = 0; i < 2000; i++)
		CHECK(ressd_pattern_write(&seen, test_below(2) * UNIT + test_below(64) * 128, 8,
					  false),
		      "write %u", i);
}

/* With units of no size, or none known, only streams count. */
TEST(no_units_no_change)
{
	struct ressd_pattern_options options = {
		.streams = 16, .small_sectors = 16, .open_units = 2, .log_sectors = LOG,
	};

	ressd_pattern_init(&seen);
	ressd_pattern_set(&seen, &options);
	CHECK(ressd_pattern_write(&seen, 800, 8, false), "random");
	CHECK(!ressd_pattern_write(&seen, 808, 8, false), "sequential");
	ressd_pattern_drained(&seen);
	ressd_pattern_visit(&seen, 800);
	CHECK(ressd_pattern_write(&seen, 8000, 8, false), "random");
	CHECK(!ressd_pattern_write(&seen, 8008, 8, false), "sequential");
}
