/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Route adaptive: does a small write cost less through the log or straight to the normal area?
 *
 * The cost of a block through the log is that of the log's I/Os, syncs included, and of bringing it
 * home; that of a direct one is the time in which direct small writes, and flushes after them, are
 * in flight.  Both are measured by trials: a few hundred blocks this way, a few hundred the other
 * way, the latter brought home at once.  The way that is taken is measured as well, the direct one
 * before a trial only, for its time is short and a clock costs some of it.  The other one is tried
 * again after ever longer intervals, as long as the answer stays the same; so what the
 * trials can cost is bounded.  The log must win clearly, and a decision changes only by a clear
 * difference, so that equal costs make no oscillation.  Costs come in bursts where a device
 * collects its garbage, and the first writes to an idle device cost little; so the median of some
 * windows counts, not their mean.
 *
 * Nothing here knows sizes or kinds of devices.  Context: the caller serialises all calls.
 */
#ifndef RESSD_ROUTE_H
#define RESSD_ROUTE_H

#include <linux/types.h>

/* Blocks of a trial: through the log, and direct. */
#define RESSD_ROUTE_LOG_TRIAL		256U
#define RESSD_ROUTE_DIRECT_TRIAL	1024U

enum ressd_route_phase {
	RESSD_ROUTE_TRY_DIRECT,
	RESSD_ROUTE_TRY_LOG,
	RESSD_ROUTE_TRY_MOVE,		/* what the trial logged is being brought home */
	RESSD_ROUTE_DIRECT,
	RESSD_ROUTE_LOG,
};

#define RESSD_ROUTE_RECENT	8U

/* What blocks cost lately: the means of windows of some blocks, in ns a block. */
struct ressd_route_cost {
	u64 recent[RESSD_ROUTE_RECENT];
	u32 nr;				/* windows so far; the latest ones are kept */
	u32 sum_blocks;			/* of the window that is not full yet */
	u64 sum_ns;
};

struct ressd_route {
	enum ressd_route_phase phase;
	struct ressd_route_cost direct, log, move;
	u32 sent;			/* blocks sent in this phase, */
	u32 moved;			/* and brought home */
	u64 interval;			/* blocks until the other way is tried again */
	bool log_wins;			/* the last decision */
	bool decided;			/* there has been one */
};

void ressd_route_init(struct ressd_route *route);

/* A small write of @nr blocks comes: true if it is to go through the log. */
bool ressd_route_small(struct ressd_route *route, u32 nr);

/* False while a trial's blocks are brought home and the writer is too far ahead: it must wait. */
bool ressd_route_may_log(const struct ressd_route *route);

/* Shall a direct write that is sent now be timed, and told to ressd_route_direct_done()? */
bool ressd_route_times_direct(const struct ressd_route *route);

/* True while the mover is asked to bring all home that the log holds. */
bool ressd_route_wants_move(const struct ressd_route *route);

/* The cost of a block, the median of the latest windows; 0: not known yet. */
u64 ressd_route_ns(const struct ressd_route_cost *cost);

/* What @blocks cost; @blocks may be 0 for time alone, as that of a flush. */
void ressd_route_direct_done(struct ressd_route *route, u64 ns, u32 blocks);
void ressd_route_log_done(struct ressd_route *route, u64 ns, u32 blocks);
void ressd_route_move_done(struct ressd_route *route, u64 ns, u32 blocks);

/*
 * The mover has brought home all it was asked to; or, not @complete, it cannot: then the trial told
 * nothing, and the last decision stands.
 */
void ressd_route_move_ended(struct ressd_route *route, bool complete);

#endif
