// SPDX-License-Identifier: GPL-2.0-only
/* Results for programs.  Units: bytes, bytes per second, nanoseconds, sectors where named so. */
#include <json.h>
#include <stdio.h>
#include "probe.h"

#define SCHEMA_VERSION	1

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

static void add_number(struct json_object *object, const char *key, u64 number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static void add_bool(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

static struct json_object *device_object(const struct probe *probe)
{
	struct json_object *object = json_object_new_object();
	struct json_object *hints = json_object_new_object();
	unsigned int i;

	add_text(object, "path", probe->dev.path);
	add_number(object, "bytes", probe->dev.bytes);
	add_bool(object, "direct_io", probe->dev.direct);
	add_text(object, "backing", backing_name(probe->hints.backing));
	for (i = 0; i < probe->hints.count; i++)
		add_text(hints, probe->hints.hint[i].name, probe->hints.hint[i].value);
	json_object_object_add(object, "hints", hints);
	return object;
}

static struct json_object *region_object(const struct probe *probe)
{
	struct json_object *object = json_object_new_object();

	add_number(object, "offset", probe->region.offset);
	add_number(object, "bytes", probe->region.bytes);
	add_number(object, "written", probe->written);
	add_bool(object, "write_limit_reached", probe->session.limited);
	add_number(object, "zero_reads", probe->zero_reads);
	return object;
}

/* @size and @stride in bytes; 0: left out. */
static void add_result(struct json_object *array, const char *id, u32 size, u64 stride,
		       const struct result *result)
{
	struct json_object *object;

	if (!result->done)
		return;
	object = json_object_new_object();
	add_text(object, "id", id);
	if (size)
		add_number(object, "size", size);
	if (stride)
		add_number(object, "stride", stride);
	add_number(object, "bandwidth", result->bandwidth);
	add_number(object, "median_ns", result->median_ns);
	add_number(object, "worst_ns", result->worst_ns);
	add_number(object, "spread_percent", result->spread_percent);
	add_bool(object, "steady", result->steady);
	add_number(object, "transfers", result->ops);
	add_number(object, "ns", result->ns);
	add_number(object, "total_bytes", result->total_bytes);
	add_number(object, "total_ns", result->total_ns);
	json_object_array_add(array, object);
}

/* Sizes in bytes; "policy" as a word; "value" only if it is known, else how sure it is that not. */
static struct json_object *parameters_array(const struct probe *probe)
{
	struct json_object *array = json_object_new_array();
	int p;

	for (p = 0; p < NR_PARAMETERS; p++) {
		const struct finding *finding = &probe->session.survey.finding[p];
		struct json_object *object = json_object_new_object();
		const bool known = finding->status == STATUS_MEASURED ||
				   finding->status == STATUS_BOUNDED ||
				   finding->status == STATUS_HINT;

		add_text(object, "name", parameter_name(p));
		add_text(object, "status", status_name(finding->status));
		if (finding->status != STATUS_UNKNOWN)
			add_text(object, "confidence", confidence_name(finding->confidence));
		if (known)
			add_text(object, "unit", parameter_unit(p));
		if (known && p == PARAMETER_POLICY)
			add_text(object, "value", policy_name(finding->value));
		else if (known)
			add_number(object, "value", finding->value);
		if (finding->status == STATUS_BOUNDED) {
			add_number(object, "low", finding->low);
			if (finding->high != ~0ULL)
				add_number(object, "high", finding->high);
		}
		if (known && finding->has_phase)
			add_number(object, "phase", finding->phase);
		if (finding->method)
			add_text(object, "method", finding->method);
		add_text(object, "why", finding->why);
		json_object_object_add(object, "effect", json_object_new_double(finding->effect));
		add_number(object, "samples", finding->samples);
		add_number(object, "ns", finding->ns);
		add_number(object, "written", finding->written);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *measurements_array(const struct probe *probe)
{
	struct json_object *array = json_object_new_array();
	const struct measurements *m = &probe->session.measurements;
	int size, i;

	add_result(array, "sequential-write", 0, 0, &m->sequential_write);
	add_result(array, "sequential-read", 0, 0, &m->sequential_read);
	for (size = 0; size < NR_SIZES; size++) {
		const u32 bytes = size == SIZE_4K ? 4096 : 8192;

		add_result(array, "random-write", bytes, 0, &m->random_write[size]);
		add_result(array, "ordered-write", bytes, 128 << 10, &m->ordered_write_128k[size]);
		add_result(array, "ordered-write-mover", bytes, probe->session.mover_stride[size],
			   &m->ordered_write[size]);
		add_result(array, "random-read", bytes, 0, &m->random_read[size]);
	}
	for (i = 0; i < NR_STRIDES; i++)
		add_result(array, "ordered-write-sweep", 4096, MEASURED_STRIDE(i),
			   &m->by_stride[i]);
	return array;
}

/* Times are ns for each 4 KiB. */
static struct json_object *rehearsals_array(const struct probe *probe)
{
	struct json_object *array = json_object_new_array();
	int i;

	for (i = 0; i < NR_REHEARSALS; i++) {
		const struct rehearsal *rehearsal = &probe->session.measurements.rehearsal[i];
		const struct size_verdict *verdict = &probe->analysis.by_size[i];
		struct json_object *object;

		if (!rehearsal->done)
			continue;
		object = json_object_new_object();
		add_number(object, "size", rehearsal->size);
		add_number(object, "direct_ns", rehearsal->direct_ns);
		add_number(object, "log_ns", rehearsal->log_ns);
		add_number(object, "move_ns", rehearsal->move_ns);
		add_number(object, "gain_percent", rehearsal->gain_percent);
		if (rehearsal->working_set) {
			add_number(object, "working_set", rehearsal->working_set);
			add_number(object, "overwritten_percent", rehearsal->overwritten_percent);
		}
		add_number(object, "spread_percent", rehearsal->spread_percent);
		add_bool(object, "steady", rehearsal->steady);
		add_number(object, "pieces", rehearsal->pieces);
		add_number(object, "ns", rehearsal->ns);
		add_number(object, "written", rehearsal->written);
		add_text(object, "verdict", verdict_name(verdict->verdict));
		if (verdict->verdict == VERDICT_LOCALITY)
			add_number(object, "needed_overwrites_percent", verdict->alpha_percent);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *models_array(const struct analysis *analysis)
{
	struct json_object *array = json_object_new_array();
	int size;

	for (size = 0; size < NR_SIZES; size++) {
		const struct ressd_cost *cost = &analysis->cost[size];
		struct json_object *object;

		if (!analysis->has_cost[size])
			continue;
		object = json_object_new_object();
		add_number(object, "size", size == SIZE_4K ? 4096 : 8192);
		add_number(object, "direct_ns", cost->direct_ns);
		add_number(object, "log_ns", cost->log_ns);
		add_number(object, "move_ns", cost->move_ns);
		add_number(object, "gain_percent", cost->gain_percent);
		add_bool(object, "equation_5", cost->worth);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *verdict_object(const struct analysis *analysis)
{
	struct json_object *object = json_object_new_object();

	add_text(object, "verdict", verdict_name(analysis->verdict));
	add_text(object, "reason", analysis->reason);
	if (analysis->verdict == VERDICT_LOCALITY)
		add_number(object, "needed_overwrites_percent", analysis->alpha_percent);
	return object;
}

static struct json_object *suggestion_object(const struct probe *probe)
{
	struct json_object *object = json_object_new_object();
	struct json_object *advice = json_object_new_array();
	char line[TABLE_LINE_TEXT], command[TABLE_LINE_TEXT + 64];
	unsigned int i;

	add_number(object, "normal_sectors", probe->line.table.len);
	add_number(object, "reserved_start_sector", probe->line.table.reserved_start);
	add_number(object, "reserved_sectors", probe->line.table.reserved_sectors);
	add_text(object, "reserved_reason", probe->reserved_why);
	for (i = 0; i < probe->analysis.nr_advice; i++) {
		struct json_object *entry = json_object_new_object();

		add_text(entry, "option", probe->analysis.advice[i].key);
		add_text(entry, "value", probe->analysis.advice[i].value);
		add_text(entry, "reason", probe->analysis.advice[i].reason);
		add_bool(entry, "default", probe->analysis.advice[i].is_default);
		json_object_array_add(advice, entry);
	}
	json_object_object_add(object, "options", advice);
	table_line_print(&probe->line, line);
	snprintf(command, sizeof(command), "dmsetup create ressd --table \"%s\"", line);
	add_text(object, "table", line);
	add_text(object, "command", command);
	return object;
}

void report_json(const struct probe *probe)
{
	struct json_object *object = json_object_new_object();

	add_number(object, "version", SCHEMA_VERSION);
	json_object_object_add(object, "device", device_object(probe));
	json_object_object_add(object, "region", region_object(probe));
	json_object_object_add(object, "parameters", parameters_array(probe));
	json_object_object_add(object, "measurements", measurements_array(probe));
	json_object_object_add(object, "model", models_array(&probe->analysis));
	json_object_object_add(object, "rehearsals", rehearsals_array(probe));
	json_object_object_add(object, "verdict", verdict_object(&probe->analysis));
	if (report_has_commands(probe))
		json_object_object_add(object, "suggestion", suggestion_object(probe));
	add_bool(object, "interrupted", probe->interrupted);
	add_bool(object, "preserved", probe->arguments.preserve);
	add_bool(object, "formatted", probe->formatted);
	if (probe->created)
		add_text(object, "created", probe->arguments.create);
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}
