// SPDX-License-Identifier: GPL-2.0-only
/* Figures of a replay; see summary.h. */
#include <errno.h>
#include <stdlib.h>
#include "summary.h"

static bool counts(const struct result *result, u64 i, u32 kind)
{
	return result->replay->outcome[i].completed &&
	       (kind == SUMMARY_ALL || result->replay->trace->list[i].op == kind);
}

static void summarise(struct result *result, u32 kind, u64 *times)
{
	const struct replay *replay = result->replay;
	struct summary *summary = &result->summary[kind];
	u64 i, nr = 0;

	for (i = 0; i < replay->trace->nr; i++) {
		if (!counts(result, i, kind))
			continue;
		times[nr++] = replay->outcome[i].completed - replay->outcome[i].due;
		summary->bytes += replay->trace->list[i].bytes;
	}
	latency_of(times, nr, &summary->response);
	for (i = 0, nr = 0; i < replay->trace->nr; i++)
		if (counts(result, i, kind))
			times[nr++] = replay->outcome[i].completed - replay->outcome[i].submitted;
	latency_of(times, nr, &summary->service);
}

static void count_late(struct result *result)
{
	const struct replay *replay = result->replay;
	double sum = 0;
	u64 i;

	for (i = 0; i < replay->trace->nr; i++) {
		const struct outcome *outcome = &replay->outcome[i];
		const u64 behind = outcome->submitted - outcome->due;

		if (!outcome->completed)
			continue;
		sum += behind;
		result->late += behind >= result->arguments->late_ns;
		if (behind > result->late_max)
			result->late_max = behind;
	}
	if (replay->nr_completed)
		result->late_mean = sum / replay->nr_completed + 0.5;
}

int result_summarise(struct result *result, struct failure *failure)
{
	u64 *times = calloc(result->replay->trace->nr, sizeof(*times));
	u32 kind;

	if (!times)
		return fail(failure, -ENOMEM, "not enough memory for the results of %llu requests",
			    result->replay->trace->nr);
	for (kind = 0; kind < SUMMARIES; kind++)
		summarise(result, kind, times);
	count_late(result);
	free(times);
	return 0;
}
