// SPDX-License-Identifier: GPL-2.0-only
/* What is measured, in which order, with how much effort. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include "measure.h"
#include "probe.h"
#include "size.h"

/* Where an ordered cell takes its distance from. */
enum stride {
	STRIDE_NONE,
	STRIDE_128K,		/* of RE figure 2 */
	STRIDE_MOVER,		/* of the planned device */
};

struct cell {
	const char *name;
	enum access access;
	int size;		/* SIZE_4K or SIZE_8K */
	enum stride stride;
	size_t result;		/* member of struct measurements */
};

#define RESULT(member)	offsetof(struct measurements, member)

/*
 * Sequential writes first, on a region written in order; then the random ones, so that the ordered
 * ones meet the state that random writes leave, as the mover does.  Reads come last, and alone
 * without --write.
 */
static const struct cell cells[] = {
	{ "sequential write", ACCESS_SEQUENTIAL_WRITE, SIZE_4K, STRIDE_NONE,
	  RESULT(sequential_write) },
	{ "random write 4 KiB", ACCESS_RANDOM_WRITE, SIZE_4K, STRIDE_NONE,
	  RESULT(random_write[SIZE_4K]) },
	{ "random write 8 KiB", ACCESS_RANDOM_WRITE, SIZE_8K, STRIDE_NONE,
	  RESULT(random_write[SIZE_8K]) },
	{ "ordered write 4 KiB every 128 KiB", ACCESS_ORDERED_WRITE, SIZE_4K, STRIDE_128K,
	  RESULT(ordered_write_128k[SIZE_4K]) },
	{ "ordered write 8 KiB every 128 KiB", ACCESS_ORDERED_WRITE, SIZE_8K, STRIDE_128K,
	  RESULT(ordered_write_128k[SIZE_8K]) },
	{ "ordered write 4 KiB at the mover's distance", ACCESS_ORDERED_WRITE, SIZE_4K,
	  STRIDE_MOVER, RESULT(ordered_write[SIZE_4K]) },
	{ "ordered write 8 KiB at the mover's distance", ACCESS_ORDERED_WRITE, SIZE_8K,
	  STRIDE_MOVER, RESULT(ordered_write[SIZE_8K]) },
	{ "random read 4 KiB", ACCESS_RANDOM_READ, SIZE_4K, STRIDE_NONE,
	  RESULT(random_read[SIZE_4K]) },
	{ "random read 8 KiB", ACCESS_RANDOM_READ, SIZE_8K, STRIDE_NONE,
	  RESULT(random_read[SIZE_8K]) },
	{ "sequential read", ACCESS_SEQUENTIAL_READ, SIZE_4K, STRIDE_NONE,
	  RESULT(sequential_read) },
};

#define NR_CELLS	(sizeof(cells) / sizeof(cells[0]))
#define FIRST_READ	7U

static const u32 size_bytes[NR_SIZES] = { 4096, 8192 };

static unsigned int first_cell(const struct probe *probe)
{
	return probe->arguments.write ? 0 : FIRST_READ;
}

static u64 stride_of(const struct probe *probe, const struct cell *cell)
{
	switch (cell->stride) {
	case STRIDE_128K:
		return 128 << 10;
	case STRIDE_MOVER:
		return probe->mover_stride[cell->size];
	default:
		return 0;
	}
}

static struct result *result_of(struct probe *probe, const struct cell *cell)
{
	return (struct result *)((char *)&probe->measurements + cell->result);
}

/* --quick: enough to see factors, not percents. */
static struct effort effort_of(const struct probe *probe)
{
	const struct effort full = { .round_ns = 500000000, .min_ops = 24, .max_ops = 8192 };
	const struct effort thorough = { .round_ns = 2000000000, .min_ops = 64, .max_ops = 32768 };
	const struct effort quick = { .round_ns = 250000000, .min_ops = 24, .max_ops = 1024 };

	return probe->arguments.quick ? quick : probe->arguments.thorough ? thorough : full;
}

static u32 sequential_bytes(const struct probe *probe)
{
	u32 bytes = probe->hints.max_request_bytes / BLKDEV_ALIGN * BLKDEV_ALIGN;

	return bytes && bytes < MEASURE_MAX_BYTES ? bytes : MEASURE_MAX_BYTES;
}

static void show_fill(unsigned int percent)
{
	static unsigned int shown = 101;

	if (percent == shown || !isatty(STDERR_FILENO))
		return;
	shown = percent;
	fprintf(stderr, "\rwriting the region once: %u %%\033[K", percent);
}

static void show_cell(const struct probe *probe, const struct cell *cell)
{
	const unsigned int number = cell - cells + 1 - first_cell(probe);
	const unsigned int count = NR_CELLS - first_cell(probe);

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r[%u/%u] %s\033[K", number, count, cell->name);
	else if (probe->arguments.verbose)
		fprintf(stderr, "[%u/%u] %s\n", number, count, cell->name);
}

static void show_result(const struct probe *probe, const char *name, const struct result *result)
{
	if (!probe->arguments.verbose)
		return;
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	fprintf(stderr, "%s: %.3f MB/s, median %.3f ms, worst %.3f ms, %llu in %.2f s%s\n", name,
		result->bandwidth / 1e6, result->median_ns / 1e6, result->worst_ns / 1e6,
		result->ops, result->ns / 1e9, result->steady ? "" : ", unsteady");
}

static void show_search(void *context, enum parameter parameter)
{
	const struct probe *probe = context;

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rlooking for: %s\033[K", parameter_title(parameter));
	else if (probe->arguments.verbose)
		fprintf(stderr, "looking for: %s\n", parameter_title(parameter));
}

static void write_raw(void *context, const struct sample *sample)
{
	fprintf(context, "%s,%c,%llu,%u,%llu\n", sample->phase, sample->kind, sample->offset,
		sample->bytes, sample->ns);
}

/* Filling, searching and the cells together stay below five minutes by default. */
static u64 fill_ns(const struct probe *probe)
{
	const u64 seconds = probe->arguments.quick ? 15 : probe->arguments.thorough ? 1800 : 50;

	return seconds * 1000000000;
}

static u64 search_ns(const struct probe *probe)
{
	const u64 seconds = probe->arguments.quick ? 25 : probe->arguments.thorough ? 1800 : 150;

	return seconds * 1000000000;
}

static int run_survey(struct probe *probe, struct measure *measure, struct failure *failure)
{
	struct survey *survey = &probe->survey;

	survey->measure = measure;
	survey->thoroughness = probe->arguments.quick ? SURVEY_QUICK :
			       probe->arguments.thorough ? SURVEY_THOROUGH : SURVEY_DEFAULT;
	survey->may_write = probe->arguments.write;
	survey->disk_offset = probe->hints.start;
	survey->deadline = measure->disk->ops->now(measure->disk) + search_ns(probe);
	survey->progress = show_search;
	survey->progress_context = probe;
	return survey_run(survey, failure);
}

static int run_cells(struct probe *probe, struct measure *measure, struct failure *failure)
{
	unsigned int i;
	int code = 0;

	if (probe->arguments.write)
		code = measure_fill(measure, failure);
	if (!code)
		code = run_survey(probe, measure, failure);
	for (i = first_cell(probe); !code && i < NR_CELLS; i++) {
		struct result *result = result_of(probe, &cells[i]);

		show_cell(probe, &cells[i]);
		measure->phase = cells[i].name;
		code = measure_cell(measure, cells[i].access, size_bytes[cells[i].size],
				    stride_of(probe, &cells[i]), result, failure);
		if (!code)
			show_result(probe, cells[i].name, result);
		/* The limit ends the writing; what was measured by then is still good. */
		if (code == -EDQUOT) {
			probe->limited = true;
			code = 0;
		}
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return code;
}

int probe_measure(struct probe *probe, struct failure *failure)
{
	struct disk_device device;
	struct measure measure = {
		.disk = &device.disk,
		.offset = probe->region.offset,
		.bytes = probe->region.bytes,
		.sequential_bytes = sequential_bytes(probe),
		.effort = effort_of(probe),
		.progress = show_fill,
		.fill_ns = fill_ns(probe),
		.write_limit = probe->max_write,
		.phase = "fill",
		.record = probe->raw ? write_raw : NULL,
		.record_context = probe->raw,
	};
	int code;

	disk_device_init(&device, &probe->dev, probe->hints.max_request_bytes);
	code = measure_init(&measure, failure);
	if (code)
		return code;
	code = run_cells(probe, &measure, failure);
	probe->written = measure.written;
	probe->region.bytes = measure.bytes;
	probe->zero_reads = measure.zero_reads;
	measure_release(&measure);
	return code;
}

void probe_print_plan(const struct probe *probe)
{
	const double seconds = effort_of(probe).round_ns / 1e9;
	char size[SIZE_TEXT], offset[SIZE_TEXT];
	unsigned int i;

	printf("%s: would measure within %s from byte %llu (%s) on\n", probe->dev.path,
	       size_print(probe->region.bytes, size), probe->region.offset,
	       size_print(probe->region.offset, offset));
	if (probe->arguments.write)
		printf("  write the region once, in order: %s are destroyed\n", size);
	for (i = first_cell(probe); i < NR_CELLS; i++)
		printf("  %s: %.1f to %.1f s, or %llu transfers\n", cells[i].name,
		       seconds * ROUNDS_MIN, seconds * ROUNDS_MAX,
		       effort_of(probe).min_ops * ROUNDS_MIN);
	if (!probe->arguments.write)
		puts("  no writes: add --write to plan a whole measurement");
}
