// SPDX-License-Identifier: GPL-2.0-only
/* Recovery of the log; see ressd-recover.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "ressd-claims.h"
#include "ressd-log-private.h"
#include "ressd-record.h"
#include "ressd-recover.h"
#include "ressd-summary.h"
#include "ressd-window.h"

/* One recovery under way. */
struct fold {
	struct ressd_log *log;
	struct ressd_window window;
	struct ressd_claims claims;
	u64 summarised_seq;		/* last segment taken by its summary */
	struct ressd_recovery *stats;
	char *error;
	size_t error_size;
};

/* The records taken so far. */
struct chain {
	bool any;	/* false: the first record may follow anything */
	bool numbered;	/* link.seq is known, if only from a dropped record */
	struct ressd_link link;
	u64 tail_seq;	/* claimed by the last record */
	u32 end;	/* log block after it */
};

static int log_damaged(struct fold *fold, const char *what, u64 number)
{
	snprintf(fold->error, fold->error_size,
		 "the log is damaged: %s %llu; nothing was changed, use ressdctl check",
		 what, (unsigned long long)number);
	return -EUCLEAN;
}

/* --- what records and summaries do to the map ----------------------------- */

/* One MAP entry: normal block @lbn is now in log block @block. */
static void apply_map(struct ressd_log *log, u32 lbn, u32 block, u32 crc)
{
	struct ressd_node *old = ressd_map_find(&log->map, lbn);

	if (old) {
		ressd_log_segment(log, ressd_map_block(&log->map, old))->live--;
		ressd_map_erase(&log->map, old);
		old->lbn = RESSD_NO_BLOCK;
	}
	ressd_map_insert(&log->map, block, lbn);
	log->map.nodes[block].crc = crc;
	ressd_log_segment(log, block)->live++;
}

static void apply_unmap(struct ressd_log *log, u32 block)
{
	struct ressd_node *node = &log->map.nodes[block];

	if (node->lbn == RESSD_NO_BLOCK)
		/* Superseded by a later MAP, or its segment is dead. */
		return;
	ressd_log_segment(log, block)->live--;
	ressd_map_erase(&log->map, node);
	node->lbn = RESSD_NO_BLOCK;
}

/* Checks every entry before the first one is applied. */
static int check_entries(struct fold *fold,
			 const struct ressd_record_header *header)
{
	u32 nr_maps = le16_to_cpu(header->nr_maps);
	u32 nr = nr_maps + le16_to_cpu(header->nr_unmaps);
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 limit = i < nr_maps ? fold->log->normal_blocks :
					  fold->log->geom.nr_blocks;

		if (le32_to_cpu(header->entries[i].block) >= limit)
			return log_damaged(fold,
					   "an entry points outside the device, record",
					   le64_to_cpu(header->seq));
	}
	return 0;
}

static void apply_record(struct ressd_log *log,
			 const struct ressd_record_header *header, u32 block)
{
	u32 nr_maps = le16_to_cpu(header->nr_maps);
	u32 nr = nr_maps + le16_to_cpu(header->nr_unmaps);
	u32 i;

	for (i = 0; i < nr_maps; i++)
		apply_map(log, le32_to_cpu(header->entries[i].block),
			  block + 1 + i, le32_to_cpu(header->entries[i].crc));
	for (; i < nr; i++)
		apply_unmap(log, le32_to_cpu(header->entries[i].block));
}

/*
 * All the segment's MAPs, then all its UNMAPs: ressd-summary.h says why that is
 * the same.
 */
static void apply_summary(struct ressd_log *log,
			  const struct ressd_summary *summary, u32 slot)
{
	const __le32 *unmaps = ressd_summary_unmaps(summary, &log->geom);
	u32 i;

	for (i = 0; i < log->geom.segment_blocks; i++) {
		const struct ressd_entry *entry = &summary->maps[i];

		if (le32_to_cpu(entry->block) != RESSD_NO_BLOCK)
			apply_map(log, le32_to_cpu(entry->block),
				  slot * log->geom.segment_blocks + i,
				  le32_to_cpu(entry->crc));
	}
	for (i = 0; i < le32_to_cpu(summary->nr_unmaps); i++)
		apply_unmap(log, le32_to_cpu(unmaps[i]));
}

/* --- a segment by its summary --------------------------------------------- */

/*
 * Is there an intact first record of segment @segment_seq that is not the one
 * the log's summary begins with?  To be called where no record before shows it;
 * a summary that was written with PREFLUSH has none like it.  Negative error.
 */
static int begins_otherwise(struct fold *fold, u64 segment_seq)
{
	const struct ressd_summary *summary = fold->log->summary;
	const struct ressd_geom *geom = &fold->log->geom;
	u32 slot = ressd_geom_slot_of_seq(geom, segment_seq);
	const struct ressd_record_header *header;
	struct ressd_link first;
	int ret;

	if (summary->durable_seq == summary->last_seq)
		return 0;
	fold->window.ahead = 1;
	ret = ressd_window_header(&fold->window,
				  ressd_geom_slot_start(geom, slot), &header);
	if (ret <= 0 || le64_to_cpu(header->segment_seq) != segment_seq)
		return min(ret, 0);
	ressd_record_link(header, &first);
	return !ressd_summary_begins_with(summary, &first);
}

/*
 * Reads the summary of segment @segment_seq into the log's own one, which goes
 * on from there if records follow.  That one is left alone unless the device
 * has a summary that continues @chain.
 */
static bool load_summary(struct fold *fold, const struct chain *chain,
			 u64 segment_seq)
{
	struct ressd_log *log = fold->log;
	u32 slot = ressd_geom_slot_of_seq(&log->geom, segment_seq);
	const struct ressd_summary *summary;

	if (!ressd_window_summary(&fold->window, slot, &summary) ||
	    le64_to_cpu(summary->segment_seq) != segment_seq ||
	    le64_to_cpu(summary->last_seq) > fold->claims.durable_seq ||
	    (chain->any && !ressd_summary_follows(summary, &chain->link)))
		return false;
	return ressd_window_copy_summary(&fold->window, slot, log->summary);
}

/* True in *@found if an intact header at @block continues @link. */
static int find_next(struct fold *fold, const struct ressd_link *link,
		     u32 block, bool *found)
{
	const struct ressd_record_header *header;
	int ret = ressd_window_header(&fold->window, block, &header);

	*found = ret > 0 && ressd_record_follows(header, link);
	return min(ret, 0);
}

/*
 * The record after the last one that the summary speaks of shows that this was
 * the last one indeed: the first of the next segment, if only by that segment's
 * summary, or one that a later activation has put behind.
 */
static int confirm_summary(struct fold *fold,
			   const struct ressd_summary *summary, bool *confirmed)
{
	const struct ressd_geom *geom = &fold->log->geom;
	u32 block = le32_to_cpu(summary->next_block);
	const struct ressd_summary *behind;
	struct ressd_link link;
	u32 next;
	int ret;

	ressd_summary_link(summary, &link);
	next = ressd_geom_slot_of_seq(geom, link.segment_seq + 1);
	fold->window.ahead = 1;
	ret = find_next(fold, &link, ressd_geom_slot_start(geom, next),
			confirmed);
	if (!ret && !*confirmed && block != le32_to_cpu(summary->block))
		ret = find_next(fold, &link, block, confirmed);
	if (!ret && !*confirmed &&
	    ressd_window_summary(&fold->window, next, &behind))
		*confirmed = ressd_summary_follows(behind, &link);
	return ret;
}

/*
 * Takes segment @segment_seq by its summary: 1 taken, 0 it has none to be
 * trusted, or an error.
 */
static int take_summary(struct fold *fold, struct chain *chain, u64 segment_seq)
{
	struct ressd_log *log = fold->log;
	struct ressd_summary *summary = log->summary;
	u32 slot = ressd_geom_slot_of_seq(&log->geom, segment_seq);
	bool confirmed = false;
	int ret = 0;

	if (!load_summary(fold, chain, segment_seq))
		return 0;
	if (!chain->any)
		ret = begins_otherwise(fold, segment_seq);
	if (!ret)
		ret = confirm_summary(fold, summary, &confirmed);
	if (ret < 0)
		return ret;
	if (!confirmed) {
		ressd_summary_start(summary, &log->geom, 0);
		return 0;
	}
	if (!ressd_summary_in_range(summary, &log->geom, log->normal_blocks))
		return log_damaged(fold,
				   "an entry points outside the device, summary of segment",
				   segment_seq);
	apply_summary(log, summary, slot);
	chain->any = true;
	chain->numbered = true;
	ressd_summary_link(summary, &chain->link);
	chain->tail_seq = le64_to_cpu(summary->tail_seq);
	chain->end = le32_to_cpu(summary->next_block);
	fold->stats->records += le32_to_cpu(summary->nr_records);
	fold->stats->summaries++;
	fold->summarised_seq = segment_seq;
	return 1;
}

/* --- a segment record by record ------------------------------------------- */

static void extend_chain(struct chain *chain,
			 const struct ressd_record_header *header, u32 block)
{
	chain->any = true;
	chain->numbered = true;
	ressd_record_link(header, &chain->link);
	chain->tail_seq = le64_to_cpu(header->tail_seq);
	chain->end = block + le32_to_cpu(header->nr_blocks);
}

/*
 * Compares a record's data with its crcs; 1 intact, 0 torn, negative error.
 * The header is copied to a place of its own, for reading data moves the
 * window.
 */
static int check_data(struct fold *fold,
		      const struct ressd_record_header *header, u32 block)
{
	u32 nr_maps = le16_to_cpu(header->nr_maps);
	u32 i;
	int ret;

	for (i = 0; i < nr_maps; i++) {
		const void *data;

		/* All is wanted. */
		fold->window.ahead = fold->log->geom.record_blocks;
		data = ressd_window_block(&fold->window, block + 1 + i, &ret);
		if (!data)
			return ret;
		if (ressd_crc(data, RESSD_BLOCK_SIZE) !=
		    le32_to_cpu(header->entries[i].crc))
			return 0;
	}
	return 1;
}

/*
 * The chain ends before this record.  Its seq and prev_crc are what the next
 * one must have.
 */
static void drop_record(struct fold *fold, struct chain *chain,
			const struct ressd_record_header *header)
{
	fold->stats->dropped = 1;
	if (chain->any)
		return;
	chain->numbered = true;
	chain->link.seq = le64_to_cpu(header->seq) - 1;
	chain->link.crc = le32_to_cpu(header->prev_crc);
}

/*
 * Takes the record at @block if it continues @chain: 1 taken, 0 the chain ends
 * here, negative error.  The open record's buffer serves as the header's copy.
 */
static int take_record(struct fold *fold, struct chain *chain, u32 block,
		       u64 segment_seq)
{
	struct ressd_log *log = fold->log;
	struct ressd_record_header *copy = log->records[0].buffer;
	const struct ressd_record_header *header;
	int ret;

	ret = ressd_window_header(&fold->window, block, &header);
	if (ret <= 0)
		return ret;
	if (le64_to_cpu(header->segment_seq) != segment_seq ||
	    (chain->any && !ressd_record_follows(header, &chain->link)))
		return 0;
	memcpy(copy, header, sizeof(*copy));
	if (le64_to_cpu(copy->seq) > fold->claims.durable_seq) {
		ret = check_data(fold, copy, block);
		if (!ret)
			drop_record(fold, chain, copy);
		if (ret <= 0)
			return ret;
	}
	ret = check_entries(fold, copy);
	if (ret)
		return ret;
	apply_record(log, copy, block);
	ressd_log_summarise(log, copy, block);
	extend_chain(chain, copy, block);
	fold->stats->records++;
	return 1;
}

/* --- all of it ------------------------------------------------------------ */

/* Takes what continues the chain in segment @segment_seq; 0 or an error. */
static int walk_segment(struct fold *fold, struct chain *chain, u64 segment_seq)
{
	const struct ressd_geom *geom = &fold->log->geom;
	u32 slot = ressd_geom_slot_of_seq(geom, segment_seq);
	u32 end = ressd_geom_slot_end(geom, slot);
	u32 block = ressd_geom_slot_start(geom, slot);
	int ret = take_summary(fold, chain, segment_seq);

	if (ret < 0)
		return ret;
	if (ret)
		block = chain->end;
	while (block < end) {
		ret = take_record(fold, chain, block, segment_seq);
		if (ret <= 0)
			return ret;
		block = chain->end;
	}
	return 0;
}

/*
 * Follows the chain from the tail; leaves in @chain what the next record has to
 * continue.
 */
static int walk(struct fold *fold, struct chain *chain)
{
	const struct ressd_reader *reader = fold->window.reader;
	const struct ressd_geom *geom = &fold->log->geom;
	u32 nr = geom->nr_segments, walked, slot;
	u64 segment_seq = fold->claims.tail_seq;
	int ret;

	slot = ressd_geom_slot_of_seq(geom, segment_seq);
	chain->link.segment_seq = segment_seq;
	chain->end = ressd_geom_slot_start(geom, slot);
	/* No test: what follows the whole ring would have the tail's slot. */
	for (walked = 1; walked <= nr; walked++) {
		ret = walk_segment(fold, chain, segment_seq);
		if (ret)
			return ret;
		if (reader->progress)
			reader->progress(reader->context, nr + walked, 2 * nr);
		/*
		 * A segment may end early: then the chain goes on in the next
		 * one.
		 */
		if (!chain->any || segment_seq != chain->link.segment_seq)
			return 0;
		slot = ressd_geom_slot_of_seq(geom, ++segment_seq);
		if (fold->log->segments[slot].seq != segment_seq)
			return 0;
	}
	/* No test: see above. */
	return 0;
}

/*
 * True if the tail segment has lost a record that was known durable: a later
 * segment was begun, so the record before that one's first belongs to the tail
 * or comes after it.
 */
static bool tail_is_lost(const struct fold *fold)
{
	const struct ressd_log *log = fold->log;
	u32 slot;

	for (slot = 0; slot < log->geom.nr_segments; slot++)
		if (log->segments[slot].seq > fold->claims.tail_seq &&
		    log->segments[slot].kill_seq <=
			    fold->claims.durable_seq + 1)
			return true;
	return false;
}

/*
 * Is the end of @chain where a cut may have left it, or is something missing
 * that was durable?  What is found behind it may be of use for numbering, but
 * the tail is decided already.
 */
static int check_end(struct fold *fold, const struct chain *chain)
{
	struct ressd_behind behind = { .claims = fold->claims };
	int ret = ressd_claims_behind(&fold->window, chain->link.segment_seq,
				      chain->end, &behind);

	if (ret)
		return ret;
	fold->stats->searched_seq = behind.segment_seq;
	fold->claims.durable_seq = behind.claims.durable_seq;
	if (chain->numbered && chain->link.seq < behind.claims.durable_seq)
		return log_damaged(fold, "records are missing from number",
				   chain->link.seq + 1);
	if (!chain->numbered && (behind.lost || tail_is_lost(fold)))
		return log_damaged(fold, "nothing is left of segment",
				   fold->claims.tail_seq);
	return 0;
}

/*
 * Nothing was found: is the log empty, or has its first segment lost its first
 * record?
 */
static int check_empty(struct fold *fold)
{
	struct chain chain = { .numbered = true };
	u32 slot = ressd_geom_slot_of_seq(&fold->log->geom, 1);

	chain.link.segment_seq = 1;
	chain.end = ressd_geom_slot_start(&fold->log->geom, slot);
	return check_end(fold, &chain);
}

/* Puts the head behind the last record taken. */
static void set_head(struct fold *fold, const struct chain *chain)
{
	struct ressd_log *log = fold->log;
	u64 head_seq = chain->link.segment_seq;
	u32 nr = log->geom.nr_segments;
	u64 oldest = head_seq >= nr ? head_seq - nr + 1 : 1;

	log->open = 0;
	log->head_seq = head_seq;
	log->forgotten_seq = head_seq + 1;
	log->head_maps = 1;	/* not known: assume that there is data */
	log->epoch = fold->claims.epoch + (fold->claims.epoch != ~0U);
	log->tail_seq = fold->claims.tail_seq;
	/*
	 * Only what the chain itself says may be reused: other claims are not
	 * durable in it.  If it says more than all claims it is forged, and the
	 * map has blocks of what it says is free.
	 */
	log->reuse_seq = oldest;
	if (chain->any)
		log->reuse_seq =
			max(oldest, min(chain->tail_seq, log->tail_seq));
	log->written_tail = log->reuse_seq;
	log->prev_crc = chain->link.crc;
	log->written_seq =
		max_t(u64, chain->link.seq, fold->claims.durable_seq);
	log->durable_seq = log->written_seq;
	log->records[0].seq = log->written_seq + 1;
	log->records[0].segment_seq = log->head_seq;
	log->records[0].block = chain->end;
}

/*
 * Home counts where the log is not covered: covered blocks may have copies that
 * count, which the activation sorts out; all other blocks of the log are home.
 * They stay in the map until a record has announced that they are invalid, and
 * the activation waits for that.
 */
static void set_covered(struct fold *fold, const struct chain *chain)
{
	struct ressd_log *log = fold->log;
	struct ressd_node *node;

	log->covered = log->cover_blocks && chain->any &&
		       !chain->link.uncovered;
	log->written_covered = log->covered;
	if (!log->cover_blocks || log->covered)
		return;
	node = ressd_map_first_from(&log->map, log->cover_blocks);
	for (; node; node = ressd_map_next(node)) {
		u32 block = ressd_map_block(&log->map, node);

		ressd_map_set_clean(&log->map, node);
		ressd_log_segment(log, block)->live--;
	}
}

/*
 * The opening record goes where set_head() has put the open one, or to the next
 * segment, which check_room() has found to be free.  The summary of that
 * segment may be there though a loss of power has taken some of its records: it
 * would speak for those that take their place.  A torn one could become whole
 * by sectors of the segment's next one.  One that recovery has used stays: its
 * records were durable, and it may be all that is left of them.
 */
static void find_stale_summary(struct fold *fold)
{
	struct ressd_log *log = fold->log;
	u32 slot = ressd_geom_slot_of_seq(&log->geom, log->head_seq);
	const struct ressd_summary *summary;
	u64 opening = log->head_seq;
	bool stale;

	if (log->records[0].block == ressd_geom_slot_end(&log->geom, slot))
		slot = ressd_geom_slot_of_seq(&log->geom, ++opening);
	/* Not even looked at: a read may fail, or a signal come, by now. */
	if (fold->summarised_seq == opening)
		return;
	if (ressd_window_summary(&fold->window, slot, &summary))
		stale = le64_to_cpu(summary->segment_seq) == opening;
	else
		stale = !summary || !ressd_is_zero(summary, RESSD_BLOCK_SIZE);
	if (stale)
		log->stale_summary = ressd_geom_slot_end(&log->geom, slot);
}

/* Could the log go on for ever, as far as its numbers are concerned? */
static int check_numbers(struct fold *fold)
{
	const u64 last =
		max_t(u64, fold->log->written_seq, fold->log->head_seq);

	if (last <= RESSD_MAX_SEQ - RESSD_SEQ_ROOM)
		return 0;
	return log_damaged(fold, "no log comes to number", last);
}

/*
 * The last block is kept for the record that announces a new tail, and frees a
 * segment.  In a log without any room the opening would wait for ever.
 */
static int check_room(struct fold *fold)
{
	const struct ressd_log *log = fold->log;

	if (log->records[0].block < ressd_log_head_end(log) ||
	    ressd_log_free_segments(log))
		return 0;
	return log_damaged(fold, "no log is full to its last block, record",
			   log->written_seq);
}

static int take_all(struct fold *fold)
{
	struct ressd_log *log = fold->log;
	struct chain chain = { };
	u32 slot;
	int ret =
		ressd_claims_scan(&fold->window, log->segments, &fold->claims);

	if (ret)
		return ret;
	if (!fold->claims.any)
		return check_empty(fold);
	if (!fold->claims.tail_seq)
		return log_damaged(fold, "no tail is known, durable record",
				   fold->claims.durable_seq);
	ret = walk(fold, &chain);
	if (!ret)
		ret = check_end(fold, &chain);
	if (ret)
		return ret;
	set_head(fold, &chain);
	set_covered(fold, &chain);
	ret = check_numbers(fold);
	if (!ret)
		ret = check_room(fold);
	if (ret)
		return ret;
	for (slot = 0; slot < log->geom.nr_segments; slot++) {
		log->segments[slot].seq = 0;
		log->segments[slot].kill_seq = 0;
	}
	find_stale_summary(fold);
	return 0;
}

int ressd_recover(struct ressd_log *log, const struct ressd_reader *reader,
		  struct ressd_recovery *recovery, char *error, size_t size)
{
	struct fold fold = {
		.log = log,
		.stats = recovery,
		.error = error,
		.error_size = size,
		.window = {
			.reader = reader, .geom = &log->geom, .uuid = log->uuid,
			.ahead = 1,
		},
	};

	*recovery = (struct ressd_recovery) { };
	log->opening = true;
	error[0] = '\0';
	return take_all(&fold);
}
