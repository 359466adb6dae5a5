// SPDX-License-Identifier: GPL-2.0-only
/*
 * PA section 5.2, PASA: what long writes gain if they are cut to the write buffer, at borders of
 * clustered pages.
 *
 * Some firmware empties its buffer for a write that is longer (ME section 3), so that a page in
 * which two writes meet is programmed twice.  One stream of long writes that begin within a page is
 * sent as it is and as the target cuts it (core/ressd-split.h), some of each in turn.  The first of
 * them pays for what is buffered of those before, and does not count.
 */
#include "find/read-pairs.h"
#include "judge/judge.h"
#include "measure/statistics.h"
#include "ressd-split.h"

#define SECTOR		512U
#define LONG		MEASURE_MAX_BYTES
#define TURN		4U		/* long writes in one way, until it is the other's turn */
#define COUNT		(TURN - 1)	/* of them that count */
#define FIRST_LOOK	4U
#define MAX_TURNS	16U
#define LEAST_GAIN	1.1

enum way { AS_IT_IS, CUT, NR_WAYS };

struct stream {
	struct ressd_split split[NR_WAYS];
	u64 at;				/* where it goes on, bytes of the region */
	double times[NR_WAYS][MAX_TURNS * COUNT];
	unsigned int turns;
};

static int write_long(struct survey *survey, struct stream *stream, enum way way, double *time,
		      struct failure *failure)
{
	u32 sectors = LONG / SECTOR;
	u64 sum = 0, ns = 0;
	int code = 0;

	while (!code && sectors) {
		const u32 piece = ressd_split_first(&stream->split[way], RESSD_WRITE,
						    stream->at / SECTOR, sectors);

		code = measure_write(survey->measure, stream->at, piece * SECTOR, &ns, failure);
		sum += ns;
		stream->at += piece * SECTOR;
		sectors -= piece;
	}
	*time = sum + 1;
	return code;
}

/* A turn of each way; which one is first, chance decides. */
static int take_turns(struct survey *survey, struct stream *stream, struct failure *failure)
{
	const unsigned int first = measure_random(survey->measure, NR_WAYS);
	unsigned int i, n;
	double time;
	int code = 0;

	for (i = 0; i < NR_WAYS; i++) {
		const enum way way = (first + i) % NR_WAYS;

		for (n = 0; !code && n < TURN; n++) {
			code = write_long(survey, stream, way, &time, failure);
			if (n)
				stream->times[way][stream->turns * COUNT + n - 1] = time;
		}
	}
	stream->turns += !code;
	return code;
}

/* By the medians: now and then the drive has to merge a block meanwhile. */
static double gain_of(struct stream *stream)
{
	const size_t count = stream->turns * COUNT;

	return stat_median(stream->times[AS_IT_IS], count) /
	       stat_median(stream->times[CUT], count);
}

/* Most drives show at once that nothing is gained. */
static bool wants_more(struct survey *survey, struct stream *stream)
{
	if (stream->turns == MAX_TURNS || survey_late(survey))
		return false;
	return stream->turns < FIRST_LOOK || gain_of(stream) >= LEAST_GAIN;
}

static void conclude(struct survey *survey, struct stream *stream, u64 piece)
{
	struct finding *finding = &survey->finding[PARAMETER_CUT];
	const size_t count = stream->turns * COUNT;
	const double clear = judge_fast_kind(stream->times[AS_IT_IS], stream->times[CUT], count);

	finding->effect = gain_of(stream);
	finding->value = clear >= JUDGE_CLEAR && finding->effect >= LEAST_GAIN ? piece : 0;
	survey_conclude(survey, PARAMETER_CUT, STATUS_MEASURED, CONFIDENCE_MEDIUM,
			"long writes in pieces of %llu KiB are %.2f times as fast", piece >> 10,
			finding->effect);
}

int find_cut(struct survey *survey, struct failure *failure)
{
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	const struct finding *buffer = &survey->finding[PARAMETER_WRITE_BUFFER];
	struct finding *finding = &survey->finding[PARAMETER_CUT];
	const u64 piece = page->value ? buffer->value / page->value * page->value : 0;
	struct stream stream = { .turns = 0 };
	int code = 0;

	finding->method = "a stream of long writes as they are, and cut at pages";
	if (page->status != STATUS_MEASURED || !page->has_phase ||
	    buffer->status != STATUS_MEASURED || !piece || piece >= LONG) {
		survey_conclude(survey, PARAMETER_CUT, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"no clustered page with a write buffer of less than %u KiB is known",
				LONG >> 10);
		return 0;
	}
	/* From within a page on. */
	stream.at = JUDGE_UNIT +
		    read_pairs_place(survey, JUDGE_UNIT + MAX_TURNS * NR_WAYS * TURN * LONG);
	stream.split[CUT] = (struct ressd_split){
		.longest[RESSD_WRITE] = piece / SECTOR,
		.align = page->value / SECTOR,
		.start = (survey->measure->offset + page->value - page->phase) / SECTOR,
	};
	while (!code && wants_more(survey, &stream))
		code = take_turns(survey, &stream, failure);
	finding->samples = stream.turns * NR_WAYS * COUNT;
	if (!code && stream.turns >= FIRST_LOOK)
		conclude(survey, &stream, piece);
	else if (!code)
		survey_conclude(survey, PARAMETER_CUT, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"no time was left for it");
	return code;
}
