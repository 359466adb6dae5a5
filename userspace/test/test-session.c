// SPDX-License-Identifier: GPL-2.0-only
/* What a whole measurement makes of its time, on a disk whose times are known. */
#include <string.h>
#include "disk-clock.h"
#include "find/session.h"
#include "harness.h"

const char test_suite[] = "probe-session";

#define REGION		(256ULL << 20)
#define SECOND		1000000000ULL

static int disk_read(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		     struct failure *failure)
{
	(void)disk;
	(void)offset;
	(void)failure;
	memset(data, 1, bytes);
	return disk_spend(ns, 100000 + bytes * 10ULL);
}

/* 100 MB/s, and one and a half seconds for a small write. */
static int disk_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		      struct failure *failure)
{
	(void)disk;
	(void)offset;
	(void)data;
	(void)failure;
	return disk_spend(ns, bytes * 10ULL + (bytes < 131072 ? 3 * SECOND / 2 : 0));
}

static int disk_flush(struct disk *disk, u64 *ns, struct failure *failure)
{
	(void)disk;
	(void)failure;
	return disk_spend(ns, 100000);
}

static struct measurements run(enum thoroughness thoroughness)
{
	static const struct disk_ops ops = { disk_read, disk_write, disk_flush, disk_pause,
					     disk_now };
	struct disk disk = { .ops = &ops, .path = "a test disk", .bytes = REGION, .granule = 512 };
	struct measure measure = { .disk = &disk, .bytes = REGION,
				   .sequential_bytes = MEASURE_MAX_BYTES };
	struct session session = { .measure = &measure, .may_write = true,
				   .thoroughness = thoroughness,
				   .mover_stride = { 65536, 131072 } };
	struct failure failure;

	disk_clock = 0;
	session_effort(&measure, thoroughness);
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	CHECK(!session_run(&session, &failure), "%s", failure.text);
	measure_release(&measure);
	return session.measurements;
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
