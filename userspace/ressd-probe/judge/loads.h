/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What applications gain by the suggested table line.  No load is played for it: the range follows
 * from what single writes cost.  Pure: no I/O.
 */
#ifndef PROBE_LOADS_H
#define PROBE_LOADS_H

#include <linux/types.h>

enum load {
	LOAD_COMMIT,	/* 4 KiB at a random place, and a flush */
	LOAD_INSTALL,	/* as dpkg writes: files, a journal with flushes, metadata */
	LOAD_COPY,	/* 512 KiB and more, in order */
	NR_LOADS,
};

/* Times as fast as the bare drive, percent; 0, 0: not known. */
struct load_gain {
	u32 low;
	u32 high;
};

struct analysis;
struct finding;
struct measurements;
struct ressd_options;

const char *load_name(enum load load);	/* as in JSON: "database-commit" */
const char *load_title(enum load load);	/* for people: "database commit" */

/* Fills @gains of a drive that is worth it, at least with locality: @options are advised. */
void loads_judge(const struct measurements *measurements, const struct finding *findings,
		 const struct analysis *analysis, const struct ressd_options *options,
		 struct load_gain gains[NR_LOADS]);

#endif
