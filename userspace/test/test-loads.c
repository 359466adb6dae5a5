// SPDX-License-Identifier: GPL-2.0-only
/* What loads of applications are said to gain. */
#include "harness.h"
#include "loads.h"

const char test_suite[] = "probe-loads";

/* A drive of a thousand times: what is rare in a load does not count much. */
static const struct load_costs costs = {
	.direct_ns = 10000000, .log_ns = 100000, .move_ns = 900000, .in_order_ns = 50000,
	.flush_ns = 1000000, .commit_ns = 1050000, .blocks = 1 << 20, .logged = 100000,
	.overwritten_percent = 10,
};

TEST(commits_pay_for_a_flush_on_both_ways)
{
	CHECK_EQ(load_gain(LOAD_COMMITS, &costs), 11000000 * 100 / (1150000 + 810000));
}

/* A flow opens no clustered block, so a log has only its header to lose. */
TEST(flows_gain_nothing)
{
	CHECK_EQ(load_gain(LOAD_FLOWS, &costs), 1050000 * 100 / (1150000 + 50000));
}

TEST(zipf_gains_by_what_is_overwritten)
{
	const u32 overwritten = load_zipf_overwritten(costs.blocks, costs.logged);

	CHECK(overwritten >= 45 && overwritten <= 75, "%u %%", overwritten);
	CHECK(load_gain(LOAD_ZIPF, &costs) > 10000000 * 100 / (100000 + 900000), "more than even");
	CHECK(load_zipf_overwritten(costs.blocks, 1000) < overwritten, "a small log holds less");
	CHECK(load_zipf_overwritten(1000, costs.logged) > 95, "a hundred writes for each block");
	CHECK_EQ(load_zipf_overwritten(1, costs.logged), 0);
	CHECK_EQ(load_zipf_overwritten(costs.blocks, 0), 0);
}

TEST(nothing_measured_is_no_gain)
{
	const struct load_costs none = { 0 };

	CHECK_EQ(load_gain(LOAD_COMMITS, &none), 0);
	CHECK_EQ(load_gain(LOAD_ZIPF, &none), 0);
	CHECK_EQ(load_gain(LOAD_FLOWS, &none), 0);
}
