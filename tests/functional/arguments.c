// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "arguments.h"
#include "output.h"

uint64_t parse_number(const char *name, const char *text, uint64_t max)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value > max)
		die(0, "%s is '%s', but must be a number up to %" PRIu64, name, text, max);
	return value;
}
