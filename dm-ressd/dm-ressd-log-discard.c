// SPDX-License-Identifier: GPL-2.0-only
/*
 * Discards of the log's segments (log_discard on): a segment that may be reused
 * holds nothing, but a page-mapped drive copies it when it collects garbage,
 * unless it was discarded.
 *
 * Core says which segment is next; the mover's thread sends the discards, one
 * at a time, when it does not move, and does not wait for them: a device may
 * take long, and a sync may need the space that only the mover frees.  None
 * begins while a write waits for space in the log: the head may come to the
 * slot before its discard has ended, and has to wait then.
 */
#include <linux/blkdev.h>

#include "dm-ressd-log.h"

/*
 * The whole granules of the device in @slot: returns how many sectors of the
 * reserved device they are, the first one is in *@start.
 */
static sector_t granules(const struct ressd *ressd, u32 slot, sector_t *start)
{
	const struct ressd_geom *geom = &ressd->log.geom;
	struct block_device *bdev = ressd->reserved->bdev;
	u32 end = ressd_geom_slot_end(geom, slot) + geom->summary_blocks;
	u32 granularity =
		max_t(u32, bdev_discard_granularity(bdev) >> SECTOR_SHIFT, 1);
	/* Granules count from the first sector of the whole device. */
	u64 phase = get_start_sect(bdev);
	u64 first = phase +
		    ressd_log_sector(ressd, ressd_geom_slot_start(geom, slot));
	u64 last = div_u64(phase + ressd_log_sector(ressd, end), granularity);

	first = div_u64(first + granularity - 1, granularity);
	*start = first * granularity - phase;
	return last > first ? (last - first) * granularity : 0;
}

/*
 * Is there a segment with a granule of its own, and does the device take
 * discards at all?
 */
static bool device_can(const struct ressd *ressd)
{
	sector_t start;
	u32 slot;

	if (!bdev_max_discard_sectors(ressd->reserved->bdev))
		return false;
	for (slot = 0; slot < ressd->log.geom.nr_segments; slot++)
		if (granules(ressd, slot, &start))
			return true;
	return false;
}

void ressd_discard_start(struct ressd *ressd)
{
	bool wanted, can = device_can(ressd);

	spin_lock(&ressd->lock);
	ressd->discard.possible = can;
	wanted = ressd->options.log_discard == RESSD_ON;
	spin_unlock(&ressd->lock);
	if (wanted && !can)
		DMWARN("%s: log_discard is on, but the reserved device takes no discards of the size of a segment (%u KiB); none are sent",
		       ressd_name(ressd), ressd->log.geom.segment_blocks * 4);
}

/* May one begin that is not more in the way than of use? */
static bool may_begin(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->options.log_discard == RESSD_ON &&
	       ressd->discard.possible && ressd_mover_is_on(ressd) &&
	       !ressd->mover.draining && !ressd->waiters.need_space;
}

bool ressd_discard_is_wanted(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	switch (READ_ONCE(ressd->discard.state)) {
	case RESSD_DISCARD_NONE:
		return may_begin(ressd) && ressd_log_can_discard(&ressd->log);
	case RESSD_DISCARD_IN_FLIGHT:
		return false;
	case RESSD_DISCARD_DONE:
	case RESSD_DISCARD_FAILED:
		break;
	}
	return true;
}

/* Takes the next slot; from now on the head does not enter it. */
static bool claim_next(struct ressd *ressd)
{
	bool taken;

	spin_lock(&ressd->lock);
	taken = may_begin(ressd) &&
		ressd_log_take_discard(&ressd->log, &ressd->discard.slot);
	if (taken)
		ressd_reader_begin(&ressd->readers[ressd->discard.slot]);
	spin_unlock(&ressd->lock);
	return taken;
}

/* Any context. */
static void note_discard(struct ressd *ressd, bool failed)
{
	unsigned long flags;

	/*
	 * The lock holds up ressd_discard_stop() until nothing here is touched
	 * any more.
	 */
	spin_lock_irqsave(&ressd->done_lock, flags);
	ressd_put_reader(ressd, ressd->discard.slot);
	/* Pairs with smp_load_acquire() in note_end(). */
	smp_store_release(&ressd->discard.state,
			  failed ? RESSD_DISCARD_FAILED : RESSD_DISCARD_DONE);
	ressd_wake(ressd);
	spin_unlock_irqrestore(&ressd->done_lock, flags);
}

static void discard_ended(struct bio *bio)
{
	struct ressd *ressd = bio->bi_private;
	bool failed = bio->bi_status;

	bio_put(bio);
	note_discard(ressd, failed);
}

/*
 * The block layer cuts it to what the device takes: a segment has less than 4
 * GiB.
 */
static void begin_discard(struct ressd *ressd)
{
	sector_t start, count = granules(ressd, ressd->discard.slot, &start);
	struct bio *bio;

	WRITE_ONCE(ressd->discard.state, RESSD_DISCARD_IN_FLIGHT);
	if (!count) {
		note_discard(ressd, false);
		return;
	}
	bio = bio_alloc_bioset(ressd->reserved->bdev, 0, REQ_OP_DISCARD,
			       GFP_NOIO, &ressd->bios);
	bio->bi_iter.bi_sector = start;
	bio->bi_iter.bi_size = count << SECTOR_SHIFT;
	bio->bi_end_io = discard_ended;
	bio->bi_private = ressd;
	submit_bio(bio);
}

/* One that has failed is no error of the log: there are just no more. */
static void note_end(struct ressd *ressd)
{
	enum ressd_discard_state state;

	/* Pairs with smp_store_release() in note_discard(). */
	state = smp_load_acquire(&ressd->discard.state);
	if (state != RESSD_DISCARD_DONE && state != RESSD_DISCARD_FAILED)
		return;
	spin_lock(&ressd->lock);
	if (state == RESSD_DISCARD_FAILED)
		ressd->discard.possible = false;
	else
		ressd->counters.log_discards++;
	WRITE_ONCE(ressd->discard.state, RESSD_DISCARD_NONE);
	spin_unlock(&ressd->lock);
	if (state == RESSD_DISCARD_FAILED)
		DMWARN("%s: a discard of the log has failed; no more are sent until log_discard is set anew",
		       ressd_name(ressd));
}

void ressd_discard_next(struct ressd *ressd)
{
	note_end(ressd);
	if (READ_ONCE(ressd->discard.state) == RESSD_DISCARD_NONE &&
	    claim_next(ressd))
		begin_discard(ressd);
}

void ressd_discard_stop(struct ressd *ressd)
{
	wait_event(ressd->wait,
		   READ_ONCE(ressd->discard.state) != RESSD_DISCARD_IN_FLIGHT);
	spin_lock_irq(&ressd->done_lock);
	spin_unlock_irq(&ressd->done_lock);
	note_end(ressd);
}
