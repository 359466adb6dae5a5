/* SPDX-License-Identifier: GPL-2.0-only */
/* One run: a configuration and its events, drawn from a seed or given. */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include "explore.h"

struct events {
	struct event *list;
	u32 nr, max;
};

struct run_options {
	enum fault fault;
	u32 per_moment;		/* crash states to try at each moment; 0: only events */
	u32 explore_from;	/* not before that event */
	bool trace;
};

/* What a run has found. */
struct verdict {
	bool good;
	char why[1024];
	u32 events;		/* carried out, the failing one included */
	u64 states, contents, moments;
	struct cut cut;		/* of the state that is wrong; no CUT_LIST: it was none */
};

void verdict_free(struct verdict *verdict);
void events_add(struct events *events, const struct event *event);
void events_free(struct events *events);

/* Draws and carries out @nr events; @events, if not NULL, gets them. */
void run_seed(const struct run_options *options, u64 seed, u32 nr, struct events *events,
	      struct verdict *verdict);

/* Carries out @events.  @seed: of the crash states that are tried. */
void run_events(const struct run_options *options, const struct config *config,
		const struct events *events, u64 seed, struct verdict *verdict);

#endif
