// SPDX-License-Identifier: GPL-2.0-only
/* The reserved area on a file: blank, foreign, formatted, with data in its log. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "first-record.h"
#include "harness.h"
#include "log/area.h"
#include "log/contents.h"

const char test_suite[] = "area";

#define DEVICE_BYTES	(8U << 20)

static struct blkdev dev;
static struct failure failure;
static char path[64];

/* Normal area of 4 MiB, then a reserved one of 4 MiB up to the end of the device. */
static struct table_line line = {
	.table = { .len = 8192, .reserved_start = 8192, .reserved_sectors = 8192 },
};

static void start(void)
{
	int fd;

	strcpy(path, "/tmp/ressd-area-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && !ftruncate(fd, DEVICE_BYTES), "no scratch file");
	close(fd);
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	ressd_options_default(&line.options);
	failure.text[0] = '\0';
}

static void stop(void)
{
	blkdev_close(&dev);
	unlink(path);
}

static void put(u64 offset, const void *block)
{
	void *buffer = blkdev_buffer(4096);

	memcpy(buffer, block, 4096);
	CHECK(!blkdev_write(&dev, offset, buffer, 4096, &failure), "%s", failure.text);
	free(buffer);
}

static struct area inspect(void)
{
	struct area area;

	CHECK(!area_inspect(&area, &dev, &line.table, &failure), "%s", failure.text);
	return area;
}

TEST(blank)
{
	struct ressd_super_info info;

	start();
	CHECK_EQ(inspect().kind, AREA_BLANK);
	CHECK_STR(inspect().what, "");
	CHECK_EQ(area_find_at_end(&dev, &info, &failure), 0);
	stop();
}

TEST(format)
{
	struct ressd_super_info info;
	struct area area;
	u8 uuid[RESSD_UUID_SIZE], block[4096];
	u64 blocks = 99;
	u32 i;

	start();
	memset(block, 0xee, sizeof(block));
	for (i = 0; i < DEVICE_BYTES / 4096; i++)
		put(i * 4096ULL, block);
	CHECK_EQ(inspect().kind, AREA_FOREIGN);
	CHECK_HAS(inspect().what, "neither blank nor formatted");
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	area = inspect();
	CHECK_EQ(area.kind, AREA_RESSD);
	CHECK(!memcmp(area.info.uuid, uuid, sizeof(uuid)), "the UUID is that of the format");
	CHECK(!ressd_super_matches(&area.info, &line.table, &line.options, failure.text,
				   sizeof(failure.text)), "%s", failure.text);
	CHECK_EQ(area_find_at_end(&dev, &info, &failure), 1);
	CHECK_EQ(info.table.len, 8192);
	CHECK(!log_contents(&dev, &area.info, &blocks, &failure), "%s", failure.text);
	CHECK_EQ(blocks, 0);
	stop();
}

/* Nothing outside of the reserved area changes; in it, only superblocks and first headers. */
TEST(format_touches_little)
{
	struct ressd_geom geom;
	u8 uuid[RESSD_UUID_SIZE], block[4096];
	u8 *data = blkdev_buffer(4096);
	u32 i;

	start();
	memset(block, 0xee, sizeof(block));
	for (i = 0; i < DEVICE_BYTES / 4096; i++)
		put(i * 4096ULL, block);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	CHECK(!ressd_geom_init(&geom, 8192, 0, failure.text, sizeof(failure.text)), "geometry");
	for (i = 0; i < DEVICE_BYTES / 4096; i++) {
		u32 log_block = i - 1024, slot = log_block / geom.segment_blocks;
		bool head = i >= 1024 && log_block == ressd_geom_slot_start(&geom, slot);
		bool super = i == 1024 || i == DEVICE_BYTES / 4096 - 1;

		CHECK(!blkdev_read(&dev, i * 4096ULL, data, 4096, &failure), "%s", failure.text);
		if (head)
			CHECK(ressd_is_zero(data, 4096), "header at block %u is not blank", i);
		else if (!super)
			CHECK(!memcmp(data, block, 4096), "block %u was changed", i);
	}
	free(data);
	stop();
}

TEST(formats_differ)
{
	u8 first[RESSD_UUID_SIZE], second[RESSD_UUID_SIZE];
	char text[UUID_TEXT];

	start();
	CHECK(!area_format(&dev, &line, 1, first, &failure), "%s", failure.text);
	CHECK(!area_format(&dev, &line, 1, second, &failure), "%s", failure.text);
	CHECK(memcmp(first, second, sizeof(first)), "each format has a UUID of its own");
	CHECK_EQ(strlen(uuid_print(first, text)), 36);
	CHECK_EQ(text[14], '4');
	stop();
}

TEST(one_damaged_superblock)
{
	u8 uuid[RESSD_UUID_SIZE], zeroes[4096] = { 0 };
	struct area area;

	start();
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	put(8192 * 512, zeroes);
	area = inspect();
	CHECK_EQ(area.kind, AREA_RESSD);
	CHECK_HAS(area.what, "copy 0 is damaged");
	put(DEVICE_BYTES - 4096, zeroes);
	CHECK_EQ(inspect().kind, AREA_BLANK);
	stop();
}

/* Record 1 of the log, with one data block, as the kernel writes it. */
static void put_record(const u8 *uuid)
{
	u8 *record = blkdev_buffer(8192);
	u64 offset;

	memset(record + 4096, 0xdd, 4096);
	offset = 8192 * 512 + first_record((void *)record, uuid, 8192, 0, 5) * 4096ULL;
	put(offset, record);
	put(offset + 4096, record + 4096);
	free(record);
}

TEST(log_with_data)
{
	u8 uuid[RESSD_UUID_SIZE], other[RESSD_UUID_SIZE] = { 1 };
	struct area area;
	u64 blocks;

	start();
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	area = inspect();
	put_record(other);
	CHECK(!log_contents(&dev, &area.info, &blocks, &failure), "%s", failure.text);
	CHECK_EQ(blocks, 0);
	put_record(uuid);
	CHECK(!log_contents(&dev, &area.info, &blocks, &failure), "%s", failure.text);
	CHECK_EQ(blocks, 1);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	area = inspect();
	CHECK(!log_contents(&dev, &area.info, &blocks, &failure), "%s", failure.text);
	CHECK_EQ(blocks, 0);
	stop();
}
