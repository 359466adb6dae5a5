// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl recover: bring a log back into service after I/O errors. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "ressd-dm.h"
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
		printf("%s: %llu blocks cannot be moved out of the log so far; they are tried again now\n",
		       name, bad);
}

int command_recover(int argc, char **argv, struct failure *failure)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option = getopt_long(argc, argv, "h", options, NULL);
	struct ressd_status before, after;
	const char *name;
	int code;

	if (option == 'h')
		return COMMAND_HELP;
	if (option != -1)
		return bad_option(argv, failure);
	if (argc - optind != 1)
		return fail(failure, -EINVAL, "recover needs the name of one device");
	name = argv[optind];
	code = ressd_dm_status(name, &before, failure);
	if (!code)
		code = ressd_dm_message(name, "recover", failure);
	if (!code)
		code = ressd_dm_status(name, &after, failure);
	if (!code)
		report(name, &before, &after);
	return code;
}
