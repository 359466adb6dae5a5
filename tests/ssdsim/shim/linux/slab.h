/* SPDX-License-Identifier: GPL-2.0-only */
/* Userspace stand-in for the kernel header of this name. */
#ifndef SHIM_SLAB_H
#define SHIM_SLAB_H

#include <stdlib.h>

#define GFP_KERNEL	0
#define GFP_ATOMIC	0
#define __GFP_NOWARN	0

/* Set by tests: this many allocations succeed, then one fails; negative: none fails. */
extern long shim_allocations_left;

static inline int shim_allocation_fails(void)
{
	return shim_allocations_left >= 0 && !shim_allocations_left--;
}

static inline void *kvcalloc(size_t count, size_t size, int flags)
{
	(void)flags;
	return shim_allocation_fails() ? NULL : calloc(count, size);
}

#define kcalloc kvcalloc
#define kvfree free
#define kfree free

#endif
