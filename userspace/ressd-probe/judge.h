/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From samples to decisions on a drive's parameters.  Pure: no I/O, no clock, no state; tested on
 * recorded samples.  Times are in ns, sizes in bytes, "unit" is JUDGE_UNIT.
 */
#ifndef PROBE_JUDGE_H
#define PROBE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define JUDGE_UNIT	4096U

/*
 * Normal deviates: a difference is taken as real from JUDGE_CLEAR on (by chance once in 30,000
 * tests), and as plain to see from JUDGE_PLAIN on.
 */
#define JUDGE_CLEAR	4.0
#define JUDGE_PLAIN	7.0

/* One possible clustered page: borders at @phase + k x @page, and how clearly they stand out. */
struct page_candidate {
	u32 page;
	u32 phase;
	double deviate;
};

/* Sizes that pages and blocks come in: 2^n and 3 x 2^n.  The next one above @bytes. */
u64 judge_next_size(u64 bytes);

/*
 * P1.  @times holds @passes x @positions times of a write of two units that begins at position i
 * units; those that cross a page border take longer.  Finds the best up to @max candidates of
 * different page sizes, best first, with at least four borders among the positions.  Returns how
 * many are clear; @times is overwritten.
 */
unsigned int judge_page_scan(double *times, unsigned int positions, unsigned int passes,
			     struct page_candidate *candidates, unsigned int max);

/* Is a - b clearly positive in these pairs?  Signed rank of the logarithms as a deviate. */
double judge_pairs(const double *a, const double *b, size_t count);

/*
 * Do the times @a exceed those of @b by little, where both may be of two kinds (the fast and slow
 * pages of MLC) that differ by much?  Rank sum as a deviate, of the fast kind if there are two.
 */
double judge_fast_kind(const double *a, const double *b, size_t count);

/*
 * Two kinds of calls, fast and slow, told apart by a time: the one that splits @times best in two,
 * if the slow ones take at least @least times as long as the fast ones (median over median).  0 if
 * there are no two kinds.  @times is sorted.
 */
double judge_threshold(double *times, size_t count, double least);

/*
 * The first of @count times in a row that is clearly longer than those before it, by much or
 * followed by others: as a number of short ones, at least 3; 0 if there is none.
 */
unsigned int judge_onset(const double *times, unsigned int count);

#endif
