// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log keeps the live blocks of its oldest segment (core/ressd-keep.h): they
 * are read in order, checked, and appended to the log again, as if they had
 * just been written.  A write that comes meanwhile is newer and invalidates the
 * block as ever; so the map is looked up again after the read.
 */
#include <linux/kthread.h>

#include "dm-ressd-mover.h"
#include "core/ressd-keep.h"

static bool keeping_ends(const struct ressd *ressd)
{
	return kthread_should_stop() || READ_ONCE(ressd->suspending) ||
	       READ_ONCE(ressd->hibernating) ||
	       READ_ONCE(ressd->mover.draining);
}

static bool ram_is_full(struct ressd *ressd)
{
	bool full;

	spin_lock(&ressd->lock);
	full = ressd_log_is_rw(ressd) && ressd_log_ram_is_full(&ressd->log);
	spin_unlock(&ressd->lock);
	return full;
}

/*
 * Accepts the data of log block @block if it is still current; 0, also if not,
 * or an error of ressd_log_accept().  Damaged blocks are left to the next
 * sweep, which reports them.
 */
static int keep_block(struct ressd *ressd, u32 block, const void *data)
{
	const struct ressd_node *node = &ressd->log.map.nodes[block];
	u32 crc = ressd_crc(data, RESSD_BLOCK_SIZE);
	struct ressd_place place;
	int ret = 0;

	spin_lock(&ressd->lock);
	if (ressd_keep_next(&ressd->log, block, block + 1) == block &&
	    node->crc == crc) {
		ret = ressd_log_accept(&ressd->log, node->lbn, &place);
		if (!ret) {
			ressd_writes_data(place.data);
			memcpy(place.data, data, RESSD_BLOCK_SIZE);
			place.entry->crc = cpu_to_le32(crc);
			ressd->counters.kept_blocks++;
		}
	}
	spin_unlock(&ressd->lock);
	return ret;
}

/*
 * The same of @nr blocks, which are in the mover's buffer.  Waits where RAM is
 * full.
 */
static int keep_blocks(struct ressd *ressd, u32 block, u32 nr)
{
	u32 i = 0;
	int ret;

	while (i < nr) {
		ret = keep_block(ressd, block + i, ressd_move_data(ressd, i));
		if (!ret) {
			i++;
			continue;
		}
		if (ret != -EAGAIN || !ram_is_full(ressd))
			return ret;
		ressd_run_log(ressd);
		wait_event(ressd->wait,
			   !ram_is_full(ressd) || keeping_ends(ressd));
		if (keeping_ends(ressd))
			return -EINTR;
	}
	return 0;
}

/*
 * Reads and keeps the live blocks of the slot, up to a buffer at a time; 0 or
 * an error.
 */
static int keep_slot(struct ressd *ressd, u32 slot)
{
	const struct ressd_log *log = &ressd->log;
	u32 block = ressd_geom_slot_start(&log->geom, slot);
	u32 end = ressd_geom_slot_end(&log->geom, slot), nr;
	int ret;

	for (; !keeping_ends(ressd); block += nr) {
		spin_lock(&ressd->lock);
		block = ressd_keep_next(log, block, end);
		spin_unlock(&ressd->lock);
		nr = min(ressd->mover.space.max, end - block);
		if (!nr)
			return 0;
		ret = ressd_log_rw(ressd, REQ_OP_READ, block, nr,
				   ressd->mover.space.buffer);
		if (!ret)
			ret = keep_blocks(ressd, block, nr);
		if (ret)
			return ret;
	}
	return -EINTR;
}

/*
 * Route adaptive keeps nothing: its estimate of what moving costs is of moves
 * only.
 */
bool ressd_keeps(const struct ressd *ressd, u32 *slot)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->options.route == RESSD_ROUTE_ALWAYS &&
	       !ressd->errors.bad_blocks &&
	       ressd_keep_wanted(&ressd->log, ressd->options.move_threshold,
				 slot);
}

/* The slot counts as read until all is done: it is not used again meanwhile. */
static bool claim_tail(struct ressd *ressd, u32 *slot)
{
	bool wanted;

	spin_lock(&ressd->lock);
	wanted = ressd_keeps(ressd, slot);
	if (wanted) {
		ressd_mover_become(&ressd->mover.state, RESSD_MOVER_KEEPING);
		ressd_reader_begin(&ressd->readers[*slot]);
	}
	spin_unlock(&ressd->lock);
	return wanted;
}

bool ressd_keep_tail(struct ressd *ressd)
{
	bool empty;
	u32 slot;
	int ret;

	if (!claim_tail(ressd, &slot))
		return false;
	ret = keep_slot(ressd, slot);
	spin_lock(&ressd->lock);
	empty = !ret && !ressd->log.segments[slot].live;
	ressd_put_reader(ressd, slot);
	spin_unlock(&ressd->lock);
	return empty;
}
