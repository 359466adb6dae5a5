/* SPDX-License-Identifier: GPL-2.0-only */
/* The only file that knows of differences between kernels; Kbuild probes for them. */
#ifndef DM_RESSD_COMPAT_H
#define DM_RESSD_COMPAT_H

#include <linux/blkdev.h>
#include <linux/dm-io.h>
#include <linux/fs.h>
#include <linux/ioprio.h>

/* fmode_t became blk_mode_t: what says that a table may be written. */
#ifdef BLK_OPEN_WRITE
#define RESSD_MODE_WRITE BLK_OPEN_WRITE
#else
#define RESSD_MODE_WRITE FMODE_WRITE
#endif

static inline int ressd_dm_io(struct dm_io_request *request, struct dm_io_region *region,
			      unsigned long *error_bits)
{
#ifdef RESSD_DM_IO_HAS_IOPRIO
	return dm_io(request, 1, region, error_bits, IOPRIO_DEFAULT);
#else
	return dm_io(request, 1, region, error_bits);
#endif
}

#endif
