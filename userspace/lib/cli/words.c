// SPDX-License-Identifier: GPL-2.0-only
/* Sentences about options; see words.h. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/words.h"

int bad_option_sentence(char **argv, int option, const char *help, struct failure *failure)
{
	const char *word = argv[optind - 1];
	char letter[3] = "-?";

	if (option == ':')
		return fail(failure, -EINVAL, "option '%s' needs a value behind it; see %s", word,
			    help);
	/* For a long option with a value that it does not take, optopt is what it stands for. */
	if (!strncmp(word, "--", 2) && optopt && strchr(word, '='))
		return fail(failure, -EINVAL, "option '%.*s' takes no value; leave '%s' out",
			    (int)strcspn(word, "="), word, strchr(word, '='));
	if (strncmp(word, "--", 2) && optopt) {
		letter[1] = optopt;
		word = letter;
	}
	return fail(failure, -EINVAL, "'%s' is not an option of this command; see %s", word, help);
}
