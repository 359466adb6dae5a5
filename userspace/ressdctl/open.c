// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl open and close: make and remove the device. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "dm/ressd-dm.h"
#include "dm/ressdtab.h"
#include "log/area.h"
#include "log/block-devices.h"
#include "log/contents.h"
#include "log/covers.h"
#include "log/stored-options.h"
#include "ressdctl.h"

/* Why the area does not fit the line, in the words of the kernel, before the kernel is asked. */
static int check_area_fits(const struct area *area, const struct table_line *line,
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

/*
 * Looking for the superblocks has failed with @code: the kernel needs both, and repair makes two of
 * one that can be read.
 */
static int no_superblock(int code, const char *device, const struct failure *why,
			 struct failure *failure)
{
	if (code != -EIO)
		return fail(failure, code, "%s", why->text);
	return fail(failure, code,
		    "%.400s, and a superblock would be there; ressdctl repair --search %.200s looks for the other one, and says how to write both anew",
		    why->text, device);
}

static int open_line(const char *name, struct table_line *line, struct failure *failure)
{
	struct device_pair pair;
	char uuid[UUID_TEXT];
	struct failure why;
	struct area area;
	int code = ressd_dm_check_name(name, failure);

	if (!code)
		code = open_pair(&pair, line, failure);
	if (code)
		return code;
	/* A table has no quotes, and a symbolic link may have a space in its name. */
	memcpy(line->normal_path, pair.normal.path, sizeof(line->normal_path));
	memcpy(line->reserved_path, pair.reserved.path, sizeof(line->reserved_path));
	code = area_inspect(&area, &pair.reserved, &line->table, &why);
	if (code)
		code = no_superblock(code, line->reserved_path, &why, failure);
	if (!code && area.kind == AREA_RESSD) {
		code = log_check_end(&pair.reserved, &area.info, failure);
		/* What cannot be read may not be needed. */
		if (code == -EIO)
			code = 0;
	}
	close_pair(&pair);
	if (!code)
		code = check_area_fits(&area, line, failure);
	if (!code)
		code = blkdev_check_for_ressd(&pair.normal, failure);
	if (!code)
		code = blkdev_check_for_ressd(&pair.reserved, failure);
	if (code)
		return code;
	if (area.kind == AREA_RESSD)
		return ressd_dm_create(name, uuid_print(area.info.uuid, uuid), line, failure);
	code = ressd_dm_create(name, NULL, line, failure);
	if (!code)
		name_new_device(name, line);
	return code;
}

struct open_arguments {
	const char *name;
	const char *device;
	const char *normal;	/* --normal: the normal area is on a device of its own */
	char device_path[PATH_MAX], normal_path[PATH_MAX];
	const char *table;
	bool defaults;		/* --defaults: not the options that are stored */
	bool all;		/* --all: what /etc/ressdtab has */
	char **options;		/* OPTION VALUE ..., instead of what is stored */
	int nr_options;
	char made_name[32];
};

/* The one device that both areas are on, or both devices. */
static int take_devices(struct table_line *line, const struct open_arguments *arguments,
			const struct ressd_super_info *info, u64 sectors,
			struct failure *failure)
{
	const struct ressd_table *table = &info->table;
	const char *normal = arguments->normal;

	/* What was formatted before that was recorded is on one device, if it can be. */
	const bool one = info->devices == 1 ||
			 (!info->devices &&
			  !ressd_table_check(table, sectors, sectors, true, failure->text,
					     sizeof(failure->text)));

	if (!one && !normal)
		return fail(failure, -EINVAL,
			    "%s has the log of a normal area that is on another device; name that one with --normal",
			    arguments->device);
	if (info->devices == 1 && normal)
		return fail(failure, -EINVAL,
			    "%s has both areas, so --normal %.200s does not belong to it; leave it out",
			    arguments->device, normal);
	snprintf(line->normal_path, sizeof(line->normal_path), "%s",
		 normal ? normal : arguments->device);
	snprintf(line->reserved_path, sizeof(line->reserved_path), "%s", arguments->device);
	line->table = *table;
	return 0;
}

/*
 * What a covered log holds would overwrite another disk that --normal names, and what was made anew
 * on this one: neither has all covers, and libblkid knows what it is, or there is none at all.
 * When the log is drained nothing tells, and nothing is written either.
 */
static int check_disk(const struct blkdev *normal, bool named, const struct blkdev *reserved,
		      const struct ressd_super_info *info, struct failure *failure)
{
	const struct ressd_table *table = &info->table;
	char text[COVERS_TEXT], what[128];
	struct covers covers;
	bool covered, ours;
	u32 missing;
	int found, code = covers_find(normal, table->normal_start, table->len, &covers, failure);

	if (code)
		return code;
	ours = covers.sectors && !memcmp(covers.uuid, info->uuid, sizeof(info->uuid));
	if (ours && covers.sectors == info->cover_blocks * RESSD_COVER_SECTORS)
		return 0;
	if (covers.sectors && !ours && named)
		return fail(failure, -EEXIST, "%.200s has %s, not those of the log on %.200s",
			    normal->path, covers_print(&covers, text), reserved->path);
	code = log_is_covered(reserved, info, &covered, failure);
	if (code == -EUCLEAN)
		return 0;	/* the kernel refuses it, and says so */
	if (code || !covered)
		return code;
	found = blkdev_signature(normal, table->normal_start * 512, table->len * 512, what,
				 sizeof(what), failure);
	if (found < 0)
		return found;
	if (ours && !found) {
		code = covers_missing(normal, info, &missing, failure);
		if (code)
			return code;
		fprintf(stderr,
			"ressdctl: warning: %u of the first %u sectors of %s were written to without ressd while the log held data, or could not be covered; the log's version counts; check the file system.\n",
			missing, info->cover_blocks * RESSD_COVER_SECTORS, normal->path);
		return 0;
	}
	if (found)
		return fail(failure, -EEXIST,
			    "the log on %.200s holds data, but %.200s has %s where its covers would be: it was made anew, or repaired by fsck, without ressd, and the log would be written over it; if it was made anew, use it without ressd, or make a new log with ressdctl adopt --force; if it was repaired, open it with --table '0 %llu ressd %.200s %llu %.200s %llu %llu', which does not look, and repair it again",
			    reserved->path, normal->path, what, table->len, normal->path,
			    table->normal_start, reserved->path, table->reserved_start,
			    table->reserved_sectors);
	return fail(failure, -EEXIST,
		    "the log on %.200s holds data, but %.200s has none of its covers: it is another disk, or was overwritten; name the right one, or use --table, which does not look",
		    reserved->path, normal->path);
}

static int check_covers_fit(const struct table_line *line, bool named,
			    const struct blkdev *reserved, const struct ressd_super_info *info,
			    struct failure *failure)
{
	struct blkdev normal;
	int code = blkdev_open(&normal, line->normal_path, BLKDEV_READ, failure);

	if (code)
		return code;
	code = check_disk(&normal, named, reserved, info, failure);
	blkdev_close(&normal);
	return code;
}

static int find_devices(struct open_arguments *arguments, struct failure *failure)
{
	int code = block_device_find(arguments->device, arguments->device_path, failure);

	if (!code && arguments->normal)
		code = block_device_find(arguments->normal, arguments->normal_path, failure);
	if (code)
		return code;
	arguments->device = arguments->device_path;
	if (arguments->normal)
		arguments->normal = arguments->normal_path;
	return 0;
}

/* Nothing was found where a reserved area would be. */
static int refuse_device(const struct blkdev *dev, struct failure *failure)
{
	struct failure ignored;
	struct covers covers;

	if (!covers_find(dev, 0, dev->bytes / 512, &covers, &ignored) && covers.sectors)
		return fail(failure, -ENODATA,
			    "the log of %s does not end with it: if it was made larger or smaller, ressdctl check --search %s says how long it was, and it opens when it has that length again; if its log is on another device, name that one and this one with --normal",
			    dev->path, dev->path);
	return fail(failure, -ENODATA,
		    "no reserved area ends with %s or begins with it; if its log is on another device, name that one and this one with --normal, or say with --table where both areas are",
		    dev->path);
}

/* The superblock of the device has the numbers, and the options that nothing overrides. */
static int line_of_device(struct table_line *line, struct open_arguments *arguments,
			  struct failure *failure)
{
	struct ressd_super_info info;
	struct failure why;
	struct blkdev dev;
	int found = find_devices(arguments, failure);

	if (!found)
		found = blkdev_open(&dev, arguments->device, BLKDEV_READ, failure);
	if (found)
		return found;
	found = area_find(&dev, &info, &why);
	if (!found)
		found = refuse_device(&dev, failure);
	else if (found < 0)
		found = no_superblock(found, dev.path, &why, failure);
	else
		found = take_devices(line, arguments, &info, dev.bytes / 512, failure);
	if (!found) {
		found = check_covers_fit(line, arguments->normal, &dev, &info, failure);
		/* What cannot be read may not be needed. */
		if (found == -EIO && !arguments->normal)
			found = 0;
	}
	blkdev_close(&dev);
	if (found)
		return found;
	snprintf(arguments->made_name, sizeof(arguments->made_name), "ressd-%02x%02x%02x%02x",
		 info.uuid[0], info.uuid[1], info.uuid[2], info.uuid[3]);
	ressd_options_default(&line->options);
	if (!arguments->defaults)
		found = stored_options_read(&info, arguments->device, &line->options, failure);
	if (found)
		return found;
	return ressd_options_parse(&line->options, arguments->nr_options, arguments->options,
				   failure->text, sizeof(failure->text));
}

/* [NAME] DEVICE [OPTION VALUE]...: whether there is a name shows in the number of words. */
static int take_words(struct open_arguments *arguments, int argc, char **argv,
		      struct failure *failure)
{
	const bool named = arguments->table ? argc == 1 : argc && argc % 2 == 0;

	if (named)
		arguments->name = argv[0];
	argc -= named;
	argv += named;
	if (arguments->table ? argc || !named : !argc)
		return fail(failure, -EINVAL,
			    "open needs a formatted device, in front of it a name if you like, and behind it options with their values; or a name and --table \"LINE\"");
	if (arguments->table && (arguments->normal || arguments->defaults))
		return fail(failure, -EINVAL,
			    "--table says everything; leave out --normal and --defaults");
	arguments->device = arguments->table ? NULL : argv[0];
	arguments->options = argv + 1;
	arguments->nr_options = argc - 1;
	return 0;
}

static int parse(struct open_arguments *arguments, int argc, char **argv,
		 struct failure *failure)
{
	static const struct option options[] = {
		{ "table", required_argument, NULL, 't' },
		{ "normal", required_argument, NULL, 'n' },
		{ "defaults", no_argument, NULL, 'd' },
		{ "all", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (option == 't')
			arguments->table = optarg;
		else if (option == 'n')
			arguments->normal = optarg;
		else if (option == 'd')
			arguments->defaults = true;
		else if (option == 'a')
			arguments->all = true;
		else if (option == 'h')
			return COMMAND_HELP;
		else
			return bad_option(argv, option, failure);
	}
	if (!arguments->all)
		return take_words(arguments, argc - optind, argv + optind, failure);
	if (argc > optind || arguments->table || arguments->normal || arguments->defaults)
		return fail(failure, -EINVAL,
			    "--all opens what /etc/ressdtab has; leave out everything else");
	return 0;
}

static int open_entry(struct ressdtab_entry *entry, struct failure *failure)
{
	struct open_arguments arguments = {
		.name = entry->name,
		.device = entry->device,
		.normal = entry->normal[0] ? entry->normal : NULL,
		.options = entry->words,
		.nr_options = entry->nr_words,
	};
	struct table_line line;
	int code = line_of_device(&line, &arguments, failure);

	return code ? code : open_line(entry->name, &line, failure);
}

/* One that cannot be opened does not keep the others from it. */
struct opened {
	const char *name;	/* the only one that is wanted; NULL: all */
	bool found;
	int code;
	struct failure failure;	/* of the last one that failed */
};

/* The sentence of the last one is for main.c. */
static void failed(struct opened *opened, int code, const struct failure *failure)
{
	if (opened->code)
		fprintf(stderr, "ressdctl: %s.\n", opened->failure.text);
	opened->code = code;
	opened->failure = *failure;
}

static void visit_entry(void *context, struct ressdtab_entry *entry)
{
	struct opened *opened = context;
	char table[TABLE_LINE_TEXT];
	struct failure why, failure;
	int code;

	if (entry->code && opened->found && opened->name)
		return;
	if (entry->code) {
		failed(opened, entry->code, &entry->failure);
		return;
	}
	if (opened->name ? strcmp(opened->name, entry->name) : entry->noauto)
		return;
	opened->found = true;
	if (opened->name)
		opened->code = 0;	/* wrong lines are others */
	if (!ressd_dm_table(entry->name, table, &failure))
		return;
	code = open_entry(entry, &why);
	if (!code)
		return;
	fail(&failure, code, "%.120s: %.880s", entry->name, why.text);
	failed(opened, code, &failure);
}

/* What /etc/ressdtab has under @name, or (NULL) all that is to be opened by itself. */
static int open_listed(const char *name, struct failure *failure)
{
	struct opened opened = { .name = name };
	int code = ressdtab_read(visit_entry, &opened, failure);

	if (code)
		return code;
	if (opened.code)
		return fail(failure, opened.code, "%s", opened.failure.text);
	if (name && !opened.found)
		return fail(failure, -EINVAL,
			    "%s is neither a device (a path, or UUID=...) nor a name that /etc/ressdtab has",
			    name);
	return 0;
}

int command_open(int argc, char **argv, struct failure *failure)
{
	struct open_arguments arguments = { .name = NULL };
	struct table_line line;
	int code = parse(&arguments, argc, argv, failure);

	if (code)
		return code;
	if (arguments.all)
		return open_listed(NULL, failure);
	if (arguments.device && !arguments.name && !strpbrk(arguments.device, "/=")) {
		if (arguments.nr_options || arguments.normal || arguments.defaults)
			return fail(failure, -EINVAL,
				    "%s is no device (a path, or UUID=...), and the name of a line of /etc/ressdtab stands alone; write NAME DEVICE, and behind them each option with its value",
				    arguments.device);
		return open_listed(arguments.device, failure);
	}
	if (arguments.table)
		code = table_line_parse(&line, arguments.table, failure);
	else
		code = line_of_device(&line, &arguments, failure);
	if (code)
		return code;
	code = open_line(arguments.name ? arguments.name : arguments.made_name, &line, failure);
	if (!code && !arguments.name)
		printf("/dev/mapper/%s\n", arguments.made_name);
	return code;
}

struct closed {
	int code;
	struct failure failure;
};

static void close_one(void *context, const char *name)
{
	struct closed *closed = context;
	struct failure failure;
	int code = ressd_dm_remove(name, &failure);

	if (!code)
		return;
	if (closed->code)
		fprintf(stderr, "ressdctl: %s.\n", closed->failure.text);
	closed->code = code;
	closed->failure = failure;
}

static int close_all(struct failure *failure)
{
	struct closed closed = { .code = 0 };
	int code = ressd_dm_list(close_one, &closed, failure);

	if (!code && closed.code)
		code = fail(failure, closed.code, "%s", closed.failure.text);
	return code;
}

int command_close(int argc, char **argv, struct failure *failure)
{
	const char *name;
	int code;

	if (argc == 2 && !strcmp(argv[1], "--all"))
		return close_all(failure);
	code = one_device(argc, argv, &name, failure);
	return code ? code : ressd_dm_remove(name, failure);
}
