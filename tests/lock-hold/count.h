/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the instructions of a piece of the program: core and the steps are compiled to x86-64
 * assembler code that counts its own (count.py), so the number is exact and the same each time.
 * What they call of the C library is not in it; the kernel copies with one instruction.
 */
#ifndef COUNT_H
#define COUNT_H

#include <linux/types.h>

extern u64 instructions_run, saved_rax;

/* Instructions that @call takes with @context. */
u64 count_call(void (*call)(void *context), void *context);

#endif
