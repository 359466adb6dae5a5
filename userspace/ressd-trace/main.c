// SPDX-License-Identifier: GPL-2.0-only
/* ressd-trace: replay a block trace on a device.  See ressd-trace(8). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include "cli/new-file.h"
#include "cli/size.h"
#include "cli/version.h"
#include "dm/plan.h"
#include "safety.h"
#include "summary.h"

/* All that a run needs. */
struct run {
	struct arguments arguments;
	struct blkdev dev;
	struct trace trace;
	struct shape shape;
	struct shaped shaped;
	struct replay replay;
	struct result result;
	FILE *log;
};

static void on_signal(int number)
{
	(void)number;
	replay_interrupted = true;
}

/* A second Ctrl-C ends the program the hard way, for a device may hang. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static bool writes(const struct run *run)
{
	return !run->arguments.reads_only && run->trace.count[TRACE_WRITE];
}

static int open_device(struct run *run, struct failure *failure)
{
	const struct arguments *arguments = &run->arguments;
	const enum blkdev_mode mode = !writes(run) ? BLKDEV_READ :
				      arguments->dry_run ? BLKDEV_TRY : BLKDEV_WRITE;

	if (writes(run) && !arguments->write)
		return fail(failure, -EPERM,
			    "%s has writes (%llu), which destroy what is on %s; give --write if that is what you want, or --reads-only",
			    arguments->trace, run->trace.count[TRACE_WRITE], arguments->device);
	return blkdev_open(&run->dev, arguments->device, mode, failure);
}

/* A file may lie on a disk with any blocks; those of 4 KiB are good for all. */
static u32 block_of(const struct blkdev *dev)
{
	int bytes = 0;

	if (dev->is_file || ioctl(dev->fd, BLKSSZGET, &bytes) || bytes <= 0)
		return BLKDEV_ALIGN;
	return bytes;
}

static int shape(struct run *run, struct failure *failure)
{
	const struct arguments *arguments = &run->arguments;
	struct region region = { 0, run->dev.bytes };

	run->shape.block = block_of(&run->dev);
	if (arguments->region && plan_region(run->dev.bytes, arguments->region, &region, failure))
		return -EINVAL;
	run->shape.region_start = region.offset;
	run->shape.region_bytes = region.bytes / run->shape.block * run->shape.block;
	run->shape.fit = arguments->fit;
	run->shape.reads_only = arguments->reads_only;
	run->shape.speed = arguments->speed;
	run->shape.burst = arguments->burst;
	run->shape.seed = arguments->seed;
	return shape_trace(&run->trace, arguments->trace, &run->shape, &run->shaped, failure);
}

static void show_plan(const struct run *run)
{
	const struct trace *trace = &run->trace;
	char span[SIZE_TEXT];

	if (run->arguments.json) {
		result_print_plan_json(&run->result);
		return;
	}
	printf("would replay on %s within %.1f s: reads %llu, writes %llu, flushes %llu\n",
	       run->dev.path, trace->list[trace->nr - 1].arrival / 1e9, trace->count[TRACE_READ],
	       trace->count[TRACE_WRITE], trace->count[TRACE_FLUSH]);
	printf("%s: %u disk%s, %s from the first byte to the last; requests folded %llu, rounded %llu\n",
	       trace_format_name(trace->format), trace->nr_sources,
	       trace->nr_sources == 1 ? "" : "s", size_print(run->shaped.span, span),
	       run->shaped.folded, run->shaped.rounded);
}

static int write_log(struct run *run, struct failure *failure)
{
	if (!run->log)
		return 0;
	result_print_log(&run->result, run->log);
	if (fclose(run->log))
		return fail(failure, -errno, "cannot write %s: %s", run->arguments.log,
			    strerror(errno));
	return 0;
}

static int report(struct run *run, int ended, struct failure *failure)
{
	int code;

	run->result.interrupted = ended;
	code = result_summarise(&run->result, failure);
	if (code)
		return code;
	if (run->arguments.json)
		result_print_json(&run->result);
	else
		result_print(&run->result);
	code = write_log(run, failure);
	return code ? code : ended;
}

/* What was replayed until an interruption is reported, too. */
static int replay(struct run *run, struct failure *failure)
{
	int code;

	if (run->arguments.log) {
		run->log = new_file_open(run->arguments.log, "--log", failure);
		if (!run->log)
			return -EIO;
	}
	catch_signals();
	code = replay_run(&run->replay, failure);
	if (!code || code == -ECANCELED)
		code = report(run, code, failure);
	replay_free(&run->replay);
	return code;
}

/* What is known before the replay. */
static void prepare(struct run *run)
{
	run->replay.dev = &run->dev;
	run->replay.trace = &run->trace;
	run->replay.in_flight = run->arguments.in_flight;
	run->replay.paced = run->arguments.speed;
	run->result.arguments = &run->arguments;
	run->result.replay = &run->replay;
	run->result.shape = &run->shape;
	run->result.shaped = &run->shaped;
}

static int use_device(struct run *run, struct failure *failure)
{
	int code = shape(run, failure);

	if (code)
		return code;
	prepare(run);
	if (run->arguments.dry_run) {
		if (writes(run))
			code = safety_check(&run->dev, &run->trace, &run->arguments, failure);
		if (!code)
			show_plan(run);
		return code;
	}
	if (writes(run))
		code = safety_allow_write(&run->dev, &run->trace, &run->arguments, failure);
	return code ? code : replay(run, failure);
}

static int run_all(struct run *run, struct failure *failure)
{
	int code = 0;

	if (run->arguments.log)
		code = new_file_check(run->arguments.log, "--log", failure);
	if (!code)
		code = trace_load(&run->trace, run->arguments.trace, &run->arguments.wanted,
				  failure);
	if (!code)
		code = open_device(run, failure);
	if (!code) {
		code = use_device(run, failure);
		blkdev_close(&run->dev);
	}
	trace_free(&run->trace);
	return code;
}

static int ressd_trace(int argc, char **argv)
{
	static struct run run;
	struct failure failure = { "" };
	int code = arguments_parse(&run.arguments, argc, argv, &failure);

	if (!code && run.arguments.help) {
		fputs(arguments_help, stdout);
		return EXIT_OK;
	}
	if (!code && run.arguments.version) {
		puts("ressd-trace " RESSD_TOOLS_VERSION);
		return EXIT_OK;
	}
	if (!code)
		code = run_all(&run, &failure);
	fflush(stdout);
	if (code)
		fprintf(stderr, "ressd-trace: %s.\n", failure.text);
	return exit_code_of(code);
}

int main(int argc, char **argv)
{
	output_begin();
	return output_end("ressd-trace", ressd_trace(argc, argv));
}
