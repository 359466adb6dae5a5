/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of a made-up disk: no time passes but in its commands and in pauses between them. */
#ifndef PROBE_TEST_DISK_CLOCK_H
#define PROBE_TEST_DISK_CLOCK_H

#include "measure/disk.h"

static u64 disk_clock;		/* ns; a test sets it back to 0 for a new disk */

/* A command takes @time, and tells so by *@ns; 0, as a command returns that has gone well. */
static inline int disk_spend(u64 *ns, u64 time)
{
	disk_clock += time;
	*ns = time;
	return 0;
}

/* For struct disk_ops. */
static inline void disk_pause(struct disk *disk, u64 ns)
{
	(void)disk;
	disk_clock += ns;
}

static inline u64 disk_now(struct disk *disk)
{
	(void)disk;
	return disk_clock;
}

#endif
