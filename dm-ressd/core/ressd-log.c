// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the log holds, and where the next record stands in it; ressd-log.h
 * states the contract and the invariants, ressd-commit.c has what is written
 * and when, ressd-space.c what is free.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-log-private.h"
#include "ressd-record.h"
#include "ressd-summary.h"

/*
 * Recovery has to compare with its checksums what is not known durable: 8 MiB,
 * or that part of the log if it is smaller.  Where it has to read very many
 * summaries it has less time for that: the segments not known durable, times
 * all segments.
 */
#define MAX_UNPROVEN_BLOCKS	2048U
#define MAX_UNPROVEN_PART	4U
#define MAX_UNPROVEN_PRODUCT	64U

/*
 * A full record is set aside only while more than this part of the log is free.
 * With less, writers wait for the mover: what RAM takes earlier waits as long
 * in all, but at once.  Without this the longest wait on the SD card was 1205
 * ms instead of 868, and no more was written.
 */
#define MIN_FREE_PART	4U

u64 ressd_log_segment_seq(const struct ressd_log *log, u32 block)
{
	u32 nr = log->geom.nr_segments;
	u32 head = ressd_geom_slot_of_seq(&log->geom, log->head_seq);

	return log->head_seq -
	       (head + nr - ressd_geom_slot(&log->geom, block)) % nr;
}

void ressd_log_init(struct ressd_log *log, const struct ressd_log_setup *setup)
{
	u32 i;

	memset(log, 0, sizeof(*log));
	log->geom = setup->geom;
	memcpy(log->uuid, setup->uuid, RESSD_UUID_SIZE);
	log->activation = setup->activation;
	log->epoch = 1;
	log->normal_blocks = setup->normal_blocks;
	log->cover_blocks = setup->cover_blocks;
	log->cover_reserve = ressd_cover_reserve(&log->geom, log->cover_blocks);
	log->align_blocks = 1;
	log->segments = setup->segments;
	log->segment_busy = setup->segment_busy;
	log->settle = setup->settle;
	log->summary = setup->summary;
	ressd_summary_start(log->summary, &log->geom, 0);
	log->context = setup->context;
	ressd_map_init(&log->map, setup->nodes, setup->clean,
		       setup->geom.nr_blocks);
	if (setup->regions)
		ressd_regions_init(&log->map.regions, setup->regions,
				   setup->normal_blocks, setup->geom.nr_blocks);
	for (i = 0; i < log->geom.nr_segments; i++)
		log->segments[i] = (struct ressd_segment) { };
	for (i = 0; i < RESSD_RECORDS; i++) {
		log->records[i].buffer = setup->buffers[i];
		/* Or anything. */
		log->records[i].entries_written = RESSD_RECORD_ENTRIES;
	}
	ressd_zeroes_init(&log->zeroes);
	ressd_dying_init(&log->unmaps);
	ressd_dying_init(&log->sealed_unmaps);

	log->head_seq = 1;
	log->tail_seq = 1;
	log->reuse_seq = 1;
	log->written_tail = 1;
	log->forgotten_seq = 2;
	log->step_nodes = RESSD_STEP_NODES;
	log->record_unmaps = RESSD_RECORD_ENTRIES;
	log->first_pending = true;
	log->records[0].seq = 1;
	log->records[0].segment_seq = 1;
	log->records[0].block =
		ressd_geom_slot_start(&log->geom,
				      ressd_geom_slot_of_seq(&log->geom, 1));
}

static bool record_holds(const struct ressd_record *record, u32 block)
{
	return record->nr_maps && block > record->block &&
	       block <= record->block + record->nr_maps;
}

void ressd_log_settle(const struct ressd_log *log,
		      const struct ressd_record *record)
{
	if (log->settle)
		log->settle(log->context, record - log->records);
}

/* The one in RAM that holds @block, or NULL. */
static const struct ressd_record *find_record(const struct ressd_log *log,
					      u32 block)
{
	const struct ressd_record *record;
	u32 i;

	for (i = 0; i <= log->nr_full; i++) {
		record = &log->records[ressd_log_before_open(log, i)];
		if (record_holds(record, block))
			return record;
	}
	record = &log->records[ressd_log_in_flight(log)];
	return record->sealed && record_holds(record, block) ? record : NULL;
}

bool ressd_log_holds(const struct ressd_log *log, u32 block)
{
	return find_record(log, block);
}

const void *ressd_log_data(const struct ressd_log *log, u32 block)
{
	const struct ressd_record *record = find_record(log, block);

	if (!record)
		return NULL;
	ressd_log_settle(log, record);
	return ressd_record_data(record, block);
}

/* How far @block is into a page of the device. */
static u32 into_page(const struct ressd_log *log, u32 block)
{
	u32 into;

	div_u64_rem((u64)block + log->unit_phase, log->page_blocks, &into);
	return into;
}

/* Blocks from @block to the next border of a page of the device; 0: none. */
static u32 page_rest(const struct ressd_log *log, u32 block)
{
	u32 into = log->page_blocks ? into_page(log, block) : 0;

	return into ? log->page_blocks - into : 0;
}

static bool pads_records(const struct ressd_log *log)
{
	return log->align_blocks == 1 && log->page_blocks > 1 &&
	       ressd_padding_pays(&log->padding, log->unit_blocks);
}

u32 ressd_log_open_limit(const struct ressd_log *log)
{
	const struct ressd_record *open = &log->records[log->open];
	u32 limit = min_t(u32, ressd_log_head_end(log),
			  open->block + log->geom.record_blocks);
	u32 into = limit % log->align_blocks;

	/* The first page may begin before the log, or before this record. */
	if (log->align_blocks == 1 && log->page_blocks)
		into = into_page(log, limit);
	return into + 1 < limit - open->block ? limit - into : limit;
}

static bool open_is_full(const struct ressd_log *log)
{
	const struct ressd_record *open = &log->records[log->open];

	return open->nr_maps &&
	       open->block + 1 + open->nr_maps >= ressd_log_open_limit(log);
}

bool ressd_log_record_full(const struct ressd_log *log)
{
	return log->nr_full || open_is_full(log);
}

/*
 * The end of a page that begins a clustered block of the device, if @block is
 * in one; or 0.
 */
static u32 first_page_end(const struct ressd_log *log, u32 block)
{
	u32 into;

	if (!log->page_blocks)
		return 0;
	div_u64_rem((u64)block + log->unit_phase, log->unit_blocks, &into);
	return into < log->page_blocks ? block - into + log->page_blocks : 0;
}

/*
 * Where a record that begins at @block and needs space up to @end shall end,
 * padding included; see align_blocks and page_blocks.  It may be beyond what
 * the segment and the buffer have.
 */
static u32 padded_end(const struct ressd_log *log, u32 block, u32 end)
{
	const bool last_segment =
		ressd_log_free_segments(log) <= log->cover_reserve;

	/* Its blocks are too precious for padding: see SPACE in the header. */
	if (last_segment)
		return end;
	end = DIV_ROUND_UP(end, log->align_blocks) * log->align_blocks;
	end = max(end, first_page_end(log, block));
	if (pads_records(log))
		return end + page_rest(log, end);
	if (log->align_blocks == 1 && log->page_blocks > 1 &&
	    (into_page(log, end) == log->page_blocks - 1 ||
	     end + 1 == ressd_log_head_end(log)))
		end++;
	return end;
}

void ressd_log_close_record(struct ressd_log *log)
{
	struct ressd_record *open = &log->records[log->open];
	u32 used = open->block + 1 + open->nr_maps;
	u32 end = padded_end(log, open->block, used);
	struct ressd_record *next;

	end = clamp_t(u32, end, used,
		      max_t(u32, ressd_log_open_limit(log), used));
	open->nr_blocks = end - open->block;
	ressd_padding_record(&log->padding, used - open->block,
			     page_rest(log, used), open->nr_blocks,
			     log->geom.nr_blocks);
	open->entries_written =
		max(open->entries_written, open->nr_maps + open->nr_unmaps);
	log->open = (log->open + 1) % RESSD_RECORDS;
	log->nr_full++;
	log->kicked = false;
	next = &log->records[log->open];
	next->nr_maps = 0;
	next->nr_unmaps = 0;
	next->seq = open->seq + 1;
	next->segment_seq = log->head_seq;
	next->block = end;
}

/* Are all records sealed that the last sync has to write? */
static bool sync_is_sealed(const struct ressd_log *log)
{
	bool sealed = log->cycle && log->cycle_sealed &&
		      ressd_cycle_is_written(log);

	return log->sync_wanted == (sealed ? log->cycle : log->sync_done);
}

/* One buffer is for the record in flight, one for the open one. */
bool ressd_log_ram_is_full(const struct ressd_log *log)
{
	return open_is_full(log) &&
	       (log->nr_full + 2 >= RESSD_RECORDS ||
		ressd_log_free_segments(log) <=
			log->geom.nr_segments / MIN_FREE_PART ||
		!sync_is_sealed(log));
}

/*
 * Is this all that keeps data from the next segment, of which @reserve must be
 * left?
 */
static bool next_is_being_forgotten(const struct ressd_log *log, u32 reserve)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq + 1);

	return ressd_log_free_segments(log) > reserve &&
	       log->forgotten_seq <= log->head_seq + 1 &&
	       !log->segment_busy(log->context, slot);
}

/*
 * A block that leaves the tree does not count as live in its segment any more,
 * if it did.
 */
static void count_out(struct ressd_log *log, const struct ressd_node *node)
{
	u32 block = ressd_map_block(&log->map, node);

	if (!ressd_map_is_clean(&log->map, block))
		ressd_log_segment(log, block)->live--;
}

bool ressd_log_is_rotating(const struct ressd_log *log)
{
	return log->rotate &&
	       (!log->cover_reserve ||
		ressd_log_free_segments(log) > log->cover_reserve);
}

bool ressd_log_may_rotate(const struct ressd_log *log)
{
	return ressd_log_is_rotating(log) && !log->first_pending &&
	       ressd_log_head_has_record(log);
}

/*
 * So many segments in a row may hold records that are not known durable; 8 at
 * most.
 */
static u32 most_unproven(const struct ressd_geom *geom)
{
	u32 blocks = min_t(u32, geom->nr_blocks / MAX_UNPROVEN_PART,
			   MAX_UNPROVEN_BLOCKS);

	return min_t(u32, DIV_ROUND_UP(blocks, geom->segment_blocks),
		     DIV_ROUND_UP(MAX_UNPROVEN_PRODUCT, geom->nr_segments));
}

bool ressd_log_summary_flushes(const struct ressd_log *log, u64 segment_seq)
{
	return log->durable_seq != log->written_seq &&
	       segment_seq + 1 - log->unproven.segment_seq >=
		       most_unproven(&log->geom);
}

bool ressd_log_tail_is_unproven(const struct ressd_log *log, u64 tail_seq)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, tail_seq);

	/* Where the first segment of all begins no older record can be. */
	if (tail_seq == 1 || log->durable_seq == log->written_seq)
		return false;
	return log->unproven.segment_seq < tail_seq ||
	       (log->unproven.segment_seq == tail_seq &&
		log->unproven.block ==
			ressd_geom_slot_start(&log->geom, slot));
}

/*
 * Is nothing left of the segment but the page that its summary will be in?
 * Records that are written because they are full leave it if a flush comes
 * before the summary, which would have the device write it twice, and merge the
 * clustered block for that.  Commits have it written more often anyway.  If it
 * is all of the segment, records have no other place.
 */
static bool leaves_summary_page(const struct ressd_log *log)
{
	u32 end = ressd_log_head_end(log);

	if (!log->page_blocks || !ressd_log_head_has_record(log) ||
	    ressd_log_free_segments(log) < 2 + log->cover_reserve)
		return false;
	if (!pads_records(log) &&
	    (!log->filling || !ressd_log_summary_flushes(log, log->head_seq)))
		return false;
	return log->records[log->open].block == end - into_page(log, end);
}

/* True if a data block can be accepted only in a new segment. */
static bool needs_segment(const struct ressd_log *log)
{
	const struct ressd_record *open = &log->records[log->open];

	return !open->nr_maps &&
	       (ressd_log_may_rotate(log) ||
		open->block + 1 >= ressd_log_open_limit(log) ||
		leaves_summary_page(log));
}

bool ressd_log_is_full(const struct ressd_log *log)
{
	return ressd_log_free_segments(log) <
	       log->cover_reserve + (needs_segment(log) ? 2 : 1);
}

/*
 * The open record gets a newer version of what @old holds, under this same hold
 * of the lock.
 */
static void supersede(struct ressd_log *log, struct ressd_node *old)
{
	u32 block = ressd_map_block(&log->map, old);

	if (!ressd_map_is_clean(&log->map, block))
		ressd_log_segment(log, block)->kill_seq =
			log->records[log->open].seq;
	count_out(log, old);
	ressd_map_take_out(&log->map, old);
	old->lbn = RESSD_NO_BLOCK;
	log->counters.superseded++;
}

/*
 * Is there no block for data in the open record's segment, given the reserve?
 */
static bool lacks_room(const struct ressd_log *log, u32 reserve)
{
	const struct ressd_record *open = &log->records[log->open];
	u32 free = ressd_log_free_segments(log);

	if (free < reserve)
		return true;
	return !free &&
	       open->block + 1 + open->nr_maps + 1 >= ressd_log_head_end(log);
}

/* A block of data, the open record's at @block, has a place there. */
static void take_place(struct ressd_log *log, u32 block, u32 lbn,
		       struct ressd_place *place, bool overwrites)
{
	struct ressd_record *open = &log->records[log->open];
	struct ressd_record_header *header = open->buffer;
	struct ressd_entry *entry = &header->entries[block - open->block - 1];

	*entry = (struct ressd_entry) { .block = cpu_to_le32(lbn) };
	*place = (struct ressd_place) {
		.data = ressd_record_data(open, block), .entry = entry,
		.seq = open->seq, .record = log->open, .overwrites = overwrites,
	};
	log->counters.accepted++;
	log->counters.overwrites += overwrites;
}

int ressd_log_accept_leaving(struct ressd_log *log, u32 lbn,
			     struct ressd_place *place, u32 reserve)
{
	struct ressd_record *open = &log->records[log->open];
	struct ressd_node *old;
	u32 block;

	if (log->mode != RESSD_MODE_RW)
		return -EIO;
	old = ressd_map_find(&log->map, lbn);
	if (old && record_holds(open, ressd_map_block(&log->map, old))) {
		if (!place)
			return 0;
		ressd_log_settle(log, open);
		take_place(log, ressd_map_block(&log->map, old), lbn, place,
			   true);
		return 0;
	}

	if (ressd_log_ram_is_full(log))
		return -EAGAIN;
	if (open_is_full(log)) {
		log->filling = true;
		ressd_log_close_record(log);
	}
	if (needs_segment(log)) {
		if (!ressd_log_advance_head(log, reserve))
			return next_is_being_forgotten(log, reserve) ?
				       -EAGAIN : -ENOSPC;
		/* It may have forgotten it. */
		old = ressd_map_find(&log->map, lbn);
	}
	open = &log->records[log->open];
	/* An activation's first record stays where the chain ended. */
	if (ressd_log_is_rotating(log) && open->nr_maps)
		return -EAGAIN;
	if (lacks_room(log, reserve))
		return -ENOSPC;
	if (!place)
		return 0;

	block = open->block + 1 + open->nr_maps;
	if (old)
		supersede(log, old);
	open->nr_maps++;
	log->head_maps++;
	ressd_map_insert(&log->map, block, lbn);
	ressd_log_segment(log, block)->live++;
	take_place(log, block, lbn, place, false);
	return 0;
}

int ressd_log_accept(struct ressd_log *log, u32 lbn, struct ressd_place *place)
{
	if (log->mode == RESSD_MODE_RW && log->cover_blocks && !log->covered) {
		log->cover_wanted = true;
		return -EAGAIN;
	}
	return ressd_log_accept_leaving(log, lbn, place,
					1 + log->cover_reserve);
}

int ressd_log_mend(struct ressd_log *log, u32 lbn, struct ressd_place *place)
{
	return ressd_log_accept_leaving(log, lbn, place, 0);
}

static void kill_node(struct ressd_log *log, struct ressd_node *node)
{
	u32 block = ressd_map_block(&log->map, node);

	count_out(log, node);
	ressd_map_erase(&log->map, node);
	log->counters.killed++;
	/*
	 * Also a block of the open record gets an UNMAP: its MAP must stay in
	 * the record, for it supersedes older log blocks of the same normal
	 * block that would come back without it.
	 */
	if (ressd_log_segment_seq(log, block) < log->reuse_seq) {
		node->lbn = RESSD_NO_BLOCK;
		return;
	}
	ressd_dying_add_last(&log->map, &log->unmaps, node);
	log->nr_unmaps++;
}

u32 ressd_log_kill_some(struct ressd_log *log, u32 lbn, u32 nr)
{
	struct ressd_node *next, *node = ressd_map_first_from(&log->map, lbn);
	u32 killed = 0;

	for (; node && node->lbn - lbn < nr; node = next) {
		if (killed >= log->step_nodes)
			return node->lbn - lbn;
		next = ressd_map_next(node);
		kill_node(log, node);
		killed += RESSD_CHANGE_COST;
	}
	return nr;
}

void ressd_log_kill(struct ressd_log *log, u32 lbn, u32 nr)
{
	while (nr) {
		u32 done = ressd_log_kill_some(log, lbn, nr);

		lbn += done;
		nr -= done;
	}
}

bool ressd_log_moved(struct ressd_log *log, u32 block, u32 lbn)
{
	struct ressd_node *node = ressd_map_find(&log->map, lbn);

	if (!node || ressd_map_block(&log->map, node) != block ||
	    ressd_map_is_clean(&log->map, block) || log->mode >= RESSD_MODE_RO)
		return false;
	ressd_map_set_clean(&log->map, node);
	ressd_log_segment(log, block)->live--;
	return true;
}

u64 ressd_log_sync(struct ressd_log *log)
{
	return ++log->sync_wanted;
}

u64 ressd_log_reclaim(struct ressd_log *log)
{
	log->reclaim = true;
	log->starved = false;
	return ressd_log_sync(log);
}

u32 ressd_log_open_blocks(const struct ressd_log *log)
{
	return log->records[log->open].nr_maps;
}

u32 ressd_log_blocks_in_flight(const struct ressd_log *log)
{
	const struct ressd_record *record =
		&log->records[ressd_log_in_flight(log)];
	u32 nr = log->busy && record->sealed ? record->nr_maps : 0, i;

	for (i = 1; i <= log->nr_full; i++)
		nr += log->records[ressd_log_before_open(log, i)].nr_maps;
	return nr;
}

/*
 * A log that is covered holds all of these, but for what a repair has cut off:
 * where that matters they are counted.
 */
u32 ressd_log_nr_movable(const struct ressd_log *log)
{
	u32 dirty = log->map.nr_dirty;
	const struct ressd_node *node;

	if (!log->covered)
		return dirty;
	if (dirty > log->cover_blocks)
		return dirty - log->cover_blocks;
	node = ressd_map_first_from(&log->map, 0);
	for (; node && node->lbn < log->cover_blocks;
	     node = ressd_map_next(node))
		dirty -= ressd_map_is_dirty(&log->map, node);
	return dirty;
}

void ressd_log_write_soon(struct ressd_log *log)
{
	if (log->records[log->open].nr_maps)
		log->kicked = true;
}

void ressd_log_rotate(struct ressd_log *log)
{
	/* A segment without data is as good as a new one. */
	if (log->head_maps)
		log->rotate = true;
}

/*
 * Does a clustered block of the device begin in the page that the slot's first
 * record begins in?
 */
static bool begins_unit(const struct ressd_log *log, u32 slot)
{
	return first_page_end(log, ressd_geom_slot_start(&log->geom, slot));
}

/*
 * Has the head's segment no data, and begins a clustered block?  A drain may
 * have left it some records, but the last of its writes: so it is open.
 */
static bool is_primed(const struct ressd_log *log)
{
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq);

	return !log->head_maps && begins_unit(log, slot);
}

/* Is there a clustered block ahead that begins where a segment does? */
static bool unit_ahead(const struct ressd_log *log)
{
	u32 steps = min_t(u64, log->geom.nr_segments,
			  log->unit_blocks / log->geom.segment_blocks + 1);
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq);

	while (steps--) {
		slot = slot + 1 < log->geom.nr_segments ? slot + 1 : 0;
		if (begins_unit(log, slot))
			return true;
	}
	return false;
}

bool ressd_log_can_prime(const struct ressd_log *log)
{
	return log->mode == RESSD_MODE_RW && !log->busy &&
	       !ressd_log_nr_movable(log) && !log->nr_full &&
	       !log->records[log->open].nr_maps && !log->first_pending &&
	       ressd_log_free_segments(log) > log->cover_reserve &&
	       !is_primed(log) && unit_ahead(log);
}

u64 ressd_log_prime(struct ressd_log *log)
{
	log->rotate = true;
	return ressd_log_reclaim(log);
}

bool ressd_log_is_drained(const struct ressd_log *log)
{
	return !log->head_maps && log->reuse_seq == log->head_seq &&
	       !log->nr_unmaps && !log->busy;
}

bool ressd_log_is_volatile(const struct ressd_log *log)
{
	return log->busy || log->nr_unmaps || log->nr_full ||
	       log->records[log->open].nr_maps;
}

bool ressd_log_unmaps_pending(const struct ressd_log *log)
{
	/*
	 * A failed cycle may have left some in a record that is written, but
	 * not flushed.
	 */
	return log->nr_unmaps || log->cycle ||
	       !ressd_dying_is_empty(&log->sealed_unmaps) ||
	       (log->mode != RESSD_MODE_RW &&
		log->durable_seq != log->written_seq);
}

bool ressd_log_owes_nothing(const struct ressd_log *log)
{
	const struct ressd_record *record =
		&log->records[ressd_log_in_flight(log)];

	return log->mode == RESSD_MODE_OFF && !ressd_log_is_volatile(log) &&
	       !(record->sealed && (record->nr_maps || record->nr_unmaps));
}
