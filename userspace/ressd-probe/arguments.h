/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of ressd-probe. */
#ifndef PROBE_ARGUMENTS_H
#define PROBE_ARGUMENTS_H

#include <stdbool.h>
#include "cli/failure.h"

struct arguments {
	const char *device;
	const char *yes_destroy;	/* the device's path a second time */
	const char *region;
	const char *reserved;
	const char *create;		/* name of the device to make */
	const char *max_write;		/* bytes that may be written in all */
	const char *raw;		/* file for every single sample */
	const char *progress;		/* "json", or NULL */
	const char *format;		/* "text", "json", "table" or "dmsetup"; NULL: text */
	const char *resume;		/* file of results */
	const char *report;		/* folder for a page with charts */
	const char *save_file;		/* for --preserve; NULL: memory */
	bool write;
	bool preserve;
	bool yes;
	bool json;
	bool table;
	bool quick;
	bool thorough;
	bool dry_run;
	bool verbose;
	bool help;
	bool version;
};

extern const char arguments_help[];

/* Reads the command line.  0, or -EINVAL with a sentence. */
int arguments_parse(struct arguments *arguments, int argc, char **argv, struct failure *failure);

#endif
