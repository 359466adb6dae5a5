// SPDX-License-Identifier: GPL-2.0-only
/* --preserve: the region comes back to the last byte, or the user is told and the file stays. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "harness.h"
#include "measure/measure.h"
#include "preserve.h"
#include "wrapped.h"

const char test_suite[] = "preserve";

#define DEVICE_BYTES	(8U << 20)

static struct blkdev dev;
static struct failure failure;
static char path[64], store[80];
static u8 *before, *after;
static u64 lost = ~0ULL;	/* a write to this offset is lost, without an error */
static u64 broken = ~0ULL;	/* one to this offset fails */
static bool flush_fails, no_memory;
static unsigned int flushes;

int __wrap_blkdev_write(const struct blkdev *to, u64 offset, const void *buffer, size_t bytes,
			struct failure *why)
{
	if (offset == broken)
		return fail(why, -EIO, "the write fails");
	return offset == lost ? 0 : __real_blkdev_write(to, offset, buffer, bytes, why);
}

int __wrap_blkdev_flush(const struct blkdev *to, struct failure *why)
{
	flushes++;
	return flush_fails ? fail(why, -EIO, "the flush fails") : __real_blkdev_flush(to, why);
}

void *__wrap_blkdev_buffer(size_t bytes)
{
	return no_memory ? NULL : __real_blkdev_buffer(bytes);
}

static void start(void)
{
	int fd;

	strcpy(path, "/tmp/ressd-preserve-XXXXXX");
	fd = mkstemp(path);
	before = blkdev_buffer(DEVICE_BYTES);
	after = blkdev_buffer(DEVICE_BYTES);
	test_random_bytes(before, DEVICE_BYTES);
	CHECK(fd >= 0 && write(fd, before, DEVICE_BYTES) == DEVICE_BYTES, "no scratch file");
	close(fd);
	snprintf(store, sizeof(store), "%s.kept", path);
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	measure_interrupted = false;
	lost = ~0ULL;
	broken = ~0ULL;
	flush_fails = false;
}

static void stop(void)
{
	blkdev_close(&dev);
	unlink(path);
	unlink(store);
	free(before);
	free(after);
}

/* The measurement has written everywhere. */
static void scribble(void)
{
	memset(after, 0xa5, DEVICE_BYTES);
	CHECK(pwrite(dev.fd, after, DEVICE_BYTES, 0) == DEVICE_BYTES, "cannot write");
}

/* Only [@offset, @offset + @bytes) is as it was. */
static void check_restored(u64 offset, u64 bytes)
{
	CHECK(pread(dev.fd, after, DEVICE_BYTES, 0) == DEVICE_BYTES, "cannot read");
	CHECK(!memcmp(before + offset, after + offset, bytes), "%llu + %llu is not restored",
	      offset, bytes);
	CHECK(!offset || after[offset - 1] == 0xa5, "it writes before the region");
	CHECK(offset + bytes == DEVICE_BYTES || after[offset + bytes] == 0xa5,
	      "it writes behind the region");
}

TEST(regions_of_any_size)
{
	static const struct {
		u64 offset, bytes;
	} regions[] = {
		{ 0, 4096 }, { 4096, 1 << 20 }, { 8192, (1 << 20) + 4096 },
		{ 12288, (2 << 20) - 4096 }, { 1 << 20, (3 << 20) + 512 * 1024 },
		{ DEVICE_BYTES - (1 << 20) - 4096, (1 << 20) + 4096 }, { 0, DEVICE_BYTES },
	};
	struct preserved preserved;
	u32 i, in_file;

	start();
	for (i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
		for (in_file = 0; in_file < 2; in_file++) {
			CHECK(pwrite(dev.fd, before, DEVICE_BYTES, 0) == DEVICE_BYTES, "write");
			CHECK(!preserve_save(&preserved, &dev, regions[i].offset, regions[i].bytes,
					     in_file ? store : NULL, &failure), "%s", failure.text);
			scribble();
			CHECK(!preserve_restore(&preserved, &failure), "%s", failure.text);
			check_restored(regions[i].offset, regions[i].bytes);
			CHECK(access(store, F_OK), "the file is still there");
		}
	}
	stop();
}

/* A write that the device has lost shows when all is compared; then the file is the way back. */
TEST(lost_writes_are_told)
{
	const u64 offset = 4096, bytes = (2 << 20) + 4096;
	struct preserved preserved;
	u64 at;

	start();
	for (at = 0; at < bytes; at += 1 << 20) {
		CHECK(pwrite(dev.fd, before, DEVICE_BYTES, 0) == DEVICE_BYTES, "write");
		CHECK(!preserve_save(&preserved, &dev, offset, bytes, store, &failure), "%s",
		      failure.text);
		scribble();
		lost = offset + at;
		CHECK_EQ(preserve_restore(&preserved, &failure), -EIO);
		CHECK_HAS(failure.text, "its contents are in");
		CHECK(!access(store, F_OK), "the file is gone");
		unlink(store);
		lost = ~0ULL;
	}
	flush_fails = true;
	CHECK(!preserve_save(&preserved, &dev, offset, bytes, store, &failure), "%s", failure.text);
	CHECK_EQ(preserve_restore(&preserved, &failure), -EIO);
	CHECK(!access(store, F_OK), "the file is gone");
	stop();
}

/* Behind a piece that could not be written the others stayed in the drive's volatile cache. */
TEST(what_could_be_restored_is_flushed)
{
	struct preserved preserved;

	start();
	CHECK(!preserve_save(&preserved, &dev, 4096, 3 << 20, store, &failure), "%s", failure.text);
	scribble();
	broken = 4096 + (1 << 20);
	flushes = 0;
	flush_fails = true;
	CHECK_EQ(preserve_restore(&preserved, &failure), -EIO);
	CHECK_EQ(flushes, 1);
	CHECK_HAS(failure.text, "1 of its pieces of 1 MiB failed, first: the write fails;");
	CHECK(!access(store, F_OK), "the file is gone");
	stop();
}

/* The contents were dropped with the program where memory for a buffer was lacking at the end. */
TEST(restoring_needs_no_more_memory)
{
	struct preserved preserved;

	start();
	CHECK(!preserve_save(&preserved, &dev, 4096, 3 << 20, NULL, &failure), "%s", failure.text);
	scribble();
	no_memory = true;
	CHECK(!preserve_restore(&preserved, &failure), "%s", failure.text);
	no_memory = false;
	check_restored(4096, 3 << 20);
	stop();
}

TEST(nothing_saved_nothing_written)
{
	struct preserved preserved;

	start();
	measure_interrupted = true;
	CHECK_EQ(preserve_save(&preserved, &dev, 0, 2 << 20, NULL, &failure), -ECANCELED);
	measure_interrupted = false;
	scribble();
	CHECK(!preserve_restore(&preserved, &failure), "%s", failure.text);
	CHECK(pread(dev.fd, before, DEVICE_BYTES, 0) == DEVICE_BYTES, "cannot read");
	CHECK(!memcmp(before, after, DEVICE_BYTES), "something was written");
	stop();
}

/* Where 12 GB were free, 32 bits had 1 MiB for a region of 4 GiB and 1 MiB, and wrote behind it. */
TEST(only_memory_that_can_be_had)
{
	const u64 memory = preserve_memory();
	struct preserved preserved;

	CHECK(memory && memory <= SIZE_MAX / 4, "%llu bytes", memory);
	start();
	CHECK_EQ(preserve_save(&preserved, &dev, 0, 2 * memory + 4096, NULL, &failure), -ENOMEM);
	CHECK_HAS(failure.text, "bytes of memory may hold them; name a file");
	stop();
}
