// SPDX-License-Identifier: GPL-2.0-only
/* Finding a reserved area that is not in use; see offline.h. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "cli/progress.h"
#include "cli/words.h"
#include "dm/fs-end.h"
#include "log/area.h"
#include "log/contents.h"
#include "offline.h"

#define SEARCH_BLOCKS	256U	/* 1 MiB a read */

bool offline_option(struct offline_arguments *arguments, int option)
{
	if (option == 't')
		arguments->table = optarg;
	else if (option == 'u')
		arguments->in_use = true;
	else if (option == 's')
		arguments->search = true;
	else
		return false;
	return true;
}

int offline_words(struct offline_arguments *arguments, const char *command, int argc, char **argv,
		  struct failure *failure)
{
	if (argc != (arguments->table ? 0 : 1))
		return fail(failure, -EINVAL,
			    "%s needs either --table \"LINE\" or the device that the reserved area ends with, and nothing else",
			    command);
	arguments->device = arguments->table ? NULL : argv[0];
	return 0;
}

/* A search for copy 0, and what of the device it could not read. */
struct search {
	const struct blkdev *dev;
	u8 *blocks;
	struct ressd_super_info other;	/* the last one that does not end where the device does */
	u64 unread;		/* blocks */
	u64 first_unread;	/* byte */
};

/*
 * Copy 0 of an area that reaches to the end of the device, in the @nr blocks from block @first on,
 * which search->blocks has.  True and @info if it is there.
 */
static bool find_first_copy(struct search *search, u64 first, u32 nr,
			    struct ressd_super_info *info)
{
	char reason[RESSD_ERROR_SIZE];
	u64 end = search->dev->bytes / RESSD_BLOCK_SIZE * RESSD_BLOCK_SECTORS, behind;

	while (nr--) {
		const void *block = search->blocks + (size_t)nr * RESSD_BLOCK_SIZE;

		if (ressd_super_decode(block, 0, info, reason, sizeof(reason)) !=
		    RESSD_SUPER_GOOD ||
		    info->table.reserved_start != (first + nr) * RESSD_BLOCK_SECTORS)
			continue;
		behind = info->table.reserved_start + info->table.reserved_sectors;
		if (behind == end)
			return true;
		if (!search->other.table.reserved_sectors)
			search->other = *info;
	}
	return false;
}

/* The @nr blocks from block @first on, one by one where not all of them can be read. */
static bool search_piece(struct search *search, u64 first, u32 nr, struct ressd_super_info *info)
{
	struct failure ignored;
	u32 i;

	if (!blkdev_read(search->dev, first * RESSD_BLOCK_SIZE, search->blocks,
			 (size_t)nr * RESSD_BLOCK_SIZE, &ignored))
		return find_first_copy(search, first, nr, info);
	for (i = nr; i--; ) {
		if (!blkdev_read(search->dev, (first + i) * RESSD_BLOCK_SIZE, search->blocks,
				 RESSD_BLOCK_SIZE, &ignored)) {
			if (find_first_copy(search, first + i, 1, info))
				return true;
			continue;
		}
		search->unread++;
		search->first_unread = (first + i) * RESSD_BLOCK_SIZE;
	}
	return false;
}

/* Looks for copy 0 from the end backwards: 1 found, 0 not, negative errno with a sentence. */
static int search_backwards(struct search *search, struct ressd_super_info *info,
			    struct failure *failure)
{
	u64 total = search->dev->bytes / RESSD_BLOCK_SIZE, end = total;
	struct progress progress;
	bool found = false;

	search->blocks = blkdev_buffer(SEARCH_BLOCKS * RESSD_BLOCK_SIZE);
	if (!search->blocks)
		return fail(failure, -ENOMEM, "there is not enough memory to read the device");
	progress_start(&progress, "searching for a superblock");
	while (!found && end) {
		u32 nr = min_t(u64, end, SEARCH_BLOCKS);

		end -= nr;
		found = search_piece(search, end, nr, info);
		progress_update(&progress, total - end, total);
	}
	progress_end();
	free(search->blocks);
	return found;
}

/* Nothing was found; the sentence also says what could not be looked at. */
static int refuse_search(const struct search *search, struct failure *failure)
{
	const struct ressd_table *other = &search->other.table;
	const u64 behind = other->reserved_start + other->reserved_sectors;
	char unread[128] = "", table[512] = "";

	if (behind && behind < search->dev->bytes / 512 && search->other.devices == 1)
		snprintf(table, sizeof(table),
			 ", or open it with --table '0 %llu ressd %.180s %llu %.180s %llu %llu'",
			 other->len, search->dev->path, other->normal_start, search->dev->path,
			 other->reserved_start, other->reserved_sectors);
	if (behind)
		return fail(failure, -ENODATA,
			    "no reserved area ends with %s, but one begins at its sector %llu: was the device made %s? Make it %llu sectors long, as it was%s; a log that is older than what is there now is to be left alone",
			    search->dev->path, other->reserved_start,
			    behind < search->dev->bytes / 512 ?
				    "larger" : "smaller, or copied in part",
			    behind, table);
	if (search->unread)
		snprintf(unread, sizeof(unread),
			 " (%llu block%s of 4 KiB cannot be read, the first at byte %llu)",
			 search->unread, plural(search->unread), search->first_unread);
	return fail(failure, -ENODATA,
		    "no superblock of a reserved area that ends with %s was found%s; a copy without its end has none; say with --table where the area is",
		    search->dev->path, unread);
}

static int find_area(struct offline_area *area, const struct offline_arguments *arguments,
		     struct failure *failure)
{
	struct search search = { .dev = &area->dev };
	char reason[RESSD_ERROR_SIZE];
	struct ressd_super_info info;
	struct failure why;
	int found = area_find(&area->dev, &info, &why);

	/* A partition that reaches to the end of its disk: the numbers count from its own begin. */
	if (!found && !arguments->search && area_find_at_end(&area->dev, &info, &why) > 0)
		return fail(failure, -ENODATA,
			    "the superblock at the end of %s is of a device on which the log begins at sector %llu, not at %llu as here: probably a partition of it; name that, or say with --table where the reserved area is",
			    area->dev.path, info.table.reserved_start,
			    area->dev.bytes / RESSD_BLOCK_SIZE * RESSD_BLOCK_SECTORS -
			    info.table.reserved_sectors);
	if (found == -EPROTONOSUPPORT)
		return fail(failure, found, "%s", why.text);
	if (found < 0 && !arguments->search)
		return fail(failure, found,
			    "%s, and a superblock would be there; say with --table where the reserved area is, or add --search to look for the first superblock",
			    why.text);
	if (found <= 0 && arguments->search)
		found = search_backwards(&search, &info, failure);
	if (found < 0)
		return found;
	if (!found && arguments->search)
		return refuse_search(&search, failure);
	if (!found)
		return fail(failure, -ENODATA,
			    "no reserved area ends with %s, or its last superblock is damaged; say with --table where it is, or add --search to look for the first superblock",
			    area->dev.path);
	area->start = info.table.reserved_start;
	area->sectors = info.table.reserved_sectors;
	if (ressd_table_check(&info.table, ~0ULL / 512, area->dev.bytes / 512, false, reason,
			      sizeof(reason)))
		return fail(failure, -ENODATA,
			    "the superblock at the end of %s describes an area that is not there (%s); say with --table where it is",
			    area->dev.path, reason);
	return 0;
}

/* The area of the line, if it is on the device at all. */
static int take_line(struct offline_area *area, struct failure *failure)
{
	const struct ressd_table *table = &area->line.table;
	struct ressd_geom geom;

	area->has_line = true;
	area->start = table->reserved_start;
	area->sectors = table->reserved_sectors;
	if (ressd_table_check(table, ~0ULL / 512, area->dev.bytes / 512, false, failure->text,
			      sizeof(failure->text)) ||
	    ressd_geom_init(&geom, table->reserved_sectors, area->line.options.segment_sectors,
			    failure->text, sizeof(failure->text)))
		return -EINVAL;
	return 0;
}

/* Reading does no harm, but what is found while the log changes may be wrong. */
static int check_idle(const struct offline_area *area, struct failure *failure)
{
	struct failure user;
	int code = blkdev_check_unused(&area->dev, &user);

	if (code != -EBUSY)
		return code ? fail(failure, code, "%s", user.text) : 0;
	return fail(failure, code,
		    "%s; a log that is in use changes while it is read, and would seem damaged. To look all the same, add --in-use",
		    user.text);
}

int offline_open(struct offline_area *area, const struct offline_arguments *arguments, bool write,
		 struct failure *failure)
{
	const char *path = arguments->device;
	int code = 0;

	memset(area, 0, sizeof(*area));
	if (arguments->table) {
		code = table_line_parse(&area->line, arguments->table, failure);
		path = area->line.reserved_path;
	}
	if (!code)
		code = blkdev_open(&area->dev, path, write ? BLKDEV_WRITE : BLKDEV_READ, failure);
	if (code)
		return code;
	if (!write && !arguments->in_use)
		code = check_idle(area, failure);
	if (!code)
		code = arguments->table ? take_line(area, failure) :
			find_area(area, arguments, failure);
	if (code) {
		blkdev_close(&area->dev);
		return code;
	}
	super_pair_read(&area->supers, &area->dev, area->start, area->sectors);
	area->device = (struct log_device) { .dev = &area->dev, .start = area->start };
	return 0;
}

int offline_check_end(const struct offline_area *area, struct failure *failure)
{
	int code = area->supers.choice ?
			   fs_check_end(&area->dev, area->start * 512, failure) :
			   log_check_end(&area->dev, &area->supers.info, failure);

	return code == -EIO ? 0 : code;
}

void offline_close(struct offline_area *area)
{
	blkdev_close(&area->dev);
}

struct log_source offline_source(struct offline_area *area)
{
	return log_source_device(&area->device);
}
