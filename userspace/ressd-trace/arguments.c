// SPDX-License-Identifier: GPL-2.0-only
/* The command line of ressd-trace; see arguments.h. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arguments.h"
#include "cli/words.h"
#include "replay.h"

#define DEFAULT_IN_FLIGHT	256
#define DEFAULT_LATE_US		1000
#define MAX_LATE_US		60000000
#define MIN_SPEED		10		/* thousandths */
#define MAX_SPEED		1000000000

const char arguments_help[] =
	"Usage: ressd-trace [OPTION]... TRACE DEVICE\n"
	"Replay a block trace on a device, each request at its time, and show how long they take.\n"
	"\n"
	"  --write               replay writes too; DESTROYS what is at the places they go to\n"
	"  --reads-only          leave the trace's writes and flushes out\n"
	"  --yes                 do not ask; enough for a device without known contents\n"
	"  --yes-destroy DEVICE  do not ask, whatever DEVICE holds; the same path again\n"
	"  --format FORMAT       blkparse, msr, spc or fio; default: what the first line looks like\n"
	"  --only DISK           only requests to this disk of the trace\n"
	"  --limit NUMBER        only the first so many requests\n"
	"  --sort                the trace need not be in the order of arrival\n"
	"  --speed FACTOR        so many times as fast, 0.01 to 1000000; max: nothing waits for its time\n"
	"  --bursts NUMBER       writes arrive 1 to NUMBER at once, in the mean as often as recorded\n"
	"  --seed NUMBER         of the sizes of bursts; default: 1\n"
	"  --region OFFSET[:LENGTH]\n"
	"                        the part of the device that is used; default: all of it\n"
	"  --fit MODE            requests beyond the region's end: refuse (default), fold (go round),\n"
	"                        pack (leave out the MiBs that the trace does not touch, then fold)\n"
	"  --in-flight NUMBER    requests at once, 1 to 4096; default: 256\n"
	"  --late MICROSECONDS   a submission is late from that on; default: 1000\n"
	"  --log FILE            write a line for each request to FILE, a new one, as CSV\n"
	"  --json                the result as JSON\n"
	"  --dry-run             read the trace, show what would be done, and change nothing\n"
	"  -h, --help            this text\n"
	"  -V, --version         version\n"
	"\n"
	"Exit codes: 0 replayed, 1 error, 2 wrong arguments or a trace that is none, 3 refused by a\n"
	"safety check, 130 interrupted. More in ressd-trace(8).\n";

static const struct option options[] = {
	{ "write", no_argument, NULL, 'w' },
	{ "reads-only", no_argument, NULL, 'r' },
	{ "yes", no_argument, NULL, 'y' },
	{ "yes-destroy", required_argument, NULL, 'Y' },
	{ "format", required_argument, NULL, 'f' },
	{ "only", required_argument, NULL, 'o' },
	{ "limit", required_argument, NULL, 'l' },
	{ "sort", no_argument, NULL, 'S' },
	{ "speed", required_argument, NULL, 's' },
	{ "bursts", required_argument, NULL, 'b' },
	{ "seed", required_argument, NULL, 'e' },
	{ "region", required_argument, NULL, 'R' },
	{ "fit", required_argument, NULL, 'F' },
	{ "in-flight", required_argument, NULL, 'i' },
	{ "late", required_argument, NULL, 'L' },
	{ "log", required_argument, NULL, 'g' },
	{ "json", no_argument, NULL, 'j' },
	{ "dry-run", no_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static int take_number(const char *name, u64 least, u64 most, u64 *value, struct failure *failure)
{
	char *end;

	errno = 0;
	*value = strtoull(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || errno || *value < least || *value > most)
		return fail(failure, -EINVAL, "%s is '%.40s', but must be a whole number from %llu to %llu",
			    name, optarg, least, most);
	return 0;
}

static int take_speed(u32 *speed, struct failure *failure)
{
	const size_t valid = strspn(optarg, "0123456789.");
	char *end;
	double factor;

	if (!strcmp(optarg, "max")) {
		*speed = 0;
		return 0;
	}
	factor = strtod(optarg, &end);
	if (!*optarg || optarg[valid] || *end || factor * 1000 < MIN_SPEED ||
	    factor * 1000 > MAX_SPEED)
		return fail(failure, -EINVAL,
			    "--speed is '%.40s', but must be a factor from 0.01 to 1000000, or max",
			    optarg);
	*speed = factor * 1000 + 0.5;
	return 0;
}

static int take_format(enum trace_format *format, struct failure *failure)
{
	*format = trace_format_of(optarg);
	if (*format == FORMAT_UNKNOWN)
		return fail(failure, -EINVAL,
			    "--format is '%.40s', but must be blkparse, msr, spc or fio", optarg);
	return 0;
}

static int take_fit(enum fit *fit, struct failure *failure)
{
	static const char *const names[] = { "refuse", "fold", "pack" };
	u32 i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(optarg, names[i])) {
			*fit = i;
			return 0;
		}
	}
	return fail(failure, -EINVAL, "--fit is '%.40s', but must be refuse, fold or pack", optarg);
}

/* An option with a value that must be understood.  0, or -EINVAL with a sentence. */
static int take_value(struct arguments *arguments, int option, struct failure *failure)
{
	u64 value = 0;
	int code = 0;

	switch (option) {
	case 'f':
		return take_format(&arguments->wanted.format, failure);
	case 's':
		return take_speed(&arguments->speed, failure);
	case 'F':
		return take_fit(&arguments->fit, failure);
	case 'l':
		return take_number("--limit", 1, ~0U, &arguments->wanted.limit, failure);
	case 'e':
		return take_number("--seed", 0, ~0U, &arguments->seed, failure);
	case 'b':
		code = take_number("--bursts", 1, SHAPE_MAX_BURST, &value, failure);
		arguments->burst = value;
		return code;
	case 'i':
		code = take_number("--in-flight", 1, REPLAY_MAX_IN_FLIGHT, &value, failure);
		arguments->in_flight = value;
		return code;
	default:
		code = take_number("--late", 1, MAX_LATE_US, &value, failure);
		arguments->late_ns = value * 1000;
		return code;
	}
}

static bool take_word(struct arguments *arguments, int option)
{
	switch (option) {
	case 'Y':
		arguments->yes_destroy = optarg;
		return true;
	case 'R':
		arguments->region = optarg;
		return true;
	case 'g':
		arguments->log = optarg;
		return true;
	case 'o':
		arguments->wanted.source = optarg;
		return true;
	default:
		return false;
	}
}

static bool take_flag(struct arguments *arguments, int option)
{
	const struct {
		int option;
		bool *flag;
	} flags[] = {
		{ 'w', &arguments->write },
		{ 'r', &arguments->reads_only },
		{ 'y', &arguments->yes },
		{ 'S', &arguments->wanted.sort },
		{ 'j', &arguments->json },
		{ 'n', &arguments->dry_run },
		{ 'h', &arguments->help },
		{ 'V', &arguments->version },
	};
	u32 i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].option == option) {
			*flags[i].flag = true;
			return true;
		}
	}
	return false;
}

static int check_together(const struct arguments *arguments, struct failure *failure)
{
	if (arguments->write && arguments->reads_only)
		return fail(failure, -EINVAL,
			    "--write and --reads-only exclude each other; leave one out");
	if (arguments->yes_destroy && strcmp(arguments->yes_destroy, arguments->device))
		return fail(failure, -EINVAL,
			    "--yes-destroy names %s, but the device is %s; both must be the same",
			    arguments->yes_destroy, arguments->device);
	if (!arguments->speed && arguments->burst)
		return fail(failure, -EINVAL,
			    "--speed max and --bursts exclude each other: without times there are no bursts");
	return 0;
}

int arguments_parse(struct arguments *arguments, int argc, char **argv, struct failure *failure)
{
	int option;

	memset(arguments, 0, sizeof(*arguments));
	arguments->speed = SHAPE_USUAL_SPEED;
	arguments->seed = 1;
	arguments->in_flight = DEFAULT_IN_FLIGHT;
	arguments->late_ns = DEFAULT_LATE_US * 1000ULL;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hV", options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return bad_option_sentence(argv, option, "ressd-trace --help", failure);
		if (take_flag(arguments, option) || take_word(arguments, option))
			continue;
		if (take_value(arguments, option, failure))
			return -EINVAL;
	}
	if (arguments->help || arguments->version)
		return 0;
	if (argc - optind != 2)
		return fail(failure, -EINVAL,
			    "two words are needed besides the options, the file of the trace and the device, but there %s %d; see ressd-trace --help",
			    argc - optind == 1 ? "is" : "are", argc - optind);
	arguments->trace = argv[optind];
	arguments->device = argv[optind + 1];
	return check_together(arguments, failure);
}
