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
#define LARGEST_BLOCK	(32ULL << 20)	/* that is known of any drive */

/* The median time of writes to @streams blocks in turn, @gap bytes apart, from @base on. */
static int run_streams(struct survey *survey, u64 base, u64 gap, unsigned int streams, u32 step,
		       double *median, struct failure *failure)
{
	double times[ROUNDS * MAX_STREAMS];
	unsigned int round, stream, count = 0;
	int code = 0;

	/* A drive that has collapsed needs no more rounds to show it. */
	for (round = 0; !code && round <= (survey_late(survey) ? 2 : ROUNDS); round++) {
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

/* Where streams are put: each in a block of its own. */
struct stream_places {
	u64 first;		/* byte of the region */
	u64 gap;		/* bytes between streams */
	u32 step;		/* bytes between the writes of a stream */
	unsigned int most;	/* streams that there is room for */
};

/* Streams from 1 on, until the time collapses or the time is up. */
static int search_streams(struct survey *survey, const struct stream_places *places,
			  unsigned int *good, double *effect, struct failure *failure)
{
	const u64 zone = places->most * places->gap;
	const u64 zones = (survey->measure->bytes - places->first) / zone;
	static const unsigned int counts[] = { 1, 2, 3, 4, 6, 8, 12, 16 };
	double single = 0, median = 0;
	unsigned int i;
	int code;

	*good = 0;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]) && counts[i] <= places->most &&
	     !survey_late(survey); i++) {
		const u64 base = places->first + (zones ? i % zones : 0) * zone;

		code = run_streams(survey, base, places->gap, counts[i], places->step, &median,
				   failure);
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

/* Blocks whose size is not known are taken as the largest there are: streams must not share one. */
static void place_streams(const struct survey *survey, struct stream_places *places)
{
	const struct finding *block = &survey->finding[PARAMETER_BLOCK];
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	const u64 bytes = survey->measure->bytes;
	u64 most;

	*places = (struct stream_places){
		.gap = LARGEST_BLOCK,
		.step = page->status == STATUS_MEASURED ? page->value : 64 << 10,
	};
	if (block->status == STATUS_MEASURED) {
		places->gap = block->value;
		places->first = (block->value + block->phase -
				 survey->measure->offset % block->value) % block->value;
	}
	most = bytes > places->first ? (bytes - places->first) / places->gap : 0;
	places->most = most < MAX_STREAMS ? most : MAX_STREAMS;
}

static void conclude(struct survey *survey, unsigned int good)
{
	const bool blocks = survey->finding[PARAMETER_BLOCK].status == STATUS_MEASURED;
	struct finding *finding = &survey->finding[PARAMETER_OPEN_UNITS];

	finding->value = good;
	finding->low = good;
	if (!good || finding->effect <= COLLAPSE) {
		finding->high = ~0ULL;
		survey_conclude(survey, PARAMETER_OPEN_UNITS,
				good ? STATUS_BOUNDED : STATUS_INCONCLUSIVE, CONFIDENCE_MEDIUM,
				"%u blocks can be written in turn without loss", good);
		return;
	}
	if (!blocks) {
		survey_conclude(survey, PARAMETER_OPEN_UNITS, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"%u streams slow down, but without visible blocks that may be garbage collection",
				good + 1);
		return;
	}
	/* The counts that are tried leave gaps. */
	finding->high = good < 4 ? good : good < 8 ? good + 1 : good + 3;
	survey_conclude(survey, PARAMETER_OPEN_UNITS,
			finding->high == good ? STATUS_MEASURED : STATUS_BOUNDED, CONFIDENCE_MEDIUM,
			"%u blocks can be written in turn; with more, a write takes %.0f times as long",
			good, finding->effect);
}

int find_open_units(struct survey *survey, struct failure *failure)
{
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];
	struct finding *finding = &survey->finding[PARAMETER_OPEN_UNITS];
	struct stream_places places;
	unsigned int good = 0;
	int code;

	finding->method = "flushed writes to 1 to 16 blocks in turn";
	place_streams(survey, &places);
	if ((flush->status == STATUS_MEASURED && !flush->value) || places.most < 2) {
		survey_conclude(survey, PARAMETER_OPEN_UNITS, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"that needs flushes that work, and a region of at least two blocks (of 32 MiB, if their size is not known)");
		return 0;
	}
	code = search_streams(survey, &places, &good, &finding->effect, failure);
	if (!code)
		conclude(survey, good);
	return code;
}
