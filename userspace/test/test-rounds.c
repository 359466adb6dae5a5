// SPDX-License-Identifier: GPL-2.0-only
/* When a measurement ends, and what it is. */
#include "harness.h"
#include "rounds.h"

const char test_suite[] = "probe-rounds";

/* A round of ten 4 KiB transfers that took @ms. */
static struct round ten(u64 ms)
{
	return (struct round){ .bytes = 40960, .ops = 10, .ns = ms * 1000000 };
}

TEST(start_up_does_not_count)
{
	const struct round rounds[] = { ten(1), ten(100), ten(100), ten(100) };
	u64 samples[40];
	struct result result;
	int i;

	for (i = 0; i < 40; i++)
		samples[i] = i < 10 ? 7 : 10000 + i;
	CHECK(rounds_want_more(rounds, 3), "three rounds are too few");
	CHECK(!rounds_want_more(rounds, 4), "the last three agree");
	rounds_result(rounds, 4, samples, &result);
	CHECK(result.done && result.steady, "complete");
	CHECK_EQ(result.bandwidth, 409600);
	CHECK_EQ(result.ops, 30);
	CHECK_EQ(result.median_ns, 10025);
	CHECK_EQ(result.worst_ns, 10039);
	CHECK_EQ(result.spread_percent, 0);
	CHECK_EQ(result.total_bytes, 4 * 40960);
}

/* A buffer that hides the first rounds: go on until it is full. */
TEST(goes_on_until_steady)
{
	const struct round rounds[] = {
		ten(1), ten(1), ten(2), ten(50), ten(99), ten(100), ten(105),
	};

	CHECK(rounds_want_more(rounds, 4), "still changing");
	CHECK(rounds_want_more(rounds, 6), "one of three is far off");
	CHECK(!rounds_want_more(rounds, 7), "steady now");
}

TEST(gives_up_unsteady)
{
	struct round rounds[ROUNDS_MAX];
	u64 samples[10 * ROUNDS_MAX] = { 0 };
	struct result result;
	unsigned int i;

	for (i = 0; i < ROUNDS_MAX; i++)
		rounds[i] = ten(i % 2 ? 10 : 100);
	CHECK(rounds_want_more(rounds, ROUNDS_MAX - 1), "may go on");
	CHECK(!rounds_want_more(rounds, ROUNDS_MAX), "must end");
	rounds_result(rounds, ROUNDS_MAX, samples, &result);
	CHECK(result.done && !result.steady, "unsteady");
	CHECK(result.spread_percent > ROUNDS_SPREAD, "%u", result.spread_percent);
}

/* Bandwidth is bytes over time, not a mean of bandwidths: the slow round weighs more. */
TEST(bandwidth_is_bytes_over_time)
{
	const struct round rounds[] = { ten(9), ten(95), ten(100), ten(105) };
	u64 samples[40] = { 0 };
	struct result result;

	rounds_result(rounds, 4, samples, &result);
	CHECK_EQ(result.bandwidth, 409600);
	CHECK_EQ(result.ns, 300000000);
}

TEST(no_time_no_division)
{
	const struct round rounds[] = { { 0 }, { 0 }, { 0 }, { 0 } };
	u64 samples[1];
	struct result result;

	rounds_result(rounds, 4, samples, &result);
	CHECK(!result.done && !result.steady, "nothing was measured");
	CHECK_EQ(result.bandwidth, 0);
}

/* Three of ten find their block open in a tenth of the device: all over it, three of a hundred. */
TEST(open_blocks_are_rarer_elsewhere)
{
	u64 ns[] = { 100, 10, 100, 10, 100, 100, 100, 10, 100, 100 };

	CHECK_EQ(rounds_elsewhere(ns, 10, 10), (3 * 10 + 97 * 100) * 10 / (3 * 10 + 7 * 100));
	CHECK_EQ(rounds_elsewhere(ns, 10, 100), 100);
}

/* Pauses are not blocks that had to be closed. */
TEST(few_long_times_are_pauses)
{
	u64 pause[] = { 10, 10, 10, 10, 10, 10, 10, 10, 10, 1000 };
	u64 alike[] = { 10, 12, 30, 11, 25, 18, 30, 22, 19, 35 };

	CHECK_EQ(rounds_elsewhere(pause, 10, 10), 100);
	CHECK_EQ(rounds_elsewhere(alike, 10, 10), 100);
	CHECK_EQ(rounds_elsewhere(alike, 0, 10), 100);
}
