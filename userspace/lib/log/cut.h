/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cutting a broken log: keep the chain up to the damage, and make it one that the kernel accepts.
 *
 * Records behind the damage cannot be joined again, for the chain of checksums is what tells them
 * from stale ones.  Their claims must go, too, for they say that more was durable than is there.
 * What they say of the records that stay is still true and is kept: the tail (what lies before it
 * must not come back) and the UNMAPs (those blocks have newer contents in the normal area).  So the
 * cut writes one or more bare records with that tail and those UNMAPs where the damage begins, and
 * then blanks every intact header that stands behind the cut.
 *
 * Covered blocks are different: a log that is covered holds each, and home has nothing but covers.
 * They are carried on from time to time, so the only copy may stand behind the damage.  Then the
 * first new record gets the first intact copy from there.
 *
 * Recovery gives up where it cannot read.  So blocks that cannot be read are blanked as well, where
 * what stays needs nothing of them; a log that only has such blocks is cut where it ends.
 *
 * In this order: the new records are durable before anything is blanked, so that a cut that is
 * interrupted can be computed anew.  Then comes the summary of the segment that they stand in, if
 * it speaks of the records that they stand in for, before the headers: recovery would believe it,
 * not look at the new records, and no longer know the tail once the headers are gone that name it.
 */
#ifndef RESSD_LOG_CUT_H
#define RESSD_LOG_CUT_H

#include "log/chain.h"

struct block_list {
	u32 *list;
	size_t nr, allocated;
};

struct log_cut {
	struct log_chain chain;		/* what stays */
	u32 block;			/* log block of the first new record */
	struct ressd_record_header *records;	/* new ones, back to back from there */
	u32 nr_blocks;			/* that they take */
	u32 nr_copies;			/* covered blocks, the data of the first one */
	u32 lost_copies;		/* covered blocks that nothing is left of */
	u32 summary;			/* log block of one that goes before the headers; 0: none */
	struct block_list blank;	/* log blocks: headers, other summaries, unreadable ones */
	struct block_list stale;	/* normal blocks that had newer contents behind the cut */
	u64 kept_blocks;		/* mapped by what stays */
	u64 unmapped;			/* of these, dropped: the normal area is newer */
	u64 unmaps_left_out;		/* would be dropped, but found no room */
	u64 lost_records;		/* acknowledged, behind the cut */
	u64 unknown_records;		/* of these, not readable: nobody knows what they held */
	u64 unreadable;			/* blocks among @blank that cannot be read */
};

/* A block that the cut writes. */
struct cut_write {
	u32 block;		/* log block */
	const void *data;	/* 4096 bytes; NULL: zeroes */
	bool flush;		/* what was written before must be durable first */
};

/*
 * Plans the cut of the log in @image.  1 and @cut; 0 if the chain is not broken; -ENODATA with a
 * sentence if nothing before the damage is left to keep, -EUCLEAN if nothing at all can be read;
 * else a negative errno with a sentence.
 * Free it in every case.
 */
int log_cut_plan(struct log_cut *cut, struct log_image *image, struct failure *failure);
void log_cut_free(struct log_cut *cut);

/* What the cut writes, in this order; a flush must follow the last one. */
u32 log_cut_nr_writes(const struct log_cut *cut);
struct cut_write log_cut_write(const struct log_cut *cut, u32 i);

#endif
