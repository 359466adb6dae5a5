// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe-score: lets the searches of ressd-probe loose on emulated drives and compares what they say
 * with what is true.
 *
 *	probe-score --named FOLDER [PROFILE...]	the profiles of tests/ssdsim
 *	probe-score --random SEED FIRST COUNT	drives drawn by random-drive.c
 *
 * One line for each drive and parameter: "DRIVE PARAMETER OUTCOME CONFIDENCE FOUND TRUE
 * shows|hidden WHY", and a line "DRIVE time SECONDS MEGABYTES".  tools/probe-score.py adds them
 * up.  With PROBE_SCORE_SHOW set: the drives and when each step begins, on standard error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "drive.h"
#include "plan.h"
#include "random-drive.h"
#include "session.h"

enum outcome { CORRECT, NOT_FOUND, WRONG };

static const char *const outcomes[] = { "correct", "not-found", "WRONG" };

struct scored {
	const struct truth *truth;
	const struct survey *survey;
};

static bool near(u64 value, u64 truth, u64 tolerance)
{
	return value + tolerance >= truth && value <= truth + tolerance;
}

/* Found, not found, or wrong: a number that is @truth, or 0 when there is nothing to find. */
static enum outcome judge_number(const struct finding *finding, u64 truth, u64 tolerance)
{
	if (finding->status == STATUS_BOUNDED)
		return truth >= finding->low && truth <= finding->high ? CORRECT : WRONG;
	if (finding->status != STATUS_MEASURED)
		return truth ? NOT_FOUND : CORRECT;
	return near(finding->value, truth, tolerance) ? CORRECT : WRONG;
}

/* Phases are on a grid of 4 KiB of the device: the borders of a partition may be off it. */
static enum outcome judge_phase(const struct finding *finding, u64 size, u64 phase)
{
	if (finding->status != STATUS_MEASURED || !finding->has_phase || !size)
		return CORRECT;
	return finding->phase % size == phase % size / 4096 * 4096 ? CORRECT : WRONG;
}

static u64 page_phase(const struct truth *truth)
{
	return truth->page ? truth->block_phase % truth->page : 0;
}

static enum outcome judge(const struct scored *scored, enum parameter parameter, u64 *expected,
			  bool *shows)
{
	const struct truth *truth = scored->truth;
	const struct finding *finding = &scored->survey->finding[parameter];
	const u64 page = truth->page ? truth->page : 4096;
	enum outcome outcome;

	*shows = true;
	switch (parameter) {
	case PARAMETER_FLUSH:
		*expected = truth->flush_honoured;
		return finding->status != STATUS_MEASURED ? NOT_FOUND :
		       finding->value == *expected ? CORRECT : WRONG;
	case PARAMETER_PAGE:
		*expected = truth->page;
		/* Smaller ones, and borders off the grid, are beyond writes of 4 KiB. */
		*shows = truth->page > 4096 && truth->flush_honoured &&
			 page_phase(truth) % 4096 == 0;
		outcome = judge_number(finding, truth->page > 4096 ? truth->page : 0, 0);
		return outcome == CORRECT ? judge_phase(finding, truth->page, page_phase(truth)) :
		       outcome;
	case PARAMETER_BLOCK:
		*expected = truth->block;
		*shows = !truth->page_mapped && truth->flush_honoured;
		outcome = judge_number(finding, truth->block, 0);
		return outcome == CORRECT ? judge_phase(finding, truth->block, truth->block_phase) :
		       outcome;
	case PARAMETER_MODES:
		*expected = truth->two_speeds ? 2 : 1;
		*shows = truth->flush_honoured;
		if (finding->status != STATUS_MEASURED)
			return NOT_FOUND;
		return finding->value == *expected ? CORRECT : WRONG;
	case PARAMETER_READ_BUFFER:
		*expected = truth->read_buffer;
		return judge_number(finding, truth->read_buffer, page + truth->prefetch);
	case PARAMETER_WRITE_BUFFER:
		*expected = truth->write_buffer;
		return judge_number(finding, truth->write_buffer, 1024);
	case PARAMETER_PREFETCH:
		*expected = truth->prefetch;
		return judge_number(finding, truth->prefetch, page - 1);
	case PARAMETER_POLICY:
		*expected = !truth->write_buffer ? POLICY_NONE :
			    truth->merges_rewrites ? POLICY_CACHE : POLICY_BUFFER;
		*shows = truth->flush_honoured && truth->page > 4096 &&
			 page_phase(truth) % 4096 == 0;
		if (finding->status != STATUS_MEASURED)
			return NOT_FOUND;
		return finding->value == *expected ? CORRECT : WRONG;
	case PARAMETER_OPEN_UNITS:
		*expected = truth->log_blocks;
		*shows = !truth->page_mapped && truth->flush_honoured;
		if (truth->page_mapped)
			return finding->status == STATUS_MEASURED ? WRONG : CORRECT;
		return judge_number(finding, truth->log_blocks, 0);
	case PARAMETER_FAST_AREA:
		/* None of these drives has one, so that not finding it is no merit. */
		*expected = 0;
		*shows = false;
		return judge_number(finding, 0, 0);
	default:
		return NOT_FOUND;
	}
}

static void print_scores(const char *name, const struct truth *truth, const struct survey *survey)
{
	const struct scored scored = { truth, survey };
	int p;

	for (p = 0; p < NR_PARAMETERS; p++) {
		const struct finding *finding = &survey->finding[p];
		enum outcome outcome;
		u64 expected = 0;
		bool shows;

		/* What a flush costs has no truth but its time. */
		if (finding->status == STATUS_UNKNOWN || p == PARAMETER_FLUSH_COST)
			continue;
		outcome = judge(&scored, p, &expected, &shows);
		printf("%s %s %s %s %s:%llu+%llu %llu+%llu %s %.1fs %s\n", name, parameter_name(p),
		       outcomes[outcome], confidence_name(finding->confidence),
		       status_name(finding->status), finding->value, finding->phase, expected,
		       (unsigned long long)(p == PARAMETER_PAGE ? page_phase(truth) :
					    p == PARAMETER_BLOCK ? truth->block_phase : 0),
		       shows ? "shows" : "hidden", finding->ns / 1e9, finding->why);
	}
}

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

	ressd_options_default(&options);
	analyse(&session->measurements, session->survey.finding, &analysis, &options);
	printf("%s verdict %s %u small %u: %s\n", name, verdict_name(analysis.verdict),
	       analysis.alpha_percent, options.small_write_sectors, analysis.reason);
}

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
	session->thoroughness = SURVEY_DEFAULT;
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
	print_scores(name, &truth, &session.survey);
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

static int survey_named(const char *folder, const char *name, const char *size)
{
	const struct host host = { .seed = 1, .noise = 0.03, .spike_share = 0.005,
				   .spike_ns = 5e6, .host_ns = 14000 };
	char path[4096], profile[65536];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.conf", folder, name);
	file = fopen(path, "re");
	if (!file) {
		fprintf(stderr, "probe-score: cannot open %s: %s\n", path, strerror(errno));
		return 1;
	}
	length = fread(profile, 1, sizeof(profile) - 256, file);
	fclose(file);
	snprintf(profile + length, 256, "\n%s\n", size);
	return survey_drive(name, profile, &host);
}

static int run_named(const char *folder, int count, char **only)
{
	int failed = 0, i;
	size_t n;

	for (n = 0; n < sizeof(named) / sizeof(named[0]); n++) {
		for (i = 0; i < count && strcmp(only[i], named[n].name); )
			i++;
		if (!count || i < count)
			failed |= survey_named(folder, named[n].name, named[n].size);
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

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "--named"))
		return run_named(argv[2], argc - 3, argv + 3);
	if (argc == 5 && !strcmp(argv[1], "--random"))
		return run_random(strtoull(argv[2], NULL, 10), atoi(argv[3]), atoi(argv[4]));
	fprintf(stderr, "how to call: probe-score --named FOLDER [PROFILE...] | --random SEED FIRST COUNT\n");
	return 2;
}
