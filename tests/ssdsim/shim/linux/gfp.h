/* SPDX-License-Identifier: GPL-2.0-only */
/* Userspace stand-in for the kernel header of this name. */
#ifndef SHIM_GFP_H
#define SHIM_GFP_H

#include <stdlib.h>
#include <string.h>

#define GFP_KERNEL	0
#define GFP_ATOMIC	0
#define __GFP_NOWARN	0
#define __GFP_ZERO	0

/* Set by tests: this many allocations succeed, then one fails; negative: none fails. */
extern long shim_allocations_left;

static inline int shim_allocation_fails(void)
{
	return shim_allocations_left >= 0 && !shim_allocations_left--;
}

static inline unsigned long __get_free_page(int flags)
{
	void *memory;

	(void)flags;
	if (shim_allocation_fails())
		return 0;
	memory = aligned_alloc(4096, 4096);
	if (memory)
		memset(memory, 0, 4096);
	return (unsigned long)memory;
}

static inline void free_page(unsigned long address)
{
	free((void *)address);
}

#endif
