// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library to preload for test-oracle.sh: in the files log-*, a read that crosses 4 KiB ends
 * there, and one that begins behind fails, as on a drive that dies meanwhile.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READABLE 4096

static bool is_torn(int fd)
{
	char link[40], name[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, name, sizeof(name) - 1);
	name[length < 0 ? 0 : length] = 0;
	return !!strstr(name, "/log-");
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t place)
{
	if (is_torn(fd) && place >= READABLE) {
		errno = EIO;
		return -1;
	}
	if (is_torn(fd) && bytes > (size_t)(READABLE - place))
		bytes = READABLE - place;
	return syscall(SYS_pread64, fd, buffer, bytes, place);
}

ssize_t read(int fd, void *buffer, size_t bytes)
{
	ssize_t got;

	if (!is_torn(fd))
		return syscall(SYS_read, fd, buffer, bytes);
	got = pread(fd, buffer, bytes, lseek(fd, 0, SEEK_CUR));
	if (got > 0)
		lseek(fd, got, SEEK_CUR);
	return got;
}
