// SPDX-License-Identifier: GPL-2.0-only
/* The simplest host: one request at a time, and a mover that works when a writer waits for room. */
#include <stdlib.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include "mover-model.h"

/* The I/O of the log that is handed out takes place, from its begin to its end. */
static void end_log_io(struct model *model)
{
	struct ressd_io *io = &model->io;
	u64 start;

	if (io->kind == RESSD_IO_WRITE)
		ressd_log_encode(&model->log, io);	/* summaries are made of the headers */
	model_drive_depth(model->drive, 1);
	start = model_drive_now(model->drive);
	if (io->kind == RESSD_IO_FLUSH || io->preflush)
		model_drive_flush(model->drive);
	if (io->kind == RESSD_IO_WRITE)
		model_drive_write(model->drive, model->reserved_start +
				  (u64)io->block * RESSD_BLOCK_SECTORS,
				  io->nr_blocks * RESSD_BLOCK_SECTORS);
	if (io->fua)
		model_drive_flush(model->drive);
	ressd_log_done(&model->log, io, 0);
	ressd_route_log_done(&model->route, model_drive_now(model->drive) - start,
			     io->record ? io->record->nr_maps : 0);
}

bool model_next_io(struct ressd_log *log, struct ressd_io *io)
{
	while (ressd_log_tidy(log))
		;
	return ressd_log_next(log, io);
}

/* One I/O of the log; false: there is none. */
static bool log_io(struct model *model)
{
	if (!model->log.busy && !model_next_io(&model->log, &model->io))
		return false;
	end_log_io(model);
	return true;
}

/* The open record is full: with two of them in RAM it is the one before that is written now. */
static void record_is_full(struct model *model)
{
	if (model->log.busy || model->set.records == 1)
		log_io(model);
	if (model->set.records > 1)
		model_next_io(&model->log, &model->io);
}

void model_settle(struct model *model, u64 ticket)
{
	while (ressd_log_synced(&model->log) < ticket)
		if (!log_io(model))
			abort();
}

/* --- the mover ---------------------------------------------------------------------------- */

void model_start_sweep(struct model *model)
{
	struct ressd_log *log = &model->log;

	ressd_sweep_start(&model->sweep, log);
	if (model->all)
		model->sweep.last_segment = log->head_seq;
	else if (model->set.parts)
		model->sweep.last_segment = min_t(u64, model->sweep.last_segment, log->tail_seq +
						  log->geom.nr_segments / model->set.parts - 1);
	else if (model->set.visit)
		ressd_sweep_oldest(&model->sweep, log);
	ressd_sweep_visits(&model->sweep, model->set.visit,
			   model->set.visit ? model->set.offset / RESSD_BLOCK_SECTORS %
			   model->set.visit : 0, model->set.fill, model->from);
	model->sweeping = true;
	ressd_step_start(&model->step, &model->sweep, log);
}

static void move_run(struct model *model, const struct ressd_move *move, u32 nr, bool write)
{
	u64 sector = (u64)move->lbn * RESSD_BLOCK_SECTORS;

	if (!write && !ressd_move_is_hole(move))
		sector = model->reserved_start + (u64)move->block * RESSD_BLOCK_SECTORS;
	if (write)
		model_drive_write(model->drive, sector, nr * RESSD_BLOCK_SECTORS);
	else
		model_drive_read(model->drive, sector, nr * RESSD_BLOCK_SECTORS);
}

/* As dm-ressd-log-discard.c, but all at once, and they are waited for. */
static void discard_segments(struct model *model)
{
	const struct ressd_geom *geom = &model->log.geom;
	u32 slot, first, end;

	while (model->set.log_discard && ressd_log_take_discard(&model->log, &slot)) {
		first = ressd_geom_slot_start(geom, slot);
		end = ressd_geom_slot_end(geom, slot) + geom->summary_blocks;
		model_drive_discard(model->drive, model->reserved_start +
				    (u64)first * RESSD_BLOCK_SECTORS,
				    (end - first) * RESSD_BLOCK_SECTORS);
	}
}

static void end_sweep(struct model *model)
{
	if (model->all)
		ressd_log_rotate(&model->log);
	model_settle(model, ressd_log_reclaim(&model->log));
	model->sweeping = false;
	discard_segments(model);
}

/* The mover's I/Os of one kind, side by side; those before them have ended. */
static void begin_phase(struct model *model)
{
	model_drive_depth(model->drive, 1);
	model_drive_depth(model->drive, model->set.mover_depth);
}

/* First block of that clustered block of which the log holds most. */
static u64 fullest_block(const struct model *model)
{
	const struct ressd_map *map = &model->log.map;
	struct ressd_node *node = ressd_map_first_from(map, 0);
	u64 visit = 0, best = 0;
	u32 nr = 0, most = 0;

	for (; node; node = ressd_map_next(node)) {
		if (ressd_map_is_clean(map, ressd_map_block(map, node)))
			continue;
		if (node->lbn / model->set.visit != visit)
			nr = 0;
		visit = node->lbn / model->set.visit;
		if (++nr > most) {
			most = nr;
			best = visit;
		}
	}
	return best * model->set.visit;
}

/* Not the next visit of the round, but the one that finds most; the round never ends by that. */
static void go_to_fullest(struct model *model)
{
	struct ressd_sweep *sweep = &model->sweep;

	if (sweep->next_lbn < sweep->visit_end)
		return;
	sweep->next_lbn = fullest_block(model);
	sweep->from_lbn = sweep->next_lbn;
	sweep->wrapped = false;
}

static void move_batch(struct model *model)
{
	struct ressd_move *moves = model->moves;
	u64 start, before = model->moved;
	u32 at, run, blocks, i, nr;

	if (model->log.busy)
		end_log_io(model);
	if (model->set.fullest && model->set.visit && !model->all)
		go_to_fullest(model);
	nr = ressd_sweep_pick(&model->sweep, &model->log, moves, model->set.batch);
	if (model->set.visit)
		model->from = model->sweep.visit_end;
	if (!nr) {
		end_sweep(model);
		return;
	}
	for (i = 0; i < nr; i++)
		if (!ressd_move_is_hole(&moves[i]) &&
		    ressd_log_data(&model->log, moves[i].block))
			abort();
	begin_phase(model);
	start = model_drive_now(model->drive);
	for (at = 0; at < nr; at += max_t(u32, run, 1)) {
		run = ressd_sweep_home_run(moves + at, nr - at);
		if (run)
			move_run(model, moves + at, run, false);
	}
	begin_phase(model);
	for (at = 0; at < nr; at += run) {
		run = 1;
		if (ressd_move_is_hole(&moves[at]))
			continue;
		run = ressd_sweep_log_run(moves + at, nr - at, &blocks);
		move_run(model, moves + at, blocks, false);
	}
	begin_phase(model);
	for (at = 0; at < nr; at += run) {
		run = ressd_sweep_run_length(moves + at, nr - at);
		move_run(model, moves + at, run, true);
	}
	model_drive_depth(model->drive, 1);
	for (i = 0; i < nr; i++) {
		model->holes += ressd_move_is_hole(&moves[i]);
		if (!ressd_move_is_hole(&moves[i]))
			model->moved += ressd_log_moved(&model->log, moves[i].block, moves[i].lbn);
	}
	ressd_route_move_done(&model->route, model_drive_now(model->drive) - start,
			      model->moved - before);
	ressd_step_moved(&model->step, &model->sweep, &model->log);
	if (!model->set.whole_rounds && !model->all && ressd_sweep_between_visits(&model->sweep) &&
	    ressd_step_has_room(&model->step, &model->log))
		end_sweep(model);
}

static bool below_threshold(const struct model *model)
{
	return (u64)ressd_log_free_blocks(&model->log) * 100 <
	       (u64)ressd_log_total_blocks(&model->log) * model->set.threshold;
}

/* --- the writer --------------------------------------------------------------------------- */

static void write_block(struct model *model, u32 lbn)
{
	struct ressd_place place;
	int ret;

	for (;;) {
		if (!model->sweeping && below_threshold(model) &&
		    model->log.reuse_seq < model->log.head_seq)
			model_start_sweep(model);
		while (model->sweeping &&
		       ressd_step_writer_is_ahead(&model->step, &model->log)) {
			model->waited = true;
			move_batch(model);
		}
		ret = ressd_log_accept(&model->log, lbn, &place);
		if (!ret)
			break;
		model->waited = true;
		if (ret == -EAGAIN && log_io(model))
			continue;
		if (model->sweeping)
			move_batch(model);
		else
			model_start_sweep(model);
	}
	if (ressd_log_record_full(&model->log))
		record_is_full(model);
}

void model_simple_drain(struct model *model, bool trial)
{
	model_settle(model, ressd_log_sync(&model->log));
	while (model->sweeping)
		move_batch(model);
	model->all = true;
	model_start_sweep(model);
	while (model->sweeping && !(trial && !ressd_route_wants_move(&model->route)))
		move_batch(model);
	model->sweeping = false;
	model->all = false;
}

static void write_direct(struct model *model, u32 lbn, u32 nr)
{
	u64 start = model_drive_now(model->drive);

	model_drive_depth(model->drive, model->set.depth);
	model_drive_write(model->drive, (u64)lbn * RESSD_BLOCK_SECTORS, nr * RESSD_BLOCK_SECTORS);
	ressd_log_kill(&model->log, lbn, nr);
	if (ressd_route_times_direct(&model->route))
		ressd_route_direct_done(&model->route, model_drive_now(model->drive) - start, nr);
	model->direct += nr;
}

/* Waits for what a trial of the log is to be judged by; false: it was lost. */
static bool may_log(struct model *model)
{
	const struct ressd_log *log = &model->log;

	while (ressd_route_wants_write(&model->route, ressd_log_open_blocks(log),
				       ressd_log_blocks_in_flight(log))) {
		ressd_log_write_soon(&model->log);
		log_io(model);
	}
	return !model->set.adaptive || ressd_route_takes_log(&model->route);
}

/* One small write, by the way that it is to go. */
static void write_small(struct model *model, u32 lbn, u32 nr)
{
	u32 in_flight = model_drive_in_flight(model->drive);
	u32 i;

	if (model->waited)
		in_flight = model->set.depth - 1;
	model->waited = false;
	if (model->set.adaptive &&
	    !ressd_route_small(&model->route, nr, in_flight, model_drive_now(model->drive))) {
		write_direct(model, lbn, nr);
		return;
	}
	if (ressd_route_wants_move(&model->route)) {
		model_simple_drain(model, true);
		ressd_route_move_ended(&model->route, true);
	}
	if (!may_log(model)) {
		write_direct(model, lbn, nr);
		return;
	}
	for (i = 0; i < nr; i++)
		write_block(model, lbn + i);
}

/* As map_flush() of the target. */
static void flush(struct model *model)
{
	u64 start = model_drive_now(model->drive);

	ressd_route_flush(&model->route);
	if (!model->set.bare && ressd_log_is_volatile(&model->log)) {
		model_settle(model, ressd_log_sync(&model->log));
		return;
	}
	model_drive_flush(model->drive);
	if (ressd_route_times_direct(&model->route))
		ressd_route_direct_done(&model->route, model_drive_now(model->drive) - start, 0);
}

void model_simple_write(struct model *model, u64 blocks)
{
	struct model_write write;
	u64 done;

	if (model->set.bare)
		model_drive_depth(model->drive, model->set.depth);
	for (done = 0; done < blocks; done += write.nr) {
		u64 start = model_drive_now(model->drive);

		write = model_next_write(model);
		if (model->set.bare)
			model_drive_write(model->drive, write.lbn * RESSD_BLOCK_SECTORS,
					  write.nr * RESSD_BLOCK_SECTORS);
		else
			write_small(model, write.lbn, write.nr);
		if (model->through) {
			ressd_log_write_soon(&model->log);
			log_io(model);
		}
		if (write.flush)
			flush(model);
		model->longest = max(model->longest, model_drive_now(model->drive) - start);
	}
	if (!model->set.bare)
		model_settle(model, ressd_log_sync(&model->log));
}
