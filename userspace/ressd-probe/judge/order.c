// SPDX-License-Identifier: GPL-2.0-only
/* Does an order of requests pay?  See order.h. */
#include <math.h>
#include "judge/order.h"
#include "measure/statistics.h"

/*
 * Reads gain if of a hundred all but the one that waits for longest wait for at most half as long:
 * the bar that issue 17 sets.  Less is no reason to hold requests back.
 */
#define LONG_WAIT	0.99
#define MOST_WAIT	0.5

/*
 * Writes lose what reads take that come sooner: where a write is slow nothing that shows.  On the
 * A2 card they lose 9 %, on no drive whose reads gain as much between 4 and 9 %
 * (docs/notebook/normal-path.md).
 */
#define LEAST_SPEED	0.95

/*
 * More turns are no use where waits have that to spare, and writes nearly all of their speed.  A
 * loss is never clear before all turns: few of them have shown one of a third that there is not.
 */
#define CLEAR		1.3
#define CLEAR_SPEED	0.99

#define LEAST_READS	4U	/* in the new order; in the old one a read waits for all writers */
#define LEAST_PAIRS	6U	/* of turns: fewer cannot tell a difference */
#define DIFFERENT	2.2	/* normal deviate of these: seven of eight, or six of six */

double order_of_writes(u64 ns, u64 reads, u64 read_ns)
{
	return (double)ns - (double)reads * read_ns;
}

static double ns_of_write(const struct order_times *times, u64 read_ns)
{
	return order_of_writes(times->ns, times->reads, read_ns) / times->writes;
}

/* What reads take from each write. */
static double ns_of_reads(const struct order_times *times, u64 read_ns)
{
	return (double)times->reads * read_ns / times->writes;
}

/* Do writes themselves take longer in one order than in the other? */
static bool differ(const struct order_times *before, const struct order_times *after,
		   unsigned int pairs)
{
	double differences[ORDER_TURNS];
	unsigned int pair;

	for (pair = 0; pair < pairs; pair++)
		differences[pair] = before->turn_ns[pair] - after->turn_ns[pair];
	return fabs(stat_signed_rank(differences, pairs)) >= DIFFERENT;
}

/*
 * If writes themselves do not differ, what differs is the time that reads take from them: so
 * garbage collection, which comes now in this turn and now in that, is no difference.  As long as
 * there are too few turns to see that, the worse counts.  A gain of writes never counts: on the TLC
 * drive one of a twentieth was seen, where they lose a seventh.
 */
static double speed_of(const struct order_times *before, const struct order_times *after,
		       unsigned int pairs, u64 read_ns)
{
	const double old = ns_of_write(before, read_ns), new = ns_of_write(after, read_ns);
	const double reads = ns_of_reads(before, read_ns), more = ns_of_reads(after, read_ns);
	const double mean = (old + new) / 2;
	const double seen = (old + reads) / (new + more);
	const double even = (mean + reads) / (mean + more);
	const bool shows = pairs < LEAST_PAIRS || differ(before, after, pairs);

	return shows && seen < even ? seen : even;
}

/* This share of the reads waits for less. */
static double wait_of(const struct order_times *times, double share)
{
	stat_sort(times->waits, times->nr_waits);
	return stat_quantile(times->waits, times->nr_waits, share);
}

void judge_order(const struct order_times *before, const struct order_times *after,
		 unsigned int turns, u64 read_ns, struct order_judgement *judgement)
{
	const double reads = before->nr_waits;
	/* The longest of few waits is less than the longest of many: both are to be of as many. */
	const double share = reads / (reads + 1) < LONG_WAIT ? reads / (reads + 1) : LONG_WAIT;

	*judgement = (struct order_judgement){ .enough = false };
	if (turns < ORDER_CYCLE || !before->nr_waits || after->nr_waits < LEAST_READS)
		return;
	judgement->enough = true;
	judgement->before = wait_of(before, share);
	judgement->after = wait_of(after, share);
	judgement->speed = speed_of(before, after, turns / 2, read_ns);
	judgement->pays = judgement->after <= MOST_WAIT * judgement->before &&
			  judgement->speed >= LEAST_SPEED;
	judgement->clear = judgement->pays && judgement->speed >= CLEAR_SPEED &&
			   judgement->after * CLEAR <= MOST_WAIT * judgement->before;
}
