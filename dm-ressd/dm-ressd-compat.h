/* SPDX-License-Identifier: GPL-2.0-only */
/* The only file that knows of differences between kernels; Kbuild probes for them. */
#ifndef DM_RESSD_COMPAT_H
#define DM_RESSD_COMPAT_H

#include <linux/dm-io.h>
#include <linux/ioprio.h>

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
