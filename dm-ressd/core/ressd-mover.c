// SPDX-License-Identifier: GPL-2.0-only
/* What the mover does next; see ressd-mover.h. */
#include <linux/bug.h>
#include <linux/minmax.h>
#include "ressd-mover.h"

/* Pauses in milliseconds.  That after an error doubles each time. */
#define PAUSE		20U
#define FIRST_BACKOFF	1000U
#define LAST_BACKOFF	64000U

bool ressd_mover_may_become(enum ressd_mover_state from,
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
	case RESSD_MOVER_RESTING:
	case RESSD_MOVER_BACKOFF:
	case RESSD_MOVER_DRAINING:
	case RESSD_MOVER_TRIAL:
	case RESSD_MOVER_EMPTYING:
		break;
	}
	return to == RESSD_MOVER_IDLE;
}

void ressd_mover_become(enum ressd_mover_state *state,
			enum ressd_mover_state to)
{
	WARN_ON_ONCE(!ressd_mover_may_become(*state, to));
	*state = to;
}

/* Is there a reason to sweep, and something that a sweep could do? */
static bool wants_space(const struct ressd_mover_facts *facts)
{
	return facts->covers ||
	       (facts->bad && facts->retry && !facts->suspending) ||
	       (facts->bad_gone && facts->on) ||
	       (facts->used && (facts->full || (facts->low && facts->on)));
}

enum ressd_mover_state ressd_mover_choose(const struct ressd_mover_facts *facts)
{
	if (!facts->in_service)
		return RESSD_MOVER_IDLE;
	if (facts->draining)
		return facts->suspending && !wants_space(facts) ?
			RESSD_MOVER_IDLE : RESSD_MOVER_DRAINING;
	if (facts->trial)
		return RESSD_MOVER_TRIAL;
	if (facts->idle && facts->on)
		return RESSD_MOVER_EMPTYING;
	return wants_space(facts) ? RESSD_MOVER_SWEEPING : RESSD_MOVER_IDLE;
}

u32 ressd_mover_pause(const struct ressd_mover_progress *before,
		      const struct ressd_mover_progress *after, int error,
		      u32 *backoff)
{
	if (!error)
		*backoff = 0;
	if (after->reused != before->reused ||
	    after->covered != before->covered ||
	    (!error && after->moved != before->moved))
		return 0;
	/* The device fails, or a direct write was in the way. */
	if (!error)
		return PAUSE;
	*backoff = clamp(2 * *backoff, FIRST_BACKOFF, LAST_BACKOFF);
	return *backoff;
}

bool ressd_mover_was_vain(const struct ressd_mover_progress *before,
			  const struct ressd_mover_progress *after, int error)
{
	return !error && after->reused != before->reused &&
	       after->moved == before->moved && after->taken == before->taken &&
	       after->free <= before->free;
}

/*
 * A sweep that a suspend waits for either frees space or gives the log up: the
 * next one is not begun for it.
 */
bool ressd_mover_resumes(const struct ressd_mover_facts *facts, int error)
{
	return error && (facts->retry || facts->draining ||
			 (facts->suspending && facts->in_service &&
			  facts->starved));
}
