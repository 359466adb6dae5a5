/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of ressd-trace. */
#ifndef TRACE_ARGUMENTS_H
#define TRACE_ARGUMENTS_H

#include <stdbool.h>
#include "shape.h"
#include "trace.h"

struct arguments {
	const char *trace;
	const char *device;
	const char *yes_destroy;	/* the device's path a second time */
	const char *region;
	const char *log;		/* file with a line for each request */
	struct trace_wanted wanted;
	enum fit fit;
	u32 speed;			/* as struct shape's */
	u32 burst;
	u64 seed;
	u32 in_flight;
	u64 late_ns;			/* a submission is late from that on */
	bool write;
	bool reads_only;
	bool yes;
	bool json;
	bool dry_run;
	bool help;
	bool version;
};

extern const char arguments_help[];

/* Reads the command line.  0, or -EINVAL with a sentence. */
int arguments_parse(struct arguments *arguments, int argc, char **argv, struct failure *failure);

#endif
