// SPDX-License-Identifier: GPL-2.0-only
/* Counterfeit drives: memory that wraps around, or ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "genuine.h"
#include "harness.h"

const char test_suite[] = "probe-genuine";

#define CLAIMED		(64ULL << 20)
#define REAL		(16ULL << 20)

enum kind { GENUINE, WRAPS, ENDS, DIES };

/* A drive that says it has CLAIMED bytes. */
static struct {
	enum kind kind;
	u8 *memory;		/* CLAIMED bytes, of which a counterfeit drive uses REAL */
	unsigned int calls;
} drive;

static u64 place_of(u64 offset)
{
	return drive.kind == WRAPS ? offset % REAL : offset;
}

static int died(struct failure *failure)
{
	if (drive.kind != DIES || drive.calls++ < 3)
		return 0;
	return fail(failure, -ENODEV, "cannot read a test disk: No such device");
}

static int disk_read(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		     struct failure *failure)
{
	(void)disk;
	*ns = 1000;
	if (drive.kind == ENDS && offset >= REAL)
		memset(data, 0, bytes);
	else
		memcpy(data, drive.memory + place_of(offset), bytes);
	return died(failure);
}

static int disk_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
		      struct failure *failure)
{
	(void)disk;
	*ns = 1000;
	if (drive.kind != ENDS || offset < REAL)
		memcpy(drive.memory + place_of(offset), data, bytes);
	return died(failure);
}

static int disk_flush(struct disk *disk, u64 *ns, struct failure *failure)
{
	(void)disk;
	(void)failure;
	*ns = 1000;
	return 0;
}

static const struct disk_ops ops = { .read = disk_read, .write = disk_write, .flush = disk_flush };
static struct disk disk = { .ops = &ops, .path = "a test disk", .bytes = CLAIMED };

/* Checks a drive of @kind; its contents must be what they were. */
static int check(enum kind kind, u64 offset, u64 bytes, struct failure *failure)
{
	u8 *before = malloc(CLAIMED);
	int code;
	u64 i;

	drive.kind = kind;
	drive.calls = 0;
	drive.memory = malloc(CLAIMED);
	for (i = 0; i < CLAIMED; i++)
		drive.memory[i] = test_random();
	memcpy(before, drive.memory, CLAIMED);
	code = genuine_check(&disk, offset, bytes, failure);
	CHECK(kind == DIES || !memcmp(before, drive.memory, CLAIMED), "it is as it was");
	free(before);
	free(drive.memory);
	return code;
}

TEST(genuine)
{
	struct failure failure = { "" };

	CHECK_EQ(check(GENUINE, 32 << 20, 32 << 20, &failure), 0);
	CHECK_EQ(check(GENUINE, 0, 8 << 20, &failure), 0);
}

TEST(wraps_around)
{
	struct failure failure = { "" };

	CHECK_EQ(exit_code_of(check(WRAPS, 32 << 20, 32 << 20, &failure)), EXIT_REFUSED);
	CHECK_HAS(failure.text, "counterfeit");
	CHECK_HAS(failure.text, "16777216 bytes or less, f3probe");
	/* What lies within the real memory does not show it. */
	CHECK_EQ(check(WRAPS, 0, 8 << 20, &failure), 0);
}

TEST(ends_early)
{
	struct failure failure = { "" };

	CHECK_EQ(exit_code_of(check(ENDS, 32 << 20, 32 << 20, &failure)), EXIT_REFUSED);
	CHECK_HAS(failure.text, "does not keep");
	CHECK_HAS(failure.text, "f3probe");
}

/* Pulled out meanwhile: the error of the device, not a counterfeit. */
TEST(dies)
{
	struct failure failure = { "" };

	CHECK_EQ(check(DIES, 32 << 20, 32 << 20, &failure), -ENODEV);
	CHECK_HAS(failure.text, "No such device");
}
