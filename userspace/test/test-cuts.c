// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressdctl adopt and leave as a whole, on an image file with ext4: the power fails before, after
 * and in each of their writes and flushes.  What no flush has followed may be there or not, the
 * last write in part.  Then libblkid finds ext4 on the bare disk, a log that is found is empty and
 * right, and the same command comes to its end.  What the kernel does between the two, with a log
 * that holds data, has its cuts in tests/vm/47-cover-cuts.sh.
 */
#include <blkid/blkid.h>
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
#include "log/super-pair.h"
#include "ressd-cover.h"
#include "ressdctl/ressdctl.h"
#include "wrapped.h"

TEST_SUITE("cuts");

#define DEVICE_BYTES	(4U << 20)
#define FS_BYTES	(2U << 20)		/* ext4; behind it is the reserved area */
#define TAIL_BYTES	(DEVICE_BYTES - FS_BYTES)
#define MAX_STEPS	256U
#define LEAST_CUTS	120U			/* with fewer the command was not run */

/* What the command under test did, in order. */
static struct step {
	bool flush;
	u64 offset;
	size_t bytes;
	u8 *data;
} steps[MAX_STEPS];
static u32 nr_steps;
static bool recording;
static bool there[MAX_STEPS];			/* the writes that a cut has left */

static char path[64];
static struct failure failure;
static u8 *before, *image;			/* TAIL_BYTES of the disk */

int __wrap_blkdev_write(const struct blkdev *to, u64 offset, const void *buffer, size_t bytes,
			struct failure *why)
{
	struct step *step = &steps[nr_steps];

	if (recording) {
		CHECK(nr_steps < MAX_STEPS, "too many steps");
		CHECK(offset >= FS_BYTES, "%zu bytes of the file system, at %llu, are written",
		      bytes, offset);
		*step = (struct step) { .offset = offset - FS_BYTES, .bytes = bytes };
		step->data = malloc(bytes);
		memcpy(step->data, buffer, bytes);
		nr_steps++;
	}
	return __real_blkdev_write(to, offset, buffer, bytes, why);
}

/* Nobody cuts the power of the file. */
int __wrap_blkdev_flush(const struct blkdev *to, struct failure *why)
{
	(void)to;
	(void)why;
	if (recording) {
		CHECK(nr_steps < MAX_STEPS, "too many steps");
		steps[nr_steps++] = (struct step) { .flush = true };
	}
	return 0;
}

/* Runs a command without its output. */
static int run(int (*command)(int argc, char **argv, struct failure *failure), char **argv)
{
	return run_command(command, argv, open("/dev/null", O_WRONLY), &failure);
}

static int adopt(void)
{
	char *argv[] = { "adopt", "--yes", "--reserved", "2M", path, NULL };

	return run(command_adopt, argv);
}

static int leave(void)
{
	char *argv[] = { "leave", path, NULL };

	return run(command_leave, argv);
}

/* As blkid -p TYPE or PTTYPE of the bare disk, or "nothing". */
static const char *looks_like(void)
{
	static char type[32];
	blkid_probe probe = blkid_new_probe_from_filename(path);
	const char *value = "nothing";

	CHECK(probe, "no probe");
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE);
	blkid_probe_enable_partitions(probe, 1);
	if (!blkid_do_safeprobe(probe) && blkid_probe_lookup_value(probe, "TYPE", &value, NULL))
		blkid_probe_lookup_value(probe, "PTTYPE", &value, NULL);
	snprintf(type, sizeof(type), "%s", value);
	blkid_free_probe(probe);
	return type;
}

static void tail_of(u8 *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && pread(fd, to, TAIL_BYTES, FS_BYTES) == TAIL_BYTES, "cannot read");
	close(fd);
}

static void set_tail(const u8 *from)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0 && pwrite(fd, from, TAIL_BYTES, FS_BYTES) == TAIL_BYTES, "cannot write");
	close(fd);
}

/* An ext4, and behind it what an earlier file system may have left. */
static void start(void)
{
	char command[128];
	int fd;

	/* In memory, where that is possible. */
	strcpy(path, access("/dev/shm", W_OK) ? "/tmp/ressd-cuts-XXXXXX" :
			"/dev/shm/ressd-cuts-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && !ftruncate(fd, DEVICE_BYTES), "no scratch file");
	close(fd);
	snprintf(command, sizeof(command), "mkfs.ext4 -q -F -b 4096 -O ^has_journal %s %uk", path,
		 FS_BYTES / 1024);
	CHECK(!system(command), "%s fails", command);
	before = malloc(TAIL_BYTES);
	image = malloc(TAIL_BYTES);
	memset(before, 0xee, TAIL_BYTES);
	set_tail(before);
	CHECK_STR(looks_like(), "ext4");
}

static void stop(void)
{
	while (nr_steps)
		free(steps[--nr_steps].data);
	free(before);
	free(image);
	unlink(path);
}

/* The command that the power fails in, once to its end. */
static void record(int (*command)(void))
{
	tail_of(before);
	recording = true;
	CHECK(!command(), "%s", failure.text);
	recording = false;
	CHECK(nr_steps && steps[nr_steps - 1].flush, "the last step is no flush");
}

/* --- the states that a loss of power leaves -------------------------------------------------- */

static u32 nr_cuts;

/* The disk with the writes that are there, and of write @torn its sectors from @first to @end. */
static void put_state(u32 torn, size_t first, size_t end)
{
	u32 i;

	memcpy(image, before, TAIL_BYTES);
	for (i = 0; i < nr_steps; i++)
		if (there[i] && i != torn)
			memcpy(image + steps[i].offset, steps[i].data, steps[i].bytes);
	if (end)
		memcpy(image + steps[torn].offset + first, steps[torn].data + first, end - first);
	set_tail(image);
	nr_cuts++;
}

/* Of the writes before @until those stay that a flush has followed, and of the others a part. */
static void keep(u32 until, u32 durable, u32 percent)
{
	u32 i;

	for (i = 0; i < nr_steps; i++)
		there[i] = i < until && !steps[i].flush &&
			   (i < durable || test_below(100) < percent);
}

/* The power fails while write @step is under way: the sectors of its begin, or of its end. */
static void tear(u32 step, void (*judge)(void))
{
	const size_t bytes = steps[step].bytes;
	size_t at;

	for (at = 512; at < bytes; at += bytes / 8) {
		put_state(step, 0, at);
		judge();
		put_state(step, at, bytes);
		judge();
	}
}

static void cut_everywhere(void (*judge)(void))
{
	static const u32 percents[] = { 100, 0, 50, 50, 90, 10 };
	u32 until, i, durable = 0;

	nr_cuts = 0;
	for (until = 0; until <= nr_steps; until++) {
		for (i = 0; i < 6; i++) {
			keep(until, durable, percents[i]);
			put_state(nr_steps, 0, 0);
			judge();
		}
		if (until == nr_steps)
			break;
		if (steps[until].flush)
			durable = until + 1;
		else
			tear(until, judge);
	}
	CHECK(nr_cuts >= LEAST_CUTS, "only %u cuts", nr_cuts);
}

/* --- what must be so then --------------------------------------------------------------------- */

/* There is one, it can be opened, and it is empty. */
static void check_log(void)
{
	struct ressd_super_info info;
	struct blkdev dev;
	struct area area;
	u64 blocks = 99;

	CHECK_STR(looks_like(), "ext4");
	CHECK(!blkdev_open(&dev, path, BLKDEV_READ, &failure), "%s", failure.text);
	CHECK(area_find(&dev, &info, &failure) == 1, "cut %u: no log", nr_cuts);
	CHECK(!area_inspect(&area, &dev, &info.table, &failure), "%s", failure.text);
	CHECK(area.kind == AREA_RESSD, "cut %u: it does not open: %s", nr_cuts, area.what);
	CHECK(!log_contents(&dev, &area.info, &blocks, &failure), "cut %u: %s", nr_cuts,
	      failure.text);
	CHECK_EQ(blocks, 0);
	blkdev_close(&dev);
}

static void judge_adopt(void)
{
	int code;

	CHECK_STR(looks_like(), "ext4");
	code = adopt();
	CHECK(!code || code == -EEXIST, "cut %u: %s", nr_cuts, failure.text);
	CHECK_HAS(failure.text, code ? "has a reserved area of ressd already" : "");
	check_log();
	CHECK(!leave(), "cut %u: %s", nr_cuts, failure.text);
	CHECK_STR(looks_like(), "ext4");
}

static void judge_leave(void)
{
	int code;

	CHECK_STR(looks_like(), "ext4");
	code = leave();
	CHECK(!code || code == -ENODATA, "cut %u: %s", nr_cuts, failure.text);
	CHECK_HAS(failure.text, code ? "no reserved area ends with" : "");
	CHECK_STR(looks_like(), "ext4");
	CHECK(!adopt(), "cut %u: %s", nr_cuts, failure.text);
	check_log();
}

static struct ressd_table older;		/* of the log that adopt writes over */

/* As long as one superblock of the older log is good, that log opens. */
static void judge_adopt_over(void)
{
	struct super_pair pair;
	struct blkdev dev;
	u32 i;

	CHECK(!blkdev_open(&dev, path, BLKDEV_READ, &failure), "%s", failure.text);
	super_pair_read(&pair, &dev, older.reserved_start, older.reserved_sectors);
	blkdev_close(&dev);
	for (i = 0; i < 2; i++)
		CHECK(pair.copies[i].verdict != RESSD_SUPER_GOOD || !pair.choice,
		      "cut %u: copy %u of the older log is good, but it does not open: %s", nr_cuts,
		      i, pair.error);
	judge_adopt();
}

TEST(power_cuts_in_adopt)
{
	start();
	record(adopt);
	cut_everywhere(judge_adopt);
	stop();
}

/* Of an empty log that began elsewhere both superblocks have to go as well. */
TEST(power_cuts_in_adopt_over_another_log)
{
	struct table_line line = { .table = {
		.len = FS_BYTES / 512,
		.reserved_start = (FS_BYTES + (1U << 19)) / 512, .reserved_sectors = 2048,
	} };
	u8 uuid[RESSD_UUID_SIZE];
	struct blkdev dev;

	start();
	ressd_options_default(&line.options);
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	CHECK(!area_format(&dev, &line, 1, uuid, &failure), "%s", failure.text);
	blkdev_close(&dev);
	older = line.table;
	record(adopt);
	cut_everywhere(judge_adopt_over);
	stop();
}

TEST(power_cuts_in_leave)
{
	start();
	CHECK(!adopt(), "%s", failure.text);
	record(leave);
	tail_of(image);
	CHECK(ressd_is_zero(image, TAIL_BYTES), "something is left of the log");
	cut_everywhere(judge_leave);
	stop();
}

/* --- a log with data -------------------------------------------------------------------------- */

/* Record 1: the covered blocks as the disk has them, and one more; then the covers. */
static void cover(const struct blkdev *dev, const struct ressd_super_info *info)
{
	const u32 nr = info->cover_blocks, blocks = nr + 2;
	struct ressd_record_header *header = blkdev_buffer(blocks * 4096);
	u8 *data = (u8 *)(header + 1);
	struct ressd_geom geom;
	u32 i;

	CHECK(!ressd_geom_init(&geom, info->table.reserved_sectors, info->segment_sectors,
			       failure.text, sizeof(failure.text)), "geometry");
	CHECK(blocks <= geom.record_blocks, "the record is too long");
	CHECK(!blkdev_read(dev, 0, data, nr * 4096, &failure), "%s", failure.text);
	header->magic = cpu_to_le64(RESSD_RECORD_MAGIC);
	header->version = cpu_to_le32(RESSD_FORMAT_VERSION);
	memcpy(header->uuid, info->uuid, RESSD_UUID_SIZE);
	header->seq = cpu_to_le64(1);
	header->segment_seq = cpu_to_le64(1);
	header->tail_seq = cpu_to_le64(1);
	header->activation = cpu_to_le64(7);
	header->nr_maps = cpu_to_le16(nr + 1);
	header->nr_blocks = cpu_to_le32(blocks);
	header->flags = cpu_to_le32(RESSD_RECORD_FIRST);
	header->block = cpu_to_le32(ressd_geom_slot_start(&geom, 1));
	for (i = 0; i <= nr; i++) {
		header->entries[i].block = cpu_to_le32(i < nr ? i : 500);
		header->entries[i].crc = cpu_to_le32(ressd_crc(data + i * 4096, 4096));
	}
	ressd_record_seal(header);
	CHECK(!blkdev_write(dev, FS_BYTES + ressd_geom_slot_start(&geom, 1) * 4096ULL, header,
			    blocks * 4096, &failure), "%s", failure.text);
	for (i = 0; i < nr; i++)
		ressd_cover_fill(data + i * 4096, info->uuid, i);
	CHECK(!blkdev_write(dev, 0, data, nr * 4096, &failure), "%s", failure.text);
	free(header);
}

/* Neither command writes anything, and the bare disk is nothing that anybody mounts. */
TEST(a_log_with_data_stays_covered)
{
	struct ressd_super_info info;
	struct blkdev dev;

	start();
	CHECK(!adopt(), "%s", failure.text);
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	CHECK(area_find(&dev, &info, &failure) == 1, "no area is found");
	CHECK(info.cover_blocks, "it has no covers");
	cover(&dev, &info);
	blkdev_close(&dev);
	CHECK_STR(looks_like(), "nothing");
	recording = true;
	CHECK_EQ(-leave(), EEXIST);
	CHECK_HAS(failure.text, "that the normal area does not have");
	CHECK_EQ(-adopt(), EEXIST);
	CHECK_HAS(failure.text, "has a reserved area of ressd already");
	CHECK_EQ(nr_steps, 0);
	recording = false;
	stop();
}

/*
 * The partition was made larger while it was closed: "no reserved area" was all that was said; or
 * smaller, or is a copy on a smaller card: it was said to be larger.
 */
TEST(a_log_in_a_device_of_another_length)
{
	char *open_words[] = { "open", "x", path, NULL };
	char *check_words[] = { "check", "--search", path, NULL };
	struct ressd_super_info info;
	struct blkdev dev;
	char wanted[64], table[256];
	u64 bytes;

	start();
	CHECK(!adopt(), "%s", failure.text);
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	CHECK(area_find(&dev, &info, &failure) == 1, "no area is found");
	cover(&dev, &info);
	bytes = dev.bytes;
	blkdev_close(&dev);
	CHECK(!truncate(path, bytes + (16 << 20)), "%s cannot be made larger", path);
	CHECK_EQ(-run(command_open, open_words), ENODATA);
	CHECK_HAS(failure.text, "does not end with it: if it was made larger");
	CHECK_EQ(-run(command_check, check_words), ENODATA);
	snprintf(wanted, sizeof(wanted), "Make it %llu sectors long", bytes / 512);
	CHECK_HAS(failure.text, wanted);
	CHECK_HAS(failure.text, "was the device made larger?");
	snprintf(table, sizeof(table),
		 ", or open it with --table '0 %llu ressd %s 0 %s %llu %llu'",
		 info.table.len, path, path, info.table.reserved_start,
		 info.table.reserved_sectors);
	CHECK_HAS(failure.text, table);
	CHECK(!truncate(path, bytes - 4096), "%s cannot be made smaller", path);
	CHECK_EQ(-run(command_open, open_words), ENODATA);
	CHECK_HAS(failure.text, "does not end with it: if it was made larger or smaller");
	CHECK_EQ(-run(command_check, check_words), ENODATA);
	CHECK_HAS(failure.text, wanted);
	CHECK_HAS(failure.text, "was the device made smaller, or copied in part?");
	CHECK(!truncate(path, info.table.reserved_start * 512), "%s cannot be made smaller", path);
	CHECK_EQ(-run(command_check, check_words), ENODATA);
	CHECK_HAS(failure.text, "; a copy without its end has none;");
	CHECK(!truncate(path, bytes), "%s cannot be made larger", path);
	CHECK_EQ(-run(command_check, check_words), ENODATA);
	stop();
}

/* A signature that is not in the first block: the last covered one has it. */
TEST(btrfs_is_covered)
{
	struct ressd_super_info info;
	struct blkdev dev;
	char command[256];

	start();
	CHECK(!adopt(), "%s", failure.text);
	snprintf(command, sizeof(command),
		 "f=%s; truncate -s 64M $f.b && mkfs.btrfs -q -f --mixed $f.b >/dev/null && dd if=$f.b of=$f bs=68k count=1 conv=notrunc status=none; rm $f.b",
		 path);
	CHECK(!system(command), "%s fails", command);
	CHECK_STR(looks_like(), "btrfs");
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	CHECK(area_find(&dev, &info, &failure) == 1, "no area is found");
	cover(&dev, &info);
	blkdev_close(&dev);
	CHECK_STR(looks_like(), "nothing");
	stop();
}

/* Makes a file system by @format, whose %s is the disk, as if nobody had known of ressd. */
static void make_anew(const char *format)
{
	char command[256];

	snprintf(command, sizeof(command), format, path);
	CHECK(!system(command), "%s fails", command);
}

/* What a program has written there is lost: only the kernel log told. */
TEST(a_cover_that_was_written_over)
{
	char *words[] = { "open", "x", path, NULL };
	struct ressd_super_info info;
	char said[1024] = "";
	struct blkdev dev;
	int errors = dup(STDERR_FILENO);
	FILE *file = tmpfile();

	start();
	CHECK(!adopt(), "%s", failure.text);
	CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
	CHECK(area_find(&dev, &info, &failure) == 1, "no area is found");
	cover(&dev, &info);
	memset(image, 'x', 8192);
	CHECK(!blkdev_write(&dev, 5 * 4096, image, 8192, &failure), "%s", failure.text);
	blkdev_close(&dev);
	CHECK(file, "no scratch file");
	dup2(fileno(file), STDERR_FILENO);
	/* The image is no device, which is said later. */
	CHECK(run(command_open, words), "an image was opened");
	dup2(errors, STDERR_FILENO);
	close(errors);
	CHECK(pread(fileno(file), said, sizeof(said) - 1, 0) >= 0, "it cannot be read");
	fclose(file);
	CHECK_HAS(said, "warning: 16 of the first 136 sectors of ");
	CHECK_HAS(said, "the log's version counts; check the file system");
	stop();
}

/*
 * A card that was written anew without ressd keeps the old log: open went on with that, and wrote
 * old blocks into the new file system.
 */
TEST(a_file_system_over_a_covered_log)
{
	static const char *const formats[] = {
		"mkfs.ext4 -q -F -b 4096 -E nodiscard -O ^has_journal %s 2048k",
		"f=%s; mkfs.ext4 -q -F -b 4096 -E nodiscard -O ^has_journal $f 2048k; resize2fs $f >/dev/null 2>&1",
		"mkfs.vfat -F 12 %s 2048 >/dev/null 2>&1",	/* some covers stay */
	};
	char *open_words[] = { "open", "x", path, NULL };
	char *adopt_words[] = { "adopt", "--yes", "--force", "--reserved", "1M", path, NULL };
	struct ressd_super_info info;
	struct blkdev dev;
	char wanted[256];
	u32 i;

	for (i = 0; i < 3; i++) {
		start();
		CHECK(!adopt(), "%s", failure.text);
		CHECK(!blkdev_open(&dev, path, BLKDEV_WRITE, &failure), "%s", failure.text);
		CHECK(area_find(&dev, &info, &failure) == 1, "no area is found");
		cover(&dev, &info);
		blkdev_close(&dev);
		CHECK_EQ(-run(command_adopt, adopt_words), EEXIST);	/* it would be lost */
		make_anew(formats[i]);
		CHECK_STR(looks_like(), i < 2 ? "ext4" : "vfat");
		CHECK_EQ(-run(command_open, open_words), EEXIST);
		CHECK_HAS(failure.text, "where its covers would be");
		/* Or fsck made it of the copies of the superblock, and the log is wanted. */
		snprintf(wanted, sizeof(wanted),
			 "if it was repaired, open it with --table '0 %llu ressd %s 0 %s %llu %llu'",
			 info.table.len, path, path, info.table.reserved_start,
			 info.table.reserved_sectors);
		CHECK_HAS(failure.text, wanted);
		CHECK_EQ(-leave(), EEXIST);
		CHECK_HAS(failure.text, i == 1 ? "reaches into the reserved area" : "open it, and");
		CHECK_EQ(-adopt(), EEXIST);
		CHECK_HAS(failure.text, "if the file system is newer, add --force");
		CHECK_EQ(run(command_adopt, adopt_words), i == 1 ? -ENOSPC : 0);
		CHECK_STR(looks_like(), i < 2 ? "ext4" : "vfat");
		stop();
	}
}
