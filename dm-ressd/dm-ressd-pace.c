// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pace (SC): how a sweep is spread in time, and how writers keep step with it.
 *
 *	burst	the sweep goes as fast as the device can
 *	even	a sweep starts when room gets scarce and ends when as much room was used as it
 *		gains.  So the mover waits while it is ahead of the writers, and with on_full wait
 *		a writer that is ahead of the mover waits for it, instead of finding the log
 *		suddenly full.
 *	idle	as even; and when nothing was asked of the target for a while, all comes home
 *
 * Ahead means for the mover: by more than a record; for a writer: by a record at most, or by an
 * eighth of the room where that is less.  So never both wait for each other, and a writer does not
 * use up what the sweep's last visits will need: it would then wait for all of them at once.
 */
#include "dm-ressd.h"

/* So long without any bio is idle time. */
#define IDLE_TIME	(HZ / 4)

/* Room used since the sweep began, headers and padding included.  Under the lock. */
static u64 used_room(const struct ressd *ressd)
{
	u32 left = ressd_log_free_blocks(&ressd->log);

	return ressd->sweep_free - min(ressd->sweep_free, left);
}

void ressd_pace_start(struct ressd *ressd, u64 blocks, u64 gain)
{
	const u32 segment = ressd->log.geom.segment_blocks;

	ressd->sweep_free = ressd_log_free_blocks(&ressd->log);
	ressd->sweep_room = ressd->sweep_free - min(ressd->sweep_free, segment);
	ressd->sweep_gain = gain;
	ressd->sweep_blocks = max_t(u64, blocks, 1);
	ressd->sweep_moved = 0;
}

bool ressd_pace_holds_writer(const struct ressd *ressd)
{
	u64 ahead = min(ressd->log.geom.record_blocks, ressd->sweep_room / 8);

	if (!ressd->sweeping || ressd->options.pace == RESSD_PACE_BURST)
		return false;
	return used_room(ressd) * ressd->sweep_blocks >
		ressd->sweep_room * ressd->sweep_moved + ressd->sweep_blocks * ahead;
}

bool ressd_pace_is_quiet(const struct ressd *ressd)
{
	return time_after(jiffies, READ_ONCE(ressd->last_bio) + IDLE_TIME);
}

bool ressd_pace_is_idle(const struct ressd *ressd)
{
	return READ_ONCE(ressd->options.pace) == RESSD_PACE_IDLE && ressd_pace_is_quiet(ressd);
}

bool ressd_pace_holds_mover(const struct ressd *ressd)
{
	u64 room = min(ressd->sweep_room, ressd->sweep_gain);

	if (ressd->options.pace == RESSD_PACE_BURST || ressd_pace_is_idle(ressd) ||
	    (ressd->room_wanted && ressd_log_is_full(&ressd->log)) ||
	    ressd_log_is_starved(&ressd->log))
		return false;
	return ressd->sweep_moved * room >
		ressd->sweep_blocks * (used_room(ressd) + ressd->log.geom.record_blocks);
}
