// SPDX-License-Identifier: GPL-2.0-only
/* What the log says about itself; see ressd-claims.h. */
#include <linux/kernel.h>
#include "ressd-claims.h"

/*
 * Segments in a row without a single intact header that the search behind the
 * end of the chain goes beyond: a part of the ring, so that its cost stays in
 * proportion.  They are usual in a log that has not been around the ring yet,
 * and after a repair.
 */
#define BARREN_PART	64U
#define MIN_BARREN	2U

static void claim(struct ressd_claims *claims, u32 epoch, u64 tail_seq,
		  u64 durable_seq)
{
	claims->any = true;
	claims->durable_seq = max_t(u64, claims->durable_seq, durable_seq);
	if (epoch > claims->epoch)
		claims->tail_seq = tail_seq;
	else if (epoch == claims->epoch)
		claims->tail_seq = max_t(u64, claims->tail_seq, tail_seq);
	claims->epoch = max_t(u32, claims->epoch, epoch);
}

void ressd_claims_of_record(struct ressd_claims *claims,
			    const struct ressd_record_header *header)
{
	claim(claims, le32_to_cpu(header->epoch), le64_to_cpu(header->tail_seq),
	      le64_to_cpu(header->durable_seq));
}

void ressd_claims_of_summary(struct ressd_claims *claims,
			     const struct ressd_summary *summary)
{
	claim(claims, le32_to_cpu(summary->epoch),
	      le64_to_cpu(summary->tail_seq),
	      le64_to_cpu(summary->durable_seq));
}

/*
 * Follows the records of one segment from @block on as far as they chain to
 * @link.
 */
static int scan_records(struct ressd_window *window, u32 slot, u32 block,
			struct ressd_link *link, struct ressd_claims *claims)
{
	u32 end = ressd_geom_slot_end(window->geom, slot);
	u64 segment_seq = link->segment_seq;

	/*
	 * A dead segment's claims are no higher.  But the tail may be the claim
	 * of an epoch that is over, and the one after it have begun in the
	 * segment before that tail.
	 */
	while (block < end && segment_seq + 1 >= claims->tail_seq) {
		const struct ressd_record_header *header;
		int ret = ressd_window_header(window, block, &header);

		if (ret <= 0)
			return ret;
		/* In this slot none of the next segment is valid. */
		if (!ressd_record_follows(header, link))
			return 0;
		ressd_claims_of_record(claims, header);
		ressd_record_link(header, link);
		block += le32_to_cpu(header->nr_blocks);
	}
	return 0;
}

/*
 * A summary that begins with the first record found stands for all its records.
 * If that record is gone it stands for itself.  Any other one is of an earlier
 * use of the slot.
 */
static int scan_slot(struct ressd_window *window, u32 slot,
		     struct ressd_segment *segment, struct ressd_claims *claims)
{
	u32 block = ressd_geom_slot_start(window->geom, slot);
	const struct ressd_record_header *header;
	const struct ressd_summary *summary;
	struct ressd_link link = { };
	int ret;

	window->ahead = 1;
	ret = ressd_window_header(window, block, &header);
	if (ret < 0)
		return ret;
	if (ret) {
		ressd_claims_of_record(claims, header);
		ressd_record_link(header, &link);
		segment->seq = link.segment_seq;
		segment->kill_seq = link.seq;
		block += le32_to_cpu(header->nr_blocks);
	}
	if (ressd_window_summary(window, slot, &summary)) {
		ressd_claims_of_summary(claims, summary);
		if (!ret || ressd_summary_begins_with(summary, &link)) {
			ressd_summary_link(summary, &link);
			segment->seq = link.segment_seq;
			segment->kill_seq = le64_to_cpu(summary->first_seq);
			block = le32_to_cpu(summary->next_block);
		}
	}
	return segment->seq ? scan_records(window, slot, block, &link, claims) :
			      0;
}

int ressd_claims_scan(struct ressd_window *window,
		      struct ressd_segment *segments,
		      struct ressd_claims *claims)
{
	u32 slot, nr = window->geom->nr_segments;
	int ret;

	for (slot = 0; slot < nr; slot++) {
		ret = scan_slot(window, slot, &segments[slot], claims);
		if (ret)
			return ret;
		if (window->reader->progress)
			window->reader->progress(window->reader->context,
						 slot + 1, 2 * nr);
	}
	return 0;
}

/*
 * Looks at every block from @block to the end of the slot of segment
 * @segment_seq.
 */
static int look_through(struct ressd_window *window, u64 segment_seq, u32 block,
			bool first_counts, struct ressd_behind *behind)
{
	const struct ressd_geom *geom = window->geom;
	u32 slot = ressd_geom_slot_of_seq(geom, segment_seq);
	u32 end = ressd_geom_slot_end(geom, slot), at;
	const struct ressd_record_header *header;
	int ret;

	behind->barren++;
	behind->blank = true;
	behind->segment_seq = segment_seq;
	for (at = block; at < end; at++) {
		window->ahead = geom->record_blocks;
		ret = ressd_window_header(window, at, &header);
		if (ret < 0)
			return ret;
		if (!ret) {
			behind->blank = behind->blank &&
					ressd_is_zero(header, RESSD_BLOCK_SIZE);
			continue;
		}
		behind->barren = 0;
		behind->blank = false;
		ressd_claims_of_record(&behind->claims, header);
		/*
		 * Was the record before it durable?  That one stood at @block
		 * or later.
		 */
		if (le64_to_cpu(header->segment_seq) == segment_seq &&
		    (at > block || first_counts) &&
		    le64_to_cpu(header->durable_seq) + 1 >=
			    le64_to_cpu(header->seq))
			behind->lost = true;
	}
	return 0;
}

/*
 * True in *@untouched if the slot of segment @segment_seq still begins with an
 * earlier one, or with zeroes behind a slot of nothing but zeroes.
 */
static int find_untouched(struct ressd_window *window, u64 segment_seq,
			  bool blank, bool *untouched)
{
	u32 slot = ressd_geom_slot_of_seq(window->geom, segment_seq);
	const struct ressd_record_header *header;
	int ret;

	window->ahead = 1;
	ret = ressd_window_header(window,
				  ressd_geom_slot_start(window->geom, slot),
				  &header);
	if (ret < 0)
		return ret;
	*untouched = ret ? le64_to_cpu(header->segment_seq) < segment_seq :
			   blank && ressd_is_zero(header, RESSD_BLOCK_SIZE);
	return 0;
}

int ressd_claims_behind(struct ressd_window *window, u64 segment_seq, u32 block,
			struct ressd_behind *behind)
{
	const struct ressd_geom *geom = window->geom;
	u32 patience = max_t(u32, geom->nr_segments / BARREN_PART, MIN_BARREN);
	u32 live = segment_seq - max_t(u64, behind->claims.tail_seq, 1) + 1;
	u32 others = geom->nr_segments > live ? geom->nr_segments - live : 1;
	int ret = look_through(window, segment_seq, block, false, behind);
	bool untouched;
	u32 i;

	behind->barren = 0;
	behind->blank = false;
	for (i = 1; !ret && i <= others && behind->barren <= patience; i++) {
		u32 slot = ressd_geom_slot_of_seq(geom, segment_seq + i);

		ret = find_untouched(window, segment_seq + i, behind->blank,
				     &untouched);
		if (ret || (untouched && i > 1))
			return ret;
		ret = look_through(window, segment_seq + i,
				   ressd_geom_slot_start(geom, slot), true,
				   behind);
		if (untouched)
			return ret;
	}
	return ret;
}
