// SPDX-License-Identifier: GPL-2.0-only
/* Progress, on standard error; see show.h. */
#include <stdio.h>
#include <string.h>
#include "cli/json-stream.h"
#include "cli/progress.h"
#include "report/show.h"
#include "resume.h"

static bool wants_json(const struct probe *probe)
{
	return probe->arguments.progress && !strcmp(probe->arguments.progress, "json");
}

/* @percent: done of the step; negative: not known. */
static void show_json(const char *step, int percent, unsigned int seconds_left)
{
	json_open_line(stderr);
	json_string("step", step);
	if (percent >= 0)
		json_number("percent", percent);
	json_number("seconds_left", seconds_left);
	json_close();
}

static void show_step(void *context, const char *name, unsigned int seconds)
{
	struct probe *probe = context;

	probe->step = name;
	probe->seconds_left = seconds;
	if (wants_json(probe))
		show_json(name, -1, seconds);
	else if (!progress_line("%s, at most %u:%02u left", name, seconds / 60, seconds % 60) &&
		 probe->arguments.verbose)
		fprintf(stderr, "%s\n", name);
}

static void show_filled(void *context, unsigned int percent)
{
	const struct probe *probe = context;

	if (wants_json(probe))
		show_json("fill", percent, probe->seconds_left);
	else
		progress_line("writing the region once: %u %%, all takes at most %u:%02u", percent,
			      probe->seconds_left / 60, probe->seconds_left % 60);
}

static void show_result(void *context, const char *name, const struct result *result)
{
	const struct probe *probe = context;

	if (!probe->arguments.verbose || wants_json(probe))
		return;
	show_end(probe);
	fprintf(stderr, "%s: %.3f MB/s, median %.3f ms, worst %.3f ms, %llu in %.2f s%s\n", name,
		result->bandwidth / 1e6, result->median_ns / 1e6, result->worst_ns / 1e6,
		result->ops, result->ns / 1e9, result->steady ? "" : ", unsteady");
}

static void step_ended(void *context)
{
	resume_save(context);
}

void show_end(const struct probe *probe)
{
	if (!wants_json(probe))
		progress_end();
}

const struct watcher show_watcher = {
	.step = show_step,
	.filled = show_filled,
	.result = show_result,
	.ended = step_ended,
};
