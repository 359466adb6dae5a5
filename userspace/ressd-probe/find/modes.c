// SPDX-License-Identifier: GPL-2.0-only
/*
 * P3, the modes of NAND writes: MLC has fast and slow pages, in an order that the position in
 * the block decides.  So there must be two kinds of times (ME procedure 3), and their sequence
 * must repeat itself, which garbage collection and noise do not.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "find/read-pairs.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define FIRST_LOOK	512U	/* writes; twice as many at each look that tells nothing */
#define MOST_WRITES	2048U
#define MAX_LAG		128U

/* Page after page from @base on, until there are @enough times. */
static int take_writes(struct survey *survey, u64 base, u64 page, unsigned int enough,
		       double *times, unsigned int *count, struct failure *failure)
{
	int code = 0;

	for (; !code && *count < enough && !survey_late(survey); ++*count) {
		u64 ns = 0;

		code = survey_write_flush(survey, base + *count * page, page, &ns, failure);
		times[*count] = log(ns + 1.0);
	}
	return code;
}

/* Interference hides a pattern from few writes, but not from many. */
static int look_at_writes(struct survey *survey, u64 page, double *times,
			  struct mode_judgement *judgement, struct failure *failure)
{
	const u64 room = survey->measure->bytes / 2 / page;
	const unsigned int most = room < MOST_WRITES ? room : MOST_WRITES;
	const u64 base = read_pairs_place(survey, most * page);
	unsigned int enough = most > FIRST_LOOK ? FIRST_LOOK : most, count = 0;
	int code;

	for (;;) {
		code = take_writes(survey, base, page, enough, times, &count, failure);
		survey->finding[PARAMETER_MODES].samples = count;
		if (code)
			return code;
		judge_modes(times, count, MAX_LAG, judgement);
		if (judgement->modes || enough == most || survey_late(survey))
			return 0;
		enough = 2 * enough < most ? 2 * enough : most;
	}
}

static void judge_found(struct survey *survey, const struct mode_judgement *judgement)
{
	/* Else the times may be those of the buffer. */
	const bool flushed = survey->finding[PARAMETER_FLUSH].status == STATUS_MEASURED;
	const bool page = survey->finding[PARAMETER_PAGE].status == STATUS_MEASURED;
	struct finding *finding = &survey->finding[PARAMETER_MODES];

	finding->effect = judgement->ratio;
	finding->value = judgement->modes;
	switch (judgement->modes) {
	case 2:
		/* Writes across unknown page borders would make a pattern, too. */
		survey_conclude(survey, PARAMETER_MODES, STATUS_MEASURED,
				page ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
				"two kinds of writes, %.1f times apart, in an order that repeats itself every %u: MLC or more",
				judgement->ratio, judgement->lag);
		break;
	case 1:
		survey_conclude(survey, PARAMETER_MODES, STATUS_MEASURED,
				flushed ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW,
				"one kind of writes: SLC, pseudo-SLC, or all pages programmed at once");
		break;
	default:
		survey_conclude(survey, PARAMETER_MODES, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"times vary by %.0f %% without a pattern, which may hide two kinds",
				100 * judgement->spread);
	}
}

int find_modes(struct survey *survey, struct failure *failure)
{
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	struct finding *finding = &survey->finding[PARAMETER_MODES];
	const u64 bytes = page->status == STATUS_MEASURED ? page->value : JUDGE_UNIT;
	struct mode_judgement judgement;
	double *times;
	int code;

	finding->method = "flushed writes of a page each, in order: two kinds of times that repeat";
	if (flush->status == STATUS_MEASURED && !flush->value) {
		survey_conclude(survey, PARAMETER_MODES, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"flushes are ignored");
		return 0;
	}
	times = calloc(MOST_WRITES, sizeof(*times));
	if (!times)
		return fail(failure, -ENOMEM, "not enough memory for the samples");
	code = look_at_writes(survey, bytes, times, &judgement, failure);
	if (!code)
		judge_found(survey, &judgement);
	free(times);
	return code;
}
