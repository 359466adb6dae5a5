// SPDX-License-Identifier: GPL-2.0-only
/* Reads before bundles of writes, rehearsed on a made-up drive. */
#include <stdio.h>
#include <stdlib.h>
#include "disk-clock.h"
#include "find/beside.h"
#include "find/session-parts.h"
#include "harness.h"
#include "noisy.h"

const char test_suite[] = "probe-dispatch";

#define MS		1000000ULL
#define SHIFT		22		/* of a clustered block */
#define CLUSTERED	4194304ULL
#define BLOCKS		64ULL
#define OFFSET		(3ULL << 20)	/* of the region: its blocks are not the drive's */
#define PARTITION	(2ULL << 20)

/* What a drive does, and what was seen of it. */
static struct {
	u64 read_ns, write_ns;
	u64 merge_ns;			/* of a write to another block than that of the last one */
	u64 collects_ns;		/* after each hundredth write */
	u64 slower_ns;			/* each write than the one before */
	u64 open;			/* block */
	u64 reads, writes, written;
	bool bundled;			/* all writes between two reads must be of one bundle */
	u64 since_read, last;
} drive;

static int drive_read(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		      struct failure *failure)
{
	(void)disk;
	(void)data;
	(void)failure;
	CHECK_EQ(bytes, BESIDE_READ_BYTES);
	CHECK(offset >= OFFSET && offset + bytes <= OFFSET + BLOCKS * CLUSTERED, "outside");
	drive.reads++;
	drive.since_read = 0;
	return disk_spend(ns, noisy_time(drive.read_ns, 0.02, 1 << 30));
}

static int drive_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		       struct failure *failure)
{
	const u64 block = (offset + PARTITION) >> SHIFT;
	u64 time = noisy_time(drive.write_ns, 0.02, 1 << 30);

	(void)disk;
	(void)data;
	(void)failure;
	CHECK_EQ(bytes, BESIDE_WRITE_BYTES);
	if (block != drive.open)
		time += drive.merge_ns;
	if (drive.bundled && drive.since_read) {
		CHECK_EQ(block, drive.open);
		CHECK(offset > drive.last, "not ascending");
	}
	drive.open = block;
	drive.since_read++;
	drive.last = offset;
	drive.written += bytes;
	time += drive.writes * drive.slower_ns;
	if (++drive.writes % 100 == 0)
		time += drive.collects_ns;
	return disk_spend(ns, time);
}

static int drive_flush(struct disk *disk, u64 *ns, struct failure *failure)
{
	(void)disk;
	(void)failure;
	return disk_spend(ns, 1);
}

static const struct disk_ops ops = {
	.read = drive_read, .write = drive_write, .flush = drive_flush,
	.pause = disk_pause, .now = disk_now,
};

static struct disk disk = { .ops = &ops, .path = "a test disk", .granule = 512 };
static struct measure measure;
static struct session session;

/* A drive that has been measured up to here, with @seconds left. */
static void prepare(u64 read_ns, u64 write_ns, u64 merge_ns, unsigned int seconds)
{
	struct failure failure;

	memset(&drive, 0, sizeof(drive));
	drive.read_ns = read_ns;
	drive.write_ns = write_ns;
	drive.merge_ns = merge_ns;
	disk_clock = 1;
	measure = (struct measure){
		.disk = &disk, .offset = OFFSET, .bytes = BLOCKS * CLUSTERED,
	};
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	session = (struct session){
		.measure = &measure, .thoroughness = SURVEY_DEFAULT, .may_write = true,
		.one_at_a_time = true, .end = seconds * SECOND,
		.survey = { .measure = &measure, .disk_offset = PARTITION },
	};
	session.survey.finding[PARAMETER_BLOCK] =
		(struct finding){ .status = STATUS_MEASURED, .confidence = CONFIDENCE_MEDIUM,
				  .value = CLUSTERED };
	session.measurements.random_write[SIZE_4K] =
		(struct result){ .done = true, .bandwidth = 4096 * 1e9 / (write_ns + merge_ns) };
	session.measurements.random_read[SIZE_4K] =
		(struct result){ .done = true, .median_ns = read_ns };
}

static const struct finding *find(void)
{
	struct failure failure;

	CHECK(!dispatch_run(&session, &failure), "%s", failure.text);
	measure_release(&measure);
	return &session.survey.finding[PARAMETER_DISPATCH];
}

/* A merge is what reads wait for. */
TEST(merges_let_reads_wait)
{
	const struct finding *finding;
	char options[80];

	prepare(MS / 3, MS, 100 * MS, 300);
	finding = find();
	CHECK_EQ(finding->status, STATUS_MEASURED);
	CHECK_EQ(finding->value, CLUSTERED);
	snprintf(options, sizeof(options),
		 "it takes dispatch bundle_rp bundle_sectors %llu dispatch_depth 4",
		 finding->value / 512);
	CHECK(strstr(finding->why, options), "%s", finding->why);
	CHECK(finding->effect > 2.5 && finding->effect < 8, "%.2f", finding->effect);
	CHECK(strstr(finding->why, "writes keep 99."), "%s", finding->why);
}

/* Nothing but the order is gained, and little is lost. */
TEST(reads_cost_little)
{
	const struct finding *finding;
	int i;

	for (i = 0; i < 20; i++) {
		prepare(MS / 10, 5 * MS, 0, 300);
		drive.collects_ns = 20 * MS;
		finding = find();
		CHECK_EQ(finding->status, STATUS_MEASURED);
		CHECK_EQ(finding->value, CLUSTERED);
	}
}

/* A drive that gets slower does so for both. */
TEST(the_later_turns_are_slower)
{
	const struct finding *finding;

	prepare(MS / 100, 5 * MS, 0, 300);
	drive.slower_ns = 5 * MS / 256;
	finding = find();
	CHECK_EQ(finding->value, CLUSTERED);
	CHECK(strstr(finding->why, "writes keep 99.") || strstr(finding->why, "writes keep 100."),
	      "%s", finding->why);
}

/* More reads, fewer writes: whoever writes loses. */
TEST(reads_cost_the_writes)
{
	const struct finding *finding;
	int i;

	for (i = 0; i < 20; i++) {
		prepare(MS, 2 * MS, 0, 300);
		finding = find();
		CHECK_EQ(finding->status, STATUS_MEASURED);
		CHECK_EQ(finding->value, 0);
		CHECK(finding->effect > 2, "%.2f", finding->effect);
	}
}

/* A bundle of all that is written is what they would have waited for. */
TEST(reads_wait_for_all_writers)
{
	const struct finding *finding;

	prepare(MS / 10, 5 * MS, 0, 300);
	session.survey.finding[PARAMETER_BLOCK].value = 1 << 30;
	finding = find();
	CHECK_EQ(finding->status, STATUS_MEASURED);
	CHECK_EQ(finding->value, 0);
	CHECK(strstr(finding->why, "writes keep 100."), "%s", finding->why);
}

TEST(no_block_is_known)
{
	prepare(MS / 10, 5 * MS, 0, 300);
	session.survey.finding[PARAMETER_BLOCK] = (struct finding){ .value = 12345 };
	CHECK_EQ(find()->value, 4 << 20);
	/* By a hint, or not exactly. */
	prepare(MS / 10, 5 * MS, 0, 300);
	session.survey.finding[PARAMETER_BLOCK].confidence = CONFIDENCE_LOW;
	session.survey.finding[PARAMETER_BLOCK].value = 8 << 20;
	CHECK_EQ(find()->value, 4 << 20);
}

/* A merge is worth more of an order. */
TEST(requests_in_flight)
{
	const struct finding *finding;
	double effect;

	prepare(MS / 3, MS, 100 * MS, 300);
	finding = find();
	CHECK_EQ(finding->low, 4);
	effect = finding->effect;
	prepare(MS / 3, MS, 100 * MS, 300);
	session.survey.finding[PARAMETER_BLOCK].has_phase = true;
	finding = find();
	CHECK_EQ(finding->low, 2);
	CHECK(finding->effect > 1.3 * effect, "%.2f, with 4 %.2f", finding->effect, effect);
}

TEST(bounds)
{
	const struct finding *finding;

	prepare(MS / 10, MS / 2, 0, 300);
	CHECK_EQ(find()->status, STATUS_MEASURED);
	CHECK(drive.written <= 64 << 20, "%llu bytes", drive.written);

	/* Merges of a second: a turn of eight writes, and only one cycle. */
	prepare(MS / 3, MS, 1000 * MS, 40);
	finding = find();
	CHECK_EQ(finding->status, STATUS_MEASURED);
	CHECK_EQ(finding->value, CLUSTERED);
	CHECK_EQ(finding->written, drive.written);
	CHECK(disk_clock <= 40 * SECOND, "%llu ns", disk_clock);

	/* More time than it may take. */
	prepare(MS / 3, MS, 3000 * MS, 300);
	find();
	CHECK(disk_clock <= 73 * SECOND, "%llu ns", disk_clock);

	/* Too slow for a cycle, and slower than was seen before. */
	prepare(MS / 3, MS, 2000 * MS, 40);
	CHECK_EQ(find()->status, STATUS_INCONCLUSIVE);
	CHECK_EQ(drive.writes, 0);
	prepare(MS / 3, MS, 2000 * MS, 40);
	session.measurements.random_write[SIZE_4K].bandwidth *= 10;
	CHECK_EQ(find()->status, STATUS_INCONCLUSIVE);
	CHECK(disk_clock <= 41 * SECOND, "%llu ns", disk_clock);

	prepare(MS / 10, 5 * MS, 0, 1);
	CHECK_EQ(find()->status, STATUS_INCONCLUSIVE);
	CHECK_EQ(drive.writes, 0);

	/* Writes that once took half a minute: found by --quick on a drive that took 92 s. */
	prepare(MS / 3, MS, 100 * MS, 31);
	session.measurements.random_write[SIZE_8K].worst_ns = 30 * SECOND;
	CHECK_EQ(find()->status, STATUS_INCONCLUSIVE);
	CHECK_EQ(drive.writes, 0);

	/* Nothing is known of writes. */
	prepare(MS / 3, MS, 100 * MS, 300);
	session.measurements.random_write[SIZE_4K].done = false;
	CHECK_EQ(find()->status, STATUS_MEASURED);
	CHECK(disk_clock <= 73 * SECOND, "%llu ns", disk_clock);
}

/* What is clear after one cycle takes no second one, where writes are slow. */
TEST(slow_drives_are_not_kept_busy)
{
	prepare(MS / 3, MS, 350 * MS, 300);
	CHECK_EQ(find()->value, CLUSTERED);
	CHECK(disk_clock <= 25 * SECOND, "%llu ns", disk_clock);
}

TEST(limit_of_bytes)
{
	const struct finding *finding;

	prepare(MS / 10, 5 * MS, 0, 300);
	measure.write_limit = 1 << 20;
	finding = find();
	CHECK_EQ(finding->status, STATUS_INCONCLUSIVE);
	CHECK(strstr(finding->why, "limit of bytes"), "%s", finding->why);
	CHECK(drive.written <= 1 << 20, "%llu bytes", drive.written);
}

/* An order of its own, which one command after the other does not show. */
TEST(drives_that_take_many_commands)
{
	prepare(MS / 3, MS, 100 * MS, 300);
	session.one_at_a_time = false;
	CHECK_EQ(find()->status, STATUS_NOT_DETECTABLE);
	CHECK_EQ(drive.writes + drive.reads, 0);
}

/* Found by drives that took it to 95 s. */
TEST(a_quick_run_leaves_it_out)
{
	prepare(MS / 3, MS, 100 * MS, 300);
	session.thoroughness = SURVEY_QUICK;
	CHECK_EQ(find()->status, STATUS_UNKNOWN);
	CHECK_EQ(drive.writes + drive.reads, 0);
}

/* An earlier run has found it. */
TEST(only_once)
{
	prepare(MS / 3, MS, 100 * MS, 300);
	session.survey.finding[PARAMETER_DISPATCH] =
		(struct finding){ .status = STATUS_MEASURED, .value = 8192 };
	CHECK_EQ(find()->value, 8192);
	CHECK_EQ(drive.writes, 0);
}

/* Bundles count from the start of the disk; between two reads there is one, in ascending order. */
TEST(bundles)
{
	struct beside *beside = calloc(1, sizeof(*beside));
	struct failure failure;
	bool whole;

	prepare(MS / 3, MS, 100 * MS, 300);
	beside_begin(beside, &session.survey, 1, CLUSTERED);
	CHECK(!beside_take_turn(beside, &session.survey, 2, &whole, &failure), "%s", failure.text);
	/* The first write was sent alone, before there was anything to choose. */
	drive.bundled = true;
	CHECK(!beside_take_turn(beside, &session.survey, 200, &whole, &failure), "%s",
	      failure.text);
	CHECK(whole, "not whole");
	CHECK(drive.reads < drive.writes, "%llu reads, %llu writes", drive.reads, drive.writes);
	CHECK_EQ(beside->nr_waits, drive.reads);
	CHECK_EQ(beside->writes, drive.writes);
	CHECK_EQ(beside->ns, disk_clock - 1);
	measure_release(&measure);
	free(beside);
}

/* As they come: each read waits for one write of each writer. */
TEST(as_they_come)
{
	struct beside *beside = calloc(1, sizeof(*beside));
	struct failure failure;
	unsigned int i;
	bool whole;

	prepare(MS, 10 * MS, 0, 300);
	beside_begin(beside, &session.survey, BESIDE_REQUESTS, CLUSTERED);
	CHECK(!beside_take_turn(beside, &session.survey, 10 * BESIDE_WRITERS, &whole, &failure),
	      "%s", failure.text);
	CHECK(beside->nr_waits == 9 || beside->nr_waits == 10, "%u reads", beside->nr_waits);
	for (i = 0; i < beside->nr_waits; i++)
		CHECK(beside->waits[i] > 155e6 && beside->waits[i] < 167e6, "%.0f ns",
		      beside->waits[i]);
	measure_release(&measure);
	free(beside);
}
