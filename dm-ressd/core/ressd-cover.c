// SPDX-License-Identifier: GPL-2.0-only
/*
 * A covered block on the disk, and what the log must have for it; see
 * ressd-cover.h.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-cover.h"

static const char cover_text[] =
	"\n\nThis disk is part of a dm-ressd device that is not drained: its newest data is in a log\n"
	"at another place, and what belongs here as well. Do not mount, check, format or partition\n"
	"it as it is; nothing is lost. `ressdctl open' makes it usable; `ressdctl drain' and then\n"
	"`ressdctl close' turn it into a plain disk again.\n";

static_assert(sizeof(cover_text) <= RESSD_COVER_TEXT, "the sentence fits");

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
		sector->crc =
			cpu_to_le32(ressd_own_crc(sector, sizeof(*sector)));
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
	       le32_to_cpu(sector->crc) ==
		       ressd_own_crc(sector, sizeof(*sector));
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

bool ressd_cover_is_dirty(const struct ressd_log *log, u32 lbn, u32 nr)
{
	const struct ressd_node *node = ressd_map_first_from(&log->map, lbn);

	nr = min(nr, log->cover_blocks - lbn);
	for (; node && node->lbn - lbn < nr; node = ressd_map_next(node))
		if (ressd_map_is_dirty(&log->map, node))
			return true;
	return false;
}

bool ressd_cover_any_dirty(const struct ressd_log *log)
{
	return ressd_cover_is_dirty(log, 0, log->cover_blocks);
}
