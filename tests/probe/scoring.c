// SPDX-License-Identifier: GPL-2.0-only
/* What the probe says of a drive beside what is true; see scoring.h. */
#include <stdio.h>
#include "scoring.h"

#define LARGEST_BLOCK	(24ULL << 20)	/* that issue 6 asks for */

enum outcome { CORRECT, NOT_FOUND, WRONG };

static const char *const outcomes[] = { "correct", "not-found", "WRONG" };

static bool near(u64 value, u64 truth, u64 tolerance)
{
	return value + tolerance >= truth && value <= truth + tolerance;
}

/* Found, not found, or wrong: a number that is @truth, or 0 when there is nothing to find. */
static enum outcome judge_number(const struct finding *finding, u64 truth, u64 tolerance)
{
	if (finding->status == STATUS_BOUNDED)
		return truth >= finding->low && truth <= finding->high ? CORRECT : WRONG;
	if (finding->status != STATUS_MEASURED)
		return truth ? NOT_FOUND : CORRECT;
	return near(finding->value, truth, tolerance) ? CORRECT : WRONG;
}

/* The probe knows where a partition begins, so its phases are exact. */
static enum outcome judge_phase(const struct finding *finding, u64 size, u64 phase)
{
	if (finding->status != STATUS_MEASURED || !finding->has_phase || !size)
		return CORRECT;
	return finding->phase % size == phase % size ? CORRECT : WRONG;
}

/*
 * Where pages are mapped one by one a block shows if each one that is opened costs something, and
 * nothing else takes the writes.
 */
static bool written_block_shows(const struct truth *truth)
{
	return truth->erases_on_open && !truth->fast_area && truth->block <= LARGEST_BLOCK;
}

static u64 page_phase(const struct truth *truth)
{
	return truth->page ? truth->block_phase % truth->page : 0;
}

static enum outcome judge(const struct finding *finding, const struct truth *truth,
			  enum parameter parameter, u64 *expected, bool *shows)
{
	const u64 page = truth->page ? truth->page : 4096;
	enum outcome outcome;

	*shows = true;
	switch (parameter) {
	case PARAMETER_FLUSH:
		*expected = truth->flush_honoured;
		return finding->status != STATUS_MEASURED ? NOT_FOUND :
		       finding->value == *expected ? CORRECT : WRONG;
	case PARAMETER_PAGE:
		*expected = truth->page;
		/* Smaller ones are beyond writes of 4 KiB. */
		*shows = truth->page > 4096 && truth->flush_honoured;
		outcome = judge_number(finding, truth->page > 4096 ? truth->page : 0, 0);
		return outcome == CORRECT ? judge_phase(finding, truth->page, page_phase(truth)) :
		       outcome;
	case PARAMETER_BLOCK:
		*expected = truth->block;
		*shows = truth->flush_honoured &&
			 (!truth->page_mapped || written_block_shows(truth));
		outcome = judge_number(finding, truth->block, 0);
		return outcome == CORRECT ? judge_phase(finding, truth->block, truth->block_phase) :
		       outcome;
	case PARAMETER_MODES:
		/* What goes to a pseudo-SLC area is of one kind; "one" is said to include that. */
		*expected = truth->two_speeds && !(truth->fast_area && finding->value == 1) ? 2 : 1;
		*shows = truth->flush_honoured && !truth->fast_area;
		if (finding->status != STATUS_MEASURED)
			return NOT_FOUND;
		return finding->value == *expected ? CORRECT : WRONG;
	case PARAMETER_READ_BUFFER:
		*expected = truth->read_buffer;
		return judge_number(finding, truth->read_buffer, page + truth->prefetch);
	case PARAMETER_WRITE_BUFFER:
		*expected = truth->write_buffer;
		return judge_number(finding, truth->write_buffer, 1024);
	case PARAMETER_PREFETCH:
		*expected = truth->prefetch;
		return judge_number(finding, truth->prefetch, page - 1);
	case PARAMETER_POLICY:
		*expected = !truth->write_buffer ? POLICY_NONE :
			    truth->merges_rewrites ? POLICY_CACHE : POLICY_BUFFER;
		*shows = truth->flush_honoured && truth->page > 4096;
		if (finding->status != STATUS_MEASURED)
			return NOT_FOUND;
		return finding->value == *expected ? CORRECT : WRONG;
	case PARAMETER_OPEN_UNITS:
		*expected = truth->log_blocks;
		*shows = !truth->page_mapped && !truth->logs_shared && truth->flush_honoured;
		if (truth->page_mapped || truth->logs_shared)
			return finding->status == STATUS_MEASURED ? WRONG : CORRECT;
		return judge_number(finding, truth->log_blocks, 0);
	case PARAMETER_FAST_AREA:
		/* Where there is none, not finding it is no merit. */
		*expected = truth->fast_area;
		*shows = truth->slowdown >= 2 && truth->fast_area < truth->filled * 3 / 4;
		if (finding->status != STATUS_BOUNDED)
			return *expected ? NOT_FOUND : CORRECT;
		return near(finding->value, *expected, *expected / 10) ? CORRECT : WRONG;
	default:
		return NOT_FOUND;
	}
}

void print_scores(const char *name, const struct truth *truth, const struct finding *findings)
{
	int p;

	for (p = 0; p < NR_PARAMETERS; p++) {
		const struct finding *finding = &findings[p];
		const bool known = finding->status == STATUS_MEASURED ||
				   finding->status == STATUS_BOUNDED;
		enum outcome outcome;
		u64 expected = 0;
		bool shows;

		/*
		 * What a flush costs, or a whole page, a cut or an order gains, has no truth but
		 * its time.
		 */
		if (finding->status == STATUS_UNKNOWN || p == PARAMETER_FLUSH_COST ||
		    p == PARAMETER_REWRITE || p == PARAMETER_CUT || p == PARAMETER_DISPATCH)
			continue;
		outcome = judge(finding, truth, p, &expected, &shows);
		/* Where nothing was found, a number says nothing. */
		printf("%s %s %s %s %s:%llu+%llu %llu+%llu %s %.1fs %s\n", name, parameter_name(p),
		       outcomes[outcome], confidence_name(finding->confidence),
		       status_name(finding->status), known ? finding->value : 0,
		       known ? finding->phase : 0, expected,
		       (unsigned long long)(p == PARAMETER_PAGE ? page_phase(truth) :
					    p == PARAMETER_BLOCK ? truth->block_phase : 0),
		       shows ? "shows" : "hidden", finding->ns / 1e9, finding->why);
	}
}
