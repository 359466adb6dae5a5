// SPDX-License-Identifier: GPL-2.0-only
/*
 * P2 of drives that map page by page: there a block has no place among the addresses.  It is opened
 * whenever the one before is full.  If that costs something (an erase, garbage collection), it does
 * every so many bytes *written*, wherever they are written to.
 *
 * So writes of one size follow each other in order, then writes of another size at random places.
 * Only what returns after the same number of bytes in both is a block: pairs of slow and fast rows,
 * pages of the map and log blocks depend on the size or on the places.
 */
#include <errno.h>
#include <stdlib.h>
#include "find/survey.h"
#include "judge/judge.h"

#define REQUEST		(32U << 10)	/* of the second series, or a page */
#define MOST_WRITES	3072U		/* 8 of the largest blocks, 24 MiB */
#define FIRST_LOOK	192U		/* writes; the next ones at 5/4 of them each */
#define MIN_BLOCK	(512U << 10)
#define ENOUGH		6.0		/* evidence at which a series ends ... */
#define LEAST		3.0		/* ... and that it must have */

/* One series of writes. */
struct written_series {
	u32 request;
	bool in_order;
	u64 grid;	/* where pages begin in the region */
	double times[MOST_WRITES];
	unsigned int count;
	struct cycle_judgement judgement;
};

static u64 place_of(struct survey *survey, const struct written_series *series)
{
	const u64 places = (survey->measure->bytes - series->grid) / series->request;
	const u64 place = series->in_order ? series->count % places :
			  measure_random(survey->measure, places);

	return series->grid + place * series->request;
}

/*
 * Until it is clear, or there were enough, or the search has used a @part-th of the time and the
 * bytes that it has left.
 */
static int take_series(struct survey *survey, struct written_series *series, unsigned int part,
		       struct failure *failure)
{
	const unsigned int least = MIN_BLOCK / series->request > 2 ? MIN_BLOCK / series->request :
				   2;
	const struct measure *measure = survey->measure;
	struct disk *disk = measure->disk;
	const u64 now = disk->ops->now(disk), left = survey->search_deadline - now;
	const u64 written = measure->written, most = survey->search_written ?
			    (survey->search_written - written) / part : ~0ULL;
	unsigned int look = FIRST_LOOK;
	int code = 0;

	series->count = 0;
	while (!code && series->count < MOST_WRITES &&
	       disk->ops->now(disk) < now + left / part && measure->written - written < most) {
		u64 ns = 0;

		code = survey_write_flush(survey, place_of(survey, series), series->request, &ns,
					  failure);
		series->times[series->count++] = ns;
		if (series->count < look)
			continue;
		look += look / 4;
		judge_cycle(series->times, series->count, least, &series->judgement);
		if (series->judgement.evidence >= ENOUGH)
			break;
	}
	survey->finding[PARAMETER_BLOCK].samples += series->count;
	judge_cycle(series->times, series->count, least, &series->judgement);
	return code;
}

static u64 period_of(const struct written_series *series)
{
	return series->judgement.evidence >= LEAST ?
	       (u64)series->judgement.period * series->request : 0;
}

static void conclude(struct survey *survey, const struct written_series *ordered,
		     const struct written_series *random)
{
	struct finding *finding = &survey->finding[PARAMETER_BLOCK];
	const u64 block = period_of(random);

	finding->method = "what returns every so many bytes written, in order and at random places";
	finding->value = block;
	finding->low = block;
	finding->high = block;
	finding->has_phase = false;
	finding->effect = random->judgement.evidence;
	survey_conclude(survey, PARAMETER_BLOCK, STATUS_MEASURED, CONFIDENCE_HIGH,
			"after as many bytes a write takes longer, wherever it goes: %u of %u times in order, %u of %u at random places; pages are mapped one by one",
			ordered->judgement.hits, ordered->judgement.cycles,
			random->judgement.hits, random->judgement.cycles);
}

static int find_period(struct survey *survey, struct written_series *ordered,
		       struct written_series *random, struct failure *failure)
{
	int code;

	if (survey_late(survey))
		return 0;
	code = take_series(survey, ordered, 2, failure);
	if (code || !period_of(ordered) || survey_late(survey))
		return code;
	code = take_series(survey, random, 1, failure);
	if (code || period_of(random) != period_of(ordered))
		return code;
	conclude(survey, ordered, random);
	return 1;
}

int find_written_block(struct survey *survey, u64 grid, struct failure *failure)
{
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	const u32 least = page->status == STATUS_MEASURED ? page->value : JUDGE_UNIT;
	struct written_series *series = calloc(2, sizeof(*series));
	int code;

	if (!series)
		return fail(failure, -ENOMEM, "not enough memory for the samples");
	series[1].request = least;
	while (series[1].request < REQUEST)
		series[1].request *= 2;
	series[0].request = 2 * series[1].request;
	if (series[0].request > MEASURE_MAX_BYTES)
		series[0].request = series[1].request;
	series[0].in_order = true;
	series[0].grid = grid;
	series[1].grid = grid;
	code = find_period(survey, &series[0], &series[1], failure);
	free(series);
	return code;
}
