/* SPDX-License-Identifier: GPL-2.0-only */
/* What a log that is not in use still holds: the kernel's own recovery, reading only. */
#ifndef RESSD_LOG_CONTENTS_H
#define RESSD_LOG_CONTENTS_H

#include <stdbool.h>
#include "dm/blkdev.h"
#include "ressd-record.h"

/*
 * Counts in @blocks the 4 KiB blocks of the log on @dev that the normal area may not have.  @info
 * is the area's superblock.  0, or a negative errno with a sentence (-EUCLEAN: damaged log).
 */
int log_contents(const struct blkdev *dev, const struct ressd_super_info *info, u64 *blocks,
		 struct failure *failure);

/* Likewise, whether the normal area is covered: then it has covers of this log. */
int log_is_covered(const struct blkdev *dev, const struct ressd_super_info *info, bool *covered,
		   struct failure *failure);

/*
 * fs_check_end() of the area that has @info.  But if the log holds data the file system on the
 * bare device is not asked: it is not up to date there, unless covers hide it.
 */
int log_check_end(const struct blkdev *dev, const struct ressd_super_info *info,
		  struct failure *failure);

#endif
