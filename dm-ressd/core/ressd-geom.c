// SPDX-License-Identifier: GPL-2.0-only
/* Geometry of the reserved area; see ressd-geom.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include "ressd-geom.h"

/*
 * libblkid looks for nearly everything in the first 68 KiB: btrfs and reiserfs
 * at 64 KiB are the last.
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

/*
 * About sixteen segments, 4 MiB at most: the clustered block of common low-end
 * drives.
 */
u32 ressd_geom_default_segment(u64 reserved_sectors)
{
	u32 sectors = 8192;

	while (sectors > RESSD_MIN_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS &&
	       (u64)sectors * 16 > reserved_sectors)
		sectors /= 2;
	return sectors;
}

/*
 * For each block of the segment a MAP and an UNMAP, and the UNMAPs of one
 * record more.
 */
static u32 summary_blocks(u32 segment_blocks)
{
	u32 bytes =
		sizeof(struct ressd_summary) +
		segment_blocks * (sizeof(struct ressd_entry) + sizeof(__le32)) +
		RESSD_RECORD_ENTRIES * sizeof(__le32);

	return DIV_ROUND_UP(bytes, RESSD_BLOCK_SIZE);
}

int ressd_geom_init(struct ressd_geom *geom, u64 reserved_sectors,
		    u32 segment_sectors, char *error, size_t size)
{
	const u32 min = RESSD_MIN_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS;
	const u64 max = (u64)RESSD_MAX_SEGMENT_BLOCKS * RESSD_BLOCK_SECTORS;
	u32 last;

	if (!segment_sectors)
		segment_sectors = ressd_geom_default_segment(reserved_sectors);
	if (segment_sectors % RESSD_BLOCK_SECTORS || segment_sectors < min ||
	    segment_sectors > max) {
		snprintf(error, size,
			 "segment_sectors is %u, but must be a multiple of 8 between %u and %llu",
			 segment_sectors, min, (unsigned long long)max);
		return -EINVAL;
	}
	if (reserved_sectors % RESSD_BLOCK_SECTORS ||
	    reserved_sectors < (u64)segment_sectors * RESSD_MIN_SEGMENTS) {
		snprintf(error, size,
			 "reserved sectors is %llu, but must be a multiple of 8 and hold at least %u segments of %u sectors",
			 (unsigned long long)reserved_sectors,
			 RESSD_MIN_SEGMENTS, segment_sectors);
		return -EINVAL;
	}
	if (reserved_sectors / RESSD_BLOCK_SECTORS >
	    RESSD_MAX_RESERVED_BLOCKS) {
		snprintf(error, size,
			 "reserved sectors is %llu, but a reserved area of more than %u blocks of 4 KiB needs too much memory; choose a smaller one",
			 (unsigned long long)reserved_sectors,
			 RESSD_MAX_RESERVED_BLOCKS);
		return -EINVAL;
	}

	geom->nr_blocks = reserved_sectors / RESSD_BLOCK_SECTORS;
	geom->segment_blocks = segment_sectors / RESSD_BLOCK_SECTORS;
	geom->record_blocks =
		min_t(u32, RESSD_MAX_RECORD_BLOCKS, geom->segment_blocks);
	geom->summary_blocks = summary_blocks(geom->segment_blocks);
	geom->nr_segments = geom->nr_blocks / geom->segment_blocks;

	/*
	 * A remainder too short for a useful segment is left unused; a longer
	 * one is the last.
	 */
	last = geom->nr_blocks % geom->segment_blocks;
	if (last > RESSD_MIN_SEGMENT_BLOCKS + geom->summary_blocks)
		geom->nr_segments++;
	return 0;
}

u32 ressd_geom_slot_of_seq(const struct ressd_geom *geom, u64 seq)
{
	u32 slot;

	div_u64_rem(seq, geom->nr_segments, &slot);
	return slot;
}

u32 ressd_geom_slot_start(const struct ressd_geom *geom, u32 slot)
{
	return slot ? slot * geom->segment_blocks : 1;
}

u32 ressd_geom_slot_end(const struct ressd_geom *geom, u32 slot)
{
	u64 end = (u64)(slot + 1) * geom->segment_blocks;

	return min_t(u64, end, geom->nr_blocks - 1) - geom->summary_blocks;
}

u32 ressd_geom_slots_blocks(const struct ressd_geom *geom, u32 slot, u32 nr)
{
	u32 blocks = nr * (geom->segment_blocks - geom->summary_blocks);
	u32 last = geom->nr_segments - 1;

	if (slot + nr > last)
		blocks -= last * geom->segment_blocks + geom->segment_blocks -
			  geom->summary_blocks -
			  ressd_geom_slot_end(geom, last);
	if ((!slot && nr) || slot + nr > geom->nr_segments)
		blocks -= ressd_geom_slot_start(geom, 0);
	return blocks;
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
