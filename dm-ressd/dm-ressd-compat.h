/* SPDX-License-Identifier: GPL-2.0-only */
/* The only file that knows of differences between kernels. */
#ifndef DM_RESSD_COMPAT_H
#define DM_RESSD_COMPAT_H

#include <linux/blkdev.h>
#include <linux/fs.h>

/* fmode_t became blk_mode_t: what says that a table may be written. */
#ifdef BLK_OPEN_WRITE
#define RESSD_MODE_WRITE BLK_OPEN_WRITE
#else
#define RESSD_MODE_WRITE FMODE_WRITE
#endif

#endif
