/* SPDX-License-Identifier: GPL-2.0-only */
/* The statistics that the decisions rest on.  Pure; all robust against a share of outliers. */
#ifndef PROBE_STATISTICS_H
#define PROBE_STATISTICS_H

#include <stddef.h>
#include <linux/types.h>

/* Both sort ascending, in place. */
void stat_sort(double *values, size_t count);
void stat_sort_ns(u64 *times, size_t count);

/* The quantile @share (0 to 1) of @count > 0 sorted values. */
double stat_quantile(const double *sorted, size_t count, double share);

/* Median of @count > 0 values, which are sorted in place. */
double stat_median(double *values, size_t count);

/* Replaces each value by its rank, 1 to @count; ties get their mean rank.  0, or -1: no memory. */
int stat_rank(double *values, size_t count);

/*
 * Wilcoxon's signed rank statistic of paired differences as a normal deviate: far above 0 when they
 * are mostly positive.  0 for fewer than 6 values.
 */
double stat_signed_rank(const double *differences, size_t count);

/* Rank sum (Mann-Whitney) as a normal deviate: far above 0 when @a is mostly larger than @b. */
double stat_rank_sum(const double *a, size_t nr_a, const double *b, size_t nr_b);

/* Median of all @nr_a x @nr_b quotients a/b (Hodges-Lehmann of the logarithms); values > 0. */
double stat_ratio(const double *a, size_t nr_a, const double *b, size_t nr_b);

/* Spearman's rank correlation; 0 for fewer than 4 pairs. */
double stat_rank_correlation(const double *a, const double *b, size_t count);

/* Two normal distributions that make up a sample, and one alone, compared. */
struct mixture {
	double share;		/* of the upper one, 0 to 1 */
	double mean[2];
	double deviation;	/* common to both */
	double evidence;	/* difference of the information criterion BIC; > 10 is strong */
	double distance;	/* Ashman's D: > 2 when they are apart */
};

/* Fits @mixture to @count >= 8 values, which are sorted in place. */
void stat_mixture(double *values, size_t count, struct mixture *mixture);

#endif
