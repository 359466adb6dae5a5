// SPDX-License-Identifier: GPL-2.0-only
/* What all reports say in the same words. */
#include <stdarg.h>
#include <string.h>
#include "cli/size.h"
#include "cli/words.h"
#include "report/sentences.h"

char *report_value(const struct probe *probe, enum parameter parameter, char *text)
{
	const size_t size = REPORT_VALUE_TEXT;
	const struct finding *finding = &probe->session.survey.finding[parameter];
	char low[SIZE_TEXT], high[SIZE_TEXT];
	const bool bytes = !strcmp(parameter_unit(parameter), "B");

	if (finding->status == STATUS_BOUNDED && bytes && finding->high == ~0ULL)
		snprintf(text, size, "at least %s", size_print(finding->low, low));
	else if (finding->status == STATUS_BOUNDED && bytes)
		snprintf(text, size, "%s to %s", size_print(finding->low, low),
			 size_print(finding->high, high));
	else if (finding->status == STATUS_BOUNDED && finding->high == ~0ULL)
		snprintf(text, size, "at least %llu", finding->low);
	else if (finding->status == STATUS_BOUNDED)
		snprintf(text, size, "%llu to %llu", finding->low, finding->high);
	else if (finding->status != STATUS_MEASURED && finding->status != STATUS_HINT)
		snprintf(text, size, "-");
	else if (parameter == PARAMETER_POLICY)
		snprintf(text, size, "%s", policy_name(finding->value));
	else if (parameter == PARAMETER_FLUSH)
		snprintf(text, size, "%s", finding->value ? "yes" : "no");
	else if (!strcmp(parameter_unit(parameter), "ns"))
		snprintf(text, size, "%.3f ms", finding->value / 1e6);
	else if (bytes)
		snprintf(text, size, "%s", finding->value ? size_print(finding->value, low) : "none");
	else
		snprintf(text, size, "%llu", finding->value);
	return text;
}

const char *report_verdict(enum verdict verdict)
{
	static const char *const words[] = {
		[VERDICT_WORTH] = "worth it",
		[VERDICT_LOCALITY] = "worth it for loads with locality",
		[VERDICT_NOT_WORTH] = "not worth it",
		[VERDICT_UNKNOWN] = "no verdict",
	};

	return words[verdict];
}

static void __attribute__((format(printf, 2, 3)))
warn(struct report_warnings *warnings, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(warnings->text[warnings->count++], sizeof(warnings->text[0]), format, values);
	va_end(values);
}

void report_warnings(const struct probe *probe, struct report_warnings *warnings)
{
	const struct finding *flush = &probe->session.survey.finding[PARAMETER_FLUSH];

	warnings->count = 0;
	if (!probe->dev.direct)
		warn(warnings, "this file system has no O_DIRECT: its cache was measured");
	if (probe->interrupted)
		warn(warnings, "it was interrupted; what is missing was not measured");
	if (probe->session.limited)
		warn(warnings,
		     "the limit of --max-write was reached; what is missing was not measured");
	if (probe->zero_reads)
		warn(warnings,
		     "%llu read%s found only zeroes; blocks never written are often read too fast",
		     probe->zero_reads, plural(probe->zero_reads));
	if (probe->hints.backing == BACKING_FILE)
		warn(warnings,
		     "this is a file: what was measured is the drive below together with its file system");
	if (flush->status == STATUS_MEASURED && !flush->value)
		warn(warnings,
		     "the drive ignores flushes: what is safe, it alone decides, whatever ressd does");
	if (probe->hints.rotational)
		warn(warnings,
		     "the kernel takes this for a rotating disk; ressd is made for flash");
}

/* Small numbers to a tenth. */
static u32 rounded(u32 percent, bool up)
{
	const u32 step = percent < 1000 ? 10 : 100;

	return (percent + (up ? step - 1 : 0)) / step * step;
}

char *report_gain(const struct load_gain *gain, char *text)
{
	const u32 low = rounded(gain->low, false), high = rounded(gain->high, true);

	if (!gain->high)
		snprintf(text, REPORT_GAIN_TEXT, "not known");
	else
		snprintf(text, REPORT_GAIN_TEXT, "%.*f to %.*f times as fast", low < 1000,
			 low / 100.0, high < 1000, high / 100.0);
	return text;
}

void report_commands(FILE *file, const struct probe *probe)
{
	char line[TABLE_LINE_TEXT];

	table_line_print(&probe->line, line);
	if (probe->created) {
		fprintf(file, "/dev/mapper/%s is ready:\n  %s\n", probe->arguments.create, line);
		return;
	}
	if (probe->formatted)
		fputs("the reserved area is formatted; to create the device:\n", file);
	else
		fprintf(file,
			"to format the reserved area, unless all zero, and create the device:\n"
			"  ressdctl format --table \"%s\"\n", line);
	fprintf(file, "  ressdctl open ressd %s\n", probe->line.normal_path);
}
