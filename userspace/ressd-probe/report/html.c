// SPDX-License-Identifier: GPL-2.0-only
/* --report: a page for people, with the charts of the papers; each of them as SVG and PNG, too. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "cli/new-file.h"
#include "cli/size.h"
#include "report/sentences.h"
#include "report/svg.h"

extern char **environ;

/* What is written where. */
struct report {
	const struct probe *probe;
	const char *folder;
	FILE *page;		/* index.html */
	bool no_converter;	/* nobody is there who could make PNGs */
};

static FILE *create_file(const struct report *report, const char *name, struct failure *failure)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", report->folder, name);
	return new_file_open(path, "--report", failure);
}

/* PNG is made by librsvg's converter, where it is installed. */
static void make_png(struct report *report, const char *name)
{
	char svg[PATH_MAX], png[PATH_MAX];
	char *const words[] = { "rsvg-convert", "-o", png, svg, NULL };
	int status = -1;
	pid_t pid;

	if (report->no_converter)
		return;
	snprintf(svg, sizeof(svg), "%s/%s.svg", report->folder, name);
	snprintf(png, sizeof(png), "%s/%s.png", report->folder, name);
	if (posix_spawnp(&pid, words[0], NULL, NULL, words, environ) ||
	    waitpid(pid, &status, 0) != pid || status) {
		report->no_converter = true;
		fputs("ressd-probe: the charts were not written as PNG; install rsvg-convert (Debian: librsvg2-bin).\n",
		      stderr);
	}
}

/* What to look for in a chart, for those who do not know the papers. */
static const char *caption(const char *name)
{
	static const struct {
		const char *name;
		const char *text;
	} all[] = {
		{
			"bandwidth",
			"The larger the gap between writes in order and random writes, the more a log can gain. Each step of the scale is ten times as fast."
		},
		{
			"page",
			"The drive writes whole pages: where a write is a multiple of one, the time drops."
		},
		{
			"block",
			"Where random writes become as fast as those in order, they are as large as the blocks that the drive erases."
		},
		{
			"modes",
			"Two bands of points are the fast and the slow pages of MLC flash; one band is SLC, or a drive that hides it."
		},
		{
			"read-buffer",
			"As long as the second read is faster than the first one, the drive still remembers it: up to the size of its read buffer."
		},
		{
			"write-buffer",
			"As long as writes into an empty buffer are faster, the drive takes them into RAM: up to the size of its write buffer."
		},
	};
	size_t i = 0;

	while (strcmp(all[i].name, name))
		i++;
	return all[i].text;
}

/* One chart: @text is its SVG. */
static int add_image(struct report *report, const char *name, const char *text,
		     struct failure *failure)
{
	char file_name[64];
	FILE *file;

	snprintf(file_name, sizeof(file_name), "%s.svg", name);
	file = create_file(report, file_name, failure);
	if (!file)
		return -EIO;
	fputs(text, file);
	fclose(file);
	fprintf(report->page, "<figure id=\"%s\">%s<figcaption>%s</figcaption></figure>\n", name,
		text, caption(name));
	make_png(report, name);
	return 0;
}

static int add_chart(struct report *report, const char *name, const struct svg_chart *chart,
		     struct failure *failure)
{
	char *text = NULL;
	size_t size;
	FILE *memory;
	int code;

	if (!chart->series[0]->count)
		return 0;
	memory = open_memstream(&text, &size);
	if (!memory)
		return fail(failure, -ENOMEM, "not enough memory for a chart");
	svg_chart(memory, chart);
	fclose(memory);
	code = add_image(report, name, text, failure);
	free(text);
	return code;
}

/* Where a search has found its value, KiB; 0: it has not. */
static double found_at(const struct probe *probe, enum parameter parameter)
{
	const struct finding *finding = &probe->session.survey.finding[parameter];

	return finding->status == STATUS_MEASURED ? finding->value / 1024.0 : 0;
}

static int add_charts(struct report *report, struct failure *failure)
{
	const struct probe *probe = report->probe;
	const struct charts *c = &probe->charts;
	const struct {
		const char *name;
		struct svg_chart chart;
	} all[] = {
		{ "page", { "Flushed writes by size (ME Fig. 5)", "KiB", "ms", false, false, false,
			    found_at(probe, PARAMETER_PAGE), "clustered page", { &c->page }, 1 } },
		{ "block", { "Writes by size, in order and at random (ME Fig. 6)", "KiB", "MB/s",
			     true, true, false, found_at(probe, PARAMETER_BLOCK),
			     "clustered block", { &c->sequential, &c->random }, 2 } },
		{ "modes", { "Writes of a page, one after the other (ME Fig. 7)", "number", "ms",
			     false, true, true, 0, NULL, { &c->modes }, 1 } },
		{ "read-buffer", { "Reads by size, once and again (ME Fig. 8)", "KiB", "ms", true,
				   true, false, found_at(probe, PARAMETER_READ_BUFFER),
				   "read buffer", { &c->read_first, &c->read_again }, 2 } },
		{ "write-buffer", { "Writes by size, unflushed (ME Fig. 9)", "KiB", "ms", true,
				    true, false, found_at(probe, PARAMETER_WRITE_BUFFER),
				    "write buffer", { &c->write_full, &c->write_empty }, 2 } },
	};
	size_t i;
	int code = 0;

	for (i = 0; !code && i < sizeof(all) / sizeof(all[0]); i++)
		code = add_chart(report, all[i].name, &all[i].chart, failure);
	return code;
}

static int add_bandwidths(struct report *report, struct failure *failure)
{
	const struct measurements *m = &report->probe->session.measurements;
	const struct {
		const char *name;
		const struct result *result;
	} all[] = {
		{ "sequential write", &m->sequential_write },
		{ "ordered 128K, 4K", &m->ordered_write_128k[SIZE_4K] },
		{ "ordered mover, 4K", &m->ordered_write[SIZE_4K] },
		{ "random write 4K", &m->random_write[SIZE_4K] },
		{ "random write 8K", &m->random_write[SIZE_8K] },
		{ "random read 4K", &m->random_read[SIZE_4K] },
		{ "sequential read", &m->sequential_read },
	};
	struct svg_bars bars = { .title = "Speeds, one request at a time (RE Fig. 2)",
				 .y_title = "MB/s" };
	char *text = NULL;
	size_t size, i;
	FILE *memory;
	int code;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].result->done)
			continue;
		bars.bar[bars.count].name = all[i].name;
		bars.bar[bars.count++].value = all[i].result->bandwidth / 1e6;
	}
	if (!bars.count)
		return 0;
	memory = open_memstream(&text, &size);
	if (!memory)
		return fail(failure, -ENOMEM, "not enough memory for a chart");
	svg_bars(memory, &bars);
	fclose(memory);
	code = add_image(report, "bandwidth", text, failure);
	free(text);
	return code;
}

static void cell(FILE *file, const char *text)
{
	fputs("<td>", file);
	svg_text(file, text);
	fputs("</td>", file);
}

static void add_findings(struct report *report)
{
	FILE *file = report->page;
	char value[REPORT_VALUE_TEXT];
	int p;

	fputs("<h2>Parameters</h2>\n<table><tr><th>parameter</th><th>value</th><th>status</th><th>confidence</th><th>what was seen</th></tr>\n",
	      file);
	for (p = 0; p < NR_PARAMETERS; p++) {
		const struct finding *finding = &report->probe->session.survey.finding[p];
		const bool known = finding->status == STATUS_MEASURED ||
				   finding->status == STATUS_BOUNDED;

		if (finding->status == STATUS_UNKNOWN)
			continue;
		report_value(report->probe, p, value);
		fputs("<tr>", file);
		cell(file, parameter_title(p));
		cell(file, value);
		cell(file, status_name(finding->status));
		cell(file, known ? confidence_name(finding->confidence) : "");
		cell(file, finding->why);
		fputs("</tr>\n", file);
	}
	fputs("</table>\n", file);
}

static void add_rehearsals(struct report *report)
{
	const struct probe *probe = report->probe;
	FILE *file = report->page;
	int i;

	if (!probe->session.measurements.rehearsal[0].done)
		return;
	fputs("<h2>Rehearsal</h2>\n<p>Milliseconds for each 4 KiB: written directly, appended to the log, and written back.</p>\n<table><tr><th>size</th><th>direct</th><th>log</th><th>move</th><th>times as fast</th><th>verdict</th></tr>\n",
	      file);
	for (i = 0; i < NR_REHEARSALS; i++) {
		const struct rehearsal *r = &probe->session.measurements.rehearsal[i];
		const struct size_verdict *verdict = &probe->analysis.by_size[i];

		if (r->done)
			fprintf(file,
				"<tr><td>%u KiB</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%u.%02u%s</td><td>%s</td></tr>\n",
				r->size >> 10, r->direct_ns / 1e6, r->log_ns / 1e6,
				(verdict->through_ns - r->log_ns) / 1e6,
				verdict->gain_percent / 100, verdict->gain_percent % 100,
				r->steady ? "" : " ~", report_verdict(verdict->verdict));
	}
	fputs("</table>\n", file);
}

static void add_loads(struct report *report)
{
	const struct probe *probe = report->probe;
	char text[REPORT_GAIN_TEXT];
	int load;

	fputs("<h2>Loads</h2>\n<table><tr><th>load</th><th>expected with the suggested device</th></tr>\n",
	      report->page);
	for (load = 0; load < NR_LOADS; load++)
		fprintf(report->page, "<tr><td>%s</td><td>%s</td></tr>\n", load_title(load),
			report_gain(&probe->analysis.load[load], text));
	fputs("</table>\n", report->page);
}

static void add_warnings(struct report *report)
{
	struct report_warnings warnings;
	FILE *file = report->page;
	unsigned int i;

	report_warnings(report->probe, &warnings);
	for (i = 0; i < warnings.count; i++) {
		fputs("<p class=\"warning\">Warning: ", file);
		svg_text(file, warnings.text[i]);
		fputs(".</p>\n", file);
	}
	if (report->probe->arguments.preserve)
		fputs("<p>The contents of the region were restored and compared.</p>\n", file);
}

static int add_commands(struct report *report, struct failure *failure)
{
	char *text = NULL;
	FILE *memory;
	size_t size;

	memory = open_memstream(&text, &size);
	if (!memory)
		return fail(failure, -ENOMEM, "not enough memory for the commands");
	report_commands(memory, report->probe);
	fclose(memory);
	fputs("<pre>", report->page);
	svg_text(report->page, text);
	fputs("</pre>\n", report->page);
	free(text);
	return 0;
}

static void add_options(struct report *report)
{
	const struct probe *probe = report->probe;
	FILE *file = report->page;
	unsigned int i;

	fprintf(file, "<h2>Options of the device</h2>\n<p>Reserved area of %llu sectors: ",
		probe->line.table.reserved_sectors);
	svg_text(file, probe->reserved_why);
	fputs(".</p>\n<table><tr><th>option</th><th>value</th><th>why</th></tr>\n", file);
	for (i = 0; i < probe->analysis.nr_advice; i++) {
		fputs("<tr>", file);
		cell(file, probe->analysis.advice[i].key);
		cell(file, probe->analysis.advice[i].value);
		cell(file, probe->analysis.advice[i].reason);
		fputs("</tr>\n", file);
	}
	fputs("</table>\n", file);
}

static void add_head(struct report *report)
{
	const struct probe *probe = report->probe;
	const char *model = hints_get(&probe->hints, "device/model");
	const char *name = hints_get(&probe->hints, "device/name");
	char size[SIZE_TEXT];
	FILE *file = report->page;

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>ressd-probe</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n<style>body{font-family:sans-serif;max-width:60em;margin:1em auto;padding:0 1em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.25em .5em;text-align:left;vertical-align:top}figure{margin:1.5em 0}svg{max-width:100%;height:auto}pre{background:#f2f2f2;padding:.7em;white-space:pre-wrap;overflow-wrap:anywhere}.verdict{font-size:1.2em;border-left:.3em solid #1f5fa8;padding:.3em .7em}.warning{border-left:.3em solid #c4501b;padding:.3em .7em}</style></head>\n<body><h1>",
	      file);
	svg_text(file, probe->dev.path);
	fputs("</h1>\n<p>", file);
	svg_text(file, model ? model : name ? name : "no model name");
	fprintf(file, ", %s; ", size_print(probe->dev.bytes, size));
	fprintf(file, "measured within %s from byte %llu on", size_print(probe->region.bytes, size),
		probe->region.offset);
	fprintf(file, ", %s written.</p>\n", size_print(probe->written, size));
	fprintf(file, "<p class=\"verdict\"><b>%s</b>: ", report_verdict(probe->analysis.verdict));
	svg_text(file, probe->analysis.reason);
	fputs(".</p>\n", file);
}

/* What the verdict follows from. */
static int add_details(struct report *report, struct failure *failure)
{
	int code;

	code = add_bandwidths(report, failure);
	if (code)
		return code;
	add_rehearsals(report);
	add_findings(report);
	fputs("<h2>Charts</h2>\n<p>ME and RE name the figures of the papers that show the same of other drives.</p>\n",
	      report->page);
	return add_charts(report, failure);
}

/* In the order of report_human(). */
static int write_page(struct report *report, struct failure *failure)
{
	const bool commands = verdict_pays(report->probe->analysis.verdict);
	int code = 0;

	add_head(report);
	if (commands)
		add_loads(report);
	add_warnings(report);
	if (commands)
		code = add_commands(report, failure);
	if (!code)
		code = add_details(report, failure);
	if (commands)
		add_options(report);
	fputs("</body></html>\n", report->page);
	return code;
}

int report_html(const struct probe *probe, const char *folder, struct failure *failure)
{
	struct report report = { .probe = probe, .folder = folder };
	int code;

	code = new_folder_check(folder, "--report", failure);
	if (code)
		return code;
	if (mkdir(folder, 0777) && errno != EEXIST)
		return fail(failure, -errno, "cannot create %s: %s", folder, strerror(errno));
	report.page = create_file(&report, "index.html", failure);
	if (!report.page)
		return -EIO;
	code = write_page(&report, failure);
	if ((ferror(report.page) | fclose(report.page)) && !code)
		code = fail(failure, -EIO, "cannot write %s/index.html", folder);
	return code;
}
