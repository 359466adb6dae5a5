/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Geometry of the reserved area: which blocks belong to which segment of the
 * ring.
 *
 * Units: "log block" is a 4 KiB block counted from the start of the reserved
 * area.  Segment slot i spans blocks [i * segment_blocks, (i + 1) *
 * segment_blocks), so that a segment coincides with a clustered block of the
 * device when the reserved area starts on one; the first slot loses block 0 and
 * the last one its final block to the superblock copies.
 *
 * The last summary_blocks blocks of each slot are for the segment's summary,
 * never for records.
 *
 * A segment has a sequence number from 1 upwards and always lives in slot (seq
 * % nr_segments).
 */
#ifndef RESSD_GEOM_H
#define RESSD_GEOM_H

#include "ressd-format.h"

#define RESSD_MIN_SEGMENTS		4
#define RESSD_MIN_SEGMENT_BLOCKS	16U	/* 64 KiB */
#define RESSD_MAX_SEGMENT_BLOCKS	65536U	/* 256 MiB */
#define RESSD_MAX_RECORD_BLOCKS		128U	/* 512 KiB, with its header */
#define RESSD_MAX_RESERVED_BLOCKS	0x10000000U	/* 1 TiB: 5 GiB map */

struct ressd_geom {
	u32 nr_blocks;		/* whole reserved area */
	u32 segment_blocks;
	u32 record_blocks;	/* largest record, header included */
	u32 nr_segments;
	u32 summary_blocks;	/* at the end of each slot */
};

/* Segment size, in sectors, used when the table names none. */
u32 ressd_geom_default_segment(u64 reserved_sectors);

/*
 * Fills @geom.  Returns 0 or -EINVAL with the reason in @error (a sentence,
 * @size bytes).  @segment_sectors of 0 chooses the default.
 */
int ressd_geom_init(struct ressd_geom *geom, u64 reserved_sectors,
		    u32 segment_sectors, char *error, size_t size);

static inline u32 ressd_geom_slot(const struct ressd_geom *geom, u32 block)
{
	return block / geom->segment_blocks;
}

u32 ressd_geom_slot_of_seq(const struct ressd_geom *geom, u64 seq);

/*
 * First block of a slot that records may use, and the first block after those:
 * there the summary begins, which is summary_blocks long.
 */
u32 ressd_geom_slot_start(const struct ressd_geom *geom, u32 slot);
u32 ressd_geom_slot_end(const struct ressd_geom *geom, u32 slot);

/*
 * Blocks that records have in the @nr slots, at most all, from @slot on and
 * round the end: the first slot has a superblock, and the last one may be
 * short.
 */
u32 ressd_geom_slots_blocks(const struct ressd_geom *geom, u32 slot, u32 nr);

/* --- covers: see ressd-cover.h -------------------------------------------- */

/*
 * How many blocks a new area with this geometry covers: as many as libblkid
 * looks at, or none.
 */
u32 ressd_cover_default(const struct ressd_geom *geom, u64 normal_sectors);

/*
 * Segments that a log with @nr covered blocks keeps in reserve for carrying
 * them.
 */
u32 ressd_cover_reserve(const struct ressd_geom *geom, u32 nr);

/* Could a log of this geometry carry @nr covered blocks? */
bool ressd_cover_fits(const struct ressd_geom *geom, u32 nr);

#endif
