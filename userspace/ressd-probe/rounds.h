/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From single transfers to one figure.  Pure: no I/O, no clock.
 *
 * A measurement consists of rounds.  A round of writes begins with nothing in the device's buffer
 * and ends with a flush that counts, so its bandwidth is honest whatever the device buffers.
 * Rounds go on until the last ROUNDS_KEPT agree; those before are start-up and do not count.
 */
#ifndef PROBE_ROUNDS_H
#define PROBE_ROUNDS_H

#include <stdbool.h>
#include <linux/types.h>

#define ROUNDS_KEPT	3	/* these must agree, and make the result */
#define ROUNDS_MIN	4	/* the first one is always start-up */
#define ROUNDS_MAX	12	/* then the result is called unsteady */
#define ROUNDS_SPREAD	20	/* percent of their mean by which kept rounds may differ */

struct round {
	u64 bytes;
	u64 ops;
	u64 ns;			/* flush included */
};

struct result {
	bool done;
	bool steady;
	u64 bandwidth;		/* bytes per second over the kept rounds */
	u64 median_ns;		/* of one transfer in the kept rounds, flushes apart */
	u64 worst_ns;
	u32 spread_percent;	/* (fastest - slowest kept round) / mean */
	u64 ops;		/* in the kept rounds */
	u64 ns;
	u64 total_bytes;	/* start-up included */
	u64 total_ns;
};

/* Spread of the bandwidths of the last @kept of @count rounds, in percent of their mean. */
u32 rounds_spread(const struct round *rounds, unsigned int count, unsigned int kept);

/* True when another round is needed. */
bool rounds_want_more(const struct round *rounds, unsigned int count);

/*
 * Fills @result from @count rounds (at least one).  @samples holds the latency of every transfer of
 * all rounds in order, in ns; the part of the kept rounds is sorted in place.
 */
void rounds_result(const struct round *rounds, unsigned int count, u64 *samples,
		   struct result *result);

/*
 * The time of random writes all over the device, in percent of that in a region of @percent of it,
 * from the times of @count single writes in the region, which are sorted.  Those that find their
 * clustered block open are told from the others by being much shorter; elsewhere they are rarer in
 * the proportion of the sizes.  100: there are not two kinds of times, or so few long ones that
 * they may be pauses of another kind.
 */
u32 rounds_elsewhere(u64 *ns, unsigned int count, unsigned int percent);

#endif
