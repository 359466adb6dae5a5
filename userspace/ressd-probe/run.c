// SPDX-License-Identifier: GPL-2.0-only
/* From the command line to a measurement, and what is shown meanwhile. */
#include <stdio.h>
#include "cli/json-stream.h"
#include "cli/size.h"
#include "dm/genuine.h"
#include "probe.h"
#include "report/show.h"

#define PLAN_SCHEMA	1	/* of the JSON of --dry-run; ressd-probe(8) describes it */

enum thoroughness thoroughness_of(const struct arguments *arguments)
{
	return arguments->quick ? SURVEY_QUICK :
	       arguments->thorough ? SURVEY_THOROUGH : SURVEY_DEFAULT;
}

static u32 sequential_bytes(const struct probe *probe)
{
	u32 bytes = probe->hints.max_request_bytes / BLKDEV_ALIGN * BLKDEV_ALIGN;

	return bytes && bytes < MEASURE_MAX_BYTES ? bytes : MEASURE_MAX_BYTES;
}

static void write_raw(void *context, const struct sample *sample)
{
	fprintf(context, "%s,%c,%llu,%u,%llu\n", sample->phase, sample->kind, sample->offset,
		sample->bytes, sample->ns);
}

/* Bytes that are kept for the charts; of a small limit a third. */
static u64 charts_bytes(const struct probe *probe)
{
	if (!probe->arguments.report)
		return 0;
	return probe->max_write / 3 < CHARTS_BYTES ? probe->max_write / 3 : CHARTS_BYTES;
}

int probe_measure(struct probe *probe, struct failure *failure)
{
	struct session *session = &probe->session;
	struct disk_device device;
	struct measure measure = {
		.disk = &device.disk,
		.offset = probe->region.offset,
		.bytes = probe->region.bytes,
		.planned = probe->planned.bytes,
		.sequential_bytes = sequential_bytes(probe),
		.write_limit = probe->max_write - charts_bytes(probe),
		.written = probe->written,
		.spent_limit = probe->spent_limit,
		.record = probe->raw ? write_raw : NULL,
		.record_context = probe->raw,
	};
	int code;

	session->measure = &measure;
	session->may_write = probe->arguments.write;
	session->verify = true;
	session->thoroughness = thoroughness_of(&probe->arguments);
	session->disk_offset = probe->hints.start;
	session->takes_discards = probe->hints.takes_discards;
	session->one_at_a_time = probe->hints.one_at_a_time;
	session->is_memory = probe->hints.backing == BACKING_MEMORY;
	session->watcher = &show_watcher;
	session->context = probe;
	session_effort(&measure, session->thoroughness);
	disk_device_init(&device, &probe->dev);
	code = measure_init(&measure, failure);
	if (code)
		return code;
	if (probe->arguments.write)
		code = genuine_check(&probe->dev, measure.offset, measure.bytes, failure);
	if (!code)
		code = session_run(session, failure);
	measure.write_limit = probe->max_write;
	if (!code && probe->arguments.report)
		code = charts_measure(&probe->charts, &session->survey, CHART_SECONDS,
				      CHARTS_BYTES, failure);
	show_end(probe);
	probe->written = measure.written;
	probe->region.bytes = measure.bytes;
	probe->zero_reads = measure.zero_reads;
	measure_release(&measure);
	session->measure = NULL;
	return code;
}

static void print_cells(const struct probe *probe, const struct effort *effort)
{
	unsigned int cell;

	for (cell = 0; cell < session_nr_cells(); cell++) {
		if (session_cell_writes(cell) && !probe->arguments.write)
			continue;
		printf("  %s: %.1f to %.1f s, or %llu transfers\n", session_cell_name(cell),
		       effort->round_ns * ROUNDS_MIN / 1e9, effort->round_ns * ROUNDS_MAX / 1e9,
		       effort->min_ops * ROUNDS_MIN);
	}
}

static void cells_json(const struct probe *probe, const struct effort *effort)
{
	unsigned int cell;

	json_open("measurements", '[');
	for (cell = 0; cell < session_nr_cells(); cell++) {
		if (session_cell_writes(cell) && !probe->arguments.write)
			continue;
		json_open(NULL, '{');
		json_string("name", session_cell_name(cell));
		json_number("seconds_least", effort->round_ns * ROUNDS_MIN / 1000000000);
		json_number("seconds_most", effort->round_ns * ROUNDS_MAX / 1000000000);
		json_number("transfers", effort->min_ops * ROUNDS_MIN);
		json_close();
	}
	json_close();
}

void probe_print_plan_json(const struct probe *probe)
{
	const enum thoroughness thoroughness = thoroughness_of(&probe->arguments);
	struct measure measure;

	session_effort(&measure, thoroughness);
	json_open(NULL, '{');
	json_number("version", PLAN_SCHEMA);
	json_string("device", probe->dev.path);
	json_open("region", '{');
	json_number("offset", probe->planned.offset);
	json_number("bytes", probe->planned.bytes);
	json_close();
	json_bool("writes", probe->arguments.write);
	json_bool("preserve", probe->arguments.preserve);
	cells_json(probe, &measure.effort);
	if (probe->arguments.write) {
		json_number("seconds_at_most", session_seconds(thoroughness));
		json_number("bytes_written_at_most", probe->max_write);
	}
	json_close();
}

void probe_print_plan(const struct probe *probe)
{
	const enum thoroughness thoroughness = thoroughness_of(&probe->arguments);
	char size[SIZE_TEXT], offset[SIZE_TEXT];
	struct measure measure;

	session_effort(&measure, thoroughness);
	printf("%s: would measure within %s from byte %llu (%s) on\n", probe->dev.path,
	       size_print(probe->planned.bytes, size), probe->planned.offset,
	       size_print(probe->planned.offset, offset));
	if (probe->arguments.write)
		printf("  write the region once, in order: %s are %s\n", size,
		       probe->arguments.preserve ? "overwritten, and restored at the end" :
		       "destroyed");
	print_cells(probe, &measure.effort);
	if (!probe->arguments.write) {
		puts("  no writes: add --write to plan a whole measurement");
		return;
	}
	printf("  search for the parameters of the drive, and rehearsals of the log, of 4 KiB and more, and of reads beside writes\n");
	printf("  at most %u s in all, and at most %s written\n", session_seconds(thoroughness),
	       size_print(probe->max_write, size));
}
