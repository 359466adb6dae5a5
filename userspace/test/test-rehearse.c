// SPDX-License-Identifier: GPL-2.0-only
/* The rehearsal, on a disk whose times are known: where it goes, and what it makes of them. */
#include <errno.h>
#include <string.h>
#include "disk-clock.h"
#include "harness.h"
#include "measure/rehearse.h"

const char test_suite[] = "probe-rehearse";

#define REGION		(64 * START)
#define START		1048576ULL
#define SECOND		1000000000ULL
#define LOG_START	(START + REGION / 8 * 7)

/* What the disk has seen. */
static struct seen {
	u64 appended;		/* bytes written to the log */
	u64 appends;
	u64 homes;		/* writes elsewhere */
	u64 run, longest_run;	/* of writes of 4 KiB */
	u64 home_bytes;
	u64 turns;		/* of these, below the one before */
	u64 last_home;
	u64 log_reads;
	u64 strays;		/* reads outside of the log */
	u64 flushes;
	u64 gaps;		/* sum of the distances between homes */
	u64 far;		/* of these, above 256 KiB */
	u64 crossings;		/* homes in another MiB than the one before in their batch */
	bool appended_last;
	u64 align;		/* that appends should begin on, from byte 8192 of the disk */
	u64 unaligned;		/* appends that do not */
} seen;

#define VISIT		1048576ULL
#define VISIT_PHASE	(192ULL << 10)
static u32 visits;		/* between two records; 0: clustered blocks are not known */

#define OPEN_NS		50000000
static u64 open_every;		/* appends: this one opens a clustered block; 0: none does */

static int disk_read(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		     struct failure *failure)
{
	(void)disk;
	(void)failure;
	memset(data, 1, bytes);
	seen.log_reads += offset >= LOG_START;
	seen.strays += offset < LOG_START;
	return disk_spend(ns, 100000);
}

/* 1 us for each KiB of the log, 500 us for each write elsewhere. */
static int disk_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		      struct failure *failure)
{
	(void)disk;
	(void)data;
	(void)failure;
	seen.run = bytes == 4096 ? seen.run + 1 : 0;
	if (seen.longest_run < seen.run)
		seen.longest_run = seen.run;
	if (bytes > 128 << 10) {
		seen.unaligned += seen.align && (offset - 8192) % seen.align;
		seen.appended += bytes;
		seen.appends++;
		seen.appended_last = true;
		return disk_spend(ns, bytes / 1024 * 1000 + (open_every &&
				  seen.appends % open_every == 0 ? OPEN_NS : 0));
	}
	seen.far += offset > seen.last_home + 262144;
	seen.crossings += !seen.appended_last && (offset + VISIT - VISIT_PHASE) / VISIT !=
					  (seen.last_home + VISIT - VISIT_PHASE) / VISIT;
	seen.appended_last = false;
	if (offset < seen.last_home)
		seen.turns++;
	else
		seen.gaps += offset - seen.last_home;
	seen.last_home = offset;
	seen.homes++;
	seen.home_bytes += bytes;
	return disk_spend(ns, 500000);
}

static int disk_flush(struct disk *disk, u64 *ns, struct failure *failure)
{
	(void)disk;
	(void)failure;
	seen.flushes++;
	return disk_spend(ns, 0);
}

static const struct disk_ops ops = { disk_read, disk_write, disk_flush, disk_pause, disk_now };
static struct disk disk = { .ops = &ops, .path = "a test disk", .bytes = START + REGION,
			    .granule = 512 };
static struct measure measure;

static struct rehearsal run(u32 size, u32 align, u64 stride, u64 direct)
{
	const struct result random = { .done = true, .steady = true, .bandwidth = direct };
	struct rehearsal_plan plan = { .size = size, .stride = stride };
	struct rehearsal rehearsal;
	struct failure failure;

	if (visits) {
		plan.block = VISIT;
		plan.block_phase = VISIT_PHASE;
		plan.visits = visits;
	}
	memset(&seen, 0, sizeof(seen));
	disk_clock = 0;
	seen.align = align;
	measure = (struct measure){
		.disk = &disk, .offset = START, .bytes = REGION,
		.effort = { .round_ns = 200000000, .min_ops = 24, .max_ops = 1000 },
	};
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	rehearsal_place(&measure, align, 8192, &plan);
	CHECK(!rehearse(&measure, &plan, &random, &rehearsal, &failure), "%s", failure.text);
	measure_release(&measure);
	return rehearsal;
}

TEST(costs_of_small_writes)
{
	/* 4 KiB in 1 ms. */
	const struct rehearsal rehearsal = run(4096, 4096, 131072, 4096000);

	CHECK(rehearsal.done && rehearsal.steady, "a steady disk");
	CHECK_EQ(rehearsal.direct_ns, 1000000);
	/* 512 KiB for 127 pieces; a read and a write each. */
	CHECK_EQ(rehearsal.log_ns, 512000 / 127);
	CHECK_EQ(rehearsal.move_ns, 600000);
	CHECK_EQ(rehearsal.gain_percent, 100000000 / (600000 + 512000 / 127));
	CHECK_EQ(seen.strays, 0);
	CHECK(seen.log_reads >= seen.homes, "each piece is read from the log");
}

TEST(homes_ascend_at_the_stride)
{
	run(4096, 4096, 131072, 4096000);
	CHECK(seen.homes > 500, "%llu", seen.homes);
	/* From the end to the beginning now and then, never in between. */
	CHECK(seen.turns <= 1 + seen.homes * 131072 / (REGION / 8 * 7), "%llu turns of %llu",
	      seen.turns, seen.homes);
	CHECK(seen.gaps / seen.homes > 100000 && seen.gaps / seen.homes < 170000, "%llu",
	      seen.gaps / seen.homes);
	/* As chance has it: one in seven is twice as far.  Of even steps none was. */
	CHECK(seen.far * 10 > seen.homes, "%llu of %llu", seen.far, seen.homes);
}

/*
 * The mover writes a record before it goes on to the next clustered block.  A rehearsal that did
 * not had a drive of two open blocks close the log's for each record: 10.6 ms a block for 0.6.
 */
TEST(a_record_comes_before_each_visit)
{
	struct rehearsal rehearsal;

	visits = 1;
	rehearsal = run(4096, 4096, 131072, 4096000);
	visits = 0;
	CHECK(rehearsal.done && seen.homes > 100, "%llu", seen.homes);
	CHECK_EQ(seen.crossings, 0);
	run(4096, 4096, 131072, 4096000);
	CHECK(seen.crossings, "the test sees none");
}

/*
 * On the Samsung twin a record for each visit, of eight blocks, took the bytes that rehearsals may
 * write: 8 KiB were not tried, and then not logged.
 */
TEST(where_many_blocks_are_open_a_record_fills_many_visits)
{
	u64 appends;

	run(4096, 4096, 131072, 4096000);
	appends = seen.appends * 100000 / seen.homes;
	visits = 26;
	run(4096, 4096, 131072, 4096000);
	CHECK(seen.appends * 100000 / seen.homes < appends * 11 / 10, "%llu of %llu, before %llu",
	      seen.appends, seen.homes, appends);
	visits = 1;
	run(4096, 4096, 131072, 4096000);
	CHECK(seen.appends * 100000 / seen.homes > 4 * appends, "the test sees none");
	visits = 0;
}

TEST(larger_writes_cost_by_the_block)
{
	const struct rehearsal rehearsal = run(65536, 4096, 16 * 131072, 4096000);

	CHECK_EQ(rehearsal.size, 65536);
	CHECK_EQ(rehearsal.move_ns, 600000 / 16);
	CHECK_EQ(seen.home_bytes, seen.homes * 65536);
}

/* Appends begin and end on page borders, wherever these begin on the device. */
TEST(padded_records)
{
	run(8192, 49152, 131072, 4096000);
	CHECK(seen.appended > 0, "%llu", seen.appended);
	CHECK_EQ(seen.unaligned, 0);
}

/* 4 KiB in 1 ms. */
static const struct result millisecond = { .done = true, .steady = true, .bandwidth = 4096000 };

/* A rehearsal whose time is up as soon as it begins. */
static void start_late(struct rehearsal_plan *plan)
{
	struct failure failure;

	memset(&seen, 0, sizeof(seen));
	disk_clock = 0;
	measure = (struct measure){
		.disk = &disk, .offset = START, .bytes = REGION, .deadline = 1,
		.effort = { .round_ns = 200000000, .min_ops = 24, .max_ops = 1000 },
	};
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	*plan = (struct rehearsal_plan){ .size = 4096, .stride = 131072 };
	rehearsal_place(&measure, 4096, 0, plan);
	disk_clock = 2;
}

TEST(deadline_ends_it)
{
	struct rehearsal_plan plan;
	struct rehearsal rehearsal;
	struct failure failure;

	start_late(&plan);
	CHECK(!rehearse(&measure, &plan, &millisecond, &rehearsal, &failure), "%s", failure.text);
	CHECK(rehearsal.done && !rehearsal.steady, "one round, so nobody knows how steady");
	measure_release(&measure);
}

/*
 * A drive that ignores flushes makes the first append wait for the random writes before it: a round
 * that paid for them once made the log of a slow drive look worthless.
 */
TEST(debts_of_random_writes_do_not_count)
{
	struct rehearsal_plan plan;
	struct rehearsal rehearsal;
	struct failure failure;

	start_late(&plan);
	plan.flush_ignored = true;
	CHECK(!rehearse(&measure, &plan, &millisecond, &rehearsal, &failure), "%s", failure.text);
	CHECK(!rehearsal.done, "the only round paid for others");
	measure.deadline = 0;
	CHECK(!rehearse(&measure, &plan, &millisecond, &rehearsal, &failure), "%s", failure.text);
	CHECK(rehearsal.done && rehearsal.steady, "with time for more rounds it is done");
	measure_release(&measure);
}

/*
 * Single calls are all that may take longer than there is time: the batch that was begun went on,
 * and a quick run took 83 s.
 */
TEST(deadline_ends_a_batch)
{
	struct rehearsal_plan plan;
	struct rehearsal rehearsal;
	struct failure failure;
	u64 late;

	start_late(&plan);
	measure.deadline = disk_clock + SECOND / 100;
	CHECK(!rehearse(&measure, &plan, &millisecond, &rehearsal, &failure), "%s", failure.text);
	late = disk_clock - measure.deadline;
	CHECK(rehearsal.done && late < SECOND / 500, "%llu us late", late / 1000);
	measure_release(&measure);
}

/*
 * Where flushes are ignored the next record pays for what the batch before has left in the buffer,
 * in one call, which took 39 s.
 */
TEST(no_more_is_buffered_than_can_be_paid)
{
	const struct result slow = { .done = true, .steady = true, .bandwidth = 40960 };
	struct rehearsal_plan plan;
	struct rehearsal rehearsal;
	struct failure failure;

	start_late(&plan);
	measure.deadline = disk_clock + SECOND;
	plan.flush_ignored = true;
	memset(&seen, 0, sizeof(seen));
	CHECK(!rehearse(&measure, &plan, &slow, &rehearsal, &failure), "%s", failure.text);
	CHECK(seen.longest_run <= 10, "%llu", seen.longest_run);
	measure_release(&measure);
}

/* Of a drive that pauses, one pause says as little in a rehearsal as one in a cycle. */
TEST(few_pauses_tell_little)
{
	struct rehearsal_plan plan;
	struct rehearsal rehearsal;
	struct failure failure;

	start_late(&plan);
	measure.deadline = 0;
	CHECK(!rehearse(&measure, &plan, &millisecond, &rehearsal, &failure), "%s", failure.text);
	CHECK(rehearsal.steady, "by itself it is steady");
	plan.long_ns = 500000;
	CHECK(!rehearse(&measure, &plan, &millisecond, &rehearsal, &failure), "%s", failure.text);
	CHECK(rehearsal.spread_percent > 2, "%u %%", rehearsal.spread_percent);
	CHECK(rehearsal.spread_percent < 20, "of hundreds: %u %%", rehearsal.spread_percent);
	measure_release(&measure);
}

/* What random writes have left is paid for by the moves behind them. */
TEST(where_log_blocks_are_shared_pauses_are_no_dearer_than_a_random_write)
{
	struct result fast = millisecond;
	struct rehearsal_plan plan;
	struct rehearsal rehearsal;
	struct failure failure;

	start_late(&plan);
	measure.deadline = 0;
	fast.bandwidth *= 100;
	plan.long_ns = 50000;
	CHECK(!rehearse(&measure, &plan, &fast, &rehearsal, &failure), "%s", failure.text);
	CHECK(rehearsal.move_ns > 2 * rehearsal.direct_ns, "%llu ns", rehearsal.move_ns);
	plan.shares_log = true;
	CHECK(!rehearse(&measure, &plan, &fast, &rehearsal, &failure), "%s", failure.text);
	CHECK_EQ(rehearsal.move_ns, rehearsal.direct_ns);
	plan.long_ns = SECOND;
	CHECK(!rehearse(&measure, &plan, &fast, &rehearsal, &failure), "%s", failure.text);
	CHECK(rehearsal.move_ns > 2 * rehearsal.direct_ns, "without pauses: %llu ns",
	      rehearsal.move_ns);
	measure_release(&measure);
}

/* A rehearsal of writes that take 1 s each if they go direct. */
static struct rehearsal play(const struct rehearsal_plan *like, u64 write_limit, u64 pause_ns)
{
	const struct result slow = { .done = true, .steady = true, .bandwidth = 4096,
				     .pause_ns = pause_ns };
	struct rehearsal_plan plan = *like;
	struct rehearsal rehearsal;
	struct failure failure;
	int code;

	start_late(&plan);
	measure.deadline = 0;
	measure.write_limit = write_limit;
	plan.visit_pieces = like->visit_pieces;
	plan.pause_ns = like->pause_ns;
	plan.most_bytes = like->most_bytes;
	code = rehearse(&measure, &plan, &slow, &rehearsal, &failure);
	CHECK(!code || code == -EDQUOT, "%s", failure.text);
	measure_release(&measure);
	return rehearsal;
}

/*
 * Found on drives of a hundred log blocks, which took the rehearsal's homes into those that were
 * still free: a gain of 54 was promised where it is 16.
 */
TEST(each_visit_opens_a_block)
{
	const struct rehearsal_plan many = { .visit_pieces = 500 }, few = { .visit_pieces = 20000 };

	CHECK_EQ(play(&many, 0, 0).move_ns, 100000 + SECOND / 500);
	CHECK_EQ(play(&few, 0, 0).move_ns, 100000 + 500000);
}

/* Reads were few, and had met more of another load's pauses than the random writes. */
TEST(pauses_are_those_of_both)
{
	const struct rehearsal_plan plan = { .pause_ns = 30000 };

	CHECK_EQ(play(&plan, 0, 20000).direct_ns, SECOND - 20000);
	CHECK_EQ(play(&plan, 0, 40000).direct_ns, SECOND - 30000);
}

/* A drive that left no bytes for a fifth round got no verdict. */
TEST(limit_of_bytes_leaves_the_rounds_before)
{
	const struct rehearsal_plan plan = { .most_bytes = 4 << 20 };
	const struct rehearsal whole = play(&plan, 0, 0);

	CHECK(whole.done && whole.written < 8 << 20, "%llu bytes", whole.written);
	CHECK(play(&plan, whole.written - 4096, 0).done, "three rounds and a part of one");
	CHECK(!play(&plan, whole.written / 2, 0).done, "half of the rounds say too little");
}

/*
 * One append in hundreds opens a clustered block.  In a rehearsal it is one of seven, or none: the
 * log looked five times as dear as it is.
 */
TEST(log_opens_each_block_once)
{
	const struct rehearsal_plan plan = { .visit_pieces = 20000 };
	const u64 append = 512000 / 127, opened = SECOND / (20000 * 32);

	open_every = 7;
	CHECK_EQ(play(&plan, 0, 0).log_ns, append + opened);
	open_every = 1;
	CHECK(play(&plan, 0, 0).log_ns > append + OPEN_NS / 200, "a drive that opens one for each");
	open_every = 0;
}
