// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load by threads that share the drive: a writer, who with a rate does not write before its turn
 * and makes up for what it is late, as fio does; the log's worker; its timer; and the mover.  They
 * are the target's own (dm-ressd-io.c, -commit.c, -mover.c, -batch.c, -pace.c), without errors,
 * reads and direct writes.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/errno.h>
#include <linux/kernel.h>

#include "model-host.h"
#include "mover-model.h"

/* What a small write takes the host. */
#define WRITE_NS	15000
/* Waits, I/Os of the log that take longer are told with trace=1. */
#define TOLD_NS		5000000
#define MAX_IOS		32U
#define MAX_IOS_LOGGING	2U

struct threads {
	struct model *model;
	struct model_host *host;
	bool end;

	/* The writer. */
	u64 writes;
	u64 *waits;			/* of each write, ns */
	u32 lbn;			/* of the block to be accepted */
	int reason;			/* why it is not; 0: it is */
	u64 ticket;			/* what a flush waits for */

	/* The log. */
	struct ressd_io io;
	u32 log_ios;
	bool timer;			/* runs */
	u64 timer_end;

	/* The mover. */
	u32 move_ios, max_ios;
	u64 move_ticket, settled_record;
	bool sweep_follows;
	u32 batch;
	u64 records;			/* written when its last I/O began */
};

static struct ressd_log *log_of(struct threads *threads)
{
	return &threads->model->log;
}

static u64 now_of(const struct threads *threads)
{
	return model_host_now(threads->host);
}

/* --- pace --------------------------------------------------------------------------------- */

static bool holds_writer(struct threads *threads)
{
	struct model *model = threads->model;

	return (model->sweeping || threads->sweep_follows) && model->set.even &&
	       ressd_step_writer_is_ahead(&model->step, &model->log);
}

static bool room_is_wanted(struct threads *threads)
{
	const struct ressd_log *log = log_of(threads);

	return threads->reason || ressd_log_synced(log) < log->sync_wanted;
}

static bool holds_mover(struct threads *threads)
{
	struct model *model = threads->model;

	if (!model->set.even || (room_is_wanted(threads) && ressd_log_is_full(&model->log)) ||
	    ressd_log_is_starved(&model->log))
		return false;
	return ressd_step_mover_is_ahead(&model->step, &model->log);
}

/* --- the writer --------------------------------------------------------------------------- */

/* Why the log does not take the block now: 0, or an error; -EBUSY: the pace holds it. */
static int try_block(struct threads *threads)
{
	struct ressd_place place;

	return holds_writer(threads) ? -EBUSY :
	       ressd_log_accept(log_of(threads), threads->lbn, &place);
}

static bool is_accepted(void *context)
{
	struct threads *threads = context;

	threads->reason = try_block(threads);
	return !threads->reason;
}

static bool is_flushed(void *context)
{
	struct threads *threads = context;

	return ressd_log_synced(log_of(threads)) >= threads->ticket;
}

static void tell_wait(struct threads *threads, int reason, u64 ns)
{
	const char *what = reason == -EBUSY ? "the mover" :
			   reason == -EAGAIN ? "a record" : "room";

	printf("%.3f s: a write has waited %.1f ms for %s, %u blocks are free, %u to be moved\n",
	       now_of(threads) / 1e9, ns / 1e6, what, ressd_log_free_blocks(log_of(threads)),
	       log_of(threads)->map.nr_dirty);
}

static void write_block(struct threads *threads, u32 lbn)
{
	u64 start = now_of(threads);
	int reason;

	threads->lbn = lbn;
	if (is_accepted(threads))
		return;
	reason = threads->reason;
	model_host_wait(threads->host, is_accepted);
	if (threads->model->set.trace && now_of(threads) - start > TOLD_NS)
		tell_wait(threads, reason, now_of(threads) - start);
}

static u64 interval_ns(const struct threads *threads)
{
	return threads->model->set.commit_ms * 1000000ULL;
}

/* As ressd_finish_logged(). */
static void finish_logged(struct threads *threads)
{
	if (!threads->timer)
		threads->timer_end = now_of(threads) + interval_ns(threads);
	threads->timer = true;
}

static void write_once(struct threads *threads, u64 lbn)
{
	const struct settings *set = &threads->model->set;
	u64 start = now_of(threads);
	u32 i;

	for (i = 0; i < set->write_kb / 4; i++)
		write_block(threads, lbn + i);
	finish_logged(threads);
	if (set->fsync) {
		threads->ticket = ressd_log_sync(log_of(threads));
		model_host_wait(threads->host, is_flushed);
	}
	model_host_sleep(threads->host, now_of(threads) + WRITE_NS);
	*threads->waits++ = now_of(threads) - start;
}

static bool has_writes(void *context)
{
	return ((struct threads *)context)->writes;
}

static void write_all(struct threads *threads)
{
	struct model *model = threads->model;
	u32 each = model->set.write_kb / 4;
	u64 places = (u64)model->set.span_mb * 256 / each;
	u64 start = now_of(threads), i;

	for (i = 0; i < threads->writes; i++) {
		if (model->set.rate)
			model_host_sleep(threads->host, max(now_of(threads), start +
					 i * model->set.write_kb * 1000000000 / model->set.rate));
		write_once(threads, model_next_place(model, places) * each);
	}
	threads->ticket = ressd_log_sync(log_of(threads));
	model_host_wait(threads->host, is_flushed);
	threads->writes = 0;
	threads->end = true;
}

/* The others go on beside the next load. */
static void writer(void *context)
{
	struct threads *threads = context;

	for (;;) {
		model_host_wait(threads->host, has_writes);
		write_all(threads);
	}
}

static bool timer_runs(void *context)
{
	return ((struct threads *)context)->timer;
}

/* As ressd_commit_timer(). */
static void timer(void *context)
{
	struct threads *threads = context;

	for (;;) {
		model_host_wait(threads->host, timer_runs);
		model_host_sleep(threads->host, threads->timer_end);
		threads->timer = false;
		ressd_log_kick(log_of(threads));
	}
}

/* --- the log ------------------------------------------------------------------------------ */

static bool log_has_io(void *context)
{
	struct threads *threads = context;

	return ressd_log_next(log_of(threads), &threads->io);
}

static bool log_ios_ended(void *context)
{
	return !((struct threads *)context)->log_ios;
}

static void log_command(struct threads *threads, enum model_command what, u64 sector, u32 sectors)
{
	model_host_send(threads->host, what, sector, sectors, &threads->log_ios);
	model_host_wait(threads->host, log_ios_ended);
}

static void log_worker(void *context)
{
	struct threads *threads = context;
	struct ressd_io *io = &threads->io;
	u64 start;

	for (;;) {
		model_host_wait(threads->host, log_has_io);
		start = now_of(threads);
		if (io->kind == RESSD_IO_FLUSH || io->preflush)
			log_command(threads, MODEL_FLUSH, 0, 0);
		if (io->kind == RESSD_IO_WRITE) {
			ressd_log_encode(log_of(threads), io);
			log_command(threads, MODEL_WRITE, threads->model->reserved_start +
				    (u64)io->block * RESSD_BLOCK_SECTORS,
				    io->nr_blocks * RESSD_BLOCK_SECTORS);
		}
		if (io->fua)
			log_command(threads, MODEL_FLUSH, 0, 0);
		if (threads->model->set.trace && now_of(threads) - start > TOLD_NS)
			printf("%.3f s: %u blocks of log at %u took %.1f ms\n",
			       now_of(threads) / 1e9, io->nr_blocks, io->block,
			       (now_of(threads) - start) / 1e6);
		ressd_log_done(log_of(threads), io, 0);
	}
}

/* --- the mover ---------------------------------------------------------------------------- */

static bool has_reason(void *context)
{
	struct threads *threads = context;
	struct ressd_log *log = log_of(threads);

	return log->reuse_seq < log->head_seq &&
	       ((room_is_wanted(threads) && ressd_log_is_full(log)) ||
		(u64)ressd_log_free_blocks(log) * 100 <
		(u64)ressd_log_total_blocks(log) * threads->model->set.threshold);
}

static bool mover_may_go_on(void *context)
{
	return !holds_mover(context);
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

static bool may_send_move(void *context)
{
	struct threads *threads = context;

	return threads->move_ios < threads->max_ios;
}

static void send_move(struct threads *threads, const struct ressd_move *move, u32 nr, bool log,
		      bool write)
{
	const struct ressd_log *l = log_of(threads);
	u64 sector = (u64)move->lbn * RESSD_BLOCK_SECTORS;

	if (log)
		sector = threads->model->reserved_start + (u64)move->block * RESSD_BLOCK_SECTORS;
	threads->max_ios = threads->model->set.even &&
		(l->counters.records != threads->records || l->busy) ? MAX_IOS_LOGGING : MAX_IOS;
	threads->records = l->counters.records;
	model_host_wait(threads->host, may_send_move);
	model_host_send(threads->host, write ? MODEL_WRITE : MODEL_READ, sector,
			nr * RESSD_BLOCK_SECTORS, &threads->move_ios);
}

static void wait_for_moves(struct threads *threads)
{
	threads->max_ios = 1;
	model_host_wait(threads->host, may_send_move);
}

static void move_batch(struct threads *threads, u32 nr)
{
	struct model *model = threads->model;
	struct ressd_move *moves = model->moves;
	u32 at, run, i;

	for (at = 0; at < nr; at += max_t(u32, run, 1)) {
		run = ressd_sweep_home_run(moves + at, nr - at);
		if (run)
			send_move(threads, moves + at, run, false, false);
	}
	wait_for_moves(threads);
	for (at = 0; at < nr; at += run) {
		run = ressd_sweep_run(moves + at, nr - at, true);
		if (!ressd_move_is_hole(&moves[at]))
			send_move(threads, moves + at, run, true, false);
	}
	wait_for_moves(threads);
	for (at = 0; at < nr; at += run) {
		run = ressd_sweep_run(moves + at, nr - at, false);
		send_move(threads, moves + at, run, false, true);
	}
	wait_for_moves(threads);
	for (i = 0; i < nr; i++) {
		model->holes += ressd_move_is_hole(&moves[i]);
		if (!ressd_move_is_hole(&moves[i]))
			model->moved += ressd_log_moved(&model->log, moves[i].block, moves[i].lbn);
	}
}

/* Blocks that are still in RAM are left out, or are holes: see ressd_batch_pick(). */
static u32 keep_movable(struct threads *threads, u32 nr)
{
	struct model *model = threads->model;
	u32 i, kept = 0;

	for (i = 0; i < nr; i++) {
		struct ressd_move *move = &model->moves[i];

		if (!ressd_move_is_hole(move) && ressd_log_data(&model->log, move->block)) {
			if (!model->sweep.filling)
				continue;
			ressd_move_make_hole(move);
		}
		model->moves[kept++] = *move;
	}
	return kept;
}

static void move_all(struct threads *threads)
{
	struct model *model = threads->model;
	u32 nr;

	for (;;) {
		model_host_wait(threads->host, mover_may_go_on);
		nr = ressd_sweep_pick(&model->sweep, &model->log, model->moves, model->set.batch);
		if (!nr)
			return;
		move_batch(threads, keep_movable(threads, nr));
		ressd_step_moved(&model->step, &model->sweep, &model->log);
		model->from = model->sweep.visit_end;
		if (ressd_sweep_between_visits(&model->sweep) &&
		    ressd_step_has_room(&model->step, &model->log))
			return;
	}
}

static void mover(void *context)
{
	struct threads *threads = context;
	struct model *model = threads->model;
	u64 start;

	for (;;) {
		if (!has_reason(threads))
			threads->sweep_follows = false;
		model_host_wait(threads->host, has_reason);
		threads->settled_record = model->log.records[model->log.open].seq - 1;
		if (!model->sweeping)
			model_start_sweep(model);
		threads->sweep_follows = false;
		model_host_wait(threads->host, record_settled);
		start = now_of(threads);
		move_all(threads);
		if (model->set.trace)
			printf("%.3f s: a sweep took %.1f ms\n", now_of(threads) / 1e9,
			       (now_of(threads) - start) / 1e6);
		model->sweeping = false;
		threads->sweep_follows = true;
		threads->move_ticket = ressd_log_reclaim(&model->log);
		model_host_wait(threads->host, sync_settled);
	}
}

/* --- a load ------------------------------------------------------------------------------- */

static int compare(const void *first, const void *second)
{
	u64 a = *(const u64 *)first, b = *(const u64 *)second;

	return a < b ? -1 : a > b;
}

static void describe(const u64 *waits, u64 nr)
{
	u64 sum = 0, i;

	for (i = 0; i < nr; i++)
		sum += waits[i];
	printf("waits, ms: mean %.3f  p99 %.2f  p99.9 %.2f  p99.99 %.1f  longest %.1f\n",
	       sum / 1e6 / nr, waits[nr * 99 / 100] / 1e6, waits[nr * 999 / 1000] / 1e6,
	       waits[nr * 9999 / 10000] / 1e6, waits[nr - 1] / 1e6);
}

static struct threads *start_threads(struct model *model)
{
	struct threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		abort();
	threads->model = model;
	threads->host = model_host_create(model->drive, threads);
	model_host_thread(threads->host, writer);
	model_host_thread(threads->host, timer);
	model_host_thread(threads->host, log_worker);
	model_host_thread(threads->host, mover);
	return threads;
}

void model_threads_write(struct model *model, u64 writes)
{
	struct threads *threads = model->threads;
	u64 *waits = calloc(writes, sizeof(*waits));

	if (!waits)
		abort();
	if (!threads)
		threads = start_threads(model);
	model->threads = threads;
	threads->waits = waits;
	threads->writes = writes;
	threads->end = false;
	model_host_run(threads->host, &threads->end);
	qsort(waits, writes, sizeof(*waits), compare);
	model->longest = waits[writes - 1];
	describe(waits, writes);
	free(waits);
}
