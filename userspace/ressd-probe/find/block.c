// SPDX-License-Identifier: GPL-2.0-only
/*
 * P2, the clustered block: the unit of erasing, for which a drive with few log blocks must
 * reorganise another one when a write opens it.
 *
 * ME procedure 2 compares sequential and random writes of ever larger sizes, which takes hours.
 * Here small writes ascend through the region instead, each flushed: the first one in each block
 * is slow.  Their positions give size and phase; then some borders are visited again in small
 * steps, which gives both to the unit.  At last whole blocks are written at their places and
 * shifted by half a block, as a second method.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "find/survey.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define MIN_STRIDE	(64U << 10)
#define MAX_STRIDE	(512U << 10)	/* two of the largest pages */
#define MAX_WRITES	16384U
#define FIRST_LOOK	256U		/* writes; the next ones at 5/4 of them each */
#define ENOUGH		30.0		/* evidence */
#define ENOUGH_BORDERS	8U
#define EDGES		12U
#define MAX_WIDTH	(2 * MAX_STRIDE / JUDGE_UNIT + 2)	/* of a window, units */
#define FINE_LOOK	512U		/* writes at MIN_STRIDE where the page is not known */
#define PRESSURE_STEP	(512U << 10)	/* the smallest block: larger steps would make a period */
#define PRESSURE_LOOK	96U		/* writes ... */
#define PRESSURE_SLOW	12U		/* ... of which so many are slow ... */
#define PRESSURE_RATIO	5.0		/* ... by so much, where every block costs */
#define PAIRS		8U
#define COMPARE_SHARE	5U		/* of the time for the search */
#define BATCH		3U		/* the drive pays for a block when it opens the next one */
#define LIKELY		2.3		/* deviate: by chance once in a hundred */
#define LIKELY_PAIRS	7U		/* of which it takes so many, if all are alike */

struct block_scan {
	u32 stride;
	u32 unit;			/* in which borders are looked for: a page, if known */
	u64 grid;			/* where units begin in the region */
	unsigned int width;		/* of the windows around borders, units */
	u64 next;			/* position of the next write, ascending */
	u64 start;			/* of the scan */
	unsigned int count;
	double times[MAX_WRITES];
	struct block_judgement judgement;
	bool slow[EDGES * MAX_WIDTH];
	u64 edge[EDGES];		/* units */
	unsigned int edges;		/* of them that were visited */
	struct edge_judgement exact;
};

/* Do the last writes show that each block opened now costs another one?  Sorts @times. */
static bool is_under_pressure(double *times)
{
	unsigned int i, slow = 0;
	double median;

	stat_sort(times, PRESSURE_LOOK);
	median = stat_quantile(times, PRESSURE_LOOK, 0.5);
	for (i = 0; i < PRESSURE_LOOK; i++)
		slow += times[i] > PRESSURE_RATIO * median;
	return slow >= PRESSURE_SLOW;
}

/*
 * Opens blocks all over the region until the drive has no log block left for another one: for a
 * third of the time at most.
 */
static int put_under_pressure(struct survey *survey, struct block_scan *scan,
			      struct failure *failure)
{
	struct disk *disk = survey->measure->disk;
	const u64 now = disk->ops->now(disk);
	const u64 end = survey->search_deadline > now ? now + (survey->search_deadline - now) / 3 :
			now;
	double times[PRESSURE_LOOK];
	unsigned int count = 0;
	int code = 0;

	for (scan->next = 0; !code && scan->next + PRESSURE_STEP <= survey->measure->bytes &&
	     disk->ops->now(disk) < end; scan->next += PRESSURE_STEP) {
		u64 ns = 0;

		code = survey_write_flush(survey, scan->next, JUDGE_UNIT, &ns, failure);
		times[count++] = ns + 1;
		if (count == PRESSURE_LOOK && is_under_pressure(times))
			break;
		count %= PRESSURE_LOOK;
	}
	return code;
}

/* From the start again where the region ends: what was written there is long forgotten. */
static void turn_at_end(struct survey *survey, struct block_scan *scan, u64 need)
{
	if (scan->next + need > survey->measure->bytes) {
		scan->next = 0;
		scan->start = 0;
		scan->count = 0;
	}
}

static bool is_clear(const struct block_judgement *judgement)
{
	return judgement->period > 0 && judgement->evidence >= ENOUGH &&
	       judgement->hits >= ENOUGH_BORDERS;
}

/* At most @most writes, scan->stride apart. */
static int scan_blocks(struct survey *survey, struct block_scan *scan, unsigned int most,
		       struct failure *failure)
{
	unsigned int taken = 0, look = FIRST_LOOK;
	int code = 0;

	turn_at_end(survey, scan, survey->measure->bytes / 2);
	scan->start = scan->next;
	scan->count = 0;
	scan->judgement = (struct block_judgement){ 0 };
	while (!code && taken < most && !survey_late(survey) &&
	       taken * (u64)scan->stride < survey->measure->bytes) {
		u64 ns = 0;

		turn_at_end(survey, scan, JUDGE_UNIT);
		code = survey_write_flush(survey, scan->next, JUDGE_UNIT, &ns, failure);
		scan->times[scan->count++] = ns;
		scan->next += scan->stride;
		if (++taken < look)
			continue;
		look += look / 4;
		judge_block_scan(scan->times, scan->count, scan->stride, &scan->judgement);
		if (is_clear(&scan->judgement))
			break;
	}
	survey->finding[PARAMETER_BLOCK].samples += taken;
	return code;
}

/*
 * One border from close by: the block before it is opened, then one write goes to every unit around
 * it.  Further slow ones at once behind a slow one are the same block opened again.
 */
static int visit_edge(struct survey *survey, struct block_scan *scan, unsigned int edge,
		      struct failure *failure)
{
	const u64 begin = scan->grid + scan->edge[edge] * scan->unit;
	bool *slow = &scan->slow[edge * scan->width];
	unsigned int i;
	u64 ns = 0;
	int code = survey_write_flush(survey, begin - scan->unit, JUDGE_UNIT, &ns, failure);

	for (i = 0; !code && i < scan->width; i++) {
		code = survey_write_flush(survey, begin + i * scan->unit, JUDGE_UNIT, &ns, failure);
		slow[i] = ns > scan->judgement.threshold && (!i || !slow[i - 1]);
	}
	survey->finding[PARAMETER_BLOCK].samples += scan->width + 1;
	return code;
}

/* Where the border was seen, in units, if the window shows just one; else the expected place. */
static double seen_border(const struct block_scan *scan, unsigned int edge, double expected)
{
	const bool *slow = &scan->slow[edge * scan->width];
	unsigned int i, count = 0, at = 0;

	for (i = 0; i < scan->width; i++) {
		if (slow[i]) {
			at = i;
			count++;
		}
	}
	return count == 1 ? scan->grid + (scan->edge[edge] + at) * (double)scan->unit : expected;
}

/*
 * The next borders behind the scan, in windows around where they are expected: a period behind
 * where the last one was seen.  Returns how many were visited, or a negative errno.
 */
static int visit_edges(struct survey *survey, struct block_scan *scan, struct failure *failure)
{
	const double period = scan->judgement.period;
	double border = scan->start + scan->judgement.first;
	unsigned int edges = 0;
	int code;

	while (border < scan->next)
		border += period;
	if (border + 4 * period > survey->measure->bytes)
		border = fmod(border, period) + period;
	for (; edges < EDGES && !survey_late(survey) &&
	     border + 2.0 * scan->stride < survey->measure->bytes; border += period) {
		scan->edge[edges] = ((u64)border - scan->grid) / scan->unit - scan->width / 2;
		code = visit_edge(survey, scan, edges, failure);
		if (code)
			return code;
		border = seen_border(scan, edges, border);
		edges++;
	}
	return edges;
}

/* A few whole blocks at random, each @shift behind its place. */
static int write_blocks(struct survey *survey, u64 block, u64 border, u64 shift, double *time,
			struct failure *failure)
{
	const u64 blocks = (survey->measure->bytes - border) / block;
	unsigned int i;
	u64 ns = 0;
	int code = 0;

	*time = 1;
	for (i = 0; !code && i < BATCH; i++) {
		const u64 at = border + measure_random(survey->measure, blocks - 2) * block + shift;

		code = survey_write_range(survey, at, block, &ns, failure);
		*time += ns;
		if (!code)
			code = measure_flush(survey->measure, &ns, failure);
		*time += ns;
	}
	return code;
}

/* Fewer pairs would tell nothing, and leave no bytes for those who come next. */
static bool may_compare(const struct survey *survey, u64 block)
{
	const u64 bytes = LIKELY_PAIRS * 2 * BATCH * block;

	return !survey->search_written ||
	       survey->measure->written + bytes <= survey->search_written;
}

/*
 * Whole blocks at their places, and others half a block further on.  1 if those at their places are
 * written faster, 0 if not, or a negative errno.
 */
static int compare_places(struct survey *survey, u64 block, u64 border, struct failure *failure)
{
	struct disk *disk = survey->measure->disk;
	const u64 half = block / 2 / JUDGE_UNIT * JUDGE_UNIT, begin = disk->ops->now(disk);
	/* Large blocks of slow drives would leave no time for what comes next. */
	const u64 end = begin + survey->search_ns / COMPARE_SHARE;
	double at_place[PAIRS], shifted[PAIRS];
	unsigned int i;
	int code = 0;

	if ((survey->measure->bytes - border) / block < 4)
		return 0;
	for (i = 0; !code && i < PAIRS && !survey_late(survey) && disk->ops->now(disk) < end; i++) {
		code = write_blocks(survey, block, border, 0, &at_place[i], failure);
		if (!code)
			code = write_blocks(survey, block, border, half, &shifted[i], failure);
	}
	return code ? code : judge_pairs(shifted, at_place, i) >= LIKELY;
}

/* The size to a page, and where blocks begin. */
static int conclude_exact(struct survey *survey, struct block_scan *scan, struct failure *failure)
{
	struct finding *finding = &survey->finding[PARAMETER_BLOCK];
	const struct edge_judgement *exact = &scan->exact;
	const u64 block = exact->period * scan->unit;
	const u64 border = (scan->grid + exact->border * scan->unit) % (block ? block : 1);
	const bool compares = may_compare(survey, block);
	const int agrees = compares ? compare_places(survey, block, border, failure) : 0;

	if (agrees < 0)
		return agrees;
	finding->effect = scan->judgement.evidence;
	finding->opening_ns = scan->judgement.threshold;
	finding->value = block;
	finding->low = block;
	finding->high = block;
	finding->has_phase = true;
	finding->phase = (survey->measure->offset + border) % block;
	survey_conclude(survey, PARAMETER_BLOCK, STATUS_MEASURED,
			agrees ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
			"%u of %u first writes in a block were slow, %u of %u borders are exact; whole blocks at their places %s",
			scan->judgement.hits, scan->judgement.borders, exact->hits, scan->edges,
			agrees ? "are faster than shifted ones" :
			compares ? "do not differ clearly from shifted ones" :
			"are too large to be compared with shifted ones");
	return 0;
}

static void conclude_roughly(struct survey *survey, const struct block_scan *scan)
{
	struct finding *finding = &survey->finding[PARAMETER_BLOCK];
	const double spacing = scan->stride / (scan->judgement.borders - 1.0);

	finding->effect = scan->judgement.evidence;
	finding->low = scan->judgement.period - 3 * spacing;
	finding->high = scan->judgement.period + 3 * spacing;
	finding->value = scan->judgement.period;
	/* Garbage collection may have such a period, too. */
	survey_conclude(survey, PARAMETER_BLOCK, STATUS_BOUNDED, CONFIDENCE_LOW,
			"%u of %u first writes in a block were slow; their borders could not be seen exactly",
			scan->judgement.hits, scan->judgement.borders);
}

static bool is_exact(const struct block_scan *scan)
{
	const struct edge_judgement *exact = &scan->exact;

	return scan->edges >= 4 && exact->hits * 10 >= scan->edges * 8 &&
	       exact->second * 10 <= exact->hits * 8;
}

/*
 * An ordered scan of at most @most writes, @stride apart, and the borders that it shows from close
 * by.  scan->exact tells whether they are.
 */
static int scan_at(struct survey *survey, struct block_scan *scan, u32 stride, unsigned int most,
		   struct failure *failure)
{
	int edges, code;

	scan->stride = stride;
	scan->width = 2 * stride / scan->unit + 2;
	scan->edges = 0;
	code = scan_blocks(survey, scan, most, failure);
	if (code || !is_clear(&scan->judgement))
		return code;
	edges = visit_edges(survey, scan, failure);
	if (edges < 0)
		return edges;
	scan->edges = edges;
	judge_block_edges(scan->slow, scan->edge, edges, scan->width,
			  scan->judgement.period / scan->unit,
			  4.0 * stride / scan->unit / (scan->judgement.borders - 1) + 2,
			  &scan->exact);
	return 0;
}

/*
 * Every write takes a page of a log block, which must not be full before the border.  Where the
 * page is not known it may be larger than any, or a NAND page, whose blocks are small.  A few
 * writes show the latter; but what they show must be exact, as log blocks that fill have a period,
 * too.
 */
static int search_block(struct survey *survey, struct block_scan *scan, struct failure *failure)
{
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	const bool known = page->status == STATUS_MEASURED;
	const u64 start = survey->disk_offset + survey->measure->offset;
	const u32 stride = !known ? MAX_STRIDE :
			   2 * page->value > MIN_STRIDE ? 2 * page->value : MIN_STRIDE;
	int code;

	scan->unit = known ? page->value : JUDGE_UNIT;
	scan->grid = known ? (page->value - (survey->measure->offset + page->value - page->phase) %
			      page->value) % page->value :
		     (JUDGE_UNIT - start % JUDGE_UNIT) % JUDGE_UNIT;
	code = put_under_pressure(survey, scan, failure);
	if (!code && !known)
		code = scan_at(survey, scan, MIN_STRIDE, FINE_LOOK, failure);
	if (!code && !is_exact(scan))
		code = scan_at(survey, scan, stride, MAX_WRITES, failure);
	if (code)
		return code;
	if (is_exact(scan))
		return conclude_exact(survey, scan, failure);
	/* Nothing but the report tells of such a block: a quick run has other use for the time. */
	code = survey->thoroughness == SURVEY_QUICK ? 0 :
	       find_written_block(survey, scan->grid, failure);
	if (code)
		return code < 0 ? code : 0;
	if (is_clear(&scan->judgement))
		conclude_roughly(survey, scan);
	else
		survey_conclude(survey, PARAMETER_BLOCK,
				survey_late(survey) ? STATUS_INCONCLUSIVE : STATUS_NOT_DETECTABLE,
				CONFIDENCE_LOW,
				"no regular slow writes in an ordered scan: pages are mapped one by one, or log blocks are plenty");
	return 0;
}

int find_block(struct survey *survey, struct failure *failure)
{
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];
	struct block_scan *scan;
	int code;

	survey->finding[PARAMETER_BLOCK].method =
		"first slow writes of an ordered scan; whole blocks at their places and shifted";
	if (flush->status == STATUS_MEASURED && !flush->value) {
		survey_conclude(survey, PARAMETER_BLOCK, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW,
				"flushes are ignored, so single writes show only the buffer");
		return 0;
	}
	scan = calloc(1, sizeof(*scan));
	if (!scan)
		return fail(failure, -ENOMEM, "not enough memory for the samples");
	code = search_block(survey, scan, failure);
	free(scan);
	return code;
}
