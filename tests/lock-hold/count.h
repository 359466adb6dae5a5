/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the instructions of a piece of the program: a tracing parent steps through it one by one,
 * so the count is exact and the same each time, on any machine that has ptrace.
 */
#ifndef COUNT_H
#define COUNT_H

#include <linux/types.h>

#define COUNT_MAX	1000000ULL	/* more than so many are not told apart */

/*
 * Forks: returns in the child, which goes on with the program.  The parent ends as the child does.
 */
void count_start(void);

/* Instructions that @call takes with @context. */
u64 count_call(void (*call)(void *context), void *context);

#endif
