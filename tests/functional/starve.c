// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-starve NTH load NAME SECTORS TARGET PARAMETERS | NTH resume NAME | NTH message NAME TEXT
 *
 * One ioctl of device-mapper, in which the kernel denies this process its NTH allocation (fault
 * injection by fail-nth; which kinds of allocation count is set in failslab and fail_page_alloc in
 * debugfs). Prints "denied" or, when there were not so many allocations, "spared", then the errno
 * that the ioctl returned, 0 for success. Used by tests/vm/no-memory.sh.
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

static int run(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[2], "load"))
		return dm_try_load(argv[3], strtoull(argv[4], NULL, 10), argv[5], argv[6]);
	if (argc == 4 && !strcmp(argv[2], "resume"))
		return dm_try_resume(argv[3]);
	if (argc == 5 && !strcmp(argv[2], "message"))
		return dm_try_message(argv[3], argv[4]);
	die(0, "starve: its arguments are NTH load|resume|message NAME ...");
}

int main(int argc, char **argv)
{
	char status[600];
	unsigned long left;
	int error;

	if (argc < 4)
		die(0, "starve: its arguments are NTH load|resume|message NAME ...");
	/* Faults of its own pages and the opening of the control node must not count. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die(errno, "memory cannot be locked");
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
