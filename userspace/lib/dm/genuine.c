// SPDX-License-Identifier: GPL-2.0-only
/* Has the device the capacity that it claims?  See genuine.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "dm/genuine.h"

#define BLOCK		4096U
#define SMALLEST	1048576ULL	/* memory of a counterfeit drive, at least */

/* A block that no drive holds already. */
static void make_stamp(u8 *stamp)
{
	struct timespec now;
	u64 state, word;
	u32 i;

	clock_gettime(CLOCK_REALTIME, &now);
	state = now.tv_sec * 1000000000ULL + now.tv_nsec;
	for (i = 0; i < BLOCK; i += sizeof(word)) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		word = state ^ state >> 29;
		memcpy(stamp + i, &word, sizeof(word));
	}
}

static int read_block(const struct blkdev *dev, u64 at, u8 *block, struct failure *failure)
{
	memset(block, 0, BLOCK);
	return blkdev_read(dev, at, block, BLOCK, failure);
}

static int write_block(const struct blkdev *dev, u64 at, const u8 *block, struct failure *failure)
{
	int code = blkdev_write(dev, at, block, BLOCK, failure);

	return code ? code : blkdev_flush(dev, failure);
}

/*
 * Where the stamp would be if the drive had only so much memory that @at wraps around.  What cannot
 * be read there is not the stamp.
 */
static int look_elsewhere(const struct blkdev *dev, u64 at, const u8 *stamp, u8 *block,
			  struct failure *failure)
{
	struct failure ignored;
	u64 memory, last = at;

	for (memory = SMALLEST; memory <= at; memory *= 2) {
		const u64 alias = at % memory;

		if (alias == last)
			continue;
		last = alias;
		if (!read_block(dev, alias, block, &ignored) && !memcmp(block, stamp, BLOCK))
			return fail(failure, -EPERM,
				    "%s is counterfeit: what is written at byte %llu appears at byte %llu; it has %llu bytes or less, f3probe tells how many",
				    dev->path, at, alias, memory);
	}
	return 0;
}

static int look(const struct blkdev *dev, u64 at, const u8 *stamp, u8 *block,
		struct failure *failure)
{
	int code = look_elsewhere(dev, at, stamp, block, failure);

	if (!code)
		code = read_block(dev, at, block, failure);
	if (!code && memcmp(block, stamp, BLOCK))
		return fail(failure, -EPERM,
			    "%s does not keep what is written at byte %llu: its capacity is counterfeit, or it is broken; f3probe tells how large it is",
			    dev->path, at);
	return code;
}

int genuine_check(const struct blkdev *dev, u64 offset, u64 bytes, struct failure *failure)
{
	const u64 at = (offset + bytes) / BLOCK * BLOCK - BLOCK;
	u8 *before = blkdev_buffer(3 * BLOCK), *stamp, *block;
	struct failure restoring;
	int code;

	if (!before)
		return fail(failure, -ENOMEM, "not enough memory to check the capacity");
	stamp = before + BLOCK;
	block = stamp + BLOCK;
	make_stamp(stamp);
	code = read_block(dev, at, before, failure);
	if (!code) {
		code = write_block(dev, at, stamp, failure);
		if (!code)
			code = look(dev, at, stamp, block, failure);
		/* Also where it wraps around: there was the same block before. */
		if (write_block(dev, at, before, &restoring) && !code) {
			*failure = restoring;
			code = -EIO;
		}
	}
	free(before);
	return code;
}
