// SPDX-License-Identifier: GPL-2.0-only
/* ressd-probe: measure a flash device and say whether ressd is worth it.  See ressd-probe(8). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "cli/new-file.h"
#include "cli/size.h"
#include "cli/version.h"
#include "measure/measure.h"
#include "outputs.h"
#include "probe.h"
#include "ressd-geom.h"
#include "resume.h"
#include "safety.h"

static void on_signal(int number)
{
	(void)number;
	measure_interrupted = true;
}

/*
 * A second Ctrl-C ends the program the hard way, for a device may hang; but not where it has
 * something to restore.  Nor does a reader that goes away then, or a limit of a file's size.
 */
static void catch_signals(bool restores)
{
	struct sigaction action = {
		.sa_handler = on_signal,
		.sa_flags = restores ? 0 : SA_RESETHAND,
	};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	if (!restores)
		return;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* How the mover of the planned device writes. */
static void plan_moves(struct probe *probe, unsigned int percent)
{
	const struct ressd_table *table = &probe->line.table;

	probe->session.mover_stride[SIZE_4K] = plan_mover_stride(table, 4096, percent);
	probe->session.mover_stride[SIZE_8K] = plan_mover_stride(table, 8192, percent);
	probe->session.normal_bytes = table->len * 512;
	probe->session.log_bytes = table->reserved_sectors * 512;
}

/* The areas were planned before the block was known.  False: it is not. */
static bool fit_reserved(struct probe *probe)
{
	const struct finding *block = &probe->session.survey.finding[PARAMETER_BLOCK];

	return block->status == STATUS_MEASURED && block->confidence >= CONFIDENCE_MEDIUM &&
	       block->has_phase &&
	       plan_fit_block(probe->dev.bytes, block->value, block->phase,
			      !probe->arguments.reserved, &probe->line.table,
			      probe->reserved_why, sizeof(probe->reserved_why));
}

static void plan_again(void *context)
{
	struct probe *probe = context;

	if (fit_reserved(probe))
		plan_moves(probe, PLAN_VISITS);
}

static int plan(struct probe *probe, struct failure *failure)
{
	u64 reserved = 0, filled;
	int code = 0;

	if (probe->arguments.reserved)
		code = size_parse(probe->arguments.reserved, "--reserved", probe->dev.bytes,
				  &reserved, failure);
	if (!code && probe->arguments.reserved && !reserved)
		code = fail(failure, -EINVAL, "--reserved is 0, but the log needs some space");
	if (!code)
		code = plan_areas(probe->dev.bytes, reserved, &probe->line.table,
				  probe->reserved_why, sizeof(probe->reserved_why), failure);
	if (!code)
		code = plan_region(probe->dev.bytes, probe->arguments.region, &probe->region,
				   failure);
	/* Of what is free now others may take some until the region is read. */
	if (!code && probe->arguments.preserve && !probe->arguments.save_file &&
	    !probe->arguments.region)
		plan_limit_region(&probe->region, preserve_memory() / 8 * 7);
	probe->planned = probe->region;
	if (!code && probe->arguments.max_write)
		code = size_parse(probe->arguments.max_write, "--max-write", probe->dev.bytes,
				  &probe->max_write, failure);
	if (code)
		return code;
	if (!probe->arguments.max_write)
		probe->max_write = session_write_limit(thoroughness_of(&probe->arguments),
						       probe->region.bytes) +
				   (probe->arguments.report ? CHARTS_BYTES : 0);
	filled = session_fill_bytes(thoroughness_of(&probe->arguments), probe->region.bytes);
	if (probe->max_write < filled && probe->arguments.write)
		return fail(failure, -EINVAL,
			    "--max-write is %llu bytes, but %llu bytes of the region are written once first; allow as many, or choose a smaller --region",
			    probe->max_write, filled);
	snprintf(probe->line.normal_path, sizeof(probe->line.normal_path), "%s", probe->dev.path);
	snprintf(probe->line.reserved_path, sizeof(probe->line.reserved_path), "%s",
		 probe->dev.path);
	ressd_options_default(&probe->line.options);
	probe->session.plan_again = plan_again;
	plan_moves(probe, PLAN_HALF_LOG);
	return 0;
}

static void report(const struct probe *probe)
{
	const char *format = probe->arguments.format ? probe->arguments.format : "text";

	if (!strcmp(format, "json"))
		report_json(probe);
	else if (!strcmp(format, "table"))
		report_table(probe);
	else if (!strcmp(format, "dmsetup"))
		report_dmsetup(probe);
	else
		report_human(probe);
}

static int exit_code_of_verdict(const struct probe *probe)
{
	if (probe->created || probe->analysis.verdict == VERDICT_WORTH)
		return EXIT_OK;
	switch (probe->analysis.verdict) {
	case VERDICT_NOT_WORTH:
		return EXIT_NOT_WORTH;
	case VERDICT_LOCALITY:
		return EXIT_LOCALITY;
	default:
		return EXIT_INCONCLUSIVE;
	}
}

/* A block of the drive may be too large a segment for the reserved area: keep the default then. */
static void check_segments(struct probe *probe)
{
	struct ressd_options *options = &probe->line.options;
	struct analysis *analysis = &probe->analysis;
	struct failure ignored;
	struct ressd_geom geom;
	unsigned int i, kept = 0;

	if (!options->segment_sectors ||
	    (!ressd_geom_init(&geom, probe->line.table.reserved_sectors, options->segment_sectors,
			      ignored.text, sizeof(ignored.text)) &&
	     geom.nr_segments >= PLAN_BLOCKS))
		return;
	options->segment_sectors = 0;
	for (i = 0; i < analysis->nr_advice; i++)
		if (strcmp(analysis->advice[i].key, "segment_sectors"))
			analysis->advice[kept++] = analysis->advice[i];
	analysis->nr_advice = kept;
}

/* All that follows from what was measured. */
static void evaluate(struct probe *probe)
{
	hints_check(&probe->hints, probe->session.survey.finding);
	fit_reserved(probe);
	analyse(&probe->session.measurements, probe->session.survey.finding, &probe->analysis,
		&probe->line.options);
	check_segments(probe);
}

static int open_raw(struct probe *probe, struct failure *failure)
{
	if (!probe->arguments.raw)
		return 0;
	probe->raw = new_file_open(probe->arguments.raw, "--raw", failure);
	if (!probe->raw)
		return -EIO;
	fputs("phase,kind,offset,bytes,ns\n", probe->raw);
	return 0;
}

static int close_raw(struct probe *probe, int code, struct failure *failure)
{
	if (probe->raw && fclose(probe->raw) && !code)
		code = fail(failure, -errno, "cannot write %s: %s", probe->arguments.raw,
			    strerror(errno));
	probe->raw = NULL;
	return code;
}

/*
 * Measures; whatever comes of it, the region gets its contents back.  An error of that is worse
 * than any other.
 */
static int measure_and_restore(struct probe *probe, struct failure *failure)
{
	struct failure restoring;
	int code = open_raw(probe, failure), restored;

	catch_signals(probe->arguments.preserve);
	if (!code && probe->arguments.preserve)
		code = preserve_save(&probe->preserved, &probe->dev, probe->planned.offset,
				     probe->planned.bytes, probe->arguments.save_file, failure);
	if (code)
		return code;
	code = probe_measure(probe, failure);
	restored = preserve_restore(&probe->preserved, &restoring);
	if (restored) {
		*failure = restoring;
		code = restored;
	}
	return code;
}

/* What can be said of what was measured until the interruption. */
static void report_interrupted(struct probe *probe)
{
	probe->interrupted = true;
	evaluate(probe);
	report(probe);
}

static int finish(struct probe *probe, struct failure *failure)
{
	int code;

	evaluate(probe);
	code = probe_create(probe, failure);
	report(probe);
	if (!code && probe->arguments.report)
		code = report_html(probe, probe->arguments.report, failure);
	if (probe->arguments.create && !code && !probe->created)
		fprintf(stderr, "ressd-probe: %s was not created, because of the verdict.\n",
			probe->arguments.create);
	return code;
}

/* What would be done, unless it would be refused: by the same checks. */
static int show_plan(struct probe *probe, struct failure *failure)
{
	const int code = probe->arguments.write ? safety_check(probe, failure) : 0;

	if (code)
		return code;
	if (probe->arguments.format && !strcmp(probe->arguments.format, "json"))
		probe_print_plan_json(probe);
	else
		probe_print_plan(probe);
	return 0;
}

/* Everything after the device is open.  0 or a negative errno. */
static int probe_device(struct probe *probe, struct failure *failure)
{
	int code = plan(probe, failure);

	hints_read(&probe->dev, &probe->hints);
	if (!code)
		code = resume_load(probe, failure);
	if (!code && probe->arguments.create)
		code = probe_check_create(probe, failure);
	if (!code && probe->arguments.dry_run)
		return show_plan(probe, failure);
	if (!code && probe->arguments.write)
		code = safety_allow_write(probe, failure);
	if (!code)
		code = measure_and_restore(probe, failure);
	if (code == -ECANCELED)
		report_interrupted(probe);
	else if (!code)
		code = finish(probe, failure);
	return close_raw(probe, code, failure);
}

static int run(struct probe *probe, struct failure *failure)
{
	const struct arguments *arguments = &probe->arguments;
	const enum blkdev_mode mode = !arguments->write ? BLKDEV_READ :
				      arguments->dry_run ? BLKDEV_TRY : BLKDEV_WRITE;
	int code = outputs_check(arguments, failure);

	if (!code)
		code = blkdev_open(&probe->dev, arguments->device, mode, failure);
	if (code)
		return code;
	code = probe_device(probe, failure);
	blkdev_close(&probe->dev);
	return code;
}

static int ressd_probe(int argc, char **argv)
{
	static struct probe probe;
	struct failure failure = { "" };
	int code = arguments_parse(&probe.arguments, argc, argv, &failure);

	if (!code && probe.arguments.help) {
		fputs(arguments_help, stdout);
		return EXIT_OK;
	}
	if (!code && probe.arguments.version) {
		puts("ressd-probe " RESSD_TOOLS_VERSION);
		return EXIT_OK;
	}
	if (!code)
		code = run(&probe, &failure);
	fflush(stdout);
	if (code) {
		fprintf(stderr, "ressd-probe: %s.\n", failure.text);
		return exit_code_of(code);
	}
	return probe.arguments.dry_run ? EXIT_OK : exit_code_of_verdict(&probe);
}

int main(int argc, char **argv)
{
	output_begin();
	return output_end("ressd-probe", ressd_probe(argc, argv));
}
