// SPDX-License-Identifier: GPL-2.0-only
/*
 * area_format(), area_store_options() and area_erase() where they do not come to their end:
 * a loss of power between or after any of their writes, in which what no flush has followed may be
 * there or not, and errors of each write and flush.  The writes and flushes of the device are
 * wrapped by the linker.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "first-record.h"
#include "harness.h"
#include "log/area.h"
#include "log/contents.h"
#include "log/super-pair.h"
#include "wrapped.h"

const char test_suite[] = "format";

#define DEVICE_BYTES	(8U << 20)
#define START		8192U		/* of the reserved area, sectors; up to the device's end */
#define MAX_STEPS	256U
#define EVER		~0U

/* What area_format() did, in order. */
static struct step {
	bool flush;
	u64 offset;
	size_t bytes;
	u8 block[4096];		/* its contents; those of a longer write are zeroes */
} steps[MAX_STEPS];
static u32 nr_steps, fails_at = EVER;

static struct blkdev dev;
static struct failure failure;
static char path[64];
static u8 before[DEVICE_BYTES] __attribute__((aligned(4096))), *image;

static struct table_line line = {
	.table = { .len = START, .reserved_start = START, .reserved_sectors = 8192 },
};

static int next_step(bool flush, u64 offset, const void *data, size_t bytes,
		     struct failure *why)
{
	CHECK(nr_steps < MAX_STEPS, "too many steps");
	CHECK(bytes <= 4096 || ressd_is_zero(data, bytes), "a long write with contents");
	steps[nr_steps] = (struct step) { .flush = flush, .offset = offset, .bytes = bytes };
	if (data)
		memcpy(steps[nr_steps].block, data, 4096);
	return nr_steps++ == fails_at ? fail(why, -EIO, "step %u fails", fails_at) : 0;
}

int __wrap_blkdev_write(const struct blkdev *to, u64 offset, const void *buffer, size_t bytes,
			struct failure *why)
{
	int code = next_step(false, offset, buffer, bytes, why);

	return code ? code : __real_blkdev_write(to, offset, buffer, bytes, why);
}

int __wrap_blkdev_flush(const struct blkdev *to, struct failure *why)
{
	int code = next_step(true, 0, NULL, 0, why);

	return code ? code : __real_blkdev_flush(to, why);
}

static void set_image(const u8 *contents)
{
	CHECK(pwrite(dev.fd, contents, DEVICE_BYTES, 0) == DEVICE_BYTES, "cannot write the file");
}

/* Record 1 of the log: one block that is not in the normal area. */
static void put_record(const u8 *uuid)
{
	struct ressd_record_header *record = blkdev_buffer(8192);
	u32 block = first_record(record, uuid, 8192, 0, 0);

	CHECK(!__real_blkdev_write(&dev, START * 512 + block * 4096ULL, record, 8192, &failure),
	      "%s", failure.text);
	free(record);
}

/* What earlier logs have left where segments begin. */
static void put_remains(void)
{
	u8 *remains = blkdev_buffer(4096);
	struct ressd_geom geom;
	u32 slot;

	memset(remains, 0xee, 4096);
	CHECK(!ressd_geom_init(&geom, 8192, 0, failure.text, sizeof(failure.text)), "geometry");
	for (slot = 0; slot < geom.nr_segments; slot++)
		CHECK(!__real_blkdev_write(&dev, START * 512 +
					   ressd_geom_slot_start(&geom, slot) * 4096ULL, remains,
					   4096, &failure), "%s", failure.text);
	free(remains);
}

/* An area with a log that holds a block, whose UUID is @old. */
static void start(u8 *old)
{
	int fd;

	strcpy(path, "/tmp/ressd-format-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && !ftruncate(fd, DEVICE_BYTES), "no scratch file");
	close(fd);
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	image = blkdev_buffer(DEVICE_BYTES);
	ressd_options_default(&line.options);
	fails_at = EVER;
	nr_steps = 0;
	put_remains();
	CHECK(!area_format(&dev, &line, 1, old, &failure), "%s", failure.text);
	put_remains();
	put_record(old);
	CHECK(pread(dev.fd, image, DEVICE_BYTES, 0) == DEVICE_BYTES, "cannot read the file");
	memcpy(before, image, DEVICE_BYTES);
	nr_steps = 0;
}

static void stop(void)
{
	free(image);
	blkdev_close(&dev);
	unlink(path);
}

/* The old log as it was, the new one as a whole, or no log; never something between. */
static void check_state(const u8 *old, u32 until, u32 without)
{
	struct area area;
	u64 blocks = 99;
	int code;

	set_image(image);
	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	if (area.kind != AREA_RESSD)
		return;
	code = log_contents(&dev, &area.info, &blocks, &failure);
	CHECK(!code, "cut at %u without %u: %s", until, without, failure.text);
	CHECK(blocks == !memcmp(area.info.uuid, old, RESSD_UUID_SIZE),
	      "cut at %u without %u: the log holds %llu blocks", until, without, blocks);
}

/* The first headers of all segments are blank wherever the new superblock is. */
static void check_heads(const u8 *new, u32 until, u32 without)
{
	struct ressd_geom geom;
	struct area area;
	u32 slot;

	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	if (area.kind != AREA_RESSD || memcmp(area.info.uuid, new, RESSD_UUID_SIZE))
		return;
	CHECK(!ressd_geom_init(&geom, 8192, 0, failure.text, sizeof(failure.text)), "geometry");
	for (slot = 0; slot < geom.nr_segments; slot++)
		CHECK(ressd_is_zero(image + START * 512 +
				    ressd_geom_slot_start(&geom, slot) * 4096ULL, 4096),
		      "cut at %u without %u: segment %u is not blank", until, without, slot);
}

/* The device after the first @until steps, of which write @without is missing. */
static void cut(u32 until, u32 without)
{
	u32 i;

	memcpy(image, before, DEVICE_BYTES);
	for (i = 0; i < until; i++) {
		if (steps[i].flush || i == without)
			continue;
		memset(image + steps[i].offset, 0, steps[i].bytes);
		memcpy(image + steps[i].offset, steps[i].block, 4096);
	}
}

TEST(power_cuts)
{
	u8 old[RESSD_UUID_SIZE], new[RESSD_UUID_SIZE];
	u32 until, without, durable = 0;

	start(old);
	CHECK(!area_format(&dev, &line, 1, new, &failure), "%s", failure.text);
	CHECK(nr_steps && steps[nr_steps - 1].flush, "the last step is no flush");
	for (until = 0; until <= nr_steps; until++) {
		for (without = durable; without <= until; without++) {
			cut(until, without);
			check_state(old, until, without);
			check_heads(new, until, without);
		}
		if (until < nr_steps && steps[until].flush)
			durable = until + 1;
	}
	stop();
}

/* The options that the area has now, which its log must not have noticed. */
static void check_options(const char *old, const char *new, u32 until, u32 without)
{
	struct area area;
	u64 blocks = 0;

	set_image(image);
	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	CHECK(area.kind == AREA_RESSD, "cut at %u without %u: no area", until, without);
	CHECK(!strcmp(area.info.options, old) || !strcmp(area.info.options, new),
	      "cut at %u without %u: options '%s'", until, without, area.info.options);
	CHECK(until < nr_steps || without < until || !strcmp(area.info.options, new),
	      "the options are not durable");
	CHECK(!log_contents(&dev, &area.info, &blocks, &failure), "%s", failure.text);
	CHECK_EQ(blocks, 1);
}

/* A torn copy is one that is missing: its checksum is wrong. */
static void tear(u32 step)
{
	memcpy(image + steps[step].offset, steps[step].block, 512);
}

TEST(power_cuts_while_options_are_stored)
{
	const u32 large = 1000000000;
	/* Text for two sectors, of which each may be there without the other. */
	const struct ressd_options options = {
		.small_write_sectors = large, .streams = large, .open_units = large,
		.move_threshold = large, .move_batch_sectors = large, .move_block_sectors = large,
		.move_fill_blocks = large, .commit_interval_ms = large, .log_align_sectors = large,
		.log_page_sectors = large, .split_read_sectors = large,
		.split_write_sectors = large, .align_sectors = large, .bundle_sectors = large,
		.pending_expire_ms = large, .dispatch_depth = large,
	};
	char new[RESSD_STORED_OPTIONS];
	struct area area;
	u8 old[RESSD_UUID_SIZE];
	u32 until, i;

	start(old);
	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	ressd_options_pack(&options, new);
	CHECK(strlen(new) > 512 - 96, "only '%s'", new);
	CHECK(!area_store_options(&dev, &area.info, &options, &failure), "%s", failure.text);
	CHECK(nr_steps && steps[nr_steps - 1].flush, "the last step is no flush");
	for (until = 0; until <= nr_steps; until++) {
		u32 durable = 0;

		cut(until, EVER);
		check_options("", new, until, EVER);
		for (i = 0; i < until; i++)
			if (steps[i].flush)
				durable = i + 1;
		for (i = durable; i < until; i++) {
			cut(until, i);
			check_options("", new, until, i);
			tear(i);
			check_options("", new, until, i);
		}
		/* All that no flush has followed may be torn at once. */
		cut(durable, EVER);
		for (i = durable; i < until; i++)
			tear(i);
		check_options("", new, until, EVER - 1);
	}
	stop();
}

static void no_progress(void *context, u64 done, u64 total)
{
	(void)context;
	CHECK(done <= total, "%llu of %llu", done, total);
}

/* A log that can be opened, as empty as it was, or none that anybody finds. */
static void check_erased(u32 until, u32 without)
{
	struct area area;
	u64 blocks = 99;

	set_image(image);
	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	CHECK(until || area.kind == AREA_RESSD, "gone before anything was written");
	if (area.kind != AREA_RESSD)
		return;
	CHECK(!log_contents(&dev, &area.info, &blocks, &failure), "cut at %u without %u: %s",
	      until, without, failure.text);
	CHECK_EQ(blocks, 0);
	/* What is behind the superblocks may be missed as long as there is one. */
	CHECK(!memcmp(image + START * 512 + 4096, before + START * 512 + 4096,
		      DEVICE_BYTES - START * 512 - 8192),
	      "cut at %u without %u: erased below a superblock", until, without);
}

/* Who is found, as by ressdctl list, can be opened. */
static void check_found(u32 until, u32 torn)
{
	struct ressd_super_info info;
	struct area area;
	int found;

	set_image(image);
	found = area_find(&dev, &info, &failure);
	CHECK(found >= 0, "cut at %u, %u torn: %s", until, torn, failure.text);
	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	CHECK(!found || area.kind == AREA_RESSD, "cut at %u, %u torn: found, but does not open: %s",
	      until, torn, area.what);
}

/* Write @step has come to the device in the sectors of @mask. */
static void tear_sectors(u32 step, u32 mask)
{
	u32 sector;

	for (sector = 0; sector < 8; sector++)
		if (mask & 1U << sector)
			memcpy(image + steps[step].offset + sector * 512,
			       steps[step].block + sector * 512, 512);
}

TEST(power_cuts_tear_what_is_erased)
{
	u8 uuid[RESSD_UUID_SIZE];
	struct area area;
	u32 i, mask;

	start(uuid);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	CHECK(pread(dev.fd, before, DEVICE_BYTES, 0) == DEVICE_BYTES, "cannot read the file");
	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	nr_steps = 0;
	CHECK(!area_erase(&dev, &area.info, no_progress, NULL, &failure), "%s", failure.text);
	for (i = 0; i < nr_steps && steps[i].bytes <= 4096; i++) {
		for (mask = 0; !steps[i].flush && mask < 16; mask++) {
			cut(i, EVER);
			tear_sectors(i, mask);
			check_found(i, mask);
		}
	}
	CHECK(i < nr_steps, "nothing was erased behind the superblocks");
	stop();
}

TEST(power_cuts_while_the_area_is_erased)
{
	u32 until, without, durable = 0;
	u8 uuid[RESSD_UUID_SIZE];
	struct area area;

	start(uuid);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	put_remains();
	CHECK(pread(dev.fd, before, DEVICE_BYTES, 0) == DEVICE_BYTES, "cannot read the file");
	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	nr_steps = 0;
	CHECK(!area_erase(&dev, &area.info, no_progress, NULL, &failure), "%s", failure.text);
	CHECK(nr_steps && steps[nr_steps - 1].flush, "the last step is no flush");
	CHECK(pread(dev.fd, image, DEVICE_BYTES, 0) == DEVICE_BYTES, "cannot read the file");
	CHECK(ressd_is_zero(image + START * 512, DEVICE_BYTES - START * 512), "something is left");
	CHECK(!memcmp(image, before, START * 512), "the normal area was changed");
	for (until = 0; until <= nr_steps; until++) {
		for (without = durable; without <= until; without++) {
			cut(until, without);
			check_erased(until, without);
		}
		if (until < nr_steps && steps[until].flush)
			durable = until + 1;
	}
	stop();
}

TEST(both_superblocks_are_written)
{
	struct super_pair pair;
	u8 uuid[RESSD_UUID_SIZE];

	start(uuid);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	super_pair_read(&pair, &dev, START, 8192);
	CHECK(super_pair_equal(&pair), "copy 0 is %s, copy 1 is %s",
	      super_copy_word(&pair.copies[0]), super_copy_word(&pair.copies[1]));
	CHECK(!memcmp(pair.info.uuid, uuid, sizeof(uuid)), "another UUID");
	stop();
}

TEST(errors_are_told)
{
	u8 old[RESSD_UUID_SIZE], uuid[RESSD_UUID_SIZE];
	u32 nr, i;

	start(old);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	nr = nr_steps;
	for (i = 0; i < nr; i++) {
		set_image(before);
		fails_at = i;
		nr_steps = 0;
		CHECK_EQ(area_format(&dev, &line, 1, uuid, &failure), -EIO);
		CHECK_HAS(failure.text, "fails");
		CHECK_EQ(nr_steps, i + 1);	/* nothing more is written */
	}
	fails_at = EVER;
	stop();
}
