/* SPDX-License-Identifier: GPL-2.0-only */
/* Has the device the capacity that it claims? */
#ifndef RESSD_GENUINE_H
#define RESSD_GENUINE_H

#include "dm/blkdev.h"

/*
 * A counterfeit drive has less memory than it says: what is written beyond its end is lost, or
 * lands on other blocks.  Writes one block at the end of the region [@offset, @offset + @bytes),
 * looks for it there and at all places to which address bits that are not wired would lead, and
 * restores what was there before.  0, -EPERM with a sentence when the device is counterfeit, or
 * another negative errno.
 */
int genuine_check(const struct blkdev *dev, u64 offset, u64 bytes, struct failure *failure);

#endif
