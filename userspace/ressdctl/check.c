// SPDX-License-Identifier: GPL-2.0-only
/* ressdctl check: fsck of a reserved area.  The work is done in lib/log/check.c. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "check-print.h"
#include "cli/progress.h"
#include "cli/words.h"
#include "log/area.h"
#include "offline.h"
#include "ressdctl.h"

struct checked {
	struct log_check check;
	struct offline_area area;
	struct progress progress;
};

static void show_progress(void *context, u64 done, u64 total)
{
	struct checked *checked = context;

	progress_update(&checked->progress, done, total);
}

/* One good copy is enough to look at the log, also where the kernel wants more. */
static bool can_read_log(const struct super_pair *supers)
{
	return supers->choice == 0 ||
	       (supers->choice == -EIO && (supers->copies[0].verdict == RESSD_SUPER_GOOD ||
					   supers->copies[1].verdict == RESSD_SUPER_GOOD));
}

/* The normal area, if it is known where that is. */
static int check_covers(struct checked *checked, const struct log_image *image,
			struct failure *failure)
{
	struct offline_area *area = &checked->area;
	struct blkdev other;
	int code;

	if (!area->has_line && image->info.devices != 1)
		return 0;
	if (!area->has_line)
		return log_check_covers(&checked->check, image, &area->dev, failure);
	code = blkdev_open(&other, area->line.normal_path, BLKDEV_READ, failure);
	if (code)
		return code;
	code = log_check_covers(&checked->check, image, &other, failure);
	blkdev_close(&other);
	return code;
}

static int check_area(struct checked *checked, struct failure *failure)
{
	struct offline_area *area = &checked->area;
	struct log_source source = offline_source(area);
	struct log_image image;
	int code = 0;

	log_check_supers(&checked->check, &area->supers,
			 area->has_line ? &area->line.table : NULL, &area->line.options);
	if (checked->check.blank)
		return log_check_blank(&checked->check, &source,
				       area->sectors / RESSD_BLOCK_SECTORS, failure);
	if (!can_read_log(&area->supers) || area->supers.info.table.reserved_sectors !=
	    area->sectors)
		return 0;
	code = log_image_open(&image, &area->supers.info, &source, failure);
	if (!code)
		code = log_check_log(&checked->check, &image, failure);
	if (!code)
		code = check_covers(checked, &image, failure);
	log_image_close(&image);
	return code;
}

static int fail_on_faults(const struct checked *checked, struct failure *failure)
{
	const u64 *counts = checked->check.findings.counts;
	u64 bad = counts[FINDING_WARNING] + counts[FINDING_DAMAGE] + counts[FINDING_REFUSED];

	if (!bad)
		return 0;
	return fail(failure, -EUCLEAN, "the reserved area of %s has %llu fault%s",
		    checked->area.dev.path, bad, plural(bad));
}

static int run_check(struct checked *checked, bool json, struct failure *failure)
{
	int code;

	checked->check.progress = show_progress;
	checked->check.context = checked;
	progress_start(&checked->progress, "checking");
	code = check_area(checked, failure);
	progress_end();
	if (!code && json)
		check_print_json(&checked->check, &checked->area);
	else if (!code)
		check_print_text(&checked->check, &checked->area);
	return code ? code : fail_on_faults(checked, failure);
}

static int parse(struct offline_arguments *arguments, bool *json, int argc, char **argv,
		 struct failure *failure)
{
	static const struct option options[] = {
		OFFLINE_OPTIONS,
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, ":jh", options, NULL)) != -1) {
		if (option == 'j')
			*json = true;
		else if (option == 'h')
			return COMMAND_HELP;
		else if (!offline_option(arguments, option))
			return bad_option(argv, option, failure);
	}
	return offline_words(arguments, "check", argc - optind, argv + optind, failure);
}

int command_check(int argc, char **argv, struct failure *failure)
{
	struct offline_arguments arguments = { .table = NULL };
	static struct checked checked;
	bool json = false;
	int code = parse(&arguments, &json, argc, argv, failure);

	memset(&checked, 0, sizeof(checked));
	if (!code)
		code = offline_open(&checked.area, &arguments, false, failure);
	if (code)
		return code;
	code = offline_check_end(&checked.area, failure);
	if (!code)
		code = run_check(&checked, json, failure);
	log_check_free(&checked.check);
	offline_close(&checked.area);
	return code;
}
