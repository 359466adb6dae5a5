/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Route adaptive: does a small write cost less through the log or straight to
 * the normal area?
 *
 * The cost of a block through the log is that of the log's I/Os, syncs
 * included, and of writing it back; that of a direct one is the time in which
 * direct small writes, and flushes after them, are in flight.  Both are
 * measured by trials: some hundred blocks go direct, some hundred to the log,
 * and then as many as that or more are written back.  The route that is taken
 * is measured as well, the direct one now and then only, for its time is short
 * and a clock costs some of it; if it costs far more than it did when it was
 * taken, the log is tried at once.  The other one is tried again after ever
 * longer intervals, as long as the answer stays the same; and no trial goes on
 * when it has cost several times what the other route would have.  So what
 * trials can cost is bounded.  The log must win clearly, and a decision
 * changes only by a clear difference, so that equal costs make no oscillation.
 * Costs come in bursts where a device collects its garbage, and the first
 * writes to an idle device cost little; so the median of some windows counts,
 * not their mean.
 *
 * A decision holds for the situation in which it was taken: many direct writes
 * in flight may cost a device no more time than one, and the log saves nothing
 * where a flush follows each write.  So each situation has its costs and its
 * decision.  The writes that the log takes complete at once, and hide how many
 * there could be.  So now and then one goes direct, and what comes while it is
 * in flight (a "peek"); that happens so rarely that it costs a hundredth of the
 * time at most.
 *
 * Trials err where a device maps pages: the first blocks of a log cost as much
 * as random ones, for they leave garbage among data that rest, and some hundred
 * blocks written back all over the device share no page.  Who has measured
 * longer (ressd-probe) may say what a block costs, logged and written back.
 * Then writes without flushes need no trial of the log: it is taken as soon as
 * it wins clearly by that, and what it costs in use is measured by rounds.
 *
 * Nothing here knows sizes or kinds of devices.  Context: the caller serialises
 * all calls.
 */
#ifndef RESSD_ROUTE_H
#define RESSD_ROUTE_H

#include <linux/types.h>

/* Blocks of a trial: through the log, and direct. */
#define RESSD_ROUTE_LOG_TRIAL		256U
#define RESSD_ROUTE_DIRECT_TRIAL	1024U

/* Percent of the direct cost that the log must save to be taken. */
#define RESSD_ROUTE_TAKE_PERCENT	20

enum ressd_route_phase {
	RESSD_ROUTE_TRY_DIRECT,
	RESSD_ROUTE_TRY_LOG,
	RESSD_ROUTE_TRY_MOVE,	/* what the log holds is written back */
	RESSD_ROUTE_DIRECT,
	RESSD_ROUTE_LOG,
};

#define RESSD_ROUTE_RECENT	8U
#define RESSD_ROUTE_WINDOW	128U	/* blocks of one */

/* Before a trial so many direct blocks are timed: twice what counts. */
#define RESSD_ROUTE_TIMED	(2 * RESSD_ROUTE_RECENT * RESSD_ROUTE_WINDOW)

/*
 * What blocks cost lately: the means of windows of some blocks, in ns a block.
 */
struct ressd_route_cost {
	u64 recent[RESSD_ROUTE_RECENT];
	u64 ns;		/* their median; 0: there is none */
	u32 nr;		/* windows so far; the latest ones are kept */
	u32 sum_blocks;	/* of the window that is not full yet */
	u64 sum_ns;
};

/*
 * Small writes in flight at once: 1, 2 to 7, or more; each with and without
 * flushes.
 */
#define RESSD_ROUTE_DEPTHS	3U
#define RESSD_ROUTE_MANY	8U

/*
 * From the begin of a sweep to that of a later one: what was logged, what was
 * written back, and how long that has taken.
 */
struct ressd_route_round {
	bool begun;
	u32 live;	/* blocks to be moved when it began */
	u64 logged, moved;	/* blocks */
	u64 ns;		/* in which the log or the mover was busy */
	u64 through_ns;	/* what a block cost in the one before */
	u64 since;	/* when the first of those in flight began */
	u32 in_flight;	/* I/Os of the log and batches of the mover */
};

/* One situation. */
struct ressd_route_case {
	struct ressd_route_cost direct, log;
	/*
	 * The last trial of the direct route; the part of it under way; costly
	 * parts in a row.
	 */
	u64 trial_ns, part_ns, costly_ns;
	u32 trial_blocks, part_blocks, costly_blocks;
	u32 costly_parts;
	u64 used_ns;	/* of direct writes in use since the decision, where */
	u32 used_blocks;	/* the log needs no trial */
	u64 sent;	/* blocks since the decision */
	u64 interval;	/* blocks until the other route is tried */
	u64 decided_ns;	/* what a direct block cost at the last decision */
	bool log_wins;	/* that one */
	bool decided;	/* there has been one */
};

struct ressd_route {
	enum ressd_route_phase phase;
	struct ressd_route_case cases[RESSD_ROUTE_DEPTHS * 2];
	u32 now;		/* the present one; if any, the trial's */
	struct ressd_route_cost move;
	/*
	 * A block logged and written back, without flushes: as the table says
	 * at first, then as the last round has shown.  0: trials find it.
	 */
	u64 through_ns;
	struct ressd_route_round round;
	u64 log_ns;		/* that the log's I/Os took in this trial, */
	u32 log_blocks;		/* and of how many blocks they were */
	u32 sent;		/* blocks sent in this phase */
	bool unfinished;	/* the direct trial is, and goes on */
	bool costly;		/* the log costs more than direct writes did */
	u32 depth;		/* most small writes in flight, in 256ths */
	u32 flush_share;	/* small writes with a flush after, in 256ths */
	bool flushed;		/* one has come since the last small write */
	bool flushes;		/* many writes are followed by one */
	bool peeking;
	u64 next_peek;		/* ns */
	bool sampling;		/* the direct route, for a window */
	u64 next_sample;	/* ns */
};

/*
 * @through_ns: what a block costs logged and written back if no flush follows,
 * ns, as somebody has measured it beforehand; 0: trials are to find it.
 */
void ressd_route_init(struct ressd_route *route, u64 through_ns);

/*
 * A small write of @nr blocks comes while @in_flight others have not completed,
 * by whichever route; @now: of any clock, in ns.  True if it is to go
 * through the log.
 */
bool ressd_route_small(struct ressd_route *route, u32 nr, u32 in_flight,
		       u64 now);

/* True while small writes go through the log, in a trial or for good. */
static inline bool ressd_route_takes_log(const struct ressd_route *route)
{
	return route->phase != RESSD_ROUTE_TRY_DIRECT &&
	       route->phase != RESSD_ROUTE_DIRECT;
}

/* A flush has come, or a small write that is durable when it completes. */
static inline void ressd_route_flush(struct ressd_route *route)
{
	route->flushed = true;
}

/*
 * Is the log's cost in the present situation known without a trial of it?  Then
 * all direct writes are timed and their mean counts, for there are devices that
 * pause for seconds after some hundred writes: no median has the pauses, and
 * windows that begin at the end of a second would begin after one.
 */
static inline bool ressd_route_knows_log(const struct ressd_route *route)
{
	return route->through_ns && !(route->now % 2);
}

/*
 * Shall a direct write that is sent now be timed, and its time passed to
 * ressd_route_direct_done()?
 */
static inline bool ressd_route_times_direct(const struct ressd_route *route)
{
	const struct ressd_route_case *c = &route->cases[route->now];

	if (route->phase == RESSD_ROUTE_DIRECT)
		return route->sampling || ressd_route_knows_log(route) ||
		       c->sent + RESSD_ROUTE_TIMED >= c->interval;
	return route->phase == RESSD_ROUTE_TRY_DIRECT;
}

/*
 * RAM takes whole records before the first one is on the device.  So in a trial
 * of the log far more would be logged than it takes to see that the log costs
 * more.  Therefore this is true while @in_flight blocks are being written, or
 * while the @open ones of the open record are enough for a decision: then that
 * record is to be written now.  Nothing may be logged meanwhile: writes wait
 * for the next ressd_route_log_done().  They are not sent direct, for that
 * would take the device from the record that is timed.  False with nothing in
 * RAM: so there always is something to wait for.
 */
bool ressd_route_wants_write(const struct ressd_route *route, u32 open,
			     u32 in_flight);

/*
 * True while the mover shall write back what the log holds, until all is
 * written or enough to know what that costs.  Nothing should be logged then:
 * writes have to wait.
 */
bool ressd_route_wants_move(const struct ressd_route *route);

/* Is @through less than @direct by more than @percent?  Both in ns a block. */
static inline bool ressd_route_saves(u64 direct, u64 through, u32 percent)
{
	return through * 100 < direct * (100 - percent);
}

/* The cost of a block, the median of the latest windows; 0: not known yet. */
static inline u64 ressd_route_ns(const struct ressd_route_cost *cost)
{
	return cost->ns;
}

/* The present situation: its costs, and whether the log has won in it. */
static inline const struct ressd_route_case *
ressd_route_case(const struct ressd_route *route)
{
	return &route->cases[route->now];
}

/*
 * The least number of writes in flight in the present situation: 1, 2 or
 * RESSD_ROUTE_MANY.
 */
u32 ressd_route_depth(const struct ressd_route *route);

/*
 * The mover begins a sweep, @for_space or another one, while @live blocks are
 * to be moved.
 */
void ressd_route_sweep(struct ressd_route *route, bool for_space, u32 live);

/*
 * An I/O of the log or a batch of the mover begins, or has ended; @now: ns of
 * any clock.
 */
void ressd_route_begin(struct ressd_route *route, u64 now);
void ressd_route_end(struct ressd_route *route, u64 now);

/*
 * What @blocks cost; @blocks may be 0 for time alone, as that of a flush.  The
 * log's may end a trial: writes that wait to be logged are then routed anew.
 */
void ressd_route_direct_done(struct ressd_route *route, u64 ns, u32 blocks);
void ressd_route_log_done(struct ressd_route *route, u64 ns, u32 blocks);
void ressd_route_move_done(struct ressd_route *route, u64 ns, u32 blocks);

/*
 * The mover has written back all that the trial needs; or, not @complete, it
 * cannot: then the trial has no result, and the last decision stands.
 */
void ressd_route_move_ended(struct ressd_route *route, bool complete);

#endif
