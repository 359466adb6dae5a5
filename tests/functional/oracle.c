// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-oracle: writes to a block device what only the right device can give back, and compares.
 * The help text below says how.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arguments.h"
#include "oracle.h"
#include "output.h"
#include "ranges.h"

static const char help_text[] =
	"Usage: ressd-oracle run|check|files-run|files-check [OPTION]... DEVICE|FOLDER\n"
	"\n"
	"  run          check, then write, read back, discard and flush at random; compare each read\n"
	"  check        compare the whole device with what the journal says it holds\n"
	"  files-run    check, then write, rename and append files in FOLDER, with fsync\n"
	"  files-check  compare the files with what the journal says was synced\n"
	"\n"
	"  --journal FILE       remember what is written, and what a flush has covered, in FILE;\n"
	"                       without it the device must be blank (all zero)\n"
	"  --seed N             of the random numbers (default 1)\n"
	"  --threads N          that write at once (default 4)\n"
	"  --seconds S          length of the load; without it and --operations it never ends\n"
	"  --operations N       of each thread\n"
	"  --offset SECTORS     where the tested span begins on the device (default 0)\n"
	"  --span SECTORS       length of the span (default: up to the end)\n"
	"  --discard-percent N  share of discards (default 2)\n"
	"  --flush-percent N    share of flushes, and of writes with O_DSYNC (default 3)\n"
	"  --small              write single blocks of 4 KiB at random only, and do not discard\n"
	"  --no-fua             no write with FUA: a flush after it instead\n"
	"  --may-fail           the device is going to fail: then end with 3\n"
	"\n"
	"Exit codes: 0 no difference, 1 a difference, 2 trouble, 3 it failed as foretold.\n";

enum {
	OPT_JOURNAL = 256, OPT_SEED, OPT_THREADS, OPT_SECONDS, OPT_OPERATIONS, OPT_OFFSET,
	OPT_SPAN, OPT_DISCARD, OPT_FLUSH, OPT_SMALL, OPT_NO_FUA, OPT_MAY_FAIL, OPT_HELP,
};

static const struct option options[] = {
	{ "journal", required_argument, NULL, OPT_JOURNAL },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "operations", required_argument, NULL, OPT_OPERATIONS },
	{ "offset", required_argument, NULL, OPT_OFFSET },
	{ "span", required_argument, NULL, OPT_SPAN },
	{ "discard-percent", required_argument, NULL, OPT_DISCARD },
	{ "flush-percent", required_argument, NULL, OPT_FLUSH },
	{ "small", no_argument, NULL, OPT_SMALL },
	{ "no-fua", no_argument, NULL, OPT_NO_FUA },
	{ "may-fail", no_argument, NULL, OPT_MAY_FAIL },
	{ "help", no_argument, NULL, OPT_HELP },
	{ }
};

static void set_option(struct settings *settings, int option, const char *name)
{
	switch (option) {
	case OPT_JOURNAL:
		settings->journal = optarg;
		break;
	case OPT_SEED:
		settings->seed = parse_number(name, optarg, UINT64_MAX);
		break;
	case OPT_THREADS:
		settings->threads = parse_number(name, optarg, MAX_THREADS);
		break;
	case OPT_SECONDS:
		settings->seconds = parse_number(name, optarg, 1000000);
		break;
	case OPT_OPERATIONS:
		settings->operations = parse_number(name, optarg, UINT64_MAX);
		break;
	case OPT_OFFSET:
		settings->offset = parse_number(name, optarg, UINT64_MAX / 512);
		break;
	case OPT_SPAN:
		settings->span = parse_number(name, optarg, UINT32_MAX);
		break;
	case OPT_DISCARD:
		settings->discard_percent = parse_number(name, optarg, 100);
		break;
	case OPT_FLUSH:
		settings->flush_percent = parse_number(name, optarg, 100);
		break;
	case OPT_SMALL:
		settings->small = true;
		settings->discard_percent = 0;
		break;
	case OPT_NO_FUA:
		settings->no_fua = true;
		break;
	case OPT_MAY_FAIL:
		settings->may_fail = true;
		break;
	case OPT_HELP:
		fputs(help_text, stdout);
		exit(EXIT_SAME);
	default:
		die(0, "this is not how it is called; see ressd-oracle --help");
	}
}

static void parse(struct settings *settings, int argc, char **argv)
{
	int option, which;

	*settings = (struct settings) {
		.seed = 1, .threads = 4, .discard_percent = 2, .flush_percent = 3,
	};
	while ((option = getopt_long(argc, argv, "", options, &which)) != -1)
		set_option(settings, option, option == '?' ? "" : options[which].name);
	if (argc - optind != 2 || !settings->threads)
		die(0, "a command, a device and at least one thread are needed; see ressd-oracle --help");
	settings->device = argv[optind + 1];
}

static int run_device(const struct settings *settings, bool load)
{
	struct subject subject;

	subject_open(&subject, settings);
	if (verify_all(&subject))
		return EXIT_DIFFERENT;
	return load ? load_run(&subject) : EXIT_SAME;
}

int main(int argc, char **argv)
{
	struct settings settings;
	const char *command;

	parse(&settings, argc, argv);
	command = argv[optind];
	if (!strcmp(command, "run"))
		return run_device(&settings, true);
	if (!strcmp(command, "check"))
		return run_device(&settings, false);
	if (!strcmp(command, "files-run"))
		return files_run(&settings);
	if (!strcmp(command, "files-check"))
		return files_check(&settings);
	die(0, "'%s' is not a command; see ressd-oracle --help", command);
}
