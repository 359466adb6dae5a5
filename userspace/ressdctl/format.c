// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl format: make the reserved area. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/confirm.h"
#include "cli/size.h"
#include "cli/words.h"
#include "dm/genuine.h"
#include "format.h"
#include "log/area.h"
#include "log/contents.h"
#include "log/covers.h"
#include "log/find-logs.h"
#include "ressdctl.h"

static int parse_positions(struct format_arguments *arguments, int argc, char **argv,
			   struct failure *failure)
{
	char *words[5];
	int code;

	if (argc < 6)
		return fail(failure, -EINVAL,
			    "format needs 6 words (normal device, start and sectors, reserved device, start and sectors) or --table, but has %d",
			    argc);
	words[0] = argv[0];
	words[1] = argv[1];
	memcpy(&words[2], &argv[3], 3 * sizeof(words[0]));
	code = table_line_parse_words(&arguments->line, argv[2], 5, words, failure);
	if (code)
		return code;
	return ressd_options_parse(&arguments->line.options, argc - 6, argv + 6, failure->text,
				   sizeof(failure->text));
}

static int parse_line(struct format_arguments *arguments, int argc, char **argv,
		      struct failure *failure)
{
	if (!arguments->table)
		return parse_positions(arguments, argc, argv, failure);
	if (argc)
		return fail(failure, -EINVAL,
			    "'%s' follows --table, which says everything already; leave it out",
			    argv[0]);
	return table_line_parse(&arguments->line, arguments->table, failure);
}

static int parse_arguments(struct format_arguments *arguments, int argc, char **argv,
			   struct failure *failure)
{
	static const struct option options[] = {
		{ "segment-sectors", required_argument, NULL, 's' },
		{ "table", required_argument, NULL, 't' },
		{ "yes", no_argument, NULL, 'y' },
		{ "force", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	char *segment[2] = { "segment_sectors" };
	int option, code;

	while ((option = getopt_long(argc, argv, ":yfh", options, NULL)) != -1) {
		if (option == 's')
			segment[1] = optarg;
		else if (option == 't')
			arguments->table = optarg;
		else if (option == 'y')
			arguments->yes = true;
		else if (option == 'f')
			arguments->force = true;
		else if (option == 'h')
			return COMMAND_HELP;
		else
			return bad_option(argv, option, failure);
	}
	code = parse_line(arguments, argc - optind, argv + optind, failure);
	if (code || !segment[1])
		return code;
	return ressd_options_parse(&arguments->line.options, 2, segment, failure->text,
				   sizeof(failure->text));
}

static struct byte_range reserved_range(const struct format_arguments *arguments)
{
	return (struct byte_range) {
		arguments->line.table.reserved_start * 512,
		arguments->line.table.reserved_sectors * 512,
	};
}

static struct byte_range normal_range(const struct format_arguments *arguments)
{
	return (struct byte_range) {
		arguments->line.table.normal_start * 512, arguments->line.table.len * 512,
	};
}

/* What has not been moved out of the log would be lost. */
static int check_no_data(const struct blkdev *dev, const struct area *area, struct failure *failure)
{
	struct failure reason;
	u64 blocks;
	int code = log_contents(dev, &area->info, &blocks, &reason);

	if (code == -EUCLEAN)
		return fail(failure, -EEXIST,
			    "%s; to give up what the log of %s held, add --force", reason.text,
			    dev->path);
	if (!code && blocks)
		return fail(failure, -EEXIST,
			    "the reserved area of %s holds %llu block%s of 4 KiB not moved to the normal area; open the device and drain it first, or add --force to lose them",
			    dev->path, blocks, plural(blocks));
	return code ? fail(failure, code, "%s", reason.text) : 0;
}

/* A log that is in the way of one of the new areas. */
static int check_found(const struct blkdev *dev, const struct found_log *log,
		       const struct byte_range *areas, u32 nr, struct failure *failure)
{
	char what[FOUND_LOG_TEXT];
	bool meets = false;
	u32 i;
	int found;

	for (i = 0; i < nr; i++)
		meets = meets || found_log_meets(log, &areas[i]);
	found = meets ? found_log_holds(dev, log, what, failure) : 0;
	if (found <= 0)
		return found;
	return fail(failure, -EEXIST,
		    "%s holds %s, where the new areas would be; open that device as it was and drain it first, or add --force to lose what is in the log",
		    dev->path, what);
}

/* All the logs of @dev and its @nr new @areas. */
static int check_logs(const struct blkdev *dev, const struct byte_range *areas, u32 nr,
		      const struct found_logs *logs, struct failure *failure)
{
	char what[FOUND_LOG_TEXT];
	u32 i;
	int code = 0;

	for (i = 0; !code && i < logs->nr; i++)
		code = check_found(dev, &logs->list[i], areas, nr, failure);
	if (!code && found_logs_strange(logs, what))
		code = fail(failure, -EEXIST,
			    "%s holds %s; look at it with ressdctl check, or add --force to lose it",
			    dev->path, what);
	return code;
}

/* A log elsewhere has the first blocks of the new normal area, on @normal. */
static int check_no_covers(const struct format_arguments *arguments, const struct blkdev *normal,
			   struct failure *failure)
{
	const struct ressd_table *table = &arguments->line.table;
	char text[COVERS_TEXT];
	struct covers covers;
	int code = covers_find(normal, table->normal_start, table->len, &covers, failure);

	if (code || !covers.sectors)
		return code;
	return fail(failure, -EEXIST,
		    "%s has %s; open that device and drain it first, or add --force to make blank what cannot be restored",
		    normal->path, covers_print(&covers, text));
}

/* Old and new area share both ends, not only one of them. */
static bool is_the_same(const struct ressd_table *old, const struct ressd_table *new)
{
	return old->reserved_start == new->reserved_start &&
	       old->reserved_sectors == new->reserved_sectors;
}

/*
 * A file system may well reach into a reserved area that itself looks blank, so what is on the
 * whole device counts.  An area that ressd had before on the same place is known to be outside.
 */
static int check_signatures(const struct format_arguments *arguments, const struct blkdev *dev,
			    const struct area *area, struct failure *failure)
{
	const struct byte_range place = arguments->adopts ? reserved_range(arguments) :
					(struct byte_range) { 0, dev->bytes };
	char signature[128];
	int found;

	/* What a file system has left behind its new end looks like anything. */
	if (area->kind == AREA_FOREIGN && !arguments->adopts)
		return fail(failure, -EEXIST,
			    "%s; nothing was changed. To destroy it, add --force", area->what);
	if (area->kind == AREA_RESSD && is_the_same(&area->info.table, &arguments->line.table)) {
		found = log_check_end(dev, &area->info, failure);
		return found ? found : check_no_data(dev, area, failure);
	}
	found = blkdev_signature(dev, place.start, place.bytes, signature, sizeof(signature),
				 failure);
	if (found > 0)
		return fail(failure, -EEXIST,
			    "%s holds %s, which may reach into the reserved area (sectors %llu to %llu); if you know that it does not, add --force",
			    dev->path, signature, arguments->line.table.reserved_start,
			    arguments->line.table.reserved_start +
			    arguments->line.table.reserved_sectors - 1);
	return found;
}

/* @logs gets what was found on @dev, on which the reserved area is. */
static int check_contents(const struct format_arguments *arguments, const struct blkdev *dev,
			  const struct area *area, struct found_logs *logs,
			  struct failure *failure)
{
	const struct byte_range areas[] = {
		reserved_range(arguments), normal_range(arguments),
	};
	int code = find_logs(dev, areas, 1, logs, failure);

	if (code || arguments->force)
		return code;
	code = check_signatures(arguments, dev, area, failure);
	if (!code)
		code = check_logs(dev, areas, arguments->same_device ? 2 : 1, logs, failure);
	return code || !arguments->same_device ? code : check_no_covers(arguments, dev, failure);
}

/* Does the log's own area share a byte with @place? */
static bool is_within(const struct found_log *log, const struct byte_range *place)
{
	return log->start < place->start + place->bytes &&
	       place->start < log->start + log->info.table.reserved_sectors * 512;
}

/*
 * What of the logs on @dev is going to be destroyed gives back the blocks that its covers on
 * @normal, or on @dev, stand for.  The rest of what such a log holds is lost.
 */
static int restore_covers(const struct blkdev *dev, const struct blkdev *normal,
			  const struct found_logs *logs, const struct byte_range *place,
			  struct failure *failure)
{
	struct failure reason;
	u32 i;
	int code = 0;

	for (i = 0; !code && i < logs->nr; i++) {
		const struct found_log *log = &logs->list[i];

		if (!log->has_super || !log->info.cover_blocks || !is_within(log, place))
			continue;
		code = covers_restore(log->info.devices == 2 ? normal : dev, dev, &log->info,
				      &reason);
		if (code == -EUCLEAN) {
			fprintf(stderr, "ressdctl: warning: %s.\n", reason.text);
			code = 0;
		}
	}
	return code ? fail(failure, code, "%s", reason.text) : 0;
}

/* No cover may stay behind: nothing would ever take it away. */
static int remove_covers(const struct format_arguments *arguments, const struct blkdev *dev,
			 const struct found_logs *logs, struct failure *failure)
{
	const struct ressd_table *table = &arguments->line.table;
	const struct byte_range place = reserved_range(arguments);
	struct blkdev other;
	const struct blkdev *normal = arguments->same_device ? dev : &other;
	struct covers covers;
	int code = 0;

	if (!arguments->same_device)
		code = blkdev_open(&other, arguments->line.normal_path, BLKDEV_WRITE, failure);
	if (code)
		return code;
	code = restore_covers(dev, normal, logs, &place, failure);
	if (!code)
		code = covers_find(normal, table->normal_start, table->len, &covers, failure);
	if (!code && covers.sectors) {
		fprintf(stderr, "ressdctl: warning: of the begin of %s %u sector%s had the newest version in a log that is gone; zeroes are written there.\n",
			normal->path, covers.sectors, plural(covers.sectors));
		code = covers_blank(normal, table->normal_start, table->len, failure);
	}
	if (!arguments->same_device)
		blkdev_close(&other);
	return code;
}

static int ask(const struct format_arguments *arguments, const struct blkdev *dev,
	       const struct area *area, struct failure *failure)
{
	const struct ressd_table *table = &arguments->line.table;
	char question[PATH_MAX + 256], size[SIZE_TEXT];

	snprintf(question, sizeof(question),
		 "This destroys %s from sector %llu of %s%s.",
		 size_print(table->reserved_sectors * 512, size), table->reserved_start, dev->path,
		 area->kind == AREA_RESSD ?
		 ", a reserved area of ressd" : "");
	return confirm(question, arguments->yes, failure);
}

int format_device(const struct format_arguments *arguments, const struct blkdev *dev,
		  struct failure *failure)
{
	char line[TABLE_LINE_TEXT], uuid_text[UUID_TEXT];
	const struct byte_range reserved = reserved_range(arguments);
	u8 uuid[RESSD_UUID_SIZE];
	struct found_logs logs;
	struct area area;
	int code = area_inspect(&area, dev, &arguments->line.table, failure);

	if (!code)
		code = check_contents(arguments, dev, &area, &logs, failure);
	if (!code)
		code = ask(arguments, dev, &area, failure);
	/* The end of a device is what a counterfeit one does not have. */
	if (!code)
		code = genuine_check(dev, reserved.start, reserved.bytes, failure);
	if (!code)
		code = remove_covers(arguments, dev, &logs, failure);
	if (!code)
		code = found_logs_forget(dev, &logs, &reserved, failure);
	if (!code)
		code = area_format(dev, &arguments->line, arguments->same_device ? 1 : 2, uuid,
				   failure);
	if (!code)
		printf("formatted %s: UUID %s\n%s\n", dev->path, uuid_print(uuid, uuid_text),
		       table_line_print(&arguments->line, line));
	return code;
}

/*
 * Opening for writing is what proves that nobody else uses a device.  A log on the normal device
 * would be overwritten later, by who uses the new one.
 */
static int check_normal(const struct format_arguments *arguments, struct failure *failure)
{
	const struct byte_range area = normal_range(arguments);
	struct found_logs logs;
	struct blkdev dev;
	int code;

	if (arguments->same_device)
		return 0;
	code = blkdev_open(&dev, arguments->line.normal_path, BLKDEV_WRITE, failure);
	if (code)
		return code;
	if (!arguments->force) {
		code = find_logs(&dev, NULL, 0, &logs, failure);
		if (!code)
			code = check_logs(&dev, &area, 1, &logs, failure);
		if (!code)
			code = check_no_covers(arguments, &dev, failure);
	}
	blkdev_close(&dev);
	return code;
}

int command_format(int argc, char **argv, struct failure *failure)
{
	struct format_arguments arguments = { .yes = false };
	struct device_pair pair;
	struct blkdev dev;
	int code = parse_arguments(&arguments, argc, argv, failure);

	if (!code)
		code = open_pair(&pair, &arguments.line, failure);
	if (code)
		return code;
	arguments.same_device = blkdev_same(&pair.normal, &pair.reserved);
	close_pair(&pair);
	code = check_normal(&arguments, failure);
	if (!code)
		code = blkdev_open(&dev, arguments.line.reserved_path, BLKDEV_WRITE, failure);
	if (code)
		return code;
	code = format_device(&arguments, &dev, failure);
	blkdev_close(&dev);
	return code;
}
