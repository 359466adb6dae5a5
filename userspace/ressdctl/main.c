// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl: the life of a ressd device.  See ressdctl(8). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "ressdctl.h"

static const char help_text[] =
	"Usage: ressdctl COMMAND ...\n"
	"\n"
	"  format [--segment-sectors N] [--yes] [--force]\n"
	"         NORMAL_DEV NORMAL_START NORMAL_SECTORS\n"
	"         RESERVED_DEV RESERVED_START RESERVED_SECTORS\n"
	"  format [--yes] [--force] --table \"LINE\"\n"
	"                        make the reserved area; what was in it is lost\n"
	"  open NAME --table \"LINE\"\n"
	"  open NAME DEVICE [OPTION VALUE]...\n"
	"                        create /dev/mapper/NAME; the second form finds the areas of a\n"
	"                        formatted DEVICE by itself\n"
	"  close NAME            remove /dev/mapper/NAME\n"
	"  status [--json] NAME  show counters\n"
	"  drain NAME            move everything to the normal area; Ctrl-C stops it\n"
	"  recover NAME          after I/O errors: bring the log back into service\n"
	"\n"
	"All numbers are 512-byte sectors.  LINE is a device-mapper table line:\n"
	"  0 SECTORS ressd NORMAL_DEV START RESERVED_DEV START SECTORS [COUNT OPTION VALUE ...]\n"
	"\n"
	"Exit codes: 0 done, 1 error, 2 wrong arguments, 3 refused by a safety check,\n"
	"130 interrupted.  More in ressdctl(8).\n";

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv, struct failure *failure);
} commands[] = {
	{ "format", command_format },
	{ "open", command_open },
	{ "close", command_close },
	{ "status", command_status },
	{ "drain", command_drain },
	{ "recover", command_recover },
};

int bad_option(char **argv, struct failure *failure)
{
	return fail(failure, -EINVAL,
		    "'%s' is not an option of this command, or its value is missing; see ressdctl --help",
		    argv[optind - 1]);
}

int open_pair(struct device_pair *pair, const struct table_line *line, struct failure *failure)
{
	int code = blkdev_open(&pair->normal, line->normal_path, BLKDEV_READ, failure);

	if (code)
		return code;
	code = blkdev_open(&pair->reserved, line->reserved_path, BLKDEV_READ, failure);
	if (code) {
		blkdev_close(&pair->normal);
		return code;
	}
	code = table_line_check(line, &pair->normal, &pair->reserved, failure);
	if (code)
		close_pair(pair);
	return code;
}

void close_pair(struct device_pair *pair)
{
	blkdev_close(&pair->normal);
	blkdev_close(&pair->reserved);
}

static int run(int argc, char **argv, struct failure *failure)
{
	size_t i;

	if (argc < 2)
		return fail(failure, -EINVAL, "no command is given; see ressdctl --help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return COMMAND_HELP;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1, failure);
	return fail(failure, -EINVAL, "'%s' is not a command; see ressdctl --help", argv[1]);
}

int main(int argc, char **argv)
{
	struct failure failure = { "" };
	int code;

	opterr = 0;
	code = run(argc, argv, &failure);
	if (code == COMMAND_HELP) {
		fputs(help_text, stdout);
		return EXIT_OK;
	}
	if (code)
		fprintf(stderr, "ressdctl: %s.\n", failure.text);
	return exit_code_of(code);
}
