// SPDX-License-Identifier: GPL-2.0-only
/* Robust statistics; see statistics.h. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "measure/statistics.h"

#define LEAST_VARIANCE	0.000000000000000001	/* of times that are all the same, s^2 */

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stat_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
}

static int compare_ns(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

void stat_sort_ns(u64 *times, size_t count)
{
	qsort(times, count, sizeof(*times), compare_ns);
}

double stat_quantile(const double *sorted, size_t count, double share)
{
	const double at = share * (count - 1);
	const size_t below = (size_t)at;
	const double rest = at - below;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] * (1 - rest) + sorted[below + 1] * rest;
}

double stat_median(double *values, size_t count)
{
	stat_sort(values, count);
	return stat_quantile(values, count, 0.5);
}

struct ranked {
	double value;
	size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
	return compare(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

int stat_rank(double *values, size_t count)
{
	struct ranked *order = calloc(count, sizeof(*order));
	size_t i, first, end;

	if (!order)
		return -1;
	for (i = 0; i < count; i++)
		order[i] = (struct ranked){ values[i], i };
	qsort(order, count, sizeof(*order), compare_ranked);
	for (first = 0; first < count; first = end) {
		for (end = first + 1; end < count && order[end].value == order[first].value; )
			end++;
		for (i = first; i < end; i++)
			values[order[i].index] = (first + 1 + end) / 2.0;
	}
	free(order);
	return 0;
}

double stat_signed_rank(const double *differences, size_t count)
{
	double *sizes = malloc(count * sizeof(*sizes));
	double sum = 0, squares = 0;
	size_t i;

	if (!sizes || count < 6) {
		free(sizes);
		return 0;
	}
	for (i = 0; i < count; i++)
		sizes[i] = fabs(differences[i]);
	if (!stat_rank(sizes, count)) {
		for (i = 0; i < count; i++) {
			if (differences[i] == 0)
				continue;
			sum += differences[i] > 0 ? sizes[i] : -sizes[i];
			squares += sizes[i] * sizes[i];
		}
	}
	free(sizes);
	return squares > 0 ? sum / sqrt(squares) : 0;
}

double stat_rank_sum(const double *a, size_t nr_a, const double *b, size_t nr_b)
{
	const size_t count = nr_a + nr_b;
	double *all = malloc(count * sizeof(*all));
	double sum = 0, deviation;
	size_t i;

	if (!all || !nr_a || !nr_b) {
		free(all);
		return 0;
	}
	memcpy(all, a, nr_a * sizeof(*all));
	memcpy(all + nr_a, b, nr_b * sizeof(*all));
	if (!stat_rank(all, count))
		for (i = 0; i < nr_a; i++)
			sum += all[i] - (count + 1) / 2.0;
	free(all);
	deviation = sqrt((double)nr_a * nr_b * (count + 1) / 12);
	return sum / deviation;
}

double stat_ratio(const double *a, size_t nr_a, const double *b, size_t nr_b)
{
	double *quotients = malloc(nr_a * nr_b * sizeof(*quotients));
	double ratio = 1;
	size_t i, j;

	if (!quotients || !nr_a || !nr_b) {
		free(quotients);
		return ratio;
	}
	for (i = 0; i < nr_a; i++)
		for (j = 0; j < nr_b; j++)
			quotients[i * nr_b + j] = a[i] / b[j];
	ratio = stat_median(quotients, nr_a * nr_b);
	free(quotients);
	return ratio;
}

double stat_rank_correlation(const double *a, const double *b, size_t count)
{
	double *ranks = malloc(2 * count * sizeof(*ranks));
	double mean = (count + 1) / 2.0, product = 0, square_a = 0, square_b = 0;
	size_t i;

	if (!ranks || count < 4) {
		free(ranks);
		return 0;
	}
	memcpy(ranks, a, count * sizeof(*ranks));
	memcpy(ranks + count, b, count * sizeof(*ranks));
	if (!stat_rank(ranks, count) && !stat_rank(ranks + count, count)) {
		for (i = 0; i < count; i++) {
			product += (ranks[i] - mean) * (ranks[count + i] - mean);
			square_a += (ranks[i] - mean) * (ranks[i] - mean);
			square_b += (ranks[count + i] - mean) * (ranks[count + i] - mean);
		}
	}
	free(ranks);
	return square_a > 0 && square_b > 0 ? product / sqrt(square_a * square_b) : 0;
}

static double variance_around(const double *values, size_t count, double mean)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / count;
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += values[i];
	return sum / count;
}

/* Where to cut sorted values in two so that both parts are narrow (Otsu): the EM's start. */
static size_t best_cut(const double *values, size_t count)
{
	double total = mean_of(values, count) * count, below = 0, best = -1;
	size_t i, cut = count / 2;

	for (i = 1; i < count; i++) {
		double left, right, between;

		below += values[i - 1];
		left = below / i;
		right = (total - below) / (count - i);
		between = (double)i * (count - i) * (right - left) * (right - left);
		if (between > best) {
			best = between;
			cut = i;
		}
	}
	return cut;
}

static double density(double value, double mean, double variance)
{
	return exp(-(value - mean) * (value - mean) / (2 * variance)) / sqrt(2 * M_PI * variance);
}

/* One step of expectation and maximisation.  Returns the logarithm of the likelihood before it. */
static double improve(const double *values, size_t count, struct mixture *mixture,
		      double floor_variance)
{
	const double variance = mixture->deviation * mixture->deviation;
	double upper = 0, sum[2] = { 0, 0 }, squares = 0, likelihood = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const double low = (1 - mixture->share) *
				   density(values[i], mixture->mean[0], variance);
		const double high = mixture->share * density(values[i], mixture->mean[1], variance);
		const double weight = low + high > 0 ? high / (low + high) :
				      fabs(values[i] - mixture->mean[1]) <
				      fabs(values[i] - mixture->mean[0]);
		const double from_low = values[i] - mixture->mean[0];
		const double from_high = values[i] - mixture->mean[1];

		likelihood += log(low + high > DBL_MIN ? low + high : DBL_MIN);
		upper += weight;
		sum[0] += (1 - weight) * values[i];
		sum[1] += weight * values[i];
		squares += (1 - weight) * from_low * from_low + weight * from_high * from_high;
	}
	if (upper > 0.5 && upper < count - 0.5) {
		mixture->share = upper / count;
		mixture->mean[0] = sum[0] / (count - upper);
		mixture->mean[1] = sum[1] / upper;
	}
	squares /= count;
	mixture->deviation = sqrt(squares > floor_variance ? squares : floor_variance);
	return likelihood;
}

void stat_mixture(double *values, size_t count, struct mixture *mixture)
{
	double mean, variance, single, likelihood = 0, floor_variance;
	size_t cut;
	int step;

	stat_sort(values, count);
	mean = mean_of(values, count);
	variance = variance_around(values, count, mean);
	floor_variance = variance / 1000000 + LEAST_VARIANCE;
	variance += floor_variance;
	single = -0.5 * count * (log(2 * M_PI * variance) + 1);
	cut = best_cut(values, count);
	mixture->share = (double)(count - cut) / count;
	mixture->mean[0] = mean_of(values, cut);
	mixture->mean[1] = mean_of(values + cut, count - cut);
	mixture->deviation = sqrt((cut * variance_around(values, cut, mixture->mean[0]) +
				   (count - cut) * variance_around(values + cut, count - cut,
								   mixture->mean[1])) / count +
				  floor_variance);
	for (step = 0; step < 50; step++)
		likelihood = improve(values, count, mixture, floor_variance);
	/* Four parameters against two. */
	mixture->evidence = 2 * (likelihood - single) - 2 * log(count);
	mixture->distance = fabs(mixture->mean[1] - mixture->mean[0]) / mixture->deviation;
}
