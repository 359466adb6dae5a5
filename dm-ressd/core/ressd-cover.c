// SPDX-License-Identifier: GPL-2.0-only
/*
 * A covered block on the disk, and what the log must have for it; see
 * ressd-cover.h.
 */
#include <linux/crc32c.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-cover.h"

/*
 * libblkid looks for nearly everything in the first 68 KiB: btrfs and reiserfs
 * at 64 KiB are the last.  docs/design.md names what it looks for elsewhere.
 */
#define COVER_BLOCKS	17U

/*
 * Where the reserve is more than this part of the log, writers would miss it.
 */
#define RESERVE_PART	4U

/*
 * Beside the reserve: the head, the segment that is always free, and two to go
 * round with.
 */
#define MORE_SEGMENTS	4U

static const char cover_text[] =
	"\n\nThis disk is part of a dm-ressd device that is not drained: its newest data is in a log\n"
	"at another place, and what belongs here as well. Do not mount, check, format or partition\n"
	"it as it is; nothing is lost. `ressdctl open' makes it usable; `ressdctl drain' and then\n"
	"`ressdctl close' turn it into a plain disk again.\n";

static_assert(sizeof(cover_text) <= RESSD_COVER_TEXT, "the sentence fits");

static u32 sector_crc(const struct ressd_cover_sector *sector)
{
	static const u8 zero[4];
	u32 crc = crc32c(~0U, sector, 12);

	crc = crc32c(crc, zero, sizeof(zero));
	return crc32c(crc, (const u8 *)sector + 16, sizeof(*sector) - 16);
}

void ressd_cover_fill(void *block, const u8 *uuid, u32 lbn)
{
	struct ressd_cover_sector *sector = block;
	u32 i;

	memset(block, 0, RESSD_BLOCK_SIZE);
	for (i = 0; i < RESSD_COVER_SECTORS; i++, sector++) {
		sector->magic = cpu_to_le64(RESSD_COVER_MAGIC);
		sector->version = cpu_to_le32(RESSD_FORMAT_VERSION);
		memcpy(sector->uuid, uuid, RESSD_UUID_SIZE);
		sector->block = cpu_to_le32(lbn);
		sector->index = cpu_to_le32(i);
		memcpy(sector->text, cover_text, sizeof(cover_text));
		sector->crc = cpu_to_le32(sector_crc(sector));
	}
}

bool ressd_cover_is_sector(const void *data, const u8 *uuid, u32 lbn, u32 index)
{
	const struct ressd_cover_sector *sector = data;

	return sector->magic == cpu_to_le64(RESSD_COVER_MAGIC) &&
	       sector->version == cpu_to_le32(RESSD_FORMAT_VERSION) &&
	       !memcmp(sector->uuid, uuid, RESSD_UUID_SIZE) &&
	       sector->block == cpu_to_le32(lbn) &&
	       sector->index == cpu_to_le32(index) &&
	       le32_to_cpu(sector->crc) == sector_crc(sector);
}

u32 ressd_cover_missing(const void *home, const u8 *uuid, u32 nr)
{
	const struct ressd_cover_sector *sector = home;
	u32 i, missing = 0;

	for (i = 0; i < nr * RESSD_COVER_SECTORS; i++, sector++)
		missing += !ressd_cover_is_sector(sector, uuid,
						  i / RESSD_COVER_SECTORS,
						  i % RESSD_COVER_SECTORS);
	return missing;
}

u32 ressd_cover_merge(void *home, const void *logged, const u8 *uuid, u32 lbn)
{
	const size_t bytes = sizeof(struct ressd_cover_sector);
	u32 i, nr = 0;

	for (i = 0; i < RESSD_COVER_SECTORS; i++) {
		void *sector = (u8 *)home + i * bytes;

		if (!ressd_cover_is_sector(sector, uuid, lbn, i))
			continue;
		memcpy(sector, (const u8 *)logged + i * bytes, bytes);
		nr++;
	}
	return nr;
}

/*
 * Blocks that records can use in a slot that is not the last, which can be
 * shorter.
 */
static u32 usable(const struct ressd_geom *geom)
{
	return geom->segment_blocks - geom->summary_blocks - 1;
}

static bool last_is_short(const struct ressd_geom *geom)
{
	u32 last = geom->nr_segments - 1;

	return ressd_geom_slot_end(geom, last) -
		       ressd_geom_slot_start(geom, last) <
	       usable(geom);
}

/*
 * All of them are carried within that many segments, each with a header of its
 * own if need be, and with room for the records that announce what became free.
 * The last segment may be too short to count.
 */
u32 ressd_cover_reserve(const struct ressd_geom *geom, u32 nr)
{
	if (!nr)
		return 0;
	return DIV_ROUND_UP(2 * nr + 6, usable(geom)) + last_is_short(geom);
}

bool ressd_cover_fits(const struct ressd_geom *geom, u32 nr)
{
	return nr <= RESSD_COVER_MAX &&
	       (!nr || ressd_cover_reserve(geom, nr) + MORE_SEGMENTS <=
		       geom->nr_segments);
}

u32 ressd_cover_default(const struct ressd_geom *geom, u64 normal_sectors)
{
	const u32 reserve = ressd_cover_reserve(geom, COVER_BLOCKS);

	if (normal_sectors < COVER_BLOCKS * RESSD_BLOCK_SECTORS ||
	    geom->nr_segments < reserve * RESERVE_PART ||
	    !ressd_cover_fits(geom, COVER_BLOCKS))
		return 0;
	return COVER_BLOCKS;
}

bool ressd_cover_is_dirty(const struct ressd_log *log, u32 lbn, u32 nr)
{
	const struct ressd_node *node = ressd_map_first_from(&log->map, lbn);

	nr = min(nr, log->cover_blocks - lbn);
	for (; node && node->lbn - lbn < nr; node = ressd_map_next(node))
		if (!ressd_map_is_clean(&log->map,
					ressd_map_block(&log->map, node)))
			return true;
	return false;
}

bool ressd_cover_any_dirty(const struct ressd_log *log)
{
	return ressd_cover_is_dirty(log, 0, log->cover_blocks);
}
