// SPDX-License-Identifier: GPL-2.0-only
/* Sentences and exit codes; see failure.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/failure.h"

int fail(struct failure *failure, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(failure->text, sizeof(failure->text), format, arguments);
	va_end(arguments);
	return code;
}

int exit_code_of(int code)
{
	switch (code) {
	case 0:
		return EXIT_OK;
	case -EINVAL:
		return EXIT_USAGE;
	case -EBUSY:
	case -EROFS:
	case -EPERM:
	case -EEXIST:
		return EXIT_REFUSED;
	case -EUCLEAN:
		return EXIT_FAULTS;
	case -ECANCELED:
	case -EINTR:
		return EXIT_INTERRUPTED;
	default:
		return EXIT_ERROR;
	}
}

/* Only for reading: what is printed there is lost as before, and output_end() says so. */
void output_begin(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int output_end(const char *program, int exit_code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return exit_code;
	fprintf(stderr, "%s: cannot write the output: %s.\n", program, strerror(errno));
	return EXIT_ERROR;
}
