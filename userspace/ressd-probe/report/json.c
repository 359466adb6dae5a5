// SPDX-License-Identifier: GPL-2.0-only
/* Results for programs.  Units: bytes, bytes per second, nanoseconds, sectors where named so. */
#include "cli/json-stream.h"
#include "report/sentences.h"

#define SCHEMA_VERSION	1

static void print_device(const struct probe *probe)
{
	unsigned int i;

	json_open("device", '{');
	json_string("path", probe->dev.path);
	json_number("bytes", probe->dev.bytes);
	json_bool("direct_io", probe->dev.direct);
	json_string("backing", backing_name(probe->hints.backing));
	json_open("hints", '{');
	for (i = 0; i < probe->hints.count; i++)
		json_string(probe->hints.hint[i].name, probe->hints.hint[i].value);
	json_close();
	json_close();
}

static void print_region(const struct probe *probe)
{
	json_open("region", '{');
	json_number("offset", probe->region.offset);
	json_number("bytes", probe->region.bytes);
	json_number("written", probe->written);
	json_bool("write_limit_reached", probe->session.limited);
	json_number("zero_reads", probe->zero_reads);
	json_close();
}

/* @size and @stride in bytes; 0: left out. */
static void print_result(const char *id, u32 size, u64 stride, const struct result *result)
{
	if (!result->done)
		return;
	json_open(NULL, '{');
	json_string("id", id);
	if (size)
		json_number("size", size);
	if (stride)
		json_number("stride", stride);
	json_number("bandwidth", result->bandwidth);
	json_number("median_ns", result->median_ns);
	json_number("worst_ns", result->worst_ns);
	json_number("spread_percent", result->spread_percent);
	json_bool("steady", result->steady);
	json_number("transfers", result->ops);
	json_number("ns", result->ns);
	json_number("total_bytes", result->total_bytes);
	json_number("total_ns", result->total_ns);
	json_close();
}

/* Sizes in bytes; "policy" as a word; "value" only if it is known, else how sure it is that not. */
static void print_parameters(const struct probe *probe)
{
	int p;

	json_open("parameters", '[');
	for (p = 0; p < NR_PARAMETERS; p++) {
		const struct finding *finding = &probe->session.survey.finding[p];
		const bool known = finding->status == STATUS_MEASURED ||
				   finding->status == STATUS_BOUNDED ||
				   finding->status == STATUS_HINT;

		json_open(NULL, '{');
		json_string("name", parameter_name(p));
		json_string("status", status_name(finding->status));
		if (finding->status != STATUS_UNKNOWN)
			json_string("confidence", confidence_name(finding->confidence));
		if (known)
			json_string("unit", parameter_unit(p));
		if (known && p == PARAMETER_POLICY)
			json_string("value", policy_name(finding->value));
		else if (known)
			json_number("value", finding->value);
		if (finding->status == STATUS_BOUNDED) {
			json_number("low", finding->low);
			if (finding->high != ~0ULL)
				json_number("high", finding->high);
		}
		if (known && finding->has_phase)
			json_number("phase", finding->phase);
		if (finding->method)
			json_string("method", finding->method);
		json_string("why", finding->why);
		json_real("effect", finding->effect);
		json_number("samples", finding->samples);
		json_number("ns", finding->ns);
		json_number("written", finding->written);
		json_close();
	}
	json_close();
}

static void print_measurements(const struct probe *probe)
{
	const struct measurements *m = &probe->session.measurements;
	int size, i;

	json_open("measurements", '[');
	print_result("sequential-write", 0, 0, &m->sequential_write);
	print_result("sequential-read", 0, 0, &m->sequential_read);
	for (size = 0; size < NR_SIZES; size++) {
		const u32 bytes = size == SIZE_4K ? 4096 : 8192;

		print_result("random-write", bytes, 0, &m->random_write[size]);
		print_result("ordered-write", bytes, 128 << 10, &m->ordered_write_128k[size]);
		print_result("ordered-write-mover", bytes, probe->session.mover_stride[size],
			     &m->ordered_write[size]);
		print_result("random-read", bytes, 0, &m->random_read[size]);
	}
	for (i = 0; i < NR_STRIDES; i++)
		print_result("ordered-write-sweep", 4096, MEASURED_STRIDE(i), &m->by_stride[i]);
	json_close();
}

/* Times are ns for each 4 KiB. */
static void print_rehearsals(const struct probe *probe)
{
	int i;

	json_open("rehearsals", '[');
	for (i = 0; i < NR_REHEARSALS; i++) {
		const struct rehearsal *rehearsal = &probe->session.measurements.rehearsal[i];
		const struct size_verdict *verdict = &probe->analysis.by_size[i];

		if (!rehearsal->done)
			continue;
		json_open(NULL, '{');
		json_number("size", rehearsal->size);
		json_number("direct_ns", rehearsal->direct_ns);
		json_number("log_ns", rehearsal->log_ns);
		json_number("move_ns", verdict->through_ns - rehearsal->log_ns);
		json_number("gain_percent", verdict->gain_percent);
		if (rehearsal->working_set) {
			json_number("working_set", rehearsal->working_set);
			json_number("overwritten_percent", rehearsal->overwritten_percent);
		}
		json_number("spread_percent", rehearsal->spread_percent);
		json_bool("steady", rehearsal->steady);
		json_number("pieces", rehearsal->pieces);
		json_number("ns", rehearsal->ns);
		json_number("written", rehearsal->written);
		json_string("verdict", verdict_name(verdict->verdict));
		if (verdict->verdict == VERDICT_LOCALITY)
			json_number("needed_overwrites_percent", verdict->alpha_percent);
		json_close();
	}
	json_close();
}

static void print_models(const struct analysis *analysis)
{
	int size;

	json_open("model", '[');
	for (size = 0; size < NR_SIZES; size++) {
		const struct cost *cost = &analysis->cost[size];

		if (!analysis->has_cost[size])
			continue;
		json_open(NULL, '{');
		json_number("size", size == SIZE_4K ? 4096 : 8192);
		json_number("direct_ns", cost->direct_ns);
		json_number("log_ns", cost->log_ns);
		json_number("move_ns", cost->move_ns);
		json_number("gain_percent", cost->gain_percent);
		json_bool("equation_5", cost->worth);
		json_close();
	}
	json_close();
}

static void print_verdict(const struct analysis *analysis)
{
	json_open("verdict", '{');
	json_string("verdict", verdict_name(analysis->verdict));
	json_string("reason", analysis->reason);
	if (analysis->verdict == VERDICT_LOCALITY)
		json_number("needed_overwrites_percent", analysis->alpha_percent);
	json_close();
}

static void print_warnings(const struct probe *probe)
{
	struct report_warnings warnings;
	unsigned int i;

	report_warnings(probe, &warnings);
	json_open("warnings", '[');
	for (i = 0; i < warnings.count; i++)
		json_string(NULL, warnings.text[i]);
	json_close();
}

/* Times as fast in percent, where that is known. */
static void print_loads(const struct load_gain *gains)
{
	int load;

	json_open("loads", '[');
	for (load = 0; load < NR_LOADS; load++) {
		json_open(NULL, '{');
		json_string("load", load_name(load));
		if (gains[load].high) {
			json_number("low_percent", gains[load].low);
			json_number("high_percent", gains[load].high);
		}
		json_close();
	}
	json_close();
}

static void print_suggestion(const struct probe *probe)
{
	char line[TABLE_LINE_TEXT], command[TABLE_LINE_TEXT + 64];
	unsigned int i;

	json_open("suggestion", '{');
	json_number("normal_sectors", probe->line.table.len);
	json_number("reserved_start_sector", probe->line.table.reserved_start);
	json_number("reserved_sectors", probe->line.table.reserved_sectors);
	json_string("reserved_reason", probe->reserved_why);
	json_open("options", '[');
	for (i = 0; i < probe->analysis.nr_advice; i++) {
		json_open(NULL, '{');
		json_string("option", probe->analysis.advice[i].key);
		json_string("value", probe->analysis.advice[i].value);
		json_string("reason", probe->analysis.advice[i].reason);
		json_bool("default", probe->analysis.advice[i].is_default);
		json_close();
	}
	json_close();
	table_line_print(&probe->line, line);
	snprintf(command, sizeof(command), "dmsetup create ressd --table \"%s\"", line);
	json_string("table", line);
	json_string("command", command);
	json_close();
}

static void print_values(const char *key, const double *values, unsigned int count)
{
	unsigned int i;

	json_open(key, '[');
	for (i = 0; i < count; i++)
		json_real(NULL, values[i]);
	json_close();
}

/* The points that the page of --report draws. */
static void print_charts(const struct charts *charts)
{
	const struct series_key *key;
	const struct series *series;
	unsigned int i;

	json_open("charts", '[');
	for (i = 0; (series = charts_series(charts, i, &key)); i++) {
		json_open(NULL, '{');
		json_string("name", key->name);
		json_string("x_unit", key->x);
		json_string("y_unit", key->y);
		print_values("x", series->x, series->count);
		print_values("y", series->y, series->count);
		json_close();
	}
	json_close();
}

void report_json(const struct probe *probe)
{
	json_open(NULL, '{');
	json_number("version", SCHEMA_VERSION);
	print_device(probe);
	print_region(probe);
	print_parameters(probe);
	print_measurements(probe);
	print_models(&probe->analysis);
	print_rehearsals(probe);
	print_verdict(&probe->analysis);
	print_warnings(probe);
	if (verdict_pays(probe->analysis.verdict)) {
		print_loads(probe->analysis.load);
		print_suggestion(probe);
	}
	if (probe->arguments.report)
		print_charts(&probe->charts);
	json_bool("interrupted", probe->interrupted);
	json_bool("preserved", probe->arguments.preserve);
	json_bool("formatted", probe->formatted);
	if (probe->created)
		json_string("created", probe->arguments.create);
	json_close();
}
