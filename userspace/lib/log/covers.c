// SPDX-License-Identifier: GPL-2.0-only
/* Covers on a disk that nobody uses; see covers.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "log/area.h"
#include "log/covers.h"
#include "log/image.h"
#include "ressd-cover.h"

/* Covers of which nothing else is known are looked for in so many blocks: more than are made. */
#define SEARCHED_BLOCKS	64U

#define SECTOR_BYTES	sizeof(struct ressd_cover_sector)

/* The first blocks of a normal area, and what is changed in them. */
struct home {
	const struct blkdev *dev;
	u64 offset;
	u32 nr;			/* blocks */
	u8 *blocks;
};

static struct ressd_cover_sector *sector_of(const struct home *home, u32 number)
{
	return (void *)(home->blocks + (size_t)number * SECTOR_BYTES);
}

static int prepare_home(struct home *home, const struct blkdev *dev, u64 start, u64 sectors,
			u32 most, struct failure *failure)
{
	u64 left = start * 512 < dev->bytes ? (dev->bytes - start * 512) / 512 : 0;

	*home = (struct home) { .dev = dev, .offset = start * 512 };
	left = min(left, sectors);
	home->nr = min_t(u64, most, left / RESSD_BLOCK_SECTORS);
	home->blocks = blkdev_buffer((size_t)(home->nr + 1) * RESSD_BLOCK_SIZE);
	if (!home->blocks)
		return fail(failure, -ENOMEM, "there is not enough memory to read %s", dev->path);
	return 0;
}

static int read_home(struct home *home, const struct blkdev *dev, u64 start, u64 sectors,
		     u32 most, struct failure *failure)
{
	int code = prepare_home(home, dev, start, sectors, most, failure);

	if (!code && home->nr)
		code = blkdev_read(dev, home->offset, home->blocks,
				   (size_t)home->nr * RESSD_BLOCK_SIZE, failure);
	return code;
}

static int write_home(const struct home *home, struct failure *failure)
{
	int code = blkdev_write(home->dev, home->offset, home->blocks,
				(size_t)home->nr * RESSD_BLOCK_SIZE, failure);

	return code ? code : blkdev_flush(home->dev, failure);
}

/* Is it a cover of the device with @uuid; NULL: of any? */
static bool is_cover(const struct home *home, u32 number, const u8 *uuid)
{
	const struct ressd_cover_sector *sector = sector_of(home, number);

	return ressd_cover_is_sector(sector, uuid ? uuid : sector->uuid,
				     number / RESSD_COVER_SECTORS, number % RESSD_COVER_SECTORS);
}

int covers_find(const struct blkdev *dev, u64 start, u64 sectors, struct covers *covers,
		struct failure *failure)
{
	struct home home;
	u32 i;
	int code = read_home(&home, dev, start, sectors, SEARCHED_BLOCKS, failure);

	covers->sectors = 0;
	for (i = 0; !code && i < home.nr * RESSD_COVER_SECTORS; i++) {
		if (!is_cover(&home, i, NULL))
			continue;
		if (!covers->sectors++)
			memcpy(covers->uuid, sector_of(&home, i)->uuid, RESSD_UUID_SIZE);
	}
	free(home.blocks);
	return code;
}

int covers_missing(const struct blkdev *dev, const struct ressd_super_info *info, u32 *missing,
		   struct failure *failure)
{
	struct home home;
	int code = read_home(&home, dev, info->table.normal_start, info->table.len,
			     info->cover_blocks, failure);

	if (!code)
		*missing = ressd_cover_missing(home.blocks, info->uuid, home.nr);
	free(home.blocks);
	return code;
}

int covers_look(const struct blkdev *dev, const struct ressd_super_info *info, u32 *missing,
		struct covers_unread *unread, struct failure *failure)
{
	struct failure why;
	struct home home;
	u32 i;
	int code = prepare_home(&home, dev, info->table.normal_start, info->table.len,
				info->cover_blocks, failure);

	*missing = 0;
	unread->blocks = 0;
	for (i = 0; !code && i < home.nr; i++) {
		u8 *block = home.blocks + (size_t)i * RESSD_BLOCK_SIZE;
		u32 sector;

		if (blkdev_read(dev, home.offset + (u64)i * RESSD_BLOCK_SIZE, block,
				RESSD_BLOCK_SIZE, &why)) {
			if (!unread->blocks++)
				unread->first = why;
			continue;
		}
		for (sector = 0; sector < RESSD_COVER_SECTORS; sector++)
			*missing += !is_cover(&home, i * RESSD_COVER_SECTORS + sector, info->uuid);
	}
	free(home.blocks);
	return code;
}

/* The covers of block @lbn become what the log has; false if it has no intact copy. */
static bool restore_block(struct home *home, struct log_image *image, u32 lbn)
{
	const struct ressd_log *log = &image->log;
	const struct ressd_node *node = ressd_map_find(&log->map, lbn);
	u8 *place = home->blocks + (size_t)lbn * RESSD_BLOCK_SIZE;
	const void *copy = NULL;
	bool any = false;
	u32 i;

	for (i = 0; i < RESSD_COVER_SECTORS; i++)
		any = any || is_cover(home, lbn * RESSD_COVER_SECTORS + i, image->info.uuid);
	if (!any)
		return true;
	if (node && !ressd_map_is_clean(&log->map, ressd_map_block(&log->map, node)))
		copy = log_image_block(image, ressd_map_block(&log->map, node));
	if (!copy || ressd_crc(copy, RESSD_BLOCK_SIZE) != node->crc)
		return false;
	ressd_cover_merge(place, copy, image->info.uuid, lbn);
	return true;
}

/* All that have one; if some have none the others are restored nevertheless. */
static int restore_blocks(struct home *home, struct log_image *image, struct failure *failure)
{
	u32 lbn, bad = 0;
	int code;

	for (lbn = 0; lbn < home->nr; lbn++)
		bad += !restore_block(home, image, lbn);
	code = write_home(home, failure);
	if (!code && bad)
		code = fail(failure, -EUCLEAN,
			    "the log has no intact copy of %u of the first %u blocks of %s", bad,
			    home->nr, home->dev->path);
	return code;
}

int covers_restore(const struct blkdev *normal, const struct blkdev *reserved,
		   const struct ressd_super_info *info, struct failure *failure)
{
	struct log_device device = { .dev = reserved, .start = info->table.reserved_start };
	struct log_source source = log_source_device(&device);
	struct log_image image;
	struct home home;
	u32 missing;
	int code = covers_missing(normal, info, &missing, failure);

	if (code || !info->cover_blocks || missing == info->cover_blocks * RESSD_COVER_SECTORS)
		return code;
	code = log_image_open(&image, info, &source, failure);
	if (!code && log_image_recover(&image))
		code = fail(failure, -EUCLEAN, "%s",
			    image.error[0] ? image.error : image.failure.text);
	if (!code) {
		code = read_home(&home, normal, info->table.normal_start, info->table.len,
				 info->cover_blocks, failure);
		if (!code)
			code = restore_blocks(&home, &image, failure);
		free(home.blocks);
	}
	log_image_close(&image);
	return code;
}

int covers_blank(const struct blkdev *dev, u64 start, u64 sectors, struct failure *failure)
{
	struct home home;
	u32 i;
	int code = read_home(&home, dev, start, sectors, SEARCHED_BLOCKS, failure);

	for (i = 0; !code && i < home.nr * RESSD_COVER_SECTORS; i++)
		if (is_cover(&home, i, NULL))
			memset(sector_of(&home, i), 0, SECTOR_BYTES);
	if (!code && home.nr)
		code = write_home(&home, failure);
	free(home.blocks);
	return code;
}

const char *covers_print(const struct covers *covers, char text[COVERS_TEXT])
{
	char uuid[UUID_TEXT];

	snprintf(text, COVERS_TEXT,
		 "the covers of the ressd device %s, whose first blocks are in its log",
		 uuid_print(covers->uuid, uuid));
	return text;
}
