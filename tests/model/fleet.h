/* SPDX-License-Identifier: GPL-2.0-only */
/* Many seeds, several processes. */
#ifndef MODEL_FLEET_H
#define MODEL_FLEET_H

#include "run.h"

struct fleet_options {
	struct run_options run;
	u64 first_seed;
	u64 seeds;		/* how many at most */
	u64 states;		/* how many at least, unless the seeds are used up; 0: all seeds */
	u32 events;		/* of each run */
	u32 jobs;		/* processes */
	const char *progress;	/* a file that says how far it is, so that it can be resumed */
};

struct fleet_result {
	u64 states, contents, moments, runs;
	u64 next_seed;		/* all before it are done */
	u64 bad_seed;		/* the first that a violation was seen with; 0: none */
	bool interrupted;
};

/* Plays seeds until one fails, enough states were tried, or SIGINT or SIGTERM comes. */
void fleet_run(const struct fleet_options *options, struct fleet_result *result);

#endif
