// SPDX-License-Identifier: GPL-2.0-only
/* ressd-route against devices of known costs: the way it takes, and what its trials cost. */
#include "harness.h"
#include "ressd-route.h"

const char test_suite[] = "route";

/* What a block costs, in ns. */
struct device {
	u32 direct, log, move;
	u32 noise;			/* percent that each cost is drawn up or down by */
	u32 burst;			/* one in so many direct blocks costs 1000 times more */
};

struct outcome {
	u32 direct, logged;
};

static u64 drawn(const struct device *device, u32 cost)
{
	if (!device->noise)
		return cost;
	return cost - cost * device->noise / 100 + test_below(2 * cost * device->noise / 100 + 1);
}

static void bring_home(struct ressd_route *route, const struct device *device, u32 blocks)
{
	for (; blocks; blocks--)
		ressd_route_move_done(route, drawn(device, device->move), 1);
}

/* @blocks small writes; what is logged comes home at once when asked for, or else in between. */
static struct outcome load(struct ressd_route *route, const struct device *device, u32 blocks)
{
	struct outcome outcome = { };
	u32 at_home = 0, i;

	for (i = 0; i < blocks; i++) {
		bool burst = device->burst && !test_below(device->burst);

		if (!ressd_route_small(route, 1)) {
			if (ressd_route_times_direct(route))
				ressd_route_direct_done(route, drawn(device, device->direct) *
							(burst ? 1000 : 1), 1);
			outcome.direct++;
			continue;
		}
		while (!ressd_route_may_log(route)) {
			CHECK(ressd_route_wants_move(route), "waits for nothing");
			bring_home(route, device, outcome.logged - at_home);
			at_home = outcome.logged;
			ressd_route_move_ended(route, true);
		}
		ressd_route_log_done(route, drawn(device, device->log), 1);
		outcome.logged++;
		if (!ressd_route_wants_move(route) && outcome.logged - at_home > 8192) {
			bring_home(route, device, 4096);
			at_home += 4096;
		}
	}
	return outcome;
}

TEST(takes_the_cheaper_way)
{
	u32 round;

	for (round = 0; round < 300; round++) {
		struct device device = {
			.direct = 1000 + test_below(1000000), .log = 1000 + test_below(300000),
			.move = 1000 + test_below(1000000), .noise = test_below(20),
		};
		u64 through = (u64)device.log + device.move;
		struct ressd_route route;
		struct outcome outcome;

		ressd_route_init(&route);
		outcome = load(&route, &device, 30000);
		if (through * 100 < device.direct * 80ULL)
			CHECK(outcome.logged > 28000, "only %u logged", outcome.logged);
		if (through > device.direct)
			CHECK(outcome.logged < 400, "%u logged", outcome.logged);
	}
}

/* However long the load: wrong ways are tried ever more rarely. */
TEST(trials_are_bounded)
{
	const struct device page = { .direct = 100, .log = 20, .move = 150 };
	const struct device hybrid = { .direct = 9700, .log = 50, .move = 800 };
	struct ressd_route route;
	struct outcome outcome;

	ressd_route_init(&route);
	outcome = load(&route, &page, 4000000);
	CHECK(outcome.logged < 4000, "%u logged", outcome.logged);
	ressd_route_init(&route);
	outcome = load(&route, &hybrid, 4000000);
	CHECK(outcome.direct < 12000, "%u direct", outcome.direct);
}

/* A device that collects garbage now and then is not taken for a slow one. */
TEST(bursts_do_not_mislead)
{
	const struct device device = {
		.direct = 100, .log = 20, .move = 150, .burst = 4000,
	};
	u32 round;

	for (round = 0; round < 100; round++) {
		struct ressd_route route;
		struct outcome outcome;

		ressd_route_init(&route);
		outcome = load(&route, &device, 20000);
		CHECK(outcome.logged < 400, "%u logged", outcome.logged);
	}
}

/* Equal costs, drawn anew each time: the answer must not flutter. */
TEST(no_oscillation)
{
	const struct device device = { .direct = 1000, .log = 100, .move = 900, .noise = 10 };
	struct ressd_route route;
	u32 changes = 0, i;
	bool before;

	ressd_route_init(&route);
	load(&route, &device, 3000);
	before = route.log_wins;
	for (i = 0; i < 1000; i++) {
		load(&route, &device, 2000);
		changes += route.log_wins != before;
		before = route.log_wins;
	}
	CHECK(changes <= 1, "%u changes", changes);
}

TEST(follows_a_change)
{
	struct device device = { .direct = 100, .log = 20, .move = 150 };
	struct ressd_route route;
	struct outcome outcome;

	ressd_route_init(&route);
	load(&route, &device, 20000);
	CHECK(!route.log_wins, "the log wins");
	device.direct = 5000;
	load(&route, &device, 240000);
	outcome = load(&route, &device, 30000);
	CHECK(outcome.logged > 28000, "only %u logged", outcome.logged);
	device.direct = 100;
	load(&route, &device, 480000);
	outcome = load(&route, &device, 30000);
	CHECK(outcome.logged < 400, "%u logged", outcome.logged);
}

/* Flushes have a time but no blocks. */
TEST(flushes_count_as_direct)
{
	struct ressd_route route;
	u32 i;

	ressd_route_init(&route);
	for (i = 0; i < 2000; i++) {
		ressd_route_small(&route, 1);
		ressd_route_direct_done(&route, 100, 1);
		ressd_route_direct_done(&route, 900, 0);
	}
	CHECK_EQ(ressd_route_ns(&route.direct), 1000);
}

/* Small writes, each ten times as cheap in the log, until a trial is to be brought home. */
static void write_until_trial_moves(struct ressd_route *route)
{
	u32 i;

	ressd_route_init(route);
	for (i = 0; i < 5000 && !ressd_route_wants_move(route); i++) {
		if (ressd_route_small(route, 1))
			ressd_route_log_done(route, 100, 1);
		else
			ressd_route_direct_done(route, 1000, 1);
	}
}

/* A trial of which hardly anything was left to move: so cheap is a logged block. */
TEST(overwritten_blocks_need_no_move)
{
	struct ressd_route route;

	write_until_trial_moves(&route);
	ressd_route_move_done(&route, 2560, 4);
	ressd_route_move_ended(&route, true);
	CHECK_EQ(ressd_route_ns(&route.move), 10);
	CHECK(route.log_wins, "the log does not win");
}

/* A trial that could not be brought home tells nothing; the direct way is the safe one. */
TEST(incomplete_trial_is_void)
{
	struct ressd_route route;

	write_until_trial_moves(&route);
	ressd_route_move_ended(&route, false);
	CHECK(!ressd_route_wants_move(&route), "the trial goes on");
	CHECK(!ressd_route_small(&route, 1), "the log is taken");
	CHECK(ressd_route_may_log(&route), "the writer waits");
}
