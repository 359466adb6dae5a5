// SPDX-License-Identifier: GPL-2.0-only
/* The command line of ressd-probe; see arguments.h. */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>
#include "arguments.h"
#include "cli/words.h"

const char arguments_help[] =
	"Usage: ressd-probe [OPTION]... DEVICE\n"
	"Measure a flash device, say whether ressd makes it faster, and with which options.\n"
	"\n"
	"  --write               measure writes too; DESTROYS what is in the region\n"
	"  --preserve            measure writes too, and put back what was in the region; only a loss of\n"
	"                        power, or of the device, or SIGKILL meanwhile destroys it\n"
	"  --save-file FILE      for --preserve: keep the contents in FILE, not in memory\n"
	"  --yes                 do not ask; enough for a device without known contents\n"
	"  --yes-destroy DEVICE  do not ask, whatever DEVICE holds; the same path again\n"
	"  --region OFFSET[:LENGTH]\n"
	"                        where to measure; default: 10 % of the device, 256 MiB to 4 GiB,\n"
	"                        at its end\n"
	"  --reserved SIZE       size of the reserved area; default: 5 %, at most 4 GiB\n"
	"  --quick               shorter, less certain: about a minute\n"
	"  --thorough            longer, for noisy or very slow devices\n"
	"  --max-write SIZE      never write more than that; default: 1 GB,\n"
	"                        1.5 GB with --report;\n"
	"                        with --thorough 4 times the region, 8 GiB at least\n"
	"  --raw FILE            write every single sample to FILE, a new one, as CSV\n"
	"  --resume FILE         note results in FILE, and do not measure again what it has\n"
	"  --dry-run             show what would be done, change and measure nothing\n"
	"  --create NAME         if it is worth it, format the reserved area at the end of DEVICE\n"
	"                        and create /dev/mapper/NAME; needs --write\n"
	"  --format FORMAT       text, json, table (only the device-mapper table line), or dmsetup\n"
	"                        (only the command that creates the device)\n"
	"  --json, --table       the same as --format json, --format table\n"
	"  --report DIRECTORY    also a web page with charts in DIRECTORY; a minute longer\n"
	"  --progress json       progress on standard error as JSON, one object a line\n"
	"  -v, --verbose         a line for each measurement on standard error\n"
	"  -h, --help            this text\n"
	"  -V, --version         version\n"
	"\n"
	"Sizes take K, M, G, T (powers of 1024), s (sectors) or % (of the device).\n"
	"\n"
	"Exit codes: 0 worth it (or created), 1 error, 2 wrong arguments, 3 refused by a safety\n"
	"check, 4 not worth it, 5 no verdict, 6 worth it only with locality, 130 interrupted.\n"
	"More in ressd-probe(8).\n";

static const struct option options[] = {
	{ "write", no_argument, NULL, 'w' },
	{ "preserve", no_argument, NULL, 'p' },
	{ "save-file", required_argument, NULL, 's' },
	{ "resume", required_argument, NULL, 'u' },
	{ "format", required_argument, NULL, 'f' },
	{ "report", required_argument, NULL, 'H' },
	{ "progress", required_argument, NULL, 'P' },
	{ "yes", no_argument, NULL, 'y' },
	{ "yes-destroy", required_argument, NULL, 'Y' },
	{ "region", required_argument, NULL, 'r' },
	{ "reserved", required_argument, NULL, 'R' },
	{ "quick", no_argument, NULL, 'q' },
	{ "thorough", no_argument, NULL, 'T' },
	{ "max-write", required_argument, NULL, 'm' },
	{ "raw", required_argument, NULL, 'x' },
	{ "dry-run", no_argument, NULL, 'n' },
	{ "create", required_argument, NULL, 'c' },
	{ "json", no_argument, NULL, 'j' },
	{ "table", no_argument, NULL, 't' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const struct {
	int option;
	size_t member;		/* of struct arguments: a bool */
} flags[] = {
	{ 'w', offsetof(struct arguments, write) },
	{ 'p', offsetof(struct arguments, preserve) },
	{ 'y', offsetof(struct arguments, yes) },
	{ 'j', offsetof(struct arguments, json) },
	{ 't', offsetof(struct arguments, table) },
	{ 'q', offsetof(struct arguments, quick) },
	{ 'T', offsetof(struct arguments, thorough) },
	{ 'n', offsetof(struct arguments, dry_run) },
	{ 'v', offsetof(struct arguments, verbose) },
	{ 'h', offsetof(struct arguments, help) },
	{ 'V', offsetof(struct arguments, version) },
};

static const struct {
	int option;
	size_t member;		/* of struct arguments: a const char * */
} texts[] = {
	{ 'Y', offsetof(struct arguments, yes_destroy) },
	{ 'r', offsetof(struct arguments, region) },
	{ 'R', offsetof(struct arguments, reserved) },
	{ 'c', offsetof(struct arguments, create) },
	{ 'm', offsetof(struct arguments, max_write) },
	{ 'x', offsetof(struct arguments, raw) },
	{ 's', offsetof(struct arguments, save_file) },
	{ 'u', offsetof(struct arguments, resume) },
	{ 'f', offsetof(struct arguments, format) },
	{ 'H', offsetof(struct arguments, report) },
	{ 'P', offsetof(struct arguments, progress) },
};

/* False for an option that is none. */
static bool take_option(struct arguments *arguments, int option)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].option == option) {
			*(bool *)((char *)arguments + flags[i].member) = true;
			return true;
		}
	}
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].option == option) {
			*(const char **)((char *)arguments + texts[i].member) = optarg;
			return true;
		}
	}
	return false;
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(text, *words))
			return true;
	return false;
}

static int check_words(struct arguments *arguments, struct failure *failure)
{
	static const char *const formats[] = { "text", "json", "table", "dmsetup", NULL };
	static const char *const progresses[] = { "json", NULL };

	if (arguments->format && !is_one_of(arguments->format, formats))
		return fail(failure, -EINVAL,
			    "--format is '%s', but must be text, json, table or dmsetup",
			    arguments->format);
	if (arguments->progress && !is_one_of(arguments->progress, progresses))
		return fail(failure, -EINVAL, "--progress is '%s', but must be json",
			    arguments->progress);
	if (arguments->json + arguments->table + !!arguments->format > 1)
		return fail(failure, -EINVAL,
			    "--json, --table and --format exclude each other; leave one out");
	if (arguments->json || arguments->table)
		arguments->format = arguments->json ? "json" : "table";
	return 0;
}

static int check_preserve(struct arguments *arguments, struct failure *failure)
{
	if (arguments->save_file && !arguments->preserve)
		return fail(failure, -EINVAL,
			    "--save-file needs --preserve, because only that keeps the region's contents");
	if (arguments->preserve && arguments->create)
		return fail(failure, -EINVAL,
			    "--preserve and --create exclude each other: a new device overwrites what was preserved");
	/* Writes are measured as with --write. */
	arguments->write |= arguments->preserve;
	return 0;
}

static int check_together(const struct arguments *arguments, struct failure *failure)
{
	if (arguments->create && !arguments->write)
		return fail(failure, -EINVAL,
			    "--create needs --write, because only a measurement of writes tells whether ressd is worth it; to create a device without one, use ressdctl open");
	if (arguments->quick && arguments->thorough)
		return fail(failure, -EINVAL,
			    "--quick and --thorough exclude each other; leave one out");
	if (arguments->yes_destroy && strcmp(arguments->yes_destroy, arguments->device))
		return fail(failure, -EINVAL,
			    "--yes-destroy names %s, but the device is %s; both must be the same",
			    arguments->yes_destroy, arguments->device);
	return 0;
}

int arguments_parse(struct arguments *arguments, int argc, char **argv, struct failure *failure)
{
	int option;

	memset(arguments, 0, sizeof(*arguments));
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":vhV", options, NULL)) != -1)
		if (!take_option(arguments, option))
			return bad_option_sentence(argv, option, "ressd-probe --help", failure);
	if (arguments->help || arguments->version)
		return 0;
	if (argc == optind)
		return fail(failure, -EINVAL,
			    "no device is named; name the disk or partition to measure, see ressd-probe --help");
	if (argc - optind > 1)
		return fail(failure, -EINVAL,
			    "%d devices are named (%s, %s ...), but one is measured at a time; leave the others out",
			    argc - optind, argv[optind], argv[optind + 1]);
	arguments->device = argv[optind];
	if (check_words(arguments, failure) || check_preserve(arguments, failure))
		return -EINVAL;
	return check_together(arguments, failure);
}
