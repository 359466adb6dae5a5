// SPDX-License-Identifier: GPL-2.0-only
/* What the program says; see output.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "output.h"

void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	flockfile(stdout);
	printf("%s: ", program_invocation_short_name);
	vprintf(format, arguments);
	putchar('\n');
	fflush(stdout);
	funlockfile(stdout);
	va_end(arguments);
}

void die(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	flockfile(stderr);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, arguments);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	fflush(stderr);
	/* Other threads may be in the middle of an I/O: leave without any clean-up. */
	_exit(EXIT_TROUBLE);
}
