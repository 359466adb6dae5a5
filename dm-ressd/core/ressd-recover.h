/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recovery: a fold over the records found on the device.  It only reads.
 *
 * 1. Headers and summaries are looked through for their claims
 *    (ressd-claims.h).
 * 2. From the tail on, segments are taken in order.  The summary of a segment
 *    speaks for all its records if it is intact, continues the chain, and is
 *    itself continued by the record that follows.  Else the segment's records
 *    are taken one by one as long as each chains to the one before; those
 *    beyond the highest durable one are also checked against their data crcs.
 *    The first break is the end: everything after is forgotten.
 * 3. Behind that end, headers are looked for whose claims show that more was
 *    durable: to where a slot begins with an intact record of an earlier
 *    segment, for the head never came there.
 *
 * If a record that was known durable is missing, the device has lost or damaged
 * data, and the log is refused rather than silently shortened.
 *
 * COST, for a log whose segments have summaries: two reads of summary_blocks +
 * 2 blocks for each segment, and all blocks of the newest two segments, and of
 * those not known durable (ressd_log_summary_flushes() limits them), up to
 * three times.  Nothing depends on the length of the records.  No memory is
 * needed that grows with the log.  Where slots behind the end begin with no
 * intact header, some more are read whole: three, or a 64th of the log, if they
 * hold no header at all (never written, or blanked by a repair).
 */
#ifndef RESSD_RECOVER_H
#define RESSD_RECOVER_H

#include "ressd-log.h"

struct ressd_reader {
	/*
	 * Reads @nr blocks from log block @block into @buffer; 0 or a negative
	 * errno.
	 */
	int (*read)(void *context, u32 block, u32 nr, void *buffer);
	/*
	 * Called for each segment: @done of @total steps are done; may be NULL.
	 */
	void (*progress)(void *context, u32 done, u32 total);
	void *context;
	void *buffer;	/* geom.record_blocks * 4096 bytes of scratch space */
};

struct ressd_recovery {
	u64 records;		/* taken */
	u64 summaries;		/* segments taken by their summaries */
	u64 dropped;		/* 1: an intact header at the end was dropped */
	u64 searched_seq;	/* last segment searched behind that end */
};

/*
 * Fills @log, fresh from ressd_log_init(), from the device.  The caller then
 * flushes the device, for what was read may be in its cache only, and carries
 * one ressd_log_sync() through (as far as ressd_log_next() goes) before it
 * serves any read or write.  That sync writes an opening record where the chain
 * ended, durably: a record that was dropped there could otherwise come back
 * whole at the next crash, when sectors with the same contents were written
 * over its torn ones.  Returns 0; an error of the reader; -EUCLEAN with a
 * sentence in @error when the log is damaged.
 */
int ressd_recover(struct ressd_log *log, const struct ressd_reader *reader,
		  struct ressd_recovery *recovery, char *error, size_t size);

#endif
