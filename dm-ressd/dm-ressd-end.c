// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of bios: of what a device has completed, and of what waited for the
 * log.  A device may complete in an interrupt; what needs the lock is then left
 * to the bio worker.
 */
#include <linux/blkdev.h>

#include "dm-ressd-io.h"

/*
 * A read that was in flight when a flush failed fails, too; see DOC: errors.
 * So does a flush: the device may have dropped what both were to make durable,
 * and confirm the rest.
 */
static void check_failures(const struct ressd *ressd,
			   const struct ressd_bio *rb, blk_status_t *error)
{
	if (unlikely((int)rb->ticket !=
		     atomic_read(&ressd->errors.failed_flushes)) &&
	    !*error)
		*error = BLK_STS_IOERR;
}

/*
 * Of a flush with data dm sends the data though the flush has failed; see
 * map_write().
 */
static void note_flush(struct ressd *ressd, const struct ressd_bio *rb,
		       blk_status_t error)
{
	if (error)
		atomic_inc(&ressd->errors.refused_flushes);
	else
		ressd_answer_flushes(ressd, rb->slot);
}

/* A direct write that is tracked by nothing but its count. */
static int end_direct(struct ressd *ressd, struct ressd_bio *rb,
		      blk_status_t *error)
{
	if (ressd_refuses_writes(ressd) && !*error)
		*error = BLK_STS_IOERR;
	ressd_count_out(ressd, rb);
	return DM_ENDIO_DONE;
}

/* What has other flags: it was counted, or is not over yet. */
static noinline int end_flagged(struct ressd *ressd, struct bio *bio,
				struct ressd_bio *rb, blk_status_t *error)
{
	unsigned long flags;
	u16 was = rb->flags;

	if (ressd_shape_is_used() && was & RESSD_BIO_COUNTED)
		ressd_dispatch_ended(ressd);
	if (was & RESSD_BIO_TIMED)
		ressd_meter_stop(ressd, rb->nr);
	rb->flags &= RESSD_BIO_KILL | RESSD_BIO_SYNC;
	if (*error && was & RESSD_BIO_FLUSHES) {
		rb->flags |= RESSD_BIO_FLUSHES;
		atomic_inc(&ressd->errors.failed_flushes);
	}
	if (bio_op(bio) == REQ_OP_READ ? !(was & RESSD_BIO_PROVEN) :
			was & RESSD_BIO_FLUSHES && !(was & RESSD_BIO_DIRECT))
		check_failures(ressd, rb, error);
	if (was & RESSD_BIO_READ_HOME &&
	    atomic_dec_and_test(&ressd->cover.reads))
		wake_up(&ressd->wait);
	if (was & RESSD_BIO_READ_LOG)
		ressd_put_reader(ressd, rb->slot);
	if (was & RESSD_BIO_DIRECT && !*error && ressd_refuses_writes(ressd))
		*error = BLK_STS_IOERR;
	if (!rb->flags) {
		if (was & RESSD_BIO_DIRECT)
			ressd_count_out(ressd, rb);
		else if (was & RESSD_BIO_FLUSHES)
			note_flush(ressd, rb, *error);
		return DM_ENDIO_DONE;
	}

	/*
	 * The worker ends it: until then the write is in flight for the mover
	 * and for a repair.
	 */
	rb->flags |= was & RESSD_BIO_DIRECT;
	rb->status = *error;
	/*
	 * Once the lock is given up the worker may complete the bio, and the
	 * target be gone.
	 */
	spin_lock_irqsave(&ressd->done_lock, flags);
	list_add_tail(&rb->done, &ressd->done);
	ressd_run_bios(ressd);
	spin_unlock_irqrestore(&ressd->done_lock, flags);
	return DM_ENDIO_INCOMPLETE;
}

/*
 * A read of the normal area, or what ends as it is, has no flags.  Most others
 * are direct writes or flushes that have gone well.
 */
int ressd_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct ressd_bio *rb = ressd_bio(bio);
	struct ressd *ressd = ti->private;

	if (!rb->flags) {
		if (bio_op(bio) == REQ_OP_READ)
			check_failures(ressd, rb, error);
		else if (bio->bi_opf & REQ_PREFLUSH)
			note_flush(ressd, rb, *error);
		return DM_ENDIO_DONE;
	}
	if (rb->flags & RESSD_BIO_SMALL) {
		rb->flags &= ~RESSD_BIO_SMALL;
		atomic_dec(&ressd->meter.small_in_flight);
	}
	if (rb->flags == RESSD_BIO_DIRECT)
		return end_direct(ressd, rb, error);
	if (rb->flags == RESSD_BIO_FLUSHES && !*error) {
		check_failures(ressd, rb, error);
		note_flush(ressd, rb, *error);
		return DM_ENDIO_DONE;
	}
	return end_flagged(ressd, bio, rb, error);
}

/*
 * A direct write or discard is done: what it supersedes is invalidated in the
 * log, piece by piece, so that the lock, which is held on entry and on return,
 * is free in between.  It stays tracked until the last one.
 */
static void kill_superseded(struct ressd *ressd, struct ressd_bio *rb)
{
	u32 first = rb->first, nr = rb->nr, done;

	lockdep_assert_held(&ressd->lock);
	while (!rb->status && nr) {
		done = ressd_log_kill_some(&ressd->log, first, nr);
		first += done;
		nr -= done;
		if (!nr)
			break;
		spin_unlock(&ressd->lock);
		cond_resched();
		spin_lock(&ressd->lock);
		ressd_take_flush_errors(ressd);
		if (ressd_refuses_writes(ressd))
			rb->status = BLK_STS_IOERR;
	}
	list_del(&rb->list);
	ressd->nr_tracked--;
}

/*
 * Before the bio completes: the log's copies of what a direct write has written
 * are invalidated, and a flush that has failed is reported to core.
 */
static void finish_direct_write(struct ressd *ressd, struct ressd_bio *rb)
{
	struct bio *bio = ressd_bio_of(rb);
	bool sync;

	spin_lock(&ressd->lock);
	ressd_take_flush_errors(ressd);
	if (!rb->status && ressd_refuses_writes(ressd))
		rb->status = BLK_STS_IOERR;
	if (rb->flags & RESSD_BIO_KILL)
		kill_superseded(ressd, rb);
	if (rb->flags & RESSD_BIO_DIRECT)
		ressd_count_out(ressd, rb);
	/* Whose UNMAPs are on their way is not known, so any will do. */
	sync = rb->flags & RESSD_BIO_SYNC && !rb->status &&
	       ressd_log_unmaps_pending(&ressd->log);
	rb->flags = 0;
	if (sync)
		ressd_wait_for_sync(ressd, rb);
	spin_unlock(&ressd->lock);
	if (!sync) {
		bio->bi_status = rb->status;
		bio_endio(bio);
	}
}

static void finish_direct_writes(struct ressd *ressd)
{
	struct ressd_bio *rb, *next;
	LIST_HEAD(done);

	spin_lock_irq(&ressd->done_lock);
	list_splice_init(&ressd->done, &done);
	spin_unlock_irq(&ressd->done_lock);

	list_for_each_entry_safe(rb, next, &done, done)
		finish_direct_write(ressd, rb);
}

void ressd_bio_worker(struct work_struct *work)
{
	struct ressd *ressd = container_of(work, struct ressd, bio_work);

	finish_direct_writes(ressd);
	ressd_note_mode(ressd);
	ressd_retry_move_waiters(ressd);
	ressd_merge_pieces(ressd);
}
