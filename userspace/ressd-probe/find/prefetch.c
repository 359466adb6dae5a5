// SPDX-License-Identifier: GPL-2.0-only
/*
 * P6, prefetching: does a read bring what lies behind it into the read buffer?
 *
 * Two reads at a distance, at places never read before: the second is fast if the first one has
 * brought its data along.  That happens within a clustered page anyway, in both directions; only
 * what is fast forwards and slow backwards was prefetched.  A pause between the reads lets the
 * drive finish.
 */
#include "find/read-pairs.h"
#include "judge/judge.h"

#define MAX_AHEAD	(4U << 20)

/* The farthest multiple of @unit that is prefetched, given that the first one is. */
static int search_end(struct survey *survey, struct read_pairs *pairs, u64 unit, u64 *ahead,
		      struct failure *failure)
{
	u64 good = 1, bad = 0;
	int code = 0;

	while (!code && !pairs->cut_short && (!bad || bad - good > 1)) {
		const u64 next = bad ? (good + bad) / 2 : 2 * good;
		bool hit = false;

		if (next * unit > MAX_AHEAD) {
			bad = next;
			continue;
		}
		code = read_pairs_at_distance(survey, pairs, next * unit, &hit, failure);
		if (hit)
			good = next;
		else
			bad = next;
	}
	*ahead = good * unit;
	return code;
}

static int judge_prefetch(struct survey *survey, struct read_pairs *pairs, u64 unit,
			  bool exact, struct failure *failure)
{
	struct finding *finding = &survey->finding[PARAMETER_PREFETCH];
	bool hit = false;
	u64 ahead = 0;
	int code = read_pairs_at_distance(survey, pairs, unit, &hit, failure);

	if (code || pairs->cut_short)
		return code;
	if (!hit) {
		finding->high = exact ? 0 : unit;
		survey_conclude(survey, PARAMETER_PREFETCH,
				exact ? STATUS_MEASURED : STATUS_BOUNDED, CONFIDENCE_MEDIUM,
				"a read %llu KiB behind another one is as slow as any", unit >> 10);
		return 0;
	}
	code = search_end(survey, pairs, unit, &ahead, failure);
	if (code || pairs->cut_short)
		return code;
	finding->value = ahead;
	finding->low = exact ? ahead : unit / 4;
	finding->high = exact ? ahead : ahead + unit;
	survey_conclude(survey, PARAMETER_PREFETCH, exact ? STATUS_MEASURED : STATUS_BOUNDED,
			CONFIDENCE_MEDIUM,
			"reads up to %llu KiB behind another one are fast, those before it are not",
			ahead >> 10);
	return 0;
}

static int search(struct survey *survey, struct read_pairs *pairs, struct failure *failure)
{
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	const bool exact = page->status == STATUS_MEASURED;
	u64 unit = page->value;
	int code = read_pairs_learn(survey, pairs, failure);

	survey->finding[PARAMETER_PREFETCH].effect = pairs->gain;
	if (code || pairs->cut_short)
		return code;
	if (!pairs->threshold) {
		survey_conclude(survey, PARAMETER_PREFETCH, STATUS_MEASURED, CONFIDENCE_LOW,
				"nothing can be prefetched where a second read of the same is not faster");
		return 0;
	}
	if (!exact)
		code = read_pairs_unit(survey, pairs, &unit, failure);
	if (code || pairs->cut_short)
		return code;
	if (unit)
		return judge_prefetch(survey, pairs, unit, exact, failure);
	survey_conclude(survey, PARAMETER_PREFETCH, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
			"reads are fast in both directions at any distance");
	return 0;
}

int find_prefetch(struct survey *survey, struct failure *failure)
{
	struct finding *finding = &survey->finding[PARAMETER_PREFETCH];
	struct read_pairs pairs = { 0 };
	int code = search(survey, &pairs, failure);

	finding->method =
		"reads in pairs at a distance, forwards and backwards, where nothing was read";
	finding->samples = pairs.samples;
	if (!code && pairs.cut_short)
		survey_conclude(survey, PARAMETER_PREFETCH, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"no time was left to find its end");
	return code;
}
