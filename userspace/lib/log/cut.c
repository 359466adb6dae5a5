// SPDX-License-Identifier: GPL-2.0-only
/* Cutting a broken log; see cut.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <linux/kernel.h>
#include "log/cut.h"

/*
 * Of a covered block: the first intact one behind the cut.  If there is none, then the last one of
 * other records that do not count: new ones of a repair that was interrupted have their numbers.
 */
struct copy {
	u64 rank;			/* the less the better; 0: none was found */
	u32 block, crc;
};

struct planning {
	struct log_cut *cut;
	struct log_image *image;
	struct ressd_map map;		/* of what stays; in the memory of the image */
	u64 first_tail;			/* segment that the chain begins with */
	struct block_list unmaps;	/* log blocks */
	u64 readable;			/* acknowledged records found intact behind the cut */
	u64 segment_seq;		/* segment that the new records go to */
	u64 told_by;			/* last segment whose summary the chain needed; 0: none */
	u32 epoch;			/* of the last record that stays */
	u32 epoch_block;		/* log block in its segment at which that begins */
	struct copy copies[RESSD_COVER_MAX];
};

static int add_block(struct block_list *list, u32 block)
{
	if (list->nr == list->allocated) {
		size_t allocated = list->allocated ? list->allocated * 2 : 64;
		u32 *blocks = realloc(list->list, allocated * sizeof(*blocks));

		if (!blocks)
			return -ENOMEM;
		list->list = blocks;
		list->allocated = allocated;
	}
	list->list[list->nr++] = block;
	return 0;
}

static int compare_blocks(const void *a, const void *b)
{
	u32 first = *(const u32 *)a, second = *(const u32 *)b;

	return first < second ? -1 : first > second;
}

static void make_unique(struct block_list *list)
{
	size_t from, to = 0;

	if (!list->nr)
		return;
	qsort(list->list, list->nr, sizeof(*list->list), compare_blocks);
	for (from = 1; from < list->nr; from++)
		if (list->list[from] != list->list[to])
			list->list[++to] = list->list[from];
	list->nr = to + 1;
}

static void keep_map(struct planning *planning, u32 lbn, u32 block)
{
	struct ressd_node *old = ressd_map_find(&planning->map, lbn);

	if (old) {
		ressd_map_erase(&planning->map, old);
		old->lbn = RESSD_NO_BLOCK;
	}
	ressd_map_insert(&planning->map, block, lbn);
}

/* True if @block was mapped by what stays, and is no more. */
static bool drop_map(struct planning *planning, u32 block)
{
	struct ressd_node *node = &planning->map.nodes[block];

	if (node->lbn == RESSD_NO_BLOCK)
		return false;
	ressd_map_erase(&planning->map, node);
	node->lbn = RESSD_NO_BLOCK;
	return true;
}

static int keep_record(void *context, const struct log_spot *spot)
{
	struct planning *planning = context;
	u32 nr_maps = le16_to_cpu(spot->header.nr_maps), i;
	u32 nr = nr_maps + le16_to_cpu(spot->header.nr_unmaps);

	if (planning->epoch != le32_to_cpu(spot->header.epoch) ||
	    spot->block == ressd_geom_slot_start(&planning->image->geom, spot->slot))
		planning->epoch_block = spot->block;
	planning->epoch = le32_to_cpu(spot->header.epoch);
	for (i = 0; i < nr_maps; i++)
		keep_map(planning, le32_to_cpu(spot->header.entries[i].block), spot->block + 1 + i);
	for (; i < nr; i++)
		drop_map(planning, le32_to_cpu(spot->header.entries[i].block));
	return 0;
}

/* The records after @last of a segment, from its summary: the order of MAPs and UNMAPs is free. */
static int keep_summary(void *context, const struct ressd_summary *summary, u64 last)
{
	struct planning *planning = context;
	const struct ressd_geom *geom = &planning->image->geom;
	const __le32 *unmaps = ressd_summary_unmaps(summary, geom);
	u32 first = ressd_geom_slot_of_seq(geom, le64_to_cpu(summary->segment_seq)) *
		    geom->segment_blocks;
	u32 i;

	(void)last;
	planning->told_by = le64_to_cpu(summary->segment_seq);
	planning->epoch = le32_to_cpu(summary->epoch);
	planning->epoch_block = le32_to_cpu(summary->next_block);
	for (i = 0; i < geom->segment_blocks; i++) {
		u32 lbn = le32_to_cpu(summary->maps[i].block);

		/* What the headers have told already is told again, with the same outcome. */
		if (lbn == RESSD_NO_BLOCK || planning->map.nodes[first + i].lbn == lbn)
			continue;
		/* Unless one of them lies: recovery reads the summary. */
		drop_map(planning, first + i);
		keep_map(planning, lbn, first + i);
	}
	for (i = 0; i < le32_to_cpu(summary->nr_unmaps); i++)
		drop_map(planning, le32_to_cpu(unmaps[i]));
	return 0;
}

/*
 * An UNMAP behind the cut is as true as before: what superseded the block is durable.  Unless it
 * speaks of what stood there before a repair, which was interrupted, put a copy in its place.
 */
static int lose_unmap(struct planning *planning, u32 block, u32 epoch)
{
	if (epoch < planning->epoch && block >= planning->epoch_block &&
	    block < planning->cut->chain.block)
		return 0;
	if (block < planning->image->geom.nr_blocks && drop_map(planning, block))
		return add_block(&planning->unmaps, block);
	return 0;
}

static void note_copy(struct planning *planning, const struct ressd_entry *entry, u32 block,
		      u64 seq)
{
	const u64 rank = seq > planning->cut->chain.link.seq ? seq : ~seq;
	u32 lbn = le32_to_cpu(entry->block), crc = le32_to_cpu(entry->crc);
	struct copy *copy = planning->copies + min(lbn, RESSD_COVER_MAX - 1);
	const void *data;

	/* The header of the new record goes to the place of the cut. */
	if (lbn >= planning->image->info.cover_blocks || block == planning->cut->block ||
	    (copy->rank && copy->rank <= rank))
		return;
	data = log_image_block(planning->image, block);
	if (data && ressd_crc(data, RESSD_BLOCK_SIZE) == crc)
		*copy = (struct copy) { .rank = rank, .block = block, .crc = crc };
}

static int lose_record(void *context, const struct log_spot *spot)
{
	struct planning *planning = context;
	const struct log_chain *chain = &planning->cut->chain;
	u32 nr_maps = le16_to_cpu(spot->header.nr_maps), i;
	u32 nr = nr_maps + le16_to_cpu(spot->header.nr_unmaps);
	bool acknowledged = log_spot_seq(spot) <= chain->claims.durable_seq;
	int code = 0;

	for (i = 0; i < nr_maps; i++)
		if (le64_to_cpu(spot->header.segment_seq) >= chain->claims.tail_seq)
			note_copy(planning, &spot->header.entries[i], spot->block + 1 + i,
				  log_spot_seq(spot));
	if (log_spot_seq(spot) <= chain->link.seq)
		return 0;
	planning->readable += acknowledged;
	for (i = 0; !code && acknowledged && i < nr_maps; i++)
		code = add_block(&planning->cut->stale, le32_to_cpu(spot->header.entries[i].block));
	for (i = nr_maps; !code && i < nr; i++)
		code = lose_unmap(planning, le32_to_cpu(spot->header.entries[i].block),
				  le32_to_cpu(spot->header.epoch));
	return code ? code : add_block(&planning->cut->blank, spot->block);
}

/*
 * Is it of the segment that the new records go to, and the chain does without it?  Then it speaks
 * of others than are there: of those that are cut off, or that the new records of a repair stand in
 * for which was interrupted.
 */
static bool is_superseded(const struct planning *planning, const struct ressd_summary *summary)
{
	u64 segment_seq = le64_to_cpu(summary->segment_seq);

	return segment_seq == planning->segment_seq && segment_seq != planning->told_by;
}

/* The summary of a slot, if it goes: its first block does. */
static int lose_summary(struct planning *planning, u32 slot)
{
	const struct ressd_geom *geom = &planning->image->geom;
	const struct ressd_summary *first = log_image_block(planning->image,
							    ressd_geom_slot_end(geom, slot));
	struct ressd_summary *summary;
	u32 place = ressd_geom_slot_end(geom, slot), i;
	int code = 0;

	if (!first || !ressd_summary_header_valid(first, planning->image->info.uuid, geom, place))
		return 0;
	if (is_superseded(planning, first))
		planning->cut->summary = place;
	else if (le64_to_cpu(first->last_seq) > planning->cut->chain.link.seq)
		code = add_block(&planning->cut->blank, place);
	else
		return 0;
	summary = log_read_summary(planning->image, slot, le64_to_cpu(first->segment_seq));
	for (i = 0; !code && summary && i < le32_to_cpu(summary->nr_unmaps); i++)
		code = lose_unmap(planning, le32_to_cpu(ressd_summary_unmaps(summary, geom)[i]),
				  le32_to_cpu(summary->epoch));
	for (i = 0; summary && i < geom->segment_blocks; i++)
		note_copy(planning, &summary->maps[i], slot * geom->segment_blocks + i,
			  le64_to_cpu(summary->last_seq));
	for (i = 0; !code && summary && i < geom->segment_blocks; i++)
		if (le32_to_cpu(summary->maps[i].block) != RESSD_NO_BLOCK &&
		    slot * geom->segment_blocks + i >= planning->cut->chain.block)
			code = add_block(&planning->cut->stale,
					 le32_to_cpu(summary->maps[i].block));
	free(summary);
	return code;
}

/*
 * Recovery looks at every block behind the end, also among the data of records that are dead: what
 * is an intact header there would count, and what cannot be read would end it.  None of a block
 * that stays.
 */
static int lose_hidden(struct planning *planning, u32 slot)
{
	const struct ressd_geom *geom = &planning->image->geom;
	u32 block = ressd_geom_slot_start(geom, slot), end = ressd_geom_slot_end(geom, slot);
	int code = 0;

	for (; !code && block < end; block++) {
		const struct ressd_record_header *header =
			log_image_block(planning->image, block);

		if (planning->map.nodes[block].lbn != RESSD_NO_BLOCK)
			continue;
		planning->cut->unreadable += !header;
		if (!header ||
		    (ressd_record_valid(header, planning->image->info.uuid, geom, block) &&
		     le64_to_cpu(header->seq) > planning->cut->chain.link.seq))
			code = add_block(&planning->cut->blank, block);
	}
	return code;
}

static int look_behind(struct planning *planning)
{
	u32 slot;
	int code = 0;

	for (slot = 0; !code && slot < planning->image->geom.nr_segments; slot++) {
		code = log_walk_slot(planning->image, slot, true, NULL, lose_record, planning);
		if (!code)
			code = lose_hidden(planning, slot);
		if (!code)
			code = lose_summary(planning, slot);
	}
	return code;
}

/* Does what stays lack the covered block, and can it have a copy? */
static bool is_copied(const struct planning *planning, u32 lbn)
{
	return planning->copies[lbn].rank && !ressd_map_find(&planning->map, lbn);
}

/*
 * How many covered blocks get a copy.  Then the first new record has room for them, and the others
 * for what is before *@end, lest they overwrite what is copied.
 */
static u32 count_copies(struct planning *planning, u32 *end)
{
	const u32 nr_lbns = planning->image->info.cover_blocks;
	struct log_cut *cut = planning->cut;
	u32 lbn, nr = 0, lost = 0;

	for (lbn = 0; lbn < nr_lbns; lbn++) {
		nr += is_copied(planning, lbn);
		lost += !planning->copies[lbn].rank && !ressd_map_find(&planning->map, lbn);
	}
	if (nr >= *end - cut->block) {
		lost += nr;
		nr = 0;
	}
	/* If it is not covered, home may have them. */
	cut->lost_copies = cut->chain.link.uncovered ? 0 : lost;
	for (lbn = 0; nr && lbn < nr_lbns; lbn++)
		if (is_copied(planning, lbn) && planning->copies[lbn].block > cut->block + nr)
			*end = min(*end, planning->copies[lbn].block);
	return nr;
}

/*
 * The covered blocks in the order in which the first new record holds them: what stands there
 * already stays in its place, so that a repair that is interrupted can be repeated.
 */
static void order_copies(const struct planning *planning, u32 nr, u32 *lbns)
{
	const u32 nr_lbns = planning->image->info.cover_blocks, first = planning->cut->block + 1;
	u32 lbn, i = 0;

	memset(lbns, 0xff, nr * sizeof(*lbns));
	for (lbn = 0; nr && lbn < nr_lbns; lbn++)
		if (is_copied(planning, lbn) && planning->copies[lbn].block - first < nr)
			lbns[planning->copies[lbn].block - first] = lbn;
	for (lbn = 0; nr && lbn < nr_lbns; lbn++) {
		u32 place = planning->copies[lbn].block - first;

		if (!is_copied(planning, lbn) || (place < nr && lbns[place] == lbn))
			continue;
		while (lbns[i] != RESSD_NO_BLOCK)
			i++;
		lbns[i] = lbn;
	}
}

static int copy_covered(struct planning *planning)
{
	struct ressd_record_header *record = planning->cut->records;
	const u32 nr = planning->cut->nr_copies;
	u32 lbns[RESSD_COVER_MAX], i;

	order_copies(planning, nr, lbns);
	for (i = 0; i < nr; i++) {
		const struct copy *copy = &planning->copies[lbns[i]];
		const void *data = log_image_block(planning->image, copy->block);

		if (!data)
			return -EIO;
		record->entries[i].block = cpu_to_le32(lbns[i]);
		record->entries[i].crc = cpu_to_le32(copy->crc);
		memcpy(record + 1 + i, data, RESSD_BLOCK_SIZE);
	}
	for (i = 0; i < nr; i++)
		keep_map(planning, lbns[i], planning->cut->block + 1 + i);
	return 0;
}

/*
 * Makes the new records, the first one with the copies; the number that find room in their segment,
 * one at least.
 */
static int make_records(struct planning *planning, struct failure *failure)
{
	struct log_cut *cut = planning->cut;
	const struct ressd_geom *geom = &planning->image->geom;
	u32 end = ressd_geom_slot_end(geom, ressd_geom_slot(geom, cut->block));
	u32 copies = count_copies(planning, &end);
	u32 wanted = DIV_ROUND_UP(max_t(size_t, planning->unmaps.nr + copies, 1),
				  RESSD_RECORD_ENTRIES);
	u32 prev_crc = cut->chain.link.crc, epoch = cut->chain.claims.epoch, i, at = 0, block = 0;
	bool home = planning->image->info.cover_blocks &&
		    (!cut->chain.any || cut->chain.link.uncovered);
	u32 uncovered = home ? RESSD_RECORD_UNCOVERED : 0;	/* as before the cut */
	u64 activation = 0;

	if (getrandom(&activation, sizeof(activation), 0) != sizeof(activation))
		return fail(failure, -EIO, "the kernel gives no random numbers");
	cut->nr_copies = copies;
	cut->nr_blocks = min_t(u32, wanted + copies, end - cut->block);
	cut->records = calloc(cut->nr_blocks, sizeof(*cut->records));
	if (!cut->records)
		return fail(failure, -ENOMEM, "there is not enough memory for the new records");
	if (copy_covered(planning))
		return fail(failure, -EIO, "a covered block cannot be read again");
	for (i = 0; block < cut->nr_blocks; i++, copies = 0) {
		struct ressd_record_header *header = &cut->records[block];
		u32 nr = min_t(u32, planning->unmaps.nr - at, RESSD_RECORD_ENTRIES - copies), n;

		header->magic = cpu_to_le64(RESSD_RECORD_MAGIC);
		header->version = cpu_to_le32(RESSD_FORMAT_VERSION);
		memcpy(header->uuid, planning->image->info.uuid, sizeof(header->uuid));
		header->seq = cpu_to_le64(cut->chain.link.seq + 1 + i);
		header->segment_seq = cpu_to_le64(planning->segment_seq);
		header->tail_seq = cpu_to_le64(cut->chain.claims.tail_seq);
		header->durable_seq = cpu_to_le64(cut->chain.link.seq);
		header->activation = cpu_to_le64(activation | 1);
		header->prev_crc = cpu_to_le32(prev_crc);
		header->nr_maps = cpu_to_le16(copies);
		header->nr_unmaps = cpu_to_le16(nr);
		header->nr_blocks = cpu_to_le32(1 + copies);
		header->block = cpu_to_le32(cut->block + block);
		header->epoch = cpu_to_le32(epoch + (epoch != ~0U));
		header->flags = cpu_to_le32((i ? 0 : RESSD_RECORD_FIRST) | uncovered);
		for (n = 0; n < nr; n++)
			header->entries[copies + n].block =
				cpu_to_le32(planning->unmaps.list[at++]);
		ressd_record_seal(header);
		prev_crc = le32_to_cpu(header->crc);
		block += 1 + copies;
	}
	cut->unmapped = at;
	cut->unmaps_left_out = planning->unmaps.nr - at;
	return 0;
}

/* The new records go where the chain ends, or at the start of the next segment. */
static u64 place_records(struct log_cut *cut, const struct ressd_geom *geom)
{
	u64 segment_seq = cut->chain.link.segment_seq;
	u32 slot = ressd_geom_slot_of_seq(geom, segment_seq);

	cut->block = cut->chain.block;
	if (cut->block >= ressd_geom_slot_start(geom, slot) &&
	    cut->block < ressd_geom_slot_end(geom, slot))
		return segment_seq;
	segment_seq++;
	cut->block = ressd_geom_slot_start(geom, ressd_geom_slot_of_seq(geom, segment_seq));
	return segment_seq;
}

/* A header that a new record overwrites anyway need not be blanked. */
static void spare_new_records(struct log_cut *cut)
{
	size_t from, to = 0;

	make_unique(&cut->blank);
	for (from = 0; from < cut->blank.nr; from++)
		if (cut->blank.list[from] - cut->block >= cut->nr_blocks)
			cut->blank.list[to++] = cut->blank.list[from];
	cut->blank.nr = to;
}

/* What was copied from behind the cut is not older than it should be. */
static void spare_copies(struct log_cut *cut)
{
	size_t from, to = 0;
	u32 i;

	make_unique(&cut->stale);
	for (from = 0; from < cut->stale.nr; from++) {
		for (i = 0; i < cut->nr_copies; i++)
			if (le32_to_cpu(cut->records->entries[i].block) == cut->stale.list[from])
				break;
		if (i == cut->nr_copies)
			cut->stale.list[to++] = cut->stale.list[from];
	}
	cut->stale.nr = to;
}

/* The tail that the new records name may be later than the one that the chain began with. */
static void forget_dead(struct planning *planning)
{
	const struct ressd_geom *geom = &planning->image->geom;
	u64 segment_seq = planning->first_tail;

	for (; segment_seq < planning->cut->chain.claims.tail_seq; segment_seq++) {
		u32 slot = ressd_geom_slot_of_seq(geom, segment_seq);
		u32 block = ressd_geom_slot_start(geom, slot);

		for (; block < ressd_geom_slot_end(geom, slot); block++)
			drop_map(planning, block);
	}
}

static int make_plan(struct planning *planning, struct failure *failure)
{
	struct log_cut *cut = planning->cut;
	int code;

	planning->segment_seq = place_records(cut, &planning->image->geom);
	forget_dead(planning);
	code = look_behind(planning);
	if (code)
		return fail(failure, code, "there is not enough memory to prepare the repair");
	cut->lost_records = cut->chain.claims.durable_seq > cut->chain.link.seq ?
			    cut->chain.claims.durable_seq - cut->chain.link.seq : 0;
	cut->unknown_records = cut->lost_records - min_t(u64, planning->readable,
							 cut->lost_records);
	code = make_records(planning, failure);
	if (code)
		return code;
	spare_new_records(cut);
	spare_copies(cut);
	cut->kept_blocks = planning->map.nr_mapped;
	return 1;
}

/* The map of what stays is in the memory that recovery uses, too. */
static int follow(struct planning *planning, bool as_recovery)
{
	struct log_image *image = planning->image;
	struct log_chain_visitor visitor = {
		.record = keep_record, .summary = keep_summary, .context = planning,
		.as_recovery = as_recovery,
	};

	planning->told_by = 0;
	planning->epoch = 0;
	ressd_map_init(&planning->map, image->nodes, image->clean, image->geom.nr_blocks);
	return log_chain_follow(&planning->cut->chain, image, &visitor);
}

/*
 * Recovery may begin before the tail that all headers together claim, and meet damage there.  The
 * cut is where it ends, but what the new record repeats are the claims of all.
 */
static int follow_as_recovery(struct planning *planning)
{
	struct ressd_claims *claims = &planning->cut->chain.claims, all = *claims;
	int code = follow(planning, true);

	planning->first_tail = claims->tail_seq;
	claims->epoch = max_t(u32, claims->epoch, all.epoch);
	claims->tail_seq = max_t(u64, claims->tail_seq, all.tail_seq);
	claims->durable_seq = max_t(u64, claims->durable_seq, all.durable_seq);
	return code;
}

static int refuse_cut(const struct log_cut *cut, const struct ressd_geom *geom,
		      struct failure *failure)
{
	const struct ressd_claims *claims = &cut->chain.claims;
	u32 slot = ressd_geom_slot_of_seq(geom, claims->tail_seq);

	return fail(failure, -ENODATA,
		    "the log is damaged from its first record on (segment %llu, log block %u), so nothing of it can be kept; if it may be given up, use ressdctl format --force: then up to %llu acknowledged records are lost",
		    claims->tail_seq, ressd_geom_slot_start(geom, slot), claims->durable_seq);
}

/* Of what can be read nothing is a record, but perhaps of the rest. */
static int refuse_unread(const struct log_image *image, struct failure *failure)
{
	return fail(failure, -EUCLEAN,
		    "the log has no record that can be read, so nothing of it can be kept: %.300s; copy what can be read to a new medium, with ddrescue for example, and repair that",
		    image->failure.text);
}

/* What recovery says of a chain that looks whole; true in *@unread if it cannot read the log. */
static int ask_recovery(struct planning *planning, bool *unread)
{
	int recovered = log_image_recover(planning->image);

	if (recovered == -EUCLEAN)
		return follow_as_recovery(planning);
	*unread = recovered;
	return recovered ? follow(planning, false) : 0;	/* the map is that of recovery now */
}

int log_cut_plan(struct log_cut *cut, struct log_image *image, struct failure *failure)
{
	struct planning planning = { .cut = cut, .image = image };
	bool unread = false;
	int code;

	memset(cut, 0, sizeof(*cut));
	code = follow(&planning, false);
	planning.first_tail = cut->chain.claims.tail_seq;
	if ((!code && !cut->chain.broken) || code == -ENODATA)
		code = ask_recovery(&planning, &unread);
	if (code == -ENODATA && unread)
		return refuse_unread(image, failure);
	if (code == -ENODATA || (!code && !cut->chain.broken && !unread))
		return 0;
	if (code)
		return fail(failure, code, "there is not enough memory to prepare the repair");
	if (!cut->chain.any || cut->chain.claims.tail_seq > place_records(cut, &image->geom))
		return refuse_cut(cut, &image->geom, failure);
	code = make_plan(&planning, failure);
	free(planning.unmaps.list);
	return code;
}

u32 log_cut_nr_writes(const struct log_cut *cut)
{
	return cut->nr_blocks + !!cut->summary + cut->blank.nr;
}

struct cut_write log_cut_write(const struct log_cut *cut, u32 i)
{
	/* Data first: a header counts by what is known durable, whatever stands behind it. */
	if (i < cut->nr_copies)
		return (struct cut_write) {
			.block = cut->block + 1 + i, .data = &cut->records[1 + i],
		};
	if (i < cut->nr_blocks) {
		u32 at = i == cut->nr_copies ? 0 : i;

		return (struct cut_write) {
			.block = cut->block + at, .data = &cut->records[at],
			.flush = cut->nr_copies && !at,
		};
	}
	i -= cut->nr_blocks;
	if (cut->summary && !i)
		return (struct cut_write) { .block = cut->summary, .flush = true };
	i -= !!cut->summary;
	return (struct cut_write) { .block = cut->blank.list[i], .flush = !i };
}

void log_cut_free(struct log_cut *cut)
{
	free(cut->records);
	free(cut->blank.list);
	free(cut->stale.list);
	memset(cut, 0, sizeof(*cut));
}
