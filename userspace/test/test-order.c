// SPDX-License-Identifier: GPL-2.0-only
/* From times of reads beside writers in two orders to a decision. */
#include <string.h>
#include "harness.h"
#include "judge/order.h"

const char test_suite[] = "probe-order";

#define MS		1000000.0
#define READ_NS		((u64)MS / 10)
#define WRITES		64U	/* of a turn */

static double waits[2][600];

/*
 * Turns in which writes of @write_ns and one read each @writes_per_read were done; reads wait for
 * @wait_ns.
 */
static struct order_times times_of(int way, unsigned int turns, double write_ns,
				   unsigned int writes_per_read, double wait_ns)
{
	struct order_times times = { .waits = waits[way] };
	unsigned int i;

	for (i = 0; i < turns; i++)
		times.turn_ns[i] = WRITES * write_ns;
	times.writes = turns * WRITES;
	times.reads = times.writes / writes_per_read;
	times.nr_waits = times.reads;
	for (i = 0; i < times.nr_waits; i++)
		waits[way][i] = wait_ns;
	times.ns = times.writes * write_ns + times.reads * READ_NS;
	return times;
}

/* The drive collects garbage in that turn. */
static void pause_in(struct order_times *times, unsigned int turn, double ns)
{
	times->turn_ns[turn] += ns;
	times->ns += ns;
}

static struct order_judgement judge(const struct order_times *before,
				    const struct order_times *after, unsigned int turns)
{
	struct order_judgement judgement;

	judge_order(before, after, turns, READ_NS, &judgement);
	return judgement;
}

/* More of it met the new order, by chance: a third of all its time. */
TEST(garbage_collection_is_no_loss)
{
	struct order_times before = times_of(0, 8, 2 * MS, 16, 32 * MS);
	struct order_times after = times_of(1, 8, 2 * MS, 3, 7 * MS);
	struct order_judgement judgement;

	pause_in(&before, 2, 100 * MS);
	pause_in(&before, 6, 100 * MS);
	pause_in(&after, 3, 250 * MS);
	pause_in(&after, 4, 250 * MS);
	judgement = judge(&before, &after, 16);
	CHECK(judgement.enough, "not enough");
	CHECK(judgement.speed > 0.97 && judgement.speed < 1, "%.3f", judgement.speed);
	CHECK(judgement.pays, "it does not pay");
}

TEST(what_each_turn_shows_is_a_loss)
{
	struct order_times before = times_of(0, 8, 2 * MS, 16, 32 * MS);
	struct order_times after = times_of(1, 8, 2.4 * MS, 3, 7 * MS);
	struct order_judgement judgement = judge(&before, &after, 16);

	CHECK(judgement.speed > 0.81 && judgement.speed < 0.84, "%.3f", judgement.speed);
	CHECK(!judgement.pays, "it pays");
	/* Writes that seem to gain do not make up for what reads take. */
	after = times_of(1, 8, 1.4 * MS, 1, 7 * MS);
	judgement = judge(&before, &after, 16);
	CHECK(judgement.speed > 0.93 && judgement.speed < 0.95, "%.3f", judgement.speed);
	CHECK(!judgement.pays, "it pays");
}

/* One cycle: a loss may be one, a gain is none yet. */
TEST(with_few_turns_the_worse_counts)
{
	struct order_times before = times_of(0, 2, 100 * MS, 16, 1600 * MS);
	struct order_times after = times_of(1, 2, 120 * MS, 3, 300 * MS);
	struct order_judgement judgement = judge(&before, &after, 4);

	CHECK(judgement.enough, "not enough");
	CHECK(judgement.speed < 0.84, "%.3f", judgement.speed);
	CHECK(!judgement.pays && !judgement.clear, "decided at once");
	after = times_of(1, 2, 80 * MS, 3, 300 * MS);
	judgement = judge(&before, &after, 4);
	CHECK(judgement.speed > 0.99 && judgement.speed < 1, "%.3f", judgement.speed);
	CHECK(judgement.pays && judgement.clear, "not seen");
}

/* Of a hundred waits the longest is longer than of eight. */
TEST(few_reads_before)
{
	struct order_times before = times_of(0, 2, 100 * MS, 16, 1600 * MS);
	struct order_times after = times_of(1, 2, 100 * MS, 2, 300 * MS);
	unsigned int i;

	CHECK_EQ(before.nr_waits, 8);
	after.waits[17] = 1200 * MS;
	after.waits[42] = 1200 * MS;
	CHECK(judge(&before, &after, 4).pays, "it does not pay");
	for (i = 0; i < 10; i++)
		after.waits[2 * i] = 1200 * MS;
	CHECK(!judge(&before, &after, 4).pays, "it pays");
}

TEST(waits_that_are_a_little_shorter)
{
	struct order_times before = times_of(0, 8, 10 * MS, 16, 160 * MS);
	struct order_times after = times_of(1, 8, 10 * MS, 3, 90 * MS);
	struct order_judgement judgement = judge(&before, &after, 16);

	CHECK(judgement.speed > 0.99, "%.3f", judgement.speed);
	CHECK(!judgement.pays && !judgement.clear, "decided");
	after = times_of(1, 8, 10 * MS, 3, 75 * MS);
	judgement = judge(&before, &after, 16);
	CHECK(judgement.pays && !judgement.clear, "not seen, or taken for clear");
}

TEST(too_little)
{
	struct order_times before = times_of(0, 2, 100 * MS, 16, 1600 * MS);
	struct order_times after = times_of(1, 2, 100 * MS, 3, 300 * MS), none;

	CHECK(!judge(&before, &after, 3).enough, "no cycle is enough");
	none = before;
	none.nr_waits = 0;
	CHECK(!judge(&none, &after, 4).enough, "no read is enough");
	none = after;
	none.nr_waits = 3;
	CHECK(!judge(&before, &none, 4).enough, "three reads are enough");
}
