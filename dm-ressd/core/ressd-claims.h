/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the log says about itself, before recovery decides which records count.
 *
 * Every intact header and summary claims a tail (all segments before it were
 * dead, durably) and a record up to which all were durable.  Claims are true
 * even if recovery drops the record: they state what was so when it was
 * written.
 *
 * But a tail is true of what the device held then.  If its record was torn,
 * recovery did without it: blocks that it declared invalid were served from the
 * log again, and their newer versions, in the normal area only, were ignored.
 * If sectors written over the torn record make it whole later,
 * it must not count any more.  So each activation that writes has an epoch, its
 * opening record repeats the tail, durably, before anything is served, and only
 * the tails of the highest epoch count.  What is left of earlier ones ends no
 * later than one segment behind the record that opened it, for its tail is no
 * higher than the segment that it stands in, and all records of the segments
 * before that tail were durable.
 */
#ifndef RESSD_CLAIMS_H
#define RESSD_CLAIMS_H

#include "ressd-window.h"

struct ressd_claims {
	bool any;		/* a header or a summary was found */
	u32 epoch;		/* the highest */
	u64 tail_seq;		/* highest claim of that epoch */
	u64 durable_seq;	/* highest claim of all */
};

/* Adds what an intact header or summary claims. */
void ressd_claims_of_record(struct ressd_claims *claims,
			    const struct ressd_record_header *header);
void ressd_claims_of_summary(struct ressd_claims *claims,
			     const struct ressd_summary *summary);

/*
 * Looks at every slot: its first header, its summary, and where no summary
 * speaks for the records, at their headers.  Leaves in segments[].seq the
 * number of the segment that is there (0: none) and in segments[].kill_seq that
 * of its first record.
 */
int ressd_claims_scan(struct ressd_window *window,
		      struct ressd_segment *segments,
		      struct ressd_claims *claims);

/* What is found behind the end of the chain. */
struct ressd_behind {
	struct ressd_claims claims;	/* in: known before; out: and found */
	bool lost;		/* a record at or behind the end was durable */
	u64 segment_seq;	/* last one looked through */
	u32 barren;		/* segments in a row without an intact header */
	bool blank;		/* that one is all zero */
};

/*
 * Looks through the rest of segment @segment_seq from @block on, the end of the
 * chain, and through the segments that would follow, for intact headers; adds
 * to @behind, zero but for its claims, what they claim and show.  The next
 * segment is looked through in any case.  Then the search ends before the first
 * slot that begins with an intact header of an earlier segment, or with zeroes
 * behind a slot of nothing but zeroes: segments are begun in order, so nothing
 * was written there or beyond.  It ends as well after a few slots in a row
 * without any intact header.  0 or an error of the reader.
 */
int ressd_claims_behind(struct ressd_window *window, u64 segment_seq, u32 block,
			struct ressd_behind *behind);

#endif
