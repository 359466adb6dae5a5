/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel says about a device: hints for the reader, never trusted alone. */
#ifndef PROBE_HINTS_H
#define PROBE_HINTS_H

#include "blkdev.h"

#define HINT_TEXT	64
#define MAX_HINTS	24

struct hint {
	const char *name;	/* as in sysfs, for example "queue/write_cache" */
	char value[HINT_TEXT];
};

struct hints {
	unsigned int count;
	struct hint hint[MAX_HINTS];
	u32 max_request_bytes;	/* largest transfer that the kernel does not split; 0: unknown */
	u64 start;		/* bytes of the disk before a partition */
	bool rotational;
	bool zoned;
};

/* Reads all hints there are; a device that tells nothing (or a file) leaves @hints empty. */
void hints_read(const struct blkdev *dev, struct hints *hints);

/* The value of a hint, or NULL. */
const char *hints_get(const struct hints *hints, const char *name);

#endif
