// SPDX-License-Identifier: GPL-2.0-only
/* The charts of the papers for this drive; see charts.h. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "find/charts.h"
#include "judge/judge.h"
#include "measure/statistics.h"

#define SECOND		1000000000ULL
#define REPEATS		5U
#define SMALLEST	1024U	/* of reads and of unflushed writes, as in ME */
#define ALIGN		1048576U
#define LARGEST_WRITE	(512U << 10)	/* of the chart of pages */
#define LARGEST_READ	(8192U << 10)
#define LARGEST_UNFLUSHED	(2048U << 10)
#define MOST_FILL	(17408U << 10)	/* written to fill the write buffer */
#define BATCH_BYTES	(8192U << 10)	/* written for one point of the chart of blocks, at least */
#define BATCH_NS	SECOND		/* then it is enough */
#define FAR_READ	(16384U << 10)	/* forgets all that was read before */
#define MODE_WRITES	256U

/*
 * One time of a series, for a given size.  Always at the same @place: elsewhere the drive might
 * have to reorganise itself first.
 */
typedef int (*sample_fn)(struct survey *survey, u64 place, u64 bytes, u64 *ns,
			 struct failure *failure);

static void add_point(struct series *series, double x, double y)
{
	if (series->count == CHART_POINTS)
		return;
	series->x[series->count] = x;
	series->y[series->count++] = y;
}

/* Where the sizes begin. */
static u64 smallest(const struct survey *survey)
{
	return survey->measure->disk->granule <= SMALLEST ? SMALLEST : JUDGE_UNIT;
}

static u64 next_size(u64 bytes)
{
	return bytes < JUDGE_UNIT ? JUDGE_UNIT : judge_next_size(bytes);
}

/* The median of some samples; none if the time is up. */
static int add_median(struct survey *survey, struct series *series, u64 place, u64 bytes,
		      sample_fn sample, struct failure *failure)
{
	double times[REPEATS];
	unsigned int i;
	int code = 0;

	for (i = 0; !code && i < REPEATS && !(i && survey_late(survey)); i++) {
		u64 ns = 0;

		code = sample(survey, place, bytes, &ns, failure);
		times[i] = ns;
	}
	if (!code)
		add_point(series, bytes / 1024.0, stat_median(times, i) / 1e6);
	return code;
}

/* Not at the begin of a clustered block, where some drives open another one with each write. */
static u64 write_place(struct survey *survey, u64 bytes)
{
	const struct finding *block = &survey->finding[PARAMETER_BLOCK];
	const u64 place = survey_place(survey, bytes + ALIGN, ALIGN);

	if (block->status != STATUS_MEASURED ||
	    (survey->measure->offset + place) % block->value != block->phase)
		return place;
	return place + ALIGN;
}

static int flushed_write(struct survey *survey, u64 place, u64 bytes, u64 *ns,
			 struct failure *failure)
{
	return survey_write_flush(survey, place, bytes, ns, failure);
}

/* ME procedure 1. */
static int sweep_page(struct charts *charts, struct survey *survey, struct failure *failure)
{
	const u64 place = write_place(survey, LARGEST_WRITE);
	u64 bytes;
	int code = 0;

	for (bytes = JUDGE_UNIT; !code && bytes <= LARGEST_WRITE && !survey_late(survey);
	     bytes += JUDGE_UNIT)
		code = add_median(survey, &charts->page, place, bytes, flushed_write, failure);
	return code;
}

/* MB/s of writes of @bytes each, in order or not, with a flush at the end. */
static int write_batch(struct survey *survey, u64 bytes, bool random, double *speed,
		       struct failure *failure)
{
	const u64 places = survey->measure->bytes / bytes;
	const u64 count = bytes < BATCH_BYTES / 2 ? BATCH_BYTES / bytes : 2;
	const u64 first = measure_random(survey->measure, places - count + 1);
	u64 i, ns = 0, sum = 0;
	int code = measure_flush(survey->measure, NULL, failure);

	for (i = 0; !code && i < count && sum < BATCH_NS && !(i && survey_late(survey)); i++) {
		const u64 place = random ? measure_random(survey->measure, places) : first + i;

		code = survey_write_range(survey, place * bytes, bytes, &ns, failure);
		sum += ns;
	}
	if (!code)
		code = measure_flush(survey->measure, &ns, failure);
	*speed = i * bytes * 1e3 / (sum + ns + 1.0);
	return code;
}

/* ME procedure 2. */
static int sweep_block(struct charts *charts, struct survey *survey, struct failure *failure)
{
	u64 bytes;
	int code = 0;

	for (bytes = 16 << 10; !code && bytes <= LARGEST_BLOCK &&
	     bytes * 4 <= survey->measure->bytes && !survey_late(survey); bytes *= 2) {
		double speed = 0;

		code = write_batch(survey, bytes, false, &speed, failure);
		if (!code)
			add_point(&charts->sequential, bytes / 1024.0, speed);
		if (!code)
			code = write_batch(survey, bytes, true, &speed, failure);
		if (!code)
			add_point(&charts->random, bytes / 1024.0, speed);
	}
	return code;
}

/* ME procedure 3. */
static int sweep_modes(struct charts *charts, struct survey *survey, struct failure *failure)
{
	const struct finding *page = &survey->finding[PARAMETER_PAGE];
	const u32 bytes = page->status == STATUS_MEASURED ? page->value : JUDGE_UNIT;
	const u64 place = survey_place(survey, (u64)MODE_WRITES * bytes, ALIGN);
	unsigned int i;
	int code = 0;

	for (i = 0; !code && i < MODE_WRITES && !survey_late(survey); i++) {
		u64 ns = 0;

		code = survey_write_flush(survey, place + (u64)i * bytes, bytes, &ns, failure);
		if (!code)
			add_point(&charts->modes, i, ns / 1e6);
	}
	return code;
}

/* ME procedures 4 and 5: once where it was not read lately, and once more. */
static int read_twice(struct charts *charts, struct survey *survey, u64 bytes,
		      struct failure *failure)
{
	const u64 place = survey_place(survey, bytes, ALIGN);
	const u64 far = survey_place(survey, FAR_READ, ALIGN);
	u64 ns = 0;
	int code = survey_read_range(survey, far, FAR_READ, &ns, failure);

	if (!code)
		code = survey_read_range(survey, place, bytes, &ns, failure);
	if (!code)
		add_point(&charts->read_first, bytes / 1024.0, ns / 1e6);
	if (!code)
		code = survey_read_range(survey, place, bytes, &ns, failure);
	if (!code)
		add_point(&charts->read_again, bytes / 1024.0, ns / 1e6);
	return code;
}

static int sweep_reads(struct charts *charts, struct survey *survey, struct failure *failure)
{
	u64 bytes;
	int code = 0;

	if (survey->measure->bytes < 2 * FAR_READ)
		return 0;
	for (bytes = smallest(survey); !code && bytes <= LARGEST_READ && !survey_late(survey);
	     bytes = next_size(bytes))
		code = read_twice(charts, survey, bytes, failure);
	return code;
}

/* ME procedure 6: after a flush. */
static int write_to_empty(struct survey *survey, u64 place, u64 bytes, u64 *ns,
			  struct failure *failure)
{
	const int code = survey_empty_buffer(survey, failure);

	return code ? code : survey_write_range(survey, place, bytes, ns, failure);
}

/* ME procedure 7: behind so many other writes that none of it finds room. */
static int write_to_full(struct survey *survey, u64 place, u64 bytes, u64 *ns,
			 struct failure *failure)
{
	const struct finding *buffer = &survey->finding[PARAMETER_WRITE_BUFFER];
	const u64 wanted = buffer->status == STATUS_MEASURED ? 2 * buffer->value + ALIGN :
			   2 * ALIGN;
	const u64 fill = wanted < MOST_FILL ? wanted : MOST_FILL;
	const int code = survey_write_range(survey, place + LARGEST_UNFLUSHED, fill, ns, failure);

	return code ? code : survey_write_range(survey, place, bytes, ns, failure);
}

static int sweep_writes(struct charts *charts, struct survey *survey, struct failure *failure)
{
	const u64 place = write_place(survey, LARGEST_UNFLUSHED + MOST_FILL);
	u64 bytes;
	int code = 0;

	for (bytes = smallest(survey); !code && bytes <= LARGEST_UNFLUSHED && !survey_late(survey);
	     bytes = next_size(bytes)) {
		code = add_median(survey, &charts->write_empty, place, bytes, write_to_empty,
				  failure);
		if (!code)
			code = add_median(survey, &charts->write_full, place, bytes,
					  write_to_full, failure);
	}
	return code;
}

static const struct {
	bool writes;
	unsigned int share;	/* of the time and the bytes, percent */
	int (*sweep)(struct charts *charts, struct survey *survey, struct failure *failure);
} sweeps[] = {
	{ true, 15, sweep_page }, { true, 10, sweep_modes }, { false, 15, sweep_reads },
	{ true, 15, sweep_writes }, { true, 45, sweep_block },
};

#define NR_SWEEPS	(sizeof(sweeps) / sizeof(sweeps[0]))

static void name_series(struct charts *charts)
{
	memset(charts, 0, sizeof(*charts));
	charts->page.name = "write and flush";
	charts->sequential.name = "sequential";
	charts->random.name = "random";
	charts->modes.name = "write of a page and flush";
	charts->read_first.name = "NAND: not read before";
	charts->read_again.name = "buffer: read again";
	charts->write_full.name = "NAND: buffer full";
	charts->write_empty.name = "buffer: empty before";
}

int charts_measure(struct charts *charts, struct survey *survey, unsigned int seconds, u64 bytes,
		   struct failure *failure)
{
	struct disk *disk = survey->measure->disk;
	unsigned int i;
	int code = 0;

	name_series(charts);
	survey->deadline = 0;
	survey->measure->phase = "charts";
	for (i = 0; !code && i < NR_SWEEPS; i++) {
		survey->search_deadline = disk->ops->now(disk) +
					  seconds * SECOND / 100 * sweeps[i].share;
		survey->search_written = survey->measure->written +
					 bytes / 100 * sweeps[i].share;
		if (!sweeps[i].writes || survey->may_write)
			code = sweeps[i].sweep(charts, survey, failure);
		/* What fits is drawn. */
		if (code == -ERANGE || code == -EDQUOT)
			code = 0;
	}
	return code;
}

#define SERIES(member)	offsetof(struct charts, member)

static const struct {
	struct series_key key;
	size_t offset;
} keys[] = {
	{ { "page", "KiB", "ms" }, SERIES(page) },
	{ { "block-sequential", "KiB", "MB/s" }, SERIES(sequential) },
	{ { "block-random", "KiB", "MB/s" }, SERIES(random) },
	{ { "modes", "number", "ms" }, SERIES(modes) },
	{ { "read-first", "KiB", "ms" }, SERIES(read_first) },
	{ { "read-again", "KiB", "ms" }, SERIES(read_again) },
	{ { "write-full", "KiB", "ms" }, SERIES(write_full) },
	{ { "write-empty", "KiB", "ms" }, SERIES(write_empty) },
};

const struct series *charts_series(const struct charts *charts, unsigned int number,
				   const struct series_key **key)
{
	if (number >= sizeof(keys) / sizeof(keys[0]))
		return NULL;
	*key = &keys[number].key;
	return (const struct series *)((const char *)charts + keys[number].offset);
}
