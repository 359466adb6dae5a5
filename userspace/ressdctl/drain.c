// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressdctl drain: move everything to the normal area.
 *
 * The kernel answers the message "drain" only when all is moved, so a child process sends it while
 * this one shows progress.  Ctrl-C sends "drain cancel", and the child's message then ends.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli/progress.h"
#include "dm/ressd-dm.h"
#include "ressdctl.h"

struct drain {
	const char *name;
	pid_t child;
	int pipe;		/* the child's sentence */
	bool cancelled;
	struct progress progress;
	u64 first_left;		/* blocks to move when progress began */
};

/* The whole life of the child: it ends with 0, or writes its sentence and ends with the errno. */
static void send_drain(const char *name, int pipe)
{
	struct failure failure;
	int code;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	code = ressd_dm_message(name, "drain", &failure);
	if (code && write(pipe, failure.text, strlen(failure.text)) < 0)
		code = -EPIPE;
	_exit(-code & 0xff);
}

static void show_progress(struct drain *drain)
{
	struct ressd_status status;
	struct failure failure;
	u64 left;

	if (ressd_dm_status(drain->name, &status, &failure))
		return;
	left = ressd_status_get(&status, "drain_left", status.dirty_blocks);
	if (left > drain->first_left)
		drain->first_left = left;
	progress_update(&drain->progress, drain->first_left - left, drain->first_left);
}

static void stop_drain(struct drain *drain)
{
	struct failure failure;
	int code = ressd_dm_message(drain->name, "drain cancel", &failure);

	drain->cancelled = true;
	if (code)
		fprintf(stderr, "\nressdctl: %s; waiting for the drain to end.\n", failure.text);
}

/* Waits for the child, showing progress and listening for Ctrl-C.  Returns its wait status. */
static int wait_for_child(struct drain *drain, const sigset_t *signals)
{
	const struct timespec tick = { .tv_nsec = 500000000 };
	int status, signal_number;

	for (;;) {
		signal_number = sigtimedwait(signals, NULL, &tick);
		if (waitpid(drain->child, &status, WNOHANG) == drain->child)
			return status;
		if ((signal_number == SIGINT || signal_number == SIGTERM) && !drain->cancelled)
			stop_drain(drain);
		if (isatty(STDERR_FILENO))
			show_progress(drain);
	}
}

static int result_of(const struct drain *drain, int status, struct failure *failure)
{
	char sentence[sizeof(failure->text)] = "";
	ssize_t length;

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (drain->cancelled)
		return fail(failure, -ECANCELED,
			    "the drain of %s was stopped; what is left stays in the log, safely",
			    drain->name);
	length = read(drain->pipe, sentence, sizeof(sentence) - 1);
	if (length <= 0)
		snprintf(sentence, sizeof(sentence), "the drain of %s ended unexpectedly",
			 drain->name);
	return fail(failure, WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO, "%s", sentence);
}

static int drain_device(struct drain *drain, struct failure *failure)
{
	sigset_t signals, before;
	int ends[2], status;

	if (pipe(ends))
		return fail(failure, -errno, "cannot make a pipe: %s", strerror(errno));
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	progress_start(&drain->progress, drain->name);
	drain->child = fork();
	if (drain->child < 0)
		return fail(failure, -errno, "cannot start a process: %s", strerror(errno));
	if (!drain->child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		send_drain(drain->name, ends[1]);
	}
	close(ends[1]);
	drain->pipe = ends[0];
	status = wait_for_child(drain, &signals);
	progress_end();
	status = result_of(drain, status, failure);
	close(ends[0]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

int drain_by_name(const char *name, struct failure *failure)
{
	struct drain drain = { .name = name };
	struct ressd_status status;
	int code = ressd_dm_status(name, &status, failure);

	return code ? code : drain_device(&drain, failure);
}

int command_drain(int argc, char **argv, struct failure *failure)
{
	const char *name;
	int code = one_device(argc, argv, &name, failure);

	if (!code)
		code = drain_by_name(name, failure);
	if (!code)
		printf("%s is drained\n", name);
	return code;
}
