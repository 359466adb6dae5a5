// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads: each is cut so that it lies in one place, in the log or at home, and
 * is sent there; or it is served from a record in RAM.
 */
#include <linux/blkdev.h>

#include "dm-ressd-io.h"

static void copy_to_bio(struct bio *bio, const void *from)
{
	struct bvec_iter iter;
	struct bio_vec bv;

	bio_for_each_segment(bv, bio, iter) {
		memcpy_to_bvec(&bv, from);
		from += bv.bv_len;
	}
}

/*
 * Blocks from @node on that lie side by side in the log, in one segment and one
 * record.
 */
static u32 log_run(const struct ressd *ressd, struct ressd_node *node, u32 max)
{
	const struct ressd_log *log = &ressd->log;
	u32 block = ressd_map_block(&log->map, node);
	u32 lbn = node->lbn, n = 1;

	lockdep_assert_held(&ressd->lock);
	while (n < max) {
		node = ressd_map_next(node);
		if (!node || node->lbn != lbn + n ||
		    !ressd_is_dirty(ressd, node) ||
		    ressd_map_block(&log->map, node) != block + n ||
		    ressd_geom_slot(&log->geom, block + n) !=
			    ressd_geom_slot(&log->geom, block))
			break;
		n++;
	}
	return n;
}

/*
 * The first dirty block, or the one before which the read is cut, for so many
 * are looked at under one hold of the lock; see TIME UNDER THE LOCK in
 * core/ressd-log.h.
 */
static struct ressd_node *first_dirty(const struct ressd *ressd, u32 first,
				      u32 last)
{
	struct ressd_node *node = ressd_map_first_from(&ressd->log.map, first);
	u32 looked = 0;

	lockdep_assert_held(&ressd->lock);
	while (node && node->lbn <= last && !ressd_is_dirty(ressd, node) &&
	       looked++ < RESSD_STEP_NODES)
		node = ressd_map_next(node);
	return node && node->lbn <= last ? node : NULL;
}

static sector_t first_sector(const struct ressd_node *node)
{
	return (sector_t)node->lbn * RESSD_BLOCK_SECTORS;
}

/* What is at home, up to @node, a block of the log; NULL: all. */
static void begin_home_read(struct ressd *ressd, struct bio *bio,
			    const struct ressd_extent *e,
			    const struct ressd_node *node)
{
	lockdep_assert_held(&ressd->lock);
	if (node)
		dm_accept_partial_bio(bio, first_sector(node) - e->sector);
	if (e->first < ressd->log.cover_blocks && !ressd->log.covered) {
		ressd_bio(bio)->flags |= RESSD_BIO_READ_HOME;
		atomic_inc(&ressd->cover.reads);
	}
}

/*
 * Blocks of the log from @node on.  SUBMITTED: served from RAM; REMAPPED: by
 * the reserved device.
 */
static int begin_log_read(struct ressd *ressd, struct bio *bio,
			  const struct ressd_extent *e, struct ressd_node *node)
{
	u32 block = ressd_map_block(&ressd->log.map, node);
	u32 run = log_run(ressd, node, e->last - e->first + 1);
	unsigned int offset = e->sector % RESSD_BLOCK_SECTORS;
	unsigned int sectors = run * RESSD_BLOCK_SECTORS - offset;
	struct ressd_bio *rb = ressd_bio(bio);
	const void *data;

	lockdep_assert_held(&ressd->lock);
	ressd->counters.log_reads++;
	if (sectors < e->sectors)
		dm_accept_partial_bio(bio, sectors);
	data = ressd_log_data(&ressd->log, block);
	if (data) {
		/*
		 * Under the lock: a write may overwrite the open record in
		 * place.
		 */
		ressd_reads_data(data, run);
		copy_to_bio(bio, data + (offset << SECTOR_SHIFT));
		rb->flags |= RESSD_BIO_PROVEN;
		return DM_MAPIO_SUBMITTED;
	}
	if (ressd_repair_is_unproven(&ressd->log, block + run - 1))
		return DM_MAPIO_KILL;
	rb->slot = ressd_geom_slot(&ressd->log.geom, block);
	rb->flags |= RESSD_BIO_READ_LOG;
	if (ressd_repair_is_proven(&ressd->log, block + run - 1))
		rb->flags |= RESSD_BIO_PROVEN;
	ressd_reader_begin(&ressd->readers[rb->slot]);
	bio->bi_iter.bi_sector = ressd_log_sector(ressd, block) + offset;
	return DM_MAPIO_REMAPPED;
}

/*
 * Sends a read that the log's head, or a run of the cover, would wait for.  In
 * the root's control group, as all other I/O of the log, for the limit of its
 * reader's on the disk may hold it up for minutes.  Not by dm, which would have
 * it in the group of the bio that it is of.
 */
static int send_as_root(struct bio *bio)
{
	bio_associate_blkg_from_css(bio, NULL);
	submit_bio_noacct(bio);
	return DM_MAPIO_SUBMITTED;
}

/* A read that may touch the log: as map. */
static noinline int map_locked(struct ressd *ressd, struct bio *bio)
{
	struct ressd_extent e = ressd_extent_of(ressd, bio);
	struct ressd_node *node;
	int ret;

	spin_lock(&ressd->lock);
	node = first_dirty(ressd, e.first, e.last);
	if (!node || node->lbn > e.first) {
		begin_home_read(ressd, bio, &e, node);
		spin_unlock(&ressd->lock);
		ressd_remap_normal(ressd, bio);
		return ressd_bio(bio)->flags & RESSD_BIO_READ_HOME ?
			       send_as_root(bio) : DM_MAPIO_REMAPPED;
	}
	ret = begin_log_read(ressd, bio, &e, node);
	spin_unlock(&ressd->lock);
	if (ret == DM_MAPIO_REMAPPED) {
		bio_set_dev(bio, ressd->reserved->bdev);
		return send_as_root(bio);
	}
	if (ret == DM_MAPIO_SUBMITTED)
		bio_endio(bio);
	return ret;
}

/*
 * See DOC: without the lock.  A read uses no more of its struct ressd_bio than
 * is set here.
 */
int ressd_map_read(struct ressd *ressd, struct bio *bio)
{
	struct ressd_bio *rb = ressd_bio(bio);
	struct ressd_extent e = ressd_extent_of(ressd, bio);
	bool may_be_logged;
	int known;

	this_cpu_inc(ressd->seen->reads);
	rb->flags = 0;
	may_be_logged = ressd_look(&ressd->errors.known_to_map,
				   &ressd->regions, e.first, e.last,
				   &known);
	rb->ticket = known;
	if (unlikely(may_be_logged || e.first < ressd->log.cover_blocks))
		return map_locked(ressd, bio);
	ressd_remap_normal(ressd, bio);
	return DM_MAPIO_REMAPPED;
}
