/* SPDX-License-Identifier: GPL-2.0-only */
/* One line of progress with the time left, on standard error if that is a terminal. */
#ifndef RESSD_PROGRESS_H
#define RESSD_PROGRESS_H

#include <stdbool.h>
#include <time.h>
#include <linux/types.h>

struct progress {
	const char *label;	/* what is being done */
	struct timespec start, last;
};

void progress_start(struct progress *progress, const char *label);

/* @done of @total units; may be called as often as one likes. */
void progress_update(struct progress *progress, u64 done, u64 total);

/* Clears the line. */
void progress_end(void);

/* A line in place of the last one; false where standard error is no terminal. */
bool progress_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
