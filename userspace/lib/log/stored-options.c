// SPDX-License-Identifier: GPL-2.0-only
/* Options that a superblock keeps; see stored-options.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "log/stored-options.h"

#define MAX_WORDS	(RESSD_STORED_OPTIONS / 2)

bool stored_options_are_text(const struct ressd_super_info *info)
{
	size_t i, length = strnlen(info->options, RESSD_STORED_OPTIONS);

	for (i = 0; i < length; i++)
		if (info->options[i] < ' ' || info->options[i] > '~')
			return false;
	return length < RESSD_STORED_OPTIONS &&
	       ressd_is_zero(info->options + length, RESSD_STORED_OPTIONS - length);
}

static int refuse(const char *path, const char *reason, struct failure *failure)
{
	return fail(failure, -EINVAL,
		    "the options that the superblock of %s keeps are not understood: %s; open it with --defaults, or replace them with ressdctl tune --reset",
		    path, reason);
}

int stored_options_read(const struct ressd_super_info *info, const char *path,
			struct ressd_options *options, struct failure *failure)
{
	char copy[RESSD_STORED_OPTIONS], reason[RESSD_ERROR_SIZE];
	char *words[MAX_WORDS], *rest, *word;
	const char *fixed;
	unsigned int nr = 0;

	ressd_options_default(options);
	if (!stored_options_are_text(info))
		return refuse(path, "they are no text", failure);
	memcpy(copy, info->options, sizeof(copy));
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[nr++] = word;
	if (ressd_options_parse(options, nr, words, reason, sizeof(reason)))
		return refuse(path, reason, failure);
	fixed = ressd_options_fixed(options);
	if (!fixed)
		return 0;
	snprintf(reason, sizeof(reason), "%s is no option that is stored", fixed);
	return refuse(path, reason, failure);
}
