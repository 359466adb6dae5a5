// SPDX-License-Identifier: GPL-2.0-only
/* When a measurement ends, and what it is. */
#include "harness.h"
#include "measure/rounds.h"

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

/* Where no three agree, what all say together is known better than what one says. */
TEST(unsteady_rounds_count_together)
{
	struct round rounds[ROUNDS_MAX];
	u64 samples[10 * ROUNDS_MAX] = { 0 };
	struct result result;
	unsigned int i;

	for (i = 0; i < ROUNDS_MAX; i++)
		rounds[i] = ten(i % 2 ? 50 : 100);
	CHECK_EQ(rounds_kept(rounds, ROUNDS_MAX), ROUNDS_MAX - 1);
	rounds_result(rounds, ROUNDS_MAX, samples, &result);
	/* Six of 50 ms, and five of 100: 25 from the mean each, 4 * 25 * sqrt(11) / 800. */
	CHECK_EQ(result.bandwidth, 40960 * 11 * 10 / 8);
	CHECK(result.spread_percent > 40 && result.spread_percent < 43, "%u",
	      result.spread_percent);
	CHECK_EQ(rounds_kept(rounds, 2), 2);
}

/* One read in ten waits 9 ms longer than the others; those twice as long do not wait. */
TEST(pauses_are_told_from_spread)
{
	const struct round rounds[] = { ten(1), ten(1), ten(1), ten(1) };
	u64 samples[40];
	struct result result;
	int i;

	for (i = 0; i < 40; i++)
		samples[i] = i % 10 == 7 ? 10000000 : i % 3 ? 1000000 : 2000000;
	rounds_result(rounds, 4, samples, &result);
	CHECK_EQ(result.median_ns, 1000000);
	CHECK_EQ(result.pause_ns, 900000);
	CHECK_EQ(rounds_without_pauses(5000000, 2, result.pause_ns), 3200000);
	CHECK_EQ(rounds_without_pauses(1000000, 9, result.pause_ns), 250000);
}
