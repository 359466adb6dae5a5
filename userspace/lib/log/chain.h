/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The chain of records that counts, followed header by header: where it begins, where it ends, why
 * there, and whether more was known durable.  Recovery in core decides whether a log is accepted;
 * this explains it, and must never say otherwise (tests/fuzz compares the two).
 */
#ifndef RESSD_LOG_CHAIN_H
#define RESSD_LOG_CHAIN_H

#include "log/walk.h"
#include "ressd-claims.h"

/* What stands where the next record of the chain would. */
enum log_stop {
	LOG_STOP_NOTHING,	/* no room in the last segment, and the next one was not begun */
	LOG_STOP_BLANK,		/* zeroes */
	LOG_STOP_UNREADABLE,	/* the device does not return the block */
	LOG_STOP_NO_RECORD,	/* something else, or a damaged header */
	LOG_STOP_STALE,		/* an intact record that does not follow */
	LOG_STOP_TORN,		/* a record that follows, but its data does not match */
	LOG_STOP_RANGE,		/* a record that follows, with an entry outside of the areas */
};

struct log_chain {
	struct ressd_claims claims;	/* found before the walk; durable_seq: and behind the end */
	/* Where the chain ends. */
	bool any;		/* it has a record; else @link.segment_seq is the tail */
	struct ressd_link link;	/* the last record */
	u32 block;		/* where the next record would stand */
	enum log_stop stop;
	bool broken;		/* more was known durable: the log is damaged */
	u64 records;		/* followed, those known from a summary included */
};

struct log_chain_visitor {
	/* Each record of the chain.  0, or a code that ends the walk. */
	int (*record)(void *context, const struct log_spot *spot);
	/*
	 * The rest of a segment whose headers are intact no further than record @last: the summary
	 * in @summary takes their place.
	 */
	int (*summary)(void *context, const struct ressd_summary *summary, u64 last);
	void *context;
	/*
	 * Begin with the claims that recovery begins with, and end where it ends.  Else those of
	 * all headers count, also where recovery does not look for them, behind a damaged one for
	 * instance: they are true, and a later tail may leave the damage behind.  For a log that
	 * recovery refuses though the chain from there looks whole.
	 */
	bool as_recovery;
};

/*
 * Follows the chain.  @visitor and each of its functions may be NULL.  0, what a visitor returned,
 * or a negative errno: -ENODATA when there is no record at all, -ENOMEM.  Blocks that cannot be
 * read count as damaged.
 */
int log_chain_follow(struct log_chain *chain, struct log_image *image,
		     const struct log_chain_visitor *visitor);

/* What stands in the way, in words that follow "there is ". */
const char *log_stop_words(enum log_stop stop);

/*
 * Reads the summary of slot @slot into memory from malloc().  NULL if it is not intact, or is not
 * that of segment @segment_seq (0: of any).
 */
struct ressd_summary *log_read_summary(struct log_image *image, u32 slot, u64 segment_seq);

#endif
