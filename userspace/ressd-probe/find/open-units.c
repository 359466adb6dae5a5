// SPDX-License-Identifier: GPL-2.0-only
/*
 * P8, open blocks: how many blocks can be written a bit at a time, in turn, before the drive
 * must reorganise at every write.  Cheap cards have two, and a log, its map and a mover are
 * three streams.
 */
#include "find/survey.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define MAX_STREAMS	64U		/* as many as open_units of the target */
#define OPENING		2U	/* rounds in which blocks are opened, and others closed */
#define ROUNDS		4U		/* after them */
#define SINGLE_ROUNDS	10U		/* of one stream, which says what a write costs */
#define COLLAPSE	3.0		/* as much longer a write takes that closes a block */
#define COLLAPSED	0.25		/* share of such writes: with FIFO not all are */
#define FEW_STREAMS	4U
#define LEAST_SLOW	4U		/* of them, or it may be interference */
#define CLOSINGS	16U		/* of a quick run, at most */

/* Where streams are put: each in a block of its own. */
struct stream_places {
	u64 first;		/* byte of the region */
	u64 gap;		/* bytes between streams */
	u32 step;		/* bytes between the writes of a stream */
	unsigned int most;	/* streams that there is room for */
	unsigned int zones;	/* for so many of them */
	unsigned int next;	/* zone */
};

/* What came of writing to some streams in turn. */
struct stream_run {
	double times[ROUNDS * MAX_STREAMS];
	unsigned int count;
	unsigned int slow;	/* of them */
};

static int write_round(struct survey *survey, u64 base, const struct stream_places *places,
		       unsigned int streams, unsigned int round, double *times,
		       struct failure *failure)
{
	unsigned int stream;
	int code = 0;

	for (stream = 0; !code && stream < streams; stream++) {
		const u64 at = base + stream * places->gap + (round + 1) * places->step;
		u64 ns = 0;

		code = survey_write_flush(survey, at, JUDGE_UNIT, &ns, failure);
		times[stream] = ns + 1;
	}
	survey->finding[PARAMETER_OPEN_UNITS].samples += streams;
	return code;
}

static unsigned int count_slow(const double *times, unsigned int count, double slow)
{
	unsigned int i, found = 0;

	for (i = 0; i < count; i++)
		found += times[i] > slow;
	return found;
}

/*
 * Writes to @streams blocks in turn, in a zone of their own; longer times than @slow are slow.
 * Rounds of nothing else have shown enough.
 */
static int run_streams(struct survey *survey, struct stream_places *places, unsigned int streams,
		       double slow, struct stream_run *run, struct failure *failure)
{
	const u64 zone = places->next++ % places->zones;
	const u64 base = places->first + zone * places->most * places->gap;
	unsigned int round;
	double times[MAX_STREAMS];
	int code;

	run->count = 0;
	run->slow = 0;
	for (round = 0; round < OPENING + ROUNDS; round++) {
		unsigned int i, found;

		code = write_round(survey, base, places, streams, round, times, failure);
		if (code)
			return code;
		found = count_slow(times, streams, slow);
		/* Where all are slow though all blocks were open, they close one another. */
		if (round < OPENING && (!round || found < streams || streams < LEAST_SLOW))
			continue;
		for (i = 0; i < streams; i++)
			run->times[run->count++] = times[i];
		run->slow += found;
		if (run->slow == run->count && run->slow >= LEAST_SLOW)
			break;
	}
	return 0;
}

static bool has_collapsed(const struct stream_run *run)
{
	return run->slow >= LEAST_SLOW && run->slow >= COLLAPSED * run->count;
}

/* A usual time, to slow pages of MLC, too. */
static int measure_single(struct survey *survey, struct stream_places *places, double *usual,
			  struct failure *failure)
{
	double times[SINGLE_ROUNDS];
	unsigned int round;
	int code = 0;

	for (round = 0; !code && round < SINGLE_ROUNDS; round++)
		code = write_round(survey, places->first, places, 1, round, &times[round], failure);
	stat_sort(times, SINGLE_ROUNDS);
	*usual = stat_quantile(times, SINGLE_ROUNDS, 0.75);
	return code;
}

/* Behind random writes one to another block closes some block, but for the few that are open. */
static int measure_closing(struct survey *survey, double usual, double *effect,
			   struct failure *failure)
{
	double times[CLOSINGS];
	unsigned int nr = 0;
	int code = 0;

	while (!code && nr < CLOSINGS && !survey_late(survey)) {
		u64 ns = 0;

		code = survey_write_flush(survey, measure_random_place(survey->measure, JUDGE_UNIT),
					  JUDGE_UNIT, &ns, failure);
		times[nr++] = ns;
	}
	*effect = nr ? stat_median(times, nr) / usual : 0;
	return code;
}

/* What was found: so many streams are good, and so many are too many (0: not seen). */
struct stream_search {
	unsigned int good;
	unsigned int bad;
	double usual;
};

/* Tries @streams, more than are known to be good; bad if the time collapses, else good. */
static int try_streams(struct survey *survey, struct stream_places *places, unsigned int streams,
		       struct stream_search *search, double *effect, struct failure *failure)
{
	const double slow = COLLAPSE * search->usual;
	struct stream_run run;
	int code = run_streams(survey, places, streams, slow, &run, failure);

	/* Few writes: interference may have hit a third of them. */
	if (!code && has_collapsed(&run) && streams <= FEW_STREAMS)
		code = run_streams(survey, places, streams, slow, &run, failure);
	if (code)
		return code;
	if (!has_collapsed(&run)) {
		search->good = streams;
		return 0;
	}
	stat_sort(run.times, run.count);
	*effect = run.times[run.count - (run.slow + 1) / 2] / search->usual;
	search->bad = streams;
	return 0;
}

/* Streams from 2 on, until the time collapses or is up; with @exactly, what lies between then. */
static int search_streams(struct survey *survey, struct stream_places *places, bool exactly,
			  struct stream_search *search, double *effect, struct failure *failure)
{
	static const unsigned int counts[] = { 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
	unsigned int i;
	int code = measure_single(survey, places, &search->usual, failure);

	search->good = 1;
	for (i = 0; !code && !search->bad && i < sizeof(counts) / sizeof(counts[0]) &&
	     counts[i] <= places->most && !survey_late(survey); i++)
		code = try_streams(survey, places, counts[i], search, effect, failure);
	while (!code && exactly && search->bad > search->good + 1 && !survey_late(survey))
		code = try_streams(survey, places, (search->good + search->bad) / 2, search, effect,
				   failure);
	return code;
}

/*
 * Once more: garbage collection, too, makes writes slow at some time, but not whenever there is a
 * stream too many.  1 if it is confirmed, 0 if not or if there is no time, or a negative errno.
 */
static int confirm(struct survey *survey, struct stream_places *places,
		   const struct stream_search *search, struct failure *failure)
{
	const unsigned int turns[] = { search->good, search->bad, search->good, search->bad };
	struct stream_run run;
	unsigned int i;

	for (i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		const bool collapses = turns[i] == search->bad;
		int code;

		if (survey_late(survey))
			return 0;
		code = run_streams(survey, places, turns[i], COLLAPSE * search->usual, &run,
				   failure);
		if (code)
			return code;
		if (has_collapsed(&run) != collapses)
			return 0;
	}
	return 1;
}

/* A block without a place is filled by all streams together. */
static bool has_places(const struct finding *block)
{
	return block->status == STATUS_MEASURED && block->has_phase;
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
	if (has_places(block)) {
		places->gap = block->value;
		places->first = (block->value + block->phase -
				 survey->measure->offset % block->value) % block->value;
	}
	most = bytes > places->first ? (bytes - places->first) / places->gap : 0;
	places->most = most < MAX_STREAMS ? most : MAX_STREAMS;
	places->zones = most ? most / places->most : 1;
}

static void conclude(struct survey *survey, const struct stream_search *search, bool confirmed)
{
	const bool blocks = has_places(&survey->finding[PARAMETER_BLOCK]);
	struct finding *finding = &survey->finding[PARAMETER_OPEN_UNITS];

	finding->value = search->good;
	finding->low = search->good;
	finding->usual_ns = search->usual;
	finding->high = search->bad ? search->bad - 1 : ~0ULL;
	if (!search->bad) {
		survey_conclude(survey, PARAMETER_OPEN_UNITS, STATUS_BOUNDED, CONFIDENCE_MEDIUM,
				"%u block%s can be written in turn without loss", search->good,
				search->good == 1 ? "" : "s");
		return;
	}
	if (!blocks && !confirmed) {
		survey_conclude(survey, PARAMETER_OPEN_UNITS, STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
				"%u streams slow down, but without visible blocks that may be garbage collection",
				search->bad);
		return;
	}
	/* The counts that are tried leave gaps, unless there was time for what lies between. */
	survey_conclude(survey, PARAMETER_OPEN_UNITS,
			blocks && finding->high == finding->low ? STATUS_MEASURED : STATUS_BOUNDED,
			blocks ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW,
			"%u block%s can be written in turn; with %u, a write that closes one takes %.0f times as long",
			search->good, search->good == 1 ? "" : "s", search->bad, finding->effect);
}

int find_commits(struct survey *survey, struct failure *failure)
{
	struct finding *finding = &survey->finding[PARAMETER_OPEN_UNITS];
	struct stream_places places;
	double usual = 0;
	int code;

	place_streams(survey, &places);
	if (!places.most)
		return 0;
	code = measure_single(survey, &places, &usual, failure);
	if (!code && has_places(&survey->finding[PARAMETER_BLOCK]))
		code = measure_closing(survey, usual, &finding->effect, failure);
	if (!code)
		finding->usual_ns = usual;
	return code;
}

int find_open_units(struct survey *survey, struct failure *failure)
{
	const bool blocks = has_places(&survey->finding[PARAMETER_BLOCK]);
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];
	struct finding *finding = &survey->finding[PARAMETER_OPEN_UNITS];
	struct stream_search search = { 0 };
	struct stream_places places;
	int code, confirmed = 0;

	finding->method = "flushed writes to 2 to 64 blocks in turn";
	place_streams(survey, &places);
	if ((flush->status == STATUS_MEASURED && !flush->value) || places.most < 2) {
		survey_conclude(survey, PARAMETER_OPEN_UNITS, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"that needs flushes that work, and a region of at least two blocks (of 32 MiB, if their size is not known)");
		return 0;
	}
	code = search_streams(survey, &places, blocks, &search, &finding->effect, failure);
	if (!code && search.bad && !blocks)
		confirmed = confirm(survey, &places, &search, failure);
	if (confirmed < 0)
		code = confirmed;
	if (!code)
		conclude(survey, &search, confirmed);
	return code;
}
