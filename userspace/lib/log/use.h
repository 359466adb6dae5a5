/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a log was used in between: each activation of the device writes a record before it
 * serves anything, so the headers and summaries of the log are then other ones.
 */
#ifndef RESSD_LOG_USE_H
#define RESSD_LOG_USE_H

#include "log/image.h"

struct log_use {
	u64 newest;		/* highest number of a record that a header or summary names */
	u32 crc;		/* crc32c of where all these stand, and of their own crcs */
};

/*
 * Reads the whole area of @info on @dev, but not what stands in the log blocks for which @spared
 * (as many bytes as the area has blocks) is set.  A block that cannot be read has no header.  0, or
 * a negative errno with a sentence.
 */
int log_use_read(struct log_use *use, const struct blkdev *dev, const struct ressd_super_info *info,
		 const u8 *spared, struct failure *failure);

#endif
