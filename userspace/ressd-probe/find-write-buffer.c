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
#include "judge.h"
#include "statistics.h"
#include "survey.h"

#define RUNS		15U
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
	unsigned int run, i;
	int code = times ? 0 : fail(failure, -ENOMEM, "not enough memory for the samples");

	for (run = 0; !code && run < RUNS; run++)
		code = run_once(survey, series, times + run * series->count, failure);
	survey->finding[PARAMETER_WRITE_BUFFER].samples += RUNS * series->count;
	for (i = 0; !code && i < series->count; i++) {
		for (run = 0; run < RUNS; run++)
			column[run] = times[run * series->count + i];
		times[i] = stat_median(column, RUNS);
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

/*
 * Of a size that makes at least five of what the buffer takes, and that no page is a multiple
 * of.
 */
static u32 other_request(const struct survey *survey, u64 coarse)
{
	if (survey->measure->disk->granule > FINE)
		return coarse >= 64 << 10 ? 12 << 10 : 8 << 10;
	return coarse >= 64 << 10 ? 7 << 10 : 3 << 10;
}

/* Requests of another size: the number of bytes that they put into the buffer, at least. */
static int search_other(struct survey *survey, u64 coarse, u32 bytes, u64 *other,
			struct failure *failure)
{
	struct series series = { .bytes = bytes, .count = coarse / bytes + 24 };
	int count;

	series.place = survey_place(survey, (u64)series.count * bytes, ALIGN);
	count = count_buffered(survey, &series, failure);
	*other = count > 0 ? (u64)count * bytes : 0;
	return count < 0 ? count : 0;
}

static void conclude(struct survey *survey, u64 coarse, u64 fine, u64 other, u32 other_bytes)
{
	struct finding *finding = &survey->finding[PARAMETER_WRITE_BUFFER];
	const u64 value = fine ? fine : coarse;
	const bool fits = value >= coarse && value < coarse + SMALL;
	const bool agrees = other <= value && value < other + other_bytes;

	finding->value = value;
	finding->low = value;
	finding->high = value + (fine ? FINE : SMALL) - 1;
	if ((fine && !fits) || !agrees)
		survey_conclude(survey, PARAMETER_WRITE_BUFFER, STATUS_INCONCLUSIVE,
				CONFIDENCE_LOW,
				"requests of 4 KiB give %llu KiB, of 1 KiB %llu KiB, of %u KiB %llu KiB",
				coarse >> 10, fine >> 10, other_bytes >> 10, other >> 10);
	else
		survey_conclude(survey, PARAMETER_WRITE_BUFFER, STATUS_MEASURED, CONFIDENCE_HIGH,
				"after %llu KiB a write has to wait; requests of %u KiB agree",
				value >> 10, other_bytes >> 10);
}

int find_write_buffer(struct survey *survey, struct failure *failure)
{
	u32 other_bytes;
	u64 coarse = 0, fine = 0, other = 0;
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
		code = search_coarse(survey, &coarse, failure);
	if (code)
		return code;
	if (!coarse) {
		survey_conclude(survey, PARAMETER_WRITE_BUFFER, STATUS_NOT_DETECTABLE,
				CONFIDENCE_LOW,
				"no write in a row waits longer than those before it");
		return 0;
	}
	code = refine(survey, coarse, &fine, failure);
	other_bytes = other_request(survey, coarse);
	if (!code)
		code = search_other(survey, fine ? fine : coarse, other_bytes, &other, failure);
	if (!code)
		conclude(survey, coarse, fine, other, other_bytes);
	return code;
}
