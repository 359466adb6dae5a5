// SPDX-License-Identifier: GPL-2.0-only
/* A line of progress; see progress.h. */
#include <stdio.h>
#include <unistd.h>
#include "cli/progress.h"

#define INTERVAL_SECONDS	0.25

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return to->tv_sec - from->tv_sec + (to->tv_nsec - from->tv_nsec) / 1e9;
}

void progress_start(struct progress *progress, const char *label)
{
	progress->label = label;
	progress->show = isatty(STDERR_FILENO);
	clock_gettime(CLOCK_MONOTONIC, &progress->start);
	progress->last = progress->start;
}

void progress_update(struct progress *progress, u64 done, u64 total)
{
	struct timespec now;
	double elapsed;

	if (!progress->show || !done || !total)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (seconds_between(&progress->last, &now) < INTERVAL_SECONDS)
		return;
	progress->last = now;
	elapsed = seconds_between(&progress->start, &now);
	fprintf(stderr, "\r\033[K%s: %llu %%, about %.0f s left", progress->label,
		(unsigned long long)(done * 100 / total), elapsed * (total - done) / done);
}

void progress_end(struct progress *progress)
{
	if (progress->show)
		fputs("\r\033[K", stderr);
}
