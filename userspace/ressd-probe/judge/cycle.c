// SPDX-License-Identifier: GPL-2.0-only
/* P2 of drives that map pages: what returns every so many writes; see judge.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "judge/judge.h"
#include "measure/statistics.h"

#define MIN_CYCLES	6U
#define HIT_PERCENT	75U	/* of the cycles in which the write must be long */

/* Which writes are long is not known: so the longest shares in turn.  Other work is among them. */
static const double shares[] = { 0.002, 0.005, 0.01, 0.02, 0.05, 0.1 };

#define NR_SHARES	(sizeof(shares) / sizeof(shares[0]))

/*
 * Common logarithm of the odds that @hits of @cycles writes are long by chance, where a share
 * @density of all is (Chernoff's bound).
 */
static double odds_against(unsigned int hits, unsigned int cycles, double density)
{
	const double share = (double)hits / cycles;
	double divergence = share * log(share / density);

	if (share < 1)
		divergence += (1 - share) * log((1 - share) / (1 - density));
	return share > density ? cycles * divergence / log(10) : 0;
}

/* The best phase of one period among the @long_ones. */
static void try_period(const unsigned int *long_ones, unsigned int nr_long, unsigned int count,
		       unsigned int period, unsigned int *hits, struct cycle_judgement *best)
{
	/* As many phases of as many periods were looked at. */
	const double chances = log10((double)count * count / (2 * MIN_CYCLES * MIN_CYCLES)) +
			       log10(NR_SHARES);
	unsigned int i;

	memset(hits, 0, period * sizeof(*hits));
	for (i = 0; i < nr_long; i++)
		hits[long_ones[i] % period]++;
	for (i = 0; i < period; i++) {
		const unsigned int cycles = (count - 1 - i) / period + 1;
		double evidence;

		if (cycles < MIN_CYCLES || hits[i] * 100 < cycles * HIT_PERCENT)
			continue;
		evidence = odds_against(hits[i], cycles, (double)nr_long / count) - chances;
		if (evidence > best->evidence)
			*best = (struct cycle_judgement){
				.period = period,
				.first = i,
				.cycles = cycles,
				.hits = hits[i],
				.evidence = evidence,
			};
	}
}

void judge_cycle(const double *times, unsigned int count, unsigned int least,
		 struct cycle_judgement *judgement)
{
	double *sorted = malloc(count * sizeof(*sorted));
	unsigned int *long_ones = malloc(count * sizeof(*long_ones));
	unsigned int *hits = malloc(count * sizeof(*hits));
	unsigned int share, period, nr_long, i;

	*judgement = (struct cycle_judgement){ 0 };
	if (sorted && long_ones && hits && count) {
		memcpy(sorted, times, count * sizeof(*sorted));
		stat_sort(sorted, count);
		for (share = 0; share < NR_SHARES; share++) {
			const double limit = stat_quantile(sorted, count, 1 - shares[share]);

			for (nr_long = 0, i = 0; i < count; i++)
				if (times[i] > limit)
					long_ones[nr_long++] = i;
			for (period = least; nr_long && period <= count / MIN_CYCLES; period++)
				try_period(long_ones, nr_long, count, period, hits, judgement);
		}
	}
	free(sorted);
	free(long_ones);
	free(hits);
}
