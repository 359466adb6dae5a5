// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pieces of a block: a write of less than 4 KiB to a block whose newest version
 * is in the log is merged with that version, and the whole goes into the log
 * again.
 */
#include <linux/blkdev.h>

#include "dm-ressd-io.h"

/*
 * Reads the log's copy of a dirty block into memory.merge; called and left with
 * the lock held, which is given up while reading.  -EAGAIN: the block changed
 * meanwhile, look again.
 */
static int read_for_merge(struct ressd *ressd, struct ressd_node *node)
{
	u32 block = ressd_map_block(&ressd->log.map, node);
	u32 slot = ressd_geom_slot(&ressd->log.geom, block);
	const void *data = ressd_log_data(&ressd->log, block);
	u32 lbn = node->lbn;
	int ret;

	lockdep_assert_held(&ressd->lock);
	if (data) {
		ressd_reads_data(data, 1);
		memcpy(ressd->memory.merge, data, RESSD_BLOCK_SIZE);
		return 0;
	}
	ressd_reader_begin(&ressd->readers[slot]);
	spin_unlock(&ressd->lock);
	ret = ressd_log_rw(ressd, REQ_OP_READ, block, 1, ressd->memory.merge);
	spin_lock(&ressd->lock);
	ressd_put_reader(ressd, slot);
	if (ret)
		return ret;
	if (ressd_map_find(&ressd->log.map, lbn) != node ||
	    !ressd_is_dirty(ressd, node))
		return -EAGAIN;
	if (ressd_crc(ressd->memory.merge, RESSD_BLOCK_SIZE) != node->crc)
		return -EILSEQ;
	return 0;
}

/* False: the log has no copy any more that the piece is to be merged with. */
static bool read_copy(struct ressd *ressd, u32 lbn, int *ret)
{
	struct ressd_node *node;

	lockdep_assert_held(&ressd->lock);
	do {
		node = ressd_map_find(&ressd->log.map, lbn);
		if (!node || !ressd_is_dirty(ressd, node) ||
		    ressd_cover_holds(ressd, lbn, 1))
			return false;
		*ret = read_for_merge(ressd, node);
	} while (*ret == -EAGAIN);
	return true;
}

/* The piece over the old contents, into the log; 0, or why it is refused. */
static int accept_merged(struct ressd *ressd, struct bio *bio, bool *complete)
{
	struct ressd_extent e = ressd_extent_of(ressd, bio);
	struct ressd_bio *rb = ressd_bio(bio);
	struct ressd_place place;
	int ret = ressd_log_accept(&ressd->log, rb->first, &place);

	lockdep_assert_held(&ressd->lock);
	if (ret)
		return ret;
	ressd_copy_from_bio(bio, 0,
			    ressd->memory.merge +
				    ((e.sector % RESSD_BLOCK_SECTORS)
				     << SECTOR_SHIFT),
			    e.sectors << SECTOR_SHIFT);
	ressd_writes_data(place.data);
	memcpy(place.data, ressd->memory.merge, RESSD_BLOCK_SIZE);
	rb->ticket = place.seq;
	*complete = ressd_finish_logged(ressd, bio);
	return 0;
}

static void merge_piece(struct ressd *ressd, struct ressd_bio *rb)
{
	struct bio *bio = ressd_bio_of(rb);
	bool complete = false;
	int ret;

	spin_lock(&ressd->lock);
	if (!read_copy(ressd, rb->first, &ret)) {
		ret = ressd_write_piece(ressd, bio, rb->first);
		spin_unlock(&ressd->lock);
		if (ret == DM_MAPIO_REMAPPED)
			dm_submit_bio_remap(bio, NULL);
		else if (ret == DM_MAPIO_KILL)
			bio_io_error(bio);
		return;
	}
	if (!ret)
		ret = accept_merged(ressd, bio, &complete);
	if (ret == -EAGAIN ||
	    (ret == -ENOSPC && !ressd_room_is_lost(ressd, 0, 0))) {
		/*
		 * The block is in the log only, so this waits even with on_full
		 * bypass.
		 */
		ressd_wait_for_space(ressd, rb);
	} else if (ret) {
		ressd->counters.errors++;
		bio->bi_status = BLK_STS_IOERR;
		complete = true;
	}
	spin_unlock(&ressd->lock);
	if (complete)
		bio_endio(bio);
}

void ressd_merge_pieces(struct ressd *ressd)
{
	struct ressd_bio *rb, *next;
	LIST_HEAD(pieces);

	spin_lock(&ressd->lock);
	list_splice_init(&ressd->waiters.merge, &pieces);
	spin_unlock(&ressd->lock);
	list_for_each_entry_safe(rb, next, &pieces, list) {
		list_del(&rb->list);
		merge_piece(ressd, rb);
	}
}
