// SPDX-License-Identifier: GPL-2.0-only
/*
 * P1, the clustered page: the unit to which partial writes are completed by reading the rest.
 *
 * First writes of two units at every position of a window, each flushed: those that cross a
 * border touch two pages.  That shows size and phase, but a drive that merely works on two dies
 * in turn may look alike.  So the definition decides, as in ME procedure 1: a write of just one
 * page must take less time than one of a unit less (whose rest is read), and less than one of
 * its size that lies across a border.
 */
#include <errno.h>
#include <stdlib.h>
#include "find/survey.h"
#include "judge/judge.h"

#define WINDOW		1048576U
#define POSITIONS	(WINDOW / JUDGE_UNIT - 1)
#define MAX_PASSES	8U
#define CANDIDATES	3U
#define MAX_PAIRS	1024U

/* The writes whose times are compared. */
struct page_triples {
	double whole[MAX_PAIRS];	/* one page at its place */
	double less[MAX_PAIRS];		/* a unit less, from there on */
	double across[MAX_PAIRS];	/* one page, half a page further on */
	unsigned int count;
};

static void shuffle(struct measure *measure, unsigned int *order, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		order[i] = i;
	for (i = count; i > 1; i--) {
		unsigned int other = measure_random(measure, i);
		unsigned int swap = order[i - 1];

		order[i - 1] = order[other];
		order[other] = swap;
	}
}

/* 1 if all positions were written to, 0 if that takes far too long, or a negative errno. */
static int scan_pass(struct survey *survey, u64 window, double *times, struct failure *failure)
{
	unsigned int order[POSITIONS], i;
	int code = 0;

	shuffle(survey->measure, order, POSITIONS);
	for (i = 0; !code && i < POSITIONS && !survey_overdue(survey); i++) {
		u64 ns = 0;

		code = survey_write_flush(survey, window + (u64)order[i] * JUDGE_UNIT,
					  2 * JUDGE_UNIT, &ns, failure);
		times[order[i]] = ns;
	}
	survey->finding[PARAMETER_PAGE].samples += i;
	return code ? code : i == POSITIONS;
}

static int take_triple(struct survey *survey, u64 window, const struct page_candidate *candidate,
		       struct page_triples *triples, struct failure *failure)
{
	const u32 page = candidate->page;
	const u32 half = (page / 2 + JUDGE_UNIT - 1) / JUDGE_UNIT * JUDGE_UNIT;
	/* Behind the window is as much again that may be used. */
	const u32 span = page > WINDOW / 4 ? 2 * WINDOW : WINDOW;
	const u32 places = (span - candidate->phase - half) / page;
	const u32 place = measure_random(survey->measure, places);
	const u64 at = window + candidate->phase + place * page;
	unsigned int order[3], i;
	u64 ns[3] = { 0, 0, 0 };
	int code = 0;

	shuffle(survey->measure, order, 3);
	for (i = 0; !code && i < 3; i++)
		code = survey_write_flush(survey, at + (order[i] == 2 ? half : 0),
					  page - (order[i] == 1 ? JUDGE_UNIT : 0),
					  &ns[order[i]], failure);
	triples->whole[triples->count] = ns[0] + 1;
	triples->less[triples->count] = ns[1] + 1;
	triples->across[triples->count] = ns[2] + 1;
	triples->count++;
	return code;
}

/*
 * Compares until both differences (without @crossing: only that of the partial page) are @clear, or
 * hopeless.  1 if they are clear, 0 if not, or a negative errno.
 */
static int confirm_page(struct survey *survey, u64 window, const struct page_candidate *candidate,
			double clear, bool crossing, struct failure *failure)
{
	struct finding *finding = &survey->finding[PARAMETER_PAGE];
	struct page_triples *triples = calloc(1, sizeof(*triples));
	double less = 0, across = 0, hopeless = 0;
	unsigned int look;
	int code = triples ? 0 : fail(failure, -ENOMEM, "not enough memory for the samples");

	for (look = 32; !code && look <= MAX_PAIRS; look *= 2) {
		while (!code && triples->count < look && !survey_overdue(survey))
			code = take_triple(survey, window, candidate, triples, failure);
		less = judge_fast_kind(triples->less, triples->whole, triples->count);
		across = crossing ? judge_pairs(triples->across, triples->whole, triples->count) :
			 clear;
		if ((less >= clear && across >= clear) || less < hopeless || across < hopeless ||
		    survey_late(survey))
			break;
		hopeless += 0.5;
	}
	finding->samples += 3 * (triples ? triples->count : 0);
	free(triples);
	return code ? code : less >= clear && across >= clear;
}

static void conclude_page(struct survey *survey, u64 window,
			  const struct page_candidate *candidate)
{
	struct finding *finding = &survey->finding[PARAMETER_PAGE];
	const u64 border = survey->measure->offset + window + candidate->phase;

	finding->value = candidate->page;
	finding->low = candidate->page;
	finding->high = candidate->page;
	finding->has_phase = true;
	finding->phase = border % candidate->page;
	finding->effect = candidate->deviate;
}

/*
 * Dies that work in turn can make the borders of several pages stand out.  If a half or a third is
 * written faster than a part of it, that is the page.
 */
static int refine_page(struct survey *survey, u64 window, struct page_candidate *candidate,
		       struct failure *failure)
{
	u32 divisor;
	int code = 0;

	for (divisor = 2; divisor <= 3; divisor++) {
		struct page_candidate part = *candidate;

		if (candidate->page % (divisor * JUDGE_UNIT) ||
		    candidate->page / divisor < 2 * JUDGE_UNIT)
			continue;
		part.page = candidate->page / divisor;
		part.phase = candidate->phase % part.page;
		code = confirm_page(survey, window, &part, JUDGE_CLEAR, false, failure);
		if (code < 0)
			return code;
		if (code) {
			*candidate = part;
			divisor = 1;
		}
	}
	return 0;
}

/* Borders that stand out, best first; stops looking as soon as one of them is confirmed. */
static int scan_for_page(struct survey *survey, u64 window, double *times, bool *found,
			 struct failure *failure)
{
	struct page_candidate candidates[CANDIDATES];
	double *copy = times + MAX_PASSES * POSITIONS;
	unsigned int pass, count, i;
	int code = 0;

	for (pass = 0; !code && !*found && pass < MAX_PASSES && !survey_late(survey); ) {
		code = scan_pass(survey, window, times + pass * POSITIONS, failure);
		if (code <= 0)
			break;
		code = 0;
		if (++pass % 2)
			continue;
		for (i = 0; i < pass * POSITIONS; i++)
			copy[i] = times[i];
		count = judge_page_scan(copy, POSITIONS, pass, candidates, CANDIDATES);
		if (!count || (candidates[0].deviate < JUDGE_PLAIN && pass < MAX_PASSES))
			continue;
		for (i = 0; code >= 0 && !*found && i < count; i++) {
			code = confirm_page(survey, window, &candidates[i], JUDGE_CLEAR, true,
					    failure);
			*found = code > 0;
			if (*found)
				code = refine_page(survey, window, &candidates[i], failure);
			if (*found)
				conclude_page(survey, window, &candidates[i]);
		}
		code = code < 0 ? code : 0;
		pass = MAX_PASSES;
	}
	return code;
}

/*
 * A drive that completes pages side by side hides the borders, but not the reading.  Then only
 * pages that count from the start of the disk can be found.
 */
static int try_sizes(struct survey *survey, u64 window, bool *found, struct failure *failure)
{
	const u64 start = survey->disk_offset + survey->measure->offset + window;
	u64 size;
	int code = 0;

	for (size = 2 * JUDGE_UNIT; !code && !*found && size <= WINDOW / 2 &&
	     !survey_late(survey); size = judge_next_size(size)) {
		struct page_candidate candidate = {
			.page = size,
			.phase = (size - start % size) % size,
		};

		if (candidate.phase % JUDGE_UNIT)
			continue;
		code = confirm_page(survey, window, &candidate, JUDGE_CLEAR + 1, true, failure);
		if (code > 0) {
			*found = true;
			code = refine_page(survey, window, &candidate, failure);
			conclude_page(survey, window, &candidate);
		}
	}
	return code;
}

int find_page(struct survey *survey, struct failure *failure)
{
	struct finding *finding = &survey->finding[PARAMETER_PAGE];
	const u64 window = survey_place(survey, 2 * WINDOW, WINDOW);
	bool found = false;
	double *times;
	int code;

	finding->method = "flushed writes across and within borders, whole and partial";
	if (survey->finding[PARAMETER_FLUSH].status == STATUS_MEASURED &&
	    !survey->finding[PARAMETER_FLUSH].value) {
		survey_conclude(survey, PARAMETER_PAGE, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"flushes are ignored, so single writes show only the buffer");
		return 0;
	}
	times = calloc(2 * MAX_PASSES * POSITIONS, sizeof(*times));
	if (!times)
		return fail(failure, -ENOMEM, "not enough memory for the samples");
	code = scan_for_page(survey, window, times, &found, failure);
	free(times);
	if (!code && found) {
		survey_conclude(survey, PARAMETER_PAGE, STATUS_MEASURED, CONFIDENCE_HIGH,
				"writes across its borders are slow, and so are writes of a part of it");
		return 0;
	}
	if (!code)
		code = try_sizes(survey, window, &found, failure);
	if (!code && found)
		survey_conclude(survey, PARAMETER_PAGE, STATUS_MEASURED, CONFIDENCE_MEDIUM,
				"a whole one is written faster than a part of it; borders do not show");
	else if (!code)
		survey_conclude(survey, PARAMETER_PAGE, survey_overdue(survey) ?
				STATUS_INCONCLUSIVE : STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				survey_overdue(survey) ? "writes are too slow to compare many" :
				"no size from 8 to 512 KiB is written faster than a part of it");
	return code;
}
