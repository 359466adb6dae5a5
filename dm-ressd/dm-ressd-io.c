// SPDX-License-Identifier: GPL-2.0-only
/*
 * The router: which bios go to the log, which to the normal area, and which of
 * them wait.
 *
 * A write is cut so that each piece is either made of whole 4 KiB blocks or
 * lies within one block; only a write that touches mapped blocks is cut.  Then
 *
 *	whole blocks, small and random	-> the log
 *	whole blocks, otherwise		-> the normal area; dirty blocks are
 *					killed on completion
 *	within a block that is dirty	-> merged with the log's copy, into the
 *					log (bio worker)
 *	within another block		-> the normal area
 *
 * What goes to the normal area waits while the mover's batch touches one of its
 * blocks, and then takes this decision anew; hence the cut also where only the
 * batch is touched.
 */
#include <linux/blkdev.h>

#include "dm-ressd-io.h"

void ressd_copy_from_bio(struct bio *bio, unsigned int offset, void *to,
			 unsigned int bytes)
{
	struct bvec_iter iter = bio->bi_iter;

	bio_advance_iter(bio, &iter, offset);
	while (bytes) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);

		bv.bv_len = min(bv.bv_len, bytes);
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
		bytes -= bv.bv_len;
		bio_advance_iter(bio, &iter, bv.bv_len);
	}
}

/* --- writes to the log ---------------------------------------------------- */

/* Is the log taking small writes at all? */
static bool log_takes_writes(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->options.route != RESSD_ROUTE_NEVER &&
	       !ressd->mover.draining && !ressd->hibernating &&
	       ressd_log_is_rw(ressd) && ressd_cover_takes_writes(ressd);
}

/* May a small write wait for room, or must it go to the normal area? */
static bool may_wait(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->options.on_full == RESSD_FULL_WAIT &&
	       !ressd->suspending && !ressd_mover_is_stuck(ressd) &&
	       ressd_log_is_rw(ressd) && !ressd->mover.draining;
}

/* Is the log not to take a small write although there is room? */
static bool must_keep_step(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return (may_wait(ressd) && ressd_pace_holds_writer(ressd)) ||
	       ressd_route_asks_move(ressd);
}

/*
 * The log may have been uncovered while it waited: then it is a write like any
 * other.
 */
static bool has_to_be_logged(const struct ressd *ressd,
			     const struct ressd_bio *rb)
{
	lockdep_assert_held(&ressd->lock);
	return rb->flags & RESSD_BIO_COVERED && ressd->log.covered &&
	       !ressd->cover.busy;
}

/*
 * Blocks of a bio to be copied when the lock is free: their places stand side
 * by side in the open record.
 */
struct late_copy {
	u32 first, nr;			/* of the bio's */
	struct ressd_place place;	/* of the first */
};

/* Does the block @nr of the bio, whose place is @place, join the others? */
static bool joins(struct late_copy *copy, u32 nr,
		  const struct ressd_place *place)
{
	if (place->overwrites)
		return false;
	if (!copy->nr) {
		copy->first = nr;
		copy->place = *place;
	} else if (nr != copy->first + copy->nr ||
		   place->entry != copy->place.entry + copy->nr) {
		return false;
	}
	copy->nr++;
	return true;
}

/* With their checksums, so that the log's worker need not find these. */
static void copy_blocks(struct bio *bio, const struct late_copy *copy)
{
	void *data = copy->place.data;
	u32 i;

	for (i = 0; i < copy->nr; i++, data += RESSD_BLOCK_SIZE) {
		ressd_writes_data(data);
		ressd_copy_from_bio(bio, (copy->first + i) * RESSD_BLOCK_SIZE,
				    data, RESSD_BLOCK_SIZE);
		copy->place.entry[i].crc =
			cpu_to_le32(ressd_crc(data, RESSD_BLOCK_SIZE));
	}
}

/* May a write be copied without the lock?  See dm-ressd-copy.h. */
static bool may_copy_late(const struct ressd *ressd, const struct bio *bio)
{
	lockdep_assert_held(&ressd->lock);
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && !(bio->bi_opf & REQ_FUA) &&
	       ressd->options.commit != RESSD_COMMIT_WRITETHROUGH;
}

/* What replaces a damaged copy takes the space that its carry would take. */
static int accept(struct ressd *ressd, u32 lbn, struct ressd_place *place)
{
	lockdep_assert_held(&ressd->lock);
	if (ressd_cover_mends(ressd, lbn))
		return ressd_log_mend(&ressd->log, lbn, place);
	return ressd_log_accept(&ressd->log, lbn, place);
}

/*
 * Copies what is left of the bio into the log; 0 when all is in.  What may be
 * copied late is added to @copy instead; NULL: nothing may.
 */
static int take_blocks(struct ressd *ressd, struct bio *bio,
		       struct late_copy *copy)
{
	struct ressd_bio *rb = ressd_bio(bio);
	bool covered = has_to_be_logged(ressd, rb);
	struct ressd_place place;
	int ret;

	lockdep_assert_held(&ressd->lock);
	/* The route may have changed while it waited. */
	if (!covered &&
	    (!log_takes_writes(ressd) || ressd_route_is_direct(ressd)))
		return -EIO;
	/*
	 * Until an I/O of the log is done; but a write of several blocks is
	 * taken as a whole.
	 */
	if (!covered && !rb->accepted && ressd_route_holds_log(ressd))
		return -EAGAIN;
	for (; rb->accepted < rb->nr; rb->accepted++) {
		if (!covered && must_keep_step(ressd))
			return -ENOSPC;
		ret = accept(ressd, rb->first + rb->accepted, &place);
		if (ret)
			return ret;
		if (!copy || !joins(copy, rb->accepted, &place)) {
			ressd_writes_data(place.data);
			ressd_copy_from_bio(bio,
					    rb->accepted * RESSD_BLOCK_SIZE,
					    place.data, RESSD_BLOCK_SIZE);
		}
		rb->ticket = place.seq;
	}
	return 0;
}

/* Notes what the first one on waiters.space waits for: the log said @ret. */
static void note_reason(struct ressd *ressd, int ret)
{
	lockdep_assert_held(&ressd->lock);
	ressd->waiters.for_record = ret == -EAGAIN &&
				    ressd_log_ram_is_full(&ressd->log);
}

/* As take_blocks(), and notes the reason. */
static int try_blocks(struct ressd *ressd, struct bio *bio,
		      struct late_copy *copy)
{
	int ret = take_blocks(ressd, bio, copy);

	note_reason(ressd, ret);
	return ret;
}

static unsigned long commit_interval(const struct ressd *ressd)
{
	return msecs_to_jiffies(ressd->options.commit_interval_ms);
}

void ressd_wait_for_sync(struct ressd *ressd, struct ressd_bio *rb)
{
	lockdep_assert_held(&ressd->lock);
	if (ressd_log_unmaps_pending(&ressd->log))
		ressd_pattern_record(&ressd->pattern);
	rb->ticket = ressd_log_sync(&ressd->log);
	list_add_tail(&rb->list, &ressd->waiters.sync);
	ressd_run_log(ressd);
}

bool ressd_finish_logged(struct ressd *ressd, struct bio *bio)
{
	struct ressd_bio *rb = ressd_bio(bio);

	lockdep_assert_held(&ressd->lock);
	if (bio->bi_opf & REQ_FUA) {
		rb->ticket = ressd_log_sync(&ressd->log);
		list_add_tail(&rb->list, &ressd->waiters.sync);
	} else if (ressd->options.commit == RESSD_COMMIT_WRITETHROUGH) {
		ressd_log_write_soon(&ressd->log);
		list_add_tail(&rb->list, &ressd->waiters.record);
	} else {
		/* The end of an I/O in flight has the next one begun. */
		if (ressd_log_record_full(&ressd->log) ?
			    !ressd->log.busy : ressd_route_holds_log(ressd))
			ressd_run_log(ressd);
		queue_delayed_work(ressd->workqueue, &ressd->log_io.timer,
				   commit_interval(ressd));
		return true;
	}
	ressd_run_log(ressd);
	return false;
}

/*
 * A small write that the log did not take (@reason): it waits, or it goes to
 * the normal area as a whole, where it also supersedes what the log has taken
 * of it.
 */
static int refused_by_log(struct ressd *ressd, struct bio *bio, int reason)
{
	lockdep_assert_held(&ressd->lock);
	if (reason == -EAGAIN || (reason == -ENOSPC && may_wait(ressd))) {
		ressd_wait_for_space(ressd, ressd_bio(bio));
		return DM_MAPIO_SUBMITTED;
	}
	ressd->counters.bypassed++;
	ressd_wake(ressd);
	return ressd_write_direct(ressd, bio);
}

/*
 * *@complete: the caller completes the bio, when it has copied the blocks of
 * @copy, if any: that counts as begun.
 */
static int write_log(struct ressd *ressd, struct bio *bio,
		     struct late_copy *copy, bool *complete)
{
	int ret = -EAGAIN;

	lockdep_assert_held(&ressd->lock);
	/* Behind those that wait already, if any. */
	if (list_empty(&ressd->waiters.space))
		ret = try_blocks(ressd, bio,
				 may_copy_late(ressd, bio) ? copy : NULL);
	if (ret) {
		/* Others may complete it as soon as the lock is free. */
		copy_blocks(bio, copy);
		copy->nr = 0;
		return refused_by_log(ressd, bio, ret);
	}
	*complete = ressd_finish_logged(ressd, bio);
	if (copy->nr)
		ressd_copy_begin(&ressd->copies[copy->place.record]);
	return DM_MAPIO_SUBMITTED;
}

/*
 * Would the bio worker find no room for the piece?  It reads what the piece is
 * merged with first, so it must not try in vain, time and again.
 */
static bool piece_waits(struct ressd *ressd, const struct ressd_bio *rb)
{
	struct ressd_node *node;
	int ret;

	lockdep_assert_held(&ressd->lock);
	node = ressd_map_find(&ressd->log.map, rb->first);
	if (!node || !ressd_is_dirty(ressd, node) ||
	    ressd_cover_holds(ressd, rb->first, 1))
		return false;
	ret = ressd_log_accept(&ressd->log, rb->first, NULL);
	note_reason(ressd, ret);
	return ret == -EAGAIN ||
	       (ret == -ENOSPC && !ressd_room_is_lost(ressd, 0, 0));
}

/*
 * The first one that waits for room tries again; false if it still waits, and
 * so do those behind it.  A write that has to be logged, or a piece, waits on
 * @passed, and does not hold up the others.
 */
static bool retry_space_waiter(struct ressd *ressd, struct list_head *passed,
			       struct list_head *complete)
{
	struct ressd_bio *rb =
		list_first_entry(&ressd->waiters.space, struct ressd_bio, list);
	struct bio *bio = ressd_bio_of(rb);
	int ret;

	lockdep_assert_held(&ressd->lock);
	if (rb->flags & RESSD_BIO_MERGE) {
		if (piece_waits(ressd, rb)) {
			list_move_tail(&rb->list, passed);
			return true;
		}
		list_move_tail(&rb->list, &ressd->waiters.merge);
		ressd->waiters.left++;
		ressd_run_bios(ressd);
		return true;
	}
	ret = try_blocks(ressd, bio, NULL);
	if (ret == -ENOSPC && has_to_be_logged(ressd, rb) &&
	    !ressd_room_is_lost(ressd, rb->first, rb->nr)) {
		list_move_tail(&rb->list, passed);
		return true;
	}
	if (ret == -EAGAIN || (ret == -ENOSPC && may_wait(ressd)))
		return false;
	list_del(&rb->list);
	ressd->waiters.left++;
	rb->flags &= ~RESSD_BIO_COVERED;
	if (ret) {
		ressd->counters.bypassed++;
		ressd_order_add(ressd, rb);
	} else if (ressd_finish_logged(ressd, bio)) {
		list_add_tail(&rb->done, complete);
	}
	return true;
}

/*
 * The lock is free between two of them; who comes meanwhile waits behind the
 * last.
 */
void ressd_retry_space_waiters(struct ressd *ressd)
{
	LIST_HEAD(passed);
	LIST_HEAD(complete);
	bool more;

	do {
		spin_lock(&ressd->lock);
		more = !list_empty(&ressd->waiters.space) &&
		       retry_space_waiter(ressd, &passed, &complete);
		if (!more)
			list_splice_init(&passed, &ressd->waiters.space);
		spin_unlock(&ressd->lock);
	} while (more);
	ressd_complete(&complete);
	ressd_order_changed(ressd);
}

/* --- the router ----------------------------------------------------------- */

void ressd_tune_router(struct ressd *ressd)
{
	const struct ressd_options *options = &ressd->options;
	struct ressd_pattern_options pattern = {
		.streams = options->streams,
		.small_sectors = options->small_write_sectors,
		.open_units = options->open_units,
		.unit_sectors = options->move_block_sectors,
		.page_sectors = options->log_page_sectors,
		.log_sectors = ressd->table.reserved_sectors,
	};

	if (pattern.unit_sectors)
		div_u64_rem(ressd_device_block(ressd->normal,
					       ressd->table.normal_start) *
				    RESSD_BLOCK_SECTORS,
			    pattern.unit_sectors, &pattern.unit_phase);
	ressd_pattern_set(&ressd->pattern, &pattern);
	ressd_order_tune(ressd);
}

/*
 * Cuts a write that does not consist of whole blocks down to its first piece:
 * up to the next block boundary, or the whole blocks before a remainder.
 */
static void cut_write(struct ressd *ressd, struct bio *bio,
		      struct ressd_extent *e)
{
	unsigned int head = e->sector % RESSD_BLOCK_SECTORS;
	unsigned int sectors = e->sectors;

	if (head)
		sectors = min_t(unsigned int, sectors,
				RESSD_BLOCK_SECTORS - head);
	else if (sectors > RESSD_BLOCK_SECTORS)
		sectors = rounddown(sectors, RESSD_BLOCK_SECTORS);
	if (sectors < e->sectors)
		dm_accept_partial_bio(bio, sectors);
	*e = ressd_extent_of(ressd, bio);
}

/* Covered blocks and others take different routes. */
static void cut_at_cover(struct ressd *ressd, struct bio *bio,
			 struct ressd_extent *e)
{
	sector_t end = (sector_t)ressd->log.cover_blocks * RESSD_BLOCK_SECTORS;

	if (e->sector >= end || e->sector + e->sectors <= end)
		return;
	dm_accept_partial_bio(bio, end - e->sector);
	*e = ressd_extent_of(ressd, bio);
}

/* May a flush go straight down, because the log has nothing to add to it? */
static bool flush_is_enough(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	if (!ressd->same_dev)
		return false;
	if (ressd_log_is_rw(ressd))
		return !ressd_log_is_volatile(&ressd->log) && !ressd->log.cycle;
	return ressd_log_owes_nothing(&ressd->log);
}

/* The log is not in service and has something unflushed. */
static bool flushes_fail(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return !ressd_log_is_rw(ressd) && !flush_is_enough(ressd);
}

/* Does the write belong in the log, by its size and place? */
static bool is_small(struct ressd *ressd, const struct ressd_extent *e)
{
	lockdep_assert_held(&ressd->lock);
	if (ressd_shape_is_used() && ressd_shape_takes_rest(ressd, e)) {
		ressd->pattern.ordered = false;
		return false;
	}
	ressd_judge_noted(ressd);
	ressd->counters.writes++;
	return ressd_pattern_write(&ressd->pattern, e->sector, e->sectors,
				   ressd_mover_sweeps(ressd->mover.state));
}

/*
 * Does a write touch mapped blocks, covered ones, or those of the mover's
 * batch?
 */
static bool touches_mapped(const struct ressd *ressd,
			   const struct ressd_extent *e)
{
	const struct ressd_node *node;

	lockdep_assert_held(&ressd->lock);
	if (e->first < ressd->log.cover_blocks)
		return true;
	if (ressd_regions_may_hold(&ressd->regions, e->first, e->last)) {
		node = ressd_map_first_from(&ressd->log.map, e->first);
		if (node && node->lbn <= e->last)
			return true;
	}
	return ressd->gate.batch &&
	       ressd_mover_overlaps(ressd, e->first, e->last - e->first + 1);
}

/*
 * Does a small write go through the log?  If route adaptive sends it direct,
 * that is to be timed.
 */
static bool goes_to_log(struct ressd *ressd, struct bio *bio,
			struct ressd_bio *rb, const struct ressd_extent *e,
			bool *timed)
{
	lockdep_assert_held(&ressd->lock);
	ressd->counters.small_writes++;
	if (!log_takes_writes(ressd)) {
		ressd->counters.bypassed++;
		return false;
	}
	if (!e->whole ||
	    ressd_route_to_log(ressd, bio, rb, e->last - e->first + 1))
		return true;
	ressd->counters.adaptive_direct++;
	*timed = true;
	return false;
}

/*
 * dm sends the PREFLUSH of a write with data on its own, then the data,
 * whatever became of the flush (dm_io_complete(), 6.1).  So a commit block of a
 * journal would pass for durable behind data that is not; also if a flush would
 * succeed again by then, or another table is in force.
 */
static bool fua_must_fail(const struct ressd *ressd, const struct bio *bio)
{
	lockdep_assert_held(&ressd->lock);
	return bio->bi_opf & REQ_FUA &&
	       (ressd->errors.inherited || flushes_fail(ressd) ||
		unlikely(atomic_read(&ressd->errors.refused_flushes) !=
			 atomic_read(&ressd->errors.answered)));
}

/* Cuts a write, and sends what is left of it where it belongs: as map. */
static int route_write(struct ressd *ressd, struct bio *bio,
		       struct ressd_bio *rb, struct ressd_extent *e,
		       struct late_copy *copy, bool *complete)
{
	bool to_log, mapped, timed = false;

	lockdep_assert_held(&ressd->lock);
	cut_at_cover(ressd, bio, e);
	to_log = is_small(ressd, e);
	if (to_log)
		to_log = goes_to_log(ressd, bio, rb, e, &timed);
	else if (ressd_shape_is_used())
		ressd_shape_cut_write(ressd, bio, e);
	mapped = touches_mapped(ressd, e);
	if (mapped && !e->whole)
		cut_write(ressd, bio, e);

	if (to_log || mapped)
		ressd_set_blocks(rb, e);
	if (timed)
		ressd_route_sent(ressd, rb, e->last - e->first + 1);
	if (e->whole && to_log)
		return write_log(ressd, bio, copy, complete);
	if (mapped && !e->whole)
		return ressd_write_piece(ressd, bio, e->first);
	if (ressd_order_holds(ressd, rb, e))
		return DM_MAPIO_SUBMITTED;
	if (mapped)
		return ressd_write_direct(ressd, bio);
	return ressd_start_direct(ressd, bio, rb, e);
}

/* With preemption off until the copies have ended: see dm-ressd-copy.h. */
static void unlock_and_copy(struct ressd *ressd, struct bio *bio,
			    const struct late_copy *copy)
	__releases(&ressd->lock)
{
	if (!copy->nr) {
		spin_unlock(&ressd->lock);
		return;
	}
	preempt_disable();
	spin_unlock(&ressd->lock);
	copy_blocks(bio, copy);
	ressd_copy_end(&ressd->copies[copy->place.record]);
	preempt_enable();
}

static int map_write(struct ressd *ressd, struct bio *bio, struct ressd_bio *rb)
{
	struct ressd_extent e = ressd_extent_of(ressd, bio);
	struct late_copy copy;
	bool complete = false;
	int ret;

	if (e.sectors > READ_ONCE(ressd->locked_sectors) &&
	    ressd_write_unlocked(ressd, bio, rb, &e))
		return DM_MAPIO_REMAPPED;
	copy.nr = 0;
	spin_lock(&ressd->lock);
	if (fua_must_fail(ressd, bio)) {
		spin_unlock(&ressd->lock);
		return DM_MAPIO_KILL;
	}
	ret = route_write(ressd, bio, rb, &e, &copy, &complete);
	unlock_and_copy(ressd, bio, &copy);

	if (complete)
		bio_endio(bio);
	return ret;
}

/*
 * A flush that must also write what is in RAM is done by the log worker,
 * together with those of others.  If the log is not in service it fails: what
 * was accepted cannot be made durable.
 */
static int map_flush(struct ressd *ressd, struct bio *bio, struct ressd_bio *rb)
{
	int ret = DM_MAPIO_SUBMITTED;

	rb->slot = atomic_read(&ressd->errors.refused_flushes);
	spin_lock(&ressd->lock);
	ressd->counters.flushes++;
	ressd_judge_noted(ressd);
	ressd_pattern_flush(&ressd->pattern);
	ressd_route_flush(&ressd->route);
	/* This one says nothing of what a failed one was to make durable. */
	ressd_take_flush_errors(ressd);
	if (ressd->errors.inherited) {
		ressd->errors.inherited = false;
		ret = DM_MAPIO_KILL;
	} else if (flush_is_enough(ressd)) {
		rb->flags |= RESSD_BIO_FLUSHES;
		rb->ticket = ressd->errors.known_to_core;
		if (ressd_route_is_direct(ressd))
			ressd_route_sent(ressd, rb, 0);
		/*
		 * Without data FUA means nothing, but a device without FUA
		 * would flush twice.
		 */
		bio->bi_opf &= ~REQ_FUA;
		ressd_remap_normal(ressd, bio);
		ret = DM_MAPIO_REMAPPED;
	} else if (flushes_fail(ressd)) {
		ret = DM_MAPIO_KILL;
	} else {
		ressd_wait_for_sync(ressd, rb);
	}
	spin_unlock(&ressd->lock);
	return ret;
}

/* All but reads. */
static noinline int map_change(struct ressd *ressd, struct bio *bio)
{
	struct ressd_bio *rb = ressd_bio(bio);
	int ret = DM_MAPIO_KILL;	/* nothing else is advertised */

	/* All else is set where it is needed. */
	rb->flags = 0;
	rb->accepted = 0;
	if (bio->bi_opf & REQ_PREFLUSH)
		ret = map_flush(ressd, bio, rb);
	else if (bio_op(bio) == REQ_OP_WRITE)
		ret = map_write(ressd, bio, rb);
	else if (bio_op(bio) == REQ_OP_DISCARD)
		ret = ressd_map_discard(ressd, bio);
	if (ret != DM_MAPIO_KILL)
		return ret;
	/* dm would not call ressd_end_io(), which counts and notes it. */
	bio_io_error(bio);
	return DM_MAPIO_SUBMITTED;
}

static bool is_read(const struct bio *bio)
{
	return !(bio->bi_opf & (REQ_OP_MASK | REQ_PREFLUSH));
}

static noinline int map_shaped(struct ressd *ressd, struct bio *bio)
{
	int ret;

	if (!op_is_flush(bio->bi_opf))
		ressd_dispatch_throttle(ressd);
	if (!is_read(bio))
		return map_change(ressd, bio);
	ret = ressd_map_read(ressd, bio);
	if (ret == DM_MAPIO_REMAPPED)
		ret = ressd_shape_send_read(ressd, bio);
	return ret;
}

/* Calls others last, so that a read needs no stack here. */
int ressd_map_bio(struct dm_target *ti, struct bio *bio)
{
	struct ressd *ressd = ti->private;

	this_cpu_write(ressd->seen->last_bio, jiffies);
	if (ressd_shape_is_used())
		return map_shaped(ressd, bio);
	if (is_read(bio))
		return ressd_map_read(ressd, bio);
	return map_change(ressd, bio);
}
