// SPDX-License-Identifier: GPL-2.0-only
/*
 * See count.h.  The child marks the ends of a piece by a signal to itself, which it does not get.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "count.h"

#define MARK	SIGUSR1

static u64 *counted;	/* shared with the parent */

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void go_on(int request, pid_t child, long signal)
{
	if (ptrace(request, child, NULL, signal))
		fail("lock-hold: ptrace");
}

/* Until the child stops again: which signal, or the end of this program if it has ended. */
static int next_stop(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		fail("lock-hold: waitpid");
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "lock-hold: killed by signal %d\n", WTERMSIG(status));
		exit(2);
	}
	return WSTOPSIG(status);
}

/* Steps from one mark to the next. */
static u64 step(pid_t child)
{
	u64 nr = 0;
	int signal;

	do {
		go_on(nr < COUNT_MAX ? PTRACE_SINGLESTEP : PTRACE_CONT, child, 0);
		nr++;
		signal = next_stop(child);
	} while (signal == SIGTRAP);
	return nr;
}

static void trace(pid_t child)
{
	for (;;) {
		int signal = next_stop(child);

		if (signal == MARK) {
			*counted = step(child);
			signal = 0;
		}
		go_on(PTRACE_CONT, child, signal == SIGSTOP ? 0 : signal);
	}
}

void count_start(void)
{
	pid_t child;

	counted = mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (counted == MAP_FAILED)
		fail("lock-hold: mmap");
	fflush(stdout);
	child = fork();
	if (child < 0)
		fail("lock-hold: fork");
	if (child)
		trace(child);
	if (ptrace(PTRACE_TRACEME, 0, NULL, 0))
		fail("lock-hold: ptrace");
	raise(SIGSTOP);
}

static u64 between_marks(void (*call)(void *context), void *context)
{
	raise(MARK);
	call(context);
	raise(MARK);
	return *counted;
}

static void nothing(void *context)
{
	(void)context;
}

u64 count_call(void (*call)(void *context), void *context)
{
	u64 overhead = between_marks(nothing, NULL);
	u64 nr = between_marks(call, context);

	return nr > overhead ? nr - overhead : 0;
}
