// SPDX-License-Identifier: GPL-2.0-only
/*
 * The normal area grows, and the power fails before, in and after each of the two writes by which
 * the kernel makes the superblocks say so: copy 1, durably, then copy 0.  Before, storing options
 * may have been cut short, so that more than the first sector of a copy changes and it may be torn.
 * Then ressdctl finds the log, by what it finds the kernel opens it, check and repair understand
 * it, and it holds what it held.  tests/vm/84-grow.sh does it with the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "first-record.h"
#include "harness.h"
#include "log/area.h"
#include "log/check.h"
#include "log/contents.h"
#include "ressdctl/ressdctl.h"

TEST_SUITE("grow");

#define SECTORS		8192U	/* of the device */
#define RESERVED	4096U	/* of the reserved area */
#define OLD		2048U	/* of the normal area */
#define NEW		4096U

static char path[64], backup[80];
static struct failure failure;
static struct blkdev dev;	/* read only: repair wants it for itself */

static int run(int (*command)(int argc, char **argv, struct failure *failure), char **argv)
{
	return run_command(command, argv, open("/dev/null", O_WRONLY), &failure);
}

static int check(void)
{
	char *argv[] = { "check", path, NULL };

	return run(command_check, argv);
}

static int repair(void)
{
	char *argv[] = { "repair", "--yes", "--backup", backup, path, NULL };

	unlink(backup);
	return run(command_repair, argv);
}

static void start(void)
{
	int fd;

	strcpy(path, access("/dev/shm", W_OK) ? "/tmp/ressd-grow-XXXXXX" :
			"/dev/shm/ressd-grow-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && !ftruncate(fd, SECTORS * 512), "no scratch file");
	close(fd);
	snprintf(backup, sizeof(backup), "%s.backup", path);
}

static void stop(void)
{
	unlink(path);
	unlink(backup);
}

static void put(u64 at, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0 && pwrite(fd, data, bytes, at) == (ssize_t)bytes, "cannot write");
	close(fd);
}

/* Record 1 of the log: one block that the normal area does not have. */
static void put_record(const struct ressd_super_info *info)
{
	struct ressd_record_header *record = blkdev_buffer(2 * RESSD_BLOCK_SIZE);
	u32 block = first_record(record, info->uuid, RESERVED, info->segment_sectors, 5);

	put(info->table.reserved_start * 512 + block * 4096ULL, record, 2 * RESSD_BLOCK_SIZE);
	free(record);
}

/* Of the write of @copy, the sectors in @mask of the first two have arrived. */
static void put_super(const struct ressd_super_info *before, const struct ressd_super_info *after,
		      u32 copy, u32 mask)
{
	const u64 at = before->table.reserved_start * 512 + (copy ? RESERVED * 512 - 4096 : 0);
	struct ressd_super old, new;
	u32 i;

	ressd_super_encode(&old, before, copy);
	ressd_super_encode(&new, after, copy);
	CHECK(!memcmp((u8 *)&old + 1024, (u8 *)&new + 1024, 4096 - 1024), "more sectors change");
	for (i = 0; i < 2; i++)
		if (mask & 1U << i)
			memcpy((u8 *)&old + i * 512, (u8 *)&new + i * 512, 512);
	put(at, &old, RESSD_BLOCK_SIZE);
}

static void check_contents(const struct ressd_super_info *info)
{
	u64 blocks = 99;

	CHECK(!log_contents(&dev, info, &blocks, &failure), "%s", failure.text);
	CHECK_EQ(blocks, 1);
}

/* What ressdctl open makes of it is what the kernel takes; so is the longer table. */
static bool judge_open(const struct ressd_super_info *after, const char *where)
{
	struct ressd_options options;
	struct ressd_super_info info;
	struct area area;

	ressd_options_default(&options);
	CHECK(area_find(&dev, &info, &failure) == 1, "%s: no log is found", where);
	CHECK(!area_inspect(&area, &dev, &info.table, &failure), "%s: %s", where, failure.text);
	CHECK(area.kind == AREA_RESSD, "%s: it does not open: %s", where, area.what);
	CHECK(!ressd_super_matches(&area.info, &info.table, &options, failure.text,
				   sizeof(failure.text)), "%s: %s", where, failure.text);
	CHECK(!ressd_super_matches(&area.info, &after->table, &options, failure.text,
				   sizeof(failure.text)), "%s: %s", where, failure.text);
	CHECK(info.table.len == area.info.table.len &&
	      !memcmp(info.options, area.info.options, RESSD_STORED_OPTIONS),
	      "%s: what is found is not what counts", where);
	check_contents(&info);
	return area.what[0];
}

static void judge(const struct ressd_super_info *after, bool whole, const char *where)
{
	bool torn = judge_open(after, where);
	struct ressd_super_info info;
	int code;

	CHECK(!torn || !whole, "%s: a whole copy is damaged", where);
	code = check();
	CHECK(code == (torn ? -EUCLEAN : 0), "%s: check: %s", where, failure.text);
	code = repair();
	CHECK(!code, "%s: repair: %s", where, failure.text);
	code = check();
	CHECK(!code, "%s: check after repair: %s", where, failure.text);
	CHECK(area_find(&dev, &info, &failure) == 1, "%s: it is lost after repair", where);
	check_contents(&info);
}

/* @uneven: copy 1 has the stored options already, which the growth takes back. */
static void grow(u64 reserved_start, bool uneven)
{
	struct table_line line = { .table = {
		.normal_start = reserved_start ? 0 : RESERVED, .len = OLD,
		.reserved_start = reserved_start, .reserved_sectors = RESERVED,
	} };
	struct ressd_super_info before, stored, after;
	u8 uuid[RESSD_UUID_SIZE];
	char where[96];
	u32 copy, mask;

	ressd_options_default(&line.options);
	line.options.cover = RESSD_OFF;	/* nothing here makes the covers */
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	CHECK(area_find(&dev, &before, &failure) == 1, "nothing is formatted");
	blkdev_close(&dev);
	put_record(&before);
	stored = before;
	memset(stored.options, ' ', RESSD_STORED_OPTIONS - 1);
	memcpy(stored.options + RESSD_STORED_OPTIONS - 19, "log_align_sectors 8", 18);
	after = before;
	after.table.len = NEW;
	for (copy = 2; copy--; ) {
		for (mask = 0; mask < 4; mask++) {
			snprintf(where, sizeof(where), "%s%s, copy %u, sectors %u",
				 reserved_start ? "at the end" : "at the begin",
				 uneven ? ", options torn" : "", copy, mask);
			put_super(uneven ? &stored : &before, &after, 1, copy ? mask : 3);
			put_super(&before, &after, 0, copy ? 0 : mask);
			CHECK(!blkdev_open(&dev, path, BLKDEV_READ, &failure), "%s", failure.text);
			judge(&after, !uneven, where);
			blkdev_close(&dev);
		}
	}
}

TEST(power_cuts_in_growth)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		start();
		grow(i % 2 ? SECTORS - RESERVED : 0, i / 2);
		stop();
	}
}
