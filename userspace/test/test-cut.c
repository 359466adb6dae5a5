// SPDX-License-Identifier: GPL-2.0-only
/* Long writes, as they are and cut, on a made-up drive that may program pages twice. */
#include "disk-clock.h"
#include "find/survey.h"
#include "harness.h"
#include "noisy.h"

const char test_suite[] = "probe-cut";

#define REGION		(256ULL << 20)
#define PAGE		49152U		/* no power of two */
#define PHASE		8192U
#define BUFFER		261120U		/* not of whole pages */
#define PIECE		(BUFFER / PAGE * PAGE)

/* What a drive does with writes, and what was seen of them. */
static struct {
	bool through;			/* one longer than the buffer empties it */
	bool merges;			/* a write that crosses 4 MiB waits */
	u64 end;			/* of the last write */
	unsigned int cut, aligned;	/* writes up to PIECE, those that begin a page */
	u64 written;
} drive;

static int drive_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		       struct failure *failure)
{
	u64 time = noisy_time(bytes * 12, 0.02, 64);

	(void)disk;
	(void)data;
	(void)failure;
	CHECK(!drive.end || offset == drive.end, "not behind the write before");
	drive.end = offset + bytes;
	drive.written += bytes;
	if (bytes <= PIECE) {
		drive.cut++;
		drive.aligned += offset % PAGE == PHASE;
	}
	if (drive.through && bytes > BUFFER)
		time += 1500000;
	if (drive.merges && offset >> 22 != (offset + bytes) >> 22)
		time += 30000000;
	return disk_spend(ns, time);
}

static struct finding find(const struct finding *page, u64 buffer, u64 deadline)
{
	static const struct disk_ops ops = {
		.write = drive_write, .pause = disk_pause, .now = disk_now,
	};
	struct disk disk = { .ops = &ops, .path = "a test disk", .granule = 512 };
	struct measure measure = { .disk = &disk, .offset = 12288, .bytes = REGION };
	struct survey survey = { .measure = &measure, .deadline = deadline };
	struct failure failure;

	disk_clock = 1;
	drive.end = 0;
	drive.cut = 0;
	drive.aligned = 0;
	drive.written = 0;
	survey.finding[PARAMETER_PAGE] = *page;
	survey.finding[PARAMETER_WRITE_BUFFER] =
		(struct finding){ .status = STATUS_MEASURED, .value = buffer };
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	CHECK(!find_cut(&survey, &failure), "%s", failure.text);
	measure_release(&measure);
	return survey.finding[PARAMETER_CUT];
}

static const struct finding known_page = {
	.status = STATUS_MEASURED, .value = PAGE, .has_phase = true, .phase = PHASE,
};

/* Merges that both ways meet must not hide it. */
TEST(longer_than_the_buffer_is_slower)
{
	struct finding finding;

	drive.through = true;
	drive.merges = true;
	finding = find(&known_page, BUFFER, 0);
	drive.through = false;
	drive.merges = false;
	CHECK_EQ(finding.status, STATUS_MEASURED);
	CHECK_EQ(finding.value, PIECE);
	CHECK(finding.effect > 1.1 && finding.effect < 1.4, "%.2f", finding.effect);
	/* Each long one has an end of less than a page, where the next one goes on. */
	CHECK(drive.aligned * 2 > drive.cut, "%u of %u begin a page", drive.aligned, drive.cut);
}

/* What both ways meet is no gain, and little is written to see that. */
TEST(nothing_is_gained)
{
	unsigned int i;

	for (i = 0; i < 50; i++) {
		struct finding finding;

		drive.merges = i % 2;
		finding = find(&known_page, BUFFER, 0);
		drive.merges = false;
		CHECK_EQ(finding.status, STATUS_MEASURED);
		CHECK_EQ(finding.value, 0);
	}
	find(&known_page, BUFFER, 0);
	CHECK(drive.written <= 20 << 20, "%llu bytes", drive.written);
}

TEST(what_it_needs)
{
	struct finding no_phase = known_page;

	no_phase.has_phase = false;
	CHECK_EQ(find(&no_phase, BUFFER, 0).status, STATUS_NOT_DETECTABLE);
	CHECK_EQ(find(&(struct finding){ 0 }, BUFFER, 0).status, STATUS_NOT_DETECTABLE);
	CHECK_EQ(find(&known_page, PAGE - 1, 0).status, STATUS_NOT_DETECTABLE);
	CHECK_EQ(find(&known_page, 1 << 20, 0).status, STATUS_NOT_DETECTABLE);
	CHECK_EQ(drive.written, 0);
	CHECK_EQ(find(&known_page, BUFFER, 1).status, STATUS_INCONCLUSIVE);
}
