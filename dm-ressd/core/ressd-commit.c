// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of the log is written, when, and with which flags: sealing of records,
 * the commit cycle, summaries, and what the end of each I/O means.  ressd-log.h
 * states the contract and the invariants.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-log-private.h"
#include "ressd-page.h"
#include "ressd-record.h"
#include "ressd-repair.h"
#include "ressd-summary.h"

/*
 * A segment without a summary has hardly more records: recovery has to read
 * each.
 */
#define MAX_UNSUMMARISED	8U

/* The first @nr_unmaps of the list leave with the open record. */
static void seal_unmaps(struct ressd_log *log, u32 nr_unmaps)
{
	struct ressd_record *open = &log->records[log->open];
	struct ressd_record_header *header = open->buffer;
	u32 i;

	for (i = 0; i < nr_unmaps; i++) {
		struct ressd_node *node =
			ressd_dying_first(&log->map, &log->unmaps);

		/*
		 * Until the record is written the node remembers whose the
		 * block was.
		 */
		ressd_dying_remove(&log->map, &log->unmaps, node);
		ressd_dying_add_last(&log->map, &log->sealed_unmaps, node);
		ressd_map_mark_sealed(&log->map,
				      ressd_map_block(&log->map, node), true);
		header->entries[open->nr_maps + i].block =
			cpu_to_le32(ressd_map_block(&log->map, node));
	}
	log->nr_unmaps -= nr_unmaps;
	open->nr_unmaps = nr_unmaps;
}

/*
 * Seals the record whose turn it is, which is full or closed, and hands it out.
 */
static void seal_record(struct ressd_log *log, struct ressd_io *io)
{
	struct ressd_record *record;

	log->nr_full--;
	record = &log->records[ressd_log_in_flight(log)];
	record->sealed = true;
	record->taken_back = false;
	record->uncovered = log->cover_blocks && !log->covered;
	record->tail_seq = log->tail_seq;
	*io = (struct ressd_io) {
		.kind = RESSD_IO_WRITE,
		.data = record->buffer,
		.block = record->block,
		.nr_blocks = record->nr_blocks,
		.record = record,
		.preflush = ressd_log_tail_is_unproven(log, record->tail_seq),
	};
	log->busy = true;
}

/* A full record, without UNMAPs. */
static bool write_full(struct ressd_log *log, struct ressd_io *io)
{
	seal_record(log, io);
	ressd_page_plan(log, io, false);
	return true;
}

/*
 * Finds a place for a record that has no data and so none yet: see SPACE in the
 * header.
 * @announces: it announces a new tail and may use the very last block.
 */
static bool place_bare_record(struct ressd_log *log, bool announces)
{
	const struct ressd_record *open = &log->records[log->open];
	u32 left = ressd_log_head_end(log) - open->block;
	u32 free = ressd_log_free_segments(log);
	u32 reserve = log->cover_reserve;

	if (!left)
		return ressd_log_advance_head(log, announces ? 0 : reserve);
	return free > reserve || announces || (free == reserve && left > 1);
}

void ressd_log_summarise(struct ressd_log *log,
			 const struct ressd_record_header *header, u32 block)
{
	if (log->summary->segment_seq != header->segment_seq)
		ressd_summary_start(log->summary, &log->geom,
				    le64_to_cpu(header->segment_seq));
	ressd_summary_add(log->summary, &log->geom, header, block);
}

/*
 * Has the log left a segment whose summary is complete, but not yet written?
 */
static bool summary_is_due(const struct ressd_log *log)
{
	u64 segment_seq = le64_to_cpu(log->summary->segment_seq);

	return log->summary->nr_records &&
	       segment_seq < ressd_log_next_record(log)->segment_seq &&
	       segment_seq != log->summary_written &&
	       ressd_summary_fits(log->summary, &log->geom);
}

static bool write_summary(struct ressd_log *log, struct ressd_io *io)
{
	u64 segment_seq = le64_to_cpu(log->summary->segment_seq);
	u64 tail_seq = le64_to_cpu(log->summary->tail_seq);
	u32 slot = ressd_geom_slot_of_seq(&log->geom, segment_seq);

	*io = (struct ressd_io) {
		.kind = RESSD_IO_WRITE,
		.data = log->summary,
		.block = ressd_geom_slot_end(&log->geom, slot),
		.nr_blocks = log->geom.summary_blocks,
		.preflush = ressd_log_summary_flushes(log, segment_seq) ||
			    ressd_log_tail_is_unproven(log, tail_seq),
	};
	log->busy = true;
	return true;
}

static void start_cycle(struct ressd_log *log)
{
	log->cycle = log->sync_wanted;
	log->cycle_sealed = false;
	log->cycle_unmaps = log->nr_unmaps;
}

static void finish_cycle(struct ressd_log *log)
{
	log->sync_done = log->cycle;
	log->cycle = 0;
}

/*
 * The cycle's flush: everything completed before it becomes durable.  The tail
 * must not be beyond the record that announces it.
 */
static bool cycle_flush(struct ressd_log *log, struct ressd_io *io)
{
	*io = (struct ressd_io) { .kind = RESSD_IO_FLUSH };
	log->cycle_tail = min(ressd_log_scan_tail(log, log->written_seq),
			      ressd_log_next_record(log)->segment_seq);
	log->busy = true;
	return true;
}

/* From the buffer for what is in flight, in which nothing else is then. */
static bool write_blank(struct ressd_log *log, struct ressd_io *io, u32 block)
{
	struct ressd_record *record = &log->records[ressd_log_in_flight(log)];

	record->taken_back = true;
	*io = (struct ressd_io) {
		.kind = RESSD_IO_WRITE, .data = record->buffer,
		.record = record, .block = block, .nr_blocks = 1,
	};
	log->busy = true;
	return true;
}

static bool blank_summary(struct ressd_log *log, struct ressd_io *io)
{
	if (!log->stale_summary)
		return false;
	return write_blank(log, io, log->stale_summary);
}

/*
 * No room for an opening record: but where the next one will stand may be a
 * torn one, which was to announce a tail.  Sectors of both could make it whole
 * after all, when others have long read what was recovered without it.
 */
static bool blank_place(struct ressd_log *log, struct ressd_io *io)
{
	struct ressd_record *open = &log->records[log->open];

	/* No test: only a forged log is full to its very end. */
	if (log->place_blank || open->block == ressd_log_head_end(log))
		return false;
	return write_blank(log, io, open->block);
}

/* The open record, with as many UNMAPs as there is space for in its header. */
static void write_open(struct ressd_log *log, struct ressd_io *io,
		       bool announces, bool uncovers)
{
	struct ressd_record *open = &log->records[log->open];
	u32 nr_unmaps = min_t(u32, log->record_unmaps,
			      RESSD_RECORD_ENTRIES - open->nr_maps);

	nr_unmaps = min(nr_unmaps, log->nr_unmaps);
	log->cycle_unmaps -= min_t(u32, nr_unmaps, log->cycle_unmaps);
	if (nr_unmaps || announces)
		log->tail_seq = ressd_log_scan_tail(log, open->seq - 1);
	log->filling = false;
	seal_unmaps(log, nr_unmaps);
	ressd_log_close_record(log);
	seal_record(log, io);
	/* A flush follows, so the device programs the page now. */
	ressd_page_plan(log, io, true);
	io->preflush |= nr_unmaps || announces || uncovers || log->opening;
	/*
	 * The cycle's next record may need a segment that this one announces.
	 */
	io->fua = io->preflush &&
		  (ressd_cycle_is_written(log) ||
		   ressd_log_free_segments(log) <= log->cover_reserve);
	log->reclaim = log->reclaim && !announces;
	log->cycle_sealed = true;
}

static bool next_of_cycle(struct ressd_log *log, struct ressd_io *io)
{
	const struct ressd_record *open = &log->records[log->open];
	bool announces, uncovers, needed;

	/* What was full before; see LIFE OF A RECORD. */
	if (log->nr_full && !(log->cycle_sealed && ressd_cycle_is_written(log)))
		return write_full(log, io);
	/*
	 * Before looking for dead segments: the one left behind may be among
	 * them.
	 */
	if (ressd_log_may_rotate(log) && !open->nr_maps)
		ressd_log_advance_head(log, log->cover_reserve);
	announces = (log->reclaim || log->opening) &&
		    ressd_log_scan_tail(log, open->seq - 1) > log->written_tail;
	uncovers = log->cover_blocks && !log->covered && log->written_covered;
	needed = !log->cycle_sealed &&
		 (open->nr_maps || log->nr_unmaps || announces || uncovers ||
		  (!log->first_pending && !ressd_log_head_has_record(log)));
	needed = needed || !ressd_cycle_is_written(log);
	if (!needed && (log->cycle_sealed || !log->opening))
		return cycle_flush(log, io);
	if (!open->nr_maps && !place_bare_record(log, announces)) {
		log->starved = needed;
		/* No test: there always is a flush to be sent. */
		return !needed &&
		       (blank_summary(log, io) || blank_place(log, io) ||
			cycle_flush(log, io));
	}
	if (summary_is_due(log))
		return write_summary(log, io);
	if (!blank_summary(log, io))
		write_open(log, io, announces, uncovers);
	return true;
}

/* Is a record to be written though no sync asks for it? */
static bool record_is_due(const struct ressd_log *log)
{
	return ressd_log_record_full(log) ||
	       (log->records[log->open].nr_maps &&
		(log->kicked || ressd_log_is_rotating(log)));
}

bool ressd_log_is_at_rest(const struct ressd_log *log)
{
	return log->mode == RESSD_MODE_RW && !log->busy && !log->cycle &&
	       log->sync_done == log->sync_wanted && !summary_is_due(log) &&
	       !record_is_due(log);
}

bool ressd_log_next(struct ressd_log *log, struct ressd_io *io)
{
	if (log->busy)
		return false;
	log->starved = false;
	if (log->mode != RESSD_MODE_RW)
		return ressd_repair_next(log, io);
	if (summary_is_due(log))
		return write_summary(log, io);
	/*
	 * The record of a sync may have to go there, and must not be taken for
	 * one without a place.
	 */
	if (log->sync_done < log->sync_wanted && !ressd_log_forget_next(log))
		return false;
	if (!log->cycle && log->sync_done < log->sync_wanted)
		start_cycle(log);
	if (log->cycle)
		return next_of_cycle(log, io);
	if (!record_is_due(log))
		return false;
	if (!log->nr_full) {
		log->filling = true;
		ressd_log_close_record(log);
	}
	return write_full(log, io);
}

static void encode_record(const struct ressd_log *log,
			  struct ressd_record *record)
{
	struct ressd_record_header *header = record->buffer;
	u32 used = record->nr_maps + record->nr_unmaps;
	u32 i;

	ressd_log_settle(log, record);
	for (i = 0; i < record->nr_maps; i++) {
		const void *data =
			ressd_record_data(record, record->block + 1 + i);

		if (!header->entries[i].crc)
			header->entries[i].crc =
				cpu_to_le32(ressd_crc(data, RESSD_BLOCK_SIZE));
	}
	for (; i < used; i++)
		header->entries[i].crc = 0;
	memset(&header->entries[used], 0,
	       (record->entries_written - used) * sizeof(header->entries[0]));
	record->entries_written = used;

	memset(header, 0,
	       __builtin_offsetof(struct ressd_record_header, entries));
	header->magic = cpu_to_le64(RESSD_RECORD_MAGIC);
	header->version = cpu_to_le32(RESSD_FORMAT_VERSION);
	memcpy(header->uuid, log->uuid, RESSD_UUID_SIZE);
	header->seq = cpu_to_le64(record->seq);
	header->segment_seq = cpu_to_le64(record->segment_seq);
	header->tail_seq = cpu_to_le64(record->tail_seq);
	header->durable_seq = cpu_to_le64(log->durable_seq);
	header->activation = cpu_to_le64(log->activation);
	header->prev_crc = cpu_to_le32(log->prev_crc);
	header->nr_maps = cpu_to_le16(record->nr_maps);
	header->nr_unmaps = cpu_to_le16(record->nr_unmaps);
	header->nr_blocks = cpu_to_le32(record->nr_blocks);
	header->block = cpu_to_le32(record->block);
	header->epoch = cpu_to_le32(log->epoch);
	header->flags =
		cpu_to_le32((log->first_pending ? RESSD_RECORD_FIRST : 0) |
			    (record->uncovered ? RESSD_RECORD_UNCOVERED : 0));
	ressd_record_seal_short(header, &log->zeroes, used);
}

static void encode_summary(const struct ressd_log *log,
			   const struct ressd_io *io)
{
	u64 last_seq = le64_to_cpu(log->summary->last_seq);
	u64 durable_seq = min(log->durable_seq, last_seq);

	if (io->preflush)
		durable_seq = last_seq;
	ressd_summary_seal(log->summary, &log->geom, log->uuid, durable_seq);
}

void ressd_log_encode(struct ressd_log *log, struct ressd_io *io)
{
	if (!io->record) {
		encode_summary(log, io);
		return;
	}
	if (io->record->taken_back) {
		memset(io->record->buffer, 0, RESSD_BLOCK_SIZE);
		ressd_page_forget(log);
		return;
	}
	encode_record(log, io->record);
	ressd_page_add(log, io);
}

/* The mover checks what it reads against these. */
static void store_crcs(struct ressd_log *log, const struct ressd_record *record)
{
	const struct ressd_record_header *header = record->buffer;
	u32 i;

	for (i = 0; i < record->nr_maps; i++)
		log->map.nodes[record->block + 1 + i].crc =
			le32_to_cpu(header->entries[i].crc);
}

/* The UNMAPs of the record just written have left RAM. */
static void forget_sealed_unmaps(struct ressd_log *log)
{
	struct ressd_node *node;

	while ((node = ressd_dying_first(&log->map, &log->sealed_unmaps))) {
		ressd_dying_remove(&log->map, &log->sealed_unmaps, node);
		ressd_map_mark_sealed(&log->map,
				      ressd_map_block(&log->map, node), false);
		node->lbn = RESSD_NO_BLOCK;
	}
}

/*
 * The segment is left if the next record's UNMAPs could be too many for its
 * summary.  A few records with very many are better read one by one than given
 * a segment each.
 */
static void leave_unsummarised(struct ressd_log *log)
{
	const struct ressd_summary *summary = log->summary;
	u32 most = le32_to_cpu(summary->nr_unmaps) + RESSD_RECORD_ENTRIES;

	if (most > ressd_summary_capacity(&log->geom) &&
	    le64_to_cpu(summary->segment_seq) == log->head_seq &&
	    le32_to_cpu(summary->nr_records) >= MAX_UNSUMMARISED)
		log->rotate = true;
}

/* The record is on the device, durable or not. */
static void record_written(struct ressd_log *log, struct ressd_record *record,
			   bool whole_page)
{
	const struct ressd_record_header *header = record->buffer;

	store_crcs(log, record);
	forget_sealed_unmaps(log);
	record->sealed = false;
	if (log->durable_seq == log->written_seq)
		log->unproven = (struct ressd_position) {
			.segment_seq = record->segment_seq, .seq = record->seq,
			.block = record->block, .prev_crc = log->prev_crc,
		};
	log->prev_crc = le32_to_cpu(header->crc);
	log->first_pending = false;
	log->written_covered = log->cover_blocks && !record->uncovered;
	log->written_seq = record->seq;
	log->written_tail = record->tail_seq;
	log->counters.records++;
	log->counters.record_blocks += record->nr_blocks;
	log->counters.whole_pages += whole_page;
	ressd_log_summarise(log, header, record->block);
	leave_unsummarised(log);
}

/*
 * A flush that was begun when all written records were complete has succeeded.
 */
static void records_durable(struct ressd_log *log)
{
	log->durable_seq = log->written_seq;
	log->reuse_seq = log->written_tail;
}

static void record_done(struct ressd_log *log, const struct ressd_io *io)
{
	if (io->preflush)
		records_durable(log);
	record_written(log, io->record, io->whole_page);
	if (io->fua) {
		log->opening = false;
		records_durable(log);
		if (ressd_cycle_is_written(log))
			finish_cycle(log);
	}
}

/* Durably so with the flush that follows. */
static void is_blank(struct ressd_log *log, const struct ressd_io *io)
{
	io->record->taken_back = false;
	if (log->stale_summary)
		log->stale_summary = 0;
	else
		log->place_blank = true;
}

/*
 * A sealed record stays readable from its buffer, and a repair writes it again.
 */
static void io_failed(struct ressd_log *log, bool only_write)
{
	log->cycle = 0;
	if (only_write && log->mode == RESSD_MODE_RW) {
		ressd_log_set_mode(log, RESSD_MODE_OFF);
		return;
	}
	if (!only_write)
		ressd_repair_distrust(log);
}

/* The next slot will be free as soon as a read or a discard of it has ended. */
static bool waits_for_slot(const struct ressd_log *log)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq + 1);

	return ressd_log_free_segments(log) > log->cover_reserve &&
	       log->segment_busy(log->context, slot);
}

void ressd_log_give_up(struct ressd_log *log)
{
	if (log->mode == RESSD_MODE_RW && log->starved && !waits_for_slot(log))
		io_failed(log, true);
}

/*
 * Nothing is lost without the summary, so an error of its write alone is none
 * of the log.
 */
static void summary_done(struct ressd_log *log, const struct ressd_io *io,
			 bool flush_failed)
{
	if (flush_failed) {
		io_failed(log, false);
		return;
	}
	log->summary_written = le64_to_cpu(log->summary->segment_seq);
	if (io->preflush)
		records_durable(log);
}

void ressd_log_flush_failed(struct ressd_log *log)
{
	if (log->busy) {
		/*
		 * What is in flight may be covered by it, too: decided when
		 * that is done.
		 */
		if (log->mode < RESSD_MODE_RO)
			ressd_log_set_mode(log, RESSD_MODE_RO);
		log->distrust = true;
	} else {
		io_failed(log, false);
		/* It relies on none having failed since it was begun. */
		if (log->repair.step != RESSD_REPAIR_NONE)
			ressd_repair_done(log, NULL, true);
	}
}

void ressd_log_done(struct ressd_log *log, struct ressd_io *io, int error)
{
	bool repairing = log->repair.step != RESSD_REPAIR_NONE;
	bool flush_failed = log->distrust || (error && !io->only_write);

	log->busy = false;
	log->distrust = false;
	if (io->kind == RESSD_IO_WRITE && !io->record) {
		summary_done(log, io, flush_failed);
		return;
	}
	if (repairing && !error && io->kind == RESSD_IO_WRITE &&
	    !flush_failed) {
		if (io->record->taken_back)
			ressd_repair_reopen(log);
		else
			record_written(log, io->record, io->whole_page);
	}
	if (error || flush_failed)
		io_failed(log, !flush_failed);
	if (repairing) {
		ressd_repair_done(log, io, error || flush_failed);
		return;
	}
	if (error || flush_failed)
		return;
	if (io->kind == RESSD_IO_WRITE) {
		if (io->record->taken_back)
			is_blank(log, io);
		else
			record_done(log, io);
		return;
	}
	records_durable(log);
	log->tail_seq = log->cycle_tail;
	finish_cycle(log);
}

bool ressd_log_tidy(struct ressd_log *log)
{
	if (log->distrusting.step != RESSD_DISTRUST_NONE)
		return ressd_repair_distrust_some(log);
	return ressd_log_forget_more(log);
}
