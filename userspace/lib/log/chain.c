// SPDX-License-Identifier: GPL-2.0-only
/* The chain of records that counts; see chain.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "log/chain.h"

struct follow {
	struct log_chain *chain;
	struct log_image *image;
	const struct log_chain_visitor *visitor;
	struct ressd_reader reader;
	struct ressd_window window;
	struct ressd_segment *segments;	/* which one each slot begins with */
	u32 end;			/* log block after the last record */
	bool numbered;			/* chain->link.seq is known, if only from a torn record */
	int code;			/* what a visitor returned */
};

const char *log_stop_words(enum log_stop stop)
{
	static const char *const words[] = {
		[LOG_STOP_NOTHING] = "no further segment",
		[LOG_STOP_BLANK] = "a blank block",
		[LOG_STOP_UNREADABLE] = "a block that cannot be read",
		[LOG_STOP_NO_RECORD] = "no intact record header",
		[LOG_STOP_STALE] = "a record that does not continue the chain",
		[LOG_STOP_TORN] = "a record whose data does not match its checksums",
		[LOG_STOP_RANGE] = "a record with an entry outside of the device",
	};

	return words[stop];
}

struct ressd_summary *log_read_summary(struct log_image *image, u32 slot, u64 segment_seq)
{
	const struct ressd_geom *geom = &image->geom;
	u32 start = ressd_geom_slot_end(geom, slot), i;
	struct ressd_summary *summary = malloc(ressd_summary_bytes(geom));

	for (i = 0; summary && i < geom->summary_blocks; i++) {
		const void *block = log_image_block(image, start + i);

		if (!block) {
			free(summary);
			return NULL;
		}
		memcpy((u8 *)summary + (size_t)i * RESSD_BLOCK_SIZE, block, RESSD_BLOCK_SIZE);
	}
	if (summary && (!ressd_summary_valid(summary, image->info.uuid, geom, start) ||
			(segment_seq && le64_to_cpu(summary->segment_seq) != segment_seq))) {
		free(summary);
		return NULL;
	}
	return summary;
}

/* Does the data of @spot match its checksums?  *@bad gets the first entry that does not. */
static bool data_is_intact(struct log_image *image, const struct log_spot *spot, u32 *bad)
{
	u32 nr = le16_to_cpu(spot->header.nr_maps);

	for (*bad = 0; *bad < nr; (*bad)++) {
		const void *data = log_image_block(image, spot->block + 1 + *bad);

		if (!data || ressd_crc(data, RESSD_BLOCK_SIZE) !=
		    le32_to_cpu(spot->header.entries[*bad].crc))
			return false;
	}
	return true;
}

static int collect_claim(void *context, const struct log_spot *spot)
{
	ressd_claims_of_record(context, &spot->header);
	return 0;
}

/* A claim is true even if its record is dropped, so every intact header counts. */
static void collect_claims(struct follow *follow)
{
	struct log_image *image = follow->image;
	struct log_chain *chain = follow->chain;
	const struct ressd_summary *summary;
	u32 slot;

	for (slot = 0; slot < image->geom.nr_segments; slot++) {
		u32 place = ressd_geom_slot_end(&image->geom, slot);

		log_walk_slot(image, slot, true, NULL, collect_claim, &chain->claims);
		summary = log_image_block(image, place);
		if (!summary || !ressd_summary_header_valid(summary, image->info.uuid,
							    &image->geom, place))
			continue;
		ressd_claims_of_summary(&chain->claims, summary);
	}
}

static bool entries_in_range(const struct log_image *image, const struct log_spot *spot)
{
	u32 nr_maps = le16_to_cpu(spot->header.nr_maps), i;
	u32 nr = nr_maps + le16_to_cpu(spot->header.nr_unmaps);

	for (i = 0; i < nr; i++)
		if (le32_to_cpu(spot->header.entries[i].block) >=
		    (i < nr_maps ? image->info.table.len / RESSD_BLOCK_SECTORS :
		     image->geom.nr_blocks))
			return false;
	return true;
}

/* Reads the header at chain->block.  False, and the reason in chain->stop, if there is none. */
static bool read_spot(struct follow *follow, struct log_spot *spot, u32 slot)
{
	struct log_chain *chain = follow->chain;
	const void *block = log_image_block(follow->image, chain->block);

	spot->block = chain->block;
	spot->slot = slot;
	spot->loose = false;
	if (!block) {
		chain->stop = LOG_STOP_UNREADABLE;
	} else if (ressd_is_zero(block, RESSD_BLOCK_SIZE)) {
		chain->stop = LOG_STOP_BLANK;
	} else if (!ressd_record_valid(block, follow->image->info.uuid, &follow->image->geom,
				       chain->block)) {
		chain->stop = LOG_STOP_NO_RECORD;
	} else {
		memcpy(&spot->header, block, sizeof(spot->header));
		return true;
	}
	return false;
}

/* A first record that is torn still says which number comes next. */
static void drop_torn(struct follow *follow, const struct log_spot *spot)
{
	struct log_chain *chain = follow->chain;

	chain->stop = LOG_STOP_TORN;
	if (chain->any)
		return;
	follow->numbered = true;
	chain->link.seq = log_spot_seq(spot) - 1;
	chain->link.crc = le32_to_cpu(spot->header.prev_crc);
}

/* Takes the record at chain->block of segment @segment_seq; false if the chain ends there. */
static bool take_record(struct follow *follow, u64 segment_seq, u32 slot)
{
	struct log_chain *chain = follow->chain;
	struct log_spot spot;
	u32 bad;

	if (!read_spot(follow, &spot, slot))
		return false;
	if (log_spot_segment(&spot) != segment_seq ||
	    (chain->any && !ressd_record_follows(&spot.header, &chain->link)))
		chain->stop = LOG_STOP_STALE;
	else if (log_spot_seq(&spot) > chain->claims.durable_seq &&
		 !data_is_intact(follow->image, &spot, &bad))
		drop_torn(follow, &spot);
	else if (!entries_in_range(follow->image, &spot))
		chain->stop = LOG_STOP_RANGE;
	else
		goto taken;
	return false;
taken:
	chain->any = true;
	chain->records++;
	ressd_record_link(&spot.header, &chain->link);
	chain->block += le32_to_cpu(spot.header.nr_blocks);
	follow->end = chain->block;
	if (follow->visitor && follow->visitor->record)
		follow->code = follow->visitor->record(follow->visitor->context, &spot);
	return !follow->code;
}

/* Is there an intact header at @block that continues @link? */
static bool continues(struct follow *follow, const struct ressd_link *link, u32 block)
{
	const struct ressd_geom *geom = &follow->image->geom;
	const void *header;

	if (block >= ressd_geom_slot_end(geom, ressd_geom_slot(geom, block)))
		return false;
	header = log_image_block(follow->image, block);
	return header && ressd_record_valid(header, follow->image->info.uuid, geom, block) &&
	       ressd_record_follows(header, link);
}

/* A summary counts only if what follows it shows that it speaks of the segment's last record. */
static bool is_confirmed(struct follow *follow, const struct ressd_summary *summary)
{
	const struct ressd_geom *geom = &follow->image->geom;
	const struct ressd_summary *behind;
	struct ressd_link link;
	u32 next, place;

	ressd_summary_link(summary, &link);
	next = ressd_geom_slot_of_seq(geom, link.segment_seq + 1);
	if (continues(follow, &link, ressd_geom_slot_start(geom, next)) ||
	    continues(follow, &link, le32_to_cpu(summary->next_block)))
		return true;
	place = ressd_geom_slot_end(geom, next);
	behind = log_image_block(follow->image, place);
	return behind &&
	       ressd_summary_header_valid(behind, follow->image->info.uuid, geom, place) &&
	       ressd_summary_follows(behind, &link);
}

/* Where no record before tells: is the segment's first record intact, but not @summary's? */
static bool begins_with_another(struct follow *follow, const struct ressd_summary *summary)
{
	const struct ressd_geom *geom = &follow->image->geom;
	u64 segment_seq = le64_to_cpu(summary->segment_seq);
	u32 start = ressd_geom_slot_start(geom, ressd_geom_slot_of_seq(geom, segment_seq));
	const struct ressd_record_header *header = log_image_block(follow->image, start);
	struct ressd_link first;

	if (summary->durable_seq == summary->last_seq || !header ||
	    !ressd_record_valid(header, follow->image->info.uuid, geom, start) ||
	    le64_to_cpu(header->segment_seq) != segment_seq)
		return false;
	ressd_record_link(header, &first);
	return !ressd_summary_begins_with(summary, &first);
}

/*
 * The summary of segment @segment_seq, if recovery would believe it after a chain that ends in
 * @before (NULL: none): not in a slot that begins with another segment, but for the tail's.  The
 * caller frees it.
 */
static struct ressd_summary *believed_summary(struct follow *follow, u64 segment_seq,
					      const struct ressd_link *before)
{
	u32 slot = ressd_geom_slot_of_seq(&follow->image->geom, segment_seq);
	struct ressd_summary *summary = log_read_summary(follow->image, slot, segment_seq);

	if (summary && (le64_to_cpu(summary->last_seq) > follow->chain->claims.durable_seq ||
			(before && !ressd_summary_follows(summary, before)) ||
			(before && follow->segments[slot].seq != segment_seq) ||
			(!before && begins_with_another(follow, summary)) ||
			!is_confirmed(follow, summary))) {
		free(summary);
		return NULL;
	}
	return summary;
}

/*
 * What @summary says of its segment is what counts.  The headers may have told it already, or only
 * up to chain->link.
 */
static void take_summary(struct follow *follow, const struct ressd_summary *summary)
{
	struct log_chain *chain = follow->chain;
	u64 segment_seq = le64_to_cpu(summary->segment_seq);
	u64 last_seq = le64_to_cpu(summary->last_seq);
	bool begun = chain->any && chain->link.segment_seq == segment_seq;
	u64 last = begun ? chain->link.seq : le64_to_cpu(summary->first_seq) - 1;

	chain->any = true;
	chain->stop = LOG_STOP_NOTHING;
	ressd_summary_link(summary, &chain->link);
	if (last < last_seq) {
		chain->records += last_seq - last;
		if (follow->visitor && follow->visitor->summary)
			follow->code = follow->visitor->summary(follow->visitor->context, summary,
								begun ? last : 0);
	}
	chain->block = le32_to_cpu(summary->next_block);
	follow->end = chain->block;
}

/* Takes what continues the chain in segment @segment_seq; chain->any and link show what did. */
static void follow_segment(struct follow *follow, u64 segment_seq)
{
	struct log_chain *chain = follow->chain;
	const struct ressd_geom *geom = &follow->image->geom;
	u32 slot = ressd_geom_slot_of_seq(geom, segment_seq);
	u32 end = ressd_geom_slot_end(geom, slot);
	struct ressd_summary *summary = believed_summary(follow, segment_seq,
							 chain->any ? &chain->link : NULL);

	chain->stop = LOG_STOP_NOTHING;
	if (summary && !ressd_summary_in_range(summary, geom, follow->image->info.table.len /
					       RESSD_BLOCK_SECTORS)) {
		chain->stop = LOG_STOP_RANGE;
		free(summary);
		return;
	}
	if (summary) {
		while (chain->block < le32_to_cpu(summary->next_block) &&
		       take_record(follow, segment_seq, slot))
			;
		if (!follow->code)
			take_summary(follow, summary);
	}
	while (!follow->code && chain->block < end && take_record(follow, segment_seq, slot))
		;
	free(summary);
}

/* True if the chain goes on in the next segment. */
static bool next_segment(struct follow *follow)
{
	struct log_chain *chain = follow->chain;
	const struct ressd_geom *geom = &follow->image->geom;
	u64 segment_seq = chain->link.segment_seq + 1;
	u32 slot = ressd_geom_slot_of_seq(geom, segment_seq), before = chain->block;
	enum log_stop stop = chain->stop;

	chain->block = ressd_geom_slot_start(geom, slot);
	follow_segment(follow, segment_seq);
	if (chain->link.segment_seq == segment_seq)
		return true;
	/* It might have gone on where the segment before ended, too: that place tells more. */
	if (before < ressd_geom_slot_end(geom, ressd_geom_slot(geom, before)) &&
	    chain->stop != LOG_STOP_RANGE && chain->stop != LOG_STOP_TORN) {
		chain->block = before;
		chain->stop = stop;
	}
	return false;
}

/* Follows the chain from the tail on. */
static void follow_chain(struct follow *follow, u64 tail)
{
	struct log_chain *chain = follow->chain;
	const struct ressd_geom *geom = &follow->image->geom;
	u32 segments = 0;

	chain->link.segment_seq = tail;
	chain->block = ressd_geom_slot_start(geom, ressd_geom_slot_of_seq(geom, tail));
	follow->end = chain->block;
	follow_segment(follow, tail);
	while (!follow->code && chain->any && chain->stop != LOG_STOP_RANGE &&
	       ++segments < geom->nr_segments && next_segment(follow))
		;
}

/* Was more durable than the chain has?  What recovery finds behind its end tells, too. */
static int judge(struct follow *follow)
{
	struct log_chain *chain = follow->chain;
	struct ressd_behind behind = { .claims = chain->claims };
	bool empty = !chain->claims.any;
	int code = ressd_claims_behind(&follow->window, chain->link.segment_seq, follow->end,
				       &behind);

	if (code)
		return code;
	chain->claims.any = behind.claims.any;
	chain->claims.durable_seq = behind.claims.durable_seq;
	/* Every record that was ever sealed names a tail, which begins with an intact one. */
	chain->broken = chain->stop == LOG_STOP_RANGE || (!empty && !chain->claims.tail_seq) ||
			(!empty && !chain->any && !follow->numbered) ||
			chain->link.seq < chain->claims.durable_seq;
	return chain->claims.any ? 0 : -ENODATA;
}

static int follow_from_claims(struct follow *follow)
{
	struct log_chain *chain = follow->chain;
	int code = ressd_claims_scan(&follow->window, follow->segments, &chain->claims);

	if (code)
		return code;
	if (!follow->visitor || !follow->visitor->as_recovery)
		collect_claims(follow);
	follow_chain(follow, chain->claims.any ? chain->claims.tail_seq : 1);
	return follow->code ? follow->code : judge(follow);
}

int log_chain_follow(struct log_chain *chain, struct log_image *image,
		     const struct log_chain_visitor *visitor)
{
	struct follow follow = {
		.chain = chain, .image = image, .visitor = visitor,
		.reader = log_image_reader(image),
		.window = { .geom = &image->geom, .uuid = image->info.uuid, .ahead = 1 },
		.segments = calloc(image->geom.nr_segments, sizeof(*follow.segments)),
	};
	int code;

	memset(chain, 0, sizeof(*chain));
	if (!follow.segments)
		return -ENOMEM;
	follow.window.reader = &follow.reader;
	code = follow_from_claims(&follow);
	free(follow.segments);
	return code;
}
