/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the programs report what went wrong: a negative errno for the program, and one sentence for
 * its user that names the argument, the limit and the remedy.
 */
#ifndef RESSD_FAILURE_H
#define RESSD_FAILURE_H

#include <stddef.h>

struct failure {
	char text[1024];	/* without the final newline */
};

/* Exit codes that both programs share; ressd-probe(8) and ressdctl(8) list all of them. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_REFUSED = 3,		/* by a safety check */
	EXIT_NOT_WORTH = 4,		/* ressd-probe only */
	EXIT_FAULTS = 4,		/* ressdctl only: of the log, and still there */
	EXIT_INCONCLUSIVE = 5,		/* ressd-probe only */
	EXIT_LOCALITY = 6,		/* ressd-probe only */
	EXIT_INTERRUPTED = 130,
};

/* Writes the sentence and returns @code (a negative errno), so that callers can return it. */
int fail(struct failure *failure, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The exit code that a negative errno stands for: -EINVAL is a usage error, -EBUSY, -EROFS, -EPERM
 * and -EEXIST are refusals, -EUCLEAN is a damaged log, -ECANCELED and -EINTR an interruption,
 * anything else an error.
 */
int exit_code_of(int code);

/*
 * The begin of each program: with standard output or error closed, the next file that is opened
 * would take that number, and a device would get what is printed.
 */
void output_begin(void);

/*
 * The end of @program: what it has printed must have arrived somewhere, or its exit code is an
 * error instead of @exit_code.
 */
int output_end(const char *program, int exit_code);

#endif
