// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl recover: bring a log back into service after I/O errors. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/words.h"
#include "dm/ressd-dm.h"
#include "ressdctl.h"

static void report(const char *name, const struct ressd_status *before,
		   const struct ressd_status *after)
{
	u64 bad = ressd_status_get(after, "bad_blocks", 0);

	if (strcmp(before->state, after->state))
		printf("%s is back in service (%s, was %s)\n", name, after->state, before->state);
	else
		printf("%s is in service (%s), nothing was to be repaired\n", name, after->state);
	if (bad)
		printf("%s: %llu block%s cannot be moved out of the log so far; that is tried again now\n",
		       name, bad, plural(bad));
}

int command_recover(int argc, char **argv, struct failure *failure)
{
	struct ressd_status before, after;
	const char *name;
	int code = one_device(argc, argv, &name, failure);

	if (!code)
		code = ressd_dm_status(name, &before, failure);
	if (!code)
		code = ressd_dm_message(name, "recover", failure);
	if (!code)
		code = ressd_dm_status(name, &after, failure);
	if (!code)
		report(name, &before, &after);
	return code;
}
