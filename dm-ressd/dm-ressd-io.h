/* SPDX-License-Identifier: GPL-2.0-only */
/* Bios: from the target's map to their end. */
#ifndef DM_RESSD_IO_H
#define DM_RESSD_IO_H

#include "dm-ressd-mover.h"

/* dm-ressd-io.c */
/* Passes the options on to the pattern identifier.  Under the lock. */
void ressd_tune_router(struct ressd *ressd);
/*
 * The target's map: sends the bio on, lets it wait, completes it, or refuses
 * it.
 */
int ressd_map_bio(struct dm_target *ti, struct bio *bio);
/*
 * Lets the small writes that wait for space try again.  Context: process, no
 * lock held.
 */
void ressd_retry_space_waiters(struct ressd *ressd);
/* Copies @bytes of the bio, from @offset on, to @to. */
void ressd_copy_from_bio(struct bio *bio, unsigned int offset, void *to,
			 unsigned int bytes);
/*
 * The bio waits until the log is synced: a flush, or a direct write with FUA.
 * Under the lock.
 */
void ressd_wait_for_sync(struct ressd *ressd, struct ressd_bio *rb);
/*
 * A bio whose data has its place in the open record: true if it completes now.
 * Under the lock.
 */
bool ressd_finish_logged(struct ressd *ressd, struct bio *bio);

/* dm-ressd-direct.c */
/*
 * Has the log no space for a write of these blocks, which must be logged, and
 * will have none, since blocks cannot be moved?  @nr is 0 if it replaces no
 * damaged copy.  Under the lock.
 */
bool ressd_room_is_lost(const struct ressd *ressd, u32 first, u32 nr);
/* A write for which the log has no room waits.  Under the lock. */
void ressd_wait_for_space(struct ressd *ressd, struct ressd_bio *rb);
/* The blocks that a bio covers as a whole and invalidates: rb->first and nr. */
void ressd_set_blocks(struct ressd_bio *rb, const struct ressd_extent *e);
/*
 * Sends a write of @e that touches nothing mapped to the normal area:
 * DM_MAPIO_REMAPPED, _KILL, or _SUBMITTED when it is held there.  Under the
 * lock.
 */
int ressd_start_direct(struct ressd *ressd, struct bio *bio,
		       struct ressd_bio *rb, const struct ressd_extent *e);
/*
 * The same for any direct write or discard of rb->first .. + nr: _SUBMITTED
 * also when it waits for a move.  Negative for a discard of which nothing is to
 * be done; ressd_go_on() knows that, too.  Under the lock.
 */
int ressd_write_direct(struct ressd *ressd, struct bio *bio);
/* A write within normal block @lbn; else as ressd_write_direct(). */
int ressd_write_piece(struct ressd *ressd, struct bio *bio, u32 lbn);
/* As ressd_map_bio(), for a discard. */
int ressd_map_discard(struct ressd *ressd, struct bio *bio);
/*
 * What has waited goes on as was decided (DM_MAPIO_...): adds it to @submit,
 * @complete or, when it waits, to neither.  Under the lock.
 */
void ressd_go_on(struct ressd_bio *rb, int decision, struct list_head *submit,
		 struct list_head *complete);
/* ... and sends or completes what is there.  Without the lock. */
void ressd_send_on(struct list_head *submit, struct list_head *complete);
/* Likewise, where none is to be sent. */
void ressd_complete(struct list_head *complete);
/*
 * Direct writes that waited for the mover's batch; once it is done none of them
 * overlaps it.  Context: the bio worker.
 */
void ressd_retry_move_waiters(struct ressd *ressd);

/* dm-ressd-order.c */
/*
 * A direct write that the pattern identifier has judged just now: true if it
 * waits for others before it.  Under the lock.
 */
bool ressd_order_takes(struct ressd *ressd, struct ressd_bio *rb,
		       const struct ressd_extent *e);
static inline bool ressd_order_holds(struct ressd *ressd, struct ressd_bio *rb,
				     const struct ressd_extent *e)
{
	lockdep_assert_held(&ressd->lock);
	return (ressd->pattern.ordered || !list_empty(&ressd->waiters.order)) &&
	       ressd_order_takes(ressd, rb, e);
}

/* Sets locked_sectors.  Under the lock. */
void ressd_order_tune(struct ressd *ressd);
/*
 * A small write that has waited and is to go direct: it is sent after
 * ressd_order_changed().  Under the lock.
 */
void ressd_order_add(struct ressd *ressd, struct ressd_bio *rb);
/*
 * Those on waiters.space are fewer, or wait for something else.  Without the
 * lock.
 */
void ressd_order_changed(struct ressd *ressd);
/* Sends those that need not wait any longer. */
void ressd_order_worker(struct work_struct *work);

/* dm-ressd-read.c */
/* As ressd_map_bio(), for a read. */
int ressd_map_read(struct ressd *ressd, struct bio *bio);

/* dm-ressd-unlocked.c */
/*
 * Has the pattern identifier judge the large writes that took no lock; true:
 * not all.  Under the lock.  Mostly there are none: a flag tells, so that not
 * each processor has to be asked.
 */
bool ressd_judge_notes(struct ressd *ressd);
static inline bool ressd_judge_noted(struct ressd *ressd)
{
	return READ_ONCE(ressd->noted) && ressd_judge_notes(ressd);
}

/* ... all of them.  Without the lock. */
void ressd_judge_all_noted(struct ressd *ressd);
/*
 * A large write, by its size, that may be direct and need not have the lock:
 * true if it is aimed at the normal area and counted.
 */
bool ressd_write_unlocked(struct ressd *ressd, struct bio *bio,
			  struct ressd_bio *rb, const struct ressd_extent *e);

/* dm-ressd-merge.c */
/* Merges the pieces on ressd->waiters.merge.  Context: the bio worker. */
void ressd_merge_pieces(struct ressd *ressd);

/* dm-ressd-end.c */
/*
 * The target's end_io: a device has completed what was sent there.  Any
 * context.
 */
int ressd_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error);
/*
 * What bios need process context for: their end, pieces to merge, waiting for
 * the mover.
 */
void ressd_bio_worker(struct work_struct *work);

#endif
