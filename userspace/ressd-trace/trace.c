// SPDX-License-Identifier: GPL-2.0-only
/* Reading a trace; see trace.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/new-file.h"
#include "parse.h"

#define NS_PER_SECOND	1000000000ULL

static const char *const format_names[] = {
	[FORMAT_UNKNOWN] = "unknown",
	[FORMAT_BLKPARSE] = "blkparse",
	[FORMAT_MSR] = "msr",
	[FORMAT_SPC] = "spc",
	[FORMAT_FIO] = "fio",
};

#define NR_FORMATS	(sizeof(format_names) / sizeof(format_names[0]))

const char *trace_format_name(enum trace_format format)
{
	return format_names[format];
}

enum trace_format trace_format_of(const char *name)
{
	size_t i;

	for (i = FORMAT_UNKNOWN + 1; i < NR_FORMATS; i++)
		if (!strcmp(name, format_names[i]))
			return i;
	return FORMAT_UNKNOWN;
}

/* By its first line with anything on it. */
static enum trace_format recognise(const char *text)
{
	char copy[TRACE_MAX_LINE + 1];
	char *words[5];
	size_t digits;
	int nr;

	if (!strncmp(text, "fio version", 11))
		return FORMAT_FIO;
	if (!strncasecmp(text, "Timestamp,", 10))
		return FORMAT_MSR;
	text += strspn(text, " \t");
	strcpy(copy, text);
	nr = parse_words(copy, true, words, 5);
	if (nr >= 5 && (!strcasecmp(words[3], "Read") || !strcasecmp(words[3], "Write")))
		return FORMAT_MSR;
	if (nr >= 5 && strlen(words[3]) == 1)
		return FORMAT_SPC;
	digits = strspn(text, "0123456789");
	if (digits && text[digits] == ',')
		return FORMAT_BLKPARSE;
	return FORMAT_UNKNOWN;
}

static int parse(struct parser *parser, enum trace_format format, char *text, struct entry *entry)
{
	switch (format) {
	case FORMAT_BLKPARSE:
		return parse_blkparse(parser, text, entry);
	case FORMAT_MSR:
		return parse_msr(parser, text, entry);
	case FORMAT_SPC:
		return parse_spc(parser, text, entry);
	case FORMAT_FIO:
		return parse_fio(parser, text, entry);
	default:
		return parse_fail(parser,
				  "this is no trace that is known; say which format it has: --format blkparse, msr, spc or fio");
	}
}

static int find_source(struct trace *trace, const struct parser *parser, const char *name)
{
	u32 i;

	for (i = 0; i < trace->nr_sources; i++)
		if (!strcmp(trace->sources[i], name))
			return i;
	if (i == TRACE_MAX_SOURCES)
		return parse_fail(parser, "the trace has more than %u disks; choose one with --only",
				  TRACE_MAX_SOURCES);
	strcpy(trace->sources[i], name);
	trace->nr_sources++;
	return i;
}

static int append(struct trace *trace, const struct request *request, struct failure *failure)
{
	struct request *list = trace->list;

	if (trace->nr == trace->allocated) {
		trace->allocated = trace->allocated ? trace->allocated * 2 : 4096;
		list = reallocarray(list, trace->allocated, sizeof(*list));
		if (!list)
			return fail(failure, -ENOMEM,
				    "not enough memory for %llu requests; take fewer with --limit",
				    trace->allocated);
		trace->list = list;
	}
	trace->list[trace->nr++] = *request;
	return 0;
}

/* Adds what a line holds, its flush first. */
static int add(struct trace *trace, const struct parser *parser, const struct trace_wanted *wanted,
	       const struct entry *entry)
{
	const struct request *last = trace->nr ? &trace->list[trace->nr - 1] : NULL;
	struct request request = entry->request;
	int source;

	if (wanted->source && strcmp(wanted->source, entry->source)) {
		trace->others++;
		return 0;
	}
	if (last && request.arrival < last->arrival && !wanted->sort)
		return parse_fail(parser,
				  "it arrives %.6f s before the request of line %u; give --sort if lines may be out of order",
				  (last->arrival - request.arrival) / 1e9, last->line);
	source = find_source(trace, parser, entry->source);
	if (source < 0)
		return source;
	if (parser->line > ~0U)
		return parse_fail(parser, "the trace has too many lines; split it");
	request.line = parser->line;
	request.source = source;
	if (entry->flush_first) {
		struct request flush = request;

		flush.op = TRACE_FLUSH;
		flush.bytes = 0;
		flush.offset = 0;
		flush.durable = false;
		if (append(trace, &flush, parser->failure))
			return -ENOMEM;
	}
	return append(trace, &request, parser->failure);
}

/* Takes the end off a line; only the last one of a file may have none. */
static int check_line(const struct parser *parser, char *text, bool last)
{
	size_t length = strlen(text);

	if ((!length || text[length - 1] != '\n') && !last)
		return parse_fail(parser,
				  "the line has more than %d characters, or a zero byte; is this a trace in text form?",
				  TRACE_MAX_LINE - 1);
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		text[--length] = 0;
	return 0;
}

static bool full(const struct trace *trace, const struct trace_wanted *wanted)
{
	return wanted->limit && trace->nr >= wanted->limit;
}

static int take_line(struct trace *trace, struct parser *parser, const struct trace_wanted *wanted,
		     char *text)
{
	struct entry entry = { .source = "" };
	int found;

	if (!text[strspn(text, " \t")] || *text == '#')
		return 0;
	if (trace->format == FORMAT_UNKNOWN)
		trace->format = recognise(text);
	found = parse(parser, trace->format, text, &entry);
	if (found == PARSED_REQUEST)
		return add(trace, parser, wanted, &entry);
	trace->discards += found == PARSED_DISCARD;
	return found < 0 ? -EINVAL : found == PARSED_END;
}

static int read_lines(struct trace *trace, FILE *file, struct parser *parser,
		      const struct trace_wanted *wanted)
{
	char text[TRACE_MAX_LINE + 1];
	int code = 0;

	while (!code && !full(trace, wanted) && fgets(text, sizeof(text), file)) {
		parser->line++;
		code = check_line(parser, text, feof(file));
		if (!code)
			code = take_line(trace, parser, wanted, text);
	}
	if (!code && ferror(file))
		code = fail(parser->failure, -EIO, "cannot read %s: %s", parser->path,
			    strerror(errno));
	return code < 0 ? code : 0;
}

/* The place in the file decides between requests that arrive together. */
static int compare(const void *a, const void *b)
{
	const struct request *one = a, *other = b;

	if (one->arrival != other->arrival)
		return one->arrival < other->arrival ? -1 : 1;
	if (one->line != other->line)
		return one->line < other->line ? -1 : 1;
	return (other->op == TRACE_FLUSH) - (one->op == TRACE_FLUSH);
}

void trace_sort(struct trace *trace)
{
	qsort(trace->list, trace->nr, sizeof(trace->list[0]), compare);
}

void trace_count(struct trace *trace)
{
	u64 i;

	memset(trace->count, 0, sizeof(trace->count));
	for (i = 0; i < trace->nr; i++)
		trace->count[trace->list[i].op]++;
}

/* Times count from the first request on. */
static int start_at_zero(struct trace *trace, const struct parser *parser)
{
	const u64 first = trace->list[0].arrival;
	struct request *last = &trace->list[trace->nr - 1];
	u64 i;

	if (last->arrival - first > TRACE_MAX_SECONDS * NS_PER_SECOND)
		return fail(parser->failure, -EINVAL,
			    "%s:%u: it arrives %llu s after the first request, but a trace may take a year at most",
			    parser->path, last->line, (last->arrival - first) / NS_PER_SECOND);
	for (i = 0; i < trace->nr; i++)
		trace->list[i].arrival -= first;
	return 0;
}

int trace_load(struct trace *trace, const char *path, const struct trace_wanted *wanted,
	       struct failure *failure)
{
	struct parser parser = { .path = path, .failure = failure };
	FILE *file;
	int code;

	memset(trace, 0, sizeof(*trace));
	trace->format = wanted->format;
	file = regular_file_open(path, "the trace", failure);
	if (!file)
		return -errno;
	code = read_lines(trace, file, &parser, wanted);
	fclose(file);
	if (code)
		return code;
	if (!trace->nr)
		return fail(failure, -EINVAL, "%s has no read, write or flush%s%s", path,
			    wanted->source ? " of " : "", wanted->source ? wanted->source : "");
	if (wanted->sort)
		trace_sort(trace);
	trace_count(trace);
	return start_at_zero(trace, &parser);
}

void trace_free(struct trace *trace)
{
	free(trace->list);
	trace->list = NULL;
}
