// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load by threads that share the drive: a writer, who with a rate does not write before its turn
 * and makes up for what it is late, as fio does, or one that replays a trace (model-replay.c); the
 * log's worker; its timer; and the mover (model-move.c).  They are the target's own (dm-ressd-io.c,
 * -log-worker.c, -mover.c, -batch.c, -keep.c, -pace.c), without errors.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/errno.h>
#include <linux/kernel.h>

#include "model-threads.h"

/* What a small write takes the host. */
#define WRITE_NS	15000
/* Waits, I/Os of the log that take longer are told with trace=1. */
#define TOLD_NS		5000000

/* --- pace --------------------------------------------------------------------------------- */

bool model_holds_writer(struct threads *threads)
{
	struct model *model = threads->model;

	if (!model->set.even || model->set.bypass)
		return false;
	return threads->keeping || ((model->sweeping || threads->sweep_follows) &&
				    ressd_step_writer_is_ahead(&model->step, &model->log));
}

/* --- the writer --------------------------------------------------------------------------- */

/*
 * Why the log does not take the block now: 0, or an error; -EBUSY: the pace holds it, or the mover
 * is to bring all home first.
 */
static int try_block(struct threads *threads)
{
	struct ressd_place place;

	return model_holds_writer(threads) || model_route_asks_move(threads) ? -EBUSY :
	       ressd_log_accept(log_of(threads), threads->lbn, &place);
}

/* While it waits the route may change; with on_full bypass it does not wait for room. */
static bool is_accepted(void *context)
{
	struct threads *threads = context;

	threads->direct = model_route_is_direct(threads);
	threads->reason = threads->direct ? 0 : try_block(threads);
	if (threads->reason && threads->reason != -EAGAIN && threads->model->set.bypass) {
		threads->direct = true;
		threads->reason = 0;
	}
	return !threads->reason;
}

static bool may_log(void *context)
{
	struct threads *threads = context;

	threads->reason = model_route_holds_log(threads) ? -EAGAIN : 0;
	return !threads->reason;
}

static bool direct_ios_ended(void *context)
{
	return !((struct threads *)context)->direct_ios;
}

static void direct_command(struct threads *threads, enum model_command what, u64 sector,
			   u32 sectors)
{
	model_host_send(threads->host, what, sector, sectors, &threads->direct_ios);
	model_host_wait(threads->host, direct_ios_ended);
}

static bool is_flushed(void *context)
{
	struct threads *threads = context;

	return ressd_log_synced(log_of(threads)) >= threads->ticket;
}

static bool is_written(void *context)
{
	struct threads *threads = context;

	return log_of(threads)->written_seq >= threads->record;
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

void model_finish_logged(struct threads *threads)
{
	if (!threads->timer)
		threads->timer_end = now_of(threads) + interval_ns(threads);
	threads->timer = true;
}

/* False: it is to go direct. */
static bool log_write(struct threads *threads, u32 lbn, u32 nr)
{
	u32 i;

	model_host_wait(threads->host, may_log);
	for (i = 0; i < nr; i++) {
		write_block(threads, lbn + i);
		if (threads->direct)
			return false;
	}
	model_finish_logged(threads);
	if (threads->model->set.writethrough) {
		threads->record = log_of(threads)->records[log_of(threads)->open].seq;
		ressd_log_write_soon(log_of(threads));
		model_host_wait(threads->host, is_written);
	}
	model_route_holds_log(threads);
	return true;
}

/* As map_flush(). */
static void flush(struct threads *threads)
{
	struct routed routed = { 0 };

	model_route_flush(threads);
	if (ressd_log_is_volatile(log_of(threads))) {
		threads->ticket = ressd_log_sync(log_of(threads));
		model_host_wait(threads->host, is_flushed);
		return;
	}
	if (model_route_is_direct(threads))
		model_route_time(threads, &routed);
	direct_command(threads, MODEL_FLUSH, 0, 0);
	model_route_ended(threads, &routed, 0);
}

/* Returns the blocks. */
static u32 write_once(struct threads *threads)
{
	const struct model_write write = model_next_write(threads->model);
	const u32 nr = write.nr;
	const u64 start = now_of(threads), sector = write.lbn * RESSD_BLOCK_SECTORS;
	struct routed routed = { 0 };

	threads->direct = !model_route_to_log(threads, &routed, sector, nr * RESSD_BLOCK_SECTORS);
	if (threads->direct || !log_write(threads, write.lbn, nr)) {
		direct_command(threads, MODEL_WRITE, sector, nr * RESSD_BLOCK_SECTORS);
		ressd_log_kill(log_of(threads), write.lbn, nr);
		threads->model->direct += nr;
	}
	model_route_ended(threads, &routed, threads->direct ? nr : 0);
	if (write.flush)
		flush(threads);
	/* What goes to the drive has the host's time with it. */
	if (!threads->direct)
		model_host_sleep(threads->host, now_of(threads) + WRITE_NS);
	*threads->waits++ = now_of(threads) - start;
	return nr;
}

static bool has_writes(void *context)
{
	return ((struct threads *)context)->blocks;
}

static void write_all(struct threads *threads)
{
	struct model *model = threads->model;
	u64 start = now_of(threads), done;

	for (done = 0; done < threads->blocks; ) {
		if (model->set.rate)
			model_host_sleep(threads->host, max(now_of(threads), start +
					 done * 4 * 1000000000 / model->set.rate));
		done += write_once(threads);
	}
	threads->ticket = ressd_log_sync(log_of(threads));
	model_host_wait(threads->host, is_flushed);
	threads->blocks = 0;
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
		ressd_log_write_soon(log_of(threads));
	}
}

/* --- the log ------------------------------------------------------------------------------ */

static bool log_has_io(void *context)
{
	struct threads *threads = context;

	return !threads->held && model_next_io(log_of(threads), &threads->io);
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

/* A record of RE: data without a header, and one block of the map. */
static void write_apart(struct threads *threads, const struct ressd_io *io)
{
	struct model *model = threads->model;
	u64 places = (model_drive_sectors(model->drive) - model->map_start) / RESSD_BLOCK_SECTORS;

	if (io->record && io->record->nr_maps)
		model_host_send(threads->host, MODEL_WRITE, model_log_sector(model, io->block + 1),
				io->record->nr_maps * RESSD_BLOCK_SECTORS, &threads->log_ios);
	log_command(threads, MODEL_WRITE, model->map_start +
		    model->map_next++ % places * RESSD_BLOCK_SECTORS, RESSD_BLOCK_SECTORS);
}

static void write_record(struct threads *threads, const struct ressd_io *io)
{
	if (threads->model->set.apart)
		write_apart(threads, io);
	else
		log_command(threads, MODEL_WRITE, model_log_sector(threads->model, io->block),
			    io->nr_blocks * RESSD_BLOCK_SECTORS);
}

static void log_worker(void *context)
{
	struct threads *threads = context;
	struct ressd_io *io = &threads->io;
	u64 start;

	for (;;) {
		model_host_wait(threads->host, log_has_io);
		start = now_of(threads);
		ressd_route_begin(&threads->model->route, start);
		if (io->kind == RESSD_IO_FLUSH || io->preflush)
			log_command(threads, MODEL_FLUSH, 0, 0);
		if (io->kind == RESSD_IO_WRITE) {
			ressd_log_encode(log_of(threads), io);
			write_record(threads, io);
		}
		if (io->fua)
			log_command(threads, MODEL_FLUSH, 0, 0);
		if (threads->model->set.trace && now_of(threads) - start > TOLD_NS)
			printf("%.3f s: %u blocks of log at %u took %.1f ms\n",
			       now_of(threads) / 1e9, io->nr_blocks, io->block,
			       (now_of(threads) - start) / 1e6);
		model_route_logged(threads, now_of(threads) - start,
				   io->record ? io->record->nr_maps : 0);
		ressd_log_done(log_of(threads), io, 0);
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

struct threads *model_threads_start(struct model *model, void (*writes)(void *context))
{
	struct threads *threads = model->threads;

	if (threads)
		return threads;
	threads = calloc(1, sizeof(*threads));
	if (!threads)
		abort();
	model->threads = threads;
	threads->model = model;
	threads->host = model_host_create(model->drive, threads);
	model_route_init(threads);
	model_host_thread(threads->host, writes);
	if (model->set.bare)
		return threads;
	model_host_thread(threads->host, timer);
	model_host_thread(threads->host, log_worker);
	model_host_thread(threads->host, model_mover);
	return threads;
}

void model_threads_drain(struct model *model)
{
	struct threads *threads = model->threads;

	if (model->log.map.nr_mapped) {
		ressd_log_write_soon(&model->log);
		threads->drains = true;
		threads->end = false;
		model_host_run(threads->host, &threads->end);
	}
	ressd_pattern_drained(&threads->pattern);
}

void model_threads_write(struct model *model, u64 blocks)
{
	struct threads *threads = model_threads_start(model, writer);
	u64 *waits = calloc(blocks, sizeof(*waits)), nr;

	if (!waits)
		abort();
	threads->waits = waits;
	threads->blocks = blocks;
	threads->end = false;
	model_host_run(threads->host, &threads->end);
	nr = threads->waits - waits;
	qsort(waits, nr, sizeof(*waits), compare);
	model->longest = waits[nr - 1];
	describe(waits, nr);
	free(waits);
}
