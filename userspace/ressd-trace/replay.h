/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sends a trace to a device, each request at its time, whether or not those before have completed.
 *
 * Two threads: one sleeps until a request is due and submits it, the other takes in completions.  A
 * submission that blocks delays those behind it; that they are late is counted.
 */
#ifndef TRACE_REPLAY_H
#define TRACE_REPLAY_H

#include <stdatomic.h>
#include "dm/blkdev.h"
#include "trace.h"

#define REPLAY_MAX_IN_FLIGHT	4096U
#define REPLAY_MAX_BUFFERS	1073741824ULL	/* bytes of all requests that may be in flight */

/* ns after the start of the replay. */
struct outcome {
	u64 due;
	u64 submitted;
	u64 completed;		/* 0: it was not replayed, because of an interruption */
};

struct replay {
	const struct blkdev *dev;
	const struct trace *trace;
	u32 in_flight;		/* requests at most */
	bool paced;		/* false: the times of the trace do not count */
	struct outcome *outcome;	/* of each request */
	u64 nr_completed;
	u64 waited;		/* requests that were due while too many were in flight */
	u64 ns;			/* until the last completion */
};

/* Set by a signal: what is in flight completes, nothing else is submitted. */
extern atomic_bool replay_interrupted;

/*
 * 0; -ECANCELED after an interruption, with the outcomes until then; or another negative errno with
 * a sentence: the first error ends the replay.  Release with replay_free() in all cases.
 */
int replay_run(struct replay *replay, struct failure *failure);
void replay_free(struct replay *replay);

#endif
