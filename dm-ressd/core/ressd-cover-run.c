// SPDX-License-Identifier: GPL-2.0-only
/* Covering, uncovering and carrying on, step by step; see ressd-cover.h. */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/string.h>
#include "ressd-cover.h"
#include "ressd-log-private.h"

#define ANY_SLOT	(~0U)

/* The steps of a run, in their order. */
enum step {
	COVER_ROOM,		/* a segment of its own, and the rest free */
	COVER_READ,
	COVER_ACCEPT,
	COVER_COPIED,		/* sync */
	COVER_FILL,		/* work: the covers */
	COVER_FIRST,		/* the cover of block 0 */
	COVER_FIRST_STANDS,	/* sync */
	COVER_OTHERS,
	COVER_OTHERS_STAND,	/* sync */

	UNCOVER_CHECK,		/* what stands there */
	UNCOVER_LOOK,		/* work: are these all covers? */
	UNCOVER_TOLD,		/* sync: a record says that home counts */
	UNCOVER_READ_LOG,
	UNCOVER_READ_HOME,
	UNCOVER_MERGE,		/* work: home's sectors, copies for covers */
	UNCOVER_OTHERS,
	UNCOVER_OTHERS_HOME,	/* sync */
	UNCOVER_FIRST,		/* no sync: a flush precedes each new tail */

	CARRY_READ,
	CARRY_ACCEPT,
	CARRY_WRITTEN,		/* sync */
	CARRY_ANNOUNCED,	/* reclaim */

	RUN_ENDS,
};

/*
 * The node of covered block @lbn if the log's copy is the one that counts, or
 * NULL.
 */
static struct ressd_node *dirty_node(const struct ressd_log *log, u32 lbn)
{
	struct ressd_node *node = ressd_map_find(&log->map, lbn);

	return node && ressd_map_is_dirty(&log->map, node) ? node : NULL;
}

/*
 * The first covered block from @lbn on with a dirty copy, in slot @slot; or
 * cover_blocks.
 */
static u32 next_dirty(const struct ressd_log *log, u32 lbn, u32 slot)
{
	for (; lbn < log->cover_blocks; lbn++) {
		const struct ressd_node *node = dirty_node(log, lbn);

		if (node &&
		    (slot == ANY_SLOT ||
		     ressd_geom_slot(&log->geom,
				     ressd_map_block(&log->map, node)) == slot))
			break;
	}
	return lbn;
}

static bool has_all_copies(const struct ressd_log *log)
{
	u32 lbn = 0;

	while (lbn < log->cover_blocks && dirty_node(log, lbn))
		lbn++;
	return lbn == log->cover_blocks;
}

bool ressd_cover_must_carry(const struct ressd_log *log)
{
	u64 seq = ressd_log_scan_tail(log, ~0ULL);
	u32 slot = ressd_geom_slot_of_seq(&log->geom, seq), lbn, nr = 0;

	if (log->mode != RESSD_MODE_RW || !log->covered ||
	    seq >= log->head_seq ||
	    log->segments[slot].live > log->cover_blocks)
		return false;
	for (lbn = next_dirty(log, 0, slot); lbn < log->cover_blocks;
	     lbn = next_dirty(log, lbn + 1, slot))
		nr++;
	return nr && nr == log->segments[slot].live;
}

/*
 * Is everything else written back, and on the device?  There must be space for
 * the record that says so, and for carrying the copies once more.
 */
static bool may_uncover(const struct ressd_log *log)
{
	return !ressd_log_nr_movable(log) && !ressd_log_open_blocks(log) &&
	       !ressd_log_blocks_in_flight(log) &&
	       ressd_log_free_segments(log) > log->cover_reserve;
}

static bool choose_uncovered(const struct ressd_log *log, bool draining,
			     enum ressd_cover_goal *goal)
{
	*goal = draining ? RESSD_COVER_UNCOVER : RESSD_COVER_COVER;
	/* Interrupted: whatever was under way. */
	return ressd_cover_any_dirty(log) || (log->cover_wanted && !draining);
}

bool ressd_cover_choose(const struct ressd_log *log, bool draining,
			enum ressd_cover_goal *goal)
{
	if (log->mode != RESSD_MODE_RW || !log->cover_blocks)
		return false;
	if (!log->covered)
		return choose_uncovered(log, draining, goal);
	*goal = RESSD_COVER_UNCOVER;
	if (draining && may_uncover(log))
		return true;
	*goal = RESSD_COVER_CARRY;
	/*
	 * A drain gets by without, unless there is no space for the record that
	 * it needs.
	 */
	return (!draining ||
		ressd_log_free_segments(log) <= log->cover_reserve) &&
	       ressd_cover_must_carry(log);
}

bool ressd_cover_start(struct ressd_cover_run *run, struct ressd_log *log,
		       enum ressd_cover_goal goal)
{
	run->uuid = log->uuid;
	run->nr = log->cover_blocks;
	run->goal = goal;
	run->at = 0;
	run->copied = 0;
	run->changed = false;
	run->damaged = false;
	run->unsafe = false;
	run->repeated = false;
	run->bad = RESSD_NO_BLOCK;
	run->result = 0;
	if (log->mode != RESSD_MODE_RW || !log->cover_blocks)
		return false;
	switch (goal) {
	case RESSD_COVER_COVER:
		run->step = COVER_ROOM;
		return !log->covered;
	case RESSD_COVER_UNCOVER:
	case RESSD_COVER_RESTORE:
		if (log->covered && !may_uncover(log))
			return false;
		run->step = log->covered ? UNCOVER_CHECK : UNCOVER_TOLD;
		return true;
	case RESSD_COVER_CARRY:
		run->step = CARRY_READ;
		run->slot =
			ressd_geom_slot_of_seq(&log->geom,
					       ressd_log_scan_tail(log, ~0ULL));
		return ressd_cover_must_carry(log);
	}
	/* No test: there is no other goal. */
	return false;
}

static u8 *block_of(u8 *blocks, u32 lbn)
{
	return blocks + (size_t)lbn * RESSD_BLOCK_SIZE;
}

/* Copies what is not in the log yet.  0, or an error of accepting. */
static int accept_copies(struct ressd_cover_run *run, struct ressd_log *log)
{
	struct ressd_place place;
	int ret;

	for (; run->at < log->cover_blocks; run->at++) {
		if (dirty_node(log, run->at))
			continue;
		ret = ressd_log_accept_leaving(log, run->at, &place,
					       1 + log->cover_reserve);
		if (ret)
			return ret;
		memcpy(place.data, block_of(run->home, run->at),
		       RESSD_BLOCK_SIZE);
		log->counters.covered++;
	}
	return 0;
}

/*
 * What was read of block run->at, if it is still the one that counts, into the
 * log once more.
 */
static int accept_carried(struct ressd_cover_run *run, struct ressd_log *log)
{
	const struct ressd_node *node = dirty_node(log, run->at);
	const u8 *data = block_of(run->logged, run->at);
	struct ressd_place place;
	int ret;

	/* No test: a covered log has a copy of each covered block. */
	if (!node || ressd_map_block(&log->map, node) != run->block)
		return 0;
	/* Damaged, and so it stays where it is. */
	if (!run->from_ram && ressd_crc(data, RESSD_BLOCK_SIZE) != node->crc) {
		run->bad = run->at;
		return -EIO;
	}
	ret = ressd_log_accept_leaving(log, run->at, &place, 0);
	if (ret)
		return ret;
	memcpy(place.data, data, RESSD_BLOCK_SIZE);
	log->counters.carried++;
	return 0;
}

static void end(struct ressd_cover_run *run, int result)
{
	run->step = RUN_ENDS;
	run->result = result;
}

/* All covers stand: the log counts from the next record on. */
static void is_covered(struct ressd_cover_run *run, struct ressd_log *log)
{
	log->covered = true;
	log->cover_wanted = false;
	if (run->goal != RESSD_COVER_COVER && !run->damaged)
		run->step = UNCOVER_CHECK;
	else
		end(run, run->damaged ? -EIO : 0);
}

/*
 * What home holds in the place of a cover would count in a log that is not
 * covered.  A cover that could not be written is written once more; without it
 * the log stays covered.  It stays so, too, if something was logged since the
 * run began, as happens when a drain is interrupted.
 */
static void check_covers(struct ressd_cover_run *run, struct ressd_log *log)
{
	if (!may_uncover(log)) {
		end(run, -EAGAIN);
	} else if (!run->missing) {
		log->covered = false;
		run->unsafe = false;
		run->step = UNCOVER_TOLD;
	} else if (run->repeated) {
		end(run, -EIO);
	} else {
		run->repeated = true;
		run->step = COVER_FILL;
	}
}

/* Everything is home: nothing of the log counts. */
static void is_home(struct ressd_cover_run *run, struct ressd_log *log)
{
	u32 lbn;

	for (lbn = 0; lbn < log->cover_blocks; lbn++) {
		const struct ressd_node *node = dirty_node(log, lbn);

		if (node)
			ressd_log_moved(log, ressd_map_block(&log->map, node),
					lbn);
	}
	log->cover_wanted = false;	/* a write that waits sets it again */
	end(run, 0);
}

/*
 * A copy is damaged, or home cannot be read or written: covers stand in again.
 * Not where home may have something newer.
 */
static void cover_again(struct ressd_cover_run *run)
{
	if (run->goal != RESSD_COVER_UNCOVER) {
		end(run, -EIO);
		return;
	}
	run->damaged = true;
	run->step = COVER_FILL;
}

/* Replaces the covers in what was read from home by the log's copies. */
static void merge(struct ressd_cover_run *run)
{
	u32 lbn;

	for (lbn = 0; lbn < run->nr; lbn++)
		if ((run->copied & (1ULL << lbn)) &&
		    ressd_cover_merge(block_of(run->home, lbn),
				      block_of(run->logged, lbn), run->uuid,
				      lbn))
			run->changed = true;
}

void ressd_cover_work(struct ressd_cover_run *run)
{
	u32 lbn;

	switch ((enum step)run->step) {
	case COVER_FILL:
		for (lbn = 0; lbn < run->nr; lbn++)
			ressd_cover_fill(block_of(run->home, lbn), run->uuid,
					 lbn);
		break;
	case UNCOVER_LOOK:
		run->missing =
			ressd_cover_missing(run->home, run->uuid, run->nr);
		break;
	case UNCOVER_MERGE:
		merge(run);
		break;
	/* No test: a bug of the caller. */
	default:
		WARN_ON_ONCE(1);
	}
}

static void go_to(struct ressd_cover_run *run, enum step step)
{
	run->step = step;
	run->at = 0;
}

/*
 * The parts of take_step().  False: @action is not filled in, and the run has
 * gone on to another step.
 */
static void read_home(const struct ressd_cover_run *run,
		      struct ressd_cover_action *action)
{
	*action = (struct ressd_cover_action){
		.kind = RESSD_COVER_READ_HOME,
		.data = run->home,
		.nr = run->nr,
	};
}

static void write_home(const struct ressd_cover_run *run,
		       struct ressd_cover_action *action, u32 lbn, u32 nr)
{
	*action = (struct ressd_cover_action){
		.kind = RESSD_COVER_WRITE_HOME,
		.data = block_of(run->home, lbn),
		.lbn = lbn,
		.nr = nr,
	};
}

/*
 * Not if a run that was interrupted has made all copies.  Writes wait for this
 * one, so it must not need the normal area, which may be unreadable for good.
 */
static bool read_uncopied(struct ressd_cover_run *run,
			  const struct ressd_log *log,
			  struct ressd_cover_action *action)
{
	if (has_all_copies(log)) {
		go_to(run, COVER_ACCEPT);
		return false;
	}
	read_home(run, action);
	return true;
}

/* All covered blocks but the first, if there are others. */
static bool write_others(struct ressd_cover_run *run, struct ressd_log *log,
			 struct ressd_cover_action *action)
{
	if (run->nr > 1) {
		write_home(run, action, 1, run->nr - 1);
		return true;
	}
	if (run->step == COVER_OTHERS)
		is_covered(run, log);
	else
		go_to(run, UNCOVER_FIRST);
	return false;
}

/* Reads the next copy from @slot; goes to @next if none is left. */
static bool read_log(struct ressd_cover_run *run, const struct ressd_log *log,
		     struct ressd_cover_action *action, u32 slot,
		     enum step next)
{
	run->at = next_dirty(log, run->at, slot);
	if (run->at == log->cover_blocks) {
		go_to(run, next);
		return false;
	}
	run->block = ressd_map_block(&log->map, dirty_node(log, run->at));
	*action = (struct ressd_cover_action){
		.kind = RESSD_COVER_READ_LOG,
		.data = block_of(run->logged, run->at),
		.block = run->block,
		.nr = 1,
	};
	return true;
}

/* What was read goes into the log, or waits until that takes it. */
static bool accept_read(struct ressd_cover_run *run, struct ressd_log *log,
			struct ressd_cover_action *action)
{
	bool carries = run->step == CARRY_ACCEPT;
	int ret = carries ? accept_carried(run, log) : accept_copies(run, log);

	if (ret == -EAGAIN) {
		action->kind = RESSD_COVER_WAIT;
		return true;
	}
	if (ret) {
		end(run, ret == -EIO ? -EIO : -EAGAIN);
	} else if (carries) {
		run->at++;
		run->step = CARRY_READ;
	} else {
		go_to(run, COVER_COPIED);
	}
	return false;
}

/* One step; true: it has filled in @action, or the run is over. */
static bool take_step(struct ressd_cover_run *run, struct ressd_log *log,
		      struct ressd_cover_action *action)
{
	*action = (struct ressd_cover_action) { .kind = RESSD_COVER_SYNC };
	switch ((enum step)run->step) {
	case COVER_ROOM:
		ressd_log_rotate(log);
		action->kind = RESSD_COVER_RECLAIM;
		break;
	case COVER_READ:
		return read_uncopied(run, log, action);
	case COVER_ACCEPT:
	case CARRY_ACCEPT:
		return accept_read(run, log, action);
	case COVER_FILL:
	case UNCOVER_LOOK:
	case UNCOVER_MERGE:
		action->kind = RESSD_COVER_WORK;
		break;
	case COVER_FIRST:
	case UNCOVER_FIRST:
		write_home(run, action, 0, 1);
		break;
	case COVER_OTHERS:
	case UNCOVER_OTHERS:
		return write_others(run, log, action);
	case UNCOVER_CHECK:
	case UNCOVER_READ_HOME:
		read_home(run, action);
		break;
	case UNCOVER_READ_LOG:
		return read_log(run, log, action, ANY_SLOT, UNCOVER_READ_HOME);
	case CARRY_READ:
		return read_log(run, log, action, run->slot, CARRY_WRITTEN);
	case CARRY_ANNOUNCED:
		action->kind = RESSD_COVER_RECLAIM;
		break;
	case COVER_COPIED:
	case COVER_FIRST_STANDS:
	case COVER_OTHERS_STAND:
	case UNCOVER_TOLD:
	case UNCOVER_OTHERS_HOME:
	case CARRY_WRITTEN:
		break;
	case RUN_ENDS:
		action->kind = RESSD_COVER_END;
		break;
	}
	return true;
}

/* What is in RAM needs no read, and the device may not have it yet. */
static bool read_from_ram(struct ressd_cover_run *run,
			  const struct ressd_log *log,
			  const struct ressd_cover_action *action)
{
	const void *ram;

	if (action->kind != RESSD_COVER_READ_LOG)
		return false;
	ram = ressd_log_data(log, action->block);
	if (ram)
		memcpy(action->data, ram, RESSD_BLOCK_SIZE);
	run->from_ram = ram;
	return ram;
}

void ressd_cover_next(struct ressd_cover_run *run, struct ressd_log *log,
		      struct ressd_cover_action *action)
{
	do {
		while (!take_step(run, log, action))
			;
		if (!read_from_ram(run, log, action))
			return;
		ressd_cover_done(run, log, 0);
	} while (true);
}

static void io_failed(struct ressd_cover_run *run, int error)
{
	switch ((enum step)run->step) {
	case COVER_FIRST:
	case COVER_OTHERS:
		/*
		 * The log has the block: without this cover it is only less
		 * safe from slips.
		 */
		run->unsafe = true;
		run->step++;
		break;
	case UNCOVER_READ_LOG:
		run->bad = run->at;
		cover_again(run);
		break;
	case UNCOVER_READ_HOME:
	case UNCOVER_OTHERS:
	case UNCOVER_FIRST:
		cover_again(run);
		break;
	case CARRY_READ:
		run->bad = run->at;
		end(run, error);
		break;
	default:
		end(run, error);
	}
}

/*
 * A copy was read for uncovering, and nothing is in RAM: it must be what was
 * logged.
 */
static bool is_intact(const struct ressd_cover_run *run,
		      const struct ressd_log *log)
{
	const struct ressd_node *node = &log->map.nodes[run->block];

	/* No test: nothing is in RAM, whatever has begun the run. */
	return run->from_ram || ressd_crc(block_of(run->logged, run->at),
					  RESSD_BLOCK_SIZE) == node->crc;
}

void ressd_cover_done(struct ressd_cover_run *run, struct ressd_log *log,
		      int error)
{
	if (error) {
		io_failed(run, error);
		return;
	}
	switch ((enum step)run->step) {
	case COVER_ACCEPT:
	case CARRY_ACCEPT:
		break;			/* it has waited, and tries again */
	case COVER_OTHERS_STAND:
		is_covered(run, log);
		break;
	case UNCOVER_READ_LOG:
		if (is_intact(run, log)) {
			run->copied |= 1ULL << run->at;
			run->at++;
		} else {
			run->bad = run->at;
			cover_again(run);
		}
		break;
	case UNCOVER_LOOK:
		check_covers(run, log);
		break;
	case UNCOVER_MERGE:
		if (run->changed)
			run->step++;
		else
			is_home(run, log);
		break;
	case UNCOVER_FIRST:
		is_home(run, log);
		break;
	case CARRY_ANNOUNCED:
		end(run, 0);
		break;
	default:
		run->step++;
	}
}
