// SPDX-License-Identifier: GPL-2.0-only
/*
 * P6, prefetching: does a read bring what lies behind it into the read buffer?
 *
 * Two reads at a distance, at places never read before: the second is fast if the first one has
 * brought its data along.  That happens within a clustered page anyway, in both directions; only
 * what is fast forwards and slow backwards was prefetched.  A pause between the reads lets the
 * drive finish.
 */
#include "judge.h"
#include "read-pairs.h"

#define MAX_AHEAD	(4U << 20)

/* The farthest multiple of @unit that is prefetched, given that the first one is. */
static int search_end(struct survey *survey, struct read_pairs *pairs, u64 unit, u64 *ahead,
		      struct failure *failure)
{
	u64 good = 1, bad = 0;
	int code = 0;

	while (!code && (!bad || bad - good > 1) && !survey_late(survey)) {
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

	if (code)
		return code;
	if (!hit) {
		finding->high = exact ? 0 : unit;
		survey_conclude(survey, PARAMETER_PREFETCH,
				exact ? STATUS_MEASURED : STATUS_BOUNDED, CONFIDENCE_MEDIUM,
				"a read %llu KiB behind another one is as slow as any", unit >> 10);
		return 0;
	}
	code = search_end(survey, pairs, unit, &ahead, failure);
	finding->value = ahead;
	finding->low = exact ? ahead : unit / 4;
	finding->high = exact ? ahead : ahead + unit;
	if (!code)
		survey_conclude(survey, PARAMETER_PREFETCH,
				exact ? STATUS_MEASURED : STATUS_BOUNDED, CONFIDENCE_MEDIUM,
				"reads up to %llu KiB behind another one are fast, those before it are not",
				ahead >> 10);
	return code;
}

int find_prefetch(struct survey *survey, struct failure *failure)
{
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	struct finding *finding = &survey->finding[PARAMETER_PREFETCH];
	const bool exact = page->status == STATUS_MEASURED;
	struct read_pairs pairs = { 0 };
	u64 unit = 0;
	int code = read_pairs_learn(survey, &pairs, failure);

	finding->method =
		"reads in pairs at a distance, forwards and backwards, where nothing was read";
	finding->effect = pairs.gain;
	if (code)
		return code;
	if (!pairs.threshold) {
		survey_conclude(survey, PARAMETER_PREFETCH, STATUS_MEASURED, CONFIDENCE_LOW,
				"nothing can be prefetched where a second read of the same is not faster");
		return 0;
	}
	if (exact)
		unit = page->value;
	else
		code = read_pairs_unit(survey, &pairs, &unit, failure);
	if (!code && !unit)
		survey_conclude(survey, PARAMETER_PREFETCH, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"reads are fast in both directions at any distance");
	else if (!code)
		code = judge_prefetch(survey, &pairs, unit, exact, failure);
	finding->samples = pairs.samples;
	return code;
}
