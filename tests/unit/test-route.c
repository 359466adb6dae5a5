// SPDX-License-Identifier: GPL-2.0-only
/* ressd-route against devices of known costs: the way it takes, and what its trials cost. */
#include "routebox.h"

TEST_SUITE("route");

/* How it is used. */
struct host {
	u32 depth;			/* writes in flight, where the log does not hide them */
	bool flushes;			/* one after each write */
	u32 in_flight;
	u64 now;
};

struct outcome {
	u32 direct, logged;
	u64 direct_ns;
};

static void go_direct(struct ressd_route *route, const struct device *device, struct host *host,
		      struct outcome *outcome)
{
	u64 ns = drawn(device, device->direct);

	if (device->burst && !test_below(device->burst))
		ns *= 1000;
	if (ressd_route_times_direct(route))
		ressd_route_direct_done(route, ns, 1);
	host->in_flight = min(host->in_flight + 1, host->depth - 1);
	host->now += ns;
	outcome->direct++;
	outcome->direct_ns += ns;
}

/* @blocks small writes; what is logged comes home at once when asked for, or else in between. */
static struct outcome use(struct ressd_route *route, const struct device *device,
			  struct host *host, u32 blocks)
{
	struct outcome outcome = { };
	u32 at_home = 0, i;

	for (i = 0; i < blocks; i++) {
		if (host->flushes)
			ressd_route_flush(route);
		if (!ressd_route_small(route, 1, host->in_flight, host->now)) {
			go_direct(route, device, host, &outcome);
			continue;
		}
		host->in_flight = 0;
		host->now += device->log + device->move;
		while (ressd_route_wants_move(route)) {
			bring_home(route, device, outcome.logged - at_home);
			at_home = outcome.logged;
			ressd_route_move_ended(route, true);
		}
		ressd_route_log_done(route, drawn(device, device->log), 1);
		outcome.logged++;
		if (outcome.logged - at_home > 8192) {
			bring_home(route, device, 4096);
			at_home += 4096;
		}
	}
	return outcome;
}

/* One write at a time, no flushes. */
static struct outcome load(struct ressd_route *route, const struct device *device, u32 blocks)
{
	struct host host = { .depth = 1 };

	return use(route, device, &host, blocks);
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

		ressd_route_init(&route, 0);
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

	ressd_route_init(&route, 0);
	outcome = load(&route, &page, 4000000);
	CHECK(outcome.logged < 4000, "%u logged", outcome.logged);
	ressd_route_init(&route, 0);
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

		ressd_route_init(&route, 0);
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

	ressd_route_init(&route, 0);
	load(&route, &device, 3000);
	before = log_wins(&route);
	for (i = 0; i < 1000; i++) {
		load(&route, &device, 2000);
		changes += log_wins(&route) != before;
		before = log_wins(&route);
	}
	CHECK(changes <= 1, "%u changes", changes);
}

TEST(follows_a_change)
{
	struct device device = { .direct = 100, .log = 20, .move = 150 };
	struct ressd_route route;
	struct outcome outcome;

	ressd_route_init(&route, 0);
	load(&route, &device, 20000);
	CHECK(!log_wins(&route), "the log wins");
	device.direct = 5000;
	load(&route, &device, 240000);
	outcome = load(&route, &device, 30000);
	CHECK(outcome.logged > 28000, "only %u logged", outcome.logged);
	device.direct = 100;
	load(&route, &device, 480000);
	outcome = load(&route, &device, 30000);
	CHECK(outcome.logged < 400, "%u logged", outcome.logged);
}

/* Nobody stalls until the next trial is due: the direct way in use is watched. */
TEST(dear_direct_way_is_left)
{
	struct device device = { .direct = 500000, .log = 60000, .move = 600000, .noise = 10 };
	struct host host = { .depth = 1 };
	struct ressd_route route;
	struct outcome outcome;

	ressd_route_init(&route, 0);
	use(&route, &device, &host, 20000);
	CHECK(!log_wins(&route), "the log wins");
	device.direct = 10000000;
	outcome = use(&route, &device, &host, 30000);
	CHECK(log_wins(&route), "the log does not win");
	CHECK(outcome.direct < 2000, "%u direct", outcome.direct);
}

/*
 * Nor does a log that has become costly wait until then; but a few writes after a decision are too
 * early.
 */
TEST(dear_log_is_left_soon)
{
	struct device device = { .direct = 9700, .log = 50, .move = 800 };
	struct ressd_route route;
	struct outcome outcome;
	u64 interval;
	u32 i;

	ressd_route_init(&route, 0);
	load(&route, &device, 3000);
	CHECK(log_wins(&route), "the log does not win");
	interval = ressd_route_case(&route)->interval;
	for (i = 0; i < RESSD_ROUTE_RECENT * RESSD_ROUTE_WINDOW; i++)
		ressd_route_log_done(&route, 20000, 1);
	device.log = 20000;
	CHECK(route.costly, "the log is not costly");
	CHECK(ressd_route_small(&route, 1, 0, 0), "the direct way is tried at once");
	outcome = load(&route, &device, interval / 2);
	CHECK(outcome.direct > 0, "the direct way is not tried");
	CHECK(!log_wins(&route), "the log wins");
}

/* Only a write that is alone shows how many come while it is in flight. */
TEST(one_of_many_is_no_peek)
{
	const struct device device = { .direct = 9700, .log = 50, .move = 800 };
	const u64 late = 1ULL << 60;
	struct host host = { .depth = 4 };
	struct ressd_route route;

	ressd_route_init(&route, 0);
	use(&route, &device, &host, 3000);
	CHECK(ressd_route_small(&route, 1, 0, 0), "goes direct too early");
	CHECK(ressd_route_small(&route, 1, 3, late), "goes direct");
	CHECK(!ressd_route_small(&route, 1, 0, late), "goes to the log");
}

/* A device that is always as costly is not tried again and again. */
TEST(watching_makes_no_trials)
{
	const struct device device = { .direct = 900000, .log = 60000, .move = 1000000,
				       .noise = 40, .burst = 2000 };
	struct host host = { .depth = 1 };
	struct ressd_route route;
	struct outcome outcome;

	ressd_route_init(&route, 0);
	outcome = use(&route, &device, &host, 120000);
	CHECK(outcome.logged < 400, "%u logged", outcome.logged);
}

/* Flushes have a time but no blocks. */
TEST(flushes_count_as_direct)
{
	struct ressd_route route;
	u32 i;

	ressd_route_init(&route, 0);
	for (i = 0; i < 2000; i++) {
		ressd_route_small(&route, 1, 0, 0);
		ressd_route_direct_done(&route, 100, 1);
		ressd_route_direct_done(&route, 900, 0);
	}
	CHECK_EQ(ressd_route_ns(&ressd_route_case(&route)->direct), 1000);
}

/* Small writes, each ten times as cheap in the log, until a trial is to be brought home. */
static void write_until_trial_moves(struct ressd_route *route)
{
	u32 i;

	ressd_route_init(route, 0);
	for (i = 0; i < 5000 && !ressd_route_wants_move(route); i++) {
		if (ressd_route_small(route, 1, 0, 0))
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
	CHECK(log_wins(&route), "the log does not win");
}

/* Found by commits on a log full of random writes, which waited for 6 s. */
TEST(a_trial_brings_home_no_more_than_tells)
{
	const u32 enough = RESSD_ROUTE_RECENT * RESSD_ROUTE_WINDOW;
	struct ressd_route route;
	u32 i;

	write_until_trial_moves(&route);
	for (i = 0; i < enough; i++) {
		CHECK(ressd_route_wants_move(&route), "enough are %u", i);
		ressd_route_move_done(&route, 10, 1);
	}
	CHECK(!ressd_route_wants_move(&route), "not enough are %u", i);
	CHECK(log_wins(&route), "the log does not win");
	ressd_route_move_ended(&route, false);
	CHECK(log_wins(&route), "the trial is void");
}

/* A trial that could not be brought home tells nothing; the direct way is the safe one. */
TEST(incomplete_trial_is_void)
{
	struct ressd_route route;

	write_until_trial_moves(&route);
	ressd_route_move_ended(&route, false);
	CHECK(!ressd_route_wants_move(&route), "the trial goes on");
	CHECK(!ressd_route_small(&route, 1, 0, 0), "the log is taken");
	ressd_route_move_ended(&route, true);	/* nobody has asked */
	CHECK(!log_wins(&route) && !ressd_route_takes_log(&route), "the log is taken");
}

/* Many writes at once come in the middle of a trial: it tells of the situation it began in. */
TEST(trial_stays_in_its_situation)
{
	struct ressd_route route;
	u32 i, now;

	write_until_trial_moves(&route);
	now = route.now;
	for (i = 0; i < 100; i++)
		ressd_route_small(&route, 1, 20, 0);
	CHECK(ressd_route_wants_move(&route), "the trial has ended");
	CHECK_EQ(route.now, now);
	ressd_route_move_ended(&route, true);
	ressd_route_small(&route, 1, 20, 0);
	CHECK(route.now != now, "many at once are one at a time");
	while (route.phase != RESSD_ROUTE_TRY_LOG) {
		ressd_route_small(&route, 1, 20, 0);
		ressd_route_direct_done(&route, 1000, 1);
	}
	now = route.now;
	for (i = 0; i < 200; i++) {
		ressd_route_flush(&route);
		ressd_route_small(&route, 1, 0, 0);
	}
	CHECK(route.flushes, "no flushes are seen");
	CHECK_EQ(route.phase, RESSD_ROUTE_TRY_LOG);
	CHECK_EQ(route.now, now);
}

/*
 * Found by tools/bench.sh on a drive that takes a millisecond for a write, and for 32 at once: the
 * decision of one write at a time was kept with 32, where it cost 3.4 times as much.
 */
TEST(each_depth_has_its_decision)
{
	const struct device one = { .direct = 1000, .log = 60, .move = 120 };
	const struct device many = { .direct = 50, .log = 60, .move = 120 };
	struct host host = { };
	struct ressd_route route;
	struct outcome outcome;
	u32 round;

	ressd_route_init(&route, 0);
	for (round = 0; round < 4; round++) {
		host.depth = 1;
		outcome = use(&route, &one, &host, 16384);
		CHECK(outcome.logged > (round ? 16000 : 14000), "%u: %u logged", round,
		      outcome.logged);
		host.depth = 32;
		outcome = use(&route, &many, &host, 16384);
		/* At first one write goes direct from time to time, and is worth 100 times that. */
		CHECK(outcome.logged < 700, "%u: %u logged", round, outcome.logged);
	}
}

/* One write at a time until the log is in use, a pause, then many at once, which it cannot help. */
static struct outcome many_after_a_pause(struct ressd_route *route, struct host *host)
{
	const struct device one = { .direct = 1000, .log = 60, .move = 120 };
	const struct device many = { .direct = 50, .log = 60, .move = 120 };

	host->depth = 1;
	use(route, &one, host, 16384);
	CHECK(log_wins(route), "the log does not win");
	host->now += 100000000;
	host->depth = 32;
	return use(route, &many, host, 16384);
}

/* A pause is worth a look: none of many writes is logged then, where the direct way is decided. */
TEST(depth_is_seen_at_once_after_a_pause)
{
	const struct device many = { .direct = 50, .log = 60, .move = 120 };
	struct host host = { .depth = 32 };
	struct ressd_route route;

	ressd_route_init(&route, 0);
	use(&route, &many, &host, 16384);
	CHECK_EQ(many_after_a_pause(&route, &host).logged, 0);
	CHECK_EQ(ressd_route_depth(&route), RESSD_ROUTE_MANY);
}

/* What the log costs elsewhere says nothing here: it is tried, and as it is lost, shortly. */
TEST(each_situation_has_its_trial)
{
	struct host host = { };
	struct ressd_route route;
	struct outcome outcome;

	ressd_route_init(&route, 0);
	outcome = many_after_a_pause(&route, &host);
	CHECK(outcome.logged > 0, "the log is not tried");
	CHECK(outcome.logged <= 32, "%u logged", outcome.logged);
	CHECK_EQ(ressd_route_depth(&route), RESSD_ROUTE_MANY);
}

/* To look whether there are more writes costs a hundredth of the time. */
TEST(peeks_are_rare)
{
	const struct device device = { .direct = 200000, .log = 300, .move = 1500 };
	struct host host = { .depth = 1 };
	struct ressd_route route;
	struct outcome outcome;
	u64 start;

	ressd_route_init(&route, 0);
	use(&route, &device, &host, 16384);
	CHECK(log_wins(&route), "the log does not win");
	start = host.now;
	outcome = use(&route, &device, &host, 100000);
	CHECK(outcome.direct > 0, "it never looks");
	CHECK(outcome.direct_ns * 98 < host.now - start, "%u direct", outcome.direct);
}

/* A flush after each write: the log's header costs a write of its own. */
TEST(flushes_have_their_decision)
{
	const struct device plain = { .direct = 1000, .log = 60, .move = 120 };
	const struct device flushed = { .direct = 1000, .log = 980, .move = 120 };
	struct host host = { .depth = 1 };
	struct ressd_route route;
	struct outcome outcome;
	u32 round;

	ressd_route_init(&route, 0);
	for (round = 0; round < 4; round++) {
		host.flushes = false;
		outcome = use(&route, &plain, &host, 16384);
		CHECK(outcome.logged > (round ? 16000 : 14000), "%u: %u logged", round,
		      outcome.logged);
		host.flushes = true;
		outcome = use(&route, &flushed, &host, 4096);
		/* A few before the flushes are noticed, then those of a trial that is lost. */
		CHECK(outcome.logged < 50, "%u: %u logged", round, outcome.logged);
	}
}

/* Where each direct write costs a hundred logged ones, a trial must not take a thousand. */
TEST(dear_trials_are_short)
{
	const struct device device = { .direct = 222000000, .log = 300000, .move = 1600000 };
	struct host host = { .depth = 1 };
	struct ressd_route route;
	struct outcome outcome;

	ressd_route_init(&route, 0);
	outcome = use(&route, &device, &host, 10000);
	CHECK(log_wins(&route), "the log does not win");
	CHECK(outcome.direct < 80, "%u direct", outcome.direct);
	host.depth = 8;
	outcome = use(&route, &device, &host, 400000);
	CHECK(log_wins(&route), "the log does not win with many writes");
	CHECK_EQ(ressd_route_depth(&route), RESSD_ROUTE_MANY);
	CHECK(outcome.direct < 300, "%u direct", outcome.direct);
}

/* The log in use is compared with what the direct way cost: none waits for the next trial. */
TEST(dear_log_is_left)
{
	struct device device = { .direct = 1000, .log = 60, .move = 120 };
	struct ressd_route route;
	struct outcome outcome;

	ressd_route_init(&route, 0);
	load(&route, &device, 16384);
	CHECK(log_wins(&route), "the log does not win");
	device.move = 1200;
	outcome = load(&route, &device, 40000);
	CHECK(!log_wins(&route), "the log still wins");
	CHECK(outcome.logged < 16384, "%u logged", outcome.logged);
}

/* It is kept where it saves 5 percent, but not taken for that. */
TEST(log_is_kept_for_less_than_it_is_taken_for)
{
	const struct device cheap = { .direct = 1000, .log = 100, .move = 400 };
	const struct device close = { .direct = 1000, .log = 100, .move = 850 };
	struct ressd_route route;

	ressd_route_init(&route, 0);
	load(&route, &close, 3000000);
	CHECK(!log_wins(&route), "it is taken for 5 percent");
	ressd_route_init(&route, 0);
	load(&route, &cheap, 3000);
	CHECK(log_wins(&route), "it is not taken");
	load(&route, &close, 3000000);
	CHECK(log_wins(&route), "it is left though it saves 5 percent");
}
