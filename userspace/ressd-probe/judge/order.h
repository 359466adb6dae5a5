/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IR: does an order of requests pay?  From the times of reads beside writers in two orders, some
 * turns of each (ABBA), to a decision.  Pure: no I/O, no clock.
 */
#ifndef PROBE_ORDER_H
#define PROBE_ORDER_H

#include <stdbool.h>
#include <linux/types.h>

#define ORDER_CYCLE	4U	/* turns: ABBA */
#define ORDER_CYCLES	4U	/* at most */
#define ORDER_TURNS	(ORDER_CYCLES * ORDER_CYCLE / 2)	/* of one order */

/* What came of one order. */
struct order_times {
	u64 ns;				/* of all turns */
	u64 reads, writes;		/* that were done meanwhile */
	unsigned int nr_waits;
	double *waits;			/* ns: of a read, from when it came; gets sorted */
	double turn_ns[ORDER_TURNS];	/* of equally many writes: order_of_writes() */
};

struct order_judgement {
	bool enough;		/* else nothing can be said, and the rest is not set */
	double before, after;	/* ns: long waits in the old order and in the new one */
	double speed;		/* that writes keep, at most 1 but for fewer reads */
	bool pays;
	bool clear;		/* it does, and more turns would not change that */
};

/*
 * What writes have taken of @ns in which there were @reads as well; one of an idle drive takes
 * @read_ns.  While a read waits the drive does what was written before: that is the writes' time.
 */
double order_of_writes(u64 ns, u64 reads, u64 read_ns);

/* After @turns in all.  The new order pays if reads gain and writes do not lose. */
void judge_order(const struct order_times *before, const struct order_times *after,
		 unsigned int turns, u64 read_ns, struct order_judgement *judgement);

#endif
