// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cover (core/ressd-cover.h): carries out the steps that core decides on,
 * in the mover's thread or in the activation, and says which bios concern
 * covered blocks.
 *
 * While a run covers or uncovers (cover.busy), writes and discards of covered
 * blocks wait on waiters.move, as those do that overlap the mover's batch.
 * Small writes of other blocks wait on waiters.space until the log is covered:
 * ressd_log_accept() says so.
 */
#include <linux/blkdev.h>
#include <linux/vmalloc.h>

#include "dm-ressd-mover.h"

int ressd_cover_init(struct ressd *ressd)
{
	size_t bytes = (size_t)ressd->super.cover_blocks * RESSD_BLOCK_SIZE;

	if (!bytes)
		return 0;
	ressd->cover.run.logged = vmalloc(bytes);
	ressd->cover.run.home = vmalloc(bytes);
	return ressd->cover.run.logged && ressd->cover.run.home ? 0 : -ENOMEM;
}

void ressd_cover_free(struct ressd *ressd)
{
	vfree(ressd->cover.run.logged);
	vfree(ressd->cover.run.home);
}

/* --- bios ----------------------------------------------------------------- */

bool ressd_cover_holds(const struct ressd *ressd, u32 first, u32 nr)
{
	const struct ressd_log *log = &ressd->log;

	lockdep_assert_held(&ressd->lock);
	if (first >= log->cover_blocks)
		return false;
	return ressd->cover.busy ||
	       (!log->covered && ressd_cover_is_dirty(log, first, nr));
}

bool ressd_cover_is_stuck(const struct ressd *ressd, u32 first, u32 nr)
{
	lockdep_assert_held(&ressd->lock);
	return !ressd_log_is_rw(ressd) && !ressd->cover.busy &&
	       ressd_cover_holds(ressd, first, nr);
}

bool ressd_cover_takes_writes(const struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;

	lockdep_assert_held(&ressd->lock);
	/* A drain clears cover_wanted, so no run is tried again. */
	return !log->cover_blocks || log->covered ||
	       (!(ressd->cover.failed && log->cover_wanted) &&
		!ressd->hibernating && !ressd->suspending);
}

/* The log block that holds a normal block, 0: none does. */
static u32 block_of(const struct ressd *ressd, u32 lbn)
{
	const struct ressd_node *node = ressd_map_find(&ressd->log.map, lbn);

	lockdep_assert_held(&ressd->lock);
	return node ? ressd_map_block(&ressd->log.map, node) : 0;
}

bool ressd_cover_is_bad(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->cover.bad_block &&
	       block_of(ressd, ressd->cover.run.bad) == ressd->cover.bad_block;
}

bool ressd_cover_mends(const struct ressd *ressd, u32 lbn)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->cover.bad_block && lbn == ressd->cover.run.bad &&
	       ressd->log.covered && ressd_cover_is_bad(ressd);
}

/* --- a run ---------------------------------------------------------------- */

/* -EAGAIN: the sync waits for space that only the mover frees. */
static int sync_log(struct ressd *ressd, bool reclaim)
{
	u64 ticket;
	int ret;

	spin_lock(&ressd->lock);
	ticket = reclaim ? ressd_log_reclaim(&ressd->log) :
			   ressd_log_sync(&ressd->log);
	spin_unlock(&ressd->lock);
	ret = ressd_wait_as_mover(ressd, ticket);
	spin_lock(&ressd->lock);
	if (!ret && ressd_log_synced(&ressd->log) < ticket)
		ret = -EAGAIN;
	spin_unlock(&ressd->lock);
	return ret;
}

static bool tidy_some(struct ressd *ressd)
{
	bool more;

	spin_lock(&ressd->lock);
	more = ressd_log_tidy(&ressd->log);
	spin_unlock(&ressd->lock);
	return more;
}

static int rw_home(struct ressd *ressd, blk_opf_t opf,
		   const struct ressd_cover_action *action)
{
	return ressd_rw(ressd, ressd->normal->bdev, opf,
			ressd_normal_sector(ressd, action->lbn), action->nr,
			action->data);
}

static int act(struct ressd *ressd, const struct ressd_cover_action *action)
{
	switch (action->kind) {
	case RESSD_COVER_READ_HOME:
		return rw_home(ressd, REQ_OP_READ, action);
	case RESSD_COVER_READ_LOG:
		return ressd_log_rw(ressd, REQ_OP_READ, action->block,
				    action->nr, action->data);
	case RESSD_COVER_WRITE_HOME:
		/*
		 * A read that was sent home before the log had the block would
		 * find the cover.
		 */
		wait_event(ressd->wait, !atomic_read(&ressd->cover.reads));
		return rw_home(ressd, REQ_OP_WRITE | REQ_SYNC, action);
	case RESSD_COVER_WORK:
		ressd_cover_work(&ressd->cover.run);
		return 0;
	case RESSD_COVER_SYNC:
		return sync_log(ressd, false);
	case RESSD_COVER_RECLAIM:
		return sync_log(ressd, true);
	case RESSD_COVER_WAIT:
		ressd_write_open_record(ressd);
		/*
		 * The next record may have to begin a segment that is not
		 * forgotten yet.
		 */
		while (tidy_some(ressd))
			cond_resched();
		return 0;
	case RESSD_COVER_END:
		break;
	}
	return 0;
}

/* Until the END. */
static void carry_out_run(struct ressd *ressd)
{
	struct ressd_cover_run *run = &ressd->cover.run;
	struct ressd_cover_action action;
	int ret;

	for (;;) {
		spin_lock(&ressd->lock);
		ressd_cover_next(run, &ressd->log, &action);
		spin_unlock(&ressd->lock);
		if (action.kind == RESSD_COVER_END)
			return;
		ret = act(ressd, &action);
		spin_lock(&ressd->lock);
		if (ret && ret != -EAGAIN)
			ressd->counters.errors++;
		ressd_cover_done(run, &ressd->log, ret);
		spin_unlock(&ressd->lock);
	}
}

/* Covers come or go. */
static bool holds_bios(enum ressd_cover_goal goal)
{
	return goal != RESSD_COVER_CARRY;
}

static bool touches_cover(const void *context, u32 first, u32 last)
{
	const struct ressd *ressd = context;

	return first < ressd->log.cover_blocks;
}

static bool start(struct ressd *ressd, enum ressd_cover_goal goal)
{
	struct ressd_cover_run *run = &ressd->cover.run;
	bool started;

	spin_lock(&ressd->lock);
	started = ressd_cover_start(run, &ressd->log, goal);
	if (started && goal == RESSD_COVER_CARRY)
		ressd_reader_begin(&ressd->readers[run->slot]);
	spin_unlock(&ressd->lock);
	return started;
}

static void finish(struct ressd *ressd, enum ressd_cover_goal goal,
		   bool started, int result)
{
	struct ressd_cover_run *run = &ressd->cover.run;

	spin_lock(&ressd->lock);
	if (started && goal == RESSD_COVER_CARRY)
		ressd_put_reader(ressd, run->slot);
	ressd->cover.busy = false;
	ressd->cover.running = false;
	ressd->cover.failed = result && !ressd->log.covered;
	if (started)
		ressd->cover.bad_block = run->bad == RESSD_NO_BLOCK ?
						 0 : block_of(ressd, run->bad);
	spin_unlock(&ressd->lock);
	if (started && run->unsafe)
		DMERR("%s: a cover cannot be written: until the device is drained its bare disk may look like a file system; do not mount it",
		      ressd_name(ressd));
	/* The page cache of the bare disk has what was there before. */
	if (holds_bios(goal))
		invalidate_bdev(ressd->normal->bdev);
	ressd_wake(ressd);
	ressd_run_log(ressd);
	ressd_run_bios(ressd);
}

int ressd_cover_run(struct ressd *ressd, enum ressd_cover_goal goal)
{
	bool started = false;
	int ret;

	spin_lock(&ressd->lock);
	ressd->cover.busy = holds_bios(goal);
	ressd->cover.running = true;
	spin_unlock(&ressd->lock);
	if (holds_bios(goal))
		ressd_wait_for_direct_writes(ressd, touches_cover);
	ret = sync_log(ressd, false);
	if (!ret) {
		started = start(ressd, goal);
		ret = started ? 0 : -EAGAIN;
	}
	if (started) {
		carry_out_run(ressd);
		ret = ressd->cover.run.result;
	}
	finish(ressd, goal, started, ret);
	if (started && ressd->cover.run.bad != RESSD_NO_BLOCK)
		DMERR_LIMIT("%s: the log's copy of normal block %u is damaged or cannot be read, so the disk stays covered; everything else can be read and drained, and a write to this block repairs it",
			    ressd_name(ressd), ressd->cover.run.bad);
	if (ret == -EIO && goal == RESSD_COVER_COVER && ressd_log_is_rw(ressd))
		DMERR_LIMIT("%s: the first blocks cannot be read, so that nothing is logged; small writes go to the normal area",
			    ressd_name(ressd));
	return ret;
}

/*
 * Whatever the bare disk holds in the place of covers, the log's version
 * counts.  Warns if something was written there.
 */
void ressd_cover_compare(struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;
	void *home = ressd->cover.run.home;
	u32 missing;

	if (!log->cover_blocks || !log->covered ||
	    ressd_rw(ressd, ressd->normal->bdev, REQ_OP_READ,
		     ressd_normal_sector(ressd, 0), log->cover_blocks, home))
		return;
	missing = ressd_cover_missing(home, log->uuid, log->cover_blocks);
	if (missing)
		DMWARN("%s: %u of the first %u sectors were written to on the bare disk while their newest version was in the log, or could not be covered; the log's version counts",
		       ressd_name(ressd), missing,
		       log->cover_blocks * RESSD_COVER_SECTORS);
}

int ressd_cover_restore(struct ressd *ressd)
{
	struct ressd_log *log = &ressd->log;
	bool needed, dirty;
	int ret = 0, rounds;
	u64 reuse_seq;

	/* The log's worker may still forget segments. */
	spin_lock(&ressd->lock);
	needed = log->cover_blocks && !log->covered && log->map.nr_mapped;
	dirty = needed && ressd_cover_any_dirty(log);
	spin_unlock(&ressd->lock);
	if (!needed)
		return 0;
	if (dirty)
		ret = ressd_cover_run(ressd, RESSD_COVER_RESTORE);
	/*
	 * A record frees a part of many segments, and only the last one the
	 * segment of its own.
	 */
	for (rounds = 0; !ret && rounds < 4 && !ressd_is_drained(ressd);
	     rounds++) {
		spin_lock(&ressd->lock);
		reuse_seq = log->reuse_seq;
		ressd_log_rotate(log);
		spin_unlock(&ressd->lock);
		ret = sync_log(ressd, true);
		spin_lock(&ressd->lock);
		if (log->reuse_seq != reuse_seq)
			rounds = 0;
		spin_unlock(&ressd->lock);
	}
	if (!ret && !ressd_is_drained(ressd))
		ret = -EIO;
	if (ret)
		DMERR("%s: power was lost while the device was made a plain disk or a covered one, and what it held cannot be written back (error %d); nothing is lost, activate it again",
		      ressd_name(ressd), ret);
	return ret;
}
