/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mover as a state machine: it does one thing at a time.
 *
 *	STOPPED				<-> IDLE
 *	RESTING				<-> IDLE, or <- SWEPT
 *	BACKOFF				<-> IDLE
 *	DRAINING, TRIAL, EMPTYING	<-> IDLE
 *	KEEPING				<-> IDLE, or -> SWEEPING
 *	SWEEPING			<-  IDLE, -> SWEPT, which goes on as
 *					IDLE does, or to IDLE
 *
 * Only the mover's thread changes the state, with the target's lock held.  What
 * others request of the mover (a drain, a trial, a suspend) is not part of it,
 * but of the facts from which ressd_mover_choose() says what the mover does
 * next.
 */
#ifndef RESSD_MOVER_H
#define RESSD_MOVER_H

#include <linux/types.h>

enum ressd_mover_state {
	RESSD_MOVER_STOPPED,	/* there is no thread, or it ends */
	RESSD_MOVER_IDLE,	/* about to begin something */
	RESSD_MOVER_RESTING,	/* waits for a reason to begin something */
	RESSD_MOVER_BACKOFF,	/* gained nothing, and pauses */
	RESSD_MOVER_KEEPING,	/* appends the oldest live blocks again */
	RESSD_MOVER_SWEPT,	/* space gained, a sweep may follow at once */

	/*
	 * Sweeps.  All but the first take also the segment that is being
	 * written.
	 */
	RESSD_MOVER_SWEEPING,	/* for space */
	RESSD_MOVER_DRAINING,
	RESSD_MOVER_TRIAL,	/* route adaptive: what does moving cost? */
	RESSD_MOVER_EMPTYING,	/* pace idle */
};

static inline bool ressd_mover_sweeps(enum ressd_mover_state state)
{
	return state >= RESSD_MOVER_SWEEPING;
}

/* Must writers keep step with a sweep, or with the last one that ended? */
static inline bool ressd_mover_leads(enum ressd_mover_state state)
{
	return state >= RESSD_MOVER_SWEPT;
}

bool ressd_mover_may_become(enum ressd_mover_state from,
			    enum ressd_mover_state to);

/* The only place where the state changes.  Under the target's lock. */
void ressd_mover_become(enum ressd_mover_state *state,
			enum ressd_mover_state to);

/* All of one moment. */
struct ressd_mover_facts {
	bool in_service;	/* the log is in mode RW */
	bool on;		/* may move though no write waits for space */
	bool draining;
	bool suspending;
	bool trial;		/* of route adaptive: it waits for moves */
	bool idle;		/* for pace idle, and blocks can be moved */
	bool covers;		/* the log is to be covered, or uncovered */
	bool used;		/* a segment before the head is not free */
	bool full;		/* writes wait for space */
	bool low;		/* less than move_threshold is free */
	bool starved;		/* a sync waits for space */
	bool bad;		/* there are blocks that could not be moved */
	bool bad_gone;		/* one of them was overwritten since */
	bool retry;		/* they are to be tried again at once */
};

/* What the mover, if it rests, does now: a kind of sweep, or IDLE: nothing. */
enum ressd_mover_state
ressd_mover_choose(const struct ressd_mover_facts *facts);

/* What shows whether a sweep, or a run of the cover, has gained anything. */
struct ressd_mover_progress {
	u64 reused;	/* log->reuse_seq */
	u64 moved;	/* blocks */
	bool covered;
	u64 taken;	/* blocks that the log has accepted of writers */
	u32 free;	/* blocks */
};

/*
 * How many milliseconds to pause after it, 0: not at all.  @error is what it
 * ended with; *@backoff is the last pause after an error, 0 if none since.
 */
u32 ressd_mover_pause(const struct ressd_mover_progress *before,
		      const struct ressd_mover_progress *after, int error,
		      u32 *backoff);

/*
 * Has it appended again as much as that has freed?  It would do so for ever:
 * the next one is not to begin before the log has taken more.
 */
bool ressd_mover_was_vain(const struct ressd_mover_progress *before,
			  const struct ressd_mover_progress *after, int error);

/* Does such a pause, after @error, end early? */
bool ressd_mover_resumes(const struct ressd_mover_facts *facts, int error);

#endif
