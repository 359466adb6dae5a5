// SPDX-License-Identifier: GPL-2.0-only
/* Sizes with units; see size.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/size.h"

static const struct unit {
	const char *name;
	u64 bytes;
} units[] = {
	{ "", 1 },
	{ "s", 512 },
	{ "K", 1ULL << 10 }, { "KiB", 1ULL << 10 }, { "k", 1ULL << 10 },
	{ "M", 1ULL << 20 }, { "MiB", 1ULL << 20 }, { "m", 1ULL << 20 },
	{ "G", 1ULL << 30 }, { "GiB", 1ULL << 30 }, { "g", 1ULL << 30 },
	{ "T", 1ULL << 40 }, { "TiB", 1ULL << 40 }, { "t", 1ULL << 40 },
};

/* The bytes of one @name, or 0 for a name that is none of ours. */
static u64 unit_bytes(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(name, units[i].name))
			return units[i].bytes;
	return 0;
}

static int parse_percent(const char *text, const char *name, u64 number, u64 whole, u64 *bytes,
			 struct failure *failure)
{
	if (!whole)
		return fail(failure, -EINVAL,
			    "%s is '%s', but a percentage has no meaning here; give a size", name,
			    text);
	if (number > 100)
		return fail(failure, -EINVAL, "%s is '%s', but must be at most 100%%", name, text);
	*bytes = whole / 100 * number + whole % 100 * number / 100;
	return 0;
}

int size_parse(const char *text, const char *name, u64 whole, u64 *bytes, struct failure *failure)
{
	char *end;
	u64 number, unit;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno)
		return fail(failure, -EINVAL,
			    "%s is '%.40s', but must be a number with an optional unit (K, M, G, T, s or %%), for example 64M",
			    name, text);
	if (!strcmp(end, "%"))
		return parse_percent(text, name, number, whole, bytes, failure);
	unit = unit_bytes(end);
	if (!unit)
		return fail(failure, -EINVAL,
			    "%s is '%.40s', but its unit is none of K, M, G, T, s (sectors) and %%",
			    name, text);
	if (number > ~0ULL / unit)
		return fail(failure, -EINVAL, "%s is '%.40s', which is too large", name, text);
	*bytes = number * unit;
	return 0;
}

const char *size_print(u64 bytes, char *text)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = bytes;
	size_t i = 0;

	while (value >= 1024 && i + 1 < sizeof(names) / sizeof(names[0])) {
		value /= 1024;
		i++;
	}
	if (value == (double)(u64)value)
		snprintf(text, SIZE_TEXT, "%.0f %s", value, names[i]);
	else
		snprintf(text, SIZE_TEXT, "%.1f %s", value, names[i]);
	return text;
}
