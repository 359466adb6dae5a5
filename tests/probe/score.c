// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe-score: lets the searches of ressd-probe loose on emulated drives and compares what they say
 * with what is true.
 *
 *	probe-score --named FOLDER [PROFILE...]	the profiles of tests/ssdsim
 *	probe-score --random SEED FIRST COUNT	drives drawn by random-drive.c
 *	probe-score --judge FOLDER PROFILE RESULT SECONDS
 *						what ressd-probe --json wrote of such a profile
 *	probe-score --sizes			the profiles, and the size that each is taken in
 *
 * --quick before these: as ressd-probe --quick measures.
 *
 * One line for each drive and parameter, as in scoring.h, and a line "DRIVE time SECONDS
 * MEGABYTES".
 * tools/probe-score.py adds them up.  With PROBE_SCORE_SHOW set: the drives and when each step
 * begins, on standard error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "drive.h"
#include "plan.h"
#include "random-drive.h"
#include "result-file.h"
#include "scoring.h"
#include "session.h"

static void print_rehearsals(const char *name, const struct measurements *measurements)
{
	int i;

	for (i = 0; i < NR_REHEARSALS; i++) {
		const struct rehearsal *rehearsal = &measurements->rehearsal[i];

		if (rehearsal->done)
			printf("%s rehearsal %u %llu %llu %llu %u %s\n", name, rehearsal->size,
			       rehearsal->direct_ns, rehearsal->log_ns, rehearsal->move_ns,
			       rehearsal->gain_percent, rehearsal->steady ? "steady" : "unsteady");
	}
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
	printf("%s verdict %s %u small %u: %s\n", name, verdict_name(analysis.verdict),
	       analysis.alpha_percent, options.small_write_sectors, analysis.reason);
}

static enum thoroughness thoroughness = SURVEY_DEFAULT;

/* What ressd-probe does with a device, from the region on. */
static int prepare(struct session *session, struct drive *drive, struct failure *failure)
{
	struct measure *measure = session->measure;
	struct ressd_table table = { 0 };
	struct region region;
	char why[96];
	int code = plan_region(drive->disk.bytes, NULL, &region, failure);

	if (!code)
		code = plan_areas(drive->disk.bytes, 0, &table, why, sizeof(why), failure);
	if (code)
		return code;
	measure->disk = &drive->disk;
	measure->offset = region.offset;
	measure->bytes = region.bytes;
	measure->sequential_bytes = 524288;
	session->may_write = true;
	session->thoroughness = thoroughness;
	session->mover_stride[SIZE_4K] = plan_mover_stride(&table, 4096);
	session->mover_stride[SIZE_8K] = plan_mover_stride(&table, 8192);
	session_effort(measure, session->thoroughness);
	return measure_init(measure, failure);
}

/* With PROBE_SCORE_SHOW: when each step begins, seconds of device time. */
static void show_step(void *context, const char *name, unsigned int seconds)
{
	struct disk *disk = context;

	fprintf(stderr, "%7.1f s, at most %u s left: %s\n", disk->ops->now(disk) / 1e9, seconds,
		name);
}

static const struct watcher steps = { .step = show_step };

/* Of a drive like that, behind a host that adds nothing. */
static double slowdown_of(const char *profile)
{
	const struct host host = { 0 };
	struct failure failure;
	struct drive drive;
	double slowdown;

	if (drive_create(&drive, profile, &host, &failure))
		return 1;
	slowdown = emulated_slowdown(drive.emulated);
	drive_destroy(&drive);
	return slowdown;
}

static int survey_drive(const char *name, const char *profile, const struct host *host)
{
	struct failure failure = { "" };
	struct measure measure = { 0 };
	struct session session = { .measure = &measure };
	struct drive drive;
	struct truth truth;
	int code = drive_create(&drive, profile, host, &failure);

	if (getenv("PROBE_SCORE_SHOW"))
		session.watcher = &steps;
	session.context = &drive.disk;
	if (!code)
		code = prepare(&session, &drive, &failure);
	if (!code)
		code = session_run(&session, &failure);
	if (code) {
		fprintf(stderr, "probe-score: %s: %s\n%s", name, failure.text, profile);
		return 1;
	}
	emulated_truth(drive.emulated, &truth);
	truth.filled = measure.bytes;
	truth.slowdown = slowdown_of(profile);
	print_scores(name, &truth, session.survey.finding);
	print_rehearsals(name, &session.measurements);
	print_verdict(name, &session);
	printf("%s time %.1f %.0f\n", name, drive.disk.ops->now(&drive.disk) / 1e9,
	       measure.written / 1e6);
	fflush(stdout);
	measure_release(&measure);
	drive_destroy(&drive);
	return 0;
}

/* The size of each profile at which docs/ssdsim.md calibrates it. */
static const struct {
	const char *name;
	const char *size;
} named[] = {
	{ "samsung", "capacity_mb=3816" },
	{ "supertalent", "capacity_mb=3580" },
	{ "intel", "capacity_mb=1192 queue_depth=1" },
	{ "transcend", "capacity_mb=3808" },
	{ "ocz", "capacity_mb=3577" },
	{ "sdcard", "capacity_mb=7600" },
	{ "ssdsim-sc", "capacity_mb=1024" },
};

#define NR_NAMED	(sizeof(named) / sizeof(named[0]))
#define PROFILE_TEXT	65536U

/* Reads a profile and adds its size.  False, with a sentence, if it cannot be read. */
static bool read_profile(const char *folder, size_t index, char *profile)
{
	char path[4096];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.conf", folder, named[index].name);
	file = fopen(path, "re");
	if (!file) {
		fprintf(stderr, "probe-score: cannot open %s: %s\n", path, strerror(errno));
		return false;
	}
	length = fread(profile, 1, PROFILE_TEXT - 256, file);
	fclose(file);
	snprintf(profile + length, 256, "\n%s\n", named[index].size);
	return true;
}

static int survey_named(const char *folder, size_t index)
{
	const struct host host = { .seed = 1, .noise = 0.03, .spike_share = 0.005,
				   .spike_ns = 5e6, .host_ns = 14000 };
	char profile[PROFILE_TEXT];

	return read_profile(folder, index, profile) ?
	       survey_drive(named[index].name, profile, &host) : 1;
}

static int run_named(const char *folder, int count, char **only)
{
	int failed = 0, i;
	size_t n;

	for (n = 0; n < NR_NAMED; n++) {
		for (i = 0; i < count && strcmp(only[i], named[n].name); )
			i++;
		if (!count || i < count)
			failed |= survey_named(folder, n);
	}
	return failed;
}

static int run_random(u64 seed, unsigned int first, unsigned int count)
{
	char profile[RANDOM_DRIVE_TEXT], name[32];
	struct host host;
	unsigned int i;
	int failed = 0;

	for (i = first; i < first + count; i++) {
		random_drive(seed, i, profile, &host);
		snprintf(name, sizeof(name), "random-%u", i);
		if (getenv("PROBE_SCORE_SHOW"))
			fprintf(stderr, "%s%snoise %.2f spikes %.3f x %.0f host %u drop %d offset %llu\n",
				name, profile, host.noise, host.spike_share, host.spike_ns,
				host.host_ns, host.drops_flushes, (unsigned long long)host.offset);
		failed |= survey_drive(name, profile, &host);
	}
	return failed;
}

/* The judgement of a whole run of ressd-probe on an emulated drive somewhere else. */
static int judge_file(const char *folder, const char *name, const char *path, const char *seconds)
{
	const struct host host = { 0 };
	struct failure failure = { "" };
	struct result_file result;
	char profile[PROFILE_TEXT];
	struct drive drive;
	struct truth truth;
	size_t n = 0;
	int code;

	while (n < NR_NAMED && strcmp(named[n].name, name))
		n++;
	if (n == NR_NAMED || !read_profile(folder, n, profile)) {
		fprintf(stderr, "probe-score: there is no profile %s\n", name);
		return 1;
	}
	code = result_file_read(path, &result, &failure);
	if (!code)
		code = drive_create(&drive, profile, &host, &failure);
	if (code) {
		fprintf(stderr, "probe-score: %s: %s\n", name, failure.text);
		return 1;
	}
	emulated_truth(drive.emulated, &truth);
	drive_destroy(&drive);
	print_scores(name, &truth, result.finding);
	printf("%s verdict %s\n%s time %s %.0f\n", name, result.verdict, name, seconds,
	       result.written / 1e6);
	return 0;
}

static int print_sizes(void)
{
	size_t n;

	for (n = 0; n < NR_NAMED; n++)
		printf("%s %s\n", named[n].name, named[n].size);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[1], "--quick")) {
		thoroughness = SURVEY_QUICK;
		argc--;
		argv++;
	}
	if (argc == 6 && !strcmp(argv[1], "--judge"))
		return judge_file(argv[2], argv[3], argv[4], argv[5]);
	if (argc == 2 && !strcmp(argv[1], "--sizes"))
		return print_sizes();
	if (argc >= 3 && !strcmp(argv[1], "--named"))
		return run_named(argv[2], argc - 3, argv + 3);
	if (argc == 5 && !strcmp(argv[1], "--random"))
		return run_random(strtoull(argv[2], NULL, 10), atoi(argv[3]), atoi(argv[4]));
	fprintf(stderr, "how to call: probe-score [--quick] --named FOLDER [PROFILE...] | --random SEED FIRST COUNT | --judge FOLDER PROFILE RESULT SECONDS | --sizes\n");
	return 2;
}
