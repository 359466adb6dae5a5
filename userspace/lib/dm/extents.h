/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where bytes of a block device really are: partitions, loop devices and device-mapper's linear
 * targets are followed down to what they stand on.  Two devices may be the same bytes.
 */
#ifndef RESSD_EXTENTS_H
#define RESSD_EXTENTS_H

#include "dm/blkdev.h"

/*
 * True if [@a_start, @a_start + @a_bytes) of @a and the same of @b share a byte on what they stand
 * on.  A device whose mapping is not known here (RAID, encryption, thin volumes) may be anywhere on
 * the devices below it: that meets what lies there directly, but not another such device, which is
 * the business of what made both.
 */
bool extents_meet(const struct blkdev *a, u64 a_start, u64 a_bytes, const struct blkdev *b,
		  u64 b_start, u64 b_bytes);

#endif
