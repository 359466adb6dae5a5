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
 * The first of @count times in a row that is clearly longer than those before it, by much or
 * followed by others: as a number of short ones, at least 3; 0 if there is none.
 */
unsigned int judge_onset(const double *times, unsigned int count);

/*
 * The first of @count times in a row from which on all are much longer, for good: as a number of
 * short ones; 0 if there is none.  @ratio gets how much longer they are.
 */
unsigned int judge_slowdown(const double *times, unsigned int count, double *ratio);

/* P3.  What a sequence of write times tells of the NAND. */
struct mode_judgement {
	unsigned int modes;	/* 0: cannot be told */
	unsigned int lag;	/* after so many writes the order repeats */
	double ratio;		/* slow over fast */
	double spread;		/* robust deviation of the logarithms */
};

/* @logs: @count logarithms of times in the order of the writes. */
void judge_modes(const double *logs, unsigned int count, unsigned int max_lag,
		 struct mode_judgement *judgement);

/*
 * P2.  Borders of blocks in an ordered scan: @times has the times of @count writes, one every
 * @stride bytes.  A block costs once, at the first write in it.  Finds the period and the first
 * border so that as many long times as possible are those behind a border, and as many borders as
 * possible have one.
 */
struct block_judgement {
	double period;		/* bytes, 0: none */
	double first;		/* bytes from the first write; it is at most that border's write */
	double threshold;	/* ns: longer ones are the first in their block */
	double evidence;	/* logarithm of the odds against chance */
	unsigned int borders;	/* that were scanned */
	unsigned int hits;	/* borders behind which the first write was slow */
};

void judge_block_scan(const double *times, unsigned int count, u64 stride,
		      struct block_judgement *judgement);

/*
 * P2, exactly: @edges windows of @width units each; in window e, at @start[e] (units of the
 * region), a border is expected, and @slow[e * width + i] says whether the write of unit i was
 * slow, where the block before was open.  Finds the period, within @slack units of @period, and
 * the border (in the first window), which most windows agree on.
 */
struct edge_judgement {
	u64 period;		/* units */
	u64 border;		/* units of the region */
	unsigned int hits;
	unsigned int second;	/* hits of the next best period or border */
};

void judge_block_edges(const bool *slow, const u64 *start, unsigned int edges,
		       unsigned int width, double period, double slack,
		       struct edge_judgement *judgement);

/*
 * P2, of writes that are all alike: every @period of them one takes longer.  Finds it among @count
 * times, if it is not less than @least and was seen six times.
 */
struct cycle_judgement {
	unsigned int period;	/* writes, 0: none */
	unsigned int first;	/* the first long one */
	unsigned int cycles;	/* that were seen */
	unsigned int hits;	/* of them that began with a long one */
	double evidence;	/* common logarithm of the odds against chance */
};

void judge_cycle(const double *times, unsigned int count, unsigned int least,
		 struct cycle_judgement *judgement);

#endif
