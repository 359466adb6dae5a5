// SPDX-License-Identifier: GPL-2.0-only
/*
 * One batch of the mover: picked, read from the log, checked, written back, and
 * noted as moved in the log.
 *
 * If anything of a batch fails, its blocks are moved one by one, so that a
 * block that cannot be moved keeps back no other one.  If the device's
 * clustered block is known (move_block_sectors), a batch may also hold blocks
 * of younger segments, and holes: blocks that are read from home and written
 * back there, so that a clustered block is rewritten whole and in order
 * (core/ressd-sweep.h).
 */
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "dm-ressd-mover.h"

/*
 * I/Os of the mover in flight: enough to keep a drive's queue busy; while
 * others read, one, so that a read never waits for more than one of the mover's
 * slow writes.  While the log is being written, unless the pace is burst, two:
 * a writer may wait for the log, and two keep a drive without a queue busy.
 */
#define MAX_IOS		32
#define MAX_IOS_LOGGING	2
#define MAX_IOS_READING	1

/* --- space for a batch ---------------------------------------------------- */

int ressd_move_space_init(struct ressd_move_space *space, u32 max)
{
	space->max = max;
	space->buffer = vmalloc((size_t)max * RESSD_BLOCK_SIZE);
	space->moves = kvmalloc_array(max, sizeof(*space->moves), GFP_KERNEL);
	if (space->buffer && space->moves)
		return 0;
	ressd_move_space_free(space);
	return -ENOMEM;
}

void ressd_move_space_free(struct ressd_move_space *space)
{
	kvfree(space->moves);
	vfree(space->buffer);
	*space = (struct ressd_move_space) { };
}

/* How large a batch may be by now, or will be from the next one on. */
static u32 max_moves(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return max(ressd->mover.space.max, ressd->mover.next_space.max);
}

/*
 * A device that is suspended may hold the swap space: no memory is to be
 * written there for this.
 */
int ressd_grow_move_space(struct ressd *ressd, u32 max)
{
	struct ressd_move_space space = { };
	unsigned int noio;
	int ret;

	spin_lock(&ressd->lock);
	ret = max_moves(ressd) >= max;
	spin_unlock(&ressd->lock);
	if (ret)
		return 0;
	noio = memalloc_noio_save();
	ret = ressd_move_space_init(&space, max);
	memalloc_noio_restore(noio);
	if (ret)
		return ret;
	spin_lock(&ressd->lock);
	/* Another message may have been quicker, with more. */
	if (max_moves(ressd) < max)
		swap(space, ressd->mover.next_space);
	spin_unlock(&ressd->lock);
	ressd_move_space_free(&space);
	return 0;
}

/*
 * Between two batches: the mover takes the larger space that a message has left
 * for it.  Returns how large the next batch may be.
 */
static u32 take_next_move_space(struct ressd *ressd)
{
	struct ressd_move_space old = { };
	u32 max;

	spin_lock(&ressd->lock);
	if (ressd->mover.next_space.max) {
		old = ressd->mover.space;
		ressd->mover.space = ressd->mover.next_space;
		ressd->mover.next_space = (struct ressd_move_space) { };
	}
	max = min(ressd->mover.space.max, ressd->options.move_batch_sectors /
						  RESSD_BLOCK_SECTORS);
	spin_unlock(&ressd->lock);
	ressd_move_space_free(&old);
	return max;
}

/* --- its I/O -------------------------------------------------------------- */

static void move_io_done(struct bio *bio)
{
	struct ressd *ressd = bio->bi_private;
	unsigned long flags;

	if (bio->bi_status)
		atomic_inc(&ressd->mover.io_errors);
	bio_put(bio);
	/*
	 * The lock holds up wait_for_batch_io() until nothing here is touched
	 * any more.
	 */
	spin_lock_irqsave(&ressd->done_lock, flags);
	atomic_dec(&ressd->mover.ios);
	wake_up(&ressd->wait);
	spin_unlock_irqrestore(&ressd->done_lock, flags);
}

static void wait_for_batch_io(struct ressd *ressd)
{
	wait_event(ressd->wait, !atomic_read(&ressd->mover.ios));
	spin_lock_irq(&ressd->done_lock);
	spin_unlock_irq(&ressd->done_lock);
}

bool ressd_batch_touches(const void *context, u32 first, u32 last)
{
	const struct ressd *ressd = context;
	u32 low = 0, high = ressd->gate.batch;

	/* The first move whose destination is not before @first. */
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (ressd->mover.space.moves[middle].lbn < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ressd->gate.batch &&
	       ressd->mover.space.moves[low].lbn <= last;
}

bool ressd_mover_overlaps(const struct ressd *ressd, u32 first, u32 nr)
{
	lockdep_assert_held(&ressd->lock);
	return ressd_batch_touches(ressd, first, first + nr - 1);
}

static bool is_tracked(const struct ressd *ressd, u32 lbn)
{
	const struct ressd_bio *rb;

	lockdep_assert_held(&ressd->lock);
	list_for_each_entry(rb, &ressd->tracked, list)
		if (lbn - rb->first < rb->nr)
			return true;
	return false;
}

/*
 * Left out are blocks under a direct write, which will invalidate them, and
 * those still in RAM.
 */
static bool may_move(const struct ressd *ressd, const struct ressd_move *move)
{
	lockdep_assert_held(&ressd->lock);
	return !is_tracked(ressd, move->lbn) &&
	       !ressd_log_holds(&ressd->log, move->block);
}

/*
 * So many moves are picked, or end, under one hold of the lock; see
 * core/ressd-log.h.
 */
#define PICKED_AT_ONCE	(RESSD_STEP_NODES / 2)
#define ENDED_AT_ONCE	(RESSD_STEP_NODES / 8)
/* So many pairs of a move and a tracked write are compared under one hold. */
#define COMPARED_AT_ONCE	(RESSD_STEP_NODES * 8)

static u32 picks_at_once(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return min(PICKED_AT_ONCE,
		   COMPARED_AT_ONCE / (ressd->nr_tracked + 1) + 1);
}

/* Counts who reads the segment that @move comes from. */
static atomic_t *reader_of(struct ressd *ressd, const struct ressd_move *move)
{
	return &ressd->readers[ressd_geom_slot(&ressd->log.geom, move->block)];
}

/*
 * Adds to the batch, of which @nr moves were looked at, what the sweep picks
 * next.  Returns how many these are; @more: it has ended early, and goes on.
 */
static u32 pick_some(struct ressd *ressd, u32 nr, u32 max, bool *more)
{
	struct ressd_move *moves = ressd->mover.space.moves;
	u32 i, picked, limit;

	spin_lock(&ressd->lock);
	moves += ressd->gate.batch;
	limit = picks_at_once(ressd);
	max = min(max - ressd->gate.batch, limit);
	if (nr)
		picked = ressd_sweep_pick_more(&ressd->mover.sweep, &ressd->log,
					       moves, max);
	else
		picked = ressd_sweep_pick(&ressd->mover.sweep, &ressd->log,
					  moves, max);
	*more = ressd->mover.sweep.cut || picked == limit;
	if (picked && !nr)
		ressd_pattern_visit(&ressd->pattern,
				    (u64)moves->lbn * RESSD_BLOCK_SECTORS);
	for (i = 0; i < picked; i++) {
		struct ressd_move move = moves[i];

		if (!ressd_move_is_hole(&move) && !may_move(ressd, &move)) {
			if (!ressd->mover.sweep.filling)
				continue;
			ressd_move_make_hole(&move);
		}
		if (!ressd_move_is_hole(&move))
			ressd_reader_begin(reader_of(ressd, &move));
		ressd->mover.space.moves[ressd->gate.batch] = move;
		ressd_gate_add_move(&ressd->gate);
	}
	spin_unlock(&ressd->lock);
	return picked;
}

u32 ressd_batch_pick(struct ressd *ressd)
{
	u32 nr = 0, max = take_next_move_space(ressd);
	bool more = true;

	while (more && ressd->gate.batch < max) {
		nr += pick_some(ressd, nr, max, &more);
		cond_resched();
	}
	return nr;
}

/*
 * The steps of a batch.  The log holds what is newer than home, so it is read
 * second.
 */
enum step {
	READ_HOME,
	READ_LOG,
	WRITE_HOME,
};

static void start_bio(struct ressd *ressd, struct bio *bio)
{
	bio->bi_end_io = move_io_done;
	bio->bi_private = ressd;
	atomic_inc(&ressd->mover.ios);
	submit_bio(bio);
}

/* Starts the I/O at home of @nr blocks of the batch from move @at on. */
static void start_home_io(struct ressd *ressd, u32 at, u32 nr, blk_opf_t opf)
{
	const struct ressd_move *move = &ressd->mover.space.moves[at];
	sector_t sector = ressd_normal_sector(ressd, move->lbn);
	size_t done = 0, bytes = (size_t)nr * RESSD_BLOCK_SIZE;

	while (done < bytes) {
		struct bio *bio =
			ressd_alloc_bio(ressd, ressd->normal->bdev, opf,
					sector + (done >> SECTOR_SHIFT),
					ressd_move_data(ressd, at) + done,
					bytes - done);

		done += bio->bi_iter.bi_size;
		start_bio(ressd, bio);
	}
}

/* Starts to read what the log holds, side by side, of BIO_MAX_VECS at most. */
static void start_log_read(struct ressd *ressd, u32 at, u32 nr)
{
	const struct ressd_move *moves = ressd->mover.space.moves;
	struct bio *bio = bio_alloc_bioset(ressd->reserved->bdev, nr,
					   REQ_OP_READ, GFP_NOIO, &ressd->bios);
	u32 i;

	bio->bi_iter.bi_sector = ressd_log_sector(ressd, moves[at].block);
	for (i = at; i < at + nr; i++) {
		void *buffer = ressd_move_data(ressd, i);

		if (!ressd_move_is_hole(&moves[i]))
			__bio_add_page(bio, vmalloc_to_page(buffer),
				       RESSD_BLOCK_SIZE,
				       offset_in_page(buffer));
	}
	start_bio(ressd, bio);
}

static void start_io(struct ressd *ressd, u32 at, u32 nr, enum step step)
{
	if (step == READ_LOG)
		start_log_read(ressd, at, nr);
	else
		start_home_io(ressd, at, nr, step == READ_HOME ?
				      REQ_OP_READ : REQ_OP_WRITE);
}

/*
 * How many moves the batch's next I/O goes over, and how many blocks it is for;
 * 0: there is none.  Home is read over a few logged blocks as well, and the log
 * afterwards, over holes.
 */
static u32 next_run(const struct ressd *ressd, enum step step, u32 at,
		    u32 *blocks)
{
	const struct ressd_move *moves = &ressd->mover.space.moves[at];
	u32 nr = ressd->gate.batch - at;

	switch (step) {
	case READ_HOME:
		*blocks = ressd_sweep_home_run(moves, nr);
		return max(*blocks, 1U);
	case READ_LOG:
		*blocks = 0;
		return ressd_move_is_hole(moves) ? 1 :
		       ressd_sweep_log_run(moves, min(nr, BIO_MAX_VECS),
					   blocks);
	case WRITE_HOME:
		break;
	}
	*blocks = ressd_sweep_run_length(moves, nr);
	return *blocks;
}

/*
 * The I/O of others until now.  A wrong number makes one batch a little faster
 * or slower, so it is read without the lock, whose holders change it by plain
 * writes.
 */
struct traffic {
	u64 reads, records;
};

static struct traffic traffic_now(const struct ressd *ressd)
{
	return (struct traffic) {
		.reads = ressd_reads(ressd),
		/* A guess, see struct traffic. */
		.records = data_race(READ_ONCE(ressd->log.counters.records)),
	};
}

/*
 * How many I/Os may be in flight, given the traffic since the last one was
 * begun.
 */
static int max_ios(const struct ressd *ressd, const struct traffic *before,
		   const struct traffic *now)
{
	bool bursts, logging;

	if (now->reads != before->reads)
		return MAX_IOS_READING;
	/* Guesses, see struct traffic. */
	bursts = data_race(READ_ONCE(ressd->options.pace)) == RESSD_PACE_BURST;
	/* Likewise. */
	logging = data_race(READ_ONCE(ressd->log.busy)) ||
		  now->records != before->records;
	if (logging && !bursts)
		return MAX_IOS_LOGGING;
	return MAX_IOS;
}

/*
 * All I/O of one step of the batch, several at a time, submitted in ascending
 * order.
 */
static int transfer(struct ressd *ressd, enum step step)
{
	size_t bytes = (size_t)ressd->gate.batch * RESSD_BLOCK_SIZE;
	struct traffic before = traffic_now(ressd);
	u32 at, nr, blocks;

	flush_kernel_vmap_range(ressd->mover.space.buffer, bytes);
	atomic_set(&ressd->mover.io_errors, 0);
	for (at = 0; at < ressd->gate.batch; at += nr) {
		struct traffic now = traffic_now(ressd);
		int limit = max_ios(ressd, &before, &now);

		nr = next_run(ressd, step, at, &blocks);
		if (!blocks)
			continue;
		before = now;
		wait_event(ressd->wait, atomic_read(&ressd->mover.ios) < limit);
		start_io(ressd, at, nr, step);
	}
	wait_for_batch_io(ressd);
	if (step != WRITE_HOME)
		invalidate_kernel_vmap_range(ressd->mover.space.buffer, bytes);
	return atomic_read(&ressd->mover.io_errors) ? -EIO : 0;
}

/*
 * What was read must be what was logged: a damaged block must never be written
 * home.
 */
static bool is_intact(const struct ressd_move *move, const void *data)
{
	return ressd_crc(data, RESSD_BLOCK_SIZE) == move->crc;
}

static bool batch_is_intact(const struct ressd *ressd)
{
	u32 i;

	for (i = 0; i < ressd->gate.batch; i++)
		if (!ressd_move_is_hole(&ressd->mover.space.moves[i]) &&
		    !is_intact(&ressd->mover.space.moves[i],
			       ressd_move_data(ressd, i)))
			return false;
	return true;
}

/* How the batch was written home, as RE section 4.5 counts it. */
static void count_runs(struct ressd *ressd)
{
	u32 at, nr;

	lockdep_assert_held(&ressd->lock);
	for (at = 0; at < ressd->gate.batch; at += nr) {
		nr = ressd_sweep_run_length(&ressd->mover.space.moves[at],
					    ressd->gate.batch - at);
		ressd->counters.moved_runs++;
		if (nr >= 3)
			ressd->counters.moved_runs_12k++;
	}
}

/*
 * The end of some moves of the batch, from the one at @at on: returns how many
 * blocks turned clean.
 */
static u32 finish_some(struct ressd *ressd, u32 at, bool moved)
{
	u32 i, nr = 0, end = min(ressd->gate.batch, at + ENDED_AT_ONCE);

	lockdep_assert_held(&ressd->lock);
	for (i = at; i < end; i++) {
		const struct ressd_move *move = &ressd->mover.space.moves[i];

		if (ressd_move_is_hole(move)) {
			ressd->counters.filled_blocks += moved;
			continue;
		}
		nr += moved &&
		      ressd_log_moved(&ressd->log, move->block, move->lbn);
		ressd_reader_leave(reader_of(ressd, move));
	}
	ressd->counters.moved_blocks += nr;
	return nr;
}

/*
 * Releases the batch; @moved: all of it was written back.  Returns how many
 * blocks turned clean.
 */
static u32 finish_batch(struct ressd *ressd, bool moved)
{
	u32 at, nr = 0;

	for (at = 0; at < ressd->gate.batch; at += ENDED_AT_ONCE) {
		spin_lock(&ressd->lock);
		nr += finish_some(ressd, at, moved);
		spin_unlock(&ressd->lock);
		cond_resched();
	}
	spin_lock(&ressd->lock);
	if (moved)
		count_runs(ressd);
	ressd_gate_end_batch(&ressd->gate);
	spin_unlock(&ressd->lock);

	ressd_run_bios(ressd);
	return nr;
}

static int write_home(struct ressd *ressd, u32 lbn, void *data)
{
	return ressd_rw(ressd, ressd->normal->bdev, REQ_OP_WRITE,
			ressd_normal_sector(ressd, lbn), 1, data);
}

/*
 * One block, from the log to its place at home.  0, or why it stays in the log.
 */
static int move_block(struct ressd *ressd, const struct ressd_move *move,
		      void *data)
{
	const char *what = "cannot be written to its place";
	int ret = ressd_log_rw(ressd, REQ_OP_READ, move->block, 1, data);

	if (ret) {
		what = "cannot be read from the log";
	} else if (!is_intact(move, data)) {
		what = "is damaged in the log";
		ret = -EILSEQ;
	} else {
		ret = write_home(ressd, move->lbn, data);
	}
	if (ret)
		DMERR_LIMIT("%s: block %u (log block %u) %s, error %d; it stays in the log",
			    ressd_name(ressd), move->lbn, move->block, what,
			    ret);
	return ret;
}

/*
 * After writes of the batch have failed: a hole may be torn, and what it held
 * is nowhere but in the buffer.  So it is written again, whatever the mode.
 */
static void restore_holes(struct ressd *ressd)
{
	u32 i;

	for (i = 0; i < ressd->gate.batch; i++) {
		const struct ressd_move *move = &ressd->mover.space.moves[i];
		int ret;

		if (!ressd_move_is_hole(move))
			continue;
		ret = write_home(ressd, move->lbn, ressd_move_data(ressd, i));
		if (!ret)
			continue;
		spin_lock(&ressd->lock);
		ressd->counters.errors++;
		spin_unlock(&ressd->lock);
		DMERR_LIMIT("%s: block %u cannot be written back to its place, error %d; what it held may be lost",
			    ressd_name(ressd), move->lbn, ret);
	}
}

/*
 * Does the sweep have to move it?  Blocks of younger segments are taken along,
 * and may stay.
 */
static bool is_owed(const struct ressd *ressd, const struct ressd_move *move)
{
	lockdep_assert_held(&ressd->lock);
	return ressd_log_segment_seq(&ressd->log, move->block) <=
	       ressd->mover.sweep.last_segment;
}

/*
 * After an error in the batch: moves one block after the other.  Returns how
 * many it could move.
 */
static u32 move_singly(struct ressd *ressd)
{
	u32 i, nr = 0;

	for (i = 0; i < ressd->gate.batch; i++) {
		const struct ressd_move *move = &ressd->mover.space.moves[i];
		int ret;

		if (kthread_should_stop() || !ressd_log_is_rw(ressd))
			break;
		if (ressd_move_is_hole(move))
			continue;
		ret = move_block(ressd, move, ressd->mover.space.buffer);
		spin_lock(&ressd->lock);
		if (ret) {
			ressd->counters.errors++;
			if (is_owed(ressd, move)) {
				ressd->mover.bad_blocks++;
				ressd->mover.bad_block = move->block;
			}
		} else if (ressd_log_moved(&ressd->log, move->block,
					   move->lbn)) {
			ressd->counters.moved_blocks++;
			ressd->counters.moved_runs++;
			nr++;
		}
		spin_unlock(&ressd->lock);
	}
	return nr;
}

/*
 * Writes the batch back.  If the device would close the log's clustered block
 * for this visit, a record is written there before.  A record with data always
 * has a place, so this does not wait for the segments that the batch holds.  If
 * the device has one block open at a time, a record between two writes of the
 * batch would cost two merges: the log waits until all are written.
 */
static bool write_batch(struct ressd *ressd)
{
	bool closes, holds, written;

	spin_lock(&ressd->lock);
	closes = ressd_visits_close_log(&ressd->mover.visits,
					&ressd->mover.sweep, &ressd->log,
					ressd->options.open_units);
	holds = ressd->options.open_units == 1;
	ressd->log_io.held = holds;
	spin_unlock(&ressd->lock);
	if (closes)
		ressd_write_open_record(ressd);
	written = !transfer(ressd, WRITE_HOME);
	if (holds)
		ressd_release_log(ressd);
	return written;
}

void ressd_batch_move(struct ressd *ressd)
{
	bool read, moved;
	u32 nr = 0;
	u64 start;

	spin_lock(&ressd->lock);
	ressd_route_start(ressd, &start);
	spin_unlock(&ressd->lock);
	read = !transfer(ressd, READ_HOME) && !transfer(ressd, READ_LOG) &&
	       batch_is_intact(ressd);
	moved = read && write_batch(ressd);
	if (read && !moved)
		restore_holes(ressd);
	if (!moved)
		nr = move_singly(ressd);
	nr += finish_batch(ressd, moved);
	spin_lock(&ressd->lock);
	ressd->mover.unprimed |= nr && ressd->log.page_blocks;
	ressd_route_moved(ressd, start, nr);
	spin_unlock(&ressd->lock);
}
