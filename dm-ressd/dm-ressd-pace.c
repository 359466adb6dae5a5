// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pace (SC): how a sweep is spread in time, and how writers keep step with it.
 *
 *	burst	the sweep goes as fast as the device can
 *	even	a sweep starts when free space gets scarce and ends when as much
 *		was used as it gains.  So the mover waits while it is ahead of
 *		the writers, and with on_full wait a writer that is ahead of the
 *		mover waits for it, instead of finding the log suddenly full; so
 *		does one that comes while the log keeps the live blocks of a
 *		segment, or when the mover is about to begin
 *	idle	as even; and when no bio has come for a while, all is written
 *		back
 *
 * core/ressd-step.h says what ahead means.
 */
#include "dm-ressd-mover.h"

/* So long without any bio is idle time. */
#define IDLE_TIME	(HZ / 4)

bool ressd_pace_is_low(const struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;

	lockdep_assert_held(&ressd->lock);
	return ressd->mover.vain != ressd_taken(ressd) + 1 &&
	       (u64)ressd_log_free_blocks(log) * 100 <
	       (u64)ressd_log_total_blocks(log) * ressd->options.move_threshold;
}

/*
 * Does the mover, which rests, begin to make room as soon as it is awake?  A
 * writer that did not wait for that could use up the room there is before the
 * mover has a processor.  Only if ressd_mover_choose() lets it begin: else the
 * writer would wait for ever.
 */
static bool mover_is_about_to_begin(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->mover.state == RESSD_MOVER_RESTING &&
	       ressd_log_is_used(&ressd->log) && ressd_mover_is_on(ressd) &&
	       ressd_pace_is_low(ressd);
}

bool ressd_pace_holds_writer(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	if (ressd->options.pace == RESSD_PACE_BURST)
		return false;
	/*
	 * While the log keeps blocks they would use up the space that a sweep
	 * needs, and then wait until the sweep ends.
	 */
	return ressd->mover.state == RESSD_MOVER_KEEPING ||
	       mover_is_about_to_begin(ressd) ||
	       (ressd_mover_leads(ressd->mover.state) &&
		ressd_step_writer_is_ahead(&ressd->mover.step, &ressd->log));
}

bool ressd_pace_is_quiet(const struct ressd *ressd)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ressd_seen *seen = per_cpu_ptr(ressd->seen, cpu);
		/* Before jiffies is looked at: so it is not later than that. */
		unsigned long last = smp_load_acquire(&seen->last_bio);

		if (jiffies - last <= IDLE_TIME)
			return false;
	}
	return true;
}

bool ressd_pace_is_idle(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->options.pace == RESSD_PACE_IDLE &&
	       ressd_pace_is_quiet(ressd);
}

bool ressd_pace_holds_mover(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	if (ressd_pace_is_idle(ressd) || ressd->errors.bad_blocks ||
	    (ressd->waiters.need_space && ressd_log_is_full(&ressd->log)) ||
	    ressd_log_is_starved(&ressd->log))
		return false;
	/*
	 * Beside the mover's batches a direct write takes ten times as long.
	 * But a writer may wait for them already, be it to keep step.
	 */
	if (ressd_route_tries_direct(ressd) &&
	    list_empty(&ressd->waiters.space))
		return true;
	return ressd->options.pace != RESSD_PACE_BURST &&
	       ressd_step_mover_is_ahead(&ressd->mover.step, &ressd->log);
}

/*
 * No event wakes the mover when idle time begins, in which it moves (pace idle)
 * or primes the log: it has to poll.  But one tells it that it may move.
 */
static bool clock_matters(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	if (!ressd_mover_is_on(ressd) || !ressd_log_is_rw(ressd))
		return false;
	if (ressd_log_nr_movable(&ressd->log))
		return ressd->options.pace == RESSD_PACE_IDLE;
	return ressd->mover.unprimed;
}

bool ressd_pace_watches_clock(struct ressd *ressd)
{
	bool watches;

	spin_lock(&ressd->lock);
	watches = clock_matters(ressd);
	spin_unlock(&ressd->lock);
	return watches;
}

bool ressd_pace_must_look(const struct ressd *ressd, bool clock)
{
	lockdep_assert_held(&ressd->lock);
	return ressd_discard_is_wanted(ressd) || clock_matters(ressd) != clock;
}
