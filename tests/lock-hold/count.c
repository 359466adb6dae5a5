// SPDX-License-Identifier: GPL-2.0-only
/*
 * See count.h.  A tracer beside the program would need two switches of processes for each
 * instruction; a signal handler in it needs none.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <x86intrin.h>
#include "count.h"

#define TRAP_FLAG	0x100ULL	/* of EFLAGS: trap after each instruction */

static volatile u64 counted;

static void count(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (++counted == COUNT_MAX)
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

void count_start(void)
{
	struct sigaction action = { .sa_sigaction = count, .sa_flags = SA_SIGINFO };

	if (sigaction(SIGTRAP, &action, NULL)) {
		perror("lock-hold: sigaction");
		exit(2);
	}
}

static u64 trap_each(void (*call)(void *context), void *context)
{
	counted = 0;
	__writeeflags(__readeflags() | TRAP_FLAG);
	call(context);
	__writeeflags(__readeflags() & ~TRAP_FLAG);
	return counted;
}

static void nothing(void *context)
{
	(void)context;
}

u64 count_call(void (*call)(void *context), void *context)
{
	u64 overhead = trap_each(nothing, NULL);
	u64 nr = trap_each(call, context);

	return nr > overhead ? nr - overhead : 0;
}
