/* SPDX-License-Identifier: GPL-2.0-only */
/* /etc/ressdtab: the devices that are opened when the system starts.  See ressdtab(5). */
#ifndef RESSD_RESSDTAB_H
#define RESSD_RESSDTAB_H

#include <limits.h>
#include <stdbool.h>
#include "cli/failure.h"

#define RESSDTAB	"/etc/ressdtab"
#define RESSDTAB_OPTIONS	64	/* words of target options in one line, at most */

struct ressdtab_entry {
	unsigned int line;
	char name[128];
	char device[PATH_MAX];
	char normal[PATH_MAX];		/* option normal=, or "" */
	bool noauto;
	char text[PATH_MAX];		/* what words point into */
	char *words[RESSDTAB_OPTIONS];	/* key, value, ... for the target */
	int nr_words;
};

/*
 * Calls @visit for each line of the file (RESSDTAB, or the one that the environment variable
 * RESSDTAB names), until that returns other than 0, which is then returned.  A file that is not
 * there is an empty one.  A wrong line is -EINVAL with a sentence, and none behind it is visited.
 */
int ressdtab_read(int (*visit)(void *context, struct ressdtab_entry *entry,
			       struct failure *failure), void *context,
		  struct failure *failure);

#endif
