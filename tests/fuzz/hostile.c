// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-hostile: damaged logs, activated by the real module.  Runs in a test guest.
 *
 *	ressd-hostile DISK corpus FILE...
 *	ressd-hostile DISK seeds FIRST NUMBER
 *
 * Each log (a file of the corpus, or a valid one with mutations) is written to DISK and activated.
 * Either it is refused with a sentence and the disk stays as it was, or the device can be read
 * completely and removed; and ressdctl's check has said beforehand which of the two it would be.
 * What is refused for a broken chain is then repaired, and must be accepted.
 * What the kernel reports meanwhile (WARN, oops) is noticed by the runner of the guest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "dm/ressd-dm.h"
#include "life.h"
#include "log/check.h"
#include "log/cut.h"
#include "mutate.h"

#define NAME		"hostile"
#define CHUNK_BYTES	(1024U * 1024)

static struct blkdev disk;
static u8 *chunk;
static const char *what;	/* the log under test */
static u32 accepted, refused, repaired, wrong;

static void complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("not ok - hostile: %s: ", what);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	wrong++;
}

static void give_up(const struct failure *failure)
{
	printf("not ok - hostile: %s\n", failure->text);
	exit(1);
}

/* As ressdctl check does. */
static bool check_refuses(struct area_memory *area, const struct table_line *line)
{
	struct log_source source = area_source(area);
	struct log_check check = { .refused = false };
	struct super_pair supers = { .choice = 0 };
	struct log_image image;
	struct failure failure;
	bool result;

	supers.copies[0].raw = *(struct ressd_super *)area_block(area, 0);
	supers.copies[1].raw = *(struct ressd_super *)area_block(area, area->nr_blocks - 1);
	supers.copies[0].readable = true;
	supers.copies[1].readable = true;
	super_pair_judge(&supers);
	log_check_supers(&check, &supers, &line->table, &line->options);
	if (check.blank) {
		if (log_check_blank(&check, &source, area->nr_blocks, &failure))
			give_up(&failure);
	} else if (!supers.choice &&
		   supers.info.table.reserved_sectors == line->table.reserved_sectors) {
		if (log_image_open(&image, &supers.info, &source, &failure) ||
		    log_check_log(&check, &image, &failure))
			give_up(&failure);
		log_image_close(&image);
	}
	result = check.refused;
	log_check_free(&check);
	return result;
}

static void write_area(const struct area_memory *area)
{
	u64 at, bytes = (u64)area->nr_blocks * RESSD_BLOCK_SIZE;
	struct failure failure;

	for (at = 0; at < bytes; at += RESSD_BLOCK_SIZE * 64) {
		size_t nr = min_t(u64, bytes - at, RESSD_BLOCK_SIZE * 64);

		memcpy(chunk, area->blocks + at, nr);
		if (blkdev_write(&disk, area->info.table.reserved_start * 512 + at, chunk, nr,
				 &failure))
			give_up(&failure);
	}
}

static void examine_refusal(const struct area_memory *area, const struct failure *failure)
{
	u64 at, bytes = (u64)area->nr_blocks * RESSD_BLOCK_SIZE;
	struct failure reading;

	refused++;
	if (strstr(failure->text, "device-mapper"))
		complain("refused without a sentence of the target: %s", failure->text);
	for (at = 0; at < bytes; at += RESSD_BLOCK_SIZE) {
		if (blkdev_read(&disk, area->info.table.reserved_start * 512 + at, chunk,
				RESSD_BLOCK_SIZE, &reading))
			give_up(&reading);
		if (memcmp(chunk, area->blocks + at, RESSD_BLOCK_SIZE))
			complain("refused, but log block %llu was changed",
				 (unsigned long long)at / RESSD_BLOCK_SIZE);
	}
}

static void examine_device(void)
{
	struct ressd_status status;
	struct failure failure;
	struct blkdev dev;
	u64 at;

	accepted++;
	if (blkdev_open(&dev, "/dev/mapper/" NAME, BLKDEV_READ, &failure)) {
		complain("%s", failure.text);
	} else {
		for (at = 0; at < dev.bytes; at += CHUNK_BYTES)
			if (blkdev_read(&dev, at, chunk, min_t(u64, dev.bytes - at, CHUNK_BYTES),
					&failure))
				complain("%s", failure.text);
		blkdev_close(&dev);
	}
	if (ressd_dm_status(NAME, &status, &failure))
		complain("%s", failure.text);
	if (ressd_dm_remove(NAME, &failure))
		give_up(&failure);
}

/*
 * Plans a cut, as ressdctl repair does, and carries it out on @area; damaged superblocks are made
 * anew.  False if nothing is to be cut.
 */
static bool cut_log(struct area_memory *area)
{
	static const u8 zeroes[RESSD_BLOCK_SIZE];
	struct log_source source = area_source(area);
	struct log_image image;
	struct failure failure;
	struct log_cut cut;
	u32 i;
	int code;

	if (log_image_open(&image, &area->info, &source, &failure))
		give_up(&failure);
	code = log_cut_plan(&cut, &image, &failure);
	log_image_close(&image);
	for (i = 0; code > 0 && i < log_cut_nr_writes(&cut); i++) {
		struct cut_write write = log_cut_write(&cut, i);

		memcpy(area_block(area, write.block), write.data ? write.data : zeroes,
		       RESSD_BLOCK_SIZE);
	}
	log_cut_free(&cut);
	if (code > 0) {
		ressd_super_encode(area_block(area, 0), &area->info, 0);
		ressd_super_encode(area_block(area, area->nr_blocks - 1), &area->info, 1);
	}
	return code > 0;
}

static void try_repaired(struct area_memory *area, const struct table_line *line)
{
	struct failure failure;

	if (!cut_log(area))
		return;
	write_area(area);
	repaired++;
	if (ressd_dm_create(NAME, NULL, line, &failure)) {
		complain("repaired, but the kernel refuses it: %s", failure.text);
	} else {
		examine_device();
		accepted--;	/* it was counted as refused */
	}
}

static void try_area(struct area_memory *area)
{
	struct table_line line = { .table = area->info.table };
	struct failure failure;
	bool expected;
	int code;

	snprintf(line.normal_path, sizeof(line.normal_path), "%s", disk.path);
	snprintf(line.reserved_path, sizeof(line.reserved_path), "%s", disk.path);
	ressd_options_default(&line.options);
	expected = check_refuses(area, &line);
	write_area(area);
	code = ressd_dm_create(NAME, NULL, &line, &failure);
	if (code)
		examine_refusal(area, &failure);
	else
		examine_device();
	if (expected != !!code)
		complain("check says %s, the kernel %s%s", expected ? "refused" : "accepted",
			 code ? "refuses: " : "accepts", code ? failure.text : "");
	if (code)
		try_repaired(area, &line);
}

static void try_file(const char *path)
{
	struct area_memory area;
	size_t size;
	u8 *data = read_file(path, &size);

	what = path;
	area_unpack(&area, data, size);
	/* The corpus is made for a decoder that has no limit of memory; the disk is small. */
	if (area.info.table.reserved_start * 512 + area.nr_blocks * RESSD_BLOCK_SIZE <= disk.bytes)
		try_area(&area);
	area_free(&area);
	free(data);
}

static void damage(struct area_memory *area, struct random *random)
{
	u32 changes = random_below(random, 4), copy;

	if (random_once_in(random, 2)) {
		mutate(area, random);
		return;
	}
	for (; changes; changes--)
		mutate_once(area, random);
	/* Now and then a superblock, too. */
	copy = random_below(random, 2) * (area->nr_blocks - 1);
	if (random_once_in(random, 8))
		((u8 *)area_block(area, copy))[random_below(random, 96)] ^=
			1 << random_below(random, 8);
}

static void try_seed(u64 seed)
{
	struct random random = { .state = seed };
	u32 lives = 1 + random_below(&random, 3);
	struct area_memory area;
	char name[32];

	snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
	what = name;
	area_make_random(&area, &random, 3, 16, 100);
	while (lives--)
		life_run(&area, &random, random_below(&random, 300));
	damage(&area, &random);
	try_area(&area);
	area_free(&area);
}

static void report(const char *name)
{
	if (!wrong)
		printf("ok - hostile: %s: %u accepted, %u refused, %u of these repaired\n", name,
		       accepted, refused, repaired);
	fflush(stdout);
}

static void try_seeds(u64 first, u64 nr)
{
	char name[64];
	u64 i;

	for (i = 0; i < nr; i++) {
		try_seed(first + i);
		snprintf(name, sizeof(name), "seeds %llu to %llu", (unsigned long long)first,
			 (unsigned long long)(first + i));
		if (i % 50 == 49 || i == nr - 1)
			report(name);
	}
	if (nr >= 100 && (accepted < nr / 20 || refused < nr / 20 || !repaired)) {
		printf("not ok - hostile: the logs are too much alike\n");
		wrong++;
	}
}

int main(int argc, char **argv)
{
	struct failure failure;
	int i;

	if (argc < 4 || (strcmp(argv[2], "corpus") && (strcmp(argv[2], "seeds") || argc != 5))) {
		fputs("ressd-hostile DISK corpus FILE... | seeds FIRST NUMBER\n", stderr);
		return 2;
	}
	chunk = blkdev_buffer(CHUNK_BYTES);
	/* Not exclusively: device-mapper opens it as well. */
	if (!chunk || blkdev_open(&disk, argv[1], BLKDEV_READ, &failure))
		give_up(&failure);
	close(disk.fd);
	disk.fd = open(argv[1], O_RDWR | O_DIRECT | O_CLOEXEC);
	if (disk.fd < 0) {
		perror(argv[1]);
		return 1;
	}
	if (!strcmp(argv[2], "seeds")) {
		try_seeds(strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0));
	} else {
		for (i = 3; i < argc; i++)
			try_file(argv[i]);
		report("the corpus");
	}
	blkdev_close(&disk);
	return wrong > 0;
}
