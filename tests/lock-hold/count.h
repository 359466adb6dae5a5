/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the instructions of a piece of the program: an x86 processor traps after each, so the count
 * is exact and the same each time.
 */
#ifndef COUNT_H
#define COUNT_H

#include <linux/types.h>

#define COUNT_MAX	1000000ULL	/* more than so many are not told apart */

/* Before the first count: SIGTRAP is taken. */
void count_start(void);

/* Instructions that @call takes with @context. */
u64 count_call(void (*call)(void *context), void *context);

#endif
