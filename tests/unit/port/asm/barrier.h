/* SPDX-License-Identifier: GPL-2.0-only */
/* A test may look on after each smp_store_release() of core. */
#ifndef UNIT_ASM_BARRIER_H
#define UNIT_ASM_BARRIER_H

#include_next <asm/barrier.h>

/* NULL: nobody looks. In harness.c. */
extern void (*test_store_hook)(void);

#undef smp_store_release
#define smp_store_release(p, value) do {					\
	__atomic_store_n(p, value, __ATOMIC_RELEASE);				\
	if (test_store_hook)							\
		test_store_hook();						\
} while (0)

#endif
