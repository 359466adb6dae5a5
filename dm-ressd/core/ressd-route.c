// SPDX-License-Identifier: GPL-2.0-only
/* Route adaptive; see ressd-route.h. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-route.h"

#define WINDOW_BLOCKS	128U
#define FIRST_INTERVAL	131072U
#define LAST_INTERVAL	4194304U
#define AHEAD_BLOCKS	64U	/* of the mover, while a trial is brought home */

/* Before a trial so many direct blocks are timed: twice what counts. */
#define DIRECT_TIMED	(2 * RESSD_ROUTE_RECENT * WINDOW_BLOCKS)

/* What the log must save of the direct cost, in percent, to be taken; and to be kept. */
#define TAKE_PERCENT	10
#define KEEP_PERCENT	3

void ressd_route_init(struct ressd_route *route)
{
	memset(route, 0, sizeof(*route));
	route->phase = RESSD_ROUTE_TRY_DIRECT;
	route->interval = FIRST_INTERVAL;
}

/* Forgets what was measured before a trial, which may have been under another load. */
static void restart(struct ressd_route_cost *cost)
{
	*cost = (struct ressd_route_cost) { };
}

static void enter(struct ressd_route *route, enum ressd_route_phase phase)
{
	route->phase = phase;
	route->sent = 0;
	route->moved = 0;
}

static void add(struct ressd_route_cost *cost, u64 ns, u32 blocks)
{
	cost->sum_ns += ns;
	cost->sum_blocks += blocks;
	if (cost->sum_blocks < WINDOW_BLOCKS)
		return;
	cost->recent[cost->nr++ % RESSD_ROUTE_RECENT] =
		max_t(u64, div_u64(cost->sum_ns, cost->sum_blocks), 1);
	if (cost->nr == 2 * RESSD_ROUTE_RECENT)
		cost->nr = RESSD_ROUTE_RECENT;
	cost->sum_ns = 0;
	cost->sum_blocks = 0;
}

bool ressd_route_times_direct(const struct ressd_route *route)
{
	if (route->phase == RESSD_ROUTE_DIRECT)
		return (u64)route->sent + DIRECT_TIMED >= route->interval;
	return route->phase == RESSD_ROUTE_TRY_DIRECT;
}

u64 ressd_route_ns(const struct ressd_route_cost *cost)
{
	u32 nr = min(cost->nr, RESSD_ROUTE_RECENT);
	u32 i, j;

	/* The one that as many are below as above; with equal ones the first of them is as good. */
	for (i = 0; i < nr; i++) {
		u32 below = 0, equal = 0;

		for (j = 0; j < nr; j++) {
			below += cost->recent[j] < cost->recent[i];
			equal += cost->recent[j] == cost->recent[i];
		}
		if (below <= (nr - 1) / 2 && (nr - 1) / 2 < below + equal)
			return cost->recent[i];
	}
	return 0;
}

/* Costs are compared when all are known; the log must save something, the less if it is in use. */
static bool log_is_cheaper(const struct ressd_route *route)
{
	u32 percent = 100 - (route->log_wins ? KEEP_PERCENT : TAKE_PERCENT);

	return (ressd_route_ns(&route->log) + ressd_route_ns(&route->move)) * 100 <
		ressd_route_ns(&route->direct) * percent;
}

static void decide(struct ressd_route *route)
{
	bool known = route->direct.nr && route->log.nr && route->move.nr;
	bool log_wins = known && log_is_cheaper(route);

	if (route->decided && log_wins == route->log_wins)
		route->interval = min_t(u64, 2 * route->interval, LAST_INTERVAL);
	else
		route->interval = FIRST_INTERVAL;
	route->decided = known;
	route->log_wins = log_wins;
	enter(route, log_wins ? RESSD_ROUTE_LOG : RESSD_ROUTE_DIRECT);
}

static void end_direct_trial(struct ressd_route *route)
{
	if (route->log.nr && route->move.nr) {
		decide(route);
		return;
	}
	enter(route, RESSD_ROUTE_TRY_LOG);
}

static void try_log(struct ressd_route *route)
{
	restart(&route->log);
	restart(&route->move);
	enter(route, RESSD_ROUTE_TRY_LOG);
}

bool ressd_route_small(struct ressd_route *route, u32 nr)
{
	switch (route->phase) {
	case RESSD_ROUTE_TRY_DIRECT:
		if (route->sent >= RESSD_ROUTE_DIRECT_TRIAL && route->direct.nr)
			end_direct_trial(route);
		break;
	case RESSD_ROUTE_TRY_LOG:
		if (route->sent >= RESSD_ROUTE_LOG_TRIAL)
			enter(route, RESSD_ROUTE_TRY_MOVE);
		break;
	case RESSD_ROUTE_DIRECT:
		if (route->sent >= route->interval)
			try_log(route);
		break;
	case RESSD_ROUTE_LOG:
		if (route->sent >= route->interval) {
			restart(&route->direct);
			enter(route, RESSD_ROUTE_TRY_DIRECT);
		}
		break;
	case RESSD_ROUTE_TRY_MOVE:
		break;
	}
	route->sent = min_t(u64, (u64)route->sent + nr, 0xffffffffU);
	return route->phase != RESSD_ROUTE_TRY_DIRECT && route->phase != RESSD_ROUTE_DIRECT;
}

bool ressd_route_may_log(const struct ressd_route *route)
{
	return route->phase != RESSD_ROUTE_TRY_MOVE ||
	       route->sent <= route->moved + AHEAD_BLOCKS;
}

bool ressd_route_wants_move(const struct ressd_route *route)
{
	return route->phase == RESSD_ROUTE_TRY_MOVE;
}

void ressd_route_direct_done(struct ressd_route *route, u64 ns, u32 blocks)
{
	if (route->phase == RESSD_ROUTE_TRY_DIRECT || route->phase == RESSD_ROUTE_DIRECT)
		add(&route->direct, ns, blocks);
}

void ressd_route_log_done(struct ressd_route *route, u64 ns, u32 blocks)
{
	add(&route->log, ns, blocks);
}

void ressd_route_move_done(struct ressd_route *route, u64 ns, u32 blocks)
{
	add(&route->move, ns, blocks);
	route->moved = min_t(u64, (u64)route->moved + blocks, 0xffffffffU);
}

void ressd_route_move_ended(struct ressd_route *route, bool complete)
{
	if (route->phase != RESSD_ROUTE_TRY_MOVE)
		return;
	if (!complete) {
		enter(route, route->log_wins ? RESSD_ROUTE_LOG : RESSD_ROUTE_DIRECT);
		return;
	}
	/* Most of the trial was overwritten before it was moved: so cheap is a logged block. */
	if (!route->move.nr)
		add(&route->move, 0, RESSD_ROUTE_LOG_TRIAL - route->move.sum_blocks);
	decide(route);
}
