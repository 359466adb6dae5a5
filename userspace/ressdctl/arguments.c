// SPDX-License-Identifier: GPL-2.0-only
/* Arguments that several commands have: options, names of devices, table lines; see ressdctl.h. */
#include <errno.h>
#include <getopt.h>
#include <unistd.h>
#include "cli/words.h"
#include "dm/extents.h"
#include "dm/ressd-dm.h"
#include "ressdctl.h"

int bad_option(char **argv, int option, struct failure *failure)
{
	return bad_option_sentence(argv, option, "ressdctl --help", failure);
}

int one_word(int argc, char **argv, const char **word, struct failure *failure)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option = getopt_long(argc, argv, ":h", options, NULL);

	if (option == 'h')
		return COMMAND_HELP;
	if (option != -1)
		return bad_option(argv, option, failure);
	if (argc - optind != 1)
		return fail(failure, -EINVAL, "%s needs the name of one device", argv[0]);
	*word = argv[optind];
	return 0;
}

const char *device_name(const char *word, struct failure *failure)
{
	const char *name = ressd_dm_name(word);

	if (!name)
		fail(failure, -EINVAL,
		     "%.200s is no ressd device; name an active one, as ressdctl list shows them",
		     word);
	return name;
}

int one_device(int argc, char **argv, const char **name, struct failure *failure)
{
	int code = one_word(argc, argv, name, failure);

	if (code)
		return code;
	*name = device_name(*name, failure);
	return *name ? 0 : -EINVAL;
}

int active_table(const char *name, char *text, struct failure *failure)
{
	struct failure first;
	int code = ressd_dm_table(name, text, failure);

	if (!code || access(name, F_OK))
		return code;
	first = *failure;
	return fail(failure, code, "%.800s; if the file %.60s in this folder is meant, write ./%.60s",
		    first.text, name, name);
}

/* Both areas may be the same bytes though their devices differ. */
static int check_apart(const struct device_pair *pair, const struct table_line *line,
		       struct failure *failure)
{
	const struct ressd_table *table = &line->table;

	if (!extents_meet(&pair->normal, table->normal_start * 512, table->len * 512,
			  &pair->reserved, table->reserved_start * 512,
			  table->reserved_sectors * 512))
		return 0;
	return fail(failure, -EINVAL,
		    "the normal area on %s and the reserved area on %s overlap on what both devices stand on; move one of them",
		    pair->normal.path, pair->reserved.path);
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
	if (!code)
		code = check_apart(pair, line, failure);
	if (code)
		close_pair(pair);
	return code;
}

void close_pair(struct device_pair *pair)
{
	blkdev_close(&pair->normal);
	blkdev_close(&pair->reserved);
}
