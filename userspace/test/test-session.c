// SPDX-License-Identifier: GPL-2.0-only
/* What a whole measurement makes of its time, on a disk whose times are known. */
#include <string.h>
#include "disk-clock.h"
#include "find/session.h"
#include "harness.h"

const char test_suite[] = "probe-session";

#define REGION		(256ULL << 20)
#define SECOND		1000000000ULL

/*
 * A drive that holds so many small writes back, and then has the next read or long write wait for
 * all of them; 0: it holds none.
 */
static unsigned int most_held, held;

/* For so long after a small write reads wait for what is buffered. */
static u64 buffered_ns;
static u64 last_small;

/* 100 MB/s, and so much for a small write. */
static u64 small_ns;

/* The names of all steps, in their order. */
static char steps[4096];

/* One in so many random writes takes so long; 0: none does. */
#define LONG_NS		(12 * SECOND)
static unsigned int long_every, nr_small;

/* One in so many small writes is such a pause; 0: none is. */
static unsigned int pause_every;
static u64 pause_ns;

static u64 pay_for_held(void)
{
	const u64 ns = held * small_ns;

	held = 0;
	return ns;
}

static int disk_read(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		     struct failure *failure)
{
	const bool waits = last_small && disk_clock < last_small + buffered_ns;

	(void)disk;
	(void)offset;
	(void)failure;
	memset(data, 1, bytes);
	return disk_spend(ns, 100000 + bytes * 10ULL + (waits ? SECOND / 2 : 0) + pay_for_held());
}

static int disk_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		      struct failure *failure)
{
	(void)disk;
	(void)offset;
	(void)data;
	(void)failure;
	if (bytes < 131072)
		last_small = disk_clock;
	if (bytes >= 131072)
		return disk_spend(ns, bytes * 10ULL + pay_for_held());
	if (long_every && strstr(steps, "random write 4 KiB") && !(++nr_small % long_every))
		return disk_spend(ns, LONG_NS);
	if (pause_every && !(++nr_small % pause_every))
		return disk_spend(ns, pause_ns);
	if (held < most_held) {
		held++;
		return disk_spend(ns, bytes * 10ULL);
	}
	return disk_spend(ns, bytes * 10ULL + small_ns);
}

static int disk_flush(struct disk *disk, u64 *ns, struct failure *failure)
{
	(void)disk;
	(void)failure;
	return disk_spend(ns, 100000);
}

/* From the last small write to the rehearsal. */
static u64 before_rehearsal;

static void note_step(void *context, const char *name, unsigned int seconds)
{
	(void)context;
	(void)seconds;
	if (!strcmp(name, "rehearsal 4 KiB"))
		before_rehearsal = disk_clock - last_small;
	strncat(steps, name, sizeof(steps) - strlen(steps) - 1);
	strncat(steps, "\n", sizeof(steps) - strlen(steps) - 1);
}

static struct measurements run_on(enum thoroughness thoroughness, const struct finding *flush)
{
	static const struct watcher watcher = { .step = note_step };
	static const struct disk_ops ops = { disk_read, disk_write, disk_flush, disk_pause,
					     disk_now };
	struct disk disk = { .ops = &ops, .path = "a test disk", .bytes = REGION, .granule = 512 };
	struct measure measure = { .disk = &disk, .bytes = REGION,
				   .sequential_bytes = MEASURE_MAX_BYTES };
	struct session session = { .measure = &measure, .may_write = true,
				   .thoroughness = thoroughness,
				   .mover_stride = { 65536, 131072 }, .watcher = &watcher };
	struct failure failure;
	int i;

	/* What is known already is not looked for. */
	for (i = 0; flush && i < NR_PARAMETERS; i++)
		session.survey.finding[i].status = STATUS_NOT_DETECTABLE;
	if (flush)
		session.survey.finding[PARAMETER_FLUSH] = *flush;
	steps[0] = '\0';
	disk_clock = 0;
	last_small = 0;
	held = 0;
	session_effort(&measure, thoroughness);
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	CHECK(!session_run(&session, &failure), "%s", failure.text);
	measure_release(&measure);
	return session.measurements;
}

static struct measurements run(enum thoroughness thoroughness)
{
	small_ns = 3 * SECOND / 2;
	return run_on(thoroughness, NULL);
}

/* It counts no open blocks, of which others learn that; and no verdict rests on them. */
TEST(a_quick_run_measures_commits_behind_its_rehearsal)
{
	const char *rehearsal;

	small_ns = SECOND / 500;
	run_on(SURVEY_QUICK, NULL);
	rehearsal = strstr(steps, "rehearsal 4 KiB");
	CHECK(rehearsal && strstr(rehearsal, "database commits"), "%s", steps);
	CHECK(!strstr(steps, "open blocks"), "%s", steps);
	run_on(SURVEY_DEFAULT, NULL);
	CHECK(!strstr(steps, "database commits") && strstr(steps, "open blocks"), "%s", steps);
}

/*
 * Found on the Transcend profile: the random writes had used up the time, and without sequential
 * reads nothing could be said of rewriting whole blocks, which makes the log four times as fast.
 */
TEST(slow_random_writes_leave_sequential_reads)
{
	const struct measurements measured = run(SURVEY_DEFAULT), quick = run(SURVEY_QUICK);

	CHECK(measured.sequential_read.done && measured.sequential_write.done, "by default");
	CHECK(quick.sequential_read.done && quick.sequential_write.done, "and with --quick");
	/* It was late: what is not needed was left out. */
	CHECK(!measured.ordered_write_128k[SIZE_4K].done, "this disk is no slow one");
	CHECK(!quick.random_write[SIZE_8K].done, "this disk is no slow one");
}

#define AGING	"random writes until spare blocks are used up\n"

/* Is the step @first followed by the step @next, at once or @later? */
static bool follows(const char *first, const char *next, bool later)
{
	const char *at = strstr(steps, first);

	if (!at)
		return false;
	at += strlen(first);
	return later ? !!strstr(at, next) : !strncmp(at, next, strlen(next));
}

/* On a drive of fast small writes that takes flushes, or not; it is rehearsed. */
static void run_with_flushes(bool honoured)
{
	const struct finding flushes = { .status = STATUS_MEASURED, .value = honoured };
	struct measurements measured;

	small_ns = SECOND / 1000;
	measured = run_on(SURVEY_DEFAULT, &flushes);
	CHECK(measured.rehearsal[0].done, "a rehearsal");
}

/*
 * Found on drives that map pages: writes in order between aging and random writes left garbage that
 * costs nothing to collect, and a random write looked half as dear as it is.
 */
TEST(random_writes_follow_the_aging)
{
	run_with_flushes(true);
	CHECK(follows(AGING, "random write 4 KiB\n", false), "%s", steps);
	CHECK(follows("random write 4 KiB\n", "sequential write\n", true), "%s", steps);
}

/*
 * Found on drives that ignore flushes: they were not aged, and then looked half as slow; and writes
 * in order that came later paid for all that was buffered, minutes on some.
 */
TEST(drives_that_ignore_flushes_are_aged)
{
	run_with_flushes(false);
	CHECK(follows("sequential write\n", AGING, true), "%s", steps);
	CHECK(follows("random read 4 KiB\n", AGING, true), "%s", steps);
	CHECK(follows(AGING, "random write 4 KiB\n", false), "%s", steps);
}

/* Found on such drives: a rehearsal that begins at once is of the random writes before it. */
TEST(a_rehearsal_waits_until_reads_are_fast)
{
	buffered_ns = 20 * SECOND;
	run_with_flushes(false);
	CHECK(before_rehearsal >= buffered_ns, "%llu ms",
	      (unsigned long long)before_rehearsal / 1000000);
	buffered_ns = 0;
}

static u64 seconds_of(enum thoroughness thoroughness, const struct finding *flush)
{
	run_on(thoroughness, flush);
	return disk_clock / SECOND;
}

/*
 * Drives that share their log blocks take half a minute for one write: what no verdict needs, and a
 * rehearsal for which such a call leaves no time, made quick runs of 78 to 92 s.
 */
TEST(long_calls_end_a_quick_run)
{
	struct measurements measured;

	small_ns = SECOND / 4;
	long_every = 24;
	measured = run_on(SURVEY_QUICK, NULL);
	CHECK(disk_clock / SECOND <= 75, "%llu s", disk_clock / SECOND);
	CHECK(!measured.rehearsal[0].done && !measured.random_write[SIZE_8K].done, "%s", steps);
	long_every = 0;
}

#define ORDERED	"ordered write 4 KiB at the mover's distance\n"

/* A drive that pauses, of which nothing but its times is known. */
static struct measurements run_with_pauses(enum thoroughness thoroughness, u64 ns)
{
	const struct finding flushes = { .status = STATUS_MEASURED, .value = true };
	struct measurements measured;

	small_ns = SECOND / 500;
	pause_every = 300;
	pause_ns = ns;
	measured = run_on(thoroughness, &flushes);
	pause_every = 0;
	return measured;
}

/*
 * Found on drives that share their log blocks: a single ordered write, which only the model needs,
 * took 30 of a quick run's 75 s, and none was left for the rehearsal.
 */
TEST(a_quick_run_leaves_its_pauses_to_the_rehearsal)
{
	struct measurements measured = run_with_pauses(SURVEY_QUICK, 4 * SECOND);

	CHECK(measured.rehearsal[0].done && measured.rehearsal[0].pieces, "%s", steps);
	CHECK(measured.rehearsal[0].shares_log, "its pauses are merges of many blocks");
	CHECK(!strstr(steps, ORDERED), "%s", steps);
	run_with_pauses(SURVEY_DEFAULT, 4 * SECOND);
	CHECK(strstr(steps, ORDERED), "%s", steps);
	/* So long garbage collection may take, and then moves may be dearer than random writes. */
	measured = run_with_pauses(SURVEY_QUICK, SECOND * 2 / 5);
	CHECK(measured.rehearsal[0].pauses && !measured.rehearsal[0].shares_log, "%s", steps);
}

/* Found on such drives: where the next pause did not fit there was no verdict. */
TEST(where_log_blocks_are_shared_random_writes_tell_enough)
{
	const struct measurements measured = run_with_pauses(SURVEY_QUICK, 18 * SECOND);
	const struct rehearsal *rehearsal = &measured.rehearsal[0];

	CHECK(rehearsal->done && !rehearsal->pieces && rehearsal->shares_log, "%s", steps);
	CHECK(rehearsal->direct_ns > 30 * SECOND / 1000, "%llu ns", rehearsal->direct_ns);
	CHECK_EQ(rehearsal->move_ns, rehearsal->direct_ns);
	/* 4 KiB at 100 MB/s */
	CHECK(rehearsal->log_ns / 1000 == 40, "%llu ns", rehearsal->log_ns);
	CHECK(disk_clock / SECOND <= 75, "%llu s", disk_clock / SECOND);
}

/*
 * Found on drives that ignore flushes: of two rounds of random writes, a second each, a quick run
 * threw both away, though the second one met a full buffer.
 */
TEST(behind_a_full_buffer_one_round_counts)
{
	const struct finding ignored = { .status = STATUS_MEASURED, .value = 0 };
	struct measurements measured;

	most_held = 32;
	small_ns = SECOND;
	measured = run_on(SURVEY_QUICK, &ignored);
	CHECK(measured.random_write[SIZE_4K].done, "%s", steps);
	most_held = 0;
}

/*
 * Found on a drive that ignores flushes and holds 512 writes of a quarter of a second each: a run
 * took 343 s, 131 of them in two calls, and a quick one 83 s.
 */
TEST(no_run_takes_longer_than_it_may)
{
	const struct finding ignored = { .status = STATUS_MEASURED, .value = 0 };
	u64 ms;

	for (ms = 1; ms <= 1000; ms *= 4) {
		for (most_held = 0; most_held <= 512; most_held += 256) {
			const struct finding *flush = most_held ? &ignored : NULL;

			small_ns = ms * (SECOND / 1000);
			CHECK(seconds_of(SURVEY_DEFAULT, flush) <= 300, "%llu s; %llu ms, %u held",
			      disk_clock / SECOND, ms, most_held);
			CHECK(seconds_of(SURVEY_QUICK, flush) <= 75, "%llu s; %llu ms, %u held",
			      disk_clock / SECOND, ms, most_held);
		}
	}
	most_held = 0;
}
