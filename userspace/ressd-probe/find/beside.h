/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Single random reads beside writers that always have something to write, in the order that the
 * target would send them in (core/ressd-queue.h).  The drive gets one after the other, so what a
 * read waits for is the time of all that is sent before it.
 */
#ifndef PROBE_BESIDE_H
#define PROBE_BESIDE_H

#include "find/survey.h"
#include "ressd-queue.h"

/* The load of the bench, docs/notebook/normal-path.md: `mixed`. */
#define BESIDE_WRITERS		16U
#define BESIDE_WRITE_BYTES	(64U << 10)
#define BESIDE_READ_BYTES	4096U
#define BESIDE_REQUESTS		(BESIDE_WRITERS + 1)

#define BESIDE_MAX_WAITS	2048U	/* that are kept */

/* One order of requests, with a clock that only goes while it is its turn. */
struct beside {
	struct ressd_queue queue;
	struct ressd_request requests[BESIDE_REQUESTS];	/* the last one is the reader's */
	struct ressd_request *sent[BESIDE_REQUESTS];	/* the drive has them, in this order */
	u64 came[BESIDE_REQUESTS];			/* on @ns */
	unsigned int nr_sent;
	u64 ns;
	u64 reads, writes;
	unsigned int nr_waits;
	double waits[BESIDE_MAX_WAITS];			/* ns, of a read with its own time */
};

/*
 * All begin: the reader after the writers, so that it meets what it always will.  With a @depth of
 * BESIDE_REQUESTS all are sent as they come; with less, reads go before bundles of @bundle bytes of
 * the disk.
 */
void beside_begin(struct beside *beside, struct survey *survey, u32 depth, u64 bundle);

/*
 * Goes on for @writes, and flushes, so that nobody else's turn pays for them.  Ends early, with
 * false in @whole, when it is late (survey_late()).
 */
int beside_take_turn(struct beside *beside, struct survey *survey, unsigned int writes, bool *whole,
		     struct failure *failure);

#endif
