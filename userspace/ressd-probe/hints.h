/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel says about a device: hints for the reader, never trusted alone. */
#ifndef PROBE_HINTS_H
#define PROBE_HINTS_H

#include <string.h>
#include "dm/blkdev.h"
#include "judge/finding.h"

#define HINT_TEXT	64
#define MAX_HINTS	48

struct hint {
	const char *name;	/* as in sysfs, "queue/write_cache", or "nvme/optimal_write" */
	char value[HINT_TEXT];
};

/* What a device is made of, by the name of its driver. */
enum backing {
	BACKING_DRIVE,		/* or anything that is not known to be something else */
	BACKING_MEMORY,		/* a RAM disk, zram */
	BACKING_FILE,		/* a loop device, or a file itself */
};

/* "drive", "memory" or "file". */
const char *backing_name(enum backing backing);

struct hints {
	unsigned int count;
	struct hint hint[MAX_HINTS];
	u32 max_request_bytes;	/* largest transfer that the kernel does not split; 0: unknown */
	u64 start;		/* bytes of the disk before a partition */
	bool rotational;
	bool zoned;
	bool takes_discards;
	bool one_at_a_time;	/* no command before the last one has completed */
	enum backing backing;
};

/* The value of a hint, or NULL. */
static inline const char *hints_get(const struct hints *hints, const char *name)
{
	unsigned int i;

	for (i = 0; i < hints->count; i++)
		if (!strcmp(hints->hint[i].name, name))
			return hints->hint[i].value;
	return NULL;
}

/* Reads all hints there are; a device that tells nothing (or a file) leaves @hints empty. */
void hints_read(const struct blkdev *dev, struct hints *hints);

/* hints-device.c: adds what the device's registers say; @folder is its own in sysfs. */
void hints_ask_device(const struct blkdev *dev, const char *folder, struct hints *hints);

/*
 * hints-check.c: sets hints beside what was measured.  They are said in the finding; one that
 * contradicts a single method lowers its confidence, and where nothing was measured it is the
 * finding, with STATUS_HINT.  @findings: all NR_PARAMETERS.
 */
void hints_check(const struct hints *hints, struct finding *findings);

/* As the kernel says; false if it does not. */
bool hints_one_at_a_time(const struct hints *hints);

#endif
