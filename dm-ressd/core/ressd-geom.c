// SPDX-License-Identifier: GPL-2.0-only
/* Geometry of the reserved area; see ressd-geom.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include "ressd-geom.h"

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
