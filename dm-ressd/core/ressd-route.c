// SPDX-License-Identifier: GPL-2.0-only
/* Route adaptive; see ressd-route.h. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-route.h"

#define FIRST_INTERVAL	131072U
#define LAST_INTERVAL	4194304U

/* What the log must save of the direct cost to be kept; see ressd-route.h. */
#define KEEP_PERCENT	3

/*
 * A trial of the direct route ends when so many of its parts in a row cost so
 * many times what they would through the log: a device that collects garbage
 * now and then does not do so in each of them.  While that is not known, when
 * it has taken a second.
 */
#define PART_BLOCKS		8U
#define COSTLY_PARTS		8U
#define COSTLY_TIMES		2
#define DIRECT_TRIAL_NS		1000000000ULL

/*
 * So many blocks of the log's trial are enough to see that it is lost: a device
 * remembers what was written to the log, for that leaves garbage among data
 * that rests, so the fewer the better.
 */
#define LOST_BLOCKS	32U

/* So many moves are enough to know what one costs. */
#define ROUND_BLOCKS	(RESSD_ROUTE_RECENT * RESSD_ROUTE_WINDOW)

/*
 * The record of these few bears a header and a command alone that more could
 * share; neither costs more than a direct write, so as many of those a log may
 * take longer that would win by full ones.
 */
#define SHORT_RECORD	2U

/* A log that costs too much is noticed after this part of the interval. */
#define COSTLY_PART	32

/*
 * In use the direct route is timed for a window each second.  If that has
 * become so many times what it was when it was decided for, the load or the
 * device is another one.
 */
#define SAMPLE_NS	1000000000ULL
#define CHANGED_TIMES	2

/* Peeks may cost one part in so many of the time. */
#define PEEK_PART	100

/* One small write changes averages by such a part. */
#define DEPTH_SHIFT	5
#define FLUSH_SHIFT	4

/*
 * A situation is left when the depth is below such a part of its least, in
 * 256ths.
 */
#define FEWER		160

/* Flushes follow many writes, no longer do; in 256ths. */
#define MANY_FLUSHES	64
#define FEW_FLUSHES	16

void ressd_route_init(struct ressd_route *route, u64 through_ns)
{
	u32 i;

	memset(route, 0, sizeof(*route));
	route->through_ns = through_ns;
	route->round.through_ns = through_ns;
	route->phase = RESSD_ROUTE_TRY_DIRECT;
	for (i = 0; i < ARRAY_SIZE(route->cases); i++)
		route->cases[i].interval = FIRST_INTERVAL;
}

static struct ressd_route_case *present(struct ressd_route *route)
{
	return &route->cases[route->now];
}

static void enter(struct ressd_route *route, enum ressd_route_phase phase)
{
	route->phase = phase;
	route->sent = 0;
	route->costly = false;
	route->peeking = false;
}

/*
 * Takes the route that was found to be cheaper in the present situation, the
 * direct one at first.
 */
static void follow_decision(struct ressd_route *route)
{
	enter(route,
	      present(route)->log_wins ? RESSD_ROUTE_LOG : RESSD_ROUTE_DIRECT);
}

/* --- costs ---------------------------------------------------------------- */

/*
 * Forgets what was measured before a trial, which may have been under another
 * load.
 */
static void restart(struct ressd_route_cost *cost)
{
	*cost = (struct ressd_route_cost) { };
}

static u64 median(const struct ressd_route_cost *cost)
{
	u32 nr = min(cost->nr, RESSD_ROUTE_RECENT);
	u32 i, j;

	/*
	 * The one that as many are below as above; with equal ones the first of
	 * them is as good.
	 */
	for (i = 0; i < nr; i++) {	/* No test: one of them is */
		u32 below = 0, equal = 0;

		for (j = 0; j < nr; j++) {
			below += cost->recent[j] < cost->recent[i];
			equal += cost->recent[j] == cost->recent[i];
		}
		if (below <= (nr - 1) / 2 && (nr - 1) / 2 < below + equal)
			return cost->recent[i];
	}
	/* No test: there is one at least. */
	return 0;
}

static void close_window(struct ressd_route_cost *cost)
{
	cost->recent[cost->nr++ % RESSD_ROUTE_RECENT] =
		max_t(u64, div_u64(cost->sum_ns, cost->sum_blocks), 1);
	if (cost->nr == 2 * RESSD_ROUTE_RECENT)
		cost->nr = RESSD_ROUTE_RECENT;
	cost->ns = median(cost);
	cost->sum_ns = 0;
	cost->sum_blocks = 0;
}

static void set_cost(struct ressd_route_cost *cost, u64 ns)
{
	*cost = (struct ressd_route_cost) {
		.recent = { ns }, .nr = 1, .ns = ns,
	};
}

/* True if that has made a window full. */
static bool add(struct ressd_route_cost *cost, u64 ns, u32 blocks)
{
	cost->sum_ns += ns;
	cost->sum_blocks += blocks;
	if (cost->sum_blocks < RESSD_ROUTE_WINDOW)
		return false;
	close_window(cost);
	return true;
}

/* A block logged and written back, as measured here; 0: not yet. */
static u64 through_log_ns(const struct ressd_route *route)
{
	u64 log = ressd_route_ns(&ressd_route_case(route)->log);
	u64 move = ressd_route_ns(&route->move);

	return log && move ? log + move : 0;
}

/* What a block costs logged and written back here; 0: not known yet. */
static u64 expected_ns(const struct ressd_route *route)
{
	if (ressd_route_knows_log(route))
		return route->through_ns;
	return through_log_ns(route);
}

/* What a direct block costs here. */
static u64 direct_ns(const struct ressd_route *route)
{
	const struct ressd_route_case *c = ressd_route_case(route);

	if (c->used_blocks >= RESSD_ROUTE_DIRECT_TRIAL)
		return div_u64(c->used_ns, c->used_blocks);
	return ressd_route_ns(&c->direct);
}

/*
 * The log must save something, the less if it is in use; and have shown that in
 * this situation.
 */
static bool log_is_cheaper(const struct ressd_route *route)
{
	const struct ressd_route_case *c = ressd_route_case(route);
	u32 percent = c->log_wins ? KEEP_PERCENT : RESSD_ROUTE_TAKE_PERCENT;
	u64 through = expected_ns(route);

	return through &&
	       ressd_route_saves(direct_ns(route), through, percent);
}

/* --- situations ----------------------------------------------------------- */

static const u32 depths[RESSD_ROUTE_DEPTHS] = { 1, 2, RESSD_ROUTE_MANY };

u32 ressd_route_depth(const struct ressd_route *route)
{
	return depths[route->now / 2];
}

static u32 situation(const struct ressd_route *route)
{
	u32 class = RESSD_ROUTE_DEPTHS - 1;

	while (class &&
	       route->depth <
		       depths[class] * (class > route->now / 2 ? 256 : FEWER))
		class--;
	return 2 * class + route->flushes;
}

/*
 * The log hides how many writes there could be: it may show more, but never
 * less.
 */
static void observe(struct ressd_route *route, u32 in_flight)
{
	u32 depth = min(in_flight + 1, 2 * RESSD_ROUTE_MANY) * 256;

	if (!ressd_route_takes_log(route))
		route->depth -= route->depth >> DEPTH_SHIFT;
	route->depth = max(depth, route->depth);
	route->flush_share -= route->flush_share >> FLUSH_SHIFT;
	if (route->flushed)
		route->flush_share += 256 >> FLUSH_SHIFT;
	route->flushed = false;
	if (route->flush_share >= MANY_FLUSHES)
		route->flushes = true;
	else if (route->flush_share < FEW_FLUSHES)
		route->flushes = false;
}

/*
 * The writes of a trial that the log has taken belong to the situation that
 * they came in.
 */
static void follow_situation(struct ressd_route *route)
{
	u32 now = situation(route);

	if (now == route->now || route->phase == RESSD_ROUTE_TRY_LOG ||
	    route->phase == RESSD_ROUTE_TRY_MOVE)
		return;
	route->now = now;
	route->unfinished = false;
	/* What records with flushes take would be in it. */
	if (!ressd_route_knows_log(route))
		route->round.begun = false;
	if (present(route)->decided)
		follow_decision(route);
	else
		enter(route, RESSD_ROUTE_TRY_DIRECT);
}

/*
 * Shall this write go direct for once, to see what comes while it is in flight?
 */
static bool peeks(struct ressd_route *route, u32 nr, u32 in_flight, u64 now)
{
	u64 cost = ressd_route_ns(&ressd_route_case(route)->direct) * nr;

	if (route->peeking)
		route->peeking = in_flight && in_flight + 1 < RESSD_ROUTE_MANY;
	else
		route->peeking = !in_flight && now >= route->next_peek &&
				 ressd_route_depth(route) < RESSD_ROUTE_MANY;
	if (route->peeking)
		route->next_peek =
			max(route->next_peek, now) + cost * PEEK_PART;
	return route->peeking;
}

/* --- trials --------------------------------------------------------------- */

static void decide(struct ressd_route *route)
{
	struct ressd_route_case *c = present(route);
	bool log_wins = log_is_cheaper(route);

	if (c->decided && log_wins == c->log_wins)
		c->interval = min_t(u64, 2 * c->interval, LAST_INTERVAL);
	else
		c->interval = FIRST_INTERVAL;
	/* The log in use is compared with the cost that it was taken for. */
	if (ressd_route_knows_log(route))
		set_cost(&c->direct, direct_ns(route));
	c->decided = true;
	c->decided_ns = ressd_route_ns(&c->direct);
	c->log_wins = log_wins;
	c->used_ns = 0;
	c->used_blocks = 0;
	c->sent = 0;
	follow_decision(route);
}

static void try_direct(struct ressd_route *route)
{
	struct ressd_route_case *c = present(route);

	restart(&c->direct);
	c->trial_ns = 0;
	c->trial_blocks = 0;
	c->part_ns = 0;
	c->part_blocks = 0;
	c->costly_parts = 0;
	enter(route, RESSD_ROUTE_TRY_DIRECT);
}

static void try_log(struct ressd_route *route)
{
	restart(&present(route)->log);
	route->log_ns = 0;
	route->log_blocks = 0;
	enter(route, RESSD_ROUTE_TRY_LOG);
}

/*
 * Of the direct route; 0: too few blocks yet, the first ones may cost far less
 * than the others.
 */
static u64 trial_ns(const struct ressd_route_case *c)
{
	if (c->trial_blocks < RESSD_ROUTE_DIRECT_TRIAL / 2)
		return 0;
	return ressd_route_ns(&c->direct);
}

static void continue_direct_trial(struct ressd_route *route)
{
	struct ressd_route_case *c = present(route);
	u64 through = expected_ns(route);
	bool all = c->trial_blocks >= RESSD_ROUTE_DIRECT_TRIAL;
	bool costly = c->costly_parts >= COSTLY_PARTS;

	route->unfinished = !all && !through && c->trial_blocks &&
			    c->trial_ns >= DIRECT_TRIAL_NS;
	if (!all && !costly && !route->unfinished)
		return;
	if (costly)
		set_cost(&c->direct, div_u64(c->costly_ns, c->costly_blocks));
	else if (ressd_route_knows_log(route))
		set_cost(&c->direct, div_u64(c->trial_ns, c->trial_blocks));
	if (through)
		decide(route);
	else
		try_log(route);
}

/*
 * The log alone, without the move, has taken as long as it may: it cannot win.
 * What it holds of the trial stays there, as after any decision.
 */
static bool log_trial_is_lost(const struct ressd_route *route)
{
	const struct ressd_route_case *c = ressd_route_case(route);
	u64 direct = route->unfinished ? trial_ns(c) :
					 ressd_route_ns(&c->direct);
	u32 blocks = max(route->log_blocks, LOST_BLOCKS);
	/* The direct writes that may take as long, in hundredths. */
	u32 allowed = blocks * (100 - RESSD_ROUTE_TAKE_PERCENT) +
		      SHORT_RECORD * 100;

	return direct && route->log_ns * 100 >= direct * allowed;
}

static void end_lost_trial(struct ressd_route *route)
{
	struct ressd_route_case *c = present(route);

	if (route->phase != RESSD_ROUTE_TRY_LOG || !log_trial_is_lost(route))
		return;
	if (c->log.sum_blocks)
		close_window(&c->log);
	decide(route);
}

static void continue_log_trial(struct ressd_route *route)
{
	if (route->sent < RESSD_ROUTE_LOG_TRIAL)
		return;
	restart(&route->move);
	enter(route, RESSD_ROUTE_TRY_MOVE);
}

bool ressd_route_wants_write(const struct ressd_route *route, u32 open,
			     u32 in_flight)
{
	if (route->phase != RESSD_ROUTE_TRY_LOG)
		return false;
	return in_flight || (open && route->log_blocks < LOST_BLOCKS &&
			     route->log_blocks + open >= LOST_BLOCKS);
}

/*
 * Does the direct route in use cost far more than it did?  By the median, which
 * a few bad windows do not raise.
 */
static bool direct_has_changed(const struct ressd_route *route)
{
	const struct ressd_route_case *c = ressd_route_case(route);

	return c->decided_ns &&
	       ressd_route_ns(&c->direct) >= c->decided_ns * CHANGED_TIMES;
}

static void look_for_trial(struct ressd_route *route)
{
	const struct ressd_route_case *c = ressd_route_case(route);
	bool due = c->sent >= c->interval;

	if (route->phase == RESSD_ROUTE_LOG) {
		due |= route->costly && c->sent >= c->interval / COSTLY_PART;
		if (due)
			try_direct(route);
	} else if (ressd_route_knows_log(route)) {
		if (due || (c->used_blocks >= RESSD_ROUTE_DIRECT_TRIAL &&
			    log_is_cheaper(route)))
			decide(route);
	} else if (due || direct_has_changed(route)) {
		try_log(route);
	}
}

bool ressd_route_small(struct ressd_route *route, u32 nr, u32 in_flight,
		       u64 now)
{
	observe(route, in_flight);
	if (route->phase == RESSD_ROUTE_LOG && peeks(route, nr, in_flight, now))
		return false;
	follow_situation(route);
	if (route->phase == RESSD_ROUTE_TRY_DIRECT)
		continue_direct_trial(route);
	else if (route->phase == RESSD_ROUTE_TRY_LOG)
		continue_log_trial(route);
	else
		look_for_trial(route);
	if (!route->sampling && now >= route->next_sample) {
		route->sampling = true;
		route->next_sample = now + SAMPLE_NS;
	}
	route->sent = min_t(u64, (u64)route->sent + nr, 0xffffffffU);
	present(route)->sent += nr;
	return ressd_route_takes_log(route);
}

/*
 * Of each block that was logged, with as many moves as it takes to leave the
 * log as full as it was: in this round there may have been more, or fewer.
 * One I/O that hangs makes a round costly, and writes would go direct for
 * good: so only two rounds raise the cost.
 */
static void learn_from_round(struct ressd_route *route, u32 live)
{
	struct ressd_route_round *round = &route->round;
	u64 moves = round->moved + live, ns;

	moves -= min_t(u64, moves, round->live);
	ns = 1 + div64_u64(div64_u64(round->ns, round->moved) * moves,
			   round->logged);
	route->through_ns = min(ns, round->through_ns);
	round->through_ns = ns;
}

void ressd_route_sweep(struct ressd_route *route, bool for_space, u32 live)
{
	struct ressd_route_round *round = &route->round;
	bool counts = for_space && route->phase == RESSD_ROUTE_LOG &&
		      ressd_route_knows_log(route);

	if (counts && round->begun) {
		if (!round->logged || round->moved < ROUND_BLOCKS)
			return;
		learn_from_round(route, live);
	}
	round->begun = counts;
	round->live = live;
	round->ns = 0;
	round->logged = 0;
	round->moved = 0;
}

void ressd_route_begin(struct ressd_route *route, u64 now)
{
	if (!route->round.in_flight++)
		route->round.since = now;
}

/* Of what began before the route was adaptive nothing is known. */
void ressd_route_end(struct ressd_route *route, u64 now)
{
	struct ressd_route_round *round = &route->round;

	if (round->in_flight && !--round->in_flight)
		round->ns += now - round->since;
}

bool ressd_route_wants_move(const struct ressd_route *route)
{
	return route->phase == RESSD_ROUTE_TRY_MOVE;
}

/* --- what is measured ----------------------------------------------------- */

/*
 * In use the log is compared with what direct writes cost when they were last
 * tried.
 */
static void watch_log(struct ressd_route *route)
{
	const struct ressd_route_case *c = ressd_route_case(route);

	if (route->phase != RESSD_ROUTE_LOG)
		return;
	if (ressd_route_knows_log(route))
		route->costly = route->through_ns >= ressd_route_ns(&c->direct);
	else if (c->log.nr >= RESSD_ROUTE_RECENT)
		route->costly = through_log_ns(route) >=
				ressd_route_ns(&c->direct);
}

/*
 * Parts in a row that cost far more than they would through the log, as that
 * has cost here.
 */
static void judge_part(struct ressd_route *route, struct ressd_route_case *c)
{
	u64 through = expected_ns(route);

	if (!through || c->part_ns < through * c->part_blocks * COSTLY_TIMES) {
		c->costly_parts = 0;
		return;
	}
	if (!c->costly_parts++) {
		c->costly_ns = 0;
		c->costly_blocks = 0;
	}
	c->costly_ns += c->part_ns;
	c->costly_blocks += c->part_blocks;
}

static void add_to_trial(struct ressd_route *route, struct ressd_route_case *c,
			 u64 ns, u32 blocks)
{
	c->trial_ns += ns;
	c->trial_blocks += blocks;
	c->part_ns += ns;
	c->part_blocks += blocks;
	if (c->part_blocks < PART_BLOCKS)
		return;
	judge_part(route, c);
	c->part_ns = 0;
	c->part_blocks = 0;
}

void ressd_route_direct_done(struct ressd_route *route, u64 ns, u32 blocks)
{
	struct ressd_route_case *c = present(route);

	if (ressd_route_takes_log(route))
		return;
	if (add(&c->direct, ns, blocks))
		route->sampling = false;
	if (route->phase == RESSD_ROUTE_TRY_DIRECT) {
		add_to_trial(route, c, ns, blocks);
	} else if (ressd_route_knows_log(route)) {
		c->used_ns += ns;
		c->used_blocks += blocks;
	}
}

void ressd_route_log_done(struct ressd_route *route, u64 ns, u32 blocks)
{
	if (!ressd_route_takes_log(route))
		return;
	route->log_ns += ns;
	route->log_blocks += blocks;
	route->round.logged += blocks;
	if (add(&present(route)->log, ns, blocks))
		watch_log(route);
	end_lost_trial(route);
}

static void end_trial(struct ressd_route *route)
{
	struct ressd_route_case *c = present(route);

	/*
	 * The first record of a log may cost a merge: what came after it is the
	 * better measure.
	 */
	if (c->log.sum_blocks >= RESSD_ROUTE_WINDOW / 2)
		close_window(&c->log);
	/*
	 * Most of the trial was overwritten before it was moved: so cheap is a
	 * logged block.
	 */
	if (!route->move.nr)
		add(&route->move, 0,
		    RESSD_ROUTE_LOG_TRIAL - route->move.sum_blocks);
	if (route->unfinished)
		enter(route, RESSD_ROUTE_TRY_DIRECT);
	else
		decide(route);
}

void ressd_route_move_done(struct ressd_route *route, u64 ns, u32 blocks)
{
	route->round.moved += blocks;
	if (!add(&route->move, ns, blocks))
		return;
	watch_log(route);
	/* The log may hold far more, and writers wait. */
	if (route->phase == RESSD_ROUTE_TRY_MOVE &&
	    route->move.nr >= RESSD_ROUTE_RECENT)
		end_trial(route);
}

void ressd_route_move_ended(struct ressd_route *route, bool complete)
{
	struct ressd_route_case *c = present(route);

	if (route->phase != RESSD_ROUTE_TRY_MOVE)
		return;
	if (complete) {
		end_trial(route);
		return;
	}
	c->decided = true;
	c->sent = 0;
	follow_decision(route);
}
