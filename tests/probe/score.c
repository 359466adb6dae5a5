// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe-score: lets the searches of ressd-probe loose on emulated drives and compares what they say
 * with what is true.
 *
 *	probe-score --named FOLDER [PROFILE...]	the profiles of tests/ssdsim
 *	probe-score --random SEED FIRST COUNT	drives drawn by random-drive.c
 *	probe-score --judge-named FOLDER PROFILE RESULT SECONDS
 *	probe-score --judge-random SEED NUMBER RESULT SECONDS
 *						what ressd-probe --json wrote of such a drive
 *	probe-score --list-named FOLDER [PROFILE...]
 *	probe-score --list-random SEED FIRST COUNT
 *						the drives, in lines for tests/probe/guest-score.sh
 *
 * --quick before these: as ressd-probe --quick measures. --charts: also the points of its --report,
 * in lines "DRIVE chart SERIES X Y".
 *
 * One line for each drive and parameter, as in scoring.h, lines "DRIVE verdict ...", "DRIVE
 * dispatch STATUS BUNDLE ..." (is there to be an order of requests?), "DRIVE advice KEY VALUE",
 * "DRIVE predicted PERCENT", "DRIVE load NAME LOW HIGH" (percent), "DRIVE plan NORMAL RESERVED
 * OFFSET HOST_NS" (sectors), and a line "DRIVE time SECONDS MEGABYTES".
 * tools/probe-score.py adds them up.  With PROBE_SCORE_SHOW set: the drives and when each step
 * begins, on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "candidate.h"
#include "dm/plan.h"
#include "drive.h"
#include "find/charts.h"
#include "find/session.h"
#include "result-file.h"
#include "scoring.h"

static void print_rehearsals(const char *name, const struct measurements *measurements)
{
	int i;

	for (i = 0; i < NR_REHEARSALS; i++) {
		const struct rehearsal *rehearsal = &measurements->rehearsal[i];

		if (rehearsal->done)
			printf("%s rehearsal %u %llu %llu %llu %u %s %u %u\n", name,
			       rehearsal->size, rehearsal->direct_ns, rehearsal->log_ns,
			       rehearsal->move_ns, rehearsal->gain_percent,
			       rehearsal->steady ? "steady" : "unsteady",
			       rehearsal->direct_spread_percent, rehearsal->spread_percent);
	}
}

static void print_dispatch(const char *name, const struct finding *dispatch)
{
	printf("%s dispatch %s %llu %.1fs %.0fMB %s\n", name, status_name(dispatch->status),
	       dispatch->value, dispatch->ns / 1e9, dispatch->written / 1e6, dispatch->why);
}

static void print_plan(const struct candidate *candidate, const struct ressd_table *table)
{
	printf("%s plan %llu %llu %llu %u\n", candidate->name, table->len, table->reserved_sectors,
	       (unsigned long long)candidate->host.offset / 512, candidate->host.host_ns);
}

static void print_loads(const char *name, const struct load_gain *gains)
{
	int load;

	for (load = 0; load < NR_LOADS; load++)
		if (gains[load].high)
			printf("%s load %s %u %u\n", name, load_name(load), gains[load].low,
			       gains[load].high);
}

static void print_verdict(const char *name, const struct session *session)
{
	struct ressd_options options;
	struct analysis analysis;
	unsigned int i;

	ressd_options_default(&options);
	analyse(&session->measurements, session->survey.finding, &analysis, &options);
	for (i = 0; i < analysis.nr_advice; i++)
		printf("%s advice %s %s\n", name, analysis.advice[i].key,
		       analysis.advice[i].value);
	printf("%s working-set %llu %u\n", name,
	       session->measurements.rehearsal[0].working_set,
	       session->measurements.rehearsal[0].overwritten_percent);
	if (analysis.by_size[0].known)
		printf("%s predicted %u\n", name, analysis.by_size[0].gain_percent);
	else if (analysis.has_cost[SIZE_4K])
		printf("%s predicted %u\n", name, analysis.cost[SIZE_4K].gain_percent);
	print_loads(name, analysis.load);
	printf("%s verdict %s %u small %u: %s\n", name, verdict_name(analysis.verdict),
	       analysis.alpha_percent, options.small_write_sectors, analysis.reason);
}

static enum thoroughness thoroughness = SURVEY_DEFAULT;
static bool wants_charts;

/* A drive that is measured. */
struct survey_run {
	struct drive drive;
	struct measure measure;
	struct session session;
	struct ressd_table table;
};

/* These two as main.c of ressd-probe. */
static void plan_moves(struct session *session, const struct ressd_table *table,
		       unsigned int percent)
{
	session->mover_stride[SIZE_4K] = plan_mover_stride(table, 4096, percent);
	session->mover_stride[SIZE_8K] = plan_mover_stride(table, 8192, percent);
	session->normal_bytes = table->len * 512;
	session->log_bytes = table->reserved_sectors * 512;
}

static void plan_again(void *context)
{
	struct survey_run *run = context;
	const struct finding *block = &run->session.survey.finding[PARAMETER_BLOCK];
	char why[96];

	if (block->status == STATUS_MEASURED && block->confidence >= CONFIDENCE_MEDIUM &&
	    block->has_phase && plan_fit_block(run->drive.disk.bytes, block->value, block->phase,
					       true, &run->table, why, sizeof(why)))
		plan_moves(&run->session, &run->table, PLAN_VISITS);
}

/* What ressd-probe does with a device, from the region on. */
static int prepare(struct session *session, struct drive *drive, struct ressd_table *table,
		   struct failure *failure)
{
	struct measure *measure = session->measure;
	struct region region;
	char why[96];
	int code = plan_region(drive->disk.bytes, NULL, &region, failure);

	if (!code)
		code = plan_areas(drive->disk.bytes, 0, table, why, sizeof(why), failure);
	if (code)
		return code;
	measure->disk = &drive->disk;
	measure->offset = region.offset;
	measure->bytes = region.bytes;
	measure->sequential_bytes = 524288;
	measure->write_limit = session_write_limit(thoroughness, region.bytes);
	session->may_write = true;
	session->one_at_a_time = emulated_one_at_a_time(drive->emulated);
	session->thoroughness = thoroughness;
	plan_moves(session, table, PLAN_HALF_LOG);
	session_effort(measure, session->thoroughness);
	return measure_init(measure, failure);
}

/* With PROBE_SCORE_SHOW: when each step begins, seconds of device time. */
static void show_step(void *context, const char *name, unsigned int seconds)
{
	struct survey_run *run = context;
	struct disk *disk = &run->drive.disk;

	fprintf(stderr, "%7.1f s, %5.0f MB, at most %u s left: %s\n", disk->ops->now(disk) / 1e9,
		run->measure.written / 1e6, seconds, name);
}

static const struct watcher steps = { .step = show_step };

static void print_run(const struct candidate *candidate, struct survey_run *run,
		      struct truth *truth)
{
	truth->filled = run->measure.bytes;
	print_scores(candidate->name, truth, run->session.survey.finding);
	print_rehearsals(candidate->name, &run->session.measurements);
	print_dispatch(candidate->name, &run->session.survey.finding[PARAMETER_DISPATCH]);
	print_verdict(candidate->name, &run->session);
	print_plan(candidate, &run->table);
	printf("%s time %.1f %.0f\n", candidate->name,
	       run->drive.disk.ops->now(&run->drive.disk) / 1e9, run->measure.written / 1e6);
	fflush(stdout);
}

/* As ressd-probe --report measures them, but nothing here wears out: no curve is cut short. */
static int print_charts(const char *name, struct session *session, struct failure *failure)
{
	const struct series_key *key;
	const struct series *series;
	static struct charts charts;
	unsigned int i, point;
	int code;

	session->measure->write_limit = UINT64_MAX;
	code = charts_measure(&charts, &session->survey, 16 * CHART_SECONDS, 16 * CHARTS_BYTES,
			      failure);
	for (i = 0; !code && (series = charts_series(&charts, i, &key)); i++)
		for (point = 0; point < series->count; point++)
			printf("%s chart %s %.9g %.9g\n", name, key->name, series->x[point],
			       series->y[point]);
	return code;
}

static int survey_drive(const struct candidate *candidate)
{
	struct survey_run run = { .session.plan_again = plan_again };
	struct failure failure = { "" };
	struct truth truth;
	int code = drive_create(&run.drive, candidate->profile, &candidate->host, &failure);

	if (getenv("PROBE_SCORE_SHOW")) {
		run.session.watcher = &steps;
		fprintf(stderr, "%s%shost %u offset %llu\n", candidate->name, candidate->profile,
			candidate->host.host_ns, (unsigned long long)candidate->host.offset);
	}
	run.session.measure = &run.measure;
	run.session.context = &run;
	run.session.disk_offset = candidate->host.offset;
	if (!code)
		code = prepare(&run.session, &run.drive, &run.table, &failure);
	if (!code)
		code = session_run(&run.session, &failure);
	if (!code && wants_charts)
		code = print_charts(candidate->name, &run.session, &failure);
	if (code) {
		fprintf(stderr, "probe-score: %s: %s\n%s", candidate->name, failure.text,
			candidate->profile);
		return 1;
	}
	if (candidate_truth(candidate, &truth))
		return 1;
	print_run(candidate, &run, &truth);
	measure_release(&run.measure);
	drive_destroy(&run.drive);
	return 0;
}

static int list_drive(const struct candidate *candidate)
{
	candidate_print(candidate);
	return 0;
}

/* 1 if one of them failed. */
static int each_named(int (*use)(const struct candidate *), const char *folder, int count,
		      char **only)
{
	struct candidate candidate;
	unsigned int n;
	int failed = 0, i;

	for (n = 0; candidate_name(n); n++) {
		for (i = 0; i < count && strcmp(only[i], candidate_name(n)); )
			i++;
		if (count && i == count)
			continue;
		failed |= !candidate_named(&candidate, folder, n) || use(&candidate);
	}
	return failed;
}

static int each_random(int (*use)(const struct candidate *), u64 seed, unsigned int first,
		       unsigned int count)
{
	struct candidate candidate;
	unsigned int i;
	int failed = 0;

	for (i = first; i < first + count; i++) {
		candidate_random(&candidate, seed, i);
		failed |= use(&candidate);
	}
	return failed;
}

/* The judgement of a whole run of ressd-probe on an emulated drive somewhere else. */
static int judge_file(const struct candidate *candidate, const char *path, const char *seconds)
{
	struct failure failure = { "" };
	struct result_file result;
	struct truth truth;

	if (result_file_read(path, &result, &failure)) {
		fprintf(stderr, "probe-score: %s: %s\n", candidate->name, failure.text);
		return 1;
	}
	if (candidate_truth(candidate, &truth))
		return 1;
	truth.filled = result.region;
	print_scores(candidate->name, &truth, result.finding);
	printf("%s verdict %s\n%s time %s %.0f\n", candidate->name, result.verdict,
	       candidate->name, seconds, result.written / 1e6);
	return 0;
}

static int judge_named(const char *folder, const char *name, const char *path, const char *seconds)
{
	struct candidate candidate;
	unsigned int n = 0;

	while (candidate_name(n) && strcmp(candidate_name(n), name))
		n++;
	if (!candidate_name(n)) {
		fprintf(stderr, "probe-score: there is no profile %s\n", name);
		return 1;
	}
	return !candidate_named(&candidate, folder, n) || judge_file(&candidate, path, seconds);
}

static int judge_random(u64 seed, unsigned int number, const char *path, const char *seconds)
{
	struct candidate candidate;

	candidate_random(&candidate, seed, number);
	return judge_file(&candidate, path, seconds);
}

static u64 number_of(const char *text)
{
	return strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
	const char *mode;

	while (argc >= 2 && (!strcmp(argv[1], "--quick") || !strcmp(argv[1], "--charts"))) {
		if (!strcmp(argv[1], "--quick"))
			thoroughness = SURVEY_QUICK;
		else
			wants_charts = true;
		argc--;
		argv++;
	}
	mode = argc >= 2 ? argv[1] : "";
	if (argc >= 3 && !strcmp(mode, "--named"))
		return each_named(survey_drive, argv[2], argc - 3, argv + 3);
	if (argc >= 3 && !strcmp(mode, "--list-named"))
		return each_named(list_drive, argv[2], argc - 3, argv + 3);
	if (argc == 5 && !strcmp(mode, "--random"))
		return each_random(survey_drive, number_of(argv[2]), number_of(argv[3]),
				   number_of(argv[4]));
	if (argc == 5 && !strcmp(mode, "--list-random"))
		return each_random(list_drive, number_of(argv[2]), number_of(argv[3]),
				   number_of(argv[4]));
	if (argc == 6 && !strcmp(mode, "--judge-named"))
		return judge_named(argv[2], argv[3], argv[4], argv[5]);
	if (argc == 6 && !strcmp(mode, "--judge-random"))
		return judge_random(number_of(argv[2]), number_of(argv[3]), argv[4], argv[5]);
	fprintf(stderr, "how to call: probe-score [--quick] [--charts] --named FOLDER [PROFILE...] | --random SEED FIRST COUNT | --judge-named FOLDER PROFILE RESULT SECONDS | --judge-random SEED NUMBER RESULT SECONDS | --list-named FOLDER [PROFILE...] | --list-random SEED FIRST COUNT\n");
	return 2;
}
