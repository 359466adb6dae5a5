// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <unistd.h>

#include "oracle.h"

ssize_t read_whole(int fd, void *buffer, size_t bytes, off_t place)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t more = pread(fd, (char *)buffer + got, bytes - got, place + got);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -1;
		if (!more)
			break;
		got += more;
	}
	return got;
}
