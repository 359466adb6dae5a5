// SPDX-License-Identifier: GPL-2.0-only
/* The mover: brings a batch of blocks home after the other, as dm-ressd-mover.c does. */
#include <string.h>
#include <linux/errno.h>
#include "host.h"
#include "ressd-keep.h"
#include "ressd-record.h"

bool host_mover_overlaps(const struct host *host, const struct op *op)
{
	u32 i;

	for (i = 0; i < host->mover.nr; i++)
		if (host->mover.moves[i].lbn - op_first_block(op) < op_nr_blocks(op))
			return true;
	return false;
}

static bool counts_as_direct(const struct host *host, const struct op *op)
{
	return op_is_direct(op) &&
	       (op->state == OP_DEVICE || host->fault != FAULT_HELD_UNSEEN);
}

static bool older_direct_writes(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (counts_as_direct(host, op) && op->sent <= host->mover.started)
			return true;
	return false;
}

static bool under_tracked_write(const struct host *host, u32 lbn)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (counts_as_direct(host, op) && op->tracked &&
		    lbn - op_first_block(op) < op_nr_blocks(op))
			return true;
	return false;
}

/* That something is to be carried does not matter here: it is no reason for the mover to begin. */
void host_mover_prime(struct host *host)
{
	if (host->mover.state != MOVER_IDLE || host->draining ||
	    !ressd_log_can_prime(&host->box.log))
		return;
	host_trace(host, "priming the log");
	host->mover.ticket = ressd_log_prime(&host->box.log);
	host->mover.sweep_failed = false;
	host->mover.drains = false;
	host->mover.state = MOVER_RECLAIM;
}

/* The slot counts as read until all of it was looked at. */
static bool start_keeping(struct host *host)
{
	struct mover *mover = &host->mover;

	if (!host->config.keeps || host->draining ||
	    !ressd_keep_wanted(&host->box.log, 0, &mover->keep_slot))
		return false;
	host_trace(host, "keeping slot %u", mover->keep_slot);
	mover->keep_block = ressd_geom_slot_start(&host->layout.geom, mover->keep_slot);
	mover->keep_segment = ressd_log_segment_seq(&host->box.log, mover->keep_block);
	mover->state = MOVER_KEEP;
	if (host->fault != FAULT_KEEP_NOT_BUSY)
		host->readers[mover->keep_slot]++;
	return true;
}

static void start_sweep(struct host *host, bool whole)
{
	struct mover *mover = &host->mover;
	const struct ressd_log *log = &host->box.log;

	mover->record = ressd_sweep_start(&mover->sweep, log);
	mover->whole = whole;
	ressd_sweep_visits(&mover->sweep, host->config.visit_blocks, host->config.visit_phase,
			   host->config.fill_blocks, mover->visit_from);
	if (whole)
		mover->sweep.last_segment = log->head_seq;
	else if (mover->sweep.visit_blocks)
		ressd_sweep_oldest(&mover->sweep, log);
	mover->sweep_failed = false;
	mover->started = ++host->time;
	mover->state = MOVER_WAIT;
}

void host_mover_start(struct host *host, bool whole)
{
	const struct ressd_log *log = &host->box.log;
	enum ressd_cover_goal goal;

	if (host->mover.state != MOVER_IDLE || !host_log_works(host))
		return;
	/* One that has found no room needs a sweep first. */
	if (!host->cover.starved && ressd_cover_choose(log, host->draining, &goal)) {
		host_cover_start(host, goal);
		return;
	}
	host->cover.starved = false;
	host->mover.drains = host->draining;
	if (whole || !start_keeping(host))
		start_sweep(host, whole);
}

/* The sweep is over: what has died becomes reusable. */
static void end_sweep(struct host *host)
{
	struct mover *mover = &host->mover;
	struct ressd_log *log = &host->box.log;

	mover->state = MOVER_IDLE;
	if (!host_log_works(host))
		return;
	if (host->draining)
		ressd_log_rotate(log);
	mover->ticket = ressd_log_reclaim(log);
	mover->state = MOVER_RECLAIM;
}

static void check_slot(struct host *host)
{
	const struct mover *mover = &host->mover;
	u32 block = ressd_geom_slot_start(&host->layout.geom, mover->keep_slot);

	if (ressd_log_segment_seq(&host->box.log, block) != mover->keep_segment)
		violation(host, "slot %u is used anew while the log keeps what lives of it",
			  mover->keep_slot);
}

/* What could not be kept is swept. */
static void end_keeping(struct host *host)
{
	struct mover *mover = &host->mover;

	if (host->fault != FAULT_KEEP_NOT_BUSY)
		host->readers[mover->keep_slot]--;
	mover->state = MOVER_IDLE;
	host_retry(host);
	if (host->box.log.segments[mover->keep_slot].live)
		start_sweep(host, false);
	else
		end_sweep(host);
}

/* Reads the next block that the log shall keep. */
static void read_kept(struct host *host, bool error)
{
	struct mover *mover = &host->mover;
	u32 end = ressd_geom_slot_end(&host->layout.geom, mover->keep_slot);
	const struct ressd_log *log = &host->box.log;

	mover->keep_block = ressd_keep_next(log, mover->keep_block, end);
	if (error || mover->keep_block == end || !host_log_works(host)) {
		end_keeping(host);
		return;
	}
	mover->kept_lbn = log->map.nodes[mover->keep_block].lbn;
	disk_read(&host->disk, layout_log_sector(&host->layout, mover->keep_block), BLOCK_SECTORS,
		  mover->kept);
	mover->state = MOVER_KEPT;
}

/* The log accepts what was read if it is still current; or else it has a reason. */
static void accept_kept(struct host *host)
{
	struct mover *mover = &host->mover;
	struct ressd_log *log = &host->box.log;
	const struct ressd_node *node = &log->map.nodes[mover->keep_block];
	struct ressd_place place;
	int ret;

	if (host->fault != FAULT_KEEP_STALE &&
	    (ressd_keep_next(log, mover->keep_block, mover->keep_block + 1) != mover->keep_block ||
	     ressd_crc(mover->kept, RESSD_BLOCK_SIZE) != node->crc)) {
		mover->keep_block++;
		mover->state = MOVER_KEEP;
		return;
	}
	ret = ressd_log_accept(log, mover->kept_lbn, &place);
	if (ret == -EAGAIN && ressd_log_ram_is_full(log))
		return;
	if (ret) {
		end_keeping(host);
		return;
	}
	host_trace(host, "keeping log block %u of block %u", mover->keep_block, mover->kept_lbn);
	memcpy(place.data, mover->kept, RESSD_BLOCK_SIZE);
	mover->keep_block++;
	mover->state = MOVER_KEEP;
}

static bool may_move(const struct host *host, const struct ressd_move *move)
{
	return !under_tracked_write(host, move->lbn) &&
	       !ressd_log_data(&host->box.log, move->block);
}

/* Does it also move what was logged since it began? */
static bool takes_younger(const struct mover *mover)
{
	return mover->sweep.visit_blocks || mover->whole;
}

static void pick_moves(struct host *host, u32 max)
{
	struct mover *mover = &host->mover;
	const struct ressd_log *log = &host->box.log;
	u32 nr = ressd_sweep_pick(&mover->sweep, log, mover->moves, max);
	u32 i;

	if (!nr) {
		if (!mover->sweep.cut)
			end_sweep(host);
		return;
	}
	for (i = 0; i < nr; i++) {
		struct ressd_move move = mover->moves[i];

		if (!ressd_move_is_hole(&move) && !may_move(host, &move)) {
			if (!mover->sweep.filling)
				continue;
			ressd_move_make_hole(&move);
		}
		if (!ressd_move_is_hole(&move))
			host->readers[ressd_geom_slot(&host->layout.geom, move.block)]++;
		mover->moves[mover->nr++] = move;
	}
	if (mover->nr)
		mover->state = MOVER_READ;
	if (takes_younger(mover))
		mover->started = ++host->time;
}

static void report_moved(struct host *host)
{
	u32 i;

	for (i = 0; i < host->mover.nr; i++) {
		const struct ressd_move *move = &host->mover.moves[i];
		bool current;

		if (ressd_move_is_hole(move))
			continue;
		current = !host->mover.failed[i] &&
			  ressd_log_moved(&host->box.log, move->block, move->lbn);
		host_trace(host, "moved log block %u to block %u%s", move->block, move->lbn,
			   current ? "" : ", not current any more");
	}
}

static void put_readers(struct host *host)
{
	u32 i;

	for (i = 0; i < host->mover.nr; i++) {
		const struct ressd_move *move = &host->mover.moves[i];

		if (!ressd_move_is_hole(move))
			host->readers[ressd_geom_slot(&host->layout.geom, move->block)]--;
	}
}

/* A block that could not be moved keeps back no other: it stays in the log. */
static void end_batch(struct host *host)
{
	struct mover *mover = &host->mover;
	u32 slot;

	put_readers(host);
	mover->nr = 0;
	mover->state = MOVER_PICK;
	mover->visit_from = mover->sweep.visit_end;
	host_retry(host);
	if (!mover->whole && ressd_sweep_between_visits(&mover->sweep) &&
	    (ressd_log_can_reclaim(&host->box.log) || ressd_cover_must_carry(&host->box.log) ||
	     (host->config.keeps && ressd_keep_wanted(&host->box.log, 0, &slot))))
		end_sweep(host);
}

static u32 source_sector(const struct host *host, const struct ressd_move *move)
{
	return ressd_move_is_hole(move) ? move->lbn * BLOCK_SECTORS :
					  layout_log_sector(&host->layout, move->block);
}

/*
 * Compares what the log holds of the batch with its checksums; false if some of it is gone, as only
 * a failed flush may have it.
 */
static bool sources_are_intact(struct host *host)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	const struct mover *mover = &host->mover;
	const struct ressd_move *move;

	for (move = mover->moves; move < mover->moves + mover->nr; move++) {
		if (ressd_move_is_hole(move))
			continue;
		disk_read(&host->disk, source_sector(host, move), BLOCK_SECTORS, data);
		if (ressd_crc(data, RESSD_BLOCK_SIZE) == move->crc)
			continue;
		if (ressd_repair_is_unproven(&host->box.log, move->block))
			return false;
		violation(host, "log block %u of block %u has changed under the mover",
			  move->block, move->lbn);
	}
	return true;
}

/* All blocks of the batch are read: checks them, and starts to write them home. */
static void read_moves(struct host *host)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	struct mover *mover = &host->mover;
	u32 i;

	if (!sources_are_intact(host)) {
		mover->sweep_failed = true;
		end_batch(host);
		return;
	}
	for (i = 0; i < mover->nr; i++) {
		const struct ressd_move *move = &mover->moves[i];

		disk_read(&host->disk, source_sector(host, move), BLOCK_SECTORS, data);
		if (ressd_move_is_hole(move))
			host_trace(host, "rewriting block %u", move->lbn);
		else
			host_trace(host, "moving log block %u to block %u", move->block, move->lbn);
		mover->failed[i] = false;
		mover->order[i] = i;
		mover->writes[i] = disk_submit(&host->disk, move->lbn * BLOCK_SECTORS,
					       BLOCK_SECTORS, data);
	}
	mover->left = mover->nr;
	mover->state = MOVER_WRITE;
	if (host->fault == FAULT_EARLY_MOVED)
		report_moved(host);
}

/* One of the batch's writes ends. */
static void write_moves(struct host *host, bool error, u64 number)
{
	struct mover *mover = &host->mover;
	u32 place = number % mover->left, i = mover->order[place];

	if (error)
		disk_fail(&host->disk, mover->writes[i], number);
	else
		disk_complete(&host->disk, mover->writes[i], false);
	mover->sweep_failed |= error;
	mover->failed[i] = error && host->fault != FAULT_MOVE_ERROR_DROPPED;
	mover->order[place] = mover->order[--mover->left];
	if (mover->left)
		return;
	if (host->fault != FAULT_EARLY_MOVED)
		report_moved(host);
	end_batch(host);
}

/* One of idle time ends when a bio comes. */
static bool is_cut_short(const struct host *host, u64 number)
{
	return host->mover.whole && !host->draining && number / MAX_MOVES % 8 == 7;
}

void host_mover_step(struct host *host, bool error, u64 number)
{
	struct mover *mover = &host->mover;
	const struct ressd_log *log = &host->box.log;

	switch (mover->state) {
	case MOVER_IDLE:
		break;
	case MOVER_KEEP:
		check_slot(host);
		read_kept(host, error);
		break;
	case MOVER_KEPT:
		check_slot(host);
		accept_kept(host);
		break;
	case MOVER_WAIT:
		if (!host_log_works(host))
			end_sweep(host);
		else if (log->written_seq >= mover->record &&
			 (!older_direct_writes(host) || host->fault == FAULT_SWEEP_IGNORES_DIRECT))
			mover->state = MOVER_PICK;
		break;
	case MOVER_PICK:
		if (!host_log_works(host) || is_cut_short(host, number))
			end_sweep(host);
		else
			pick_moves(host, 1 + number % MAX_MOVES);
		break;
	case MOVER_READ:
		if (takes_younger(mover) && older_direct_writes(host) &&
		    host->fault != FAULT_FILL_IGNORES_DIRECT &&
		    !(host->fault == FAULT_IDLE_IGNORES_DIRECT && !mover->sweep.visit_blocks))
			break;
		mover->sweep_failed |= error;
		if (error)
			end_batch(host);
		else
			read_moves(host);
		break;
	case MOVER_WRITE:
		write_moves(host, error, number);
		break;
	case MOVER_COVER:
		host_cover_step(host, error, number);
		break;
	case MOVER_RECLAIM:
		if (ressd_log_synced(log) < mover->ticket && host_log_works(host) &&
		    !ressd_log_is_starved(log))
			break;
		mover->state = MOVER_IDLE;
		if (mover->sweep_failed && ressd_log_is_starved(log))
			ressd_log_give_up(&host->box.log);
		host_complete_waiters(host, false);
		host_retry(host);
		if (mover->drains && ressd_log_is_drained(log) &&
		    host->fault == FAULT_COVER_WAITERS_FORGOTTEN)
			host->box.log.cover_wanted = false;
		break;
	}
}
