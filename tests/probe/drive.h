/* SPDX-License-Identifier: GPL-2.0-only */
/* An emulated drive as the probe sees a disk. */
#ifndef PROBE_DRIVE_H
#define PROBE_DRIVE_H

#include "emulated.h"
#include "measure/disk.h"

struct drive {
	struct disk disk;
	struct emulated *emulated;
};

/* 0, or -EINVAL with a sentence.  @profile and @host as for emulated_create(). */
int drive_create(struct drive *drive, const char *profile, const struct host *host,
		 struct failure *failure);
void drive_destroy(struct drive *drive);

#endif
