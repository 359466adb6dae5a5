// SPDX-License-Identifier: GPL-2.0-only
/*
 * One sweep of the mover (RE section 3.2): it freezes the full segments and
 * then moves batch after batch (dm-ressd-batch.c) in ascending order.  At its
 * end one record, written after a flush, announces the new tail; when it is
 * durable the segments before may be overwritten.  Called by the mover's
 * thread.
 */
#include <linux/kthread.h>
#include <linux/sched.h>

#include "dm-ressd-mover.h"

static bool sweeps_for_space(const struct ressd *ressd)
{
	return ressd->mover.state == RESSD_MOVER_SWEEPING;
}

/*
 * The device's clustered blocks count from its own first sector, also under a
 * partition.
 */
static void plan_visits(struct ressd *ressd)
{
	u32 blocks = ressd->options.move_block_sectors / RESSD_BLOCK_SECTORS;
	u32 phase = 0;

	lockdep_assert_held(&ressd->lock);
	if (blocks)
		div_u64_rem(ressd_device_block(ressd->normal,
					       ressd->table.normal_start),
			    blocks, &phase);
	ressd_sweep_visits(&ressd->mover.sweep, blocks, phase,
			   ressd->options.move_fill_blocks,
			   ressd->mover.visit_from);
}

/*
 * Between two visits, and the oldest segment has become empty, or the log is to
 * keep the rest?  A sweep that is not for space goes round all blocks, and so
 * does one where blocks could not be moved: it has to count them.
 */
static bool goal_reached(struct ressd *ressd)
{
	bool reached;
	u32 slot;

	spin_lock(&ressd->lock);
	ressd_step_moved(&ressd->mover.step, &ressd->mover.sweep, &ressd->log);
	reached = sweeps_for_space(ressd) && !ressd->errors.bad_blocks &&
		  !ressd->mover.bad_blocks &&
		  ressd_sweep_between_visits(&ressd->mover.sweep) &&
		  (ressd_step_has_room(&ressd->mover.step, &ressd->log) ||
		   ressd_keeps(ressd, &slot) ||
		   ressd_cover_must_carry(&ressd->log));
	ressd->mover.visit_from = ressd->mover.sweep.visit_end;
	spin_unlock(&ressd->lock);
	/*
	 * After ressd_step_moved(): writers that wait look at how far the sweep
	 * is.
	 */
	ressd_run_log(ressd);
	return reached;
}

/*
 * Freezes the segments; returns the record that must have been written before
 * moving begins.
 */
static u64 start_sweep(struct ressd *ressd, enum ressd_mover_state kind)
{
	u64 record;

	spin_lock(&ressd->lock);
	ressd_mover_become(&ressd->mover.state, kind);
	record = ressd_sweep_start(&ressd->mover.sweep, &ressd->log);
	plan_visits(ressd);
	if (!sweeps_for_space(ressd))
		ressd->mover.sweep.last_segment = ressd->log.head_seq;
	else if (ressd->mover.sweep.visit_blocks)
		ressd_sweep_oldest(&ressd->mover.sweep, &ressd->log);
	ressd_step_start(&ressd->mover.step, &ressd->mover.sweep, &ressd->log);
	ressd->mover.bad_blocks = ressd_cover_is_bad(ressd);
	ressd->counters.sweeps++;
	ressd_route_sweep(&ressd->route, kind == RESSD_MOVER_SWEEPING,
			  ressd->log.map.nr_dirty);
	spin_unlock(&ressd->lock);
	return record;
}

/* Is what the sweep was begun for over: idle time, or the trial? */
static bool occasion_ends(struct ressd *ressd)
{
	bool goes_on;

	spin_lock(&ressd->lock);
	goes_on = ressd->mover.state == RESSD_MOVER_EMPTYING ?
			  ressd_mover_is_on(ressd) &&
				  ressd_pace_is_idle(ressd) :
			  ressd_route_asks_move(ressd);
	spin_unlock(&ressd->lock);
	return !goes_on;
}

/* Is the log to stay as it is, unless a write waits for space? */
static bool is_put_off(struct ressd *ressd)
{
	bool put_off;

	spin_lock(&ressd->lock);
	put_off = ressd->hibernating && !(ressd->waiters.need_space &&
					  ressd_log_is_full(&ressd->log));
	spin_unlock(&ressd->lock);
	return put_off;
}

static bool sweep_ends(struct ressd *ressd)
{
	if (kthread_should_stop() || !ressd_log_is_rw(ressd))
		return true;
	if (sweeps_for_space(ressd))
		return is_put_off(ressd);
	if (ressd->mover.state == RESSD_MOVER_DRAINING)
		return ressd_drain_cancelled(ressd);
	return occasion_ends(ressd) || READ_ONCE(ressd->suspending) ||
	       READ_ONCE(ressd->mover.draining);
}

/* Is the mover ahead of the writers, and is there time? */
static bool is_ahead(struct ressd *ressd)
{
	bool held;

	if (kthread_should_stop() || READ_ONCE(ressd->mover.draining) ||
	    READ_ONCE(ressd->suspending))
		return false;
	spin_lock(&ressd->lock);
	held = ressd_log_is_rw(ressd) && ressd_pace_holds_mover(ressd) &&
	       !ressd_route_asks_move(ressd);
	spin_unlock(&ressd->lock);
	return held;
}

static bool must_look(struct ressd *ressd, bool clock)
{
	bool must;

	spin_lock(&ressd->lock);
	must = ressd_pace_must_look(ressd, clock);
	spin_unlock(&ressd->lock);
	return must;
}

/* Waits until the writers have caught up. */
static void keep_step(struct ressd *ressd)
{
	while (is_ahead(ressd)) {
		bool clock = ressd_pace_watches_clock(ressd);

		ressd_discard_next(ressd);
		wait_event_idle_timeout(ressd->wait,
					!is_ahead(ressd) ||
						must_look(ressd, clock),
					ressd_clock_interval(clock));
	}
}

/*
 * Moves all blocks of the frozen segments, or with visits until the oldest one
 * is empty; false if it has not come to all of them.
 */
static bool move_all(struct ressd *ressd)
{
	u32 nr;

	while (!sweep_ends(ressd)) {
		if (sweeps_for_space(ressd))
			keep_step(ressd);
		nr = ressd_batch_pick(ressd);
		if (!nr)
			return true;
		ressd_wait_for_direct_writes(ressd, ressd_batch_touches);
		ressd_batch_move(ressd);
		cond_resched();
		if (goal_reached(ressd))
			break;
	}
	return false;
}

int ressd_run_sweep(struct ressd *ressd, enum ressd_mover_state kind,
		    bool *complete)
{
	u64 ticket, record = start_sweep(ressd, kind);

	ressd_wait_for_record(ressd, record);
	*complete = move_all(ressd);

	spin_lock(&ressd->lock);
	ressd_mover_become(&ressd->mover.state,
			   kind == RESSD_MOVER_SWEEPING ? RESSD_MOVER_SWEPT :
							  RESSD_MOVER_IDLE);
	if (kind == RESSD_MOVER_DRAINING)
		ressd_log_rotate(&ressd->log);
	if (kind == RESSD_MOVER_TRIAL)
		ressd_route_trial_moved(ressd,
					*complete && !ressd->mover.bad_blocks);
	ticket = ressd_log_reclaim(&ressd->log);
	spin_unlock(&ressd->lock);
	return ressd_wait_as_mover(ressd, ticket);
}
