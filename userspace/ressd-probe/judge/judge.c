// SPDX-License-Identifier: GPL-2.0-only
/* Decisions that several searches share; see judge.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "judge/judge.h"
#include "measure/statistics.h"

u64 judge_next_size(u64 bytes)
{
	u64 power = 1;

	while (power * 2 <= bytes)
		power *= 2;
	/* Between 2^n and 2^(n+1) there is 3 x 2^(n-1). */
	return bytes < power / 2 * 3 ? power / 2 * 3 : power * 2;
}

/* How far the times at borders rank above the others, from the sum of ranks at each position. */
static double comb_deviate(const double *rank_sums, unsigned int positions, unsigned int passes,
			   unsigned int period, unsigned int first)
{
	const double all = (double)positions * passes;
	double sum = 0, inside = 0, others;
	unsigned int i;

	for (i = first; i < positions; i += period) {
		sum += rank_sums[i];
		inside += passes;
	}
	others = all - inside;
	if (inside < 1 || others < 1)
		return 0;
	return (sum - inside * (all + 1) / 2) / sqrt(inside * others * (all + 1) / 12);
}

static void insert_candidate(struct page_candidate *candidates, unsigned int *count,
			     unsigned int max, const struct page_candidate *candidate)
{
	unsigned int i = *count < max ? (*count)++ : max;

	while (i > 0 && candidates[i - 1].deviate < candidate->deviate) {
		if (i < max)
			candidates[i] = candidates[i - 1];
		i--;
	}
	if (i < max)
		candidates[i] = *candidate;
}

unsigned int judge_page_scan(double *times, unsigned int positions, unsigned int passes,
			     struct page_candidate *candidates, unsigned int max)
{
	unsigned int i, period, count = 0;
	double *sums;
	u64 size;

	if (stat_rank(times, (size_t)positions * passes))
		return 0;
	/* The sums of ranks replace the first pass. */
	sums = times;
	for (i = positions; i < positions * passes; i++)
		sums[i % positions] += times[i];
	for (size = 2 * JUDGE_UNIT; size * 2 <= (positions + 1ULL) * JUDGE_UNIT;
	     size = judge_next_size(size)) {
		struct page_candidate best = { .page = size };

		period = size / JUDGE_UNIT;
		for (i = 0; i < period; i++) {
			double deviate = comb_deviate(sums, positions, passes, period, i);

			if (deviate > best.deviate) {
				best.deviate = deviate;
				/* The border is in the middle of the two units. */
				best.phase = (i + 1) % period * JUDGE_UNIT;
			}
		}
		if (best.deviate >= JUDGE_CLEAR)
			insert_candidate(candidates, &count, max, &best);
	}
	return count;
}

double judge_pairs(const double *a, const double *b, size_t count)
{
	double *differences = malloc(count * sizeof(*differences)), deviate;
	size_t i;

	if (!differences)
		return 0;
	for (i = 0; i < count; i++)
		differences[i] = log(a[i]) - log(b[i]);
	deviate = stat_signed_rank(differences, count);
	free(differences);
	return deviate;
}

/*
 * Two kinds of calls, fast and slow, distinguished by a time: the one that splits @times best in
 * two, if the slow ones take at least @least times as long as the fast ones (median over median).
 * 0 if there are no two kinds.  @times is sorted.
 */
static double find_threshold(double *times, size_t count, double least)
{
	struct mixture mixture;
	double *logs, threshold = 0;
	size_t i, slow;

	if (count < 8)
		return 0;
	stat_sort(times, count);
	logs = malloc(count * sizeof(*logs));
	if (!logs)
		return 0;
	for (i = 0; i < count; i++)
		logs[i] = log(times[i] + 1);
	stat_mixture(logs, count, &mixture);
	threshold = exp((mixture.mean[0] + mixture.mean[1]) / 2);
	free(logs);
	for (slow = 0; slow < count && times[slow] < threshold; )
		slow++;
	if (slow == 0 || slow == count)
		return 0;
	if (stat_quantile(times + slow, count - slow, 0.5) <
	    least * stat_quantile(times, slow, 0.5))
		return 0;
	return threshold;
}

static size_t keep_below(const double *times, size_t count, double threshold, double *kept)
{
	size_t i, used = 0;

	for (i = 0; i < count; i++)
		if (threshold <= 0 || times[i] < threshold)
			kept[used++] = times[i];
	return used;
}

double judge_fast_kind(const double *a, const double *b, size_t count)
{
	double *fast = malloc(4 * count * sizeof(*fast)), *both = fast + 2 * count;
	double threshold, deviate;
	size_t nr_a, nr_b;

	if (!fast)
		return 0;
	memcpy(both, a, count * sizeof(*a));
	memcpy(both + count, b, count * sizeof(*b));
	threshold = find_threshold(both, 2 * count, 1.5);
	nr_a = keep_below(a, count, threshold, fast);
	nr_b = keep_below(b, count, threshold, fast + nr_a);
	/* Few fast ones: the threshold has cut off outliers at the wrong end. */
	if (nr_a < count / 4 || nr_b < count / 4) {
		nr_a = keep_below(a, count, 0, fast);
		nr_b = keep_below(b, count, 0, fast + nr_a);
	}
	deviate = stat_rank_sum(fast, nr_a, fast + nr_a, nr_b);
	free(fast);
	return deviate;
}

#define ONSET_BEFORE	3U	/* that there must be before it */
#define ONSET_AFTER	16U	/* whose mean must stay longer */

static double mean_after(const double *times, unsigned int count, unsigned int first)
{
	const unsigned int end = first + ONSET_AFTER < count ? first + ONSET_AFTER : count;
	double sum = 0;
	unsigned int i;

	for (i = first; i < end; i++)
		sum += times[i];
	return sum / (end - first);
}

unsigned int judge_onset(const double *times, unsigned int count)
{
	double *before = malloc(2 * count * sizeof(*before));
	double *differences = before + count;
	unsigned int i, j, onset = 0;
	double typical = 0, spread = 0;

	for (i = ONSET_BEFORE; before && !onset && i + ONSET_AFTER / 2 < count; i++) {
		/* Many times change what is typical only slowly. */
		if (i < 32 || i % (i / 16) == 0) {
			memcpy(before, times, i * sizeof(*before));
			typical = stat_median(before, i);
			for (j = 0; j < i; j++)
				differences[j] = fabs(times[j] - typical);
			spread = stat_median(differences, i) * 1.4826;
		}
		if (times[i] > 1.2 * typical && times[i] > typical + 8 * spread &&
		    (times[i] > 1.6 * typical || mean_after(times, count, i) > 1.3 * typical))
			onset = i;
	}
	free(before);
	return onset;
}

#define SLOWDOWN_LEAST	8U	/* times before and behind it */
#define SLOWDOWN	1.5	/* as much longer, at least */

/* How well @count logarithms are explained by a mean for the first @cut and one for the others. */
static double split_gain(const double *sums, unsigned int count, unsigned int cut)
{
	const double before = sums[cut] / cut, behind = (sums[count] - sums[cut]) / (count - cut);

	return (behind - before) * (behind - before) * cut * (count - cut) / count;
}

/* Nearly all @behind are longer than nearly all @before: a step, no trend and no outliers. */
static double step_ratio(const double *times, unsigned int count, unsigned int cut)
{
	double *sorted = malloc(count * sizeof(*sorted)), *behind = sorted + cut, ratio = 1;

	if (!sorted)
		return 1;
	memcpy(sorted, times, count * sizeof(*sorted));
	stat_sort(sorted, cut);
	stat_sort(behind, count - cut);
	if (stat_quantile(behind, count - cut, 0.1) > 1.2 * stat_quantile(sorted, cut, 0.9))
		ratio = stat_quantile(behind, count - cut, 0.5) / stat_quantile(sorted, cut, 0.5);
	free(sorted);
	return ratio;
}

unsigned int judge_slowdown(const double *times, unsigned int count, double *ratio)
{
	double *sums = calloc(count + 1, sizeof(*sums)), best = 0;
	unsigned int i, cut = 0;

	*ratio = 1;
	for (i = 0; sums && i < count; i++)
		sums[i + 1] = sums[i] + log(times[i] + 1);
	for (i = SLOWDOWN_LEAST; sums && i + SLOWDOWN_LEAST <= count; i++) {
		if (sums[i] * count < sums[count] * i && split_gain(sums, count, i) > best) {
			best = split_gain(sums, count, i);
			cut = i;
		}
	}
	free(sums);
	if (cut)
		*ratio = step_ratio(times, count, cut);
	return *ratio >= SLOWDOWN ? cut : 0;
}
