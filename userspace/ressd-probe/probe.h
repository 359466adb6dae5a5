/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run of ressd-probe: what was asked for, what is known, what came out.  The folder:
 *
 *	main.c
 *	  |-- arguments, outputs, safety, hints*, resume, preserve, create
 *	  |		what may be done, and what is done before and after
 *	  |-- run -> find/session	which measurements, in which order, how long
 *	  |		find/survey	which searches; each is a file of find/, with steps.c below
 *	  |		find/charts	what --report shows
 *	  |		  judge/	samples to findings (judge.h), verdict and options
 *	  |		  |		(analyse.h), gains of loads (loads.h); pure
 *	  |		  measure/	transfers and rounds of them, the rehearsal, statistics
 *	  |		    disk.h	what a disk is: disk-device.c here, other ones in tests
 *	  `-- report/	text, JSON, HTML with SVG; what is shown meanwhile
 *
 * Calls go downwards only: find -> judge -> measure; find calls measure itself, too.  These three
 * know nothing of struct probe (tests/unit/test_interfaces.py).
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdio.h>
#include "arguments.h"
#include "dm/blkdev.h"
#include "dm/plan.h"
#include "dm/table-line.h"
#include "find/charts.h"
#include "find/session.h"
#include "hints.h"
#include "judge/analyse.h"
#include "preserve.h"

struct probe {
	struct arguments arguments;
	struct blkdev dev;
	struct hints hints;
	struct region planned;		/* where it may write */
	struct region region;		/* what was filled of it: less, if that took too long */
	struct preserved preserved;
	bool interrupted;
	bool resume_failed;
	struct table_line line;		/* what it suggests */
	char reserved_why[96];
	u64 max_write;			/* bytes */
	FILE *raw;			/* every sample; NULL: nobody wants them */
	struct session session;
	struct charts charts;		/* for --report */
	struct analysis analysis;
	u64 written;			/* bytes, by the measurement */
	u64 spent_limit;		/* of a resumed one: see struct measure */
	u64 zero_reads;
	const char *step;		/* what is being done */
	unsigned int seconds_left;	/* at most */
	bool formatted;			/* the reserved area is, for the suggested line */
	bool created;			/* /dev/mapper/<arguments.create> exists */
};

/* run.c */
enum thoroughness thoroughness_of(const struct arguments *arguments);

/* run.c: measures what the chosen mode asks for into probe->session; progress to stderr. */
int probe_measure(struct probe *probe, struct failure *failure);

/* run.c: prints what probe_measure would do (--dry-run), for people or as JSON. */
void probe_print_plan(const struct probe *probe);
void probe_print_plan_json(const struct probe *probe);

/* create.c: could probe_create() work?  To be asked before an hour of measuring. */
int probe_check_create(const struct probe *probe, struct failure *failure);

/*
 * create.c: if the verdict is good, formats the reserved area, and creates the device (--create).
 * Without --create, only an area that the measurement has overwritten anyway is formatted.
 */
int probe_create(struct probe *probe, struct failure *failure);

/* report/text.c and report/json.c: results to stdout. */
void report_human(const struct probe *probe);
void report_json(const struct probe *probe);
void report_table(const struct probe *probe);
void report_dmsetup(const struct probe *probe);

/* report/html.c: --report.  0, or a negative errno with a sentence. */
int report_html(const struct probe *probe, const char *folder, struct failure *failure);

#endif
