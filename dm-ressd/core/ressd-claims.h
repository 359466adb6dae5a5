/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the log says about itself, before recovery decides which records count.
 *
 * Every intact header and summary claims a tail (all segments before it were dead, durably) and a
 * record up to which all were durable.  Claims are true whoever made them, even if recovery drops
 * the record: they state what was so when it was written.
 */
#ifndef RESSD_CLAIMS_H
#define RESSD_CLAIMS_H

#include "ressd-window.h"

struct ressd_claims {
	bool any;		/* a header or a summary was found */
	u64 tail_seq;		/* highest claims */
	u64 durable_seq;
};

/*
 * Looks at every slot: its first header, its summary, and where no summary speaks for the records,
 * at their headers.  Leaves in segments[].seq the number of the segment that is there (0: none) and
 * in segments[].kill_seq that of its first record.
 */
int ressd_claims_scan(struct ressd_window *window, struct ressd_segment *segments,
		      struct ressd_claims *claims);

/*
 * Looks through the rest of segment @segment_seq from @block on and through the next one for intact
 * headers that stand behind the end of the chain, and adds what they claim.  True in *@lost if one
 * of them shows that a record at or behind @block was durable.
 */
int ressd_claims_behind(struct ressd_window *window, u64 segment_seq, u32 block,
			struct ressd_claims *claims, bool *lost);

#endif
