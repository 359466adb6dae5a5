// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mover (RE section 3.2): a thread that brings the data of full segments home in ascending
 * order, so that the log's segments can be used again.
 *
 * A sweep freezes the full segments and then repeats: pick a batch, read it from the log, check it,
 * write it home, tell the log.  At its end one record, written after a flush, announces that the
 * segments are dead; when it is durable they may be overwritten.
 *
 * If anything of a batch fails, its blocks are moved one by one, so that a block that cannot be
 * moved keeps back no other one.  It stays mapped; its segment, and with it all later ones, cannot
 * be reused until a later sweep moves it or it is overwritten.  Sweeps with errors come ever more
 * rarely.
 * If the device's clustered block is known (move_block_sectors), a batch may also hold blocks of
 * younger segments, and holes: blocks that are read from home and written back there, so that a
 * clustered block is rewritten whole and in order (core/ressd-sweep.h).
 */
#include <linux/blkdev.h>
#include <linux/dm-io.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "dm-ressd-bio.h"
#include "dm-ressd-compat.h"

/* After a sweep with errors; doubled each time. */
#define FIRST_BACKOFF	HZ
#define LAST_BACKOFF	(64 * HZ)

/* How often the clock is looked at with pace idle. */
#define CLOCK_INTERVAL	(HZ / 20)

/*
 * I/Os of the mover in flight: enough to keep a drive's queue busy; while others read, one, so that
 * a read never waits for more than one of the mover's slow writes.
 */
#define MAX_IOS		32
#define MAX_IOS_READING	1

static void move_io_done(unsigned long error, void *context)
{
	struct ressd *ressd = context;
	unsigned long flags;

	if (error)
		atomic_inc(&ressd->move_errors);
	/* The lock holds up wait_for_moves() until nothing here is touched any more. */
	spin_lock_irqsave(&ressd->done_lock, flags);
	atomic_dec(&ressd->move_ios);
	wake_up(&ressd->wait);
	spin_unlock_irqrestore(&ressd->done_lock, flags);
}

static void wait_for_moves(struct ressd *ressd)
{
	wait_event(ressd->wait, !atomic_read(&ressd->move_ios));
	spin_lock_irq(&ressd->done_lock);
	spin_unlock_irq(&ressd->done_lock);
}

bool ressd_mover_overlaps(const struct ressd *ressd, u32 first, u32 nr)
{
	u32 low = 0, high = ressd->batch;

	/* The first move whose destination is not before @first. */
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (ressd->moves[middle].lbn < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ressd->batch && ressd->moves[low].lbn - first < nr;
}

/* --- one batch ---------------------------------------------------------------------------- */

static bool is_tracked(const struct ressd *ressd, u32 lbn)
{
	const struct ressd_bio *rb;

	list_for_each_entry(rb, &ressd->tracked, list)
		if (lbn - rb->first < rb->nr)
			return true;
	return false;
}

/* Left out are blocks under a direct write, which will kill them, and those still in RAM. */
static bool may_move(const struct ressd *ressd, const struct ressd_move *move)
{
	return !is_tracked(ressd, move->lbn) && !ressd_log_data(&ressd->log, move->block);
}

/*
 * Picks the next batch and pins its segments.  From now on direct writes to its blocks wait.
 * Returns how many were looked at.
 */
static u32 pick_batch(struct ressd *ressd)
{
	u32 i, nr, max, kept = 0;

	spin_lock(&ressd->lock);
	max = min(ressd->max_moves, ressd->options.move_batch_sectors / RESSD_BLOCK_SECTORS);
	nr = ressd_sweep_pick(&ressd->sweep, &ressd->log, ressd->moves, max);
	for (i = 0; i < nr; i++) {
		struct ressd_move move = ressd->moves[i];

		if (!ressd_move_is_hole(&move) && !may_move(ressd, &move)) {
			if (!ressd->sweep.filling)
				continue;
			ressd_move_make_hole(&move);
		}
		if (!ressd_move_is_hole(&move))
			atomic_inc(&ressd->readers[ressd_geom_slot(&ressd->log.geom, move.block)]);
		ressd->moves[kept++] = move;
	}
	ressd->batch = kept;
	spin_unlock(&ressd->lock);
	return nr;
}

/* Starts the I/O of @nr blocks of the batch from move @at on: from their sources, or home. */
static void start_io(struct ressd *ressd, u32 at, u32 nr, bool write)
{
	const struct ressd_move *move = &ressd->moves[at];
	bool home = write || ressd_move_is_hole(move);
	struct dm_io_region region = {
		.bdev = home ? ressd->normal->bdev : ressd->reserved->bdev,
		.sector = home ? ressd_normal_sector(ressd, move->lbn) :
				 ressd_log_sector(ressd, move->block),
		.count = (sector_t)nr << 3,
	};
	struct dm_io_request request = {
		.bi_opf = write ? REQ_OP_WRITE : REQ_OP_READ,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = ressd->move_buffer + (size_t)at * RESSD_BLOCK_SIZE,
		.notify.fn = move_io_done,
		.notify.context = ressd,
		.client = ressd->io_client,
	};

	atomic_inc(&ressd->move_ios);
	if (ressd_dm_io(&request, &region, NULL))
		move_io_done(1, ressd);
}

/* All I/O of the batch in one direction, several at a time, submitted in ascending order. */
static int transfer(struct ressd *ressd, bool home)
{
	u64 reads = READ_ONCE(ressd->counters.reads);
	u32 at, nr;

	atomic_set(&ressd->move_errors, 0);
	for (at = 0; at < ressd->batch; at += nr) {
		u64 reads_now = READ_ONCE(ressd->counters.reads);
		int limit = reads_now == reads ? MAX_IOS : MAX_IOS_READING;

		reads = reads_now;
		wait_event(ressd->wait, atomic_read(&ressd->move_ios) < limit);
		nr = ressd_sweep_run(&ressd->moves[at], ressd->batch - at, !home);
		start_io(ressd, at, nr, home);
	}
	wait_for_moves(ressd);
	return atomic_read(&ressd->move_errors) ? -EIO : 0;
}

/* What was read must be what was logged: a damaged block must never be written home. */
static bool is_intact(const struct ressd_move *move, const void *data)
{
	return ressd_crc(data, RESSD_BLOCK_SIZE) == move->crc;
}

static bool batch_is_intact(const struct ressd *ressd)
{
	u32 i;

	for (i = 0; i < ressd->batch; i++)
		if (!ressd_move_is_hole(&ressd->moves[i]) &&
		    !is_intact(&ressd->moves[i],
			       ressd->move_buffer + (size_t)i * RESSD_BLOCK_SIZE))
			return false;
	return true;
}

/* How the batch was written home, as RE section 4.5 counts it.  Under the lock. */
static void count_runs(struct ressd *ressd)
{
	u32 at, nr;

	for (at = 0; at < ressd->batch; at += nr) {
		nr = ressd_sweep_run(&ressd->moves[at], ressd->batch - at, false);
		ressd->counters.moved_runs++;
		if (nr >= 3)
			ressd->counters.moved_runs_12k++;
	}
}

/* Lets go of the batch; @moved: all of it is home.  Returns how many blocks turned clean. */
static u32 finish_batch(struct ressd *ressd, bool moved)
{
	u32 i, nr = 0;

	spin_lock(&ressd->lock);
	if (moved)
		count_runs(ressd);
	for (i = 0; i < ressd->batch; i++) {
		const struct ressd_move *move = &ressd->moves[i];

		if (ressd_move_is_hole(move)) {
			ressd->counters.filled_blocks += moved;
			continue;
		}
		nr += moved && ressd_log_moved(&ressd->log, move->block, move->lbn);
		atomic_dec(&ressd->readers[ressd_geom_slot(&ressd->log.geom, move->block)]);
	}
	ressd->counters.moved_blocks += nr;
	ressd->batch = 0;
	spin_unlock(&ressd->lock);

	queue_work(ressd->workqueue, &ressd->bio_work);
	return nr;
}

static int write_home(struct ressd *ressd, u32 lbn, void *data)
{
	struct dm_io_region home = {
		.bdev = ressd->normal->bdev,
		.sector = ressd_normal_sector(ressd, lbn),
		.count = RESSD_BLOCK_SECTORS,
	};
	struct dm_io_request request = {
		.bi_opf = REQ_OP_WRITE,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = data,
		.client = ressd->io_client,
	};

	return ressd_dm_io(&request, &home, NULL);
}

/* One block, from the log to its place at home.  0, or why it stays in the log. */
static int move_block(struct ressd *ressd, const struct ressd_move *move, void *data)
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
			    ressd_name(ressd), move->lbn, move->block, what, ret);
	return ret;
}

/*
 * After writes of the batch have failed: a hole may be torn, and what it held is nowhere but in the
 * buffer.  So it is written again, whatever the mode.
 */
static void restore_holes(struct ressd *ressd)
{
	u32 i;

	for (i = 0; i < ressd->batch; i++) {
		const struct ressd_move *move = &ressd->moves[i];
		int ret;

		if (!ressd_move_is_hole(move))
			continue;
		ret = write_home(ressd, move->lbn,
				 ressd->move_buffer + (size_t)i * RESSD_BLOCK_SIZE);
		if (!ret)
			continue;
		spin_lock(&ressd->lock);
		ressd->counters.errors++;
		spin_unlock(&ressd->lock);
		DMERR_LIMIT("%s: block %u cannot be written back to its place, error %d; what it held may be lost",
			    ressd_name(ressd), move->lbn, ret);
	}
}

/* A sweep owes only the blocks of its own segments; younger ones come along. */
static bool is_owed(const struct ressd *ressd, const struct ressd_move *move)
{
	return ressd_log_segment_seq(&ressd->log, move->block) <= ressd->sweep.last_segment;
}

/* After an error in the batch: what can be moved is moved.  Returns how many blocks were. */
static u32 move_singly(struct ressd *ressd)
{
	u32 i, nr = 0;

	for (i = 0; i < ressd->batch && !kthread_should_stop() && ressd_log_works(ressd); i++) {
		const struct ressd_move *move = &ressd->moves[i];
		int ret;

		if (ressd_move_is_hole(move))
			continue;
		ret = move_block(ressd, move, ressd->move_buffer);
		spin_lock(&ressd->lock);
		if (ret) {
			ressd->sweep_bad += is_owed(ressd, move);
			ressd->counters.errors++;
		} else if (ressd_log_moved(&ressd->log, move->block, move->lbn)) {
			ressd->counters.moved_blocks++;
			ressd->counters.moved_runs++;
			nr++;
		}
		spin_unlock(&ressd->lock);
	}
	return nr;
}

static void move_batch(struct ressd *ressd)
{
	u64 start = ktime_get_ns();
	bool read = !transfer(ressd, false) && batch_is_intact(ressd);
	bool moved = read && !transfer(ressd, true);
	u32 nr = 0;

	if (read && !moved)
		restore_holes(ressd);
	if (!moved)
		nr = move_singly(ressd);
	nr += finish_batch(ressd, moved);
	spin_lock(&ressd->lock);
	ressd_route_moved(ressd, ktime_get_ns() - start, nr);
	spin_unlock(&ressd->lock);
}

/* --- one sweep ---------------------------------------------------------------------------- */

/* Why it is made.  All but the first take also the segment that is being written. */
enum sweep_kind {
	SWEEP_FOR_ROOM,
	SWEEP_DRAIN,
	SWEEP_TRIAL,			/* route adaptive: what does moving cost? */
	SWEEP_IDLE,			/* pace idle */
};

/* The device's clustered blocks count from its own first sector, also under a partition. */
static void plan_visits(struct ressd *ressd)
{
	u32 blocks = ressd->options.move_block_sectors / RESSD_BLOCK_SECTORS;
	u32 phase = 0;

	if (blocks)
		div_u64_rem(ressd_device_block(ressd->normal, ressd->table.normal_start), blocks,
			    &phase);
	ressd_sweep_visits(&ressd->sweep, blocks, phase, ressd->options.move_fill_blocks,
			   ressd->visit_from);
}

static u32 live_blocks(const struct ressd *ressd, u64 segment)
{
	const struct ressd_log *log = &ressd->log;

	/* Its slot may hold a younger segment by now. */
	if (segment < log->reuse_seq)
		return 0;
	return log->segments[ressd_geom_slot_of_seq(&log->geom, segment)].live;
}

static u64 blocks_to_move(const struct ressd *ressd)
{
	u64 seq, blocks = 0;

	for (seq = ressd->log.tail_seq; seq <= ressd->sweep.last_segment; seq++)
		blocks += live_blocks(ressd, seq);
	return blocks;
}

/* With visits a sweep is done when the oldest segment that holds something is empty. */
static u64 choose_goal(struct ressd *ressd)
{
	u64 seq = ressd->log.tail_seq;

	while (seq < ressd->sweep.last_segment && !live_blocks(ressd, seq))
		seq++;
	ressd->sweep_goal = seq;
	return live_blocks(ressd, seq);
}

/*
 * Between two visits, and the oldest segment has become empty?  Who does not want room goes all the
 * way round, and so does a sweep where blocks could not be moved: it has to say how many there are.
 */
static bool goal_reached(struct ressd *ressd, enum sweep_kind kind)
{
	bool reached;

	spin_lock(&ressd->lock);
	if (ressd->sweep.visit_blocks)
		ressd->sweep_moved = ressd->sweep_blocks -
			min_t(u64, ressd->sweep_blocks, live_blocks(ressd, ressd->sweep_goal));
	else
		ressd->sweep_moved = ressd->sweep.frozen;
	reached = kind == SWEEP_FOR_ROOM && !ressd->bad_blocks && !ressd->sweep_bad &&
		  ressd_sweep_between_visits(&ressd->sweep) && ressd_log_can_reclaim(&ressd->log);
	ressd->visit_from = ressd->sweep.visit_end;
	spin_unlock(&ressd->lock);
	/* Writers that wait look again: at how far the sweep is, which must be known by now. */
	queue_work(ressd->workqueue, &ressd->log_work);
	return reached;
}

/* Freezes the segments; returns the record that must have been written before moving begins. */
static u64 start_sweep(struct ressd *ressd, enum sweep_kind kind)
{
	u64 record, blocks;

	spin_lock(&ressd->lock);
	record = ressd_sweep_start(&ressd->sweep, &ressd->log);
	if (kind != SWEEP_FOR_ROOM)
		ressd->sweep.last_segment = ressd->log.head_seq;
	plan_visits(ressd);
	ressd->sweep_goal = ressd->sweep.last_segment;
	blocks = ressd->sweep.visit_blocks ? choose_goal(ressd) : blocks_to_move(ressd);
	ressd_pace_start(ressd, blocks, (ressd->sweep_goal + 1 - ressd->log.reuse_seq) *
					ressd->log.geom.segment_blocks);
	ressd->sweep_bad = 0;
	ressd->sweeping = true;
	ressd->counters.sweeps++;
	spin_unlock(&ressd->lock);
	return record;
}

/*
 * Waits for the direct writes that are in flight now.  The generation changes only here, and never
 * before the one that was left behind last is empty: otherwise some would be in none that is
 * waited for.
 */
static void wait_for_direct_writes(struct ressd *ressd)
{
	unsigned int old;

	spin_lock(&ressd->lock);
	old = ressd->generation;
	WRITE_ONCE(ressd->generation, !old);
	spin_unlock(&ressd->lock);
	wait_event(ressd->wait, !atomic_read(&ressd->direct[old]));
}

static bool record_settled(struct ressd *ressd, u64 record)
{
	bool settled;

	spin_lock(&ressd->lock);
	settled = ressd->log.written_seq >= record || !ressd_log_works(ressd);
	spin_unlock(&ressd->lock);
	return settled;
}

static bool drain_cancelled(const struct ressd *ressd)
{
	return !READ_ONCE(ressd->draining) || READ_ONCE(ressd->suspending);
}

static bool sweep_ends(const struct ressd *ressd, enum sweep_kind kind)
{
	if (kthread_should_stop() || !ressd_log_works(ressd))
		return true;
	switch (kind) {
	case SWEEP_FOR_ROOM:
		return false;
	case SWEEP_DRAIN:
		return drain_cancelled(ressd);
	case SWEEP_IDLE:
		if (!ressd_pace_is_idle(ressd))
			return true;
		fallthrough;
	case SWEEP_TRIAL:
		break;
	}
	return READ_ONCE(ressd->suspending) || READ_ONCE(ressd->draining);
}

/* Is the mover ahead of the writers, and is there time? */
static bool is_ahead(struct ressd *ressd)
{
	bool held;

	if (kthread_should_stop() || READ_ONCE(ressd->draining) || READ_ONCE(ressd->suspending))
		return false;
	spin_lock(&ressd->lock);
	held = ressd_log_works(ressd) && ressd_pace_holds_mover(ressd) &&
	       !ressd_route_asks_move(ressd);
	spin_unlock(&ressd->lock);
	return held;
}

/* With pace idle nobody but the clock tells when it is time to move. */
static bool watches_clock(const struct ressd *ressd)
{
	return READ_ONCE(ressd->options.pace) == RESSD_PACE_IDLE &&
	       READ_ONCE(ressd->log.map.nr_dirty);
}

/* Waits until the writers have caught up. */
static void keep_step(struct ressd *ressd)
{
	while (is_ahead(ressd)) {
		bool clock = watches_clock(ressd);

		wait_event_idle_timeout(ressd->wait,
					!is_ahead(ressd) || watches_clock(ressd) != clock,
					clock ? CLOCK_INTERVAL : MAX_SCHEDULE_TIMEOUT);
	}
}

/*
 * Moves all blocks of the frozen segments, or with visits until the oldest one is empty; false if
 * it has not come to all of them.
 */
static bool move_all(struct ressd *ressd, enum sweep_kind kind)
{
	u32 nr;

	while (!sweep_ends(ressd, kind)) {
		if (kind == SWEEP_FOR_ROOM)
			keep_step(ressd);
		nr = pick_batch(ressd);
		if (!nr)
			return true;
		if (ressd->sweep.visit_blocks)
			wait_for_direct_writes(ressd);
		move_batch(ressd);
		cond_resched();
		if (goal_reached(ressd, kind))
			break;
	}
	return false;
}

static bool sync_settled(struct ressd *ressd, u64 ticket)
{
	bool settled;

	spin_lock(&ressd->lock);
	settled = ressd_log_synced(&ressd->log) >= ticket || !ressd_log_works(ressd) ||
		  ressd_log_is_starved(&ressd->log);
	spin_unlock(&ressd->lock);
	return settled;
}

/* Waits for a ticket, unless it takes another sweep to make the room that the sync needs. */
static int wait_as_mover(struct ressd *ressd, u64 ticket)
{
	queue_work(ressd->workqueue, &ressd->log_work);
	wait_event(ressd->wait, sync_settled(ressd, ticket));
	return ressd_log_works(ressd) ? 0 : -EIO;
}

/*
 * Blocks could not be moved, or now can again: what follows from it, and who is told.  A sync that
 * needs the room which they hold would wait for ever, so it fails.
 */
static void note_bad_blocks(struct ressd *ressd, bool complete, bool gained)
{
	bool changed, more;

	spin_lock(&ressd->lock);
	/* A sweep that was ended early has not seen them all. */
	if (!complete && ressd->sweep_bad < ressd->bad_blocks)
		ressd->sweep_bad = ressd->bad_blocks;
	changed = !ressd->sweep_bad != !ressd->bad_blocks;
	more = ressd->sweep_bad > ressd->bad_blocks;
	ressd->bad_blocks = ressd->sweep_bad;
	ressd->stuck = ressd->bad_blocks && !gained;
	if (ressd->stuck && ressd_log_is_starved(&ressd->log))
		ressd_log_give_up(&ressd->log);
	spin_unlock(&ressd->lock);

	if (more)
		DMERR("%s: %u blocks cannot be moved home and stay in the log, which cannot be reused from there on; the mover tries again",
		      ressd_name(ressd), ressd->bad_blocks);
	else if (changed)
		DMINFO("%s: all blocks can be moved home again", ressd_name(ressd));
	if (changed || more)
		dm_table_event(ressd->ti->table);
	ressd_note_mode(ressd);
	queue_work(ressd->workqueue, &ressd->log_work);
}

/* 0, or -EIO if not all could be moved. */
static int sweep(struct ressd *ressd, enum sweep_kind kind)
{
	u64 reused = READ_ONCE(ressd->log.reuse_seq);
	u64 record = start_sweep(ressd, kind);
	bool complete;
	u64 ticket;
	int ret;

	queue_work(ressd->workqueue, &ressd->log_work);
	wait_event(ressd->wait, record_settled(ressd, record));
	wait_for_direct_writes(ressd);
	complete = move_all(ressd, kind);

	spin_lock(&ressd->lock);
	ressd->sweeping = false;
	if (kind == SWEEP_DRAIN)
		ressd_log_rotate(&ressd->log);
	if (kind == SWEEP_TRIAL)
		ressd_route_trial_moved(ressd, complete && !ressd->sweep_bad);
	ticket = ressd_log_reclaim(&ressd->log);
	spin_unlock(&ressd->lock);
	ret = wait_as_mover(ressd, ticket);
	if (ressd->sweep_bad || ressd->bad_blocks)
		note_bad_blocks(ressd, complete, READ_ONCE(ressd->log.reuse_seq) != reused);
	return ressd->bad_blocks ? -EIO : ret;
}

/* --- the thread --------------------------------------------------------------------------- */

static bool below_threshold(const struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;

	return ressd->mover_on && !ressd->suspending &&
	       (u64)ressd_log_free_blocks(log) * 100 <
	       (u64)ressd_log_total_blocks(log) * ressd->options.move_threshold;
}

/* Is it time to bring home what is on the device?  Under the lock. */
static bool wants_idle_sweep(const struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;

	return ressd->mover_on && !ressd->suspending && log->map.nr_dirty && !log->busy &&
	       !log->records[log->open].nr_maps && ressd_pace_is_idle(ressd);
}

static enum sweep_kind kind_of_sweep(struct ressd *ressd)
{
	enum sweep_kind kind = SWEEP_FOR_ROOM;

	spin_lock(&ressd->lock);
	if (ressd->draining)
		kind = SWEEP_DRAIN;
	else if (ressd_route_asks_move(ressd))
		kind = SWEEP_TRIAL;
	else if (wants_idle_sweep(ressd))
		kind = SWEEP_IDLE;
	spin_unlock(&ressd->lock);
	return kind;
}

/* Is there anything that a sweep could free, and reason to? */
static bool wants_sweep(struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;
	bool wants = false;

	spin_lock(&ressd->lock);
	if (!ressd_log_works(ressd))
		goto out;
	if (!ressd->suspending &&
	    (ressd->draining || (ressd->retry_now && ressd->bad_blocks)))
		wants = true;
	else if (ressd_route_asks_move(ressd) || wants_idle_sweep(ressd))
		wants = true;
	else if (log->reuse_seq < log->head_seq)
		wants = (ressd->room_wanted && ressd_log_is_full(log)) || below_threshold(ressd);
out:
	spin_unlock(&ressd->lock);
	return wants;
}

static bool is_drained(struct ressd *ressd)
{
	bool drained;

	spin_lock(&ressd->lock);
	drained = ressd_log_is_drained(&ressd->log);
	if (drained) {
		ressd->drained = true;
		ressd->draining = false;
	}
	spin_unlock(&ressd->lock);
	if (drained)
		wake_up(&ressd->wait);
	return drained;
}

static void end_drain(struct ressd *ressd, int result)
{
	spin_lock(&ressd->lock);
	ressd->drain_result = result;
	ressd->draining = false;
	spin_unlock(&ressd->lock);
	wake_up(&ressd->wait);
}

/* One sweep, and what it came to: 0, or the error that a pause must follow. */
static int sweep_once(struct ressd *ressd)
{
	enum sweep_kind kind = kind_of_sweep(ressd);
	bool drain = kind == SWEEP_DRAIN;
	u64 ticket;
	int ret;

	/* Only what is on the device can be moved. */
	if (drain || kind == SWEEP_TRIAL) {
		spin_lock(&ressd->lock);
		ticket = ressd_log_reclaim(&ressd->log);
		spin_unlock(&ressd->lock);
		if (wait_as_mover(ressd, ticket) || (drain && is_drained(ressd)))
			return 0;
	}
	ret = sweep(ressd, kind);
	if (drain && !is_drained(ressd) && ret)
		end_drain(ressd, ret);
	return ret;
}

/* @failed: the sweep met errors; then somebody may ask for another one at once. */
static bool pause_ends(const struct ressd *ressd, bool failed)
{
	return kthread_should_stop() ||
	       (failed && (READ_ONCE(ressd->retry_now) || READ_ONCE(ressd->draining)));
}

/* Waits until there is a reason to sweep. */
static void wait_for_reason(struct ressd *ressd)
{
	while (!kthread_should_stop() && !wants_sweep(ressd)) {
		bool clock = watches_clock(ressd);

		wait_event_idle_timeout(ressd->wait,
					kthread_should_stop() || wants_sweep(ressd) ||
					watches_clock(ressd) != clock,
					clock ? CLOCK_INTERVAL : MAX_SCHEDULE_TIMEOUT);
	}
}

static int mover_thread(void *data)
{
	struct ressd *ressd = data;

	while (!kthread_should_stop()) {
		u64 reused;
		int ret;

		wait_for_reason(ressd);
		if (kthread_should_stop())
			break;
		WRITE_ONCE(ressd->retry_now, false);
		reused = READ_ONCE(ressd->log.reuse_seq);
		ret = sweep_once(ressd);
		if (!ret)
			ressd->backoff = 0;
		if (READ_ONCE(ressd->log.reuse_seq) != reused || kthread_should_stop())
			continue;
		/* Gained nothing: the device fails, or a direct write was in the way. */
		if (ret)
			ressd->backoff = clamp(2 * ressd->backoff, (unsigned long)FIRST_BACKOFF,
					       (unsigned long)LAST_BACKOFF);
		wait_event_interruptible_timeout(ressd->wait, pause_ends(ressd, ret),
						 ret ? ressd->backoff : HZ / 50);
	}
	return 0;
}

int ressd_mover_start(struct ressd *ressd)
{
	struct task_struct *mover;

	if (ressd->mover)
		return 0;
	mover = kthread_run(mover_thread, ressd, "ressd_mv/%s", ressd_name(ressd));
	if (IS_ERR(mover)) {
		DMERR("%s: the mover thread cannot be started", ressd_name(ressd));
		return PTR_ERR(mover);
	}
	ressd->mover = mover;
	return 0;
}

void ressd_mover_stop(struct ressd *ressd)
{
	if (!ressd->mover)
		return;
	kthread_stop(ressd->mover);
	ressd->mover = NULL;
}

static bool drain_settled(const struct ressd *ressd)
{
	return drain_cancelled(ressd) || !ressd_log_works(ressd);
}

int ressd_drain(struct ressd *ressd)
{
	int ret;

	spin_lock(&ressd->lock);
	ressd->draining = true;
	ressd->drained = false;
	ressd->drain_result = -EINTR;
	spin_unlock(&ressd->lock);
	wake_up(&ressd->wait);
	/* Why it ended is told by the state that it left. */
	(void)wait_event_interruptible(ressd->wait, drain_settled(ressd));

	spin_lock(&ressd->lock);
	ressd->draining = false;
	if (ressd->drained)
		ret = 0;
	else if (!ressd_log_works(ressd))
		ret = -EIO;
	else
		ret = ressd->drain_result;
	spin_unlock(&ressd->lock);
	if (ret == -EIO)
		DMERR("%s: the drain has ended with an error; what is left stays in the log",
		      ressd_name(ressd));
	return ret;
}
