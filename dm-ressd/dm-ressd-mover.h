/* SPDX-License-Identifier: GPL-2.0-only */
/* The mover: its thread, its batches, and what it does beside. */
#ifndef DM_RESSD_MOVER_H
#define DM_RESSD_MOVER_H

#include "dm-ressd-log.h"

/* dm-ressd-wait.c */
/*
 * Waits for the direct writes in flight now of which @touches, called with the
 * target, is true.  The mover's thread, or before it runs.
 */
void ressd_wait_for_direct_writes(struct ressd *ressd,
				  ressd_touches_t *touches);
/* Waits until a record is written, or the log does not work.  Likewise. */
void ressd_wait_for_record(struct ressd *ressd, u64 record);
/*
 * Has the open record written; returns when it is, or the log does not work.
 * Likewise.
 */
void ressd_write_open_record(struct ressd *ressd);
/*
 * Waits for a ticket, unless it takes another sweep to make the space that the
 * sync needs.  0, or -EIO if the log does not work.  Likewise.
 */
int ressd_wait_as_mover(struct ressd *ressd, u64 ticket);
/* Has segments that became free announced, and waits for that as above. */
int ressd_reclaim_as_mover(struct ressd *ressd);

/* dm-ressd-mover.c */
/* Has the mover, if it is at rest, something to do now?  Under the lock. */
bool ressd_mover_is_wanted(const struct ressd *ressd);
/*
 * Has the last sweep gained no space, because of blocks that it could not move?
 * And are they there still?  Under the lock.
 */
bool ressd_mover_is_stuck(const struct ressd *ressd);
/* Starts the thread; nothing to do when it runs already. */
int ressd_mover_start(struct ressd *ressd);
void ressd_mover_stop(struct ressd *ressd);
/* Writes everything back; interruptible.  0, -EINTR, -EIO. */
int ressd_drain(struct ressd *ressd);
static inline bool ressd_drain_cancelled(const struct ressd *ressd)
{
	return !READ_ONCE(ressd->mover.draining) ||
	       READ_ONCE(ressd->suspending);
}

/* dm-ressd-sweep.c */
/*
 * One sweep, by the mover's thread: 0 or -EIO; *@complete: it has come to all
 * blocks.
 */
int ressd_run_sweep(struct ressd *ressd, enum ressd_mover_state kind,
		    bool *complete);

/* dm-ressd-batch.c */
/*
 * Space for batches of @max moves, or -ENOMEM: then there is nothing to be
 * freed.
 */
int ressd_move_space_init(struct ressd_move_space *space, u32 max);
void ressd_move_space_free(struct ressd_move_space *space);
/*
 * Gives the mover space for batches of @max moves, if it has less.  Without the
 * lock; may sleep.
 */
int ressd_grow_move_space(struct ressd *ressd, u32 max);
/* Block @nr of the mover's buffer.  Its thread. */
static inline void *ressd_move_data(const struct ressd *ressd, u32 nr)
{
	return ressd->mover.space.buffer + (size_t)nr * RESSD_BLOCK_SIZE;
}

/*
 * The mover's thread calls this and the next one, without the lock.  Picks the
 * next batch and pins its segments.  From now on direct writes to its blocks
 * wait.  Returns how many were looked at: 0 at the sweep's end.
 */
u32 ressd_batch_pick(struct ressd *ressd);
/*
 * Writes the batch back and releases it; blocks that fail stay mapped and count
 * as bad.
 */
void ressd_batch_move(struct ressd *ressd);
/*
 * True if a move in flight goes to one of the @nr blocks from @first on.  Under
 * the lock.
 */
bool ressd_mover_overlaps(const struct ressd *ressd, u32 first, u32 nr);
/*
 * The same of blocks @first to @last.  The mover's thread, or under the lock.
 */
bool ressd_batch_touches(const void *context, u32 first, u32 last);

/* dm-ressd-keep.c */
/*
 * By the mover, which is KEEPING meanwhile: true if the oldest segment is empty
 * now.
 */
bool ressd_keep_tail(struct ressd *ressd);
/* Shall the log keep it?  In which slot.  Under the lock. */
bool ressd_keeps(const struct ressd *ressd, u32 *slot);

/* dm-ressd-cover.c */
int ressd_cover_init(struct ressd *ressd);
void ressd_cover_free(struct ressd *ressd);
/*
 * Must a direct write of these blocks wait for a run, or for the next one?
 * Under the lock.
 */
bool ressd_cover_holds(const struct ressd *ressd, u32 first, u32 nr);
/*
 * The same, and after an error there is none to wait for: the write must fail.
 * Under the lock.
 */
bool ressd_cover_is_stuck(const struct ressd *ressd, u32 first, u32 nr);
/*
 * May small writes wait until the log is covered, if it is not?  Under the
 * lock.
 */
bool ressd_cover_takes_writes(const struct ressd *ressd);
/*
 * Is the log's copy of a covered block damaged, and not overwritten since?
 * Would a write of @lbn replace it?  Under the lock.
 */
bool ressd_cover_is_bad(const struct ressd *ressd);
bool ressd_cover_mends(const struct ressd *ressd, u32 lbn);
/*
 * One run: 0, -EIO, or -EAGAIN if it takes a sweep first.  The mover's thread.
 */
int ressd_cover_run(struct ressd *ressd, enum ressd_cover_goal goal);
/*
 * Activation, after the opening record: a log that was not covered becomes a
 * drained one.
 */
int ressd_cover_restore(struct ressd *ressd);
/*
 * Activation: warns if the bare disk has something else where covers should be.
 */
void ressd_cover_compare(struct ressd *ressd);

/* dm-ressd-pace.c */
/*
 * Is less of the log free than move_threshold says, and could the mover change
 * that?  Under the lock.
 */
bool ressd_pace_is_low(const struct ressd *ressd);
/*
 * Has a writer, or the mover in a sweep, to wait for the other one?  Under the
 * lock.
 */
bool ressd_pace_holds_writer(const struct ressd *ressd);
bool ressd_pace_holds_mover(const struct ressd *ressd);
/* Has no bio come for a while?  Any context. */
bool ressd_pace_is_quiet(const struct ressd *ressd);
/* Is this time in which pace idle writes all back?  Under the lock. */
bool ressd_pace_is_idle(const struct ressd *ressd);
/* Has the mover, while it waits, to look at the clock?  Without the lock. */
bool ressd_pace_watches_clock(struct ressd *ressd);
/*
 * Has that changed from @clock, or is there a segment to be discarded?  Under
 * the lock.
 */
bool ressd_pace_must_look(const struct ressd *ressd, bool clock);
static inline long ressd_clock_interval(bool clock)
{
	return clock ? HZ / 20 : MAX_SCHEDULE_TIMEOUT;
}

#endif
