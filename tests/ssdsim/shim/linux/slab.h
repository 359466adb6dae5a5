/* SPDX-License-Identifier: GPL-2.0-only */
/* Userspace stand-in for the kernel header of this name. */
#ifndef SHIM_SLAB_H
#define SHIM_SLAB_H

#include <stdlib.h>

#include <linux/gfp.h>

static inline void *kvcalloc(size_t count, size_t size, int flags)
{
	(void)flags;
	return shim_allocation_fails() ? NULL : calloc(count, size);
}

#define kcalloc kvcalloc
#define kvfree free
#define kfree free

#endif
