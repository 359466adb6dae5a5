// SPDX-License-Identifier: GPL-2.0-only
/* P3, decided on a sequence of write times; see judge.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "judge/judge.h"
#include "measure/statistics.h"

#define REPEATS		0.5	/* rank correlation from which on a sequence repeats itself */
#define SILENT		0.2	/* below which it has no pattern at all */
#define NARROW		0.25	/* deviation below which a second mode would have made a pattern */
#define SINGLE		0.05	/* below which there is no second kind, whatever repeats itself */
#define LEAST_RATIO	1.05	/* slow over fast: what is closer is the host's own pattern */
#define STEP		0.5	/* of the variance that a change of level explains */
#define LEAST_WRITES	64U
#define DIP		0.3	/* by which the correlation is lower in between */
#define LEAST_VALUES	8U	/* of a folded sequence, or two kinds cannot be told */

/*
 * Times of merges and interference say nothing about pages: cut them to the largest ordinary
 * one.
 */
static double clip(double *logs, unsigned int count)
{
	double *sorted = malloc(count * sizeof(*sorted));
	double median, spread;
	unsigned int i;

	if (!sorted)
		return 1;
	memcpy(sorted, logs, count * sizeof(*sorted));
	stat_sort(sorted, count);
	median = stat_quantile(sorted, count, 0.5);
	spread = (stat_quantile(sorted, count, 0.84) - stat_quantile(sorted, count, 0.16)) / 2;
	free(sorted);
	for (i = 0; i < count; i++)
		if (logs[i] > median + 3 * spread + 0.3)
			logs[i] = median + 3 * spread + 0.3;
	return spread;
}

/*
 * Where the values change their level most, and how much of their variance that explains.  A drive
 * whose pseudo-SLC area is used up does so once, which is no order that repeats itself.
 */
static double best_step(const double *logs, unsigned int count, unsigned int *cut)
{
	double sum = 0, squares = 0, left = 0, best = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		sum += logs[i];
		squares += logs[i] * logs[i];
	}
	*cut = 0;
	for (i = 1; i < count; i++) {
		double shift, gain;

		left += logs[i - 1];
		shift = left / i - (sum - left) / (count - i);
		gain = shift * shift * i / count * (count - i);
		if (gain > best) {
			best = gain;
			*cut = i;
		}
	}
	squares -= sum * sum / count;
	return squares > 0 ? best / squares : 0;
}

/* The longest part of @logs at one level; @count gets its length. */
static const double *level_part(const double *logs, unsigned int *count)
{
	unsigned int cut;

	while (*count >= 2 * LEAST_WRITES && best_step(logs, *count, &cut) > STEP) {
		if (cut < *count / 2) {
			logs += cut;
			*count -= cut;
		} else {
			*count = cut;
		}
	}
	return logs;
}

/*
 * How well @logs repeat themselves after @lag, 0 if they do not.  In between they must be unlike
 * themselves: what only changes its level now and then, as a drive that folds its pseudo-SLC area,
 * is most like itself one write later.
 */
static double best_lag(const double *logs, unsigned int count, unsigned int max_lag,
		       unsigned int *lag)
{
	double best = 0, lowest = 1, lowest_before = 1;
	unsigned int i;

	*lag = 0;
	for (i = 1; i <= max_lag && i * 3 < count; i++) {
		const double correlation = stat_rank_correlation(logs, logs + i, count - i);

		/* The first of those that are about as good: the others are its multiples. */
		if (correlation > best + 0.02) {
			best = correlation;
			lowest_before = lowest;
			*lag = i;
		}
		if (correlation < lowest)
			lowest = correlation;
	}
	return *lag > 1 && lowest_before < best - DIP ? best : 0;
}

/*
 * One value for each place of the pattern, the median of all that stand there: interference hits a
 * place now and then, its kind shows each time.  Returns how many places there are: several
 * patterns, as long as each place has four values.
 */
static unsigned int fold(const double *logs, unsigned int count, unsigned int lag, double *folded)
{
	const unsigned int places = count / 4 / lag * lag;
	double *column = malloc((count / (places ? places : 1) + 1) * sizeof(*column));
	unsigned int place, i, used;

	if (!places || !column) {
		free(column);
		return 0;
	}
	for (place = 0; place < places; place++) {
		used = 0;
		for (i = place; i < count; i += places)
			column[used++] = logs[i];
		folded[place] = stat_median(column, used);
	}
	free(column);
	return places;
}

/* Two kinds, apart from each other, and none of them a few outliers.  Sorts @values. */
static bool are_two(double *values, unsigned int count, double *ratio)
{
	struct mixture mixture;

	if (count < LEAST_VALUES)
		return false;
	stat_mixture(values, count, &mixture);
	*ratio = exp(mixture.mean[1] - mixture.mean[0]);
	return mixture.evidence > 10 && mixture.distance > 2 && *ratio >= LEAST_RATIO &&
	       mixture.share > 0.15 && mixture.share < 0.85;
}

void judge_modes(const double *logs, unsigned int count, unsigned int max_lag,
		 struct mode_judgement *judgement)
{
	double *clipped = malloc(2 * count * sizeof(*clipped)), *folded = clipped + count;
	unsigned int places = 0;
	double repeats;

	memset(judgement, 0, sizeof(*judgement));
	logs = level_part(logs, &count);
	if (!clipped || count < LEAST_WRITES) {
		free(clipped);
		return;
	}
	memcpy(clipped, logs, count * sizeof(*clipped));
	judgement->spread = clip(clipped, count);
	repeats = best_lag(clipped, count, max_lag, &judgement->lag);
	if (repeats >= REPEATS)
		places = fold(clipped, count, judgement->lag, folded);
	/* Little noise shows without folding, whose places may be too few. */
	if (repeats >= REPEATS && (are_two(folded, places, &judgement->ratio) ||
				   are_two(clipped, count, &judgement->ratio)))
		judgement->modes = 2;
	else if (judgement->spread < SINGLE || (repeats < SILENT && judgement->spread < NARROW))
		judgement->modes = 1;
	free(clipped);
}
