// SPDX-License-Identifier: GPL-2.0-only
/* Selection of what the mover moves; see ressd-sweep.h. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "ressd-log-private.h"
#include "ressd-sweep.h"

/*
 * So many logged blocks between two holes are read from home as well, though
 * that is not needed: slow drives take about as long for a command.
 */
#define HOME_BRIDGE_BLOCKS	8

u64 ressd_sweep_start(struct ressd_sweep *sweep, const struct ressd_log *log)
{
	const struct ressd_record *open = &log->records[log->open];

	*sweep = (struct ressd_sweep) { .last_segment = log->head_seq - 1 };
	return open->seq - 1;
}

void ressd_sweep_oldest(struct ressd_sweep *sweep, const struct ressd_log *log)
{
	u64 seq = ressd_log_scan_tail(log, ~0ULL);

	sweep->last_segment = min(sweep->last_segment, seq);
}

void ressd_sweep_visits(struct ressd_sweep *sweep, u32 visit_blocks, u32 phase,
			u32 fill_blocks, u64 from)
{
	sweep->visit_blocks = visit_blocks;
	sweep->visit_phase = phase;
	sweep->fill_blocks = fill_blocks;
	sweep->from_lbn = visit_blocks ? from : 0;
	sweep->next_lbn = sweep->from_lbn;
	sweep->searched_lbn = 0;
	sweep->visit_end = 0;
}

/* Covered blocks stay in the log: see ressd-cover.h. */
static bool is_movable(const struct ressd_log *log,
		       const struct ressd_node *node)
{
	return node->lbn >= log->cover_blocks &&
	       ressd_map_is_dirty(&log->map, node);
}

static bool is_frozen(const struct ressd_sweep *sweep,
		      const struct ressd_log *log,
		      const struct ressd_node *node)
{
	u32 block = ressd_map_block(&log->map, node);

	return is_movable(log, node) &&
	       ressd_log_segment_seq(log, block) <= sweep->last_segment;
}

/*
 * A block of a younger segment can come along once its record is on the device.
 */
static bool can_ride(const struct ressd_log *log, const struct ressd_node *node)
{
	return is_movable(log, node) &&
	       !ressd_log_holds(log, ressd_map_block(&log->map, node));
}

/* May one more node be looked at?  If not, the pick ends here. */
static bool may_look(struct ressd_sweep *sweep)
{
	if (sweep->left)
		sweep->left--;
	else
		sweep->cut = true;
	return !sweep->cut;
}

/*
 * NULL, too, if the pick is cut: then the search goes on there the next time.
 */
static struct ressd_node *next_frozen(struct ressd_sweep *sweep,
				      const struct ressd_log *log)
{
	u64 from = max(sweep->next_lbn, sweep->searched_lbn);
	struct ressd_node *node = NULL;

	if (from < RESSD_NO_BLOCK)
		node = ressd_map_first_from(&log->map, from);
	while (node && !is_frozen(sweep, log, node)) {
		sweep->searched_lbn = node->lbn;
		if (!may_look(sweep))
			return NULL;
		node = ressd_map_next(node);
	}
	return node;
}

static struct ressd_move move_of(const struct ressd_log *log,
				 const struct ressd_node *node)
{
	return (struct ressd_move){
		.lbn = node->lbn,
		.block = ressd_map_block(&log->map, node),
		.crc = node->crc,
	};
}

/* All that the sweep's segments hold, from next_lbn on. */
static u32 pick_frozen(struct ressd_sweep *sweep, const struct ressd_log *log,
		       struct ressd_move *moves, u32 max)
{
	struct ressd_node *node = next_frozen(sweep, log);
	u32 nr = 0;

	for (; node && nr < max; node = ressd_map_next(node)) {
		if (!may_look(sweep)) {
			sweep->next_lbn = node->lbn;
			break;
		}
		if (is_frozen(sweep, log, node))
			moves[nr++] = move_of(log, node);
	}
	sweep->frozen += nr;
	if (!sweep->cut)
		sweep->next_lbn = nr && node ? (u64)moves[nr - 1].lbn + 1 :
					       RESSD_NO_BLOCK;
	return nr;
}

/* The next block of the round; NULL: the round is over, or the pick is cut. */
static struct ressd_node *next_of_round(struct ressd_sweep *sweep,
					const struct ressd_log *log)
{
	struct ressd_node *node = next_frozen(sweep, log);

	if (!node && !sweep->cut && sweep->from_lbn && !sweep->wrapped) {
		sweep->wrapped = true;
		sweep->next_lbn = 0;
		sweep->searched_lbn = 0;
		sweep->visit_end = 0;
		node = next_frozen(sweep, log);
	}
	if (node && sweep->wrapped && node->lbn >= sweep->from_lbn)
		return NULL;
	return node;
}

/*
 * Does the visited clustered block have enough in the log to be rewritten
 * whole?  Not if that is a single run: so a journal looks, and its next part
 * will continue it.
 */
static void count_logged(struct ressd_sweep *sweep, const struct ressd_log *log)
{
	const struct ressd_node *node =
		ressd_map_first_from(&log->map, sweep->count_lbn);

	for (; node && !sweep->filling; node = ressd_map_next(node)) {
		if (node->lbn >= sweep->visit_end)
			break;
		sweep->count_lbn = node->lbn;
		if (!may_look(sweep))
			return;
		if (!can_ride(log, node))
			continue;
		if (sweep->counted++ && node->lbn != sweep->run_end)
			sweep->has_runs = true;
		sweep->run_end = (u64)node->lbn + 1;
		sweep->filling = sweep->has_runs &&
				 sweep->counted >= sweep->fill_blocks;
	}
	sweep->counting = false;
}

/*
 * Goes to the next clustered block with something to move; false: there is
 * none, or it is cut.
 */
static bool begin_visit(struct ressd_sweep *sweep, const struct ressd_log *log)
{
	struct ressd_node *node = next_of_round(sweep, log);
	u64 start;
	u32 into;

	if (sweep->cut)
		return false;
	if (!node) {
		sweep->next_lbn = RESSD_NO_BLOCK;
		sweep->wrapped = true;
		return false;
	}
	div_u64_rem((u64)node->lbn + sweep->visit_phase, sweep->visit_blocks,
		    &into);
	sweep->visit_end = min_t(u64,
				 (u64)node->lbn - into + sweep->visit_blocks,
				 log->normal_blocks);
	start = node->lbn - min_t(u32, into, node->lbn);
	sweep->filling = false;
	sweep->counting = sweep->fill_blocks;
	sweep->counted = 0;
	sweep->has_runs = false;
	sweep->count_lbn = start;
	/*
	 * A round may begin within a clustered block, when the size has just
	 * become known.
	 */
	sweep->next_lbn = max_t(u64, start, sweep->next_lbn);
	return true;
}

/* What the log holds of the visited clustered block, from next_lbn on. */
static u32 pick_visit(struct ressd_sweep *sweep, const struct ressd_log *log,
		      struct ressd_move *moves, u32 max)
{
	struct ressd_node *node =
		ressd_map_first_from(&log->map, sweep->next_lbn);
	u32 nr = 0;

	for (; node && node->lbn < sweep->visit_end && nr < max;
	     node = ressd_map_next(node)) {
		bool frozen = is_frozen(sweep, log, node);

		if (!may_look(sweep)) {
			sweep->next_lbn = node->lbn;
			return nr;
		}
		sweep->frozen += frozen;
		if (frozen || can_ride(log, node))
			moves[nr++] = move_of(log, node);
	}
	/*
	 * A full batch may be the visit's last one: then it is over, and the
	 * sweep may end.
	 */
	if (node && node->lbn < sweep->visit_end)
		sweep->next_lbn = (u64)moves[nr - 1].lbn + 1;
	else
		sweep->next_lbn = sweep->visit_end;
	return nr;
}

/*
 * The next @max blocks of the visited clustered block, with the holes between
 * those logged.
 */
static u32 pick_filled(struct ressd_sweep *sweep, const struct ressd_log *log,
		       struct ressd_move *moves, u32 max)
{
	struct ressd_node *node =
		ressd_map_first_from(&log->map, sweep->next_lbn);
	u32 wanted = min_t(u64, max, sweep->visit_end - sweep->next_lbn);
	u32 i, nr = min(wanted, sweep->left);

	sweep->left -= nr;
	sweep->cut = nr < wanted;
	for (i = 0; i < nr; i++)
		moves[i] = (struct ressd_move) {
			.lbn = sweep->next_lbn + i, .block = RESSD_NO_BLOCK,
		};
	for (; node && node->lbn < sweep->next_lbn + nr;
	     node = ressd_map_next(node)) {
		bool frozen = is_frozen(sweep, log, node);

		sweep->frozen += frozen;
		if (frozen || can_ride(log, node))
			moves[node->lbn - sweep->next_lbn] = move_of(log, node);
	}
	sweep->next_lbn += nr;
	return nr;
}

/* @begins: it may go to the next visit; otherwise 0 is the end of this one. */
static u32 pick(struct ressd_sweep *sweep, const struct ressd_log *log,
		struct ressd_move *moves, u32 max, bool begins)
{
	u32 nr = 0;

	sweep->cut = false;
	sweep->left = log->step_nodes;
	if (!sweep->visit_blocks)
		return pick_frozen(sweep, log, moves, max);
	while (!nr && !sweep->cut) {
		if (!sweep->counting && sweep->next_lbn >= sweep->visit_end &&
		    (!begins || !begin_visit(sweep, log)))
			break;
		if (sweep->counting)
			count_logged(sweep, log);
		if (sweep->counting)
			continue;
		nr = sweep->filling ? pick_filled(sweep, log, moves, max) :
				      pick_visit(sweep, log, moves, max);
	}
	return nr;
}

u32 ressd_sweep_pick(struct ressd_sweep *sweep, const struct ressd_log *log,
		     struct ressd_move *moves, u32 max)
{
	return pick(sweep, log, moves, max, true);
}

u32 ressd_sweep_pick_more(struct ressd_sweep *sweep,
			  const struct ressd_log *log, struct ressd_move *moves,
			  u32 max)
{
	return pick(sweep, log, moves, max, false);
}

u32 ressd_sweep_run_length(const struct ressd_move *moves, u32 nr)
{
	u32 i = 1;

	while (i < nr && moves[i].lbn == moves[i - 1].lbn + 1)
		i++;
	return i;
}

u32 ressd_sweep_log_run(const struct ressd_move *moves, u32 nr, u32 *blocks)
{
	u32 i, run = 1;

	*blocks = 1;
	for (i = 1; i < nr; i++) {
		if (ressd_move_is_hole(&moves[i]))
			continue;
		if (moves[i].block != moves->block + *blocks)
			break;
		(*blocks)++;
		run = i + 1;
	}
	return run;
}

u32 ressd_sweep_home_run(const struct ressd_move *moves, u32 nr)
{
	u32 i, run = 0;

	for (i = 0; i < nr && i - run <= HOME_BRIDGE_BLOCKS; i++) {
		if (moves[i].lbn != moves[0].lbn + i)
			break;
		if (ressd_move_is_hole(&moves[i]))
			run = i + 1;
		else if (!i)
			break;
	}
	return run;
}

bool ressd_visits_close_log(struct ressd_visits *visits,
			    const struct ressd_sweep *sweep,
			    struct ressd_log *log, u32 open_units)
{
	if (visits->end == sweep->visit_end)
		return false;
	visits->end = sweep->visit_end;
	ressd_padding_visit(&log->padding);
	/* The visit before may have gone on after a record. */
	if (visits->records != log->counters.records)
		visits->nr = 0;
	visits->records = log->counters.records;
	visits->nr++;
	return open_units > 1 && visits->nr >= open_units - 1 &&
	       ressd_log_open_blocks(log);
}
