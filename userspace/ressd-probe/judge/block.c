// SPDX-License-Identifier: GPL-2.0-only
/* P2, decided on an ordered scan and on its borders seen closely; see judge.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "judge/judge.h"
#include "measure/statistics.h"

#define NEARLY_ZERO	0.000000001
#define MIN_BORDERS	5U
#define MIN_STRIDES	2	/* between borders, or a period could be nothing */
#define MIN_PERIOD	(256.0 * 1024)
#define MAX_PERIOD	(48.0 * 1024 * 1024)
#define ANCHORS		8U	/* slow writes that are tried as borders ... */
#define PARTNERS	24U	/* ... each with so many others */

/* The writes that took longer than some threshold. */
struct slow_writes {
	unsigned int *at;	/* their numbers */
	unsigned int count;
	unsigned int end;	/* writes in all */
	unsigned int *before;	/* [end + 1] how many slow ones there are before each write */
	double threshold;
};

/*
 * How well borders from @first on, every @period (in strides), explain the slow writes.  Writes
 * before the first one do not count: the drive may not have been under pressure yet.
 */
static void try_borders(const struct slow_writes *slow, double period, double first,
			struct block_judgement *judgement)
{
	const unsigned int begin = first > 0 ? ceil(first - NEARLY_ZERO) : 0;
	const unsigned int all = slow->count - slow->before[begin];
	unsigned int hits = 0, borders = 0;
	double border, density;

	/* The first write at or behind each border. */
	for (border = first; ceil(border - NEARLY_ZERO) < slow->end; border += period) {
		const unsigned int at = border > 0 ? ceil(border - NEARLY_ZERO) : 0;

		hits += slow->before[at + 1] - slow->before[at];
		borders++;
	}
	density = (double)all / (slow->end - begin);
	*judgement = (struct block_judgement){
		.period = period,
		.first = first,
		.threshold = slow->threshold,
		.evidence = hits * -log(density) - 2.0 * (borders - hits),
		.borders = borders,
		.hits = hits,
	};
}

/* Many periods and phases explain the same borders; the middle of them is the best guess. */
struct best_block {
	struct block_judgement judgement;
	double period_sum;
	double first_sum;
	unsigned int ties;
};

static bool is_better(const struct block_judgement *a, const struct block_judgement *b)
{
	if (a->borders < MIN_BORDERS || a->hits * 10 < a->borders * 8)
		return false;
	return a->evidence > b->evidence + NEARLY_ZERO;
}

static void consider(struct best_block *best, const struct block_judgement *judgement)
{
	const struct block_judgement *known = &best->judgement;

	if (is_better(judgement, known)) {
		*best = (struct best_block){ *judgement, judgement->period, judgement->first, 1 };
	} else if (judgement->hits == known->hits && judgement->borders == known->borders &&
		   fabs(judgement->evidence - known->evidence) < NEARLY_ZERO &&
		   fabs(judgement->period - known->period) < 2 &&
		   fabs(judgement->first - known->first) < 2) {
		best->period_sum += judgement->period;
		best->first_sum += judgement->first;
		best->ties++;
	}
}

/*
 * Borders go through pairs of slow writes: the period is their distance, give or take a stride.
 */
static void search_from(const struct slow_writes *slow, unsigned int anchor, double stride,
			struct best_block *best)
{
	const unsigned int last = slow->count < anchor + PARTNERS ? slow->count : anchor + PARTNERS;
	unsigned int other, shift, fine;

	for (other = anchor + 1; other < last; other++) {
		const double guess = slow->at[other] - slow->at[anchor];

		if (guess < MIN_STRIDES || guess * stride < MIN_PERIOD ||
		    guess * stride > MAX_PERIOD)
			continue;
		for (fine = 0; fine <= 32; fine++) {
			for (shift = 0; shift < 4; shift++) {
				struct block_judgement judgement;

				try_borders(slow, guess - 1 + fine / 16.0,
					    slow->at[anchor] - shift / 4.0, &judgement);
				consider(best, &judgement);
			}
		}
	}
}

static void search_threshold(struct slow_writes *slow, const double *times, double stride,
			     struct best_block *best)
{
	unsigned int i;

	slow->count = 0;
	for (i = 0; i < slow->end; i++) {
		slow->before[i] = slow->count;
		if (times[i] > slow->threshold)
			slow->at[slow->count++] = i;
	}
	slow->before[slow->end] = slow->count;
	/* Borders are at least four strides apart; more slow writes are something else. */
	if (slow->count < MIN_BORDERS || slow->count * 4 > slow->end)
		return;
	for (i = 0; i < slow->count && i < ANCHORS; i++)
		search_from(slow, i, stride, best);
}

void judge_block_scan(const double *times, unsigned int count, u64 stride,
		      struct block_judgement *judgement)
{
	double *sorted = malloc(count * sizeof(*sorted));
	struct slow_writes slow = {
		.at = malloc(count * sizeof(*slow.at)),
		.before = malloc((count + 1) * sizeof(*slow.before)),
		.end = count,
	};
	struct best_block best;
	double longest;

	memset(&best, 0, sizeof(best));
	if (sorted && slow.at && slow.before && count >= 32) {
		memcpy(sorted, times, count * sizeof(*sorted));
		stat_sort(sorted, count);
		longest = sorted[count - 1];
		/* Three quarters are ordinary writes, to the slow pages of MLC, too. */
		for (slow.threshold = 3 * stat_quantile(sorted, count, 0.75);
		     slow.threshold < longest; slow.threshold *= 2)
			search_threshold(&slow, times, stride, &best);
	}
	free(sorted);
	free(slow.at);
	free(slow.before);
	*judgement = best.judgement;
	if (!best.ties)
		return;
	judgement->period = best.period_sum / best.ties * stride;
	judgement->first = best.first_sum / best.ties * stride;
}

static unsigned int count_edges(const bool *slow, const u64 *start, unsigned int edges,
				unsigned int width, u64 period, u64 border)
{
	unsigned int e, hits = 0;

	for (e = 0; e < edges; e++) {
		/* The border of this window: the first one from its start on. */
		const u64 behind = start[e] > border ? start[e] - border : 0;
		const u64 blocks = (behind + period - 1) / period;
		const u64 at = border + blocks * period;

		hits += at >= start[e] && at < start[e] + width &&
			slow[e * width + (at - start[e])];
	}
	return hits;
}

void judge_block_edges(const bool *slow, const u64 *start, unsigned int edges,
		       unsigned int width, double period, double slack,
		       struct edge_judgement *judgement)
{
	u64 candidate = period > slack + 1 ? (u64)(period - slack) : 1;
	unsigned int i;

	memset(judgement, 0, sizeof(*judgement));
	for (; candidate <= period + slack; candidate++) {
		for (i = 0; i < width; i++) {
			const unsigned int hits = count_edges(slow, start, edges, width, candidate,
							      start[0] + i);

			if (hits > judgement->hits) {
				judgement->second = judgement->hits;
				judgement->hits = hits;
				judgement->period = candidate;
				judgement->border = start[0] + i;
			} else if (hits > judgement->second) {
				judgement->second = hits;
			}
		}
	}
}
