// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sectors that cannot be read, until they are written: ressdctl check and repair go on behind them,
 * say how many there are and where the first one is, and end with the documented exit code.  Reads
 * and writes of the device are wrapped by the linker.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "harness.h"
#include "log/area.h"
#include "log/contents.h"
#include "log/image.h"
#include "ressdctl/ressdctl.h"
#include "wrapped.h"

TEST_SUITE("unreadable");

#define SECTORS		16384U		/* of the device; the second half is the reserved area */
#define BLOCKS		(SECTORS / 8)
#define LOG		(BLOCKS / 2)	/* block of the device at which the log begins */
#define RECORDS		5U

static char path[64], backup[80], output[80];
static char said[16384];		/* by the last command */
static struct failure failure;
static struct ressd_super_info info;
static struct ressd_geom geom;
static bool bad[BLOCKS];		/* blocks of the device */

int __wrap_blkdev_read(const struct blkdev *from, u64 offset, void *buffer, size_t bytes,
		       struct failure *why)
{
	u64 block;

	for (block = offset / 4096; block * 4096 < offset + bytes; block++)
		if (block < BLOCKS && bad[block])
			return fail(why, -EIO, "cannot read byte %llu: Input/output error",
				    block * 4096);
	return __real_blkdev_read(from, offset, buffer, bytes, why);
}

int __wrap_blkdev_write(const struct blkdev *to, u64 offset, const void *buffer, size_t bytes,
			struct failure *why)
{
	memset(bad + offset / 4096, 0, bytes / 4096);
	return __real_blkdev_write(to, offset, buffer, bytes, why);
}

int __wrap_blkdev_flush(const struct blkdev *to, struct failure *why)
{
	(void)to;
	(void)why;
	return 0;
}

/* The exit code; what is printed is in said, and its sentence behind that. */
static int run(int (*command)(int argc, char **argv, struct failure *failure), char **argv)
{
	int code = run_command(command, argv, open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600),
			       &failure);
	int file = open(output, O_RDONLY);
	ssize_t bytes = read(file, said, sizeof(said) - sizeof(failure.text));

	close(file);
	snprintf(said + bytes, sizeof(failure.text), "%s", failure.text);
	return exit_code_of(code);
}

static int check(char *option)
{
	char *argv[] = { "check", option ? option : path, option ? path : NULL, NULL };

	return run(command_check, argv);
}

static int repair(char *option)
{
	char *argv[] = { "repair", "--yes", "--backup", backup, option ? option : path,
			 option ? path : NULL, NULL };

	unlink(backup);
	return run(command_repair, argv);
}

static void put(u64 block, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0 && pwrite(fd, data, bytes, block * 4096) == (ssize_t)bytes, "cannot write");
	close(fd);
}

/* Device block of the header of record @number; behind it stands the record's only data block. */
static u32 place_of(u32 number)
{
	return LOG + ressd_geom_slot_start(&geom, 1) + (number - 1) * 2;
}

/* Records 1 to RECORDS, in the first segment; the last one's predecessors are known durable. */
static void put_records(void)
{
	static struct ressd_record_header record[2];	/* and its data */
	u32 i, crc = 0;

	for (i = 1; i <= RECORDS; i++) {
		struct ressd_record_header *header = &record[0];

		memset(record, 0, sizeof(record));
		memset(&record[1], i, sizeof(record[1]));
		header->magic = cpu_to_le64(RESSD_RECORD_MAGIC);
		header->version = cpu_to_le32(RESSD_FORMAT_VERSION);
		memcpy(header->uuid, info.uuid, RESSD_UUID_SIZE);
		header->seq = cpu_to_le64(i);
		header->segment_seq = cpu_to_le64(1);
		header->tail_seq = cpu_to_le64(1);
		header->durable_seq = cpu_to_le64(i - 1);
		header->activation = cpu_to_le64(7);
		header->prev_crc = cpu_to_le32(crc);
		header->nr_maps = cpu_to_le16(1);
		header->nr_blocks = cpu_to_le32(2);
		header->flags = cpu_to_le32(i == 1 ? RESSD_RECORD_FIRST : 0);
		header->epoch = cpu_to_le32(1);
		header->block = cpu_to_le32(place_of(i) - LOG);
		header->entries[0].block = cpu_to_le32(100 + i);
		header->entries[0].crc = cpu_to_le32(ressd_crc(&record[1], 4096));
		ressd_record_seal(header);
		crc = le32_to_cpu(header->crc);
		put(place_of(i), record, sizeof(record));
	}
}

static void start(u32 cover)
{
	struct table_line line = { .table = {
		.len = SECTORS / 2, .reserved_start = SECTORS / 2, .reserved_sectors = SECTORS / 2,
	} };
	u8 uuid[RESSD_UUID_SIZE];
	struct blkdev dev;
	int fd;

	memset(bad, 0, sizeof(bad));
	strcpy(path, access("/dev/shm", W_OK) ? "/tmp/ressd-unreadable-XXXXXX" :
			"/dev/shm/ressd-unreadable-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && !ftruncate(fd, SECTORS * 512), "no scratch file");
	close(fd);
	snprintf(backup, sizeof(backup), "%s.backup", path);
	snprintf(output, sizeof(output), "%s.output", path);
	ressd_options_default(&line.options);
	line.options.cover = cover;
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	CHECK(area_find(&dev, &info, &failure) == 1, "nothing is formatted");
	blkdev_close(&dev);
	CHECK(!ressd_geom_init(&geom, SECTORS / 2, info.segment_sectors, failure.text,
			       sizeof(failure.text)), "%s", failure.text);
	put_records();
}

static void stop(void)
{
	unlink(path);
	unlink(backup);
	unlink(output);
}

static void check_blocks(u64 wanted)
{
	struct blkdev dev;
	u64 blocks = 99;

	CHECK(!blkdev_open(&dev, path, BLKDEV_READ, &failure), "%s", failure.text);
	CHECK(!log_contents(&dev, &info, &blocks, &failure), "%s", failure.text);
	blkdev_close(&dev);
	CHECK_EQ(blocks, wanted);
}

/* Copy 1 cannot be read, nor can a part of the log that the search goes through. */
TEST(search)
{
	start(RESSD_OFF);
	CHECK_EQ(check(NULL), 0);
	bad[BLOCKS - 1] = true;
	CHECK_EQ(check(NULL), 1);
	CHECK_HAS(said, "--search");
	bad[BLOCKS - 40] = true;
	bad[BLOCKS - 700] = true;
	CHECK_EQ(check("--search"), 4);
	CHECK_HAS(said, "superblock copy 1 is unreadable");
	CHECK_EQ(repair("--search"), 0);
	/* The kernel does not need those two. */
	CHECK_EQ(check(NULL), 4);
	CHECK_HAS(said, "2 blocks of the log cannot be read, this one first");
	check_blocks(RECORDS);
	bad[BLOCKS - 40] = false;
	bad[BLOCKS - 700] = false;
	CHECK_EQ(check(NULL), 0);
	/* Where there is none to be found. */
	bad[LOG] = true;
	bad[BLOCKS - 1] = true;
	bad[3] = true;
	CHECK_EQ(check("--search"), 1);
	CHECK_HAS(said, "3 blocks of 4 KiB cannot be read, the first at byte 12288");
	stop();
}

/* The kernel refuses the log for a block of it that nothing stands in. */
TEST(free_block)
{
	start(RESSD_OFF);
	bad[LOG + ressd_geom_slot_start(&geom, 2)] = true;
	bad[LOG + ressd_geom_slot_start(&geom, 3)] = true;
	bad[LOG + ressd_geom_slot_start(&geom, 3) + 7] = true;
	CHECK_EQ(check(NULL), 4);
	CHECK_HAS(said, "the kernel refuses the log, for 3 blocks of it cannot be read");
	CHECK_EQ(repair(NULL), 0);
	CHECK_HAS(said, "overwritten: 3 blocks that cannot be read");
	CHECK_EQ(check(NULL), 0);
	check_blocks(RECORDS);
	stop();
}

/* In the middle of the log: the records before it stay. */
TEST(header)
{
	start(RESSD_OFF);
	bad[place_of(3)] = true;
	bad[place_of(1) + 1] = true;	/* data, which nobody reads who does not get to the end */
	CHECK_EQ(check(NULL), 4);
	CHECK_HAS(said, "for 2 blocks of it cannot be read");
	bad[place_of(1) + 1] = false;
	CHECK_EQ(check(NULL), 4);
	CHECK_HAS(said, "for 1 block of it cannot be read");
	CHECK_HAS(said, "a block that cannot be read");
	CHECK_EQ(repair(NULL), 0);
	CHECK_EQ(check(NULL), 0);
	check_blocks(2);
	stop();
}

/* No record can be read, so repair must not say that nothing is to be done. */
TEST(only_header)
{
	u32 i;

	start(RESSD_OFF);
	for (i = 1; i <= RECORDS; i++)
		bad[place_of(i)] = true;
	CHECK_EQ(check(NULL), 4);
	CHECK_HAS(said, "for 5 blocks of it cannot be read");
	CHECK_EQ(repair(NULL), 4);
	CHECK_HAS(said, "no record that can be read");
	stop();
}

/* What stands in the covers' place cannot be read. */
TEST(covers)
{
	start(RESSD_ON);
	CHECK(info.cover_blocks > 3, "it has no covers");
	bad[1] = true;
	bad[3] = true;
	CHECK_EQ(check(NULL), 4);
	CHECK_HAS(said, "2 of the first");
	CHECK_HAS(said, "cannot be read, the first: cannot read byte 4096");
	CHECK_HAS(said, "data blocks checked    5");
	stop();
}

/* Makes the last record one of the covered blocks, as the log carries them on. */
static void carry_covers(void)
{
	static struct ressd_record_header record[1 + RESSD_COVER_MAX];	/* and its data */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	u32 i;

	CHECK(fd >= 0 && pread(fd, record, sizeof(record[0]), place_of(RECORDS) * 4096ULL) ==
	      sizeof(record[0]), "cannot read");
	close(fd);
	record->nr_maps = cpu_to_le16(info.cover_blocks);
	record->nr_blocks = cpu_to_le32(1 + info.cover_blocks);
	for (i = 0; i < info.cover_blocks; i++) {
		memset(&record[1 + i], 0x80 + i, sizeof(record[0]));
		record->entries[i].block = cpu_to_le32(i);
		record->entries[i].crc = cpu_to_le32(ressd_crc(&record[1 + i], 4096));
	}
	ressd_record_seal(record);
	put(place_of(RECORDS), record, (1 + info.cover_blocks) * sizeof(record[0]));
}

/* How many covered blocks the log holds. */
static u32 carried_covers(void)
{
	struct log_device device = { .start = info.table.reserved_start };
	struct log_source source = log_source_device(&device);
	struct log_image image;
	struct blkdev dev;
	u32 lbn, nr = 0;

	CHECK(!blkdev_open(&dev, path, BLKDEV_READ, &failure), "%s", failure.text);
	device.dev = &dev;
	CHECK(!log_image_open(&image, &info, &source, &failure), "%s", failure.text);
	CHECK(!log_image_recover(&image), "%s", image.error);
	for (lbn = 0; lbn < info.cover_blocks; lbn++) {
		const struct ressd_node *node = ressd_map_find(&image.log.map, lbn);
		const u8 *data = node ? log_image_block(&image, node - image.nodes) : NULL;

		nr += data && data[0] == 0x80 + lbn && data[4095] == data[0];
	}
	log_image_close(&image);
	blkdev_close(&dev);
	return nr;
}

/*
 * The only copies of the covered blocks stand behind the damage.  Formerly a repair cut them off:
 * the device began with its own covers then, and a drain had nothing to put in their place.
 */
TEST(carried_covers_outlive_a_cut)
{
	static const u8 zeroes[RESSD_BLOCK_SIZE];

	start(RESSD_ON);
	carry_covers();
	bad[place_of(3)] = true;
	CHECK_EQ(check(NULL), 4);
	CHECK_EQ(repair(NULL), 0);
	CHECK_HAS(said, "copied from those records: 17 of the first blocks");
	check_blocks(2 + info.cover_blocks);
	CHECK_EQ(carried_covers(), info.cover_blocks);
	stop();
	/* One is damaged: the others are copied, and the loss is named. */
	start(RESSD_ON);
	carry_covers();
	put(place_of(RECORDS) + 3, zeroes, sizeof(zeroes));
	bad[place_of(3)] = true;
	CHECK_EQ(repair(NULL), 0);
	CHECK_HAS(said, "lost: 1 of the first blocks");
	CHECK_EQ(carried_covers(), info.cover_blocks - 1);
	stop();
}

/* 64 bytes more than 32 bits can say.  Formerly only those 64 were there, to be written beyond. */
TEST(map_of_more_than_32_bits)
{
	const struct ressd_super_info huge = {
		.table.reserved_sectors = ((1ULL << 32) / sizeof(struct ressd_node) + 4) *
					  RESSD_BLOCK_SECTORS,
	};
	const struct log_source source = { .read = NULL };
	struct log_image image;
	const int code = log_image_open(&image, &huge, &source, &failure);

	CHECK(code ? code == -ENOMEM : sizeof(size_t) > sizeof(u32), "it is %d", code);
	if (code)
		CHECK_HAS(failure.text, "214748368 blocks need 4096 MiB");
	else
		image.nodes[image.geom.nr_blocks - 1].lbn = 0;
	log_image_close(&image);
}

/* An area that was never formatted. */
TEST(blank)
{
	static const u8 zeroes[RESSD_BLOCK_SIZE];
	char line[200];
	char *argv[] = { "check", "--table", line, NULL };
	u32 i;

	start(RESSD_OFF);
	for (i = LOG; i < BLOCKS; i++)
		put(i, zeroes, sizeof(zeroes));
	snprintf(line, sizeof(line), "0 %u ressd %s 0 %s %u %u", SECTORS / 2, path, path,
		 SECTORS / 2, SECTORS / 2);
	CHECK_EQ(run(command_check, argv), 0);
	bad[LOG + 5] = true;
	bad[LOG + 600] = true;
	CHECK_EQ(run(command_check, argv), 4);
	CHECK_HAS(said, "for 2 blocks of it cannot be read");
	stop();
}

/*
 * Of the superblock at the end open went on with what it had not read, and there was a table of
 * whatever stood in memory.
 */
TEST(open_without_a_superblock)
{
	char *argv[] = { "open", "x", path, NULL };
	const u64 copies[] = { BLOCKS - 1, LOG };
	u32 i;

	for (i = 0; i < 2; i++) {
		start(RESSD_OFF);
		bad[copies[i]] = true;
		CHECK_EQ(run(command_open, argv), 1);
		CHECK_HAS(said, i ? "cannot read byte 4194304" : "cannot read byte 8384512");
		CHECK_HAS(said, "ressdctl repair --search");
		CHECK_EQ(repair("--search"), 0);
		run(command_open, argv);
		CHECK_HAS(said, "is a file");	/* nothing else is wrong */
		stop();
	}
}
