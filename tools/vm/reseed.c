// SPDX-License-Identifier: GPL-2.0-only
/*
 * reseed: mixes what it reads from its input, up to 64 bytes, into the kernel's random numbers and
 * has them begin anew. Guests restored from one saved state would otherwise all draw the same ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/random.h>

int main(void)
{
	struct {
		struct rand_pool_info info;
		char bytes[64];
	} seed;
	ssize_t got = read(0, seed.bytes, sizeof(seed.bytes));
	int random = open("/dev/urandom", O_WRONLY);

	if (got <= 0 || random < 0) {
		perror("reseed");
		return 1;
	}
	seed.info.entropy_count = got * 4; /* the input is text of 4 bits a byte */
	seed.info.buf_size = got;
	/* ENODATA: there were no random numbers yet, and so none to repeat. */
	if (ioctl(random, RNDADDENTROPY, &seed) ||
	    (ioctl(random, RNDRESEEDCRNG) && errno != ENODATA)) {
		perror("reseed");
		return 1;
	}
	return 0;
}
