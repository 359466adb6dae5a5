/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bio in the hands of dm-ressd: its private data, and the few functions that
 * the files which handle bios share.
 */
#ifndef DM_RESSD_BIO_H
#define DM_RESSD_BIO_H

#include <linux/bio.h>

#include "dm-ressd.h"

/* Per-bio data. */
enum ressd_bio_flags {
	/* Holds readers[slot]. */
	RESSD_BIO_READ_LOG = 1,
	/* In flight (flying) until its end is decided. */
	RESSD_BIO_DIRECT = 2,
	/* Tracked: kill first .. first + nr - 1 when done. */
	RESSD_BIO_KILL = 4,
	/* FUA: a sync may have to complete before the bio does. */
	RESSD_BIO_SYNC = 8,
	/* A piece of one block, to be merged with the log's copy. */
	RESSD_BIO_MERGE = 16,
	/* If it fails, a flush may have failed. */
	RESSD_BIO_FLUSHES = 32,
	/* A read of what no failed flush can take. */
	RESSD_BIO_PROVEN = 64,
	/* A piece of one block that waits for the mover's batch. */
	RESSD_BIO_PIECE = 128,
	/* Route adaptive: what it costs is measured. */
	RESSD_BIO_TIMED = 256,
	/* Route adaptive: counted in meter.small_in_flight. */
	RESSD_BIO_SMALL = 512,
	/* Counted in shape.in_flight. */
	RESSD_BIO_COUNTED = 1024,
	/* Must be logged, and waits for room. */
	RESSD_BIO_COVERED = 2048,
	/* Counted in cover.reads. */
	RESSD_BIO_READ_HOME = 4096,
};

struct ressd_bio {
	struct list_head list;	/* of the list that it waits on, or tracked */
	struct list_head done;	/* on ressd->done */
	/*
	 * Sync ticket or record number waited for; on waiters.order: how far
	 * waiters.left must be; a read: errors.known_to_map when it came; a
	 * flush that was sent down: errors.known_to_core.
	 */
	u64 ticket;
	u32 first, nr;		/* whole blocks that it covers */
	u32 accepted;		/* of these, already in the log */
	u32 slot;	/* READ_LOG; a flush: errors.refused_flushes before */
	u16 flags;
	blk_status_t status;
	struct ressd_flying flying;	/* of DIRECT */
};

static inline struct ressd_bio *ressd_bio(struct bio *bio)
{
	return dm_per_bio_data(bio, sizeof(struct ressd_bio));
}

static inline struct bio *ressd_bio_of(struct ressd_bio *rb)
{
	return dm_bio_from_per_bio_data(rb, sizeof(struct ressd_bio));
}

/*
 * What a dispatch policy needs of a bio: in front of struct ressd_bio, where
 * nobody has to initialise it for a bio that no policy sees.
 */
struct ressd_held {
	struct ressd_request request;
	struct ressd *ressd;
};

#define RESSD_PER_BIO_SIZE \
	(sizeof(struct ressd_held) + sizeof(struct ressd_bio))

static inline struct ressd_held *ressd_held(struct bio *bio)
{
	return dm_per_bio_data(bio, RESSD_PER_BIO_SIZE);
}

static inline struct bio *ressd_held_bio(struct ressd_request *request)
{
	struct ressd_held *held =
		container_of(request, struct ressd_held, request);

	return dm_bio_from_per_bio_data(held, RESSD_PER_BIO_SIZE);
}

/* One write or discard in 4 KiB terms. */
struct ressd_extent {
	sector_t sector;		/* in the target */
	unsigned int sectors;
	u32 first, last;		/* blocks touched */
	bool whole;			/* of whole blocks only */
};

static inline struct ressd_extent ressd_extent_of(struct ressd *ressd,
						  const struct bio *bio)
{
	sector_t sector = dm_target_offset(ressd->ti, bio->bi_iter.bi_sector);
	unsigned int sectors = bio_sectors(bio);

	return (struct ressd_extent) {
		.sector = sector,
		.sectors = sectors,
		.first = sector / RESSD_BLOCK_SECTORS,
		.last = (sector + sectors - 1) / RESSD_BLOCK_SECTORS,
		.whole = !((sector | sectors) % RESSD_BLOCK_SECTORS),
	};
}

/* Aims the bio at its place in the normal area. */
static inline void ressd_remap_normal(struct ressd *ressd, struct bio *bio)
{
	bio->bi_iter.bi_sector = ressd->table.normal_start +
		dm_target_offset(ressd->ti, bio->bi_iter.bi_sector);
	bio_set_dev(bio, ressd->normal->bdev);
}

static inline bool ressd_is_dirty(const struct ressd *ressd,
				  const struct ressd_node *node)
{
	return ressd_map_is_dirty(&ressd->log.map, node);
}

#endif
