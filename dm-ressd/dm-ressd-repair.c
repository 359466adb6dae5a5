// SPDX-License-Identifier: GPL-2.0-only
/*
 * The message recover, which brings a log back into service.
 * core/ressd-repair.h says what a failed flush means.
 */
#include <linux/vmalloc.h>

#include "dm-ressd-log.h"

#define REPAIR_BLOCKS	64	/* read back at once */
#define MAX_RANGES	16	/* of lost blocks that the kernel log names */

/*
 * Blocks that are current but would not be found on the device, in ascending
 * order.
 */
struct ranges {
	u32 blocks, nr;
	u32 next;			/* block after the last one */
	struct {
		u32 first, nr;
	} range[MAX_RANGES];
};

/*
 * Looks at some blocks from normal block *@from on; false when these were the
 * last.  Nothing changes the map between two calls: no write is taken.
 */
static bool collect_some(const struct ressd *ressd, struct ranges *lost,
			 u32 *from)
{
	const struct ressd_log *log = &ressd->log;
	const struct ressd_node *node = ressd_map_first_from(&log->map, *from);
	u32 looked = 0;

	lockdep_assert_held(&ressd->lock);
	for (; node && looked < RESSD_STEP_NODES;
	     node = ressd_map_next(node), looked++) {
		u32 block = ressd_map_block(&log->map, node);

		if (ressd_map_is_clean(&log->map, block) ||
		    !ressd_repair_is_lost(log, block))
			continue;
		lost->blocks++;
		if (node->lbn != lost->next && lost->nr++ < MAX_RANGES)
			lost->range[lost->nr - 1].first = node->lbn;
		if (lost->nr <= MAX_RANGES)
			lost->range[lost->nr - 1].nr++;
		lost->next = node->lbn + 1;
	}
	if (node)
		*from = node->lbn;
	return node;
}

static void collect_lost(struct ressd *ressd, struct ranges *lost)
{
	u32 from = 0;
	bool more;

	lost->next = RESSD_NO_BLOCK;
	do {
		cond_resched();
		spin_lock(&ressd->lock);
		more = collect_some(ressd, lost, &from);
		spin_unlock(&ressd->lock);
	} while (more);
}

static void tell_lost(const struct ressd *ressd, const struct ranges *lost)
{
	u32 i;

	DMERR("%s: blocks of 4 KiB whose newest version is not in the log on the device: %u",
	      ressd_name(ressd), lost->blocks);
	for (i = 0; i < min_t(u32, lost->nr, MAX_RANGES); i++)
		DMERR("%s: lost: %u sectors from sector %llu",
		      ressd_name(ressd),
		      lost->range[i].nr * RESSD_BLOCK_SECTORS,
		      (u64)lost->range[i].first * RESSD_BLOCK_SECTORS);
	if (lost->nr > MAX_RANGES)
		DMERR("%s: lost: more ranges: %u", ressd_name(ressd),
		      lost->nr - MAX_RANGES);
}

/*
 * Begins the repair once nothing is in flight that was sent before a failed
 * flush.  In mode OFF no flush has failed, so there is nothing to wait for.
 */
static bool repair_if_quiet(struct ressd *ressd, void *buffer)
{
	bool quiet;

	spin_lock(&ressd->lock);
	/*
	 * From now on none begins without the lock; until the mode is noted
	 * anew.
	 */
	WRITE_ONCE(ressd->gate.shut, true);
	quiet = !ressd_refuses_writes(ressd) ||
		(!ressd->log.busy && !ressd_log_is_doubtful(&ressd->log) &&
		 !ressd->gate.batch && !ressd->cover.running &&
		 ressd_flight_is_over(&ressd->flight));
	if (quiet)
		ressd_repair_start(&ressd->log, buffer, REPAIR_BLOCKS);
	spin_unlock(&ressd->lock);
	return quiet;
}

/* The log worker does the I/O of the repair. */
static int repair(struct ressd *ressd)
{
	void *buffer = ressd_vmalloc_noio(REPAIR_BLOCKS * RESSD_BLOCK_SIZE);
	struct ranges lost = { };
	int ret;

	if (!buffer) {
		DMERR("%s: there is not enough memory to read back the log",
		      ressd_name(ressd));
		return -ENOMEM;
	}
	wait_event(ressd->wait, repair_if_quiet(ressd, buffer));
	ressd_run_log(ressd);

	spin_lock(&ressd->lock);
	wait_event_cmd(ressd->wait, ressd_repair_is_over(&ressd->log),
		       spin_unlock(&ressd->lock), spin_lock(&ressd->lock));
	ret = ressd_repair_result(&ressd->log);
	spin_unlock(&ressd->lock);
	if (ret == -EUCLEAN)
		collect_lost(ressd, &lost);
	spin_lock(&ressd->lock);
	ressd->errors.lost_blocks = lost.blocks;
	spin_unlock(&ressd->lock);
	vfree(buffer);
	if (ret == -EUCLEAN)
		tell_lost(ressd, &lost);
	return ret;
}

/*
 * False if nothing is to be repaired: then a sweep shall try the bad blocks
 * again.  A suspended device must stay as it is; a suspend or removal that
 * begins later waits until the repair is over (ressd_postsuspend()).
 */
static bool claim_repair(struct ressd *ressd, int *ret)
{
	bool claimed = false;

	spin_lock(&ressd->lock);
	*ret = ressd->suspending       ? -EAGAIN :
	       ressd->errors.repairing ? -EBUSY :
					 0;
	if (!*ret && !ressd_log_is_rw(ressd)) {
		WRITE_ONCE(ressd->errors.repairing, true);
		claimed = true;
	}
	spin_unlock(&ressd->lock);
	return claimed;
}

/*
 * Does what the flushes were to do that have failed: else one who writes with
 * FUA, but never flushes, would not be served any more.
 */
static int flush_again(struct ressd *ressd)
{
	int refused = atomic_read(&ressd->errors.refused_flushes), ret;

	/* In a full log the sync needs the room that the mover makes. */
	ressd_retry_moves(ressd, true);
	ressd_wake(ressd);
	ret = ressd_sync(ressd);
	if (!ret)
		ret = ressd_flush(ressd);
	if (!ret)
		ressd_answer_flushes(ressd, refused);
	spin_lock(&ressd->lock);
	ressd_take_flush_errors(ressd);
	spin_unlock(&ressd->lock);
	return ret;
}

int ressd_recover_message(struct ressd *ressd)
{
	int ret;

	if (claim_repair(ressd, &ret)) {
		ret = repair(ressd);
		if (!ret)
			ret = flush_again(ressd);
		ressd_note_mode(ressd);
		spin_lock(&ressd->lock);
		WRITE_ONCE(ressd->errors.repairing, false);
		spin_unlock(&ressd->lock);
		if (ret == -EIO)
			DMERR("%s: the log cannot be repaired, for the device still returns errors; if it was taken out meanwhile, unmount, close and open it again",
			      ressd_name(ressd));
		if (ret == -EUCLEAN)
			DMERR("%s: data is lost; unmount the device, close and open it again: then it holds what was durable",
			      ressd_name(ressd));
	} else if (ret == -EAGAIN) {
		DMERR("%s: the device is suspended; resume it, then recover",
		      ressd_name(ressd));
		return ret;
	} else if (ret) {
		DMERR("%s: the log is being repaired already",
		      ressd_name(ressd));
	}
	ressd_retry_moves(ressd, true);
	ressd_wake(ressd);
	return ret;
}
