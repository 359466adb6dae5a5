// SPDX-License-Identifier: GPL-2.0-only
/* Results for people. */
#include <stdio.h>
#include <string.h>
#include "cli/size.h"
#include "cli/words.h"
#include "report/sentences.h"

static void print_device(const struct probe *probe)
{
	const char *vendor = hints_get(&probe->hints, "device/vendor");
	const char *model = hints_get(&probe->hints, "device/model");
	const char *name = hints_get(&probe->hints, "device/name");
	char size[SIZE_TEXT], offset[SIZE_TEXT];

	printf("device          %s  %s%s%s%s%s\n", probe->dev.path, vendor ? vendor : "",
	       vendor ? " " : "", model ? model : name ? name : "", model || name ? "  " : "",
	       size_print(probe->dev.bytes, size));
	printf("region          %s from %s on", size_print(probe->region.bytes, size),
	       size_print(probe->region.offset, offset));
	if (probe->arguments.write)
		printf(", %s written", size_print(probe->written, size));
	putchar('\n');
}

static void print_hints(const struct probe *probe)
{
	unsigned int i;

	for (i = 0; i < probe->hints.count; i++)
		printf("hint            %s = %s\n", probe->hints.hint[i].name,
		       probe->hints.hint[i].value);
}

static void print_result(const struct result *result)
{
	if (result->done)
		printf("  %9.3f MB/s %9.3f ms%c", result->bandwidth / 1e6, result->median_ns / 1e6,
		       result->steady ? ' ' : '~');
	else
		printf("  %27s ", "-");
}

static void print_row(const char *name, const struct result *results)
{
	printf("%-28s", name);
	print_result(&results[SIZE_4K]);
	print_result(&results[SIZE_8K]);
	putchar('\n');
}

static void print_single(const char *name, const struct result *result)
{
	if (!result->done)
		return;
	printf("%-28s", name);
	print_result(result);
	putchar('\n');
}

static bool any_unsteady(const struct measurements *m)
{
	int size;

	for (size = 0; size < NR_SIZES; size++) {
		const struct result *const results[] = {
			&m->random_write[size], &m->random_read[size], &m->ordered_write[size],
			&m->ordered_write_128k[size], &m->sequential_write, &m->sequential_read,
		};
		size_t i;

		for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
			if (results[i]->done && !results[i]->steady)
				return true;
	}
	return false;
}

static void print_measurements(const struct probe *probe)
{
	const struct measurements *m = &probe->session.measurements;
	char name[64], size[SIZE_TEXT];
	int i;

	printf("\n%-28s  %27s   %27s\n", "one at a time, uncached", "4 KiB, median latency",
	       "8 KiB, median latency");
	if (probe->arguments.write) {
		print_row("random write", m->random_write);
		print_row("ordered write, every 128 KiB", m->ordered_write_128k);
		snprintf(name, sizeof(name), "ordered write, every %llu KiB",
			 probe->session.mover_stride[SIZE_4K] >> 10);
		print_row(name, m->ordered_write);
	}
	print_row("random read", m->random_read);
	for (i = 0; i < NR_STRIDES; i++) {
		snprintf(name, sizeof(name), "ordered write, every %s",
			 size_print(MEASURED_STRIDE(i), size));
		print_single(name, &m->by_stride[i]);
	}
	puts("");
	print_single("sequential write", &m->sequential_write);
	print_single("sequential read", &m->sequential_read);
	if (any_unsteady(m))
		printf("~ unsteady: the last %d rounds differ by more than %d %%\n", ROUNDS_KEPT,
		       ROUNDS_SPREAD);
}

static void print_findings(const struct probe *probe)
{
	char value[REPORT_VALUE_TEXT];
	int p;

	puts("");
	for (p = 0; p < NR_PARAMETERS; p++) {
		const struct finding *finding = &probe->session.survey.finding[p];

		if (finding->status == STATUS_UNKNOWN)
			continue;
		report_value(probe, p, value);
		printf("%-20s %-20s %-14s %-6s  %s\n", parameter_title(p), value,
		       status_name(finding->status),
		       finding->status == STATUS_MEASURED || finding->status == STATUS_BOUNDED ?
		       confidence_name(finding->confidence) : "", finding->why);
		if (finding->has_phase && finding->phase)
			printf("%-20s begins at byte %llu of the device: its borders are not those of the device\n",
			       "", finding->phase);
	}
}

static void print_cost(const struct analysis *analysis, int size)
{
	const struct cost *cost = &analysis->cost[size];

	if (!analysis->has_cost[size])
		return;
	printf("model, %d KiB    for each 4 KiB: direct %.3f ms, log %.3f ms + move %.3f ms",
	       size == SIZE_4K ? 4 : 8, cost->direct_ns / 1e6, cost->log_ns / 1e6,
	       cost->move_ns / 1e6);
	printf(", %u.%02u times as fast\n", cost->gain_percent / 100, cost->gain_percent % 100);
}

static void print_rehearsal(const struct rehearsal *rehearsal, const struct size_verdict *verdict)
{
	if (!rehearsal->done)
		return;
	printf("rehearsal %4u KiB for each 4 KiB: direct %.3f ms, log %.3f ms + move %.3f ms, %u.%02u times as fast%s: %s",
	       rehearsal->size >> 10, rehearsal->direct_ns / 1e6, rehearsal->log_ns / 1e6,
	       (verdict->through_ns - rehearsal->log_ns) / 1e6, verdict->gain_percent / 100,
	       verdict->gain_percent % 100, rehearsal->steady ? "" : " ~",
	       report_verdict(verdict->verdict));
	if (verdict->verdict == VERDICT_LOCALITY)
		printf(" (%u %% overwritten)", verdict->alpha_percent);
	putchar('\n');
}

/* What the suggested device is good for. */
static void print_loads(const struct probe *probe)
{
	char text[REPORT_GAIN_TEXT];
	int load;

	for (load = 0; verdict_pays(probe->analysis.verdict) && load < NR_LOADS; load++)
		printf("expected        %s: %s\n", load_title(load),
		       report_gain(&probe->analysis.load[load], text));
}

/* What the verdict follows from. */
static void print_terms(const struct probe *probe)
{
	const struct analysis *analysis = &probe->analysis;
	unsigned int i;

	puts("");
	print_cost(analysis, SIZE_4K);
	print_cost(analysis, SIZE_8K);
	for (i = 0; i < NR_REHEARSALS; i++)
		print_rehearsal(&probe->session.measurements.rehearsal[i], &analysis->by_size[i]);
}

static void print_notes(const struct probe *probe)
{
	struct report_warnings warnings;
	unsigned int i;

	report_warnings(probe, &warnings);
	for (i = 0; i < warnings.count; i++)
		printf("warning         %s\n", warnings.text[i]);
	if (probe->arguments.preserve)
		puts("region          its contents were restored and compared");
}

static void print_advice(const struct probe *probe)
{
	const struct analysis *analysis = &probe->analysis;
	unsigned int i;

	if (!verdict_pays(probe->analysis.verdict))
		return;
	printf("\nadvice          reserved area of %llu sectors: %s\n",
	       probe->line.table.reserved_sectors, probe->reserved_why);
	for (i = 0; i < analysis->nr_advice; i++)
		printf("%s %s %s: %s\n", analysis->advice[i].is_default ? "default        " :
		       "advice         ", analysis->advice[i].key, analysis->advice[i].value,
		       analysis->advice[i].reason);
}

void report_human(const struct probe *probe)
{
	printf("verdict         %s: %s\n", report_verdict(probe->analysis.verdict),
	       probe->analysis.reason);
	print_loads(probe);
	print_notes(probe);
	if (verdict_pays(probe->analysis.verdict)) {
		putchar('\n');
		report_commands(stdout, probe);
	}
	puts("");
	print_device(probe);
	if (!probe->arguments.write)
		print_hints(probe);
	print_findings(probe);
	print_measurements(probe);
	print_terms(probe);
	print_advice(probe);
}

void report_dmsetup(const struct probe *probe)
{
	char line[TABLE_LINE_TEXT];

	printf("dmsetup create ressd --table \"%s\"\n", table_line_print(&probe->line, line));
}

void report_table(const struct probe *probe)
{
	char line[TABLE_LINE_TEXT];

	puts(table_line_print(&probe->line, line));
}
