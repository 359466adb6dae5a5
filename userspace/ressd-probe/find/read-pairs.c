// SPDX-License-Identifier: GPL-2.0-only
/* Reads that find their data in the drive's RAM; see read-pairs.h. */
#include <math.h>
#include "find/read-pairs.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define LEARNED		48U
#define IDLE_NS		20000000ULL	/* before each timed read: prefetching is over then */
#define LEAST_TRIES	5U
#define MAX_TRIES	100U
#define EVIDENCE	7.0		/* logarithm of the odds at which a question is settled */
#define MAX_UNIT	(256U << 10)

static bool page_is_known(const struct survey *survey)
{
	return survey->finding[PARAMETER_PAGE].status == STATUS_MEASURED &&
	       survey->finding[PARAMETER_PAGE].has_phase;
}

u64 read_pairs_place(struct survey *survey, u64 bytes)
{
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	const struct measure *measure = survey->measure;
	u64 place, phase;

	if (!page_is_known(survey))
		return survey_place(survey, bytes, JUDGE_UNIT);
	place = survey_place(survey, bytes + 2 * page->value, JUDGE_UNIT);
	phase = (measure->offset + place + page->value - page->phase) % page->value;
	return phase ? place + page->value - phase : place;
}

/* One look at the clock for each pair: reading what lies between two may take long. */
static bool out_of_time(const struct survey *survey, struct read_pairs *pairs)
{
	if (survey_late(survey))
		pairs->cut_short = true;
	return pairs->cut_short;
}

/* A read of an idle drive. */
static int timed_read(struct survey *survey, struct read_pairs *pairs, u64 place, double *time,
		      struct failure *failure)
{
	struct measure *measure = survey->measure;
	u64 ns = 0;
	int code;

	measure->disk->ops->pause(measure->disk, IDLE_NS);
	code = measure_read(measure, place, READ_PAIR_BYTES, &ns, failure);
	*time = ns + 1;
	pairs->samples++;
	return code;
}

static double share_below(const double *times, double threshold)
{
	unsigned int i, below = 0;

	for (i = 0; i < LEARNED; i++)
		below += times[i] < threshold;
	/* Never quite sure. */
	return (below + 1.0) / (LEARNED + 2.0);
}

int read_pairs_learn(struct survey *survey, struct read_pairs *pairs, struct failure *failure)
{
	double first[LEARNED], second[LEARNED], hit, miss;
	unsigned int i;
	int code = 0;

	for (i = 0; !code && i < LEARNED && !out_of_time(survey, pairs); i++) {
		const u64 place = read_pairs_place(survey, READ_PAIR_BYTES);

		code = timed_read(survey, pairs, place, &first[i], failure);
		if (!code)
			code = timed_read(survey, pairs, place, &second[i], failure);
	}
	pairs->threshold = 0;
	if (code || pairs->cut_short)
		return code;
	hit = stat_median(second, LEARNED);
	miss = stat_median(first, LEARNED);
	pairs->gain = miss / hit;
	if (pairs->gain < 1.25 || stat_rank_sum(first, LEARNED, second, LEARNED) < JUDGE_CLEAR)
		return 0;
	pairs->threshold = sqrt(hit * miss);
	pairs->hit_share = share_below(second, pairs->threshold);
	pairs->miss_share = share_below(first, pairs->threshold);
	return 0;
}

/* What one more read says: the logarithm of the odds that such reads are hits. */
static double odds(const struct read_pairs *pairs, double time)
{
	if (time < pairs->threshold)
		return log(pairs->hit_share / pairs->miss_share);
	return log((1 - pairs->hit_share) / (1 - pairs->miss_share));
}

/* Does a question with @tries behind it, and the odds @sum, need another try? */
static bool is_open(const struct survey *survey, struct read_pairs *pairs, unsigned int tries,
		    double sum)
{
	if (tries >= MAX_TRIES || (tries >= LEAST_TRIES && fabs(sum) >= EVIDENCE))
		return false;
	return !out_of_time(survey, pairs);
}

int read_pairs_at_distance(struct survey *survey, struct read_pairs *pairs, s64 distance,
			   bool *hit, struct failure *failure)
{
	const u64 apart = distance < 0 ? -distance : distance;
	double sum = 0, time = 0;
	unsigned int i;
	int code = 0;

	for (i = 0; !code && is_open(survey, pairs, i, sum); i++) {
		const u64 low = read_pairs_place(survey, apart + READ_PAIR_BYTES);

		code = timed_read(survey, pairs, distance < 0 ? low + apart : low, &time, failure);
		if (!code)
			code = timed_read(survey, pairs, distance < 0 ? low : low + apart, &time,
					  failure);
		sum += odds(pairs, time);
	}
	*hit = sum > 0;
	return code;
}

int read_pairs_after(struct survey *survey, struct read_pairs *pairs, u64 between, bool *hit,
		     struct failure *failure)
{
	double sum = 0, time = 0;
	unsigned int i;
	int code = 0;

	for (i = 0; !code && is_open(survey, pairs, i, sum); i++) {
		const u64 place = read_pairs_place(survey, READ_PAIR_BYTES);
		const u64 others = read_pairs_place(survey, between + READ_PAIR_BYTES);
		u64 ns;

		code = measure_read(survey->measure, place, READ_PAIR_BYTES, NULL, failure);
		if (!code)
			code = survey_read_range(survey, others, between, &ns, failure);
		if (!code)
			code = timed_read(survey, pairs, place, &time, failure);
		sum += odds(pairs, time);
	}
	*hit = sum > 0;
	return code;
}

/*
 * With an unknown page both reads lie anywhere in it, and the share of hits falls slowly with the
 * distance: so that only a distance well beyond where most are misses is free of them.
 */
int read_pairs_unit(struct survey *survey, struct read_pairs *pairs, u64 *unit,
		    struct failure *failure)
{
	u64 good = 0, bad = 0;
	bool hit = true;
	int code = 0;

	while (!code && !pairs->cut_short && (!bad || bad - good > JUDGE_UNIT)) {
		const u64 next = bad ? (good + bad) / 2 / JUDGE_UNIT * JUDGE_UNIT :
				 good ? 2 * good : JUDGE_UNIT;

		if (next > MAX_UNIT)
			break;
		code = read_pairs_at_distance(survey, pairs, -(s64)next, &hit, failure);
		if (hit)
			good = next;
		else
			bad = next;
		if (bad && !page_is_known(survey))
			break;
	}
	*unit = page_is_known(survey) ? bad : 4 * bad;
	return code;
}
