// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker that writes the log: it carries out what core/ressd-commit.c
 * decides, one I/O at a time.
 *
 * It waits for all of them but the plain write of a record, without a flush
 * before or FUA.  That is what each small write waits for with commit
 * writethrough, so its end is dealt with where the device reports it, in an
 * interrupt, if the lock is free then and nothing else is to be done: so the
 * writers need not wait for the worker as well.
 */
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/vmalloc.h>

#include "dm-ressd-log.h"

#define FIRST_RETRY_MS	100	/* of a failed log write; doubled each time */
#define LAST_RETRY_MS	400
/* Bios that end under one hold of the lock. */
#define SETTLED_AT_ONCE	(RESSD_STEP_NODES / 8)

static int write_once(struct ressd *ressd, const struct ressd_io *io)
{
	blk_opf_t opf = RESSD_LOG_WRITE | (io->fua ? REQ_FUA : 0);

	return ressd_log_rw(ressd, opf, io->block, io->nr_blocks, io->data);
}

/*
 * Many errors of cheap devices are gone a moment later.  A write can be tried
 * again, for its data is still here; a flush cannot, for the next one would
 * succeed whatever the failed one has lost.
 * @ret: what has come of the first attempt.
 */
static int retry_write(struct ressd *ressd, struct ressd_io *io, int ret)
{
	unsigned int wait;

	io->only_write = !io->fua ||
			 ressd_fua_needs_no_flush(ressd->reserved->bdev);
	for (wait = FIRST_RETRY_MS;
	     ret && io->only_write && wait <= LAST_RETRY_MS; wait *= 2) {
		spin_lock(&ressd->lock);
		ressd->counters.write_retries++;
		spin_unlock(&ressd->lock);
		msleep(wait);
		ret = write_once(ressd, io);
	}
	if (ret && !io->only_write)
		atomic_inc(&ressd->errors.failed_flushes);
	return ret;
}

/*
 * Reads that are in flight learn of an error by the count, core by
 * ressd_log_done().
 */
int ressd_flush(struct ressd *ressd)
{
	int ret = ressd_flush_devices(ressd);

	if (ret)
		atomic_inc(&ressd->errors.failed_flushes);
	return ret;
}

/*
 * Not by REQ_PREFLUSH: then an error could be that of the flush or of the
 * write.  A flush sent by others may have failed before this one was begun,
 * which then did not flush what that one had lost.
 */
static int preflush(struct ressd *ressd)
{
	int ret = ressd_flush(ressd);

	if (ret)
		return ret;
	spin_lock(&ressd->lock);
	ressd_take_flush_errors(ressd);
	if (!ressd_log_may_write(&ressd->log))
		ret = -EIO;
	spin_unlock(&ressd->lock);
	return ret;
}

/* May make it the write of a whole page. */
static void encode(struct ressd *ressd, struct ressd_io *io)
{
	ressd_log_encode(&ressd->log, io);
	ressd_reads_data(io->data, io->nr_blocks);
}

static int do_io(struct ressd *ressd, struct ressd_io *io)
{
	int ret = 0;

	switch (io->kind) {
	case RESSD_IO_FLUSH:
		return ressd_flush(ressd);
	case RESSD_IO_READ:
		io->only_write = true;
		return ressd_log_rw(ressd, REQ_OP_READ, io->block,
				    io->nr_blocks, io->data);
	case RESSD_IO_WRITE:
		encode(ressd, io);
		if (io->preflush)
			ret = preflush(ressd);
		if (ret)
			return ret;
		return retry_write(ressd, io, write_once(ressd, io));
	}
	return -EINVAL;
}

/*
 * What core wants done next.  If there is nothing though somebody waits, the
 * reason may be a read in flight in the segment to be reused: its end must not
 * be missed.
 */
static bool next_io(struct ressd *ressd, struct ressd_io *io)
{
	bool wanted;

	lockdep_assert_held(&ressd->lock);
	if (ressd_log_next(&ressd->log, io))
		return true;
	wanted = !list_empty(&ressd->waiters.space) ||
		 ressd_log_synced(&ressd->log) < ressd->log.sync_wanted;
	return ressd_space_look_again(&ressd->waiters.need_space, wanted) &&
	       ressd_log_next(&ressd->log, io);
}

/*
 * Moves to @settled who waits for a number up to @reached, everybody if the log
 * does not work, but not more than *@room.  Sync tickets ascend.  A write to a
 * block of an earlier record in RAM may stand behind writes to later ones, and
 * then goes on with these.
 */
static void take_settled(struct ressd *ressd, struct list_head *waiters,
			 u64 reached, struct list_head *settled, u32 *room)
{
	struct ressd_bio *rb, *next;

	lockdep_assert_held(&ressd->lock);
	list_for_each_entry_safe(rb, next, waiters, list) {
		if (!*room || (rb->ticket > reached &&
			       ressd_log_is_rw(ressd)))
			return;
		if (rb->ticket > reached)
			ressd_bio_of(rb)->bi_status = BLK_STS_IOERR;
		list_move_tail(&rb->list, settled);
		--*room;
	}
}

/* Returns whether there may be more: the lock is not held for all at once. */
static bool take_some_settled(struct ressd *ressd, struct list_head *settled)
{
	u32 room = SETTLED_AT_ONCE;

	lockdep_assert_held(&ressd->lock);
	take_settled(ressd, &ressd->waiters.sync, ressd_log_synced(&ressd->log),
		     settled, &room);
	take_settled(ressd, &ressd->waiters.record, ressd->log.written_seq,
		     settled, &room);
	return !room;
}

static void end_settled(struct list_head *settled)
{
	struct ressd_bio *rb, *next;

	list_for_each_entry_safe(rb, next, settled, list)
		bio_endio(ressd_bio_of(rb));
}

static void complete_waiters(struct ressd *ressd)
{
	bool more;

	do {
		LIST_HEAD(settled);

		spin_lock(&ressd->lock);
		more = take_some_settled(ressd, &settled);
		spin_unlock(&ressd->lock);
		end_settled(&settled);
	} while (more);
}

/* Core learns how the I/O has ended. */
static void note_io_end(struct ressd *ressd, int ret)
{
	struct ressd_io *io = &ressd->log_io.io;

	lockdep_assert_held(&ressd->lock);
	ressd_route_logged(ressd, ressd->log_io.start,
			   io->record ? io->record->nr_maps : 0);
	ressd_log_done(&ressd->log, io, ret);
	if (ret)
		ressd->counters.errors++;
}

/*
 * Who waits on ressd->wait is woken each time, for any of it may be what they
 * wait for; the mover at rest only if there is something to do for it.
 */
static void wake_waiters(struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	if (wq_has_sleeper(&ressd->wait))
		wake_up(&ressd->wait);
	if (ressd->up->mover_is_wanted(ressd))
		wake_up(&ressd->mover.rest);
}

static void finish_io(struct ressd *ressd, int ret)
{
	spin_lock(&ressd->lock);
	if (ret && !ressd->log_io.io.only_write)
		ressd->errors.known_to_core =
			atomic_read(&ressd->errors.failed_flushes);
	else
		ressd_take_flush_errors(ressd);
	note_io_end(ressd, ret);
	ressd_note_doubt(ressd);
	spin_unlock(&ressd->lock);
	ressd_note_mode(ressd);
	complete_waiters(ressd);
}

/*
 * On one processor a trylock always succeeds, in an interrupt that has come
 * while a task holds the lock as well; and with PREEMPT_RT the lock is none for
 * interrupts.  There the worker does it all.
 */
static bool may_finish_at_once(void)
{
	return IS_ENABLED(CONFIG_SMP) && !IS_ENABLED(CONFIG_PREEMPT_RT);
}

/*
 * The end of a write that has gone well, if the lock is free and no flush has
 * failed meanwhile: to begin to find out what that takes along is nothing for
 * an interrupt.  Any context, so the lock is not waited for.  Once it is given
 * up nothing of the target is touched any more: it may be gone by then.
 */
static bool finish_at_once(struct ressd *ressd)
{
	LIST_HEAD(settled);
	bool rest;

	if (!may_finish_at_once() || !spin_trylock(&ressd->lock))
		return false;
	if (!ressd_log_is_rw(ressd) || ressd_log_is_doubtful(&ressd->log) ||
	    atomic_read(&ressd->errors.failed_flushes) !=
		    ressd->errors.known_to_core) {
		spin_unlock(&ressd->lock);
		return false;
	}
	note_io_end(ressd, 0);
	rest = !take_some_settled(ressd, &settled) &&
	       ressd_log_is_at_rest(&ressd->log) &&
	       list_empty(&ressd->waiters.space);
	if (!rest)
		ressd_run_log(ressd);
	wake_waiters(ressd);
	spin_unlock(&ressd->lock);
	end_settled(&settled);
	return true;
}

/*
 * Under done_lock, so that ressd_hold_log() can wait for the end of this, too.
 */
static void write_ended(struct bio *bio)
{
	struct ressd *ressd = bio->bi_private;
	int error = bio->bi_status ? -EIO : 0;
	unsigned long flags;

	bio_uninit(bio);
	if (!error && finish_at_once(ressd))
		return;
	spin_lock_irqsave(&ressd->done_lock, flags);
	ressd->log_io.error = error;
	/* Pairs with smp_load_acquire() in ressd_log_worker(). */
	smp_store_release(&ressd->log_io.ended, true);
	ressd_run_log(ressd);
	spin_unlock_irqrestore(&ressd->done_lock, flags);
}

static struct ressd_pages *find_buffer(struct ressd *ressd, const void *buffer)
{
	struct ressd_pages *pages = ressd->log_io.pages;

	while (pages->buffer != buffer)
		pages++;
	return pages;
}

static int find_pages(struct ressd *ressd, struct ressd_pages *pages,
		      void *buffer, u32 blocks)
{
	u32 nr = DIV_ROUND_UP(blocks * RESSD_BLOCK_SIZE, PAGE_SIZE);
	struct bio bio;
	int ret = 0;

	pages->buffer = buffer;
	pages->vecs = kvcalloc(nr, sizeof(*pages->vecs), GFP_KERNEL);
	if (!pages->vecs)
		return -ENOMEM;
	bio_init(&bio, ressd->reserved->bdev, pages->vecs, nr, REQ_OP_WRITE);
	for (; nr && !ret; nr--, buffer += PAGE_SIZE)
		if (bio_add_page(&bio, vmalloc_to_page(buffer), PAGE_SIZE, 0) !=
		    PAGE_SIZE)
			ret = -ENOMEM;
	pages->nr_vecs = bio.bi_vcnt;
	bio_uninit(&bio);
	return ret;
}

int ressd_find_pages(struct ressd *ressd)
{
	struct ressd_pages *pages = ressd->log_io.pages;
	int i, ret = 0;

	for (i = 0; i < RESSD_RECORDS && !ret; i++)
		ret = find_pages(ressd, pages++, ressd->memory.records[i],
				 RESSD_MAX_RECORD_BLOCKS);
	if (!ret)
		ret = find_pages(ressd, pages++, ressd->memory.summary,
				 ressd->log.geom.summary_blocks);
	if (!ret && ressd->memory.page)
		ret = find_pages(ressd, pages, ressd->memory.page,
				 ressd->memory.max_page);
	return ret;
}

void ressd_free_page_vecs(struct ressd *ressd)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ressd->log_io.pages); i++)
		kvfree(ressd->log_io.pages[i].vecs);
}

/*
 * By a bio of the target's own, for there is only one such write at a time.
 * Plugged, so that the block layer dispatches it here and now instead of asking
 * a thread to.
 */
static void start_write(struct ressd *ressd)
{
	struct ressd_io *io = &ressd->log_io.io;
	const struct ressd_pages *pages;
	struct bio *bio = &ressd->log_io.write;
	struct blk_plug plug;

	encode(ressd, io);
	pages = find_buffer(ressd, io->data);
	bio_init(bio, ressd->reserved->bdev, pages->vecs, pages->nr_vecs,
		 RESSD_LOG_WRITE);
	bio->bi_vcnt = pages->nr_vecs;
	bio->bi_iter.bi_sector = ressd_log_sector(ressd, io->block);
	bio->bi_iter.bi_size = io->nr_blocks * RESSD_BLOCK_SIZE;
	bio->bi_end_io = write_ended;
	bio->bi_private = ressd;
	flush_kernel_vmap_range(io->data, bio->bi_iter.bi_size);
	blk_start_plug(&plug);
	submit_bio(bio);
	blk_finish_plug(&plug);
}

static bool is_plain_write(const struct ressd_io *io)
{
	return io->kind == RESSD_IO_WRITE && !io->preflush && !io->fua;
}

/*
 * One I/O at a time, as core decides; whatever waits is looked at in between.
 * Waiters are woken after a plain write is begun, not before, so that the
 * device need not wait for that.  A write that waits for space from now on
 * queues this work again.  What core does in pieces is done when there is
 * nothing else, and the lock is free between two of them.
 */
void ressd_log_worker(struct work_struct *work)
{
	struct ressd *ressd = container_of(work, struct ressd, log_io.work);
	bool active, more, tidy, served;

	for (;;) {
		/* Pairs with smp_store_release() in write_ended(). */
		if (smp_load_acquire(&ressd->log_io.ended)) {
			ressd->log_io.ended = false;
			finish_io(ressd, retry_write(ressd, &ressd->log_io.io,
						     ressd->log_io.error));
		}
		if (!list_empty(&ressd->waiters.space))
			ressd->up->retry_space_waiters(ressd);
		spin_lock(&ressd->lock);
		/* Else the log is being set up. */
		served = smp_load_acquire(&ressd->life) == RESSD_ACTIVE;
		active = served && !ressd->log_io.held;
		more = active && next_io(ressd, &ressd->log_io.io);
		if (more)
			ressd_route_start(ressd, &ressd->log_io.start);
		tidy = active && !more && ressd_log_tidy(&ressd->log);
		ressd_note_doubt(ressd);
		if (served && !tidy &&
		    (!more || !is_plain_write(&ressd->log_io.io)))
			wake_waiters(ressd);
		spin_unlock(&ressd->lock);
		if (tidy) {
			cond_resched();
			continue;
		}
		if (!more)
			break;
		if (is_plain_write(&ressd->log_io.io))
			start_write(ressd);
		else
			finish_io(ressd, do_io(ressd, &ressd->log_io.io));
	}
	complete_waiters(ressd);
}

void ressd_commit_timer(struct work_struct *work)
{
	struct ressd *ressd =
		container_of(to_delayed_work(work), struct ressd, log_io.timer);

	spin_lock(&ressd->lock);
	ressd_log_write_soon(&ressd->log);
	spin_unlock(&ressd->lock);
	ressd_run_log(ressd);
}

void ressd_hold_log(struct ressd *ressd)
{
	spin_lock(&ressd->lock);
	ressd->log_io.held = true;
	wait_event_cmd(ressd->wait, !ressd->log.busy, spin_unlock(&ressd->lock),
		       spin_lock(&ressd->lock));
	spin_unlock(&ressd->lock);
	/*
	 * The worker may have seen the end of the write before write_ended()
	 * has queued it.
	 */
	spin_lock_irq(&ressd->done_lock);
	spin_unlock_irq(&ressd->done_lock);
}

int ressd_sync(struct ressd *ressd)
{
	u64 ticket;

	spin_lock(&ressd->lock);
	ticket = ressd_log_sync(&ressd->log);
	ressd_run_log(ressd);
	wait_event_cmd(ressd->wait,
		       ressd_log_synced(&ressd->log) >= ticket ||
			       !ressd_log_is_rw(ressd),
		       spin_unlock(&ressd->lock), spin_lock(&ressd->lock));
	spin_unlock(&ressd->lock);
	return ressd_log_is_rw(ressd) ? 0 : -EIO;
}
