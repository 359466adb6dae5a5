// SPDX-License-Identifier: GPL-2.0-only
/* The mover of model-threads.c: dm-ressd-mover.c, -batch.c and -keep.c without errors. */
#include <stdio.h>
#include <stdlib.h>

#include <linux/errno.h>
#include <linux/kernel.h>

#include "model-threads.h"
#include "ressd-keep.h"

#define MAX_IOS		32U
#define MAX_IOS_LOGGING	2U
/* So many blocks between two that are kept are read as well. */
#define KEEP_BRIDGE	8U

bool model_room_is_wanted(struct threads *threads)
{
	const struct ressd_log *log = log_of(threads);

	return threads->reason || ressd_log_synced(log) < log->sync_wanted;
}

static bool mover_may_go_on(void *context)
{
	struct threads *threads = context;
	struct model *model = threads->model;

	if (threads->drains || model->all || model_route_asks_move(threads) ||
	    (model_room_is_wanted(threads) && ressd_log_is_full(&model->log)) ||
	    ressd_log_is_starved(&model->log))
		return true;
	return !(model_route_tries_direct(threads) && !threads->reason) &&
	       (!model->set.even || !ressd_step_mover_is_ahead(&model->step, &model->log));
}

static bool has_reason(void *context)
{
	struct threads *threads = context;
	struct ressd_log *log = log_of(threads);

	if (threads->drains || model_route_asks_move(threads))
		return true;
	return log->reuse_seq < log->head_seq &&
	       ((model_room_is_wanted(threads) && ressd_log_is_full(log)) ||
		(u64)ressd_log_free_blocks(log) * 100 <
		(u64)ressd_log_total_blocks(log) * threads->model->set.threshold);
}

static bool record_settled(void *context)
{
	struct threads *threads = context;

	return log_of(threads)->written_seq >= threads->settled_record;
}

static bool sync_settled(void *context)
{
	struct threads *threads = context;

	return ressd_log_synced(log_of(threads)) >= threads->move_ticket ||
	       ressd_log_is_starved(log_of(threads));
}

static void reclaim(struct threads *threads)
{
	threads->move_ticket = ressd_log_reclaim(log_of(threads));
	model_host_wait(threads->host, sync_settled);
}

/* --- a batch ------------------------------------------------------------------------------ */

static bool may_send_move(void *context)
{
	struct threads *threads = context;

	return threads->move_ios < threads->max_ios;
}

static void send(struct threads *threads, enum model_command what, u64 sector, u32 blocks)
{
	const struct ressd_log *log = log_of(threads);

	threads->max_ios = threads->model->set.even &&
		(log->counters.records != threads->records || log->busy) ? MAX_IOS_LOGGING : MAX_IOS;
	threads->records = log->counters.records;
	model_host_wait(threads->host, may_send_move);
	model_host_send(threads->host, what, sector, blocks * RESSD_BLOCK_SECTORS,
			&threads->move_ios);
}

static void wait_for_moves(struct threads *threads)
{
	threads->max_ios = 1;
	model_host_wait(threads->host, may_send_move);
}

static void wait_for_record(struct threads *threads, u64 record)
{
	threads->settled_record = record;
	model_host_wait(threads->host, record_settled);
}

/* As write_batch(). */
static void write_batch(struct threads *threads, u32 nr)
{
	struct model *model = threads->model;
	const struct ressd_move *moves = model->moves;
	struct ressd_log *log = &model->log;
	u32 at, run;

	if (ressd_visits_close_log(&threads->visits, &model->sweep, log, model->set.open_units)) {
		ressd_log_write_soon(log);
		wait_for_record(threads, log->records[log->open].seq);
	}
	threads->held = model->set.open_units == 1;
	for (at = 0; at < nr; at += run) {
		run = ressd_sweep_run_length(moves + at, nr - at);
		send(threads, MODEL_WRITE, (u64)moves[at].lbn * RESSD_BLOCK_SECTORS, run);
	}
	wait_for_moves(threads);
	threads->held = false;
}

static void move_batch(struct threads *threads, u32 nr)
{
	struct model *model = threads->model;
	struct ressd_move *moves = model->moves;
	u64 start = now_of(threads);
	u32 moved = 0, at, run, blocks, i;

	ressd_route_begin(&model->route, start);
	ressd_pattern_visit(&threads->pattern, (u64)moves->lbn * RESSD_BLOCK_SECTORS);
	for (at = 0; at < nr; at += max_t(u32, run, 1)) {
		run = ressd_sweep_home_run(moves + at, nr - at);
		if (run)
			send(threads, MODEL_READ, (u64)moves[at].lbn * RESSD_BLOCK_SECTORS, run);
	}
	wait_for_moves(threads);
	for (at = 0; at < nr; at += run) {
		run = 1;
		if (ressd_move_is_hole(&moves[at]))
			continue;
		run = ressd_sweep_log_run(moves + at, nr - at, &blocks);
		send(threads, MODEL_READ, model_log_sector(model, moves[at].block), blocks);
	}
	wait_for_moves(threads);
	write_batch(threads, nr);
	for (i = 0; i < nr; i++) {
		model->holes += ressd_move_is_hole(&moves[i]);
		if (!ressd_move_is_hole(&moves[i]))
			moved += ressd_log_moved(&model->log, moves[i].block, moves[i].lbn);
	}
	model->moved += moved;
	model_route_moved(threads, now_of(threads) - start, moved);
}

/* Blocks that are still in RAM are left out, or are holes: see ressd_batch_pick(). */
static u32 leave_ram(struct threads *threads, u32 nr)
{
	struct model *model = threads->model;
	u32 i, left = 0;

	for (i = 0; i < nr; i++) {
		struct ressd_move *move = &model->moves[i];

		if (!ressd_move_is_hole(move) && ressd_log_data(&model->log, move->block)) {
			if (!model->sweep.filling)
				continue;
			ressd_move_make_hole(move);
		}
		model->moves[left++] = *move;
	}
	return left;
}

/* --- a sweep ------------------------------------------------------------------------------ */

/* Route adaptive keeps nothing. */
static bool keeps(const struct model *model, u32 *slot)
{
	return model->set.keep && !model->set.adaptive &&
	       ressd_keep_wanted(&model->log, model->set.threshold, slot);
}

static bool goal_reached(struct threads *threads)
{
	struct model *model = threads->model;
	u32 slot;

	return !model->all && ressd_sweep_between_visits(&model->sweep) &&
	       (ressd_step_has_room(&model->step, &model->log) || keeps(model, &slot));
}

/* The next batch.  The log looks at few nodes at a time; nobody waits for its lock here. */
static u32 pick_batch(struct model *model)
{
	struct ressd_move *moves = model->moves;
	u32 nr = 0, max = model->set.batch;

	do {
		nr += nr ? ressd_sweep_pick_more(&model->sweep, &model->log, moves + nr, max - nr) :
			   ressd_sweep_pick(&model->sweep, &model->log, moves, max);
	} while (model->sweep.cut && nr < max);
	return nr;
}

/* Enough is home to tell what that costs. */
static bool trial_ended(struct threads *threads)
{
	return threads->model->all && !threads->drains && !model_route_asks_move(threads);
}

static void move_all(struct threads *threads)
{
	struct model *model = threads->model;
	u32 nr;

	for (;;) {
		model_host_wait(threads->host, mover_may_go_on);
		nr = pick_batch(model);
		if (!nr)
			return;
		move_batch(threads, leave_ram(threads, nr));
		ressd_step_moved(&model->step, &model->sweep, &model->log);
		model->from = model->sweep.visit_end;
		if (goal_reached(threads) || trial_ended(threads))
			return;
	}
}

static void sweep(struct threads *threads)
{
	struct model *model = threads->model;
	bool trial = !threads->drains && model_route_asks_move(threads);

	if (trial)
		reclaim(threads);	/* only what is on the device can be moved */
	model->all = threads->drains || trial;
	model_start_sweep(model);
	ressd_route_sweep(&model->route, !model->all, model->log.map.nr_dirty);
	threads->sweep_follows = false;
	model->sweeps++;
	wait_for_record(threads, model->log.records[model->log.open].seq - 1);
	move_all(threads);
	model->sweeping = false;
	threads->sweep_follows = !model->all;
	if (model->all && !trial)
		ressd_log_rotate(&model->log);
	if (trial)
		ressd_route_move_ended(&model->route, true);
	model->all = false;
	reclaim(threads);
}

/* --- what the log keeps ------------------------------------------------------------------- */

static bool is_kept(void *context)
{
	struct threads *threads = context;
	struct ressd_log *log = log_of(threads);
	struct ressd_place place;
	u32 block = threads->keep_block;

	threads->keep_result = 0;
	if (ressd_keep_next(log, block, block + 1) != block)
		return true;
	threads->keep_result = ressd_log_accept(log, log->map.nodes[block].lbn, &place);
	threads->model->kept += !threads->keep_result;
	return threads->keep_result != -EAGAIN;
}

/* Reads what is to be kept from @block on, over short gaps; returns the end. */
static u32 read_kept(struct threads *threads, u32 block, u32 end)
{
	const struct ressd_log *log = log_of(threads);
	u32 last = block, next;

	do {
		next = ressd_keep_next(log, last + 1, end);
		if (next >= end || next - last > KEEP_BRIDGE || next - block >= MAX_MOVES)
			break;
		last = next;
	} while (true);
	send(threads, MODEL_READ, model_log_sector(threads->model, block), last + 1 - block);
	wait_for_moves(threads);
	return last + 1;
}

/* As ressd_keep_tail() and announce_kept(). */
static bool keep_oldest(struct threads *threads)
{
	struct ressd_log *log = log_of(threads);
	u32 slot, block, end, read;

	if (threads->drains || !keeps(threads->model, &slot))
		return false;
	threads->keeping = true;
	end = ressd_geom_slot_end(&log->geom, slot);
	block = ressd_keep_next(log, ressd_geom_slot_start(&log->geom, slot), end);
	while (block < end) {
		read = read_kept(threads, block, end);
		for (; block < read; block = ressd_keep_next(log, block + 1, end)) {
			threads->keep_block = block;
			model_host_wait(threads->host, is_kept);
			if (threads->keep_result) {
				threads->keeping = false;
				return false;
			}
		}
	}
	ressd_log_write_soon(log);
	wait_for_record(threads, log->records[log->open].seq - !ressd_log_open_blocks(log));
	reclaim(threads);
	threads->keeping = false;
	return true;
}

void model_mover(void *context)
{
	struct threads *threads = context;

	for (;;) {
		if (!has_reason(threads))
			threads->sweep_follows = false;
		model_host_wait(threads->host, has_reason);
		if (!keep_oldest(threads))
			sweep(threads);
		if (threads->drains && !log_of(threads)->map.nr_dirty) {
			threads->drains = false;
			threads->end = true;
		}
	}
}
