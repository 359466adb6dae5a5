/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the mover does: one thing at a time.
 *
 *	STOPPED				<-> IDLE
 *	BACKOFF				<-> IDLE
 *	DRAINING, TRIAL, EMPTYING	<-> IDLE
 *	KEEPING				<-> IDLE, or -> SWEEPING
 *	SWEEPING			<-  IDLE, -> SWEPT, which goes on as
 *					IDLE does, or to IDLE
 *
 * Only the mover's thread changes the state, with the target's lock held.  What
 * others ask of the mover (a drain, a trial, a suspend) is not part of it: by
 * that the mover chooses what it does next.
 */
#ifndef RESSD_MOVER_H
#define RESSD_MOVER_H

#include <linux/bug.h>
#include <linux/types.h>

enum ressd_mover_state {
	RESSD_MOVER_STOPPED,	/* there is no thread, or it ends */
	RESSD_MOVER_IDLE,	/* at rest, or about to begin something */
	RESSD_MOVER_BACKOFF,	/* gained nothing, and pauses */
	RESSD_MOVER_KEEPING,	/* what lives of its oldest is appended again */
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

/* Have writers to keep step with a sweep, the last one if there is none now? */
static inline bool ressd_mover_leads(enum ressd_mover_state state)
{
	return state >= RESSD_MOVER_SWEPT;
}

static inline bool ressd_mover_may_become(enum ressd_mover_state from,
					  enum ressd_mover_state to)
{
	switch (from) {
	case RESSD_MOVER_IDLE:
	case RESSD_MOVER_SWEPT:
		return to != from && to != RESSD_MOVER_SWEPT;
	case RESSD_MOVER_SWEEPING:
		return to == RESSD_MOVER_SWEPT;
	case RESSD_MOVER_KEEPING:
		return to == RESSD_MOVER_IDLE || to == RESSD_MOVER_SWEEPING;
	case RESSD_MOVER_STOPPED:
	case RESSD_MOVER_BACKOFF:
	case RESSD_MOVER_DRAINING:
	case RESSD_MOVER_TRIAL:
	case RESSD_MOVER_EMPTYING:
		break;
	}
	return to == RESSD_MOVER_IDLE;
}

/* The only place where the state changes.  Under the target's lock. */
static inline void ressd_mover_become(enum ressd_mover_state *state,
				      enum ressd_mover_state to)
{
	WARN_ON_ONCE(!ressd_mover_may_become(*state, to));
	*state = to;
}

#endif
