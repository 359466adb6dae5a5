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
	int code;			/* not 0: the line is wrong, as @failure says */
	struct failure failure;
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
 * RESSDTAB names), wrong ones included.  A file that is not there is an empty one.  0, or a
 * negative errno with a sentence if the file cannot be read.
 */
int ressdtab_read(void (*visit)(void *context, struct ressdtab_entry *entry), void *context,
		  struct failure *failure);

#endif
