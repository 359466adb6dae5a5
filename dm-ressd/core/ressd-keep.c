// SPDX-License-Identifier: GPL-2.0-only
/* Which blocks the log keeps; see ressd-keep.h. */
#include "ressd-keep.h"
#include "ressd-log-private.h"

/*
 * Free segments that are left to the writers, and to the mover if keeping gains
 * none.
 */
#define MIN_FREE_SEGMENTS	2U

static bool has_room(const struct ressd_log *log, u32 threshold)
{
	return ressd_log_free_segments(log) >=
		       MIN_FREE_SEGMENTS + log->cover_reserve &&
	       (u64)ressd_log_free_blocks(log) * 100 * 3 >=
		       (u64)ressd_log_total_blocks(log) * threshold * 2;
}

bool ressd_keep_wanted(const struct ressd_log *log, u32 threshold, u32 *slot)
{
	u64 seq = ressd_log_scan_tail(log, ~0ULL);
	u32 live;

	if (log->mode != RESSD_MODE_RW || seq >= log->head_seq ||
	    !has_room(log, threshold))
		return false;
	*slot = ressd_geom_slot_of_seq(&log->geom, seq);
	live = log->segments[*slot].live;
	/* No test: only behind very many dead segments is one dead here. */
	return live && live <= log->geom.segment_blocks / RESSD_KEEP_PART;
}

u32 ressd_keep_next(const struct ressd_log *log, u32 block, u32 end)
{
	for (; block < end; block++) {
		const struct ressd_node *node = &log->map.nodes[block];

		if (node->lbn != RESSD_NO_BLOCK &&
		    !ressd_map_is_clean(&log->map, block) &&
		    !ressd_log_holds(log, block) &&
		    ressd_map_find(&log->map, node->lbn) == node)
			break;
	}
	return block;
}
