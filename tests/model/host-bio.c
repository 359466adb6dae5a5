// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes: where they go and when they complete, as dm-ressd-io.c, -direct.c, -end.c and -merge.c
 * do it; and the beginning and end of every bio.
 *
 * A write that has to be cut becomes its first piece; the remainder would be a bio like any other.
 */
#include <string.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include "host.h"
#include "ressd-record.h"

static void trace_op(const struct host *host, const struct op *op, const char *what)
{
	static const char *const names[] = {
		[EVENT_WRITE] = "write", [EVENT_DISCARD] = "discard", [EVENT_READ] = "read",
		[EVENT_FLUSH] = "flush",
	};

	host_trace(host, "op%ld %s%s sectors %u+%u (blocks %u.%u) ids %llx..: %s",
		   (long)(op - host->ops), op->fua ? "FUA " : "", names[op->kind], op->first,
		   op->nr, op->first / BLOCK_SECTORS, op->first % BLOCK_SECTORS,
		   (unsigned long long)op->ids[0], what);
}

u32 op_first_block(const struct op *op)
{
	return op->first / BLOCK_SECTORS;
}

u32 op_nr_blocks(const struct op *op)
{
	return (op->first + op->nr - 1) / BLOCK_SECTORS - op_first_block(op) + 1;
}

static bool op_is_partial(const struct op *op)
{
	return op->first % BLOCK_SECTORS || op->nr % BLOCK_SECTORS;
}

/* Contents are one number, repeated over the sector. */
static void fill(void *data, const u64 *ids, u32 nr)
{
	u64 *word = data;
	u32 i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < SECTOR_WORDS; j++)
			*word++ = ids[i];
}

static void finish_write(struct host *host, struct op *op)
{
	trace_op(host, op, "done");
	oracle_complete(&host->oracle, op->first, op->nr, op->started, op->fua);
	/* Not what a flush has taken that has failed since: dm sends the data all the same. */
	if (op->preflushed && op->flush_errors == host->flush_errors)
		oracle_flushed(&host->oracle, op->preflushed);
	op->state = OP_FREE;
	host->finished++;
}

static void fail_write(struct host *host, struct op *op)
{
	trace_op(host, op, "fails");
	oracle_fail(&host->oracle, op->first, op->nr, op->started);
	op->state = OP_FREE;
}

bool host_is_dirty(const struct host *host, u32 lbn)
{
	const struct ressd_map *map = &host->box.log.map;
	const struct ressd_node *node;

	/* As the module does, without the lock. */
	if (!ressd_regions_may_hold(&map->regions, lbn, lbn))
		return false;
	node = ressd_map_find(map, lbn);
	return node && !ressd_map_is_clean(map, ressd_map_block(map, node));
}

/* ---- direct writes and discards ---- */

void host_send(struct host *host, struct op *op)
{
	u64 data[MAX_OP_SECTORS * SECTOR_WORDS];

	if (op->kind == EVENT_READ) {
		op->state = OP_READING;
		return;
	}
	fill(data, op->ids, op->nr);
	op->write = disk_submit(&host->disk, op->first, op->nr, data);
	op->state = OP_DEVICE;
	trace_op(host, op, op->tracked ? "sent directly, tracked" : "sent directly");
}

/* To the normal area. */
static void start_direct(struct host *host, struct op *op)
{
	op->unmaps_pending = ressd_log_unmaps_pending(&host->box.log);
	op->sent = ++host->time;
	host_dispatch(host, op);
	if (op->state != OP_HELD)
		return;
	trace_op(host, op, op->tracked ? "held, tracked" : "held");
	if (host->fault == FAULT_HELD_IS_DONE)
		oracle_complete(&host->oracle, op->first, op->nr, op->started, op->fua);
}

static bool waits_for_moves(const struct host *host, struct op *op)
{
	if (!host_mover_overlaps(host, op) || host->fault == FAULT_DIRECT_IGNORES_MOVES)
		return false;
	op->state = OP_MOVES;
	return true;
}

/* Whole blocks: what is clean dies now, what is dirty when the write is done. */
static void write_direct(struct host *host, struct op *op)
{
	struct ressd_log *log = &host->box.log;
	u32 lbn = op_first_block(op), nr = op_nr_blocks(op), i;

	if (waits_for_moves(host, op))
		return;
	op->tracked = false;
	for (i = 0; i < nr; i++) {
		bool dirty = host_is_dirty(host, lbn + i);

		op->tracked |= dirty;
		if (!dirty || host->fault == FAULT_EARLY_KILL)
			ressd_log_kill(log, lbn + i, 1);
	}
	start_direct(host, op);
}

static void direct_failed(struct host *host, struct op *op, u64 number)
{
	disk_fail(&host->disk, op->write, number);
	if (op->tracked && host->fault == FAULT_FAILED_WRITE_KILLS)
		ressd_log_kill(&host->box.log, op_first_block(op), op_nr_blocks(op));
	fail_write(host, op);
}

/* After a failed flush no write is taken, and none that is in flight may succeed. */
static bool refuses_writes(const struct host *host)
{
	return host->box.log.mode >= RESSD_MODE_RO;
}

/* A direct FUA write is on the device, and has killed what it superseded. */
static bool must_sync(const struct host *host, const struct op *op)
{
	if (host->fault == FAULT_FUA_BESIDE_LOG)
		return false;
	if (host->fault == FAULT_FUA_ASKS_EARLY)
		return op->unmaps_pending || op->tracked;
	return ressd_log_unmaps_pending(&host->box.log);
}

static void direct_done(struct host *host, struct op *op)
{
	struct ressd_log *log = &host->box.log;
	bool fua = op->fua && host->fault != FAULT_FUA_NOT_SENT;

	trace_op(host, op, "is on the normal area");
	disk_complete(&host->disk, op->write, fua);
	if (refuses_writes(host) && host->fault != FAULT_DIRECT_BESIDE_FLUSH) {
		fail_write(host, op);
		return;
	}
	if (op->tracked && host->fault != FAULT_NO_KILL)
		ressd_log_kill(log, op_first_block(op), op_nr_blocks(op));
	if (!op->fua || !must_sync(host, op)) {
		finish_write(host, op);
	} else if (!host_log_works(host)) {
		fail_write(host, op);
	} else {
		op->ticket = ressd_log_sync(log);
		op->state = OP_SYNC;
	}
}

/* ---- covered blocks ---- */

/* Does the log hold a covered block that the write touches? */
static bool is_held(const struct host *host, const struct op *op)
{
	return host_touches_cover(host, op) &&
	       ressd_cover_is_dirty(&host->box.log, op_first_block(op), op_nr_blocks(op));
}

/* Is it one that must go to the log, full or not? */
static bool must_be_logged(const struct host *host, const struct op *op)
{
	return host->box.log.covered && is_held(host, op);
}

static bool log_takes_writes(const struct host *host)
{
	return !host->draining && host_log_works(host);
}

/* Is it a small write of whole blocks, by its size and place? */
static bool goes_to_log(const struct host *host, const struct op *op)
{
	return op->kind == EVENT_WRITE && op->small && !op_is_partial(op) &&
	       log_takes_writes(host);
}

/* Covers are under way, or what was is to be done once more; of small writes core says so. */
static bool waits_for_cover(const struct host *host, struct op *op)
{
	if (!host_touches_cover(host, op) ||
	    (host->cover.busy ? goes_to_log(host, op) :
				host->box.log.covered || !is_held(host, op)))
		return false;
	op->state = OP_MOVES;
	return true;
}

/* ---- writes to the log ---- */

/* The whole write is in the log now. */
static void accepted(struct host *host, struct op *op)
{
	struct ressd_log *log = &host->box.log;

	if (op->fua) {
		op->ticket = ressd_log_sync(log);
		op->state = OP_SYNC;
	} else if (host->config.writethrough) {
		ressd_log_write_soon(log);
		op->state = OP_RECORD;
	} else {
		finish_write(host, op);
	}
}

/* What mends a damaged copy takes the room that its carry would take. */
static int accept(struct host *host, u32 lbn, struct ressd_place *place)
{
	if (host_cover_mends(host, lbn))
		return ressd_log_mend(&host->box.log, lbn, place);
	return ressd_log_accept(&host->box.log, lbn, place);
}

static void write_small(struct host *host, struct op *op)
{
	struct ressd_place place;
	int ret;

	while (op->accepted < op_nr_blocks(op)) {
		ret = accept(host, op_first_block(op) + op->accepted, &place);
		if (ret == -EAGAIN ||
		    (ret == -ENOSPC && (host->config.wait || must_be_logged(host, op)))) {
			op->state = OP_SPACE;
			return;
		}
		if (ret) {
			/* As a whole: it also supersedes what the log has taken of it. */
			write_direct(host, op);
			return;
		}
		fill(place.data, &op->ids[op->accepted * BLOCK_SECTORS], BLOCK_SECTORS);
		place.entry->crc = cpu_to_le32(ressd_crc(place.data, RESSD_BLOCK_SIZE));
		op->record = place.seq;
		op->accepted++;
		trace_op(host, op, "one block accepted by the log");
	}
	accepted(host, op);
}

/* The log gets the block, whose copy is in @data, with the piece in it. */
static void merge(struct host *host, struct op *op, const void *data)
{
	struct ressd_place place;
	int ret;

	ret = ressd_log_accept(&host->box.log, op_first_block(op), &place);
	if (ret == -EIO) {
		fail_write(host, op);
		return;
	}
	if (ret) {
		op->state = OP_SPACE;
		return;
	}
	memcpy(place.data, data, RESSD_BLOCK_SIZE);
	fill((u8 *)place.data + op->first % BLOCK_SECTORS * SECTOR_BYTES, op->ids, op->nr);
	op->record = place.seq;
	trace_op(host, op, "merged into the log");
	accepted(host, op);
}

/* A piece of a dirty block: the log's copy is in RAM, or it is read first. */
static void write_merged(struct host *host, struct op *op)
{
	const struct ressd_map *map = &host->box.log.map;
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	const void *ram;

	op->block = ressd_map_block(map, ressd_map_find(map, op_first_block(op)));
	ram = ressd_log_data(&host->box.log, op->block);
	if (ram) {
		memcpy(data, ram, sizeof(data));
		merge(host, op, data);
		return;
	}
	host->readers[ressd_geom_slot(&host->layout.geom, op->block)]++;
	op->state = OP_MERGING;
	trace_op(host, op, "reads the log's copy");
}

/* What does not consist of whole blocks: within one block, or in blocks that are not mapped. */
static void write_piece(struct host *host, struct op *op)
{
	if (op_nr_blocks(op) == 1 && host_is_dirty(host, op_first_block(op))) {
		write_merged(host, op);
		return;
	}
	if (waits_for_moves(host, op))
		return;
	ressd_log_kill(&host->box.log, op_first_block(op), op_nr_blocks(op));
	op->tracked = false;
	start_direct(host, op);
}

static void route_write(struct host *host, struct op *op)
{
	bool logged = must_be_logged(host, op);

	if (refuses_writes(host) ||
	    (is_held(host, op) && !host_log_works(host)))
		fail_write(host, op);
	else if (waits_for_cover(host, op))
		return;
	else if (logged && op->kind == EVENT_DISCARD && host->fault == FAULT_COVER_DISCARDED)
		write_direct(host, op);
	else if (logged && op->kind == EVENT_DISCARD)
		fail_write(host, op);	/* it may as well do nothing */
	else if (op_is_partial(op))
		write_piece(host, op);
	else if (logged || goes_to_log(host, op))
		write_small(host, op);
	else
		write_direct(host, op);
}

/* The log's copy has been read: it is merged if it is still the newest version. */
static void merge_read(struct host *host, struct op *op)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	const struct ressd_map *map = &host->box.log.map;
	const struct ressd_node *node = ressd_map_find(map, op_first_block(op));

	if (!host_is_dirty(host, op_first_block(op)) || ressd_map_block(map, node) != op->block) {
		route_write(host, op);
		return;
	}
	disk_read(&host->disk, layout_log_sector(&host->layout, op->block), BLOCK_SECTORS, data);
	if (ressd_crc(data, RESSD_BLOCK_SIZE) == node->crc) {
		merge(host, op, data);
		return;
	}
	if (host->box.log.mode < RESSD_MODE_RO || !host->disk.lossy)
		violation(host, "log block %u has changed under a merge", op->block);
	fail_write(host, op);
}

void host_retry(struct host *host)
{
	struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_SPACE || (op->state == OP_MOVES && !host->mover.nr))
			route_write(host, op);
}

static void merge_ends(struct host *host, struct op *op, bool error)
{
	host->readers[ressd_geom_slot(&host->layout.geom, op->block)]--;
	if (error)
		fail_write(host, op);
	else
		merge_read(host, op);
	host_retry(host);	/* the segment may have been busy only by this read */
}

/* ---- all kinds, from the first step to the last ---- */

static bool block_in_use(const struct host *host, const struct op *op)
{
	const struct op *other;

	for (other = host->ops; other < host->ops + MAX_OPS; other++)
		if (other->state != OP_FREE && other != op &&
		    (other->kind == EVENT_WRITE || other->kind == EVENT_DISCARD) &&
		    op_first_block(op) < op_first_block(other) + op_nr_blocks(other) &&
		    op_first_block(other) < op_first_block(op) + op_nr_blocks(op))
			return true;
	return false;
}

/* New contents, or those which a crash has taken: a file system repeats its journal. */
static void choose_contents(struct host *host, struct op *op)
{
	u32 i;

	for (i = 0; i < op->nr; i++) {
		u64 lost = host->oracle.cells[op->first + i].lost;

		if (op->kind == EVENT_DISCARD)
			op->ids[i] = 0;
		else
			op->ids[i] = op->repeat && lost ? lost : ++host->last_id;
	}
}

/*
 * A write that touches mapped blocks or those of the mover's batch, but is not made of whole ones,
 * is cut at block boundaries.
 */
static void cut_write(const struct host *host, struct op *op)
{
	const struct ressd_node *node =
		ressd_map_first_from(&host->box.log.map, op_first_block(op));
	u32 head = op->first % BLOCK_SECTORS;
	u32 end = host->config.cover_blocks * BLOCK_SECTORS;

	if (op->first < end)
		op->nr = min_t(u32, op->nr, end - op->first);
	if (!op_is_partial(op) ||
	    ((!node || node->lbn - op_first_block(op) >= op_nr_blocks(op)) &&
	     !host_mover_overlaps(host, op) && !host_touches_cover(host, op)))
		return;
	if (head)
		op->nr = min_t(u32, op->nr, BLOCK_SECTORS - head);
	else if (op->nr > BLOCK_SECTORS)
		op->nr -= op->nr % BLOCK_SECTORS;
}

/*
 * A write with FUA does not show whether dm has sent a flush before it, nor that this has failed;
 * so it is refused while that may be.  Without FUA such data is like any other.
 */
static bool refuses_fua(const struct host *host)
{
	if (host->fault == FAULT_FUA_OF_A_FAILED_FLUSH)
		return false;
	return host_flushes_fail(host) || (host->refused_flushes != host->answered_flushes &&
				      host->fault != FAULT_FUA_BELIEVES_RECOVER);
}

static void start_write(struct host *host, struct op *op)
{
	if (op->fua && refuses_fua(host)) {
		trace_op(host, op, "refused");
		return;
	}
	cut_write(host, op);
	if (!oracle_has_room(&host->oracle, op->first, op->nr) ||
	    (!host->config.overlap && block_in_use(host, op)))
		return;
	choose_contents(host, op);
	op->started = oracle_submit(&host->oracle, op->first, op->nr, op->ids);
	route_write(host, op);
}

void host_start_op(struct host *host, const struct event *event)
{
	struct op *op = &host->ops[event->slot % MAX_OPS];

	if (op->state != OP_FREE)
		return;
	*op = (struct op) {
		.kind = event->preflush ? EVENT_FLUSH : event->kind, .has_data = event->preflush,
		.small = event->small, .fua = event->fua, .slow = event->slow,
		.repeat = event->repeat, .first = event->first, .nr = event->nr,
		.started = ++host->oracle.now,
	};
	if (op->kind == EVENT_FLUSH)
		host_start_flush(host, op);
	else if (op->kind == EVENT_READ)
		host_start_read(host, op);
	else
		start_write(host, op);
}

/* The flush of the write has ended, well or not: dm_io_complete() sends the data. */
static void send_data(struct host *host, struct op *op)
{
	op->kind = EVENT_WRITE;
	op->state = OP_FREE;
	op->preflushed = op->started;
	start_write(host, op);
}

void host_end_op(struct host *host, struct op *op, bool error, u64 number)
{
	if (op->state == OP_PREFLUSHED) {
		send_data(host, op);
	} else if (op->state == OP_MERGING) {
		merge_ends(host, op, error);
	} else if (op->state == OP_READING) {
		host_dispatch_ended(host, op);
		host_end_read(host, op, error);
	} else if (op->state == OP_DEVICE) {
		host_dispatch_ended(host, op);
		if (error)
			direct_failed(host, op, number);
		else
			direct_done(host, op);
	} else if (op->state == OP_FLUSHING) {
		host_end_flush(host, op, error, number);
	}
}

void host_complete_waiters(struct host *host, bool wrote)
{
	const struct ressd_log *log = &host->box.log;
	bool early = wrote && host->fault == FAULT_EARLY_SYNC;
	struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++) {
		bool synced = op->state == OP_SYNC &&
			      (ressd_log_synced(log) >= op->ticket || early);
		bool waits = op->state == OP_SYNC || op->state == OP_RECORD;

		if (synced && op->kind == EVENT_FLUSH) {
			host_finish_flush(host, op, false);
		} else if (synced || (op->state == OP_RECORD && log->written_seq >= op->record)) {
			finish_write(host, op);
		} else if (waits && !host_log_works(host)) {
			if (op->kind == EVENT_FLUSH)
				host_finish_flush(host, op, true);
			else
				fail_write(host, op);
		}
	}
}
