// SPDX-License-Identifier: GPL-2.0-only
/*
 * P4, the read buffer: how much can be read before the first of it is forgotten.
 *
 * Method 1: a small read, then others of S bytes, then the small one again: the largest S after
 * which it is still fast.  Method 2 (ME procedures 4 and 5): S bytes twice; the second time is
 * faster as long as all of it fits.  The first also works where the interface hides the NAND.
 */
#include "find/read-pairs.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define TRIES		11U
#define MAX_BUFFER	(32U << 20)
#define STEP		4096ULL

/* Bytes of the largest reading in between that is survived, to STEP. */
static int search_survival(struct survey *survey, struct read_pairs *pairs, u64 *survived,
			   struct failure *failure)
{
	u64 good = 0, bad = 0, limit = survey->measure->bytes / 4;
	int code = 0;

	if (limit > MAX_BUFFER)
		limit = MAX_BUFFER;
	while (!code && !pairs->cut_short && (!bad || bad - good > STEP)) {
		const u64 next = bad ? (good + bad) / 2 / STEP * STEP : good ? 2 * good : STEP;
		bool hit = false;

		if (next > limit)
			break;
		code = read_pairs_after(survey, pairs, next, &hit, failure);
		if (hit)
			good = next;
		else
			bad = next;
	}
	*survived = good;
	return code;
}

/* Second over first time of reading @bytes twice; 1 if there is no time for it. */
static int twice(struct survey *survey, u64 bytes, double *ratio, struct failure *failure)
{
	double first[TRIES], second[TRIES];
	unsigned int i;
	int code = 0;

	for (i = 0; !code && i < TRIES && !survey_late(survey); i++) {
		const u64 place = read_pairs_place(survey, bytes);
		u64 ns = 0;

		code = survey_read_range(survey, place, bytes, &ns, failure);
		first[i] = ns + 1;
		if (!code)
			code = survey_read_range(survey, place, bytes, &ns, failure);
		second[i] = ns + 1;
	}
	*ratio = code || i < TRIES ? 1 : stat_ratio(second, TRIES, first, TRIES);
	survey->finding[PARAMETER_READ_BUFFER].samples += 2 * i;
	return code;
}

/* Does @bytes fit, read twice, and does clearly more not?  1, 0, or a negative errno. */
static int fits_twice(struct survey *survey, u64 bytes, u64 more, struct failure *failure)
{
	double fits = 1, exceeds = 1;
	int code = twice(survey, bytes, &fits, failure);

	if (!code)
		code = twice(survey, more, &exceeds, failure);
	return code ? code : fits < 0.85 && exceeds > 1.1 * fits;
}

/*
 * How much reading ahead may have pushed out of the buffer, twice: behind the read and the
 * others.
 */
static u64 pushed_out(const struct finding *prefetch)
{
	switch (prefetch->status) {
	case STATUS_MEASURED:
		return 2 * prefetch->value;
	case STATUS_BOUNDED:
		return 2 * prefetch->high;
	default:
		return 0;
	}
}

static int conclude_late(struct survey *survey)
{
	survey_conclude(survey, PARAMETER_READ_BUFFER, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
			"no time was left to find its end");
	return 0;
}

/*
 * The small read itself takes one unit, so the buffer is one larger than what can be read in
 * between. Where the unit is not exactly known, or the drive reads ahead, there is only a range.
 */
static int conclude(struct survey *survey, struct read_pairs *pairs, u64 survived,
		    struct failure *failure)
{
	struct finding *finding = &survey->finding[PARAMETER_READ_BUFFER];
	const u64 ahead = pushed_out(&survey->finding[PARAMETER_PREFETCH]);
	const bool known = survey->finding[PARAMETER_PAGE].status == STATUS_MEASURED;
	const bool exact = known && !ahead;
	u64 unit = 0;
	int code = read_pairs_unit(survey, pairs, &unit, failure);
	int agrees;

	if (code)
		return code;
	if (pairs->cut_short)
		return conclude_late(survey);
	if (!unit) {
		survey_conclude(survey, PARAMETER_READ_BUFFER, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"reads are fast at any distance");
		return 0;
	}
	finding->value = survived + (known ? unit : STEP);
	finding->low = exact ? survived + unit : survived + STEP;
	/* Where the page is unknown, both reads may begin and end within units. */
	finding->high = survived + (known ? unit : 3 * unit) + ahead;
	agrees = fits_twice(survey, finding->low, finding->high + unit + (finding->high >> 3),
			    failure);
	if (agrees < 0)
		return agrees;
	survey_conclude(survey, PARAMETER_READ_BUFFER, exact ? STATUS_MEASURED : STATUS_BOUNDED,
			agrees ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
			"a read is remembered until %llu KiB more were read, in units of %llu KiB; reading twice %s",
			survived >> 10, unit >> 10, agrees ? "agrees" : "cannot tell");
	return 0;
}

int find_read_buffer(struct survey *survey, struct failure *failure)
{
	struct finding *finding = &survey->finding[PARAMETER_READ_BUFFER];
	struct read_pairs pairs = { 0 };
	u64 survived = 0;
	int code = read_pairs_learn(survey, &pairs, failure);

	finding->method = "the same read again after others; S bytes read twice";
	if (code)
		return code;
	if (pairs.cut_short)
		return conclude_late(survey);
	finding->effect = pairs.gain;
	if (!pairs.threshold) {
		survey_conclude(survey, PARAMETER_READ_BUFFER, STATUS_NOT_DETECTABLE,
				CONFIDENCE_MEDIUM, "a second read of the same takes as long as the first");
		return 0;
	}
	code = search_survival(survey, &pairs, &survived, failure);
	finding->samples += pairs.samples;
	if (code)
		return code;
	return pairs.cut_short ? conclude_late(survey) :
				 conclude(survey, &pairs, survived, failure);
}
