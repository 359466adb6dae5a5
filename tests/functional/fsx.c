// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-fsx: files changed in every way that a file system knows, each with a copy in memory; and
 * the moments at which they were synced, to be looked at again after a replay.  The help text
 * below says how.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "arguments.h"
#include "fsx.h"
#include "output.h"

static const char help_text[] =
	"Usage: ressd-fsx run [OPTION]... FOLDER SAVED\n"
	"       ressd-fsx check SAVED-FILE FILE\n"
	"\n"
	"  run    change the files f0, f1 ... of FOLDER, one process each; compare what is read.\n"
	"         At each fsync the contents go to SAVED/fN.MARK, and the whole file is compared;\n"
	"         SAVED/fN.log has what was done\n"
	"  check  compare a file with what was saved\n"
	"\n"
	"  --seed N         of the random numbers (default 1)\n"
	"  --operations N   of each process (default 200)\n"
	"  --processes N    that work at once (default 4)\n"
	"  --recorder NAME  a dm-log-writes device: each fsync sets the mark fN.MARK in its log\n"
	"  --no-share       no cloning, copying and deduplication of ranges\n"
	"\n"
	"Exit codes: 0 no difference, 1 a difference, 2 trouble.\n";

#define MAX_PROCESSES	16

static void parse(struct fsx_settings *settings, int argc, char **argv)
{
	enum { SEED = 256, OPERATIONS, PROCESSES, RECORDER, NO_SHARE };
	static const struct option options[] = {
		{ "seed", required_argument, NULL, SEED },
		{ "operations", required_argument, NULL, OPERATIONS },
		{ "processes", required_argument, NULL, PROCESSES },
		{ "recorder", required_argument, NULL, RECORDER },
		{ "no-share", no_argument, NULL, NO_SHARE },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == SEED)
			settings->seed = parse_number("--seed", optarg, UINT64_MAX);
		else if (option == OPERATIONS)
			settings->operations = parse_number("--operations", optarg,
							    FSX_MAX_OPERATIONS);
		else if (option == PROCESSES)
			settings->processes = parse_number("--processes", optarg, MAX_PROCESSES);
		else if (option == RECORDER)
			settings->recorder = optarg;
		else if (option == NO_SHARE)
			settings->share = false;
		else
			die(0, "see ressd-fsx --help");
	}
}

int main(int argc, char **argv)
{
	struct fsx_settings settings = {
		.seed = 1, .operations = 200, .processes = 4, .share = true,
	};

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help_text, stdout);
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "check"))
		return fsx_check(argv[2], argv[3]);
	if (argc < 2 || strcmp(argv[1], "run"))
		die(0, "this is not how it is called; see ressd-fsx --help");
	parse(&settings, argc - 1, argv + 1);
	if (optind != argc - 3)
		die(0, "FOLDER and SAVED are missing, or there is more; see ressd-fsx --help");
	settings.folder = argv[argc - 2];
	settings.saved = argv[argc - 1];
	return fsx_run(&settings);
}
