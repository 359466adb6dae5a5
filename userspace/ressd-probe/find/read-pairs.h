/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads that find their data in the drive's RAM, told apart from those that do not. */
#ifndef PROBE_READ_PAIRS_H
#define PROBE_READ_PAIRS_H

#include "find/survey.h"

struct read_pairs {
	double threshold;	/* ns; faster reads are hits.  0: there are none */
	double hit_share;	/* of reads that are hits: those below the threshold */
	double miss_share;	/* of reads that are misses: those below the threshold, too */
	double gain;		/* a miss takes so many times as long as a hit */
	u32 samples;		/* reads so far */
	bool cut_short;		/* no time was left to settle a question: its answer says nothing */
};

#define READ_PAIR_BYTES	4096U

/*
 * Each of these stops where the time of the search ends (survey_late()), and says so in
 * @pairs->cut_short: what was found in pairs that were cut short is no finding.
 */

/* Learns what a hit is: reads at places never read before, each twice. */
int read_pairs_learn(struct survey *survey, struct read_pairs *pairs, struct failure *failure);

/*
 * Is a read a hit @distance bytes behind (negative: before) another one, which begins on a
 * clustered page if that is known, or anywhere?  Where only some are, the answer is that of
 * most.
 */
int read_pairs_at_distance(struct survey *survey, struct read_pairs *pairs, s64 distance,
			   bool *hit, struct failure *failure);

/* The same read twice: is it still a hit after @between bytes of other places were read? */
int read_pairs_after(struct survey *survey, struct read_pairs *pairs, u64 between, bool *hit,
		     struct failure *failure);

/*
 * The unit in which reads are remembered, at least 4096 bytes: a read is a hit up to *@unit - 4096
 * bytes before another one.  0 if it is more than 256 KiB.  Exact if the clustered page is
 * known, otherwise what it is at most (a read may begin anywhere in it).
 */
int read_pairs_unit(struct survey *survey, struct read_pairs *pairs, u64 *unit,
		    struct failure *failure);

/* A random place for @bytes, on a border of a clustered page if that is known. */
u64 read_pairs_place(struct survey *survey, u64 bytes);

#endif
