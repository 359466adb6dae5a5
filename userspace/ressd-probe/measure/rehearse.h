/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rehearsal: what ressd would do to the drive, played with real I/O, beside random writes of
 * the same size.  The model of RE Eq. (1) to (5) adds up speeds that were measured one after the
 * other; a drive that mixes a log with ordered writes may be slower than their sum.
 */
#ifndef PROBE_REHEARSE_H
#define PROBE_REHEARSE_H

#include "measure/measure.h"

/* Sizes of small writes that are rehearsed: 4 KiB times 1, 2, 4 ... */
#define NR_REHEARSALS		6
#define REHEARSAL_BYTES(index)	(4096U << (index))

/* Times are ns for each 4 KiB that the upper layer writes, flushes included. */
struct rehearsal {
	bool done;
	bool steady;		/* else see spread_percent */
	bool direct_is_least;	/* random writes cost more later */
	bool pauses;		/* what both cost is pauses, most of all */
	bool shares_log;	/* these are merges of many blocks, which share log blocks */
	u32 size;		/* of a small write, bytes */
	u64 direct_ns;		/* random writes to the bare device */
	u64 log_ns;		/* appended to the log */
	u64 move_ns;		/* read back and written home in ascending order */
	u32 gain_percent;	/* direct / (log + what is moved of move): 100 = no gain */
	u64 working_set;	/* that the small writes go to, bytes; 0: the whole device */
	u32 overwritten_percent; /* of the blocks of such a load, in the log, and never moved */
	u32 spread_percent;	/* of the rounds that count */
	u32 direct_spread_percent;
	u32 visit_pieces;	/* that go home to one clustered block; 0: it is not known */
	u64 pieces;		/* small writes in these rounds; 0: bound_rehearsal() */
	u64 ns;			/* device time of all rounds */
	u64 written;		/* bytes, by all rounds */
};

struct rehearsal_plan {
	u32 size;		/* of a small write, multiple of 4096 */
	u32 align;		/* log records end on multiples of it, 4096 to 256 KiB, bytes */
	u64 log_start;		/* of the log in the region */
	u64 log_bytes;		/* to its end; the part before is the normal area */
	u64 stride;		/* mean distance at which pieces go home, bytes */
	u32 visit_pieces;	/* see struct rehearsal */
	u64 block, block_phase;	/* the clustered block, bytes; 0: it is not known */
	u32 visits;		/* clustered blocks that are visited between two records at most */
	u64 working_set;	/* likewise */
	u32 overwritten_percent;
	u64 pause_ns;		/* of each call, see rounds_without_pauses() */
	u64 most_bytes;		/* written, after which there are no more rounds than needed */
	u64 long_ns;		/* of a call in which the drive pauses; 0: it does not */
	bool shares_log;	/* see struct rehearsal */
	bool flush_ignored;	/* the first round pays for what was buffered before, too */
};

/*
 * Where things lie when an eighth of the region is the log.  It begins on a multiple of @align,
 * counted from byte @phase of the device (a clustered page and its phase).
 */
void rehearsal_place(const struct measure *measure, u32 align, u64 phase,
		     struct rehearsal_plan *plan);

/*
 * Runs rounds of records and moves until they agree (rounds_want_more()) or measure->deadline has
 * come.  @direct: random writes of plan->size, measured before.  0, or a negative errno with a
 * sentence.  Not done if a drive that ignores flushes, or pauses, had no time for a second round.
 */
int rehearse(struct measure *measure, const struct rehearsal_plan *plan,
	     const struct result *direct, struct rehearsal *rehearsal, struct failure *failure);

#endif
