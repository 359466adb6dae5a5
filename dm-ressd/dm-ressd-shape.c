// SPDX-License-Identifier: GPL-2.0-only
/*
 * The normal path: reads and writes of the normal area are cut to what the
 * device takes best (core/ressd-split.h).  Called by the router and by reads,
 * when they have aimed a bio there.
 *
 * A bio is cut by dm_accept_partial_bio(): dm sends what is left as a bio of
 * its own, which is mapped like any other, so each piece takes the way that is
 * right for it.  Only the router's judgement by size must not look at what is
 * left of a large write, hence struct ressd_cuts.  There are several: before
 * the rest of one comes others may be cut, by another processor, or while its
 * writer waits because a policy holds as many as it can.
 */
#include <linux/blkdev.h>
#include <linux/mutex.h>

#include "dm-ressd-dispatch.h"

DEFINE_STATIC_KEY_FALSE(ressd_shape_key);

static DEFINE_MUTEX(key_mutex);		/* of struct ressd_shape, used */

void ressd_shape_init(struct ressd *ressd)
{
	spin_lock_init(&ressd->shape.lock);
	ressd_dispatch_init(&ressd->shape);
}

/*
 * A longer request than the device takes is cut once more below, wherever that
 * is.
 */
static void check_limit(const struct ressd *ressd, const char *key, u32 longest)
{
	u32 max = queue_max_sectors(bdev_get_queue(ressd->normal->bdev));

	if (longest > max)
		DMWARN("%s: %s is %u, but the device takes %u sectors at most and longer requests are cut again; use a smaller value, or raise max_sectors_kb of its queue",
		       ressd_name(ressd), key, longest, max);
}

/*
 * The key is set before the first bio that needs it when it ends, and until the
 * target is gone: the branches of a static key change one after the other.
 */
void ressd_shape_prepare(struct ressd *ressd,
			 const struct ressd_options *options)
{
	if (!options->split_read_sectors && !options->split_write_sectors &&
	    options->dispatch == RESSD_DISPATCH_NONE)
		return;
	check_limit(ressd, "split_read_sectors", options->split_read_sectors);
	check_limit(ressd, "split_write_sectors", options->split_write_sectors);
	mutex_lock(&key_mutex);
	if (!ressd->shape.used)
		static_branch_inc(&ressd_shape_key);
	ressd->shape.used = true;
	mutex_unlock(&key_mutex);
}

void ressd_shape_exit(struct ressd *ressd)
{
	ressd_dispatch_exit(&ressd->shape);
	if (ressd->shape.used)
		static_branch_dec(&ressd_shape_key);
}

void ressd_tune_shape(struct ressd *ressd)
{
	const struct ressd_options *options = &ressd->options;
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	shape->split = (struct ressd_split) {
		.longest = {
			[RESSD_READ] = options->split_read_sectors,
			[RESSD_WRITE] = options->split_write_sectors,
		},
		.align = options->align_sectors,
		.page = options->align_sectors ? options->align_sectors :
						 options->log_page_sectors,
		.start = get_start_sect(ressd->normal->bdev) +
			 ressd->table.normal_start,
	};
	ressd_queue_set(&shape->queue, &(struct ressd_queue_options) {
		.dispatch = options->dispatch,
		.split = shape->split,
		.bundle_sectors = options->bundle_sectors,
		.expire = options->pending_expire_ms * NSEC_PER_MSEC,
		.depth = options->dispatch_depth,
	});
	spin_unlock_irqrestore(&shape->lock, flags);
	/*
	 * What was held under other options is ready, and the timer is not set
	 * for what comes.
	 */
	cancel_delayed_work(&shape->timer);
	ressd_dispatch_release(ressd);
}

void ressd_shape_clear_stats(struct ressd *ressd)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	memset(shape->counters, 0, sizeof(shape->counters));
	shape->queue.joined = 0;
	shape->queue.expired = 0;
	shape->queue.most_held = 0;
	spin_unlock_irqrestore(&shape->lock, flags);
}

static void forget_cut(struct ressd_cuts *cuts, u32 nr)
{
	cuts->nr--;
	memmove(&cuts->cut[nr], &cuts->cut[nr + 1],
		(cuts->nr - nr) * sizeof(cuts->cut[0]));
}

static void note_cut(struct ressd_cuts *cuts, const struct ressd_extent *e)
{
	if (cuts->nr == ARRAY_SIZE(cuts->cut))
		forget_cut(cuts, 0);
	cuts->cut[cuts->nr++] = (struct ressd_note) {
		.sector = e->sector, .sectors = e->sectors,
	};
}

/*
 * The rest ends where the write did.  Where it begins is not known, for the
 * router may have cut the first piece once more.
 */
bool ressd_shape_takes_rest(struct ressd *ressd, const struct ressd_extent *e)
{
	struct ressd_cuts *cuts = &ressd->shape.cuts;
	u32 nr;

	lockdep_assert_held(&ressd->lock);
	for (nr = 0; nr < cuts->nr; nr++) {
		const struct ressd_note *cut = &cuts->cut[nr];

		if (e->sector > cut->sector &&
		    e->sector + e->sectors == cut->sector + cut->sectors) {
			forget_cut(cuts, nr);
			return true;
		}
	}
	return false;
}

void ressd_shape_cut_write(struct ressd *ressd, struct bio *bio,
			   struct ressd_extent *e)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;
	u32 first;

	lockdep_assert_held(&ressd->lock);
	spin_lock_irqsave(&shape->lock, flags);
	first = ressd_split_first(&shape->split, RESSD_WRITE, e->sector,
				  e->sectors);
	spin_unlock_irqrestore(&shape->lock, flags);
	if (first == e->sectors)
		return;
	note_cut(&shape->cuts, e);
	dm_accept_partial_bio(bio, first);
	*e = ressd_extent_of(ressd, bio);
}

int ressd_shape_send_read(struct ressd *ressd, struct bio *bio)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;
	u32 first;
	int ret;

	spin_lock_irqsave(&shape->lock, flags);
	first = ressd_split_first(&shape->split, RESSD_READ,
				  ressd_shape_sector(ressd, bio),
				  bio_sectors(bio));
	if (first < bio_sectors(bio))
		dm_accept_partial_bio(bio, first);
	ret = ressd_dispatch(ressd, bio);
	spin_unlock_irqrestore(&shape->lock, flags);
	return ret;
}

int ressd_shape_send_write(struct ressd *ressd, struct bio *bio)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&shape->lock, flags);
	ret = ressd_dispatch(ressd, bio);
	spin_unlock_irqrestore(&shape->lock, flags);
	return ret;
}
