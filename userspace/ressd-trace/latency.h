/* SPDX-License-Identifier: GPL-2.0-only */
/* What a set of response times comes to. */
#ifndef TRACE_LATENCY_H
#define TRACE_LATENCY_H

#include <linux/types.h>

#define LATENCY_BUCKETS	64	/* bucket i: from 2^i ns to less than 2^(i + 1) */

struct latency {
	u64 nr;
	u64 mean;		/* ns, as all that follow */
	u64 p50;
	u64 p99;
	u64 p999;
	u64 worst;		/* mean of the worst 0.01 %, of one at least (SC's tail) */
	u64 max;
	u64 bucket[LATENCY_BUCKETS];
};

/* Sorts @times.  All zero if @nr is. */
void latency_of(u64 *times, u64 nr, struct latency *latency);

#endif
