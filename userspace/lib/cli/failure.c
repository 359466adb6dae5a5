// SPDX-License-Identifier: GPL-2.0-only
/* Sentences and exit codes; see failure.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
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
