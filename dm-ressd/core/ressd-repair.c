// SPDX-License-Identifier: GPL-2.0-only
/* What happens after an I/O error; see ressd-repair.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include "ressd-log-private.h"
#include "ressd-page.h"
#include "ressd-record.h"
#include "ressd-repair.h"

/* --- after a failed flush ------------------------------------------------- */

/*
 * The UNMAPs of the record that was not written are pending again, before all
 * later ones.
 */
static void unseal_unmaps(struct ressd_log *log)
{
	struct ressd_record *record = &log->records[ressd_log_in_flight(log)];
	struct ressd_node *node;

	while ((node = ressd_dying_last(&log->map, &log->sealed_unmaps))) {
		ressd_map_mark_sealed(&log->map,
				      ressd_map_block(&log->map, node), false);
		ressd_dying_remove(&log->map, &log->sealed_unmaps, node);
		ressd_dying_add_first(&log->map, &log->unmaps, node);
		log->nr_unmaps++;
	}
	if (record->sealed) {
		record->nr_unmaps = 0;
		record->tail_seq = log->written_tail;
	}
}

/* Was @block in a segment that was durably dead before the flush failed? */
static bool is_dead(const struct ressd_log *log, u32 block)
{
	return ressd_log_segment_seq(log, block) < log->written_tail;
}

/* Each of these does a piece, and returns true when all is done. */
static bool distrust_moves(struct ressd_log *log)
{
	struct ressd_node *node =
		ressd_map_first_from(&log->map, log->distrusting.next);
	u32 looked = 0;

	for (; node && looked < log->step_nodes;
	     node = ressd_map_next(node), looked++) {
		u32 block = ressd_map_block(&log->map, node);

		if (!ressd_map_is_clean(&log->map, block) ||
		    is_dead(log, block))
			continue;
		ressd_map_set_dirty(&log->map, node);
		ressd_log_segment(log, block)->live++;
	}
	if (node)
		log->distrusting.next = node->lbn;
	return !node;
}

/*
 * The one that was killed last comes first: of two versions the newer one is
 * revived.
 */
static bool distrust_kills(struct ressd_log *log)
{
	struct ressd_node *node, *before;
	u32 looked = 0;

	node = log->distrusting.next == RESSD_NO_BLOCK ? NULL :
	       &log->map.nodes[log->distrusting.next];
	for (; node && looked < log->step_nodes;
	     node = before, looked += RESSD_CHANGE_COST) {
		u32 block = ressd_map_block(&log->map, node);

		before = ressd_dying_before(&log->map, node);
		if (is_dead(log, block) || ressd_map_find(&log->map, node->lbn))
			continue;
		ressd_dying_remove(&log->map, &log->unmaps, node);
		log->nr_unmaps--;
		ressd_map_revive(&log->map, node);
		ressd_log_segment(log, block)->live++;
	}
	if (node)
		log->distrusting.next = ressd_map_block(&log->map, node);
	return !node;
}

/* The last record that holds data, be it in RAM only. */
static u64 last_data_record(const struct ressd_log *log)
{
	const struct ressd_record *open = &log->records[log->open];
	const struct ressd_record *record =
		&log->records[ressd_log_in_flight(log)];

	if (open->nr_maps)
		return open->seq;
	if (log->nr_full)
		return open->seq - 1;
	return record->sealed && record->nr_maps ? record->seq :
						   log->written_seq;
}

/*
 * A block that was moved and then logged again: home may be lost, and the map
 * does not have the older log block any more.  So no segment counts as dead
 * before all that was logged by now is durable: the record with the newer
 * version must not be the one that announces that the older is invalid.
 */
static bool distrust_deaths(struct ressd_log *log)
{
	u64 seq = log->distrusting.next, last = last_data_record(log);
	u32 looked = 0;

	for (; seq <= log->head_seq && looked < log->step_nodes;
	     seq++, looked++) {
		u32 slot = ressd_geom_slot_of_seq(&log->geom, seq);

		log->segments[slot].kill_seq = last;
	}
	log->distrusting.next = seq;
	return seq > log->head_seq;
}

bool ressd_repair_distrust_some(struct ressd_log *log)
{
	struct ressd_distrust *distrusting = &log->distrusting;

	switch (distrusting->step) {
	/* No test: nobody asks then. */
	case RESSD_DISTRUST_NONE:
		break;	/* No test: as above. */
	case RESSD_DISTRUST_MOVES:
		if (!distrust_moves(log))
			break;
		distrusting->step = RESSD_DISTRUST_KILLS;
		distrusting->next = log->unmaps.last;
		break;
	case RESSD_DISTRUST_KILLS:
		if (!distrust_kills(log))
			break;
		distrusting->step = RESSD_DISTRUST_DEATHS;
		distrusting->next = log->written_tail;
		break;
	case RESSD_DISTRUST_DEATHS:
		if (distrust_deaths(log))
			distrusting->step = RESSD_DISTRUST_NONE;
		break;
	}
	return distrusting->step != RESSD_DISTRUST_NONE;
}

/*
 * A second flush that fails before this has ended may concern what it has
 * passed already.
 */
void ressd_repair_distrust(struct ressd_log *log)
{
	if (log->mode < RESSD_MODE_RO)
		ressd_log_set_mode(log, RESSD_MODE_RO);
	unseal_unmaps(log);
	log->tail_seq = log->written_tail;
	log->distrusting =
		(struct ressd_distrust){ .step = RESSD_DISTRUST_MOVES };
}

/* --- the repair ----------------------------------------------------------- */

void ressd_repair_start(struct ressd_log *log, void *buffer, u32 nr_blocks)
{
	log->repair = (struct ressd_repair){
		.step = log->records[ressd_log_in_flight(log)].sealed ?
			RESSD_REPAIR_WRITE : RESSD_REPAIR_FLUSH,
		.buffer = buffer,
		.nr_blocks = nr_blocks,
	};
}

static void end_repair(struct ressd_log *log, int result)
{
	log->repair.step = RESSD_REPAIR_NONE;
	log->repair.result = result;
	log->repair.buffer = NULL;
	if (result == -EUCLEAN)
		ressd_log_set_mode(log, RESSD_MODE_FAIL);
	if (result)
		return;
	log->durable_seq = log->written_seq;
	log->reuse_seq = log->written_tail;
	log->reclaim = true;	/* a tail may have been taken back */
	ressd_log_set_mode(log, RESSD_MODE_RW);
}

/* Reading goes on at the start of a record. */
static void expect_record(struct ressd_repair *repair,
			  const struct ressd_position *position)
{
	repair->next = *position;
	repair->segment_seq = position->segment_seq;
	repair->block = position->block;
	repair->data_left = 0;
}

static void start_reading(struct ressd_log *log)
{
	log->repair.step = RESSD_REPAIR_READ;
	if (log->durable_seq == log->written_seq)
		end_repair(log, 0);
	else
		expect_record(&log->repair, &log->unproven);
}

static u32 slot_of_reading(const struct ressd_log *log)
{
	return ressd_geom_slot_of_seq(&log->geom, log->repair.segment_seq);
}

/* The record is not where it was looked for: a segment may have ended early. */
static void look_in_next_segment(struct ressd_log *log)
{
	struct ressd_repair *repair = &log->repair;

	if (repair->segment_seq == log->head_seq) {
		end_repair(log, -EUCLEAN);
		return;
	}
	repair->segment_seq++;
	repair->block = ressd_geom_slot_start(&log->geom, slot_of_reading(log));
}

static void record_intact(struct ressd_log *log)
{
	struct ressd_repair *repair = &log->repair;
	struct ressd_position next = {
		.segment_seq = repair->segment_seq, .seq = repair->next.seq + 1,
		.block = repair->end, .prev_crc = repair->crc,
	};

	if (repair->next.seq == log->written_seq) {
		end_repair(log, repair->crc == log->prev_crc ? 0 : -EUCLEAN);
		return;
	}
	expect_record(repair, &next);
	if (repair->block ==
	    ressd_geom_slot_end(&log->geom, slot_of_reading(log)))
		look_in_next_segment(log);
}

static void check_header(struct ressd_log *log)
{
	struct ressd_repair *repair = &log->repair;
	const struct ressd_record_header *header = repair->buffer;

	if (!ressd_record_valid(header, log->uuid, &log->geom, repair->block) ||
	    le64_to_cpu(header->seq) != repair->next.seq ||
	    le64_to_cpu(header->segment_seq) != repair->segment_seq ||
	    le32_to_cpu(header->prev_crc) != repair->next.prev_crc) {
		look_in_next_segment(log);
		return;
	}
	repair->crc = le32_to_cpu(header->crc);
	repair->end = repair->block + le32_to_cpu(header->nr_blocks);
	repair->data_left = le16_to_cpu(header->nr_maps);
	repair->block++;
	if (!repair->data_left)
		record_intact(log);
}

/*
 * The nodes keep the checksums of all that is written, also of what was
 * superseded since.
 */
static void check_data(struct ressd_log *log, u32 nr)
{
	struct ressd_repair *repair = &log->repair;
	u32 i;

	for (i = 0; i < nr; i++) {
		const u8 *data = (const u8 *)repair->buffer +
				 (size_t)i * RESSD_BLOCK_SIZE;

		if (ressd_crc(data, RESSD_BLOCK_SIZE) ==
		    log->map.nodes[repair->block + i].crc)
			continue;
		end_repair(log, -EUCLEAN);
		return;
	}
	repair->block += nr;
	repair->data_left -= nr;
	if (!repair->data_left)
		record_intact(log);
}

/* The sealed record again, or its blank place. */
static void write_again(struct ressd_log *log, struct ressd_io *io)
{
	struct ressd_record *record = &log->records[ressd_log_in_flight(log)];

	record->taken_back = log->mode >= RESSD_MODE_RO && !record->nr_maps &&
			     !log->nr_full && !log->records[log->open].nr_maps;
	/*
	 * Its UNMAPs, if it still has any, must not be there before what they
	 * stand for.
	 */
	*io = (struct ressd_io){
		.kind = RESSD_IO_WRITE,
		.data = record->buffer,
		.record = record,
		.block = record->block,
		.nr_blocks = record->taken_back ? 1 : record->nr_blocks,
		.preflush = true,
		.fua = true,
	};
	/* The write that failed may have spoilt all of the page. */
	ressd_page_plan(log, io, !record->taken_back);
}

void ressd_repair_reopen(struct ressd_log *log)
{
	struct ressd_record *record;

	log->open = ressd_log_in_flight(log);
	record = &log->records[log->open];
	record->sealed = false;
	record->taken_back = false;
}

bool ressd_repair_next(struct ressd_log *log, struct ressd_io *io)
{
	struct ressd_repair *repair = &log->repair;

	switch (repair->step) {
	case RESSD_REPAIR_NONE:
		return false;
	case RESSD_REPAIR_WRITE:
		write_again(log, io);
		break;
	case RESSD_REPAIR_FLUSH:
		*io = (struct ressd_io) { .kind = RESSD_IO_FLUSH };
		break;
	case RESSD_REPAIR_READ:
		*io = (struct ressd_io){
			.kind = RESSD_IO_READ,
			.data = repair->buffer,
			.block = repair->block,
			.nr_blocks = clamp_t(u32, repair->data_left, 1,
					     repair->nr_blocks),
		};
		break;
	}
	log->busy = true;
	return true;
}

void ressd_repair_done(struct ressd_log *log, const struct ressd_io *io,
		       bool failed)
{
	if (failed) {
		end_repair(log, -EIO);
		return;
	}
	switch (io->kind) {
	case RESSD_IO_WRITE:
		log->repair.step = RESSD_REPAIR_FLUSH;
		break;
	case RESSD_IO_FLUSH:
		start_reading(log);
		break;
	case RESSD_IO_READ:
		if (log->repair.data_left)
			check_data(log, io->nr_blocks);
		else
			check_header(log);
		break;
	}
}

/* Is @block in the record at @position or in a later one? */
static bool is_from(const struct ressd_log *log,
		    const struct ressd_position *position, u32 block)
{
	u64 segment_seq = ressd_log_segment_seq(log, block);

	return segment_seq > position->segment_seq ||
	       (segment_seq == position->segment_seq &&
		block >= position->block);
}

bool ressd_repair_is_lost(const struct ressd_log *log, u32 block)
{
	return is_from(log, &log->repair.next, block);
}

bool ressd_repair_is_proven(const struct ressd_log *log, u32 block)
{
	return log->durable_seq == log->written_seq ||
	       !is_from(log, &log->unproven, block);
}

bool ressd_repair_is_unproven(const struct ressd_log *log, u32 block)
{
	return log->mode >= RESSD_MODE_RO &&
	       !ressd_repair_is_proven(log, block);
}
