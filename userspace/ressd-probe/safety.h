/* SPDX-License-Identifier: GPL-2.0-only */
/* May the probe write to this device? */
#ifndef PROBE_SAFETY_H
#define PROBE_SAFETY_H

#include "probe.h"

/*
 * Looks at what is on the device, which is open with BLKDEV_WRITE or BLKDEV_TRY: may the user's
 * words let it be overwritten?  0, or a negative errno with a sentence (-EEXIST, -EPERM: refused).
 */
int safety_check(const struct probe *probe, struct failure *failure);

/*
 * The same, and makes sure that the user knows.  0, or a negative errno with a sentence (-EEXIST,
 * -EPERM: refused).
 */
int safety_allow_write(const struct probe *probe, struct failure *failure);

#endif
