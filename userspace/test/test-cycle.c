// SPDX-License-Identifier: GPL-2.0-only
/* What returns every so many writes: blocks of drives that map pages, on made-up times. */
#include "harness.h"
#include "judge/judge.h"
#include "noisy.h"

const char test_suite[] = "probe-cycle";

#define WRITES	1536U

/* A time of @ns give or take @noise; one in 200 is delayed by something else. */
static double noisy(double ns, double noise)
{
	return noisy_time(ns, noise, 200);
}

/* Writes of fast and slow rows in turn, @rows of each; every @period one waits for an erase. */
static void make_times(double *times, unsigned int period, unsigned int rows, double noise)
{
	const unsigned int first = test_below(period ? period : 1);
	unsigned int i;

	for (i = 0; i < WRITES; i++) {
		const double row = rows && i / rows % 2 ? 1.8e6 : 0.6e6;

		times[i] = noisy(period && i % period == first ? 2.6e6 : row, noise);
	}
}

TEST(erases_return)
{
	static const unsigned int periods[] = { 16, 80, 96, 160, 192 };
	struct cycle_judgement judgement;
	double times[WRITES];
	unsigned int i;

	for (i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		make_times(times, periods[i], 5, 0.05);
		judge_cycle(times, WRITES, 8, &judgement);
		CHECK(judgement.period == periods[i] && judgement.evidence > 3,
		      "%u instead of %u, evidence %f", judgement.period, periods[i],
		      judgement.evidence);
	}
}

/* Neither noise nor interference nor slow rows alone: none in a hundred of them. */
TEST(nothing_returns)
{
	struct cycle_judgement judgement;
	double times[WRITES];
	unsigned int i;

	for (i = 0; i < 100; i++) {
		make_times(times, 0, i % 4 * 10, 0.03 + i % 3 * 0.08);
		judge_cycle(times, WRITES, 8, &judgement);
		CHECK(judgement.evidence < 3, "every %u with evidence %f", judgement.period,
		      judgement.evidence);
	}
}

/* Five of them are too few to tell. */
TEST(seen_too_rarely)
{
	struct cycle_judgement judgement;
	double times[WRITES];

	make_times(times, 300, 0, 0.02);
	judge_cycle(times, WRITES, 8, &judgement);
	CHECK(judgement.evidence < 3, "every %u with evidence %f", judgement.period,
	      judgement.evidence);
	judge_cycle(times, 0, 8, &judgement);
	CHECK_EQ(judgement.period, 0);
}
