// SPDX-License-Identifier: GPL-2.0-only
/* ressd-route with a cost of the log that was measured beforehand: log_cost_us. */
#include "routebox.h"

TEST_SUITE("route-cost");

/* A log that is as full whenever a sweep begins, which brings home what was logged since. */
struct rounds {
	u32 round_blocks;		/* logged from one sweep's begin to the next one's */
	u32 round_ns;			/* of each of them, log and mover together */
	u32 logged;
	u64 now;
};

/* @blocks small writes one at a time; blocks that went direct cost @direct_ns. */
static u32 write_rounds(struct ressd_route *route, struct rounds *rounds, u32 direct_ns, u32 blocks)
{
	u32 direct = 0, i;

	for (i = 0; i < blocks; i++) {
		rounds->now += direct_ns;
		if (!ressd_route_small(route, 1, 0, rounds->now)) {
			if (ressd_route_times_direct(route))
				ressd_route_direct_done(route, direct_ns, 1);
			direct++;
			continue;
		}
		CHECK(!ressd_route_wants_move(route), "a trial is brought home");
		ressd_route_begin(route, rounds->now);
		ressd_route_log_done(route, rounds->round_ns, 1);
		ressd_route_end(route, rounds->now + rounds->round_ns);
		if (!(++rounds->logged % rounds->round_blocks)) {
			ressd_route_sweep(route, true, rounds->round_blocks);
			ressd_route_move_done(route, 1, rounds->round_blocks);
		}
	}
	return direct;
}

/*
 * The first blocks of a log are costly where a device maps pages: a trial of 32 had the direct way
 * taken on drives on which the log is twice as fast.
 */
TEST(a_known_cost_needs_no_trial)
{
	struct rounds rounds = { .round_blocks = 4096, .round_ns = 500 };
	struct ressd_route route;
	u32 direct;

	ressd_route_init(&route, 600);
	CHECK_EQ(write_rounds(&route, &rounds, 1000, 1024), 1024);
	CHECK_EQ(write_rounds(&route, &rounds, 1000, 1), 0);
	CHECK(log_wins(&route), "the log is not taken");
	direct = write_rounds(&route, &rounds, 1000, 100000);
	CHECK(direct <= 1000, "%u direct, more than peeks", direct);
	CHECK_EQ(route.through_ns, 501);
	ressd_route_init(&route, 950);
	CHECK_EQ(write_rounds(&route, &rounds, 1000, 300000), 300000);
}

/* A drive with free blocks takes direct writes faster than it will; nothing is tried meanwhile. */
TEST(a_known_cost_is_cheaper_later)
{
	struct rounds rounds = { .round_blocks = 4096, .round_ns = 500 };
	struct ressd_route route;

	ressd_route_init(&route, 600);
	CHECK_EQ(write_rounds(&route, &rounds, 100, 300000), 300000);
	CHECK(write_rounds(&route, &rounds, 1000000, 20000) < 12000, "the log is not taken");
	CHECK(log_wins(&route), "the log is not taken");
}

/* One commit at a time is another situation: what a record and its flush cost, a trial tells. */
TEST(a_known_cost_is_of_writes_without_flushes)
{
	struct ressd_route route;
	u32 i, logged = 0;

	ressd_route_init(&route, 600);
	for (i = 0; i < 30000; i++) {
		ressd_route_flush(&route);
		if (!ressd_route_small(&route, 1, 0, 0)) {
			ressd_route_direct_done(&route, 1000, 1);
			continue;
		}
		logged++;
		ressd_route_log_done(&route, 1500, 1);
	}
	CHECK(logged && logged < 400, "%u logged", logged);
	CHECK_EQ(route.through_ns, 600);
}

/*
 * Writes went to all of a drive of which a part had been measured, and stayed half as fast as
 * without the log.
 */
TEST(rounds_refute_a_known_cost)
{
	struct rounds rounds = { .round_blocks = 4096, .round_ns = 2000 };
	struct ressd_route route;
	u32 direct;

	ressd_route_init(&route, 600);
	direct = write_rounds(&route, &rounds, 1000, 100000);
	CHECK(!log_wins(&route), "the log is kept");
	/* Half a round is under way when the first sweep begins, and two are needed. */
	CHECK(direct > 100000 - 4 * 4096, "%u direct", direct);
	CHECK_EQ(route.through_ns, 2001);
	CHECK_EQ(write_rounds(&route, &rounds, 1000, 3000000), 3000000);
	/* What has been learnt holds for a load that makes direct writes costlier. */
	CHECK(write_rounds(&route, &rounds, 4000000, 30000) < 20000, "the log is not taken");
}

/* @nr blocks are logged, and the mover brings as many home at the same time; then all rests. */
static void pass_round(struct ressd_route *route, u64 at, u32 nr)
{
	ressd_route_begin(route, at);		/* the mover */
	ressd_route_begin(route, at + 2000);	/* the log */
	ressd_route_log_done(route, 2000, nr);
	ressd_route_end(route, at + 4000);
	ressd_route_move_done(route, 7000, nr);
	ressd_route_end(route, at + 7000);
}

static void take_known_log(struct ressd_route *route)
{
	u32 i;

	ressd_route_init(route, 600);
	for (i = 0; i < 1024; i++) {
		ressd_route_small(route, 1, 0, 0);
		ressd_route_direct_done(route, 1000, 1);
	}
	CHECK(ressd_route_small(route, 1, 0, 0), "goes direct");
}

/* Writes that are followed by flushes, or no longer are. */
static void many_flushes(struct ressd_route *route, bool flushes)
{
	u32 i;

	for (i = 0; i < 100; i++) {
		if (flushes)
			ressd_route_flush(route);
		if (!ressd_route_small(route, 1, 0, 0))
			ressd_route_direct_done(route, 1000, 1);
	}
}

/* The log and the mover are busy at the same time: that time counts once, and rest does not. */
TEST(a_round_counts_time_once)
{
	struct ressd_route route;

	take_known_log(&route);
	ressd_route_sweep(&route, true, 5000);
	pass_round(&route, 1000, 500);
	/* Too few were moved: the round goes on. */
	ressd_route_sweep(&route, true, 5000);
	CHECK_EQ(route.through_ns, 600);
	pass_round(&route, 500000, 1500);
	ressd_route_sweep(&route, true, 5000);
	CHECK_EQ(route.through_ns, 1 + 14000 / 2000);
	ressd_route_end(&route, 1000000);	/* begun when the route was not adaptive */
	CHECK_EQ(route.round.in_flight, 0);
	/* A drain is no round. */
	pass_round(&route, 2000000, 2000);
	ressd_route_sweep(&route, false, 5000);
	pass_round(&route, 3000000, 2000);
	ressd_route_sweep(&route, true, 0);
	CHECK_EQ(route.through_ns, 1 + 14000 / 2000);
	/* A round in which nothing was logged says nothing of a logged block. */
	ressd_route_move_done(&route, 4000000, 5000);
	ressd_route_sweep(&route, true, 5000);
	CHECK_EQ(route.through_ns, 1 + 14000 / 2000);
}

/*
 * A sweep that empties most of the log has moved more than was logged meanwhile: the log was left
 * for a cost 17 times the true one.
 */
TEST(a_round_may_leave_the_log_emptier)
{
	struct ressd_route route;

	take_known_log(&route);
	ressd_route_sweep(&route, true, 9000);
	pass_round(&route, 1000, 1000);
	ressd_route_move_done(&route, 0, 6000);
	ressd_route_sweep(&route, true, 2000);
	/* 7000 ns for 7000 moves, of which a thousand blocks cause none. */
	CHECK_EQ(route.through_ns, 1);
	ressd_route_move_done(&route, 0, 1);
	pass_round(&route, 100000, 1999);
	ressd_route_sweep(&route, true, 4000);
	CHECK_EQ(route.through_ns, 1);
	/* Two rounds raise it, to the lower one. */
	ressd_route_move_done(&route, 0, 1);
	pass_round(&route, 150000, 1999);
	ressd_route_sweep(&route, true, 6000);
	CHECK_EQ(route.through_ns, 1 + 3 * 4000 / 1999);
	/* More has died than came: nothing was to be moved for what was logged. */
	pass_round(&route, 200000, 2000);
	ressd_route_sweep(&route, true, 0);
	CHECK_EQ(route.through_ns, 1);
}

/* Commits between the begins of two sweeps, which the log takes as well: no round. */
TEST(a_round_is_of_writes_without_flushes)
{
	struct ressd_route route;

	take_known_log(&route);
	ressd_route_sweep(&route, true, 5000);
	pass_round(&route, 1000, 2000);
	many_flushes(&route, true);
	many_flushes(&route, false);
	ressd_route_sweep(&route, true, 5000);
	CHECK_EQ(route.through_ns, 600);
}

/*
 * Some hundred writes between two pauses cost a third of what they do with them: what the log was
 * taken for was forgotten, and the direct way tried again and again.
 */
TEST(the_cost_that_the_log_was_taken_for_stays)
{
	struct ressd_route route;
	u32 i, direct = 0;

	ressd_route_init(&route, 5000);
	for (i = 0; i < 60000 && !log_wins(&route); i++)
		if (!ressd_route_small(&route, 1, 0, 0))
			ressd_route_direct_done(&route, i > 30000 && !(i % 1000) ? 6000000 : 4000,
						1);
	CHECK(log_wins(&route), "the log is not taken");
	CHECK(ressd_route_ns(&ressd_route_case(&route)->direct) > 5000, "its pauses are forgotten");
	for (i = 0; i < 100000; i++) {
		direct += !ressd_route_small(&route, 1, 0, 0);
		ressd_route_log_done(&route, 100, 1);
		if (!(i % 4096))
			ressd_route_move_done(&route, 1, 4096);
	}
	CHECK(direct <= 1, "%u direct, more than a peek", direct);
}

/* A round that ends beside direct writes would be charged with what they cost. */
TEST(a_round_is_not_of_a_direct_trial)
{
	struct ressd_route route;
	u32 i;

	take_known_log(&route);
	ressd_route_sweep(&route, true, 5000);
	pass_round(&route, 1000, 2000);
	for (i = 0; i < 5000000 && route.phase == RESSD_ROUTE_LOG; i++)
		ressd_route_small(&route, 1, 0, 0);
	CHECK_EQ(route.phase, RESSD_ROUTE_TRY_DIRECT);
	ressd_route_sweep(&route, true, 5000);
	CHECK_EQ(route.through_ns, 600);
}

/* The log is taken for commits, too, in rounds of their own. */
TEST(rounds_of_commits_are_not_counted)
{
	struct ressd_route route;
	u32 i;

	take_known_log(&route);
	for (i = 0; i < 5000 && !(route.flushes && log_wins(&route)); i++) {
		ressd_route_flush(&route);
		if (ressd_route_small(&route, 1, 0, 0))
			ressd_route_log_done(&route, 100, 1);
		else
			ressd_route_direct_done(&route, 1000, 1);
		if (ressd_route_wants_move(&route))
			ressd_route_move_ended(&route, true);
	}
	CHECK_EQ(route.phase, RESSD_ROUTE_LOG);
	CHECK(!ressd_route_knows_log(&route), "no commits");
	ressd_route_sweep(&route, true, 5000);
	pass_round(&route, 1000, 2000);
	ressd_route_sweep(&route, true, 5000);
	CHECK_EQ(route.through_ns, 600);
}

/* One I/O of the log or of the mover hangs for 30 s, once, as while a link is reset. */
TEST(one_stall_does_not_end_the_log_for_good)
{
	struct rounds rounds = { .round_blocks = 4096, .round_ns = 300000 };
	struct ressd_route route;

	ressd_route_init(&route, 300000);
	write_rounds(&route, &rounds, 2000000, 1024 + 3 * 4096);
	CHECK(log_wins(&route), "the log is not taken");
	CHECK_EQ(route.through_ns, 300001);
	ressd_route_begin(&route, rounds.now);
	ressd_route_end(&route, rounds.now + 30000000000ULL);
	CHECK(write_rounds(&route, &rounds, 2000000, 100000) < 10000, "the log is left");
	CHECK(log_wins(&route), "the log has lost");
	CHECK_EQ(route.through_ns, 300001);
}
