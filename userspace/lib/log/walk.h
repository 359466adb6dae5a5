/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of one segment slot as they stand on the device, whether they count or not.  A user
 * of this decides what they mean.
 */
#ifndef RESSD_LOG_WALK_H
#define RESSD_LOG_WALK_H

#include "log/image.h"

struct log_spot {
	u32 block;		/* log block of the header */
	u32 slot;
	/*
	 * Records standing back to back from the start of the slot are in place; what comes behind
	 * the first block that is no intact header is loose: left by a power cut, by an earlier lap
	 * of the ring, or cut off by damage.
	 */
	bool loose;
	struct ressd_record_header header;
};

/*
 * Calls @visit for every intact header of slot @slot, ascending; stops when it returns other than
 * 0 and returns that.  With @loose_too also for those behind the first break.  A block that cannot
 * be read counts as no header; @unreadable, if not NULL, then gets its number (else
 * RESSD_NO_BLOCK), the first one only.
 */
int log_walk_slot(struct log_image *image, u32 slot, bool loose_too, u32 *unreadable,
		  int (*visit)(void *context, const struct log_spot *spot), void *context);

/* Sequence number of the segment in the record @header, and other fields, in host order. */
static inline u64 log_spot_seq(const struct log_spot *spot)
{
	return le64_to_cpu(spot->header.seq);
}

static inline u64 log_spot_segment(const struct log_spot *spot)
{
	return le64_to_cpu(spot->header.segment_seq);
}

#endif
