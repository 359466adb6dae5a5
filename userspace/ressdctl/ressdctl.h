/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of ressdctl.  Each reads its own arguments, argv[0] being the command's name, and
 * returns 0 or a negative errno with a sentence; main.c turns that into message and exit code.
 */
#ifndef RESSDCTL_H
#define RESSDCTL_H

#include "cli/failure.h"
#include "dm/blkdev.h"
#include "dm/table-line.h"

int command_format(int argc, char **argv, struct failure *failure);
int command_adopt(int argc, char **argv, struct failure *failure);
int command_leave(int argc, char **argv, struct failure *failure);
int command_open(int argc, char **argv, struct failure *failure);
int command_close(int argc, char **argv, struct failure *failure);
int command_tune(int argc, char **argv, struct failure *failure);
int command_list(int argc, char **argv, struct failure *failure);
int command_status(int argc, char **argv, struct failure *failure);
int command_drain(int argc, char **argv, struct failure *failure);
int command_recover(int argc, char **argv, struct failure *failure);
int command_check(int argc, char **argv, struct failure *failure);
int command_dump(int argc, char **argv, struct failure *failure);
int command_repair(int argc, char **argv, struct failure *failure);

/* What a command returns after "--help": main.c prints the help. */
#define COMMAND_HELP	1

/* arguments.c */

/*
 * The sentence about an option that getopt_long did not understand: what that returned, with @argv
 * and its optind as it left them.  Short options begin with a colon.  Returns -EINVAL.
 */
int bad_option(char **argv, int option, struct failure *failure);

/*
 * The arguments of a command that takes one word and no option but --help: 0 and the word in
 * *@word, COMMAND_HELP, or -EINVAL with a sentence.
 */
int one_word(int argc, char **argv, const char **word, struct failure *failure);

/* Likewise, the name of an active device, or the path of one. */
int one_device(int argc, char **argv, const char **name, struct failure *failure);

/* The name that @word means, or NULL and a sentence. */
const char *device_name(const char *word, struct failure *failure);

/*
 * The table of the active device @name, where a closed one by its path would do as well: the
 * sentence says so if there is none, but a file of that name.
 */
int active_table(const char *name, char *text, struct failure *failure);

/* Both devices of a table line, opened for reading. */
struct device_pair {
	struct blkdev normal;
	struct blkdev reserved;
};

/* Opens both and checks @line against them.  0, or a negative errno with a sentence. */
int open_pair(struct device_pair *pair, const struct table_line *line, struct failure *failure);
void close_pair(struct device_pair *pair);

/* drain.c: drains the active device @name, with progress; Ctrl-C stops it (-ECANCELED). */
int drain_by_name(const char *name, struct failure *failure);

#endif
