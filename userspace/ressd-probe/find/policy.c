// SPDX-License-Identifier: GPL-2.0-only
/*
 * P7, buffer or cache: does a second write of the same place, while the first still waits in the
 * write buffer, spare the first (a cache), or only if it follows at once (a buffer)?
 *
 * Three series of flushed writes: to two pages, one after the other; to the same two in turn;
 * all to different pages.  A cache makes the first two alike.
 */
#include "find/read-pairs.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define WRITES		12U
#define TRIES		24U
#define SHORTEST	14U	/* of the tries: others only make them longer */

enum pattern { PATTERN_PAIR, PATTERN_TURNS, PATTERN_DISTINCT, NR_PATTERNS };

static unsigned int page_of(enum pattern pattern, unsigned int index)
{
	switch (pattern) {
	case PATTERN_PAIR:
		return index / (WRITES / 2);
	case PATTERN_TURNS:
		return index % 2;
	default:
		return index;
	}
}

static int run_series(struct survey *survey, enum pattern pattern, u64 base, u64 step,
		      double *time, struct failure *failure)
{
	u64 sum = 0, ns = 0;
	unsigned int i;
	int code = measure_flush(survey->measure, NULL, failure);

	for (i = 0; !code && i < WRITES; i++) {
		code = measure_write(survey->measure, base + page_of(pattern, i) * step, JUDGE_UNIT,
				     &ns, failure);
		sum += ns;
	}
	if (!code)
		code = measure_flush(survey->measure, &ns, failure);
	*time = sum + ns + 1;
	return code;
}

static void judge_policy(struct survey *survey, double times[NR_PATTERNS][TRIES])
{
	struct finding *finding = &survey->finding[PARAMETER_POLICY];
	double clear, distinct, turns;
	unsigned int p;

	for (p = 0; p < NR_PATTERNS; p++)
		stat_sort(times[p], TRIES);
	clear = stat_rank_sum(times[PATTERN_DISTINCT], SHORTEST, times[PATTERN_PAIR], SHORTEST);
	distinct = stat_ratio(times[PATTERN_DISTINCT], SHORTEST, times[PATTERN_PAIR], SHORTEST);
	turns = stat_ratio(times[PATTERN_TURNS], SHORTEST, times[PATTERN_PAIR], SHORTEST);
	finding->effect = distinct;
	if (clear < JUDGE_CLEAR || distinct < 1.4)
		survey_conclude(survey, PARAMETER_POLICY, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"different places take only %.2f of the time of two places",
				distinct);
	else if (turns > 1.15 && turns < 1.3)
		survey_conclude(survey, PARAMETER_POLICY, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"two places in turn take %.2f of the time of one after the other, different ones %.2f",
				turns, distinct);
	else
		survey_conclude(survey, PARAMETER_POLICY, STATUS_MEASURED, CONFIDENCE_MEDIUM,
				"two places in turn take %.2f of the time of one after the other, different ones %.2f",
				turns, distinct);
	finding->value = turns < 1.2 ? POLICY_CACHE : POLICY_BUFFER;
}

int find_policy(struct survey *survey, struct failure *failure)
{
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];
	const struct finding *buffer = &survey->finding[PARAMETER_WRITE_BUFFER];
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	struct finding *finding = &survey->finding[PARAMETER_POLICY];
	u64 base;
	double times[NR_PATTERNS][TRIES];
	unsigned int i, p;
	int code = 0;

	finding->method =
		"flushed writes to two pages, one after the other and in turn, and to others";
	if (flush->status == STATUS_MEASURED && !flush->value) {
		survey_conclude(survey, PARAMETER_POLICY, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"flushes are ignored");
		return 0;
	}
	if (buffer->status == STATUS_NOT_DETECTABLE && buffer->confidence == CONFIDENCE_MEDIUM) {
		finding->value = POLICY_NONE;
		survey_conclude(survey, PARAMETER_POLICY, STATUS_MEASURED, CONFIDENCE_MEDIUM,
				"writes do not wait in a buffer");
		return 0;
	}
	if (page->status != STATUS_MEASURED) {
		survey_conclude(survey, PARAMETER_POLICY, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"without a clustered page it is not known what different places are");
		return 0;
	}
	base = read_pairs_place(survey, WRITES * page->value);
	for (i = 0; !code && i < TRIES && !survey_late(survey); i++)
		for (p = 0; !code && p < NR_PATTERNS; p++)
			code = run_series(survey, (p + i) % NR_PATTERNS, base, page->value,
					  &times[(p + i) % NR_PATTERNS][i], failure);
	finding->samples = i * NR_PATTERNS;
	if (!code && i < TRIES)
		survey_conclude(survey, PARAMETER_POLICY, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"no time was left");
	else if (!code)
		judge_policy(survey, times);
	return code;
}
