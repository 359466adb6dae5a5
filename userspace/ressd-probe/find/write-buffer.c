// SPDX-License-Identifier: GPL-2.0-only
/*
 * P5, the write buffer: what the drive takes at the speed of its interface after it was emptied.
 *
 * ME procedure 6 writes ever larger requests.  Here small ones follow each other instead, and the
 * median over many runs at each position shows the first one that has to wait: a large step
 * instead of a small change in a long time.  Requests of another size must agree.
 */
#include <errno.h>
#include <stdlib.h>
#include "find/survey.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define RUNS		15U
#define LEAST_RUNS	5U		/* where the time is up */
#define SMALL		4096U
#define FINE		1024U
#define MAX_REQUESTS	2048U		/* of SMALL bytes: 8 MiB */
#define BEFORE		(16U << 10)	/* the fine search begins so far before the coarse result */
#define ALIGN		1048576U

/* One series: requests of SMALL bytes up to @from, then @count of @bytes. */
struct series {
	u64 place;
	u64 from;
	u32 bytes;
	unsigned int count;
};

/*
 * Fills an empty buffer; @times gets the series part by part.  Always at the same place: elsewhere
 * the drive might have to reorganise itself first.
 */
static int run_once(struct survey *survey, const struct series *series, double *times,
		    struct failure *failure)
{
	const u64 place = series->place;
	u64 at = 0, ns = 0;
	unsigned int i;
	int code = survey_empty_buffer(survey, failure);

	for (; !code && at < series->from; at += SMALL)
		code = measure_write(survey->measure, place + at, SMALL, &ns, failure);
	for (i = 0; !code && i < series->count; i++, at += series->bytes) {
		code = measure_write(survey->measure, place + at, series->bytes, &ns, failure);
		times[i] = ns + 1;
	}
	return code;
}

/*
 * The number of requests that go into the buffer, or 0 if no step shows.  Negative errno on
 * failure.
 */
static int count_buffered(struct survey *survey, const struct series *series,
			  struct failure *failure)
{
	double *times = calloc((size_t)RUNS * series->count, sizeof(*times));
	double column[RUNS];
	unsigned int run, runs, i;
	int code = times ? 0 : fail(failure, -ENOMEM, "not enough memory for the samples");

	for (runs = 0; !code && runs < (survey_late(survey) ? LEAST_RUNS : RUNS); runs++)
		code = run_once(survey, series, times + runs * series->count, failure);
	survey->finding[PARAMETER_WRITE_BUFFER].samples += runs * series->count;
	for (i = 0; !code && i < series->count; i++) {
		for (run = 0; run < runs; run++)
			column[run] = times[run * series->count + i];
		times[i] = stat_median(column, runs);
	}
	if (!code)
		code = judge_onset(times, series->count);
	free(times);
	return code;
}

/* Does a write alone take as long as a write with its flush?  1 yes, 0 no, or a negative errno. */
static int is_bypassed(struct survey *survey, struct failure *failure)
{
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];
	const u64 place = survey_place(survey, SMALL, ALIGN);
	double alone[RUNS], both[RUNS];
	unsigned int i;
	int code = 0;

	for (i = 0; !code && i < RUNS; i++) {
		u64 ns = 0, flush_ns = 0;

		code = survey_empty_buffer(survey, failure);
		if (!code)
			code = measure_write(survey->measure, place, SMALL, &ns, failure);
		if (!code)
			code = measure_flush(survey->measure, &flush_ns, failure);
		alone[i] = ns + 1;
		both[i] = ns + flush_ns + 1;
	}
	if (code || (flush->status == STATUS_MEASURED && !flush->value))
		return code;
	return stat_median(alone, RUNS) > 0.6 * stat_median(both, RUNS);
}

/* Ever longer series of small requests.  Bytes found in @coarse, 0 if none. */
static int search_coarse(struct survey *survey, u64 *coarse, struct failure *failure)
{
	struct series series = { .bytes = SMALL, .count = 48 };
	int count = 0;

	for (; series.count <= MAX_REQUESTS && !survey_late(survey); series.count *= 3) {
		if ((u64)series.count * SMALL * 4 > survey->measure->bytes)
			break;
		series.place = survey_place(survey, (u64)series.count * SMALL, ALIGN);
		count = count_buffered(survey, &series, failure);
		if (count)
			break;
	}
	*coarse = count > 0 ? (u64)count * SMALL : 0;
	return count < 0 ? count : 0;
}

static int refine(struct survey *survey, u64 coarse, u64 *fine, struct failure *failure)
{
	struct series series = { .bytes = FINE, .count = (BEFORE + SMALL) / FINE + 16 };
	int count;

	*fine = 0;
	if (survey->measure->disk->granule > FINE)
		return 0;
	series.place = survey_place(survey, coarse + 2 * BEFORE, ALIGN);
	series.from = coarse > BEFORE ? (coarse - BEFORE) / SMALL * SMALL : 0;
	count = count_buffered(survey, &series, failure);
	if (count > 0)
		*fine = series.from + (u64)count * FINE;
	return count < 0 ? count : 0;
}

/* What the series said, bytes; 0: nothing. */
struct buffer_sizes {
	u64 coarse;		/* requests of SMALL */
	u64 fine;		/* requests of FINE near the end */
	u64 other;		/* requests of other_bytes */
	u32 other_bytes;
};

/*
 * Sizes for the other method, the second one for a second attempt: at least three of them are what
 * the buffer takes, and no page is a multiple of them.
 */
static u32 other_request(const struct survey *survey, u64 coarse, unsigned int attempt)
{
	const u32 coarse_sizes[] = { 12 << 10, 20 << 10 }, small_sizes[] = { 8 << 10, 12 << 10 };
	const u32 fine_sizes[] = { 7 << 10, 5 << 10 }, least_sizes[] = { 3 << 10, 5 << 10 };
	const bool large = coarse >= 64 << 10;

	if (survey->measure->disk->granule > FINE)
		return large ? coarse_sizes[attempt] : small_sizes[attempt];
	return large ? fine_sizes[attempt] : least_sizes[attempt];
}

/* Requests of another size: the number of bytes that they put into the buffer, at least. */
static int search_other(struct survey *survey, struct buffer_sizes *sizes, u64 expected,
			struct failure *failure)
{
	const u32 bytes = sizes->other_bytes;
	struct series series = { .bytes = bytes, .count = expected / bytes + 24 };
	int count;

	series.place = survey_place(survey, (u64)series.count * bytes, ALIGN);
	count = count_buffered(survey, &series, failure);
	sizes->other = count > 0 ? (u64)count * bytes : 0;
	return count < 0 ? count : 0;
}

static u64 value_of(const struct buffer_sizes *sizes)
{
	return sizes->fine ? sizes->fine : sizes->coarse;
}

static bool agree(const struct buffer_sizes *sizes)
{
	const u64 value = value_of(sizes);

	if (sizes->fine && (value < sizes->coarse || value >= sizes->coarse + SMALL))
		return false;
	return sizes->other <= value && value < sizes->other + sizes->other_bytes;
}

/*
 * Flushes are ignored, or may be: the drive empties its buffer when it likes, and series may begin
 * with one that is not empty.
 */
static bool ignores_flushes(const struct survey *survey)
{
	const struct finding *flush = &survey->finding[PARAMETER_FLUSH];

	return flush->status != STATUS_MEASURED || !flush->value;
}

/* Both methods; a second time where they differ, for interference hits one of them now and then. */
static int compare_sizes(struct survey *survey, struct buffer_sizes *sizes,
			 struct failure *failure)
{
	const unsigned int attempts = ignores_flushes(survey) ? 1 : 2;
	unsigned int attempt;
	int code = 0;

	for (attempt = 0; !code && attempt < attempts; attempt++) {
		/* The coarse search begins with short series; one that went too far missed it. */
		if (attempt && sizes->other && sizes->other < sizes->coarse)
			sizes->coarse = (sizes->other + SMALL - 1) / SMALL * SMALL;
		code = refine(survey, sizes->coarse, &sizes->fine, failure);
		if (code || (attempt && agree(sizes)))
			break;
		sizes->other_bytes = other_request(survey, value_of(sizes), attempt);
		code = search_other(survey, sizes, value_of(sizes), failure);
		if (agree(sizes) || survey_late(survey))
			break;
	}
	return code;
}

static u64 least_of(const struct buffer_sizes *sizes)
{
	u64 least = sizes->coarse;

	if (sizes->fine && sizes->fine < least)
		least = sizes->fine;
	if (sizes->other && sizes->other < least)
		least = sizes->other;
	return least;
}

static void conclude(struct survey *survey, const struct buffer_sizes *sizes)
{
	struct finding *finding = &survey->finding[PARAMETER_WRITE_BUFFER];
	const bool ignored = ignores_flushes(survey);

	finding->value = value_of(sizes);
	finding->low = finding->value;
	finding->high = finding->value + (sizes->fine ? FINE : SMALL) - 1;
	if (agree(sizes)) {
		survey_conclude(survey, PARAMETER_WRITE_BUFFER, STATUS_MEASURED,
				ignored ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH,
				"after %llu KiB a write has to wait; requests of %u KiB agree",
				finding->value >> 10, sizes->other_bytes >> 10);
		return;
	}
	survey_conclude(survey, PARAMETER_WRITE_BUFFER,
			ignored ? STATUS_BOUNDED : STATUS_INCONCLUSIVE, CONFIDENCE_LOW,
			"requests of 4 KiB give %llu KiB, of 1 KiB %llu KiB, of %u KiB %llu KiB%s",
			sizes->coarse >> 10, sizes->fine >> 10, sizes->other_bytes >> 10,
			sizes->other >> 10,
			ignored ? "; as flushes may be ignored, it was perhaps not empty" : "");
	if (!ignored)
		return;
	finding->value = least_of(sizes);
	finding->low = finding->value;
	finding->high = ~0ULL;
}

int find_write_buffer(struct survey *survey, struct failure *failure)
{
	struct buffer_sizes sizes = { 0 };
	int code = is_bypassed(survey, failure);

	survey->finding[PARAMETER_WRITE_BUFFER].method =
		"first write that waits after the buffer was emptied, median of 15 runs";
	if (code > 0) {
		survey_conclude(survey, PARAMETER_WRITE_BUFFER, STATUS_NOT_DETECTABLE,
				CONFIDENCE_MEDIUM,
				"a small write takes as long as with its flush: there is none, or it is bypassed");
		return 0;
	}
	if (!code)
		code = search_coarse(survey, &sizes.coarse, failure);
	if (code)
		return code;
	if (!sizes.coarse) {
		survey_conclude(survey, PARAMETER_WRITE_BUFFER, STATUS_NOT_DETECTABLE,
				CONFIDENCE_LOW,
				"no write in a row waits longer than those before it");
		return 0;
	}
	code = compare_sizes(survey, &sizes, failure);
	if (!code)
		conclude(survey, &sizes);
	return code;
}
