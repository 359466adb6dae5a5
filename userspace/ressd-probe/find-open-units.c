// SPDX-License-Identifier: GPL-2.0-only
/*
 * P8, open blocks: how many blocks can be written a bit at a time, in turn, before the drive
 * must reorganise at every write.  Cheap cards have two, and a log, its map and a mover are
 * three streams.
 */
#include "judge.h"
#include "statistics.h"
#include "survey.h"

#define MAX_STREAMS	16U
#define ROUNDS		5U		/* after the first, in which the blocks are opened */
#define COLLAPSE	3.0		/* as much longer a write takes then */

/* The median time of writes to @streams blocks in turn, @gap bytes apart, from @base on. */
static int run_streams(struct survey *survey, u64 base, u64 gap, unsigned int streams, u32 step,
		       double *median, struct failure *failure)
{
	double times[ROUNDS * MAX_STREAMS];
	unsigned int round, stream, count = 0;
	int code = 0;

	for (round = 0; !code && round <= ROUNDS; round++) {
		for (stream = 0; !code && stream < streams; stream++) {
			const u64 at = base + stream * gap + (round + 1) * step;
			u64 ns = 0;

			code = survey_write_flush(survey, at, JUDGE_UNIT, &ns, failure);
			if (round)
				times[count++] = ns + 1;
		}
	}
	survey->finding[PARAMETER_OPEN_UNITS].samples += count;
	*median = code ? 0 : stat_median(times, count);
	return code;
}

/* Streams from 1 on, until the time collapses or the time is up. */
static int search_streams(struct survey *survey, u64 gap, u32 step, u64 first,
			  unsigned int *good, double *effect, struct failure *failure)
{
	const u64 zone = MAX_STREAMS * gap;
	const u64 zones = (survey->measure->bytes - first) / zone;
	static const unsigned int counts[] = { 1, 2, 3, 4, 6, 8, 12, 16 };
	double single = 0, median = 0;
	unsigned int i;
	int code;

	*good = 0;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]) && !survey_late(survey); i++) {
		const u64 base = first + (zones ? i % zones : 0) * zone;

		code = run_streams(survey, base, gap, counts[i], step, &median, failure);
		if (code)
			return code;
		if (!i)
			single = median;
		*effect = median / single;
		if (median > COLLAPSE * single)
			return 0;
		*good = counts[i];
	}
	return 0;
}

int find_open_units(struct survey *survey, struct failure *failure)
{
	const struct finding *block = &survey->finding[PARAMETER_BLOCK];
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	struct finding *finding = &survey->finding[PARAMETER_OPEN_UNITS];
	const u32 step = page->status == STATUS_MEASURED ? page->value : 64 << 10;
	unsigned int good = 0;
	u64 first;
	int code;

	finding->method = "flushed writes to 1 to 16 blocks in turn";
	if (block->status != STATUS_MEASURED ||
	    MAX_STREAMS * block->value + block->value > survey->measure->bytes) {
		survey_conclude(survey, PARAMETER_OPEN_UNITS, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"that needs the clustered block, and a region of 17 of them");
		return 0;
	}
	first = (block->value + block->phase - survey->measure->offset % block->value) %
		block->value;
	code = search_streams(survey, block->value, step, first, &good, &finding->effect, failure);
	if (code)
		return code;
	finding->value = good;
	finding->low = good;
	if (good == MAX_STREAMS || !good || finding->effect <= COLLAPSE) {
		finding->high = ~0ULL;
		survey_conclude(survey, PARAMETER_OPEN_UNITS,
				good ? STATUS_BOUNDED : STATUS_INCONCLUSIVE, CONFIDENCE_MEDIUM,
				"%u blocks can be written in turn without loss", good);
		return 0;
	}
	/* The counts that are tried leave gaps. */
	finding->high = good < 4 ? good : good < 8 ? good + 1 : good + 3;
	survey_conclude(survey, PARAMETER_OPEN_UNITS,
			finding->high == good ? STATUS_MEASURED : STATUS_BOUNDED, CONFIDENCE_MEDIUM,
			"%u blocks can be written in turn; with more, a write takes %.0f times as long",
			good, finding->effect);
	return 0;
}
