// SPDX-License-Identifier: GPL-2.0-only
/* The result of a replay for people, and its log; see summary.h. */
#include <stdio.h>
#include "cli/size.h"
#include "cli/words.h"
#include "summary.h"

#define BAR	50	/* characters of the longest one */
#define TIME	16

static const char *const names[] = { "read", "write", "flush", "all" };

/* "12.3 us" */
static const char *print_time(u64 ns, char *text)
{
	if (ns < 1000)
		snprintf(text, TIME, "%llu ns", ns);
	else if (ns < 1000000)
		snprintf(text, TIME, "%.1f us", ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, TIME, "%.2f ms", ns / 1e6);
	else
		snprintf(text, TIME, "%.2f s", ns / 1e9);
	return text;
}

static double per_second(const struct result *result, u64 amount)
{
	return result->replay->ns ? amount * 1e9 / result->replay->ns : 0;
}

static void print_row(const struct result *result, u32 kind)
{
	const struct summary *summary = &result->summary[kind];
	const struct latency *latency = &summary->response;
	char times[6][TIME];

	if (!latency->nr)
		return;
	printf("  %-6s%10llu%10.2f%10.1f%11s%11s%11s%11s%11s%11s\n", names[kind], latency->nr,
	       per_second(result, summary->bytes) / 1e6, per_second(result, latency->nr),
	       print_time(latency->mean, times[0]), print_time(latency->p50, times[1]),
	       print_time(latency->p99, times[2]), print_time(latency->p999, times[3]),
	       print_time(latency->worst, times[4]), print_time(latency->max, times[5]));
}

static void print_histogram(const struct latency *latency, const char *name)
{
	u32 first = LATENCY_BUCKETS, last = 0, i;
	char from[TIME], to[TIME];
	u64 most = 0;

	for (i = 0; i < LATENCY_BUCKETS; i++) {
		if (!latency->bucket[i])
			continue;
		first = first == LATENCY_BUCKETS ? i : first;
		last = i;
		most = latency->bucket[i] > most ? latency->bucket[i] : most;
	}
	if (!most)
		return;
	printf("\n%s, response time\n", name);
	for (i = first; i <= last; i++) {
		const u32 bar = (latency->bucket[i] * BAR + most - 1) / most;

		printf("  %9s to %9s%10llu  %.*s\n", print_time(1ULL << i, from),
		       print_time(2ULL << i, to), latency->bucket[i], (int)bar,
		       "##################################################");
	}
}

static void print_changes(const struct result *result)
{
	const struct shaped *shaped = result->shaped;
	const struct trace *trace = result->replay->trace;

	if (shaped->left_out)
		printf("left out: %llu write%s and flushes\n", shaped->left_out,
		       plural(shaped->left_out));
	if (trace->discards)
		printf("left out: %llu discard%s\n", trace->discards, plural(trace->discards));
	if (trace->others)
		printf("left out: %llu request%s to other disks of the trace\n", trace->others,
		       plural(trace->others));
	if (shaped->rounded)
		printf("rounded to blocks of %u bytes: %llu request%s\n", result->shape->block,
		       shaped->rounded, plural(shaped->rounded));
	if (shaped->folded)
		printf("folded into the region: %llu request%s\n", shaped->folded,
		       plural(shaped->folded));
}

void result_print(const struct result *result)
{
	const struct replay *replay = result->replay;
	const struct trace *trace = replay->trace;
	char size[SIZE_TEXT], times[2][TIME];
	u32 kind;

	printf("trace     %s (%s, %u disk%s, %llu request%s, %.1f s)\n", result->arguments->trace,
	       trace_format_name(trace->format), trace->nr_sources, plural(trace->nr_sources),
	       trace->nr, plural(trace->nr), trace->list[trace->nr - 1].arrival / 1e9);
	printf("device    %s (%s)%s\n", replay->dev->path, size_print(replay->dev->bytes, size),
	       replay->dev->direct ? "" : ", through the page cache: good for trying out only");
	print_changes(result);
	printf("\n  %-6s%10s%10s%10s%11s%11s%11s%11s%11s%11s\n", "", "requests", "MB/s", "per s",
	       "mean", "median", "99 %", "99.9 %", "worst 1e-4", "longest");
	for (kind = 0; kind < SUMMARIES; kind++)
		print_row(result, kind);
	for (kind = 0; kind < TRACE_OPS; kind++)
		print_histogram(&result->summary[kind].response, names[kind]);
	if (replay->paced)
		printf("\nlate: %llu request%s by %llu us or more; in the mean %s, at most %s behind\n",
		       result->late, plural(result->late), result->arguments->late_ns / 1000,
		       print_time(result->late_mean, times[0]),
		       print_time(result->late_max, times[1]));
	if (replay->waited)
		printf("%llu request%s waited because %u were in flight\n", replay->waited,
		       plural(replay->waited), replay->in_flight);
}

void result_print_log(const struct result *result, FILE *file)
{
	static const char kinds[] = { 'r', 'w', 'f' };
	const struct replay *replay = result->replay;
	u64 i;

	fputs("line,kind,offset,bytes,due_ns,submitted_ns,completed_ns\n", file);
	for (i = 0; i < replay->trace->nr; i++) {
		const struct request *request = &replay->trace->list[i];
		const struct outcome *outcome = &replay->outcome[i];

		if (outcome->completed)
			fprintf(file, "%u,%c,%llu,%u,%llu,%llu,%llu\n", request->line,
				kinds[request->op], request->offset, request->bytes, outcome->due,
				outcome->submitted, outcome->completed);
	}
}
