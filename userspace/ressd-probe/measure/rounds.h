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
	bool gets_slower;	/* it was not measured long enough: bandwidth is the most */
	u64 bandwidth;		/* bytes per second over the kept rounds */
	u64 median_ns;		/* of one transfer in the kept rounds, flushes apart */
	u64 worst_ns;
	u64 pause_ns;		/* by which those far above it exceed the median, per transfer */
	u32 spread_percent;	/* (fastest - slowest kept round) / mean */
	u64 ops;		/* in the kept rounds */
	u64 ns;
	u64 total_bytes;	/* start-up included */
	u64 total_ns;
};

/*
 * How many rounds make the result: the last ROUNDS_KEPT if they agree, else all of @count but the
 * first, for then each tells something of a drive that is now fast and now slow.
 */
unsigned int rounds_kept(const struct round *rounds, unsigned int count);

/*
 * The spread of what these rounds say together, percent: of agreeing ones that of each, of others
 * four times the deviation of their mean; of one alone 100.
 */
u32 rounds_uncertainty(const struct round *rounds, unsigned int count);

/* True when another round is needed. */
bool rounds_want_more(const struct round *rounds, unsigned int count);

/*
 * Fills @result from @count rounds (at least one).  @samples holds the latency of every transfer of
 * all rounds in order, in ns; the part of the kept rounds is sorted in place.
 */
void rounds_result(const struct round *rounds, unsigned int count, u64 *samples,
		   struct result *result);

/*
 * @ns of @calls without the pauses that reads have as well, @pause_ns a call on average: they are
 * another load's or the host's, and hit both routes of a small write, once a call.  A quarter is
 * left whatever the pauses, for what is nothing but pauses says nothing.
 */
u64 rounds_without_pauses(u64 ns, u64 calls, u64 pause_ns);

#endif
