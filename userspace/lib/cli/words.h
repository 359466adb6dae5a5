/* SPDX-License-Identifier: GPL-2.0-only */
/* Sentences that both programs say. */
#ifndef RESSD_WORDS_H
#define RESSD_WORDS_H

#include <linux/types.h>
#include "cli/failure.h"

/* The ending of a noun after @count: "" or "s". */
static inline const char *plural(u64 count)
{
	return count == 1 ? "" : "s";
}

/*
 * What is wrong with an option: @option is what getopt_long() returned, '?' or ':' (so its short
 * options must begin with a colon), and @argv and optind are as it left them.  @help is the command
 * that tells more.  Returns -EINVAL.
 */
int bad_option_sentence(char **argv, int option, const char *help, struct failure *failure);

#endif
