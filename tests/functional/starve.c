// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-starve NTH load NAME SECTORS TARGET PARAMETERS | NTH resume NAME | NTH message NAME TEXT
 * ressd-starve write DEVICE FILE
 *
 * One ioctl of device-mapper, in which the kernel denies this process its NTH allocation (fault
 * injection by fail-nth). Prints "denied" or, when there were not so many allocations, "spared",
 * then the errno that the ioctl returned, 0 for success. Or writes what the file holds, by blocks
 * of 4 KiB, and syncs it, marked as a process that is denied memory. Which kinds of allocation, and
 * how many of those of a marked process, is set in failslab and fail_page_alloc in debugfs. Used
 * by tests/vm/no-memory.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "dm.h"
#include "output.h"

#define BLOCK_BYTES	4096
#define STRIDE		(16 * BLOCK_BYTES)
#define USAGE		"its arguments are NTH load|resume|message NAME ..., or write DEVICE FILE"

static int fail_nth_file;

static void set_fail_nth(const char *number)
{
	if (pwrite(fail_nth_file, number, strlen(number), 0) < 0)
		die(errno, "/proc/self/fail-nth cannot be written");
}

/* What is left to count; 0 when the allocation was denied. */
static unsigned long get_fail_nth(void)
{
	char text[32] = "";

	if (pread(fail_nth_file, text, sizeof(text) - 1, 0) <= 0)
		die(errno, "/proc/self/fail-nth cannot be read");
	return strtoul(text, NULL, 10);
}

/* By a file that is open already: to open one takes memory. */
static void set_denied(int file, const char *value)
{
	if (pwrite(file, value, 1, 0) != 1)
		die(errno, "/proc/self/make-it-fail cannot be written");
}

static int write_denied(const char *device, const char *path)
{
	int denied = open("/proc/self/make-it-fail", O_WRONLY), in = open(path, O_RDONLY);
	int out = open(device, O_WRONLY | O_DIRECT), error = 0;
	off_t bytes = in < 0 ? 0 : lseek(in, 0, SEEK_END), first, place;
	char *data = aligned_alloc(BLOCK_BYTES, bytes);

	if (denied < 0 || out < 0)
		die(errno, "'%s' or /proc/self/make-it-fail cannot be opened", device);
	if (in < 0 || bytes % BLOCK_BYTES || !data || pread(in, data, bytes, 0) != bytes)
		die(errno, "'%s' cannot be read by whole blocks", path);
	set_denied(denied, "1");
	/* Not in their order: what is sequential does not go to the log. */
	for (first = 0; first < STRIDE; first += BLOCK_BYTES)
		for (place = first; !error && place < bytes; place += STRIDE)
			if (pwrite(out, data + place, BLOCK_BYTES, place) != BLOCK_BYTES)
				error = errno;
	if (!error && fsync(out))
		error = errno;
	set_denied(denied, "0");
	if (error)
		die(error, "'%s' cannot be written", device);
	free(data);
	close(denied);
	close(in);
	close(out);
	return 0;
}

static int run(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[2], "load"))
		return dm_try_load(argv[3], strtoull(argv[4], NULL, 10), argv[5], argv[6]);
	if (argc == 4 && !strcmp(argv[2], "resume"))
		return dm_try_resume(argv[3]);
	if (argc == 5 && !strcmp(argv[2], "message"))
		return dm_try_message(argv[3], argv[4]);
	die(0, USAGE);
}

int main(int argc, char **argv)
{
	char status[600];
	unsigned long left;
	int error;

	if (argc < 4)
		die(0, USAGE);
	/* Faults of its own pages must not count, nor the opening of the control node. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die(errno, "memory cannot be locked");
	if (!strcmp(argv[1], "write"))
		return write_denied(argv[2], argv[3]);
	fail_nth_file = open("/proc/self/fail-nth", O_RDWR);
	if (fail_nth_file < 0)
		die(errno, "this kernel has no fault injection: /proc/self/fail-nth");
	dm_status(argv[3], status, sizeof(status));
	get_fail_nth();

	set_fail_nth(argv[1]);
	error = run(argc, argv);
	left = get_fail_nth();
	set_fail_nth("0");
	printf("%s %d\n", left ? "spared" : "denied", error);
	return 0;
}
