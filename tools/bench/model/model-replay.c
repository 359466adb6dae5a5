// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writers of a trace: each bio is issued when those have completed that it waited for when it
 * was recorded, and as long after them.  Then it goes the way that the target sends it
 * (dm-ressd-io.c, -read.c, -end.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/errno.h>
#include <linux/kernel.h>

#include "model-threads.h"
#include "model-trace.h"

enum stage { ISSUED, PREFLUSH, DATA, LOGGING, DEVICE, SYNC, DONE };

/* A bio on its way. */
struct way {
	enum stage stage;
	u32 in_flight;
	u64 ticket;
	u32 accepted;			/* of its blocks, by the log */
	bool direct;			/* a write to the normal area */
	struct routed routed;
	u64 begun, ended;
};

static struct replay {
	struct model *model;
	struct threads *threads;
	struct trace *trace;
	struct way *ways;		/* of the bios */
	u32 issued;			/* bios so far */
	u32 first;			/* all before have completed */
	u32 completed;			/* as many of trace->completions, without a gap */
	u32 end;			/* of the phase under way */
	u64 logged, direct;		/* blocks */
} replay;

static bool is_bare(void)
{
	return replay.model->set.bare;
}

static u32 first_block(const struct bio *bio)
{
	return bio->sector / RESSD_BLOCK_SECTORS;
}

static u32 nr_blocks(const struct bio *bio)
{
	return (bio->sector + bio->sectors + RESSD_BLOCK_SECTORS - 1) / RESSD_BLOCK_SECTORS -
	       first_block(bio);
}

/* --- a bio -------------------------------------------------------------------------------- */

static void finish(struct way *way)
{
	const struct bio *bio = &replay.trace->bios[way - replay.ways];

	model_route_ended(replay.threads, &way->routed,
			  bio->op == BIO_WRITE && way->direct ? nr_blocks(bio) : 0);
	way->stage = DONE;
	way->ended = now_of(replay.threads);
}

static void send(struct way *way, enum model_command what, u64 sector, u32 sectors)
{
	model_host_send(replay.threads->host, what, sector, sectors, &way->in_flight);
}

/* As map_flush(). */
static void begin_flush(const struct bio *bio, struct way *way)
{
	way->ticket = 0;
	way->stage = PREFLUSH;
	if (!is_bare())
		model_route_flush(replay.threads);
	if (!is_bare() && ressd_log_is_volatile(&replay.model->log)) {
		way->ticket = ressd_log_sync(&replay.model->log);
	} else {
		if (bio->op == BIO_FLUSH && model_route_is_direct(replay.threads))
			model_route_time(replay.threads, &way->routed);
		send(way, MODEL_FLUSH, 0, 0);
	}
}

static bool is_synced(const struct way *way)
{
	return ressd_log_synced(&replay.model->log) >= way->ticket;
}

static void begin_direct(const struct bio *bio, struct way *way)
{
	way->direct = true;
	way->stage = DEVICE;
	replay.direct += nr_blocks(bio);
	send(way, MODEL_WRITE, bio->sector, bio->sectors);
	if (bio->fua)
		send(way, MODEL_FLUSH, 0, 0);
}

/* A bio that the log holds in part is read from where it begins. */
static void begin_read(const struct bio *bio, struct way *way)
{
	const struct ressd_map *map = &replay.model->log.map;
	const struct ressd_node *node = is_bare() ? NULL :
		ressd_map_first_from(map, first_block(bio));
	u64 sector = bio->sector;
	u32 block;

	way->stage = DEVICE;
	if (node && node->lbn - first_block(bio) < nr_blocks(bio) &&
	    !ressd_map_is_clean(map, ressd_map_block(map, node))) {
		block = ressd_map_block(map, node);
		if (ressd_log_data(&replay.model->log, block))
			return;
		sector = replay.model->reserved_start + (u64)block * RESSD_BLOCK_SECTORS;
	}
	send(way, MODEL_READ, sector, bio->sectors);
}

static bool goes_to_log(const struct bio *bio, struct way *way)
{
	bool log;

	if (is_bare() || (bio->sector | bio->sectors) % RESSD_BLOCK_SECTORS)
		return false;
	log = model_route_to_log(replay.threads, &way->routed, bio->sector, bio->sectors);
	if (way->routed.small && bio->fua)
		ressd_route_flush(&replay.model->route);
	return log;
}

static void begin_data(const struct bio *bio, struct way *way)
{
	switch (bio->op) {
	case BIO_FLUSH:
		finish(way);
		break;
	case BIO_READ:
		begin_read(bio, way);
		break;
	case BIO_DISCARD:
		if (!is_bare())
			ressd_log_kill(&replay.model->log, first_block(bio), nr_blocks(bio));
		finish(way);
		break;
	case BIO_WRITE:
		if (goes_to_log(bio, way))
			way->stage = LOGGING;
		else
			begin_direct(bio, way);
		break;
	}
}

/* As take_blocks() and ressd_finish_logged(); false: it has to wait. */
static bool log_blocks(const struct bio *bio, struct way *way)
{
	struct ressd_log *log = &replay.model->log;
	struct ressd_place place;

	if (model_route_is_direct(replay.threads)) {
		begin_direct(bio, way);
		return true;
	}
	if (!way->accepted && model_route_holds_log(replay.threads)) {
		replay.threads->reason = -EAGAIN;
		return false;
	}
	for (; way->accepted < nr_blocks(bio); way->accepted++) {
		replay.threads->reason = model_holds_writer(replay.threads) ||
			model_route_asks_move(replay.threads) ? -EBUSY :
			ressd_log_accept(log, first_block(bio) + way->accepted, &place);
		if (replay.threads->reason)
			return false;
		replay.logged++;
	}
	model_finish_logged(replay.threads);
	model_route_holds_log(replay.threads);
	if (!bio->fua) {
		finish(way);
		return true;
	}
	way->ticket = ressd_log_sync(log);
	way->stage = SYNC;
	return true;
}

static void end_device(const struct bio *bio, struct way *way)
{
	struct ressd_log *log = &replay.model->log;

	if (way->direct && !is_bare()) {
		ressd_log_kill(log, first_block(bio), nr_blocks(bio));
		if (bio->fua && ressd_log_unmaps_pending(log)) {
			way->ticket = ressd_log_sync(log);
			way->stage = SYNC;
			return;
		}
	}
	finish(way);
}

/* One step on its way; false if it has to wait. */
static bool go_on(const struct bio *bio, struct way *way)
{
	switch (way->stage) {
	case ISSUED:
		if (bio->op == BIO_FLUSH || bio->preflush)
			begin_flush(bio, way);
		else
			way->stage = DATA;
		return true;
	case PREFLUSH:
		if (way->ticket ? !is_synced(way) : way->in_flight)
			return false;
		way->stage = DATA;
		return true;
	case DATA:
		begin_data(bio, way);
		return true;
	case LOGGING:
		return log_blocks(bio, way);
	case DEVICE:
		if (way->in_flight)
			return false;
		end_device(bio, way);
		return true;
	case SYNC:
		if (!is_synced(way))
			return false;
		finish(way);
		return true;
	case DONE:
		break;
	}
	return false;
}

/* All that are on their way go on as far as they can; those that wait for room in their order. */
static bool all_go_on(void *context)
{
	const struct trace *trace = replay.trace;
	bool any = false, room = true;
	u32 i;

	(void)context;
	replay.threads->reason = 0;
	for (i = replay.first; i < replay.issued; i++) {
		struct way *way = &replay.ways[i];

		while (way->stage != DONE && (room || way->stage != LOGGING) &&
		       go_on(&trace->bios[i], way))
			any = true;
		room = room && way->stage != LOGGING;
		if (way->stage == DONE && i == replay.first)
			replay.first++;
	}
	while (replay.completed < replay.end &&
	       replay.ways[trace->completions[replay.completed]].stage == DONE)
		replay.completed++;
	return any;
}

static void ways_thread(void *context)
{
	(void)context;
	for (;;)
		model_host_wait(replay.threads->host, all_go_on);
}

static bool has_bios(void *context)
{
	(void)context;
	return replay.issued < replay.end;
}

static bool may_issue(void *context)
{
	(void)context;
	return replay.completed >= replay.trace->bios[replay.issued].after;
}

static bool all_completed(void *context)
{
	(void)context;
	return replay.first == replay.end;
}

static void issuer(void *context)
{
	struct threads *threads = context;

	for (;;) {
		model_host_wait(threads->host, has_bios);
		while (replay.issued < replay.end) {
			u32 i = replay.issued;

			model_host_wait(threads->host, may_issue);
			model_host_sleep(threads->host, now_of(threads) + replay.trace->bios[i].gap);
			replay.ways[i].begun = now_of(threads);
			replay.issued++;
			all_go_on(NULL);
		}
		model_host_wait(threads->host, all_completed);
		threads->end = true;
	}
}

static int compare(const void *first, const void *second)
{
	u64 a = *(const u64 *)first, b = *(const u64 *)second;

	return a < b ? -1 : a > b;
}

/* Flushes wait: the median, p99 and the longest, in ms. */
static void describe_flushes(u32 from, u32 to)
{
	u64 *waits = calloc(to - from + 1, sizeof(*waits));
	u32 i, nr = 0;

	for (i = from; waits && i < to; i++)
		if (replay.trace->bios[i].op == BIO_FLUSH || replay.trace->bios[i].preflush)
			waits[nr++] = replay.ways[i].ended - replay.ways[i].begun;
	if (nr) {
		qsort(waits, nr, sizeof(*waits), compare);
		printf("  flushes %.1f, p99 %.1f, longest %.0f ms", waits[nr / 2] / 1e6,
		       waits[(u64)nr * 99 / 100] / 1e6, waits[nr - 1] / 1e6);
	}
	free(waits);
}

static void play_phase(u32 phase)
{
	const struct trace *trace = replay.trace;
	struct model *model = replay.model;
	u64 start = now_of(replay.threads), erases = model_drive_erases(model->drive);
	u32 from = trace->phases[phase].first;

	replay.end = trace->phases[phase + 1].first;
	model->moved = 0;
	model->kept = 0;
	model->sweeps = 0;
	replay.logged = 0;
	replay.direct = 0;
	replay.threads->end = false;
	if (from < replay.end)
		model_host_run(replay.threads->host, &replay.threads->end);
	printf("%-8s %8.2f s  %5llu erases  blocks: logged %llu direct %llu moved %llu kept %llu",
	       trace->phases[phase].name, (now_of(replay.threads) - start) / 1e9,
	       (unsigned long long)(model_drive_erases(model->drive) - erases),
	       (unsigned long long)replay.logged, (unsigned long long)replay.direct,
	       (unsigned long long)model->moved, (unsigned long long)model->kept);
	describe_flushes(from, replay.end);
	printf("\n");
}

static void write_back(void)
{
	if (!is_bare())
		model_threads_drain(replay.model);
}

/* A trace of a larger normal area cannot be played: no target takes writes behind its end. */
static void check_end(const struct model *model, const struct trace *trace, const char *path)
{
	u64 end = 0;
	u32 i;

	for (i = 0; i < trace->nr; i++)
		end = max(end, trace->bios[i].sector + trace->bios[i].sectors);
	if (end <= model->reserved_start)
		return;
	fprintf(stderr,
		"mover-model: %s goes to sector %llu, but the normal area ends at %llu: reserve less, or give a larger capacity_mb\n",
		path, (unsigned long long)end, (unsigned long long)model->reserved_start);
	exit(2);
}

void model_replay(struct model *model, const char *path)
{
	u64 start = 0;
	u32 i;

	replay.model = model;
	replay.trace = trace_load(path);
	if (!replay.trace)
		exit(2);
	check_end(model, replay.trace, path);
	replay.ways = calloc(replay.trace->nr + 1, sizeof(*replay.ways));
	if (!replay.ways)
		abort();
	ressd_route_init(&model->route, model->set.log_cost_us * 1000ULL);
	replay.threads = model_threads_start(model, issuer);
	model_host_thread(replay.threads->host, ways_thread);
	for (i = 0; i < replay.trace->nr_phases; i++) {
		if (!strcmp(replay.trace->phases[i].name, "run"))
			start = now_of(replay.threads);
		play_phase(i);
		if (!strcmp(replay.trace->phases[i].name, "setup"))
			write_back();
	}
	write_back();
	printf("%.2f s in all, from run on, everything written back\n",
	       (now_of(replay.threads) - start) / 1e9);
}
