/* SPDX-License-Identifier: GPL-2.0-only */
/* What a replay comes to, and how it is shown. */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H

#include <stdio.h>
#include "arguments.h"
#include "latency.h"
#include "replay.h"

/* Of one kind of request, or of all. */
struct summary {
	u64 bytes;
	struct latency response;	/* from the time that the trace says to completion */
	struct latency service;		/* from submission to completion */
};

enum { SUMMARY_ALL = TRACE_OPS, SUMMARIES };

struct result {
	const struct arguments *arguments;
	const struct replay *replay;
	const struct shape *shape;
	const struct shaped *shaped;
	struct summary summary[SUMMARIES];	/* by enum trace_op, and of all */
	u64 late;				/* requests submitted late */
	u64 late_mean;				/* ns behind their time, of all requests */
	u64 late_max;
	bool interrupted;
};

/* Fills in the lower half.  0, or -ENOMEM with a sentence. */
int result_summarise(struct result *result, struct failure *failure);

void result_print(const struct result *result);
void result_print_json(const struct result *result);

/* What would be replayed: as far as that is known without a replay. */
void result_print_plan_json(const struct result *result);

/* A line for each request that was replayed. */
void result_print_log(const struct result *result, FILE *file);

#endif
