// SPDX-License-Identifier: GPL-2.0-only
/* A line of progress; see progress.h. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "cli/progress.h"

#define INTERVAL_SECONDS	0.25

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return to->tv_sec - from->tv_sec + (to->tv_nsec - from->tv_nsec) / 1e9;
}

bool progress_line(const char *format, ...)
{
	va_list args;

	if (!isatty(STDERR_FILENO))
		return false;
	fputs("\r\033[K", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	return true;
}

void progress_start(struct progress *progress, const char *label)
{
	progress->label = label;
	clock_gettime(CLOCK_MONOTONIC, &progress->start);
	progress->last = progress->start;
}

void progress_update(struct progress *progress, u64 done, u64 total)
{
	struct timespec now;
	double elapsed;

	if (!done || !total)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (seconds_between(&progress->last, &now) < INTERVAL_SECONDS)
		return;
	progress->last = now;
	elapsed = seconds_between(&progress->start, &now);
	progress_line("%s: %llu %%, about %.0f s left", progress->label,
		      (unsigned long long)(done * 100 / total), elapsed * (total - done) / done);
}

void progress_end(void)
{
	progress_line("%s", "");
}
