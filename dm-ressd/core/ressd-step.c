// SPDX-License-Identifier: GPL-2.0-only
/* Who is ahead, the mover or the writers; see ressd-step.h. */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "ressd-step.h"

/* At most so many blocks of a segment are looked at. */
#define MAX_SAMPLES	512U

/*
 * Visits among them are told apart by a bit each: few of so many bits are
 * shared.
 */
#define SEEN_BITS	12

/* The mover is late when this part of the log's blocks is still to be moved. */
#define LATE_PART	3

static u32 live_blocks(const struct ressd_log *log, u64 segment)
{
	/* Its slot may hold a younger segment by now. */
	if (segment < log->reuse_seq)
		return 0;
	return log->segments[ressd_geom_slot_of_seq(&log->geom, segment)].live;
}

static bool is_new(u32 *seen, u32 visit)
{
	u32 hash = hash_32(visit, SEEN_BITS);
	u32 *word = &seen[hash / 32], bit = 1U << hash % 32;
	bool new = !(*word & bit);

	*word |= bit;
	return new;
}

/*
 * Visits until @segment is empty, at least one: the clustered blocks that its
 * dirty blocks go to, by a sample.  The blocks that are not looked at are taken
 * to add as many as the second half of those that are.
 */
static u32 visits_left(const struct ressd_sweep *sweep,
		       const struct ressd_log *log, u64 segment)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, segment);
	u32 block = ressd_geom_slot_start(&log->geom, slot);
	u32 end = ressd_geom_slot_end(&log->geom, slot);
	u32 middle = block + (end - block) / 2;
	/* Odd, for records of commits have data in every other block. */
	u32 stride = ((end - block) / MAX_SAMPLES) | 1;
	u32 seen[(1 << SEEN_BITS) / 32] = { 0 };
	u32 nr, blocks[2] = { 0 }, visits[2] = { 0 };	/* of the halves */

	if (!live_blocks(log, segment))
		return 1;
	for (; block < end; block += stride) {
		const struct ressd_node *node = &log->map.nodes[block];
		const bool second = block >= middle;
		u32 visit;

		if (node->lbn == RESSD_NO_BLOCK ||
		    ressd_map_is_clean(&log->map, block))
			continue;
		blocks[second]++;
		visit = div_u64((u64)node->lbn + sweep->visit_phase,
				sweep->visit_blocks);
		visits[second] += is_new(seen, visit);
	}
	nr = visits[0] + visits[1];
	if (blocks[1])
		nr += (stride - 1) * (blocks[0] + blocks[1]) * visits[1] /
		      blocks[1];
	return max(nr, 1U);
}

/*
 * The oldest segment that holds something; if none does, the newest one of the
 * sweep.  Of very many that hold nothing the last one looked at will do.
 */
static u64 oldest_segment(const struct ressd_sweep *sweep,
			  const struct ressd_log *log)
{
	u64 end = min(sweep->last_segment, log->tail_seq + MAX_SAMPLES);
	u64 seq = log->tail_seq;

	while (seq < end && !live_blocks(log, seq))
		seq++;
	return seq;
}

/*
 * All that is dirty, but for the one segment that may be younger than the
 * sweep.
 */
static u64 blocks_to_move(const struct ressd_sweep *sweep,
			  const struct ressd_log *log)
{
	u64 seq, blocks = log->map.nr_dirty;

	for (seq = sweep->last_segment + 1; seq <= log->head_seq; seq++)
		blocks -= live_blocks(log, seq);
	return blocks;
}

void ressd_step_start(struct ressd_step *step, const struct ressd_sweep *sweep,
		      const struct ressd_log *log)
{
	const u32 segment = log->geom.segment_blocks;
	const u32 reserve = segment * (1 + log->cover_reserve);
	u32 left = ressd_log_free_blocks(log);

	*step = (struct ressd_step) {
		.goal = sweep->last_segment, .reused = log->reuse_seq,
		.free = left, .room = left - min(left, reserve),
	};
	if (sweep->visit_blocks) {
		step->goal = oldest_segment(sweep, log);
		step->visit =
			RESSD_STEP_WHOLE / visits_left(sweep, log, step->goal);
	} else {
		step->blocks = max_t(u64, blocks_to_move(sweep, log), 1);
	}
	step->gain = (step->goal + 1 - log->reuse_seq) * segment;
}

/*
 * Where the sweep goes next the segment may have nothing: then a part of the
 * rest is added.
 */
static void visit_has_ended(struct ressd_step *step,
			    const struct ressd_sweep *sweep,
			    const struct ressd_log *log)
{
	step->visited += step->visit;
	step->done = step->visited;
	step->visit = (RESSD_STEP_WHOLE - step->visited) /
		      visits_left(sweep, log, step->goal);
	step->visit_end = 0;
}

static void visit_goes_on(struct ressd_step *step,
			  const struct ressd_sweep *sweep,
			  const struct ressd_log *log)
{
	u64 left = sweep->visit_end - min(sweep->visit_end, sweep->next_lbn);

	/* The rest of one visit may have held nothing. */
	if (step->visit_end && step->visit_end != sweep->visit_end)
		visit_has_ended(step, sweep, log);
	step->visit_end = sweep->visit_end;
	/* No test: a batch has one block of the visit at least. */
	if (left && left < sweep->visit_blocks)
		step->done = step->visited +
			     div_u64((u64)step->visit *
					     (sweep->visit_blocks - (u32)left),
				     sweep->visit_blocks);
	else
		visit_has_ended(step, sweep, log);
}

void ressd_step_moved(struct ressd_step *step, const struct ressd_sweep *sweep,
		      const struct ressd_log *log)
{
	if (sweep->visit_blocks)
		visit_goes_on(step, sweep, log);
	else
		step->done = min_t(u64, RESSD_STEP_WHOLE,
				   div64_u64(sweep->frozen * RESSD_STEP_WHOLE,
					     step->blocks));
}

/*
 * Room used since the sweep began, headers and padding included; what commits
 * have made reusable meanwhile counts for the next sweep.
 */
static u64 used_room(const struct ressd_step *step, const struct ressd_log *log)
{
	u32 reused = ressd_geom_slot_of_seq(&log->geom, step->reused);
	u32 room = step->free +
		   ressd_geom_slots_blocks(&log->geom, reused,
					   log->reuse_seq - step->reused);

	return room - min(room, ressd_log_free_blocks(log));
}

bool ressd_step_writer_is_ahead(const struct ressd_step *step,
				const struct ressd_log *log)
{
	return used_room(step, log) * 3 * RESSD_STEP_WHOLE >
		(u64)step->room * (2 * RESSD_STEP_WHOLE + step->done);
}

/*
 * With visits: is there so much to be moved that the room will be gone before
 * it comes?
 */
static bool is_late(const struct ressd_step *step, const struct ressd_log *log)
{
	return !step->blocks &&
	       log->map.nr_dirty > log->geom.nr_blocks / LATE_PART;
}

bool ressd_step_mover_is_ahead(const struct ressd_step *step,
			       const struct ressd_log *log)
{
	const u32 gain = min(step->room, step->gain);
	const u32 spread = is_late(step, log) ? gain / 2 :
						max(gain, step->room / 2);
	const u32 lead = min(log->geom.record_blocks, spread / 2);

	return (u64)spread * step->done >
	       (used_room(step, log) + lead) * RESSD_STEP_WHOLE;
}
