// SPDX-License-Identifier: GPL-2.0-only
/* What a random write costs on a drive that pauses, on made-up times. */
#include "harness.h"
#include "measure/cycles.h"

const char test_suite[] = "probe-cycles";

#define BYTES	4096U
#define MS	1000000ULL

/* Groups of 2 ms each, and behind them one of @pause_ns. */
static void add_cycle(struct cycles *cycles, unsigned int groups, u64 pause_ns)
{
	while (groups--)
		cycles_note(cycles, BYTES, 2 * MS);
	cycles_note(cycles, BYTES, pause_ns);
}

/* The median is usual, whatever the first groups met; what is learnt from does not count. */
static struct cycles learnt(void)
{
	struct cycles cycles = { 0 };
	unsigned int i;

	for (i = 0; i < USUAL_GROUPS; i++)
		cycles_note(&cycles, BYTES, i % 4 ? 2 * MS : 3000 * MS);
	return cycles;
}

TEST(usual_is_learnt_first)
{
	struct cycles cycles = learnt();

	CHECK_EQ(cycles.pauses, 0);
	CHECK_EQ(cycles.writes, 0);
	CHECK_EQ(cycles.pause_ns, 250 * MS);
	cycles_note(&cycles, BYTES, 249 * MS);
	CHECK_EQ(cycles.pauses, 0);
	cycles_note(&cycles, BYTES, 250 * MS);
	CHECK_EQ(cycles.pauses, 1);
}

/* On a slow drive a pause is so many times as long as usual. */
TEST(pauses_are_long_for_the_drive)
{
	struct cycles cycles = { 0 };
	unsigned int i;

	for (i = 0; i < USUAL_GROUPS; i++)
		cycles_note(&cycles, BYTES, 100 * MS);
	CHECK_EQ(cycles.pause_ns, 1600 * MS);
}

/* From the end of a pause to the end of another one; the start belongs to no cycle. */
TEST(whole_cycles_count)
{
	struct cycles cycles = learnt();

	add_cycle(&cycles, 7, 400 * MS);
	CHECK(!cycles.result.done, "one pause is no cycle");
	add_cycle(&cycles, 99, 1002 * MS);
	CHECK(cycles.result.done, "two are");
	CHECK_EQ(cycles.result.ops, 100 * CYCLES_GROUP);
	CHECK_EQ(cycles.result.ns, 1200 * MS);
	CHECK_EQ(cycles.result.bandwidth, 100 * CYCLES_GROUP * BYTES * 10 / 12);
	CHECK_EQ(cycles.result.worst_ns, 1002 * MS);
	CHECK_EQ(cycles.result.median_ns, 2 * MS / CYCLES_GROUP);
	CHECK_EQ(cycles.result.total_bytes, 108 * CYCLES_GROUP * BYTES);
	CHECK_EQ(cycles.result.total_ns, 1614 * MS);
}

/*
 * Log blocks differ: by the last three of sixty a drive of 7.7 ms a write looked like one of 12.2.
 * The more cycles, the more certain.
 */
TEST(all_cycles_count)
{
	struct cycles cycles = learnt();
	unsigned int i;

	add_cycle(&cycles, 99, 300 * MS);
	for (i = 0; i < 8; i++) {
		add_cycle(&cycles, 9, 282 * MS);
		add_cycle(&cycles, 9, 982 * MS);
		if (!i)
			CHECK_EQ(cycles.result.spread_percent, 100);
	}
	CHECK_EQ(cycles.result.ops, 8 * 20 * CYCLES_GROUP);
	CHECK_EQ(cycles.result.ns, 8 * 1300 * MS);
	CHECK_EQ(cycles.result.spread_percent, 50);
}
