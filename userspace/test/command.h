/* SPDX-License-Identifier: GPL-2.0-only */
/* A command of ressdctl, run by a test. */
#ifndef COMMAND_H
#define COMMAND_H

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>
#include "cli/failure.h"

/* What it returns; what it prints goes to @fd, which is closed. */
static inline int run_command(int (*command)(int argc, char **argv, struct failure *failure),
			      char **argv, int fd, struct failure *failure)
{
	int argc = 0, code, out;

	while (argv[argc])
		argc++;
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	optind = 0;
	failure->text[0] = '\0';
	code = command(argc, argv, failure);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	return code;
}

#endif
