// SPDX-License-Identifier: GPL-2.0-only
/* See count.h. */
#include "count.h"

/* Of the code that count.py has changed, which keeps a register in the other one. */
u64 instructions_run, saved_rax;

u64 count_call(void (*call)(void *context), void *context)
{
	const u64 before = instructions_run;

	call(context);
	return instructions_run - before;
}
