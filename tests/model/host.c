// SPDX-License-Identifier: GPL-2.0-only
/* Bios, log worker and mover around the log protocol; see host.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include "host.h"
#include "ressd-record.h"

#define SETTLE_STEPS	200000

static const char *const fault_names[NR_FAULTS] = {
	[FAULT_NONE] = "none",
	[FAULT_NO_PREFLUSH] = "no-preflush",
	[FAULT_NO_FUA] = "no-fua",
	[FAULT_NO_FLUSH] = "no-flush",
	[FAULT_NOT_BUSY] = "not-busy",
	[FAULT_NO_KILL] = "no-kill",
	[FAULT_EARLY_KILL] = "early-kill",
	[FAULT_EARLY_SYNC] = "early-sync",
	[FAULT_EARLY_MOVED] = "early-moved",
	[FAULT_FUA_BESIDE_LOG] = "fua-beside-log",
	[FAULT_NO_RECOVERY_FLUSH] = "no-recovery-flush",
	[FAULT_SWEEP_IGNORES_DIRECT] = "sweep-ignores-direct",
	[FAULT_DIRECT_IGNORES_MOVES] = "direct-ignores-moves",
	[FAULT_NO_OPENING] = "no-opening",
	[FAULT_DROP_UNMAPS] = "drop-unmaps",
	[FAULT_NO_DATA_CRC] = "no-data-crc",
};

const char *fault_name(enum fault fault)
{
	return fault_names[fault];
}

void violation(struct host *host, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(host->why, sizeof(host->why), format, args);
	va_end(args);
	longjmp(host->failed, 1);
}

void host_trace(const struct host *host, const char *format, ...)
{
	va_list args;

	if (!host->trace)
		return;
	va_start(args, format);
	printf("%6llu ", (unsigned long long)host->oracle.now);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

static bool slot_busy(void *context, u32 slot)
{
	const struct host *host = context;

	return host->readers[slot] && host->fault != FAULT_NOT_BUSY;
}

void host_init(struct host *host, u64 seed)
{
	host->random.state = seed;
	disk_init(&host->disk, layout_sectors(&host->layout));
	oracle_init(&host->oracle, host->layout.normal_blocks * BLOCK_SECTORS);
	box_init(&host->box, &host->layout, slot_busy, host);
	host->readers = calloc(host->layout.geom.nr_segments, sizeof(host->readers[0]));
	if (!host->readers)
		abort();
	host_restart(host);
}

void host_free(struct host *host)
{
	disk_free(&host->disk);
	oracle_free(&host->oracle);
	box_free(&host->box);
	free(host->readers);
}

/* Contents are one number, repeated over the sector. */
static void fill(void *data, const u64 *ids, u32 nr)
{
	u64 *word = data;
	u32 i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < SECTOR_BYTES / sizeof(u64); j++)
			*word++ = ids[i];
}

static void check_sector(struct host *host, u32 sector, const u64 *words, u64 since,
			 const char *what)
{
	char allowed[600];
	u32 i;

	for (i = 1; i < SECTOR_BYTES / sizeof(u64); i++)
		if (words[i] != words[0])
			violation(host, "%s of sector %u returns what no write has written", what,
				  sector);
	if (oracle_may_read(&host->oracle, sector, words[0], since))
		return;
	oracle_explain(&host->oracle, sector, allowed, sizeof(allowed));
	violation(host, "%s of sector %u (block %u) returns %llx, since %llu, versions:%s", what,
		  sector, sector / BLOCK_SECTORS, (unsigned long long)words[0],
		  (unsigned long long)since, allowed);
}

void host_check_reads(struct host *host)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	u32 lbn, i;

	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		box_read(&host->box, &host->disk.view, lbn, data);
		for (i = 0; i < BLOCK_SECTORS; i++) {
			const u64 *words = &data[i * SECTOR_BYTES / sizeof(u64)];
			u32 sector = lbn * BLOCK_SECTORS + i;

			check_sector(host, sector, words, host->oracle.now + 1, "a read");
			oracle_settle(&host->oracle, sector, words[0]);
		}
	}
}

/* ---- bios ---- */

static const char *op_name(const struct op *op)
{
	static const char *const names[] = {
		[OP_WRITE] = "write", [OP_DISCARD] = "discard", [OP_READ] = "read",
		[OP_FLUSH] = "flush",
	};

	return names[op->kind];
}

static void trace_op(const struct host *host, const struct op *op, const char *what)
{
	host_trace(host, "op%ld %s%s sectors %u+%u (blocks %u.%u) ids %llx..: %s",
		   (long)(op - host->ops), op->fua ? "FUA " : "", op_name(op), op->first, op->nr,
		   op->first / BLOCK_SECTORS, op->first % BLOCK_SECTORS,
		   (unsigned long long)op->ids[0], what);
}

static u32 op_first_block(const struct op *op)
{
	return op->first / BLOCK_SECTORS;
}

static u32 op_nr_blocks(const struct op *op)
{
	return (op->first + op->nr - 1) / BLOCK_SECTORS - op_first_block(op) + 1;
}

static bool op_is_partial(const struct op *op)
{
	return op->first % BLOCK_SECTORS || op->nr % BLOCK_SECTORS;
}

static void finish_write(struct host *host, struct op *op)
{
	trace_op(host, op, "done");
	oracle_complete(&host->oracle, op->first, op->nr, op->started, op->fua);
	op->state = OP_FREE;
	host->fsync = random_once_in(&host->random, 6);
}

/* The whole write is in the log now. */
static void accepted(struct host *host, struct op *op)
{
	struct ressd_log *log = &host->box.log;

	if (op->fua) {
		op->ticket = ressd_log_sync(log);
		op->state = OP_SYNC;
	} else if (host->writethrough) {
		ressd_log_kick(log);
		op->state = OP_RECORD;
	} else {
		finish_write(host, op);
	}
}

static bool is_dirty(const struct host *host, u32 lbn)
{
	const struct ressd_map *map = &host->box.log.map;
	const struct ressd_node *node = ressd_map_find(map, lbn);

	return node && !ressd_map_is_clean(map, ressd_map_block(map, node));
}

static bool mover_overlaps(const struct host *host, const struct op *op)
{
	u32 i;

	for (i = 0; i < host->mover.nr; i++)
		if (host->mover.moves[i].lbn - op_first_block(op) < op_nr_blocks(op))
			return true;
	return false;
}

/* Sends a write or discard, or what the log has not accepted of it, to the normal area. */
static void send_direct(struct host *host, struct op *op)
{
	u64 data[MAX_OP_SECTORS * SECTOR_BYTES / sizeof(u64)];
	struct ressd_log *log = &host->box.log;
	u32 lbn = op_first_block(op), nr = op_nr_blocks(op), i;
	u32 skip = op->accepted * BLOCK_SECTORS;

	if (mover_overlaps(host, op) && host->fault != FAULT_DIRECT_IGNORES_MOVES) {
		op->state = OP_MOVES;
		return;
	}
	op->tracked = false;
	for (i = op->accepted; i < nr; i++) {
		bool dirty = is_dirty(host, lbn + i);

		op->tracked |= dirty;
		if (!dirty || host->fault == FAULT_EARLY_KILL)
			ressd_log_kill(log, lbn + i, 1);
	}
	fill(data, op->ids, op->nr);
	op->write = disk_submit(&host->disk, op->first + skip, op->nr - skip,
				(u8 *)data + skip * SECTOR_BYTES);
	op->sent = ++host->time;
	op->state = OP_DEVICE;
	trace_op(host, op, op->tracked ? "sent directly, tracked" : "sent directly");
}

static void direct_done(struct host *host, struct op *op)
{
	struct ressd_log *log = &host->box.log;
	bool fua = op->fua && host->fault == FAULT_FUA_BESIDE_LOG;

	trace_op(host, op, "is on the normal area");
	disk_complete(&host->disk, op->write, fua);
	if (op->tracked && host->fault != FAULT_NO_KILL)
		ressd_log_kill(log, op_first_block(op) + op->accepted,
			       op_nr_blocks(op) - op->accepted);
	if (op->fua && !fua) {
		op->ticket = ressd_log_sync(log);
		op->state = OP_SYNC;
	} else {
		finish_write(host, op);
	}
}

static void no_room(struct host *host, struct op *op, int ret)
{
	if (ret == -ENOSPC && !host->wait_if_full)
		send_direct(host, op);
	else
		op->state = OP_SPACE;
}

static void write_small(struct host *host, struct op *op)
{
	struct ressd_place place;
	int ret;

	while (op->accepted < op_nr_blocks(op)) {
		ret = ressd_log_accept(&host->box.log, op_first_block(op) + op->accepted, &place);
		if (ret) {
			no_room(host, op, ret);
			return;
		}
		fill(place.data, &op->ids[op->accepted * BLOCK_SECTORS], BLOCK_SECTORS);
		op->record = place.seq;
		op->accepted++;
		trace_op(host, op, "one block accepted by the log");
	}
	accepted(host, op);
}

/* A piece of a dirty block: the log gets the block as it is with the piece in it. */
static void write_merged(struct host *host, struct op *op)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	u32 lbn = op_first_block(op);
	struct ressd_place place;
	int ret;

	box_read(&host->box, &host->disk.view, lbn, data);
	ret = ressd_log_accept(&host->box.log, lbn, &place);
	if (ret) {
		op->state = OP_SPACE;
		return;
	}
	fill((u8 *)data + op->first % BLOCK_SECTORS * SECTOR_BYTES, op->ids, op->nr);
	memcpy(place.data, data, RESSD_BLOCK_SIZE);
	op->record = place.seq;
	trace_op(host, op, "merged into the log");
	accepted(host, op);
}

static void route_write(struct host *host, struct op *op)
{
	if (op_is_partial(op) && is_dirty(host, op_first_block(op)))
		write_merged(host, op);
	else if (op->kind == OP_WRITE && op->small && !op_is_partial(op) && !host->draining)
		write_small(host, op);
	else
		send_direct(host, op);
}

/* Those that waited try again, from the beginning. */
static void retry(struct host *host)
{
	u32 i;

	for (i = 0; i < MAX_OPS; i++) {
		struct op *op = &host->ops[i];

		if (op->state == OP_SPACE || (op->state == OP_MOVES && !host->mover.nr))
			route_write(host, op);
	}
}

static void start_read(struct host *host, struct op *op)
{
	const struct ressd_map *map = &host->box.log.map;
	const struct ressd_node *node = ressd_map_find(map, op_first_block(op));

	op->state = OP_READING;
	op->from_log = is_dirty(host, op_first_block(op));
	if (op->from_log) {
		op->block = ressd_map_block(map, node);
		if (ressd_log_data(&host->box.log, op->block)) {
			op->state = OP_FREE;	/* from RAM; host_check_reads() looks there */
			return;
		}
		host->readers[ressd_geom_slot(&host->layout.geom, op->block)]++;
	}
	oracle_pin(&host->oracle, op->first, op->nr, true);
}

static void read_done(struct host *host, struct op *op)
{
	u64 data[BLOCK_SECTORS * SECTOR_BYTES / sizeof(u64)];
	u32 i, from = op->first;

	if (op->from_log) {
		host->readers[ressd_geom_slot(&host->layout.geom, op->block)]--;
		from = layout_log_sector(&host->layout, op->block);
	}
	disk_read(&host->disk, from, op->nr, data);
	for (i = 0; i < op->nr; i++)
		check_sector(host, op->first + i, &data[i * SECTOR_BYTES / sizeof(u64)],
			     op->started, "a read in flight");
	oracle_pin(&host->oracle, op->first, op->nr, false);
	op->state = OP_FREE;
	retry(host);		/* the segment may have been busy only by this read */
}

static bool block_in_use(const struct host *host, const struct op *op)
{
	const struct op *other;

	for (other = host->ops; other < host->ops + MAX_OPS; other++)
		if (other->state != OP_FREE && other->kind != OP_FLUSH &&
		    other->kind != OP_READ && other != op &&
		    op_first_block(op) < op_first_block(other) + op_nr_blocks(other) &&
		    op_first_block(other) < op_first_block(op) + op_nr_blocks(op))
			return true;
	return false;
}

/* The first block of a direct write that the disk takes its time for; ~0U: none. */
static u32 slow_block(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_DEVICE && op->patience)
			return op_first_block(op);
	return ~0U;
}

static void choose_place(struct host *host, struct op *op)
{
	struct random *random = &host->random;
	u32 blocks = host->layout.normal_blocks, nr;

	op->small = !random_once_in(random, 4);
	nr = 1 + random_below(random, op->small ? 2 : 4);
	if (random_below(random, 4))
		blocks = host->hot_blocks;
	op->first = random_below(random, blocks - nr + 1) * BLOCK_SECTORS;
	op->nr = nr * BLOCK_SECTORS;
	if (host->overlap && slow_block(host) != ~0U && random_once_in(random, 4)) {
		op->first = slow_block(host) * BLOCK_SECTORS;
		op->nr = BLOCK_SECTORS;
		op->small = true;
	}
	if (op->kind == OP_READ) {
		op->nr = BLOCK_SECTORS;
	} else if (op->kind == OP_WRITE && random_once_in(random, 6)) {
		op->nr = 1 + random_below(random, BLOCK_SECTORS - 1);
		op->first += random_below(random, BLOCK_SECTORS - op->nr + 1);
	}
}

/* New contents, or those which a crash has taken: a file system repeats its journal. */
static void choose_contents(struct host *host, struct op *op)
{
	bool repeat = random_once_in(&host->random, 5);
	u32 i;

	for (i = 0; i < op->nr; i++) {
		u64 lost = host->oracle.cells[op->first + i].lost;

		if (op->kind == OP_DISCARD)
			op->ids[i] = 0;
		else
			op->ids[i] = repeat && lost ? lost : ++host->last_id;
	}
}

static void start_flush(struct host *host, struct op *op)
{
	host->fsync = false;
	op->started = ++host->oracle.now;
	op->kind = OP_FLUSH;
	op->ticket = ressd_log_sync(&host->box.log);
	op->state = OP_SYNC;
	host_trace(host, "op%ld flush: ticket %llu", (long)(op - host->ops),
		   (unsigned long long)op->ticket);
}

static void start_op(struct host *host)
{
	struct random *random = &host->random;
	u32 choice = random_below(random, 100);
	struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_FREE)
			break;
	if (op == host->ops + MAX_OPS)
		return;
	memset(op, 0, sizeof(*op));
	op->started = ++host->oracle.now;
	op->kind = choice < 10 ? OP_READ : choice < 15 ? OP_DISCARD : OP_WRITE;
	op->fua = op->kind == OP_WRITE && random_once_in(random, 10);
	if (random_once_in(random, 6))
		op->patience = random_below(random, 300);
	choose_place(host, op);
	if (host->fsync && host->overlap)
		host_check_reads(host);	/* settles what the flush will make durable */
	if (choice >= 92 || host->fsync || !oracle_has_room(&host->oracle, op->first, op->nr)) {
		start_flush(host, op);
		return;
	}
	if (op->kind == OP_READ) {
		start_read(host, op);
		return;
	}
	if (!host->overlap && block_in_use(host, op))
		return;
	choose_contents(host, op);
	op->started = oracle_submit(&host->oracle, op->first, op->nr, op->ids);
	route_write(host, op);
}

/* Ends one that is at the disk. */
static void end_op(struct host *host)
{
	u32 i, start = random_below(&host->random, MAX_OPS);

	for (i = 0; i < MAX_OPS; i++) {
		struct op *op = &host->ops[(start + i) % MAX_OPS];

		if ((op->state == OP_DEVICE || op->state == OP_READING) && op->patience) {
			op->patience--;
			continue;
		}
		if (op->state == OP_DEVICE) {
			direct_done(host, op);
			return;
		}
		if (op->state == OP_READING) {
			read_done(host, op);
			return;
		}
	}
}

/* ---- log worker ---- */

static void complete_waiters(struct host *host, bool wrote)
{
	const struct ressd_log *log = &host->box.log;
	bool early = wrote && host->fault == FAULT_EARLY_SYNC;
	struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++) {
		bool synced = op->state == OP_SYNC &&
			      (ressd_log_synced(log) >= op->ticket || early);

		if (synced && op->kind == OP_FLUSH) {
			host_trace(host, "op%ld flush: done", (long)(op - host->ops));
			oracle_flushed(&host->oracle, op->started);
			op->state = OP_FREE;
		} else if (synced || (op->state == OP_RECORD && log->written_seq >= op->record)) {
			finish_write(host, op);
		}
	}
}

static void submit_record(struct host *host)
{
	struct ressd_io *io = &host->io;

	host->io_write = disk_submit(&host->disk, layout_log_sector(&host->layout, io->block),
				     io->nr_blocks * BLOCK_SECTORS, io->data);
	host->io_stage = IO_WRITING;
}

static void drop_unmaps(struct ressd_io *io)
{
	struct ressd_record_header *header = io->data;

	header->nr_unmaps = 0;
	ressd_record_seal(header);
}

static void trace_io(const struct host *host, const char *what)
{
	const struct ressd_io *io = &host->io;
	u32 i;

	if (!host->trace)
		return;
	if (io->kind == RESSD_IO_FLUSH) {
		host_trace(host, "log flush %s", what);
		return;
	}
	if (!io->record) {
		host_trace(host, "summary at %u + %u %s", io->block, io->nr_blocks, what);
		return;
	}
	host_trace(host, "log record %llu (segment %llu) of %u + %u at %u + %u%s%s, tail %llu %s",
		   (unsigned long long)io->record->seq,
		   (unsigned long long)io->record->segment_seq, io->record->nr_maps,
		   io->record->nr_unmaps, io->block, io->nr_blocks, io->preflush ? " PREFLUSH" : "",
		   io->fua ? " FUA" : "", (unsigned long long)io->record->tail_seq, what);
	for (i = 0; i < (u32)io->record->nr_maps + io->record->nr_unmaps; i++)
		printf("%s%u", i == 0 ? "       map " : i == io->record->nr_maps ? " unmap " : " ",
		       le32_to_cpu(((struct ressd_record_header *)io->data)->entries[i].block));
	printf("\n");
}

static void start_io(struct host *host)
{
	struct ressd_io *io = &host->io;

	if (!ressd_log_next(&host->box.log, io))
		return;
	if (io->kind == RESSD_IO_WRITE) {
		ressd_log_encode(&host->box.log, io);
		if (host->fault == FAULT_DROP_UNMAPS && io->record)
			drop_unmaps(io);
	}
	trace_io(host, "starts");
	if (io->kind == RESSD_IO_WRITE && !io->preflush) {
		submit_record(host);
		return;
	}
	host->io_mark = disk_flush_begin(&host->disk);
	host->io_stage = IO_FLUSHING;
}

static void io_done(struct host *host)
{
	trace_io(host, "done");
	host->io_stage = IO_IDLE;
	ressd_log_done(&host->box.log, &host->io, 0);
	complete_waiters(host, host->io.kind == RESSD_IO_WRITE);
	retry(host);
}

static void log_step(struct host *host)
{
	const struct ressd_io *io = &host->io;

	switch (host->io_stage) {
	case IO_IDLE:
		start_io(host);
		break;
	case IO_FLUSHING:
		if (host->fault != (io->kind == RESSD_IO_FLUSH ? FAULT_NO_FLUSH :
								FAULT_NO_PREFLUSH))
			disk_flush_end(&host->disk, host->io_mark);
		if (io->kind == RESSD_IO_FLUSH)
			io_done(host);
		else
			submit_record(host);
		break;
	case IO_WRITING:
		disk_complete(&host->disk, host->io_write,
			      io->fua && host->fault != FAULT_NO_FUA);
		io_done(host);
		break;
	}
}

/* ---- mover ---- */

static bool mover_is_wanted(struct host *host)
{
	const struct ressd_log *log = &host->box.log;
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_SPACE || op->state == OP_SYNC)
			return true;
	return host->draining || random_once_in(&host->random, 20) ||
	       ressd_log_free_blocks(log) < ressd_log_total_blocks(log) / 3;
}

static bool older_direct_writes(const struct host *host)
{
	const struct op *op;

	if (host->fault == FAULT_SWEEP_IGNORES_DIRECT)
		return false;
	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_DEVICE && op->sent <= host->mover.started)
			return true;
	return false;
}

static bool under_tracked_write(const struct host *host, u32 lbn)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_DEVICE && op->tracked &&
		    lbn - op_first_block(op) < op_nr_blocks(op))
			return true;
	return false;
}

static void pick_moves(struct host *host)
{
	struct mover *mover = &host->mover;
	const struct ressd_log *log = &host->box.log;
	u32 max = 1 + random_below(&host->random, MAX_MOVES);
	u32 nr = ressd_sweep_pick(&mover->sweep, log, mover->moves, max);
	u32 i;

	if (!nr) {
		mover->state = MOVER_IDLE;
		if (ressd_log_can_reclaim(log)) {
			mover->ticket = ressd_log_reclaim(&host->box.log);
			mover->state = MOVER_RECLAIM;
		}
		return;
	}
	for (i = 0; i < nr; i++)
		if (!under_tracked_write(host, mover->moves[i].lbn))
			mover->moves[mover->nr++] = mover->moves[i];
	for (i = 0; i < mover->nr; i++)
		host->readers[ressd_geom_slot(&host->layout.geom, mover->moves[i].block)]++;
	if (mover->nr)
		mover->state = MOVER_READ;
}

static void report_moved(struct host *host)
{
	u32 i;

	for (i = 0; i < host->mover.nr; i++) {
		const struct ressd_move *move = &host->mover.moves[i];
		bool current = ressd_log_moved(&host->box.log, move->block, move->lbn);

		host_trace(host, "moved log block %u to block %u%s", move->block, move->lbn,
			   current ? "" : ", not current any more");
	}
}

/* All blocks of the batch are read: checks them, and starts to write them home. */
static void read_moves(struct host *host)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	struct mover *mover = &host->mover;
	u32 i;

	for (i = 0; i < mover->nr; i++) {
		const struct ressd_move *move = &mover->moves[i];

		disk_read(&host->disk, layout_log_sector(&host->layout, move->block),
			  BLOCK_SECTORS, data);
		if (ressd_crc(data, RESSD_BLOCK_SIZE) != move->crc)
			violation(host, "log block %u of block %u has changed under the mover",
				  move->block, move->lbn);
		host->readers[ressd_geom_slot(&host->layout.geom, move->block)]--;
		host_trace(host, "moving log block %u to block %u", move->block, move->lbn);
		mover->writes[i] = disk_submit(&host->disk, move->lbn * BLOCK_SECTORS,
					       BLOCK_SECTORS, data);
	}
	mover->left = mover->nr;
	mover->state = MOVER_WRITE;
	retry(host);
	if (host->fault == FAULT_EARLY_MOVED)
		report_moved(host);
}

/* One of the batch's writes is done. */
static void write_moves(struct host *host)
{
	struct mover *mover = &host->mover;
	u32 i = random_below(&host->random, mover->left);

	disk_complete(&host->disk, mover->writes[i], false);
	mover->writes[i] = mover->writes[--mover->left];
	if (mover->left)
		return;
	if (host->fault != FAULT_EARLY_MOVED)
		report_moved(host);
	mover->nr = 0;
	mover->state = MOVER_PICK;
	if (random_once_in(&host->random, 6))
		mover->patience = random_below(&host->random, 100);
	retry(host);
}

static void mover_step(struct host *host)
{
	struct mover *mover = &host->mover;
	const struct ressd_log *log = &host->box.log;

	switch (mover->state) {
	case MOVER_IDLE:
		if (!mover_is_wanted(host))
			break;
		mover->record = ressd_sweep_start(&mover->sweep, log);
		mover->started = ++host->time;
		mover->state = MOVER_WAIT;
		break;
	case MOVER_WAIT:
		if (log->written_seq >= mover->record && !older_direct_writes(host))
			mover->state = MOVER_PICK;
		break;
	case MOVER_PICK:
		if (mover->patience)
			mover->patience--;
		else
			pick_moves(host);
		break;
	case MOVER_READ:
		read_moves(host);
		break;
	case MOVER_WRITE:
		write_moves(host);
		break;
	case MOVER_RECLAIM:
		if (ressd_log_synced(log) >= mover->ticket)
			mover->state = MOVER_IDLE;
		break;
	}
}

/* ---- all together ---- */

void host_restart(struct host *host)
{
	u32 slot;

	memset(host->ops, 0, sizeof(host->ops));
	memset(&host->mover, 0, sizeof(host->mover));
	host->io_stage = IO_IDLE;
	host->draining = false;
	for (slot = 0; slot < host->layout.geom.nr_segments; slot++)
		host->readers[slot] = 0;
	host_trace(host, "start, activation %llu", (unsigned long long)host->activation + 1);
	if (box_recover(&host->box, &host->disk.view, ++host->activation))
		violation(host, "recovery refuses: %s", host->box.error);
	if (host->fault != FAULT_NO_RECOVERY_FLUSH)
		disk_flush_end(&host->disk, disk_flush_begin(&host->disk));
	if (host->fault != FAULT_NO_OPENING && host->fault != FAULT_NO_RECOVERY_FLUSH)
		ressd_log_sync(&host->box.log);
	host->opening = true;
}

/* What core keeps twice must agree: tree, list of dying nodes, and all the counts. */
void host_check_log(struct host *host)
{
	const struct ressd_log *log = &host->box.log;
	u32 live[MAX_SLOTS] = { 0 };
	u32 mapped = 0, dirty = 0, dying = 0, sealed = 0, used = 0, i;
	const struct ressd_node *node, *last = NULL;

	for (node = ressd_map_first_from(&log->map, 0); node; node = ressd_map_next(node)) {
		u32 block = ressd_map_block(&log->map, node);

		if (++mapped > log->map.nr || (last && node->lbn <= last->lbn))
			violation(host, "the tree is broken at block %u", node->lbn);
		last = node;
		if (!ressd_map_is_clean(&log->map, block)) {
			dirty++;
			live[ressd_geom_slot(&log->geom, block)]++;
		}
	}
	list_for_each_entry(node, &log->unmaps, unmap)
		if (++dying > log->map.nr || node->lbn == RESSD_NO_BLOCK)
			violation(host, "the list of UNMAPs is broken");
	list_for_each_entry(node, &log->sealed_unmaps, unmap)
		sealed++;
	for (i = 0; i < log->map.nr; i++)
		used += log->map.nodes[i].lbn != RESSD_NO_BLOCK;
	if (mapped != log->map.nr_mapped || dirty != log->map.nr_dirty ||
	    dying != log->nr_unmaps || used != mapped + dying + sealed)
		violation(host, "%u mapped (%u counted), %u dirty (%u), %u dying (%u), %u in use",
			  mapped, log->map.nr_mapped, dirty, log->map.nr_dirty, dying,
			  log->nr_unmaps, used);
	for (i = 0; i < log->geom.nr_segments; i++)
		if (log->segments[i].live != live[i])
			violation(host, "segment slot %u has %u live blocks, but counts %u", i,
				  live[i], log->segments[i].live);
}

/* One event of whatever is under way. */
static void running_step(struct host *host, bool new_ops)
{
	u32 choice = random_below(&host->random, 100);

	if (choice < 30) {
		if (new_ops)
			start_op(host);
	} else if (choice < 55) {
		end_op(host);
	} else if (choice < 80) {
		log_step(host);
	} else if (choice < 96) {
		mover_step(host);
	} else if (choice < 98) {
		ressd_log_kick(&host->box.log);
	} else if (!host->draining) {
		ressd_log_rotate(&host->box.log);
	}
}

/* Until the sync that seals a recovery is done nothing is served, so nothing is decided yet. */
static void opening_step(struct host *host)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	u32 lbn, i;

	log_step(host);
	if (host->io_stage != IO_IDLE)
		return;
	host->opening = false;
	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		box_read(&host->box, &host->disk.view, lbn, data);
		for (i = 0; i < BLOCK_SECTORS; i++)
			oracle_crashed(&host->oracle, lbn * BLOCK_SECTORS + i,
				       data[i * SECTOR_BYTES / sizeof(u64)]);
	}
}

void host_step(struct host *host, bool new_ops)
{
	if (host->opening)
		opening_step(host);
	else
		running_step(host, new_ops);
}

static bool is_settled(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state != OP_FREE)
			return false;
	return host->io_stage == IO_IDLE && host->mover.state == MOVER_IDLE && !host->opening;
}

void host_settle(struct host *host)
{
	u32 steps;

	for (steps = 0; !is_settled(host); steps++) {
		if (steps == SETTLE_STEPS)
			violation(host, "something hangs: mover in state %u, %u free blocks",
				  host->mover.state, ressd_log_free_blocks(&host->box.log));
		host_step(host, false);
	}
}

void host_sync(struct host *host)
{
	host_settle(host);
	host->ops[0] = (struct op){ .kind = OP_FLUSH };
	start_flush(host, &host->ops[0]);
	host_settle(host);
}

static bool drained(const struct host *host)
{
	return ressd_log_is_drained(&host->box.log);
}

static void check_home(struct host *host)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	u32 lbn, i;

	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		disk_read(&host->disk, lbn * BLOCK_SECTORS, BLOCK_SECTORS, data);
		for (i = 0; i < BLOCK_SECTORS; i++)
			check_sector(host, lbn * BLOCK_SECTORS + i,
				     &data[i * SECTOR_BYTES / sizeof(u64)], host->oracle.now + 1,
				     "after a drain, a plain read");
	}
}

void host_drain(struct host *host)
{
	u32 steps;

	host_settle(host);
	host->draining = true;
	for (steps = 0; !drained(host) || !is_settled(host); steps++) {
		if (steps == SETTLE_STEPS)
			violation(host, "a drain hangs: %u dirty blocks",
				  host->box.log.map.nr_dirty);
		if (is_settled(host)) {
			ressd_log_rotate(&host->box.log);
			host->ops[0] = (struct op){ .kind = OP_FLUSH };
			start_flush(host, &host->ops[0]);
		}
		host_step(host, false);
	}
	check_home(host);
	host->draining = false;
}
