// SPDX-License-Identifier: GPL-2.0-only
/*
 * mover-model: what the choices of log and mover cost on an emulated drive, in userspace and in
 * virtual time, in seconds instead of the minutes of a guest.
 *
 *	mover-model PROFILE [key=value...] [then [key=value...]]...	a line of figures for each load
 *
 * The code of dm-ressd/core (log, map, sweep) and of the drive (tests/ssdsim) is what runs in the
 * kernel.  Around them is the simplest host there is: one request at a time, or as many direct ones
 * as depth= says; a mover that works when a writer has to wait for room (pace even); and nothing
 * that takes processor time.  A record is written before the next block is accepted, or with
 * records=2 when the next one is full as well: as in the kernel, whose writers are faster than the
 * drive.  With threads=1, or with a rate of writes in KB/s, writer, log and mover work beside one
 * another (model-threads.c), adaptive=1, open_units= and bypass=1 send writes past the log as the
 * target does, and how long writes wait is told as well; then all loads must be such.
 * With "threads=1 writethrough=1 apart=1" the log is that of RE: each write is appended at once and
 * alone, and the map of it is written to another place.
 * The word "then" begins another load, measured after the one before on the same drive;
 * keys behind it are for that one.  With install=1 the load is an installation of packages, with
 * flushes of its own.  With replay=FILE the load is a trace of an application
 * (tools/bench.sh --only apps --record-traces), routed as the target routes it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include "mover-model.h"
#include "ressd-summary.h"

#define MAX_LOADS	16U

static const struct {
	const char *key;
	size_t offset;
	unsigned int initial;
} keys[] = {
#define KEY(k, i) { #k, offsetof(struct settings, k), i }
	KEY(span_mb, 256), KEY(warm_mb, 32), KEY(total_mb, 96), KEY(write_kb, 4), KEY(fsync, 0),
	KEY(threshold, 50), KEY(batch, 128), KEY(visit, 0), KEY(fill, 0), KEY(segment, 0),
	KEY(align, 1), KEY(page, 0), KEY(bare, 0), KEY(adaptive, 0), KEY(log_cost_us, 0), KEY(drain, 0),
	KEY(burst_kb, 0), KEY(prime, 1), KEY(through, 0), KEY(whole_rounds, 0),
	KEY(fullest, 0), KEY(parts, 0), KEY(hot, 0), KEY(zipf, 0), KEY(flows, 0),
	KEY(install, 0),
	KEY(depth, 1), KEY(mover_depth, 1), KEY(seed, 0), KEY(log_discard, 0),
	KEY(records, 1), KEY(rewrite, 0),
	KEY(threads, 0), KEY(rate, 0), KEY(even, 1), KEY(bypass, 0), KEY(commit_ms, 100),
	KEY(trace, 0), KEY(keep, 1), KEY(reserved_mb, 0), KEY(reserved_kb, 0),
	KEY(offset, 0), KEY(host_ns, 0), KEY(small_kb, 8), KEY(open_units, 0),
	KEY(writethrough, 0), KEY(apart, 0),
};

u64 model_random_below(struct model *model, u64 below)
{
	model->random ^= model->random << 13;
	model->random ^= model->random >> 7;
	model->random ^= model->random << 17;
	return model->random % below;
}

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static bool never_busy(void *context, u32 slot)
{
	(void)context;
	(void)slot;
	return false;
}

/*
 * The log of RE has no headers: of each two blocks of our log, a header and the block behind it, it
 * has one, and a 16th of the reserved area for the map.  Returns the size that ours is to have then.
 */
static u64 set_map_apart(struct model *model, u64 reserved)
{
	u64 map = reserved / 16;

	model->map_start = model_drive_sectors(model->drive) - map;
	return 2 * (reserved - map);
}

static void make_log(struct model *model)
{
	static const u8 uuid[RESSD_UUID_SIZE] = { 1 };
	u64 reserved = (u64)model->set.reserved_mb * 2048 + model->set.reserved_kb * 2;
	struct ressd_log_setup setup = {
		.uuid = uuid, .activation = 1, .segment_busy = never_busy,
	};
	void *buffers[RESSD_RECORDS];
	char error[256];
	u32 i;

	if (!reserved)
		reserved = (u64)model->set.span_mb * 2048 / 8;
	model->reserved_start = model_drive_sectors(model->drive) - reserved;
	if (model->set.apart)
		reserved = set_map_apart(model, reserved);
	setup.normal_blocks = model->reserved_start / RESSD_BLOCK_SECTORS;
	if (ressd_geom_init(&setup.geom, reserved, model->set.segment * RESSD_BLOCK_SECTORS,
			    error, sizeof(error))) {
		fprintf(stderr, "mover-model: %s\n", error);
		exit(2);
	}
	setup.nodes = must(calloc(1, ressd_map_nodes_bytes(setup.geom.nr_blocks)));
	setup.clean = must(calloc(1, ressd_map_clean_bytes(setup.geom.nr_blocks)));
	setup.segments = must(calloc(setup.geom.nr_segments, sizeof(*setup.segments)));
	setup.summary = must(calloc(1, ressd_summary_bytes(&setup.geom)));
	for (i = 0; i < RESSD_RECORDS; i++)
		buffers[i] = must(calloc(RESSD_MAX_RECORD_BLOCKS, RESSD_BLOCK_SIZE));
	setup.buffers = buffers;
	ressd_log_init(&model->log, &setup);
	model->log.align_blocks = max(model->set.align, 1U);
	model->log.step_nodes = U32_MAX;	/* there is no lock to be held for long */
	if (model->set.visit) {
		model->log.page_blocks = model->set.page;
		model->log.unit_blocks = model->set.visit;
		model->log.unit_phase = (model->reserved_start + model->set.offset) /
			RESSD_BLOCK_SECTORS % model->set.visit;
	}
	if (model->set.visit && model->set.rewrite)
		model->log.page_buffer = must(calloc(model->set.page, RESSD_BLOCK_SIZE));
}

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

static void settle_ticket(struct model *model, u64 ticket)
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

/* As dm-ressd-discard.c, but all at once, and they are waited for. */
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
	settle_ticket(model, ressd_log_reclaim(&model->log));
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

/* All home, at the end of a load, or as much as a trial of the route asks for. */
static void drain(struct model *model, bool trial)
{
	settle_ticket(model, ressd_log_sync(&model->log));
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
		drain(model, true);
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
		settle_ticket(model, ressd_log_sync(&model->log));
		return;
	}
	model_drive_flush(model->drive);
	if (ressd_route_times_direct(&model->route))
		ressd_route_direct_done(&model->route, model_drive_now(model->drive) - start, 0);
}

#define PRIME		2654435761ULL

/* Rank by the inverse of the distribution, for a continuous variable; ranks lie anywhere. */
static u64 zipf_place(struct model *model, u64 places)
{
	const double power = 1 - model->set.zipf / 100.0;
	const double u = model_random_below(model, 1ULL << 32) / 4294967296.0;
	const u64 rank = pow(1 + u * (pow(places, power) - 1), 1 / power) - 1;

	return rank * PRIME % places;
}

static u64 flow_place(struct model *model, u64 places)
{
	const u64 turn = model->turn++, each = places / model->set.flows;

	return turn % model->set.flows * each + turn / model->set.flows % each;
}

static u64 next_place(struct model *model, u64 places)
{
	u64 fifth = places / 5;

	if (model->set.flows)
		return flow_place(model, places);
	if (model->set.zipf)
		return zipf_place(model, places);
	if (!model->set.hot)
		return model_random_below(model, places);
	if (model_random_below(model, 100) < model->set.hot)
		return model_random_below(model, fifth);
	return fifth + model_random_below(model, places - fifth);
}

/*
 * What dpkg writes, by a trace of an installation on ext4 (docs/notebook/probe-score.md): the files
 * of some packages one behind the other, a commit of the journal behind every sixth, and now and
 * then what that has logged of inodes and directories, which lie in one place.
 */
#define COMMIT_FILES	6U
#define COMMITS		100U	/* until the journal's blocks are written to their places ... */
#define METADATA	48U	/* ... in so many writes, ascending */
#define METADATA_BLOCKS	6144U	/* where these are: 24 MiB */
#define JOURNAL_WRITE	6U	/* blocks: its descriptor and what it describes */
#define JOURNAL_BLOCKS	8192U	/* of the journal, in the middle of the file system */
#define FILE_SIZES	5U	/* 4 to 64 KiB */
#define INSTALL_MB	128U	/* the least that it is spread over */

static struct model_write next_metadata(u64 turn)
{
	return (struct model_write) { .lbn = turn * METADATA_BLOCKS / METADATA, .nr = 4 };
}

static struct model_write install_write(struct model *model)
{
	const u64 blocks = (u64)model->set.span_mb * 256;
	const u64 commit_writes = COMMIT_FILES + 2, round = COMMITS * commit_writes;
	const u64 turn = model->turn++ % (round + METADATA), step = turn % commit_writes;
	struct model_write write = { .flush = step >= COMMIT_FILES };
	u64 *done = write.flush ? &model->journal : &model->files;
	u64 start = write.flush ? blocks / 2 : METADATA_BLOCKS;
	u64 most = write.flush ? JOURNAL_BLOCKS : blocks / 2 - METADATA_BLOCKS;

	if (turn >= round)
		return next_metadata(turn - round);
	write.nr = step < COMMIT_FILES ? 1U << model_random_below(model, FILE_SIZES) :
		   step == COMMIT_FILES ? JOURNAL_WRITE : 1;
	if (*done % most + write.nr > most)
		*done += most - *done % most;
	write.lbn = start + *done % most;
	*done += write.nr;
	return write;
}

struct model_write model_next_write(struct model *model)
{
	const u32 each = model->set.write_kb / 4;
	const u64 places = (u64)model->set.span_mb * 256 / each;

	if (model->set.install)
		return install_write(model);
	return (struct model_write) {
		.lbn = next_place(model, places) * each, .nr = each, .flush = model->set.fsync,
	};
}

static void write_some(struct model *model, u64 blocks)
{
	struct model_write write;
	u64 done;

	model->longest = 0;
	if ((model->set.threads || model->set.rate) && !model->set.bare) {
		model_threads_write(model, blocks);
		model_drive_flush(model->drive);
		return;
	}
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
		settle_ticket(model, ressd_log_sync(&model->log));
	model_drive_flush(model->drive);
}

/* What the target is used for at its best: writes after a pause, less than the log has room for. */
static void burst(struct model *model)
{
	u64 start;

	while (model->set.prime && ressd_log_can_prime(&model->log))
		settle_ticket(model, ressd_log_prime(&model->log));
	start = model_drive_now(model->drive);
	model->set.fsync = 0;
	model->through = model->set.through;
	write_some(model, model->set.burst_kb / 4);
	printf("%8.4f MB/s in the burst\n",
	       model->set.burst_kb * 1024e3 / (model_drive_now(model->drive) - start));
}

static int set_key(struct settings *set, const char *word)
{
	const char *value = strchr(word, '=');
	size_t i;

	for (i = 0; value && i < ARRAY_SIZE(keys); i++) {
		if (strncmp(word, keys[i].key, value - word) || keys[i].key[value - word])
			continue;
		*(unsigned int *)((char *)set + keys[i].offset) = strtoul(value + 1, NULL, 10);
		return 0;
	}
	return -EINVAL;
}

/* The words of the command line; returns the number of loads, each with all that was set so far. */
static u32 read_words(struct model *model, struct settings *loads, int argc, char **argv)
{
	u32 nr = 1;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "then")) {
			if (nr == MAX_LOADS) {
				fprintf(stderr, "mover-model: %u loads at most\n", MAX_LOADS);
				exit(2);
			}
			loads[nr] = loads[nr - 1];
			nr++;
		} else if (!strncmp(argv[i], "replay=", 7)) {
			model->replay = argv[i] + 7;
		} else if (set_key(&loads[nr - 1], argv[i]) &&
			   model_drive_set(model->drive, argv[i])) {
			exit(2);
		}
	}
	return nr;
}

static void measure(struct model *model)
{
	const struct ressd_route_case *now;
	u64 blocks = (u64)model->set.total_mb * 256, writes = blocks * 4 / model->set.write_kb;
	u64 start = model_drive_now(model->drive), erases = model_drive_erases(model->drive);

	model->moved = 0;
	model->holes = 0;
	model->direct = 0;
	model->longest = 0;
	write_some(model, blocks);
	if (model->set.drain && model->threads && !model->set.bare)
		model_threads_drain(model);
	else if (model->set.drain && !model->set.bare)
		drain(model, false);
	now = ressd_route_case(&model->route);
	if (model->set.adaptive || model->set.bypass)
		printf("direct %llu of %llu, ns: direct %llu log %llu move %llu\n",
		       (unsigned long long)model->direct,
		       (unsigned long long)blocks,
		       (unsigned long long)ressd_route_ns(&now->direct),
		       (unsigned long long)ressd_route_ns(&now->log),
		       (unsigned long long)ressd_route_ns(&model->route.move));
	printf("%8.4f MB/s  %9.1f us a write  %7llu erases  %llu moved  %llu holes  longest %llu ms\n",
	       blocks * 4096e3 /
	       (model_drive_now(model->drive) - start),
	       (double)(model_drive_now(model->drive) - start) / writes / 1e3,
	       (unsigned long long)(model_drive_erases(model->drive) - erases),
	       (unsigned long long)model->moved, (unsigned long long)model->holes,
	       (unsigned long long)model->longest / 1000000);
	if (model->set.burst_kb)
		burst(model);
}

int main(int argc, char **argv)
{
	struct model *model = must(calloc(1, sizeof(*model)));
	static struct settings loads[MAX_LOADS];
	u32 nr, i;
	size_t k;

	if (argc < 2) {
		fprintf(stderr, "how to call: mover-model PROFILE [key=value...] [then ...]\n");
		return 2;
	}
	for (k = 0; k < ARRAY_SIZE(keys); k++)
		*(unsigned int *)((char *)loads + keys[k].offset) = keys[k].initial;
	model->drive = model_drive_create(argv[1]);
	if (!model->drive)
		return 2;
	nr = read_words(model, loads, argc - 2, argv + 2);
	for (i = 0; i < nr; i++)
		if (loads[i].install && loads[i].span_mb < INSTALL_MB) {
			fprintf(stderr, "mover-model: install=1 needs span_mb=%u or more\n",
				INSTALL_MB);
			return 2;
		}
	if (model_drive_start(model->drive))
		return 2;
	model->set = loads[0];
	model_drive_host(model->drive, model->set.offset, model->set.host_ns);
	model->random = 88172645463325252ULL + model->set.seed;
	make_log(model);
	if (model->replay) {
		model_replay(model, model->replay);
		return 0;
	}
	ressd_route_init(&model->route, model->set.log_cost_us * 1000ULL);
	write_some(model, (u64)model->set.warm_mb * 256);
	for (i = 0; i < nr; i++) {
		/* As the message set does it. */
		if (loads[i].adaptive && (!model->set.adaptive ||
					  loads[i].log_cost_us != model->set.log_cost_us))
			ressd_route_init(&model->route, loads[i].log_cost_us * 1000ULL);
		model->set = loads[i];
		measure(model);
	}
	return 0;
}
