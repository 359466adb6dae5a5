// SPDX-License-Identifier: GPL-2.0-only
/* The model against the equations of RE section 3.5 in floating point. */
#include "harness.h"
#include "judge/model.h"

const char test_suite[] = "probe-model";

#define MB	1000000ULL

static double seconds(double bandwidth)
{
	return 4096 / bandwidth;
}

TEST(random_against_floating_point)
{
	u32 round;

	for (round = 0; round < 20000; round++) {
		struct bandwidths b = {
			.sequential_write = 50000 + test_below(500 * MB),
			.random_read = 50000 + test_below(500 * MB),
			.random_write = 50000 + test_below(500 * MB),
			.ordered_write = 50000 + test_below(500 * MB),
		};
		u32 alpha = test_below(101);
		struct cost cost;
		double direct = seconds(b.random_write);
		double total = seconds(b.sequential_write) + (1 - alpha / 100.0) *
			(seconds(b.random_read) + seconds(b.ordered_write));

		model_evaluate(&b, alpha, &cost);
		CHECK(cost.direct_ns - direct * 1e9 < 1 && direct * 1e9 - cost.direct_ns < 1,
		      "direct %llu", (unsigned long long)cost.direct_ns);
		CHECK(cost.log_ns + cost.move_ns - total * 1e9 < 4 &&
		      total * 1e9 - (cost.log_ns + cost.move_ns) < 4,
		      "log + move %llu", (unsigned long long)(cost.log_ns + cost.move_ns));
		if (direct > total * 1.001)
			CHECK(cost.worth && cost.gain_percent >= 100, "%u", cost.gain_percent);
		if (direct < total * 0.999)
			CHECK(!cost.worth && cost.gain_percent <= 100, "%u", cost.gain_percent);
	}
}

/* RE Table 2 and Fig. 2: Samsung MCCOE64G5MPP, ordered writes 12x the random ones. */
TEST(samsung_is_worth_it)
{
	struct bandwidths b = {
		.sequential_write = 85 * MB, .random_read = 16300000,
		.random_write = 421000, .ordered_write = 12 * 421000,
	};
	struct cost cost;

	model_evaluate(&b, 0, &cost);
	CHECK(cost.worth, "not worth it");
	CHECK(cost.gain_percent > 800 && cost.gain_percent < 1000, "%u", cost.gain_percent);
}

TEST(fast_random_writes_are_left_alone)
{
	struct bandwidths b = {
		.sequential_write = 80 * MB, .random_read = 20 * MB,
		.random_write = 40 * MB, .ordered_write = 45 * MB,
	};
	struct cost cost;

	model_evaluate(&b, 0, &cost);
	CHECK(!cost.worth, "worth it at %u %%", cost.gain_percent);
	model_evaluate(&b, 100, &cost);
	CHECK(cost.worth, "with all blocks overwritten before the move only the log is paid");
	CHECK_EQ(cost.move_ns, 0);
}

TEST(extremes_do_not_overflow)
{
	struct bandwidths b = {
		.sequential_write = ~0ULL, .random_read = ~0ULL,
		.random_write = 1, .ordered_write = ~0ULL,
	};
	struct cost cost;

	model_evaluate(&b, 50, &cost);
	CHECK_EQ(cost.direct_ns, 4096ULL * 1000000000);
	CHECK_EQ(cost.gain_percent, ~0U);
	CHECK(cost.worth, "free against 4096 s");
	b = (struct bandwidths){ 1, 1, 1, 1 };
	model_evaluate(&b, 0, &cost);
	CHECK(!cost.worth && cost.gain_percent == 33, "%u", cost.gain_percent);
}
