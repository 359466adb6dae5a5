// SPDX-License-Identifier: GPL-2.0-only
/*
 * P1, what the clustered page is worth to a commit: two blocks, header and data, and a flush.
 *
 * The drive reads the rest of the page for them.  Written with all of its page a commit spares
 * that, but more goes over the interface, and a drive that keeps what it is sent in spite of a
 * flush, or programs smaller pieces, loses.  So both are done as the log does them: commits one
 * behind the other in a page, and the same with the whole page each time.
 */
#include <errno.h>
#include <stdlib.h>
#include "find/survey.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define COMMIT		(2 * JUDGE_UNIT)
#define FIRST_LOOK	32U
#define MAX_PAIRS	256U
#define LEAST_GAIN	0.05	/* of a commit's time; less is not worth writing more */

/* The same commit in both ways, in any order. */
struct commit_pairs {
	double alone[MAX_PAIRS];
	double whole[MAX_PAIRS];
	unsigned int count;
};

/* The @index-th pair: commit after commit, page after page, from @start on. */
static int take_pair(struct survey *survey, u64 start, u64 page, unsigned int index,
		     struct commit_pairs *pairs, struct failure *failure)
{
	const unsigned int commits = page / COMMIT;
	const u64 at = start + index / commits * page;
	const bool whole_first = measure_random(survey->measure, 2);
	u64 ns[2] = { 0, 0 };
	unsigned int i;
	int code = 0;

	for (i = 0; !code && i < 2; i++) {
		const bool whole = whole_first != (i == 1);

		code = survey_write_flush(survey, whole ? at : at + index % commits * COMMIT,
					  whole ? page : COMMIT, &ns[whole], failure);
	}
	pairs->alone[pairs->count] = ns[0] + 1;
	pairs->whole[pairs->count] = ns[1] + 1;
	pairs->count += !code;
	return code;
}

static void conclude(struct survey *survey, struct commit_pairs *pairs)
{
	struct finding *finding = &survey->finding[PARAMETER_REWRITE];
	const double deviate = judge_fast_kind(pairs->alone, pairs->whole, pairs->count);
	const double alone = stat_median(pairs->alone, pairs->count);
	const double whole = stat_median(pairs->whole, pairs->count);
	const bool gains = deviate >= JUDGE_CLEAR && alone - whole >= LEAST_GAIN * alone;

	finding->value = gains ? alone - whole : 0;
	finding->effect = alone / whole;
	survey_conclude(survey, PARAMETER_REWRITE, STATUS_MEASURED, CONFIDENCE_MEDIUM,
			"a commit of 8 KiB takes %.3f ms, with all of its page %.3f ms",
			alone / 1e6, whole / 1e6);
}

int find_rewrite(struct survey *survey, struct failure *failure)
{
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	struct finding *finding = &survey->finding[PARAMETER_REWRITE];
	struct commit_pairs *pairs;
	unsigned int look;
	u64 start, bytes;
	int code = 0;

	finding->method = "flushed writes of two blocks, alone and with all of their page";
	if (page->status != STATUS_MEASURED || !page->has_phase || page->value < 2 * COMMIT ||
	    page->value > MEASURE_MAX_BYTES) {
		survey_conclude(survey, PARAMETER_REWRITE, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"no clustered page of 16 KiB or more is known");
		return 0;
	}
	pairs = calloc(1, sizeof(*pairs));
	if (!pairs)
		return fail(failure, -ENOMEM, "not enough memory for the samples");
	/* Pages count from the start of the device, as the phase does. */
	bytes = (MAX_PAIRS / (page->value / COMMIT) + 2) * page->value;
	start = survey_place(survey, bytes, page->value);
	start += (page->phase + page->value - (survey->measure->offset + start) % page->value) %
		 page->value;
	for (look = FIRST_LOOK; !code && look <= MAX_PAIRS; look *= 2) {
		while (!code && pairs->count < look && !survey_late(survey))
			code = take_pair(survey, start, page->value, pairs->count, pairs, failure);
		if (survey_late(survey) ||
		    judge_fast_kind(pairs->alone, pairs->whole, pairs->count) >= JUDGE_CLEAR)
			break;
	}
	finding->samples = 2 * pairs->count;
	if (!code && pairs->count >= FIRST_LOOK)
		conclude(survey, pairs);
	else if (!code)
		survey_conclude(survey, PARAMETER_REWRITE, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"no time was left for it");
	free(pairs);
	return code;
}
