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

/* --- open units --------------------------------------------------------------------------- */

#define UNIT	8192ULL		/* sectors */
#define LOG	32768ULL
#define FIRST	(LOG / RESSD_PATTERN_BATCH_PART)

/* A device with so many open units; a small write has at most 128 KiB. */
static void init_units(u32 open_units)
{
	const struct ressd_pattern_options options = {
		.streams = 16, .small_sectors = 256, .open_units = open_units,
		.unit_sectors = UNIT, .unit_phase = 0, .log_sectors = LOG,
	};

	ressd_pattern_init(&seen);
	ressd_pattern_set(&seen, &options);
}

/* A small write that a flush follows. */
static bool committed(u64 sector, u32 sectors, bool moving)
{
	bool log = ressd_pattern_write(&seen, sector, sectors, moving);

	ressd_pattern_flush(&seen);
	return log;
}

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

#define PAGE	32

/* A device that writes so many sectors at once. */
static void init_pages(u32 open_units)
{
	struct ressd_pattern_options options;

	init_units(open_units);
	options = seen.options;
	options.page_sectors = PAGE;
	ressd_pattern_set(&seen, &options);
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
	ressd_pattern_visit(&seen, 30 * UNIT);
	CHECK(committed(6 * UNIT + UNIT / 2, 64, true), "the mover has closed it");
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

TEST(large_writes_are_direct_and_open_their_unit)
{
	init_units(2);
	CHECK(!ressd_pattern_write(&seen, 5 * UNIT, 1024, false), "512 KiB are not small");
	CHECK(!committed(5 * UNIT + 1024, 8, false), "it continues in the unit that is open");
	CHECK(committed(7 * UNIT, 8, false), "a random write");
	CHECK(!committed(5 * UNIT + 1032, 8, false), "the random one has opened no unit");
	CHECK(!ressd_pattern_write(&seen, 6 * UNIT, 1024, false), "closes unit 5");
	CHECK(committed(5 * UNIT + 1040, 8, false), "unit 5 is closed");
}

TEST(log_and_mover_occupy_a_unit_each)
{
	init_units(2);
	ressd_pattern_write(&seen, 5 * UNIT, 1024, false);
	CHECK(committed(5 * UNIT + 1024, 8, true), "nothing is left beside log and mover");
	init_units(3);
	ressd_pattern_write(&seen, 5 * UNIT, 1024, true);
	CHECK(!committed(5 * UNIT + 1024, 8, true), "one is left");
	ressd_pattern_write(&seen, 6 * UNIT, 1024, true);
	CHECK(committed(5 * UNIT + 1032, 8, true), "but not two");
	init_units(1);
	ressd_pattern_write(&seen, 5 * UNIT, 1024, false);
	CHECK(committed(5 * UNIT + 1024, 8, false), "the log has the only one");
}

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

/* The mover has visited as many units as the device can have open, far away. */
static void visit_all(void)
{
	u32 i;

	for (i = 0; i < seen.options.open_units; i++)
		ressd_pattern_visit(&seen, (5000 + i) * UNIT);
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
