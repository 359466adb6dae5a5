// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressdctl tune: show and change the options that a device keeps in its superblock.  Where the
 * device is active the kernel writes them, so that it never writes older ones later.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/json-stream.h"
#include "dm/ressd-dm.h"
#include "log/area.h"
#include "log/block-devices.h"
#include "log/stored-options.h"
#include "log/super-pair.h"
#include "ressdctl.h"

#define TUNE_SCHEMA	1	/* of the JSON; ressdctl(8) describes it */

struct tune {
	const char *target;		/* as given: a device, or the name of an active one */
	const char *name;		/* of the active device, or NULL */
	char path[PATH_MAX];		/* of the device with the reserved area */
	bool reset, json;
	char **words;			/* OPTION VALUE ... */
	int nr_words;
	struct super_pair supers;
	struct ressd_options stored, live;
};

/* The two superblocks, of which one is enough to read, but not to change anything. */
static int read_supers(struct tune *tune, const struct blkdev *dev, u64 start, u64 sectors,
		       struct failure *failure)
{
	super_pair_read(&tune->supers, dev, start, sectors);
	if (tune->supers.choice)
		return fail(failure, -EUCLEAN, "%s", tune->supers.error[0] ? tune->supers.error :
			    "the reserved area is blank; format it, or open the device once");
	if (tune->nr_words + tune->reset && tune->supers.error[0])
		return fail(failure, -EUCLEAN, "%s, and options are stored in both copies",
			    tune->supers.error);
	if (!tune->reset)
		return stored_options_read(&tune->supers.info, tune->target, &tune->stored,
					   failure);
	ressd_options_default(&tune->stored);
	return 0;
}

static int read_active(struct tune *tune, const char *table, struct failure *failure)
{
	struct table_line line;
	struct blkdev dev;
	int code = table_line_parse(&line, table, failure);

	if (code)
		return code;
	tune->live = line.options;
	/* The kernel shows devices by number. */
	if (!block_device_path(line.reserved_path, tune->path))
		return fail(failure, -ENODEV, "the reserved device %.40s has no name in /dev",
			    line.reserved_path);
	code = blkdev_open(&dev, tune->path, BLKDEV_READ, failure);
	if (code)
		return code;
	code = read_supers(tune, &dev, line.table.reserved_start, line.table.reserved_sectors,
			   failure);
	blkdev_close(&dev);
	return code;
}

/* Closed: whoever changes something has the device for himself. */
static int open_closed(struct tune *tune, struct blkdev *dev, struct failure *failure)
{
	struct ressd_super_info info;
	const bool change = tune->nr_words || tune->reset;
	int code = blkdev_open(dev, tune->target, change ? BLKDEV_WRITE : BLKDEV_READ, failure);

	if (code)
		return code;
	code = area_find(dev, &info, failure);
	if (!code)
		code = fail(failure, -ENODATA,
			    "no reserved area ends with %s or begins with it, and no ressd device has that name",
			    tune->target);
	if (code > 0)
		code = read_supers(tune, dev, info.table.reserved_start,
				   info.table.reserved_sectors, failure);
	if (code)
		blkdev_close(dev);
	return code;
}

static int change_stored(struct tune *tune, struct failure *failure)
{
	struct ressd_options changed = tune->stored;
	int i;

	for (i = 0; i + 1 < tune->nr_words; i += 2)
		if (!strcmp(tune->words[i], "segment_sectors") || !strcmp(tune->words[i], "cover"))
			return fail(failure, -EINVAL,
				    "%s is fixed when the reserved area is formatted; drain, then use ressdctl format",
				    tune->words[i]);
	if (ressd_options_parse(&changed, tune->nr_words, tune->words, failure->text,
				sizeof(failure->text)))
		return -EINVAL;
	tune->stored = changed;
	return 0;
}

static int store_active(const struct tune *tune, struct failure *failure)
{
	char options[RESSD_STORED_OPTIONS], message[RESSD_STORED_OPTIONS + 16];

	ressd_options_pack(&tune->stored, options);
	snprintf(message, sizeof(message), "store %s", options);
	return ressd_dm_message(tune->name, message, failure);
}

/* An option may be possible only beside another one: what is refused is tried a second time. */
static void set_active(const struct tune *tune)
{
	struct failure failure;
	char message[128];
	int round, i;

	for (round = 0; round < 2; round++) {
		for (i = 0; i + 1 < tune->nr_words; i += 2) {
			snprintf(message, sizeof(message), "set %.40s %.40s", tune->words[i],
				 tune->words[i + 1]);
			if (ressd_dm_message(tune->name, message, &failure) && round)
				fprintf(stderr,
					"ressdctl: %s %s is stored, but not in use before the device is opened again: %s.\n",
					tune->words[i], tune->words[i + 1], failure.text);
		}
	}
}

static const char *or_defaults(const char *options)
{
	return *options ? options : "(the defaults)";
}

static void show(const struct tune *tune)
{
	char stored[RESSD_STORED_OPTIONS], live[RESSD_STORED_OPTIONS];

	ressd_options_pack(&tune->stored, stored);
	ressd_options_pack(&tune->live, live);
	if (!tune->json) {
		printf("stored  %s\n", or_defaults(stored));
		if (tune->name)
			printf("in use  %s\n", or_defaults(live));
		return;
	}
	json_open(NULL, '{');
	json_number("version", TUNE_SCHEMA);
	json_string("device", tune->target);
	json_string("stored", stored);
	if (tune->name)
		json_string("in_use", live);
	json_close();
}

static int tune_active(struct tune *tune, const char *table, struct failure *failure)
{
	char after[TABLE_LINE_TEXT];
	struct table_line line;
	int code = read_active(tune, table, failure);

	if (code)
		return code;
	if (tune->nr_words || tune->reset) {
		code = change_stored(tune, failure);
		if (!code)
			code = store_active(tune, failure);
		if (code)
			return code;
		set_active(tune);
		code = ressd_dm_table(tune->name, after, failure);
		if (!code)
			code = table_line_parse(&line, after, failure);
		if (code)
			return code;
		tune->live = line.options;
	}
	show(tune);
	return 0;
}

static int tune_closed(struct tune *tune, struct failure *failure)
{
	struct blkdev dev;
	int code = open_closed(tune, &dev, failure);

	if (code)
		return code;
	if (tune->nr_words || tune->reset) {
		code = change_stored(tune, failure);
		if (!code)
			code = area_store_options(&dev, &tune->supers.info, &tune->stored,
						  failure);
	}
	blkdev_close(&dev);
	if (!code)
		show(tune);
	return code;
}

static int parse(struct tune *tune, int argc, char **argv, struct failure *failure)
{
	static const struct option options[] = {
		{ "reset", no_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, ":jh", options, NULL)) != -1) {
		if (option == 'r')
			tune->reset = true;
		else if (option == 'j')
			tune->json = true;
		else if (option == 'h')
			return COMMAND_HELP;
		else
			return bad_option(argv, option, failure);
	}
	argc -= optind;
	argv += optind;
	if (!argc)
		return fail(failure, -EINVAL,
			    "tune needs the name of an active device, or a formatted device that is not open; and behind it options with their values, to change them");
	tune->target = argv[0];
	tune->words = argv + 1;
	tune->nr_words = argc - 1;
	return 0;
}

int command_tune(int argc, char **argv, struct failure *failure)
{
	static const char folder[] = "/dev/mapper/";
	struct tune tune = { .reset = false };
	char table[TABLE_LINE_TEXT];
	int code = parse(&tune, argc, argv, failure);

	if (code)
		return code;
	if (!strncmp(tune.target, folder, strlen(folder)))
		tune.name = tune.target + strlen(folder);
	else if (!strchr(tune.target, '/'))
		tune.name = tune.target;
	if (!tune.name)
		return tune_closed(&tune, failure);
	code = ressd_dm_table(tune.name, table, failure);
	return code ? code : tune_active(&tune, table, failure);
}
