// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl: the life of a ressd device.  See ressdctl(8). */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/version.h"
#include "ressdctl.h"

static const char help_begin[] =
	"Usage: ressdctl COMMAND ...\n"
	"\n";

static const char help_end[] =
	"\n"
	"  help [COMMAND], --help, --version\n"
	"                        this text, or that of one command; the version\n"
	"\n"
	"AREA is the DEVICE (or image file) that ends or begins with the reserved area, or --table\n"
	"\"LINE\", or --search DEVICE if the superblock at its end is gone.\n"
	"\n"
	"All numbers are 512-byte sectors.  LINE is a device-mapper table line:\n"
	"  0 SECTORS ressd NORMAL_DEV START RESERVED_DEV START SECTORS [COUNT OPTION VALUE ...]\n"
	"\n"
	"Exit codes: 0 done, 1 error, 2 wrong arguments, 3 refused by a safety check,\n"
	"4 the log has faults that are still there, 130 interrupted.  More in ressdctl(8), and of\n"
	"the OPTIONs in ressd(7).\n";

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv, struct failure *failure);
	const char *help;
} commands[] = {
	{ "format", command_format,
	  "  format [--segment-sectors N] [--yes] [--force]\n"
	  "         NORMAL_DEV NORMAL_START NORMAL_SECTORS\n"
	  "         RESERVED_DEV RESERVED_START RESERVED_SECTORS [OPTION VALUE]...\n"
	  "  format [--yes] [--force] --table \"LINE\"\n"
	  "                        make the reserved area, which keeps the options; what was in it\n"
	  "                        is lost\n" },
	{ "adopt", command_adopt,
	  "  adopt [--reserved SIZE] [--yes] [--force] DEVICE [OPTION VALUE]...\n"
	  "                        the file system on DEVICE stays; what is free behind it becomes\n"
	  "                        the reserved area\n" },
	{ "leave", command_leave,
	  "  leave NAME|DEVICE     drain, close, erase the log: a plain disk remains\n" },
	{ "open", command_open,
	  "  open [--normal DEVICE] [--defaults] [NAME] DEVICE [OPTION VALUE]...\n"
	  "                        create /dev/mapper/NAME: areas and options are those that the\n"
	  "                        reserved area of DEVICE keeps\n"
	  "  open NAME --table \"LINE\"\n"
	  "                        the same, but as LINE says\n"
	  "  open NAME             the same, as /etc/ressdtab says\n"
	  "  open --all            all devices of /etc/ressdtab\n" },
	{ "close", command_close,
	  "  close NAME            remove /dev/mapper/NAME\n"
	  "  close --all           all that are not in use\n" },
	{ "list", command_list,
	  "  list [--json] [DEVICE]...\n"
	  "                        active devices, and reserved areas of those that are closed\n" },
	{ "status", command_status,
	  "  status [--json] [NAME]\n"
	  "                        show counters, of all active devices without a NAME\n" },
	{ "tune", command_tune,
	  "  tune [--json] [--reset] NAME|DEVICE [OPTION VALUE]...\n"
	  "                        show or change the options that a device keeps\n" },
	{ "drain", command_drain,
	  "  drain NAME            move everything to the normal area; Ctrl-C stops it\n" },
	{ "recover", command_recover,
	  "  recover NAME          after I/O errors: bring the log back into service\n" },
	{ "check", command_check,
	  "  check [--json] [--in-use] AREA\n"
	  "                        fsck of the reserved area; only reads\n" },
	{ "dump", command_dump,
	  "  dump [--json] [--in-use] [--record N] [--segment N] AREA\n"
	  "                        superblocks, segments, records, summaries and the map\n" },
	{ "repair", command_repair,
	  "  repair [--backup FILE [--yes]] AREA\n"
	  "                        rebuild a superblock, cut a broken log; without --backup only\n"
	  "                        show what would be done\n"
	  "  repair --undo FILE DEVICE\n"
	  "                        write back what repair saved in FILE\n" },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* Of one command, or (NULL) of all. */
static int help(const struct command *command)
{
	size_t i;

	fputs(help_begin, stdout);
	for (i = 0; i < NR_COMMANDS; i++)
		if (!command || command == &commands[i])
			fputs(commands[i].help, stdout);
	fputs(help_end, stdout);
	return EXIT_OK;
}

static int unknown_command(const char *name)
{
	fprintf(stderr, "ressdctl: '%s' is not a command; see ressdctl --help.\n", name);
	return EXIT_USAGE;
}

static int help_of(const char *name)
{
	const struct command *command = name ? find_command(name) : NULL;

	return name && !command ? unknown_command(name) : help(command);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct failure failure = { "" };
	int code = command->run(argc, argv, &failure);

	if (code == COMMAND_HELP)
		return help(command);
	/* What was found comes before the sentence about it, also where both go to one file. */
	fflush(stdout);
	if (code < 0)
		fprintf(stderr, "ressdctl: %s.\n", failure.text);
	return code < 0 ? exit_code_of(code) : EXIT_OK;
}

static int run_named(int argc, char **argv)
{
	const struct command *command;

	opterr = 0;
	if (argc < 2) {
		fputs("ressdctl: no command is given; see ressdctl --help.\n", stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help_of(argv[2]);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("ressdctl " RESSD_TOOLS_VERSION);
		return EXIT_OK;
	}
	command = find_command(argv[1]);
	return command ? run(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
	output_begin();
	return output_end("ressdctl", run_named(argc, argv));
}
