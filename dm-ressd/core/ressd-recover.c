// SPDX-License-Identifier: GPL-2.0-only
/* Recovery of the log; see ressd-recover.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "ressd-record.h"
#include "ressd-recover.h"

#define READ_AHEAD_BLOCKS	32U	/* while records are short */
#define LONG_RECORD_BLOCKS	16U	/* then reading ahead would read mostly data */

/* One recovery under way. */
struct fold {
	struct ressd_log *log;
	const struct ressd_reader *reader;
	struct ressd_recovery *stats;
	char *error;
	size_t error_size;
	u32 window_start, window_nr;	/* blocks of the device that reader->buffer holds */
	u32 last_nr_blocks;		/* length of the last record seen */
	u64 tail_seq;			/* highest claims */
	u64 durable_seq;
	bool any;			/* an intact header was found */
};

/* What a record must chain to. */
struct chain {
	bool any;			/* false: the first record may follow anything */
	u64 seq, segment_seq, activation, tail_seq;
	u32 crc;
	u32 end;			/* log block after the record */
};

/* Returns the block, read together with those after it; NULL sets *@ret. */
static const void *read_block(struct fold *fold, u32 block, int *ret)
{
	const struct ressd_reader *reader = fold->reader;
	const struct ressd_geom *geom = &fold->log->geom;
	u32 nr = fold->last_nr_blocks < LONG_RECORD_BLOCKS ? READ_AHEAD_BLOCKS : 1;

	if (block - fold->window_start >= fold->window_nr) {
		u32 end = ressd_geom_slot_end(geom, ressd_geom_slot(geom, block));

		nr = min_t(u32, nr, geom->record_blocks);
		nr = min_t(u32, nr, end - block);
		fold->window_nr = 0;
		*ret = reader->read(reader->context, block, nr, reader->buffer);
		if (*ret)
			return NULL;
		fold->window_start = block;
		fold->window_nr = nr;
		fold->stats->blocks_read += nr;
	}
	*ret = 0;
	return (const u8 *)reader->buffer +
	       (size_t)(block - fold->window_start) * RESSD_BLOCK_SIZE;
}

/* Points @header at the header at @block if it is intact; 1 found, 0 none, negative error. */
static int read_header(struct fold *fold, u32 block, const struct ressd_record_header **header)
{
	int ret;

	*header = read_block(fold, block, &ret);
	if (!*header)
		return ret;
	if (!ressd_record_valid(*header, fold->log->uuid, &fold->log->geom, block))
		return 0;
	fold->last_nr_blocks = le32_to_cpu((*header)->nr_blocks);
	return 1;
}

static bool chains(const struct chain *chain, const struct ressd_record_header *header)
{
	u64 segment_seq = le64_to_cpu(header->segment_seq);

	if (!chain->any)
		return true;
	return le64_to_cpu(header->seq) == chain->seq + 1 &&
	       le32_to_cpu(header->prev_crc) == chain->crc &&
	       (segment_seq == chain->segment_seq || segment_seq == chain->segment_seq + 1) &&
	       (le64_to_cpu(header->activation) == chain->activation ||
		le32_to_cpu(header->flags) & RESSD_RECORD_FIRST);
}

static void extend_chain(struct chain *chain, const struct ressd_record_header *header, u32 block)
{
	*chain = (struct chain) {
		.any = true,
		.seq = le64_to_cpu(header->seq),
		.segment_seq = le64_to_cpu(header->segment_seq),
		.activation = le64_to_cpu(header->activation),
		.tail_seq = le64_to_cpu(header->tail_seq),
		.crc = le32_to_cpu(header->crc),
		.end = block + le32_to_cpu(header->nr_blocks),
	};
}

/* Collects the claims of one segment's records. */
static int scan_segment(struct fold *fold, u32 slot)
{
	const struct ressd_geom *geom = &fold->log->geom;
	struct ressd_segment *segment = &fold->log->segments[slot];
	const struct ressd_record_header *header;
	struct chain chain = { };
	u32 block = ressd_geom_slot_start(geom, slot);
	u32 end = ressd_geom_slot_end(geom, slot);
	int ret;

	for (; block < end; block = chain.end) {
		ret = read_header(fold, block, &header);
		if (ret <= 0)
			return ret;
		if (!chains(&chain, header) ||
		    (chain.any && le64_to_cpu(header->segment_seq) != chain.segment_seq))
			return 0;
		if (!chain.any)
			segment->kill_seq = le64_to_cpu(header->seq);	/* borrowed: first record */
		extend_chain(&chain, header, block);
		segment->seq = chain.segment_seq;
		fold->any = true;
		fold->tail_seq = max_t(u64, fold->tail_seq, chain.tail_seq);
		fold->durable_seq = max_t(u64, fold->durable_seq,
					  le64_to_cpu(header->durable_seq));
		if (chain.segment_seq < fold->tail_seq)
			return 0;	/* dead: its later claims are no higher */
	}
	return 0;
}

static int log_damaged(struct fold *fold, const char *what, u64 number)
{
	snprintf(fold->error, fold->error_size,
		 "the log is damaged: %s %llu; nothing was changed, use ressdctl check", what,
		 (unsigned long long)number);
	return -EUCLEAN;
}

/* One MAP entry: normal block @lbn is now in log block @block. */
static void apply_map(struct ressd_log *log, u32 lbn, u32 block, u32 crc)
{
	struct ressd_node *old = ressd_map_find(&log->map, lbn);

	if (old) {
		u32 slot = ressd_geom_slot(&log->geom, ressd_map_block(&log->map, old));

		log->segments[slot].live--;
		ressd_map_erase(&log->map, old);
		old->lbn = RESSD_NO_BLOCK;
	}
	ressd_map_insert(&log->map, block, lbn);
	log->map.nodes[block].crc = crc;
	log->segments[ressd_geom_slot(&log->geom, block)].live++;
}

static void apply_unmap(struct ressd_log *log, u32 block)
{
	struct ressd_node *node = &log->map.nodes[block];

	if (node->lbn == RESSD_NO_BLOCK)
		return;		/* superseded by a later MAP, or its segment is dead */
	log->segments[ressd_geom_slot(&log->geom, block)].live--;
	ressd_map_erase(&log->map, node);
	node->lbn = RESSD_NO_BLOCK;
}

/* Checks every entry before the first one is applied. */
static int check_entries(struct fold *fold, const struct ressd_record_header *header)
{
	u32 nr_maps = le16_to_cpu(header->nr_maps);
	u32 nr = nr_maps + le16_to_cpu(header->nr_unmaps);
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 limit = i < nr_maps ? fold->log->normal_blocks : fold->log->geom.nr_blocks;

		if (le32_to_cpu(header->entries[i].block) >= limit)
			return log_damaged(fold, "an entry points outside the device, record",
				       le64_to_cpu(header->seq));
	}
	return 0;
}

static void apply_record(struct ressd_log *log, const struct ressd_record_header *header, u32 block)
{
	u32 nr_maps = le16_to_cpu(header->nr_maps);
	u32 nr = nr_maps + le16_to_cpu(header->nr_unmaps);
	u32 i;

	for (i = 0; i < nr_maps; i++)
		apply_map(log, le32_to_cpu(header->entries[i].block), block + 1 + i,
			  le32_to_cpu(header->entries[i].crc));
	for (; i < nr; i++)
		apply_unmap(log, le32_to_cpu(header->entries[i].block));
}

/*
 * Compares a record's data with its crcs; 1 intact, 0 torn, negative error.  The header is copied
 * to a place of its own, for reading data moves the window.
 */
static int check_data(struct fold *fold, const struct ressd_record_header *header, u32 block)
{
	u32 nr_maps = le16_to_cpu(header->nr_maps);
	u32 i;
	int ret;

	for (i = 0; i < nr_maps; i++) {
		const void *data;

		fold->last_nr_blocks = 0;	/* read ahead: all of it is wanted */
		data = read_block(fold, block + 1 + i, &ret);
		if (!data)
			return ret;
		if (ressd_crc(data, RESSD_BLOCK_SIZE) != le32_to_cpu(header->entries[i].crc))
			return 0;
	}
	return 1;
}

/*
 * Takes the record at @block if it continues @chain: 1 taken, 0 the chain ends here, negative
 * error.  The open record's buffer serves as the header's copy.
 */
static int take_record(struct fold *fold, struct chain *chain, u32 block, u64 segment_seq)
{
	struct ressd_log *log = fold->log;
	struct ressd_record_header *copy = log->records[0].buffer;
	const struct ressd_record_header *header;
	int ret;

	ret = read_header(fold, block, &header);
	if (ret <= 0)
		return ret;
	if (le64_to_cpu(header->segment_seq) != segment_seq || !chains(chain, header))
		return 0;
	memcpy(copy, header, sizeof(*copy));
	if (le64_to_cpu(copy->seq) > fold->durable_seq) {
		ret = check_data(fold, copy, block);
		if (ret <= 0) {
			fold->stats->dropped = 1;
			/* Its seq and prev_crc are what the next record must have. */
			if (!ret && !chain->any) {
				chain->seq = le64_to_cpu(copy->seq) - 1;
				chain->crc = le32_to_cpu(copy->prev_crc);
			}
			return ret;
		}
	}
	ret = check_entries(fold, copy);
	if (ret)
		return ret;
	apply_record(log, copy, block);
	extend_chain(chain, copy, block);
	fold->stats->records++;
	return 1;
}

/* Follows the chain from the tail; leaves in @chain what the next record has to continue. */
static int walk(struct fold *fold, struct chain *chain)
{
	const struct ressd_geom *geom = &fold->log->geom;
	u64 segment_seq = fold->tail_seq;
	u32 slot = ressd_geom_slot_of_seq(geom, segment_seq);
	u32 block = ressd_geom_slot_start(geom, slot);
	u32 walked = 1;
	int ret;

	chain->segment_seq = segment_seq;
	chain->end = block;
	for (;;) {
		ret = 0;
		if (block < ressd_geom_slot_end(geom, slot))
			ret = take_record(fold, chain, block, segment_seq);
		if (ret < 0)
			return ret;
		if (ret) {
			block = chain->end;
			continue;
		}
		/* A segment may end early: then the chain goes on in the next one. */
		if (!chain->any || segment_seq != chain->segment_seq ||
		    walked++ == geom->nr_segments)
			return 0;
		slot = ressd_geom_slot_of_seq(geom, ++segment_seq);
		if (fold->log->segments[slot].seq != segment_seq)
			return 0;
		block = ressd_geom_slot_start(geom, slot);
		if (fold->reader->progress)
			fold->reader->progress(fold->reader->context, walked, geom->nr_segments);
	}
}

/*
 * True if the tail segment has lost a record that was known durable: a later segment was begun, so
 * the record before that one's first belongs to the tail or comes after it.
 */
static bool tail_is_lost(const struct fold *fold)
{
	const struct ressd_log *log = fold->log;
	u32 slot;

	for (slot = 0; slot < log->geom.nr_segments; slot++)
		if (log->segments[slot].seq > fold->tail_seq &&
		    log->segments[slot].kill_seq <= fold->durable_seq + 1)
			return true;
	return false;
}

/* Puts the head behind the last record taken. */
static void set_head(struct fold *fold, const struct chain *chain)
{
	struct ressd_log *log = fold->log;
	u32 nr = log->geom.nr_segments;
	u64 oldest = chain->segment_seq >= nr ? chain->segment_seq - nr + 1 : 1;

	log->open = 0;
	log->head_seq = chain->segment_seq;
	log->head_maps = 1;	/* not known: assume that there is data */
	log->tail_seq = fold->tail_seq;
	/* Only what the chain itself says may be reused: other claims are not durable in it. */
	log->reuse_seq = chain->any ? max_t(u64, chain->tail_seq, oldest) : oldest;
	log->written_tail = log->reuse_seq;
	log->prev_crc = chain->crc;
	log->written_seq = max_t(u64, chain->seq, fold->durable_seq);
	log->durable_seq = log->written_seq;
	log->records[0].seq = log->written_seq + 1;
	log->records[0].segment_seq = log->head_seq;
	log->records[0].block = chain->end;
}

int ressd_recover(struct ressd_log *log, const struct ressd_reader *reader,
		  struct ressd_recovery *recovery, char *error, size_t size)
{
	struct fold fold = {
		.log = log, .reader = reader, .stats = recovery,
		.error = error, .error_size = size,
	};
	struct chain chain = { };
	u32 slot;
	int ret;

	*recovery = (struct ressd_recovery) { };
	log->opening = true;
	error[0] = '\0';
	for (slot = 0; slot < log->geom.nr_segments; slot++) {
		fold.last_nr_blocks = LONG_RECORD_BLOCKS;
		ret = scan_segment(&fold, slot);
		if (ret)
			return ret;
	}
	if (!fold.any)
		return 0;
	if (!fold.tail_seq)
		return log_damaged(&fold, "no tail is known, durable record", fold.durable_seq);

	ret = walk(&fold, &chain);
	if (ret)
		return ret;
	if (chain.any && chain.seq < fold.durable_seq)
		return log_damaged(&fold, "records are missing from number", chain.seq + 1);
	if (!chain.any && tail_is_lost(&fold))
		return log_damaged(&fold, "nothing is left of segment", fold.tail_seq);
	set_head(&fold, &chain);
	for (slot = 0; slot < log->geom.nr_segments; slot++) {
		log->segments[slot].seq = 0;
		log->segments[slot].kill_seq = 0;
	}
	return 0;
}
