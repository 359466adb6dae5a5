// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl open and close: make and remove the device. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "area.h"
#include "ressd-dm.h"
#include "ressdctl.h"

/* Why the area does not fit the line, in the words of the kernel, before the kernel is asked. */
static int check_area(const struct area *area, const struct table_line *line,
		      struct failure *failure)
{
	switch (area->kind) {
	case AREA_FOREIGN:
		return fail(failure, -EEXIST, "%s", area->what);
	case AREA_RESSD:
		if (area->what[0])
			fprintf(stderr, "ressdctl: warning: %s.\n", area->what);
		return ressd_super_matches(&area->info, &line->table, &line->options,
					   failure->text, sizeof(failure->text));
	default:
		return 0;	/* blank: the kernel formats it */
	}
}

/* The kernel has formatted the area while activating, so its UUID is known only now. */
static void name_new_device(const char *name, const struct table_line *line)
{
	struct failure failure;
	char uuid[UUID_TEXT];
	struct blkdev dev;
	struct area area;
	int code = blkdev_open(&dev, line->reserved_path, BLKDEV_READ, &failure);

	if (!code) {
		code = area_inspect(&area, &dev, &line->table, &failure);
		blkdev_close(&dev);
	}
	if (!code && area.kind == AREA_RESSD)
		code = ressd_dm_set_uuid(name, uuid_print(area.info.uuid, uuid), &failure);
	if (code)
		fprintf(stderr, "ressdctl: warning: %s has no DM UUID: %s.\n", name, failure.text);
}

static int open_line(const char *name, const struct table_line *line, struct failure *failure)
{
	struct device_pair pair;
	char uuid[UUID_TEXT];
	struct area area;
	int code = open_pair(&pair, line, failure);

	if (code)
		return code;
	code = area_inspect(&area, &pair.reserved, &line->table, failure);
	close_pair(&pair);
	if (!code)
		code = check_area(&area, line, failure);
	if (code)
		return code;
	if (area.kind == AREA_RESSD)
		return ressd_dm_create(name, uuid_print(area.info.uuid, uuid), line, failure);
	code = ressd_dm_create(name, NULL, line, failure);
	if (!code)
		name_new_device(name, line);
	return code;
}

/* open NAME DEVICE [OPTION VALUE]...: the superblock at the end of DEVICE has the numbers. */
static int line_of_device(struct table_line *line, const char *path, int argc, char **argv,
			  struct failure *failure)
{
	struct ressd_super_info info;
	struct blkdev dev;
	int found;

	found = blkdev_open(&dev, path, BLKDEV_READ, failure);
	if (found)
		return found;
	found = area_find_at_end(&dev, &info, failure);
	blkdev_close(&dev);
	if (found < 0)
		return found;
	if (!found)
		return fail(failure, -EINVAL,
			    "no reserved area ends with %s; format one there, or say with --table where it is",
			    path);
	snprintf(line->normal_path, sizeof(line->normal_path), "%s", path);
	snprintf(line->reserved_path, sizeof(line->reserved_path), "%s", path);
	line->table = info.table;
	ressd_options_default(&line->options);
	return ressd_options_parse(&line->options, argc, argv, failure->text,
				   sizeof(failure->text));
}

int command_open(int argc, char **argv, struct failure *failure)
{
	static const struct option options[] = {
		{ "table", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct table_line line;
	const char *table = NULL;
	int option, code;

	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (option == 't')
			table = optarg;
		else if (option == 'h')
			return COMMAND_HELP;
		else
			return bad_option(argv, option, failure);
	}
	argc -= optind;
	argv += optind;
	if (argc < 1 || (table ? argc > 1 : argc < 2))
		return fail(failure, -EINVAL,
			    "open needs a name and either --table \"LINE\" or a formatted device");
	if (table)
		code = table_line_parse(&line, table, failure);
	else
		code = line_of_device(&line, argv[1], argc - 2, argv + 2, failure);
	return code ? code : open_line(argv[0], &line, failure);
}

int command_close(int argc, char **argv, struct failure *failure)
{
	const char *name;
	int code = one_device(argc, argv, &name, failure);

	return code ? code : ressd_dm_remove(name, failure);
}
