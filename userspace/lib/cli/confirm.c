// SPDX-License-Identifier: GPL-2.0-only
/* Asking before destroying; see confirm.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/confirm.h"

int confirm(const char *question, bool yes, struct failure *failure)
{
	char answer[16];

	if (yes)
		return 0;
	if (!isatty(STDIN_FILENO))
		return fail(failure, -EPERM,
			    "%s There is no terminal to ask on; add --yes if that is what you want",
			    question);
	fprintf(stderr, "%s\nType yes to go on: ", question);
	if (!fgets(answer, sizeof(answer), stdin) || strcmp(answer, "yes\n"))
		return fail(failure, -EPERM, "nothing was changed");
	return 0;
}
