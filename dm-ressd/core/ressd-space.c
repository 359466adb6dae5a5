// SPDX-License-Identifier: GPL-2.0-only
/*
 * Space in the log: how much is free, which segments may be announced as
 * reusable, and how one is made ready: its nodes leave the map, a piece at a
 * time, it is discarded if that is wanted, and the head enters it.  ressd-log.h
 * states the contract.
 */
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include "ressd-log-private.h"

/* So many dead segments are announced at once; see TIME UNDER THE LOCK. */
#define MAX_SCANNED_SEGMENTS	512

u32 ressd_log_head_end(const struct ressd_log *log)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq);

	return ressd_geom_slot_end(&log->geom, slot);
}

u32 ressd_log_free_segments(const struct ressd_log *log)
{
	return log->reuse_seq + log->geom.nr_segments - 1 - log->head_seq;
}

u32 ressd_log_free_blocks(const struct ressd_log *log)
{
	const struct ressd_record *open = &log->records[log->open];
	u32 next = ressd_geom_slot_of_seq(&log->geom, log->head_seq + 1);

	return ressd_geom_slots_blocks(&log->geom, next,
				       ressd_log_free_segments(log)) +
	       ressd_log_head_end(log) - open->block -
	       (open->nr_maps ? open->nr_maps + 1 : 0);
}

u32 ressd_log_total_blocks(const struct ressd_log *log)
{
	u32 last = log->geom.nr_segments - 1;

	return ressd_geom_slot_end(&log->geom, last) - 1 -
	       last * log->geom.summary_blocks;
}

u64 ressd_log_scan_tail(const struct ressd_log *log, u64 limit)
{
	u64 end = min(log->head_seq, log->tail_seq + MAX_SCANNED_SEGMENTS);
	u64 tail = log->tail_seq;

	while (tail < end) {
		u32 slot = ressd_geom_slot_of_seq(&log->geom, tail);
		const struct ressd_segment *segment = &log->segments[slot];

		if (segment->live || segment->kill_seq > limit)
			break;
		tail++;
	}
	return tail;
}

bool ressd_log_can_reclaim(const struct ressd_log *log)
{
	return ressd_log_scan_tail(log, ~0ULL) > log->reuse_seq;
}

/* The UNMAP of @node, wherever it waits, is not needed any more. */
static void forget_unmap(struct ressd_log *log, struct ressd_node *node)
{
	u32 block = ressd_map_block(&log->map, node);

	if (ressd_map_is_sealed(&log->map, block)) {
		ressd_dying_remove(&log->map, &log->sealed_unmaps, node);
	} else {
		ressd_dying_remove(&log->map, &log->unmaps, node);
		log->nr_unmaps--;
	}
	ressd_map_mark_sealed(&log->map, block, false);
}

/*
 * Forgets what the map still has of a log block in a segment that may be
 * reused.
 */
static void forget_node(struct ressd_log *log, struct ressd_node *node)
{
	if (ressd_map_find(&log->map, node->lbn) == node) {
		WARN_ON_ONCE(ressd_map_is_dirty(&log->map, node));
		ressd_map_erase(&log->map, node);
	} else {
		/* Not needed any more, nor is what it refers to. */
		forget_unmap(log, node);
	}
	node->lbn = RESSD_NO_BLOCK;
}

/* A piece of the next slot that is to be forgotten. */
static void forget_some(struct ressd_log *log)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->forgotten_seq);
	u32 block =
		max(log->forget_block, ressd_geom_slot_start(&log->geom, slot));
	u32 end = ressd_geom_slot_end(&log->geom, slot), looked = 0;

	for (; block < end && looked < log->step_nodes; block++, looked++) {
		struct ressd_node *node = &log->map.nodes[block];

		if (node->lbn == RESSD_NO_BLOCK)
			continue;
		forget_node(log, node);
		looked += RESSD_CHANGE_COST - 1;
	}
	log->forget_block = block;
	if (block < end)
		return;
	WARN_ON_ONCE(log->segments[slot].live);
	log->segments[slot] = (struct ressd_segment) { };
	log->forgotten_seq++;
	log->forget_block = 0;
}

/* Is there a slot to be forgotten? */
static bool can_forget(const struct ressd_log *log)
{
	return log->mode == RESSD_MODE_RW &&
	       log->forgotten_seq < log->reuse_seq + log->geom.nr_segments;
}

bool ressd_log_forget_next(struct ressd_log *log)
{
	if (log->forgotten_seq > log->head_seq + 1 ||
	    !ressd_log_free_segments(log))
		return true;
	forget_some(log);
	return log->forgotten_seq > log->head_seq + 1;
}

bool ressd_log_forget_more(struct ressd_log *log)
{
	if (can_forget(log))
		forget_some(log);
	return can_forget(log);
}

bool ressd_log_head_has_record(const struct ressd_log *log)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq);

	return log->records[log->open].block !=
	       ressd_geom_slot_start(&log->geom, slot);
}

bool ressd_log_advance_head(struct ressd_log *log, u32 leave)
{
	struct ressd_record *open = &log->records[log->open];
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq + 1);

	/* Waiters are better than a gap in the chain. */
	if (WARN_ON_ONCE(!ressd_log_head_has_record(log)))
		return false;
	if (ressd_log_free_segments(log) < 1 + leave ||
	    log->segment_busy(log->context, slot) ||
	    !ressd_log_forget_next(log))
		return false;
	log->head_seq++;
	log->head_maps = 0;
	log->rotate = false;
	open->segment_seq = log->head_seq;
	open->block = ressd_geom_slot_start(&log->geom, slot);
	return true;
}

/*
 * The segment to come whose slot is discarded next, 0 if there is none now.
 * The one that the head enters next is left alone: it would soon be written, or
 * a writer would have to wait.
 */
static u64 segment_to_discard(const struct ressd_log *log)
{
	u64 seq = max_t(u64, log->discard_seq, log->head_seq + 2);
	u32 slot;

	if (log->mode != RESSD_MODE_RW || seq >= log->forgotten_seq)
		return 0;
	slot = ressd_geom_slot_of_seq(&log->geom, seq);
	return log->segment_busy(log->context, slot) ? 0 : seq;
}

bool ressd_log_can_discard(const struct ressd_log *log)
{
	return segment_to_discard(log);
}

bool ressd_log_take_discard(struct ressd_log *log, u32 *slot)
{
	u64 seq = segment_to_discard(log);

	if (!seq)
		return false;
	*slot = ressd_geom_slot_of_seq(&log->geom, seq);
	log->discard_seq = seq + 1;
	return true;
}
