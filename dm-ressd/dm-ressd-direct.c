// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct writes, which go to the normal area, and discards.  One that touches a
 * block of the mover's batch waits until that is home; one of blocks that the
 * log holds kills them when it is done.
 */
#include <linux/blkdev.h>

#include "dm-ressd-io.h"

/* See core/ressd-log.h. */
#define MAX_KILLED_AT_ONCE	(RESSD_STEP_NODES / 8)

bool ressd_room_is_lost(const struct ressd *ressd, u32 first, u32 nr)
{
	lockdep_assert_held(&ressd->lock);
	if (!ressd_mover_is_stuck(ressd))
		return false;
	if (nr == 1 && ressd_cover_mends(ressd, first))
		return !ressd_log_free_segments(&ressd->log);
	return ressd_log_is_full(&ressd->log);
}

void ressd_wait_for_space(struct ressd *ressd, struct ressd_bio *rb)
{
	lockdep_assert_held(&ressd->lock);
	list_add_tail(&rb->list, &ressd->waiters.space);
	ressd->waiters.came++;
	ressd_space_wait(&ressd->waiters.need_space);
	/* What it waits for may have ended before that was noted. */
	ressd_run_log(ressd);
	ressd_wake(ressd);
}

int ressd_start_direct(struct ressd *ressd, struct bio *bio,
		       struct ressd_bio *rb, const struct ressd_extent *e)
{
	lockdep_assert_held(&ressd->lock);
	if (ressd_refuses_writes(ressd))
		return DM_MAPIO_KILL;
	rb->flags |= RESSD_BIO_DIRECT;
	ressd_flight_begin(&ressd->flight, &rb->flying, e->first, e->last);
	/*
	 * Must not complete while the UNMAP of an older copy of its blocks
	 * could still be lost.
	 */
	if (bio->bi_opf & REQ_FUA)
		rb->flags |= RESSD_BIO_SYNC;
	if (bio->bi_opf & REQ_FUA &&
	    !ressd_fua_needs_no_flush(ressd->normal->bdev))
		/* The block layer does it by a flush. */
		rb->flags |= RESSD_BIO_FLUSHES;
	ressd_remap_normal(ressd, bio);
	if (ressd_shape_is_used())
		return ressd_shape_send_write(ressd, bio);
	return DM_MAPIO_REMAPPED;
}

static int start_direct(struct ressd *ressd, struct bio *bio)
{
	struct ressd_extent e = ressd_extent_of(ressd, bio);

	return ressd_start_direct(ressd, bio, ressd_bio(bio), &e);
}

void ressd_set_blocks(struct ressd_bio *rb, const struct ressd_extent *e)
{
	u32 end = (e->sector + e->sectors) / RESSD_BLOCK_SECTORS;

	rb->first = DIV_ROUND_UP_ULL(e->sector, RESSD_BLOCK_SECTORS);
	rb->nr = end > rb->first ? end - rb->first : 0;
}

/*
 * Puts off a direct write or discard that touches a block of the mover's batch,
 * or a covered one while covers come or go.
 */
static bool put_off_direct(struct ressd *ressd, struct bio *bio)
{
	struct ressd_extent e = ressd_extent_of(ressd, bio);
	u32 nr = e.last - e.first + 1;

	lockdep_assert_held(&ressd->lock);
	if (!ressd_mover_overlaps(ressd, e.first, nr) &&
	    !ressd_cover_holds(ressd, e.first, nr))
		return false;
	list_add_tail(&ressd_bio(bio)->list, &ressd->waiters.move);
	return true;
}

/*
 * Beside device-mapper's DM_MAPIO_*, of which none is negative.
 *	DONE	nothing is to be done for the bio: it completes
 *	GO_ON	it is a bio like any other
 */
#define RESSD_MAPIO_DONE	(-1)
#define RESSD_MAPIO_GO_ON	(-2)

/*
 * A write or discard that touches covered blocks, with the log covered: their
 * place is the log.  A write lies within them and waits there for room, however
 * full the log is; of a discard only what lies behind them is left.
 */
static int divert_covered(struct ressd *ressd, struct bio *bio)
{
	struct ressd_bio *rb = ressd_bio(bio);
	sector_t end = (sector_t)ressd->log.cover_blocks * RESSD_BLOCK_SECTORS;
	struct ressd_extent e = ressd_extent_of(ressd, bio);

	lockdep_assert_held(&ressd->lock);
	if (bio_op(bio) == REQ_OP_DISCARD) {
		if (e.sector + e.sectors <= end)
			return RESSD_MAPIO_DONE;
		bio->bi_iter.bi_sector += end - e.sector;
		bio->bi_iter.bi_size -= (end - e.sector) << SECTOR_SHIFT;
		e = ressd_extent_of(ressd, bio);
		ressd_set_blocks(rb, &e);
		return RESSD_MAPIO_GO_ON;
	}
	if (!ressd_log_is_rw(ressd) ||
	    ressd_room_is_lost(ressd, e.first, e.last - e.first + 1))
		return DM_MAPIO_KILL;
	rb->flags |= RESSD_BIO_COVERED;
	ressd_wait_for_space(ressd, rb);
	return DM_MAPIO_SUBMITTED;
}

/*
 * What the log has of it is not home, and will not come there before a repair.
 */
static bool is_stuck(struct ressd *ressd, struct bio *bio)
{
	struct ressd_extent e = ressd_extent_of(ressd, bio);

	return ressd_cover_is_stuck(ressd, e.first, e.last - e.first + 1);
}

static bool is_covered(struct ressd *ressd, struct bio *bio)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->log.covered && !ressd->cover.busy &&
	       ressd_extent_of(ressd, bio).first < ressd->log.cover_blocks;
}

/*
 * Kills what is clean now and what is dirty when it is done.  Of very many
 * blocks all but the first are killed when it is done, for then the lock need
 * not be held all the time.
 */
int ressd_write_direct(struct ressd *ressd, struct bio *bio)
{
	struct ressd_bio *rb = ressd_bio(bio);
	struct ressd_node *node, *next;
	bool later = false;
	u32 killed = 0;
	int ret;

	lockdep_assert_held(&ressd->lock);
	if (ressd_refuses_writes(ressd) || is_stuck(ressd, bio))
		return DM_MAPIO_KILL;
	if (is_covered(ressd, bio)) {
		ret = divert_covered(ressd, bio);
		if (ret != RESSD_MAPIO_GO_ON)
			return ret;
	}
	if (put_off_direct(ressd, bio))
		return DM_MAPIO_SUBMITTED;
	node = rb->nr ? ressd_map_first_from(&ressd->log.map, rb->first) : NULL;
	for (; node && node->lbn - rb->first < rb->nr; node = next) {
		if (killed++ == MAX_KILLED_AT_ONCE) {
			later = true;
			break;
		}
		next = ressd_map_next(node);
		if (ressd_is_dirty(ressd, node))
			later = true;
		else
			ressd_log_kill(&ressd->log, node->lbn, 1);
	}
	if (later) {
		rb->flags |= RESSD_BIO_KILL;
		list_add_tail(&rb->list, &ressd->tracked);
		ressd->nr_tracked++;
	}
	return start_direct(ressd, bio);
}

int ressd_map_discard(struct ressd *ressd, struct bio *bio)
{
	struct ressd_extent e = ressd_extent_of(ressd, bio);
	int ret;

	ressd_set_blocks(ressd_bio(bio), &e);
	spin_lock(&ressd->lock);
	ressd->counters.discards++;
	ret = ressd_write_direct(ressd, bio);
	spin_unlock(&ressd->lock);
	if (ret != RESSD_MAPIO_DONE)
		return ret;
	bio_endio(bio);
	return DM_MAPIO_SUBMITTED;
}

int ressd_write_piece(struct ressd *ressd, struct bio *bio, u32 lbn)
{
	struct ressd_node *node = ressd_map_find(&ressd->log.map, lbn);
	struct ressd_bio *rb = ressd_bio(bio);

	lockdep_assert_held(&ressd->lock);
	if (ressd_refuses_writes(ressd))
		return DM_MAPIO_KILL;
	rb->first = lbn;
	rb->nr = 0;
	if (node && ressd_is_dirty(ressd, node) &&
	    !ressd_cover_holds(ressd, lbn, 1)) {
		rb->flags &= ~RESSD_BIO_PIECE;
		rb->flags |= RESSD_BIO_MERGE;
		list_add_tail(&rb->list, &ressd->waiters.merge);
		ressd_run_bios(ressd);
		return DM_MAPIO_SUBMITTED;
	}
	rb->flags &= ~(RESSD_BIO_MERGE | RESSD_BIO_PIECE);
	if (is_stuck(ressd, bio))
		return DM_MAPIO_KILL;
	if (put_off_direct(ressd, bio)) {
		rb->flags |= RESSD_BIO_PIECE;
		return DM_MAPIO_SUBMITTED;
	}
	if (node)
		/* Clean: home has it all. */
		ressd_log_kill(&ressd->log, lbn, 1);
	return start_direct(ressd, bio);
}

void ressd_go_on(struct ressd_bio *rb, int decision, struct list_head *submit,
		 struct list_head *complete)
{
	if (decision == DM_MAPIO_REMAPPED) {
		list_add_tail(&rb->done, submit);
	} else if (decision == RESSD_MAPIO_DONE) {
		list_add_tail(&rb->done, complete);
	} else if (decision == DM_MAPIO_KILL) {
		ressd_bio_of(rb)->bi_status = BLK_STS_IOERR;
		list_add_tail(&rb->done, complete);
	}
}

void ressd_complete(struct list_head *complete)
{
	struct ressd_bio *rb, *next;

	list_for_each_entry_safe(rb, next, complete, done)
		bio_endio(ressd_bio_of(rb));
}

void ressd_send_on(struct list_head *submit, struct list_head *complete)
{
	struct ressd_bio *rb, *next;

	list_for_each_entry_safe(rb, next, submit, done)
		dm_submit_bio_remap(ressd_bio_of(rb), NULL);
	ressd_complete(complete);
}

/* What the log holds of its blocks may have changed while it waited. */
static int decide_again(struct ressd *ressd, struct ressd_bio *rb)
{
	struct bio *bio = ressd_bio_of(rb);

	lockdep_assert_held(&ressd->lock);
	if (rb->flags & RESSD_BIO_PIECE)
		return ressd_write_piece(ressd, bio, rb->first);
	return ressd_write_direct(ressd, bio);
}

void ressd_retry_move_waiters(struct ressd *ressd)
{
	struct ressd_bio *rb, *next;
	LIST_HEAD(waiters);
	LIST_HEAD(submit);
	LIST_HEAD(complete);

	spin_lock(&ressd->lock);
	list_splice_init(&ressd->waiters.move, &waiters);
	spin_unlock(&ressd->lock);
	list_for_each_entry_safe(rb, next, &waiters, list) {
		spin_lock(&ressd->lock);
		list_del(&rb->list);
		ressd_go_on(rb, decide_again(ressd, rb), &submit, &complete);
		spin_unlock(&ressd->lock);
	}
	ressd_send_on(&submit, &complete);
}
