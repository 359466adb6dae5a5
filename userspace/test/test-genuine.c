// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counterfeit drives: memory that wraps around, or ends.  Reads, writes and flushes of the device
 * are wrapped by the linker.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "dm/genuine.h"
#include "harness.h"
#include "ressd-record.h"
#include "ressdctl/ressdctl.h"
#include "wrapped.h"

TEST_SUITE("probe-genuine");

#define CLAIMED		(64ULL << 20)
#define REAL		(16ULL << 20)

enum kind { GENUINE, WRAPS, ENDS, DIES };

/* A drive that says it has CLAIMED bytes. */
static struct {
	enum kind kind;
	u8 *memory;		/* CLAIMED bytes, of which a counterfeit drive uses REAL */
	unsigned int calls;
	u64 bad;		/* what cannot be read there, unless 0 */
} drive;

static u8 *place_of(u64 offset)
{
	if (drive.kind == ENDS && offset >= REAL)
		return NULL;
	return drive.memory + (drive.kind == WRAPS ? offset % REAL : offset);
}

static int died(struct failure *why)
{
	if (drive.kind != DIES || drive.calls++ < 3)
		return 0;
	return fail(why, -ENODEV, "cannot read a test disk: No such device");
}

int __wrap_blkdev_read(const struct blkdev *from, u64 offset, void *buffer, size_t bytes,
		       struct failure *why)
{
	u8 *to = buffer;

	(void)from;
	if (drive.bad && offset == drive.bad)
		return fail(why, -EIO, "cannot read byte %llu", offset);
	for (; bytes; bytes -= 512, offset += 512, to += 512)
		if (place_of(offset))
			memcpy(to, place_of(offset), 512);
		else
			memset(to, 0, 512);
	return died(why);
}

int __wrap_blkdev_write(const struct blkdev *to, u64 offset, const void *buffer, size_t bytes,
			struct failure *why)
{
	const u8 *data = buffer;

	(void)to;
	for (; bytes; bytes -= 512, offset += 512, data += 512)
		if (place_of(offset))
			memcpy(place_of(offset), data, 512);
	return died(why);
}

int __wrap_blkdev_flush(const struct blkdev *to, struct failure *why)
{
	(void)to;
	(void)why;
	return 0;
}

static void make_drive(enum kind kind)
{
	drive.kind = kind;
	drive.calls = 0;
	drive.memory = malloc(CLAIMED);
}

/* Checks a drive of @kind; its contents must be what they were. */
static int check(enum kind kind, u64 offset, u64 bytes, struct failure *failure)
{
	const struct blkdev dev = { .fd = -1, .path = "a test disk", .bytes = CLAIMED };
	u8 *before = malloc(CLAIMED);
	int code;
	u64 i;

	make_drive(kind);
	for (i = 0; i < CLAIMED; i++)
		drive.memory[i] = test_random();
	memcpy(before, drive.memory, CLAIMED);
	code = genuine_check(&dev, offset, bytes, failure);
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

/* There the stamp, which was just written, cannot be. */
TEST(bad_sector_elsewhere)
{
	struct failure failure = { "" };

	drive.bad = (1 << 20) - 4096;
	CHECK_EQ(check(GENUINE, 32 << 20, 32 << 20, &failure), 0);
	CHECK_EQ(exit_code_of(check(WRAPS, 32 << 20, 32 << 20, &failure)), EXIT_REFUSED);
	drive.bad = 0;
}

/* Pulled out meanwhile: the error of the device, not a counterfeit. */
TEST(dies)
{
	struct failure failure = { "" };

	CHECK_EQ(check(DIES, 32 << 20, 32 << 20, &failure), -ENODEV);
	CHECK_HAS(failure.text, "No such device");
}

/* The log would be where such a drive has no memory, or where that of a file system is. */
TEST(format_refuses)
{
	char path[] = "/tmp/ressd-genuine-XXXXXX";
	char *argv[] = { "format", "--yes", path, "0", "98304", path, "98304", "32768", NULL };
	const int fd = mkstemp(path);
	struct failure failure;
	enum kind kind;

	CHECK(!ftruncate(fd, CLAIMED), "no file");
	close(fd);
	for (kind = GENUINE; kind <= ENDS; kind++) {
		int code;

		make_drive(kind);
		memset(drive.memory, 0, CLAIMED);
		code = run_command(command_format, argv, open("/dev/null", O_WRONLY), &failure);
		CHECK_EQ(exit_code_of(code), kind == GENUINE ? 0 : EXIT_REFUSED);
		CHECK(kind == GENUINE || ressd_is_zero(drive.memory, CLAIMED), "it was written");
		free(drive.memory);
	}
	unlink(path);
}
