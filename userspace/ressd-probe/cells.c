// SPDX-License-Identifier: GPL-2.0-only
/* What is measured, in which order, with how much effort. */
#include <stdio.h>
#include <unistd.h>
#include "measure.h"
#include "probe.h"
#include "size.h"

#define DEFAULT_STRIDE	(128U << 10)	/* of RE figure 2 */

/* One row of the plan; the result's place and the stride depend on the probe. */
struct cell {
	const char *name;
	enum access access;
	int size;		/* SIZE_4K or SIZE_8K */
	u64 stride;		/* bytes; 0: not ordered */
	struct result *result;
};

#define MAX_CELLS	12

static const u32 size_bytes[NR_SIZES] = { 4096, 8192 };

static void add_cell(struct cell *cells, unsigned int *count, struct cell cell)
{
	cells[(*count)++] = cell;
}

/*
 * Sequential writes first, on a region written in order; then the random ones, so that the ordered
 * ones meet the state that random writes leave, as the mover does.
 */
static unsigned int list_writes(struct probe *probe, struct cell *cells)
{
	struct measurements *m = &probe->measurements;
	unsigned int n = 0;

	add_cell(cells, &n, (struct cell){ "sequential write", ACCESS_SEQUENTIAL_WRITE, SIZE_4K, 0,
					   &m->sequential_write });
	add_cell(cells, &n, (struct cell){ "random write 4 KiB", ACCESS_RANDOM_WRITE, SIZE_4K, 0,
					   &m->random_write[SIZE_4K] });
	add_cell(cells, &n, (struct cell){ "random write 8 KiB", ACCESS_RANDOM_WRITE, SIZE_8K, 0,
					   &m->random_write[SIZE_8K] });
	add_cell(cells, &n, (struct cell){ "ordered write 4 KiB every 128 KiB",
					   ACCESS_ORDERED_WRITE, SIZE_4K, DEFAULT_STRIDE,
					   &m->ordered_write_128k[SIZE_4K] });
	add_cell(cells, &n, (struct cell){ "ordered write 8 KiB every 128 KiB",
					   ACCESS_ORDERED_WRITE, SIZE_8K, DEFAULT_STRIDE,
					   &m->ordered_write_128k[SIZE_8K] });
	add_cell(cells, &n, (struct cell){ "ordered write 4 KiB at the mover's distance",
					   ACCESS_ORDERED_WRITE, SIZE_4K,
					   probe->mover_stride[SIZE_4K],
					   &m->ordered_write[SIZE_4K] });
	add_cell(cells, &n, (struct cell){ "ordered write 8 KiB at the mover's distance",
					   ACCESS_ORDERED_WRITE, SIZE_8K,
					   probe->mover_stride[SIZE_8K],
					   &m->ordered_write[SIZE_8K] });
	return n;
}

static unsigned int list_cells(struct probe *probe, struct cell *cells)
{
	struct measurements *m = &probe->measurements;
	unsigned int n = probe->arguments.write ? list_writes(probe, cells) : 0;

	add_cell(cells, &n, (struct cell){ "random read 4 KiB", ACCESS_RANDOM_READ, SIZE_4K, 0,
					   &m->random_read[SIZE_4K] });
	add_cell(cells, &n, (struct cell){ "random read 8 KiB", ACCESS_RANDOM_READ, SIZE_8K, 0,
					   &m->random_read[SIZE_8K] });
	add_cell(cells, &n, (struct cell){ "sequential read", ACCESS_SEQUENTIAL_READ, SIZE_4K, 0,
					   &m->sequential_read });
	return n;
}

/* --quick: enough to see factors, not percents. */
static struct effort effort_of(const struct probe *probe)
{
	const struct effort full = { .round_ns = 1000000000, .min_ops = 32, .max_ops = 8192 };
	const struct effort quick = { .round_ns = 250000000, .min_ops = 24, .max_ops = 1024 };

	return probe->arguments.quick ? quick : full;
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

static void show_cell(const struct probe *probe, const struct cell *cell, unsigned int number,
		      unsigned int count)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r[%u/%u] %s\033[K", number, count, cell->name);
	else if (probe->arguments.verbose)
		fprintf(stderr, "[%u/%u] %s\n", number, count, cell->name);
}

static void show_result(const struct probe *probe, const struct cell *cell)
{
	const struct result *result = cell->result;

	if (!probe->arguments.verbose)
		return;
	fprintf(stderr, "%s%s: %.3f MB/s, median %.3f ms, worst %.3f ms, %llu transfers in %.2f s%s\n",
		isatty(STDERR_FILENO) ? "\r\033[K" : "", cell->name, result->bandwidth / 1e6,
		result->median_ns / 1e6, result->worst_ns / 1e6, result->ops, result->ns / 1e9,
		result->steady ? "" : ", unsteady");
}

static int measure_cells(struct probe *probe, struct measure *measure, struct failure *failure)
{
	struct cell cells[MAX_CELLS];
	unsigned int i, count = list_cells(probe, cells);
	int code = 0;

	if (probe->arguments.write)
		code = measure_fill(measure, failure);
	for (i = 0; !code && i < count; i++) {
		show_cell(probe, &cells[i], i + 1, count);
		code = measure_cell(measure, cells[i].access, size_bytes[cells[i].size],
				    cells[i].stride, cells[i].result, failure);
		if (!code)
			show_result(probe, &cells[i]);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return code;
}

int probe_measure(struct probe *probe, struct failure *failure)
{
	struct measure measure = {
		.dev = &probe->dev,
		.offset = probe->region.offset,
		.bytes = probe->region.bytes,
		.sequential_bytes = sequential_bytes(probe),
		.effort = effort_of(probe),
		.progress = show_fill,
	};
	int code = measure_init(&measure, failure);

	if (code)
		return code;
	code = measure_cells(probe, &measure, failure);
	probe->written = measure.written;
	probe->zero_reads = measure.zero_reads;
	measure_release(&measure);
	return code;
}

void probe_print_plan(const struct probe *probe)
{
	struct probe copy = *probe;
	struct cell cells[MAX_CELLS];
	unsigned int i, count = list_cells(&copy, cells);
	const struct effort effort = effort_of(probe);
	char size[SIZE_TEXT], offset[SIZE_TEXT];
	double seconds = effort.round_ns / 1e9;

	printf("%s: would measure within %s from byte %llu (%s) on\n", probe->dev.path,
	       size_print(probe->region.bytes, size), probe->region.offset,
	       size_print(probe->region.offset, offset));
	if (probe->arguments.write)
		printf("  write the region once, in order: %s are destroyed\n", size);
	for (i = 0; i < count; i++)
		printf("  %s: %.1f to %.1f s\n", cells[i].name, seconds * ROUNDS_MIN,
		       seconds * ROUNDS_MAX);
	if (!probe->arguments.write)
		puts("  no writes: add --write to plan a whole measurement");
	puts("longer on a device that needs more than that for the fewest transfers");
}
