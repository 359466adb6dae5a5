// SPDX-License-Identifier: GPL-2.0-only
/* See model-trace.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model-trace.h"

/* Bios that follow one another so soon are merged by the block layer where they can be. */
#define PLUG_NS	100000U

static bool read_bio(const char *line, struct bio *bio)
{
	unsigned long long issued, completed, sector;
	unsigned int sectors;
	char op, flags[128];

	if (sscanf(line, "%llu %llu %c %llu %u %127s", &issued, &completed, &op, &sector, &sectors,
		   flags) != 6)
		return false;
	*bio = (struct bio) {
		.issued = issued, .completed = completed, .sector = sector, .sectors = sectors,
		.op = op == 'R' ? BIO_READ : op == 'F' ? BIO_FLUSH : op == 'D' ? BIO_DISCARD :
		      BIO_WRITE,
	};
	bio->preflush = bio->op == BIO_WRITE && strstr(flags, "PREFLUSH");
	bio->fua = bio->op == BIO_WRITE && strstr(flags, "FUA");
	return true;
}

static bool read_line(struct trace *trace, const char *line, u32 room)
{
	char name[16];

	if (sscanf(line, "# phase %15s", name) == 1) {
		if (trace->nr_phases == TRACE_PHASES)
			return false;
		strcpy(trace->phases[trace->nr_phases].name, name);
		trace->phases[trace->nr_phases++].first = trace->nr;
		return true;
	}
	if (*line == '#')
		return true;
	return trace->nr < room && read_bio(line, &trace->bios[trace->nr]) && ++trace->nr;
}

static const struct trace *sorted;

static int compare_completions(const void *first, const void *second)
{
	u64 a = sorted->bios[*(const u32 *)first].completed;
	u64 b = sorted->bios[*(const u32 *)second].completed;

	return a < b ? -1 : a > b;
}

/* What each bio waited for when it was recorded. */
static void find_gaps(struct trace *trace)
{
	u32 i, after = 0;

	for (i = 0; i < trace->nr; i++) {
		struct bio *bio = &trace->bios[i];
		const struct bio *before = i ? bio - 1 : bio;
		u64 base;

		while (after < i &&
		       trace->bios[trace->completions[after]].completed <= bio->issued)
			after++;
		base = after ? trace->bios[trace->completions[after - 1]].completed : 0;
		if (before->issued > base)
			base = before->issued;
		bio->after = after;
		bio->gap = bio->issued - base;
		if (i && after == before->after && bio->gap < PLUG_NS && bio->op == BIO_WRITE &&
		    !bio->preflush)
			bio->gap = 0;
	}
	/* Between two phases nothing was asked of the drive. */
	for (i = 0; i < trace->nr_phases; i++)
		if (trace->phases[i].first < trace->nr)
			trace->bios[trace->phases[i].first].gap = 0;
}

struct trace *trace_load(const char *path)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	FILE *file = fopen(path, "r");
	u32 lines = 0, i;
	char line[512];

	if (!trace || !file) {
		fprintf(stderr, "mover-model: cannot open the trace %s: %s\n", path, strerror(errno));
		return NULL;
	}
	while (fgets(line, sizeof(line), file))
		lines++;
	rewind(file);
	trace->bios = calloc(lines + 1, sizeof(*trace->bios));
	trace->completions = calloc(lines + 1, sizeof(*trace->completions));
	if (!trace->bios || !trace->completions)
		abort();
	for (i = 1; fgets(line, sizeof(line), file); i++) {
		if (read_line(trace, line, lines))
			continue;
		fprintf(stderr, "mover-model: line %u of %s is no bio and no phase\n", i, path);
		return NULL;
	}
	fclose(file);
	trace->phases[trace->nr_phases].first = trace->nr;
	for (i = 0; i < trace->nr; i++)
		trace->completions[i] = i;
	sorted = trace;
	qsort(trace->completions, trace->nr, sizeof(u32), compare_completions);
	find_gaps(trace);
	return trace;
}
