// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mover (RE section 3.2): a thread that writes the data of full segments
 * back in ascending order, so that the log's segments can be used again.
 *
 * core/ressd-mover.c decides what it does next: a sweep (dm-ressd-sweep.c), a
 * run of the cover, or nothing.  If few blocks of the oldest segment are live
 * there is no sweep: they stay in the log (dm-ressd-keep.c).
 *
 * A block that cannot be moved stays mapped; its segment, and with it all later
 * ones, cannot be reused until a later sweep moves it or it is overwritten.
 * The pause after a sweep with errors doubles each time.
 */
#include <linux/kthread.h>

#include "dm-ressd-mover.h"
#include "core/ressd-keep.h"

/* --- idle time ------------------------------------------------------------ */

/*
 * Nothing is left to be moved: the log can be made ready for a burst, once
 * after something was moved.
 */
static bool wants_priming(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->mover.unprimed && ressd_mover_is_on(ressd) &&
	       !ressd->mover.draining && ressd_pace_is_quiet(ressd) &&
	       !ressd->log.busy;
}

/*
 * Step by step, until there is nothing left to prepare or something else to do.
 * The log's worker writes; the mover only waits for that.
 */
static void prime_log(struct ressd *ressd)
{
	struct ressd_log *log = &ressd->log;
	u64 head = 0, ticket;

	spin_lock(&ressd->lock);
	while (!kthread_should_stop() && wants_priming(ressd)) {
		/* A step that came to nothing would do so again. */
		ressd->mover.unprimed = log->head_seq != head &&
					ressd_log_can_prime(log);
		if (!ressd->mover.unprimed)
			break;
		head = log->head_seq;
		ticket = ressd_log_prime(log);
		spin_unlock(&ressd->lock);
		ressd_wait_as_mover(ressd, ticket);
		spin_lock(&ressd->lock);
	}
	spin_unlock(&ressd->lock);
}

/* --- the thread ----------------------------------------------------------- */

/* Is this idle time, in which what is on the device can be written back? */
static bool can_move_idle(const struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;

	lockdep_assert_held(&ressd->lock);
	return ressd_log_nr_movable(log) && !log->busy &&
	       !log->records[log->open].nr_maps && ressd_pace_is_idle(ressd);
}

/*
 * Has one of the blocks that could not be moved been overwritten since, so that
 * a sweep may find that none is left?  An I/O of the log follows that write,
 * and its end wakes the mover.
 */
static bool bad_block_is_gone(const struct ressd *ressd)
{
	u32 block = ressd->mover.bad_block;

	lockdep_assert_held(&ressd->lock);
	return ressd->errors.bad_blocks && !ressd_cover_is_bad(ressd) &&
	       ressd_keep_next(&ressd->log, block, block + 1) != block;
}

bool ressd_mover_is_stuck(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->errors.stuck && !bad_block_is_gone(ressd);
}

/* That covers have to be carried is no reason to look for space. */
static bool wants_covers(const struct ressd *ressd)
{
	enum ressd_cover_goal goal;

	lockdep_assert_held(&ressd->lock);
	return !ressd->hibernating &&
	       ressd_cover_choose(&ressd->log, ressd->mover.draining, &goal) &&
	       goal != RESSD_COVER_CARRY;
}

static struct ressd_mover_facts facts_now(const struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;

	lockdep_assert_held(&ressd->lock);
	return (struct ressd_mover_facts) {
		.in_service = ressd_log_is_rw(ressd),
		.on = ressd_mover_is_on(ressd),
		.draining = ressd->mover.draining,
		.suspending = ressd->suspending,
		.trial = ressd_route_asks_move(ressd),
		.idle = can_move_idle(ressd),
		.covers = wants_covers(ressd),
		.used = ressd_log_is_used(log),
		.full = ressd->waiters.need_space && ressd_log_is_full(log),
		.low = ressd_pace_is_low(ressd),
		.starved = ressd_log_is_starved(log),
		.bad = ressd->errors.bad_blocks,
		.bad_gone = bad_block_is_gone(ressd),
		.retry = ressd->mover.retry_now,
	};
}

static enum ressd_mover_state choose(const struct ressd *ressd)
{
	const struct ressd_mover_facts facts = facts_now(ressd);

	return ressd_mover_choose(&facts);
}

bool ressd_mover_is_wanted(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return choose(ressd) != RESSD_MOVER_IDLE ||
	       ressd_pace_must_look(ressd,
				    READ_ONCE(ressd->mover.watches_clock));
}

/*
 * Ends the drain if the log is drained, or else if there is an error.  True if
 * the log is drained.
 */
static bool end_drain(struct ressd *ressd, int error)
{
	bool drained;

	spin_lock(&ressd->lock);
	drained = ressd_log_is_drained(&ressd->log);
	if (drained)
		ressd_pattern_drained(&ressd->pattern);
	if (drained || error) {
		ressd->mover.drain_result = drained ? 0 : error;
		WRITE_ONCE(ressd->mover.draining, false);
	}
	spin_unlock(&ressd->lock);
	wake_up(&ressd->wait);
	return drained;
}

/*
 * Has the mover enter a state in which writers need not keep step with it.
 * After a sweep for space (SWEPT) often the next one begins at once: until then
 * writers may not use up the space that has just become free, or the mover
 * would find none to pace them by.  If none follows they go on; and so they do
 * when the log has appended again what it keeps of a segment, and when the
 * mover that they have woken (ressd_pace_holds_writer()) is awake.
 */
static void rest(struct ressd *ressd, enum ressd_mover_state state)
{
	bool held;

	spin_lock(&ressd->lock);
	if (ressd->mover.state != state)
		ressd_mover_become(&ressd->mover.state, state);
	held = !list_empty(&ressd->waiters.space);
	spin_unlock(&ressd->lock);
	if (held)
		ressd_run_log(ressd);
}

/*
 * After a sweep that met blocks which could not be moved, or that found none
 * left: counts and reports them.  A sync that needs the space which they hold
 * would wait for ever, so it fails.
 */
static void note_bad_blocks(struct ressd *ressd, bool complete, bool gained)
{
	bool changed, more;

	spin_lock(&ressd->lock);
	/* A sweep that was ended early has not seen them all. */
	if (!complete && ressd->mover.bad_blocks < ressd->errors.bad_blocks)
		ressd->mover.bad_blocks = ressd->errors.bad_blocks;
	changed = !ressd->mover.bad_blocks != !ressd->errors.bad_blocks;
	more = ressd->mover.bad_blocks > ressd->errors.bad_blocks;
	ressd->errors.bad_blocks = ressd->mover.bad_blocks;
	/* One that was ended early has not tried to free all. */
	if (complete || gained)
		ressd->errors.stuck = ressd->errors.bad_blocks && !gained;
	if (ressd->errors.stuck && ressd_log_is_starved(&ressd->log))
		ressd_log_give_up(&ressd->log);
	spin_unlock(&ressd->lock);

	if (more)
		DMERR("%s: %u block%s cannot be written back, so the log cannot be reused from there on; the mover tries again",
		      ressd_name(ressd), ressd->errors.bad_blocks,
		      ressd->errors.bad_blocks == 1 ? "" : "s");
	else if (changed)
		DMINFO("%s: all blocks can be written back again",
		       ressd_name(ressd));
	if (changed || more)
		dm_table_event(ressd->ti->table);
	ressd_note_mode(ressd);
	ressd_run_log(ressd);
}

/*
 * A run of the cover comes before a sweep, unless there was no free space for
 * its records.
 */
static bool cover_first(struct ressd *ressd, bool drain, int *ret)
{
	enum ressd_cover_goal goal;
	bool wanted, bad;

	spin_lock(&ressd->lock);
	wanted = ressd_cover_choose(&ressd->log, drain, &goal);
	spin_unlock(&ressd->lock);
	if (!wanted)
		return false;
	*ret = ressd_cover_run(ressd, goal);
	spin_lock(&ressd->lock);
	bad = ressd_cover_is_bad(ressd);
	spin_unlock(&ressd->lock);
	/* All other blocks have been moved by then. */
	if (goal == RESSD_COVER_UNCOVER && (bad || ressd->errors.bad_blocks)) {
		ressd->mover.bad_blocks = bad;
		note_bad_blocks(ressd, true, true);
	}
	/*
	 * A damaged copy is not carried.  The sweep reports that its segment
	 * cannot be reused.
	 */
	return *ret != -EAGAIN && (goal != RESSD_COVER_CARRY || *ret != -EIO);
}

static struct ressd_mover_progress progress_now(struct ressd *ressd)
{
	struct ressd_mover_progress now;

	spin_lock(&ressd->lock);
	now = (struct ressd_mover_progress) {
		.reused = ressd->log.reuse_seq,
		.moved = ressd->counters.moved_blocks,
		.covered = ressd->log.covered,
		.taken = ressd_taken(ressd),
		.free = ressd_log_free_blocks(&ressd->log),
	};
	spin_unlock(&ressd->lock);
	return now;
}

/* 0, or -EIO if not all could be moved. */
static int sweep(struct ressd *ressd, enum ressd_mover_state kind)
{
	struct ressd_mover_progress before = progress_now(ressd);
	bool complete;
	int ret = ressd_run_sweep(ressd, kind, &complete);

	if (ressd->mover.bad_blocks || ressd->errors.bad_blocks)
		note_bad_blocks(ressd, complete,
				progress_now(ressd).reused != before.reused);
	return ressd->errors.bad_blocks ? -EIO : ret;
}

/* One sweep, and what it came to: 0, or the error that a pause must follow. */
static int sweep_once(struct ressd *ressd, enum ressd_mover_state kind)
{
	bool drain = kind == RESSD_MOVER_DRAINING;
	int ret;

	/* Only what is on the device can be moved. */
	if ((drain || kind == RESSD_MOVER_TRIAL) &&
	    (ressd_reclaim_as_mover(ressd) || (drain && end_drain(ressd, 0))))
		return 0;
	if (cover_first(ressd, drain, &ret)) {
		if (drain && ret)
			end_drain(ressd, ret);
		return ret;
	}
	if (kind == RESSD_MOVER_SWEEPING && ressd_keep_tail(ressd)) {
		/*
		 * With the last of what was kept; before the segment is
		 * announced as free.
		 */
		ressd_write_open_record(ressd);
		ret = ressd_reclaim_as_mover(ressd);
		rest(ressd, RESSD_MOVER_IDLE);
		return ret;
	}
	ret = sweep(ressd, kind);
	if (drain)
		end_drain(ressd, ret);
	return ret;
}

static enum ressd_mover_state next_state(struct ressd *ressd)
{
	enum ressd_mover_state state;

	spin_lock(&ressd->lock);
	state = choose(ressd);
	spin_unlock(&ressd->lock);
	return state;
}

static bool has_reason(struct ressd *ressd)
{
	bool reason;

	if (kthread_should_stop())
		return true;
	spin_lock(&ressd->lock);
	reason = ressd_mover_is_wanted(ressd);
	spin_unlock(&ressd->lock);
	return reason;
}

/*
 * Waits until there is a reason to sweep, and returns for which sweep; IDLE:
 * the thread ends.
 */
static enum ressd_mover_state wait_for_reason(struct ressd *ressd)
{
	ressd_discard_next(ressd);
	while (!kthread_should_stop()) {
		bool clock = ressd_pace_watches_clock(ressd);
		enum ressd_mover_state next = next_state(ressd);

		if (next != RESSD_MOVER_IDLE)
			return next;
		/*
		 * A writer waits for a mover that rests; not while the device
		 * takes its time for a discard.
		 */
		rest(ressd, RESSD_MOVER_IDLE);
		ressd_discard_next(ressd);
		rest(ressd, RESSD_MOVER_RESTING);
		WRITE_ONCE(ressd->mover.watches_clock, clock);
		wait_event_idle_timeout(ressd->mover.rest, has_reason(ressd),
					ressd_clock_interval(clock));
		rest(ressd, RESSD_MOVER_IDLE);
		if (clock)
			prime_log(ressd);
	}
	return RESSD_MOVER_IDLE;
}

static bool pause_ends(struct ressd *ressd, int error)
{
	struct ressd_mover_facts facts;

	if (kthread_should_stop())
		return true;
	spin_lock(&ressd->lock);
	facts = facts_now(ressd);
	spin_unlock(&ressd->lock);
	return ressd_mover_resumes(&facts, error);
}

/* A sweep, and the pause after one that has gained nothing. */
static void sweep_and_pause(struct ressd *ressd, enum ressd_mover_state kind)
{
	struct ressd_mover_progress before, after;
	u32 pause;
	int ret;

	ressd_retry_moves(ressd, false);
	before = progress_now(ressd);
	ret = sweep_once(ressd, kind);
	after = progress_now(ressd);
	spin_lock(&ressd->lock);
	ressd->mover.vain = ressd_mover_was_vain(&before, &after, ret) ?
				    after.taken + 1 : 0;
	spin_unlock(&ressd->lock);
	pause = ressd_mover_pause(&before, &after, ret, &ressd->mover.backoff);
	if (!pause || kthread_should_stop())
		return;
	rest(ressd, RESSD_MOVER_BACKOFF);
	wait_event_interruptible_timeout(ressd->wait, pause_ends(ressd, ret),
					 msecs_to_jiffies(pause));
	rest(ressd, RESSD_MOVER_IDLE);
}

static int mover_thread(void *data)
{
	struct ressd *ressd = data;
	enum ressd_mover_state next;

	rest(ressd, RESSD_MOVER_IDLE);
	while ((next = wait_for_reason(ressd)) != RESSD_MOVER_IDLE)
		sweep_and_pause(ressd, next);
	rest(ressd, RESSD_MOVER_STOPPED);
	return 0;
}

int ressd_mover_start(struct ressd *ressd)
{
	struct task_struct *mover;

	if (ressd->mover.thread)
		return 0;
	mover = kthread_run(mover_thread, ressd, "ressd_mv/%s",
			    ressd_name(ressd));
	if (IS_ERR(mover)) {
		DMERR("%s: the mover thread cannot be started (error %ld); resume the device again",
		      ressd_name(ressd), PTR_ERR(mover));
		return PTR_ERR(mover);
	}
	ressd->mover.thread = mover;
	return 0;
}

void ressd_mover_stop(struct ressd *ressd)
{
	if (!ressd->mover.thread)
		return;
	kthread_stop(ressd->mover.thread);
	ressd->mover.thread = NULL;
}

int ressd_drain(struct ressd *ressd)
{
	int ret;

	spin_lock(&ressd->lock);
	ressd->mover.drain_result = -EINTR;
	ressd_begin_drain(ressd);
	spin_unlock(&ressd->lock);
	/* drain_result says why it ended. */
	(void)wait_event_interruptible(ressd->wait,
				       ressd_drain_cancelled(ressd) ||
					       !ressd_log_is_rw(ressd));

	spin_lock(&ressd->lock);
	WRITE_ONCE(ressd->mover.draining, false);
	ret = ressd->mover.drain_result;
	if (ret && !ressd_log_is_rw(ressd))
		ret = -EIO;
	spin_unlock(&ressd->lock);
	if (ret == -EIO)
		DMERR("%s: the drain has ended with an error; what is left stays in the log",
		      ressd_name(ressd));
	return ret;
}
