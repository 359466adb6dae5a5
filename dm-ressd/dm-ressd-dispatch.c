// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order in which requests are sent to the normal area (core/ressd-queue.h):
 * bios that a policy holds, and how they go on.  Called where a bio is aimed at
 * the normal area.
 *
 * For all others a held bio is one that the device has: it counts as a direct
 * write in flight, the mover waits for it, and a flush says nothing about it.
 * So nothing in the log's protocol depends on what a policy does.
 *
 * A bio that need not wait passes in its writer's context.  All that was held
 * is sent by one worker, in the order of the queue, and while it sends nothing
 * passes: so requests that overlap reach the device in their order.  The log's
 * I/O and the mover's, reads of the log and flushes do not come here.
 *
 * What was joined goes as one bio of the target's own.  If there is none in
 * reserve its parts go one by one.  A joined read that fails is tried again
 * part by part, so that an unreadable sector fails only the bio that reads it;
 * a write is not, for a newer one may have been sent since.
 */
#include <linux/blk-cgroup.h>
#include <linux/blk-crypto.h>
#include <linux/blk-integrity.h>
#include <linux/blkdev.h>
#include <linux/ktime.h>

#include "dm-ressd-dispatch.h"

/* Is there an order of anything at all? */
static bool is_idle(const struct ressd_shape *shape)
{
	lockdep_assert_held(&shape->lock);
	return shape->queue.options.dispatch == RESSD_DISPATCH_NONE &&
	       !shape->queue.nr_held && !shape->sending;
}

static void count_in_flight(struct ressd_shape *shape, struct bio *bio)
{
	lockdep_assert_held(&shape->lock);
	shape->in_flight++;
	ressd_bio(bio)->flags |= RESSD_BIO_COUNTED;
}

static enum ressd_direction direction_of(struct bio *bio)
{
	return op_is_write(bio_op(bio)) ? RESSD_WRITE : RESSD_READ;
}

/*
 * A bio goes to the device as it is: counts it, and marks it if it has to stay
 * alone.
 */
static void mark(struct ressd *ressd, struct bio *bio)
{
	enum ressd_direction direction = direction_of(bio);
	struct ressd_shape *shape = &ressd->shape;
	u64 sector = ressd_shape_sector(ressd, bio);
	u32 sectors = bio_sectors(bio);

	lockdep_assert_held(&shape->lock);
	if (!ressd_split_is_on(&shape->split) || bio_op(bio) == REQ_OP_DISCARD)
		return;
	if (ressd_split_is_alone(&shape->split, direction, sector, sectors))
		bio->bi_opf |= REQ_NOMERGE;
	ressd_split_count(&shape->split, direction, sector, sectors,
			  &shape->counters[direction]);
}

/* --- a bio comes ---------------------------------------------------------- */

/* Segments of memory, or more than can be joined. */
static u32 segments_of(struct bio *bio)
{
	struct bvec_iter iter;
	struct bio_vec bv;
	u32 nr = 0;

	/* A discard has a length, but no memory. */
	if (!bio_has_data(bio) || bio_integrity(bio) || bio_has_crypt_ctx(bio))
		return RESSD_MAX_SEGMENTS + 1;
	bio_for_each_bvec(bv, bio, iter)
		nr++;
	return nr;
}

static struct ressd_request *describe(struct ressd *ressd, struct bio *bio)
{
	struct ressd_held *held = ressd_held(bio);

	held->ressd = ressd;
	held->request = (struct ressd_request){
		.sector = ressd_shape_sector(ressd, bio),
		.sectors = bio_sectors(bio),
		.direction = direction_of(bio),
		.kind = (u64)bio->bi_ioprio << 32 | (__force u32)bio->bi_opf,
		.owner = bio_blkcg_css(bio),
		.segments = segments_of(bio),
	};
	return &held->request;
}

/* Has the worker look at the oldest request when it has waited long enough. */
static void set_timer(struct ressd *ressd)
{
	struct ressd_shape *shape = &ressd->shape;
	u64 deadline = ressd_queue_deadline(&shape->queue, shape->in_flight);
	unsigned long delay = 0;
	u64 now;

	lockdep_assert_held(&shape->lock);
	if (!deadline)
		return;
	now = ktime_get_ns();
	if (deadline > now)
		delay = nsecs_to_jiffies(deadline - now) + 1;
	/* If it is set already it is for an older one. */
	queue_delayed_work(ressd->workqueue, &shape->timer, delay);
}

/* Is it @request's turn?  If it is another one's the worker is called. */
static bool is_next(struct ressd *ressd, struct ressd_request *request)
{
	struct ressd_shape *shape = &ressd->shape;
	struct ressd_request *leader;

	lockdep_assert_held(&shape->lock);
	leader = ressd_queue_next(&shape->queue, ktime_get_ns(),
				  shape->in_flight);
	if (!leader)
		return false;
	if (leader == request && ressd_request_is_single(leader))
		return true;
	ressd_queue_put_back(&shape->queue, leader);
	queue_work(ressd->workqueue, &shape->work);
	return false;
}

int ressd_dispatch(struct ressd *ressd, struct bio *bio)
{
	struct ressd_shape *shape = &ressd->shape;
	struct ressd_request *request;
	bool urgent;

	lockdep_assert_held(&shape->lock);
	if (is_idle(shape)) {
		mark(ressd, bio);
		return DM_MAPIO_REMAPPED;
	}
	request = describe(ressd, bio);
	urgent = bio->bi_opf & REQ_FUA || bio_op(bio) == REQ_OP_DISCARD ||
		 shape->suspended;
	if (urgent && !shape->sending &&
	    ressd_queue_may_pass(&shape->queue, request)) {
		mark(ressd, bio);
		return DM_MAPIO_REMAPPED;
	}
	ressd_queue_add(&shape->queue, request, ktime_get_ns(), urgent);
	if (!shape->sending && is_next(ressd, request)) {
		count_in_flight(shape, bio);
		mark(ressd, bio);
		return DM_MAPIO_REMAPPED;
	}
	set_timer(ressd);
	return DM_MAPIO_SUBMITTED;
}

static bool is_crowded(const struct ressd_shape *shape)
{
	/*
	 * Without the lock, whose holders change it by plain writes: a few bios
	 * more than the limit do no harm, and who makes space wakes the waiters
	 * after that.
	 */
	return data_race(READ_ONCE(shape->queue.nr_held)) >= RESSD_MAX_HELD;
}

void ressd_dispatch_throttle(struct ressd *ressd)
{
	struct ressd_shape *shape = &ressd->shape;

	if (is_crowded(shape))
		wait_event(shape->wait, !is_crowded(shape));
}

/* --- held bios are sent --------------------------------------------------- */

void ressd_dispatch_ended(struct ressd *ressd)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	shape->in_flight--;
	if (shape->queue.nr_held)
		queue_work(ressd->workqueue, &shape->work);
	spin_unlock_irqrestore(&shape->lock, flags);
}

/* The parts of a joined read go on alone. */
static void send_apart(struct ressd *ressd, struct list_head *members)
{
	struct ressd_shape *shape = &ressd->shape;
	struct ressd_request *request, *next;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	list_for_each_entry_safe(request, next, members, member)
		ressd_queue_add(&shape->queue, request, ktime_get_ns(), true);
	queue_work(ressd->workqueue, &shape->work);
	spin_unlock_irqrestore(&shape->lock, flags);
}

static void joined_ended(struct bio *joined)
{
	struct ressd_held *held = joined->bi_private;
	struct ressd *ressd = held->ressd;
	struct ressd_request *request, *next;
	blk_status_t status = joined->bi_status;
	bool again = status && bio_op(joined) == REQ_OP_READ;
	LIST_HEAD(members);

	list_splice_init(&held->request.members, &members);
	bio_put(joined);
	/*
	 * First of all: once the last of its bios has ended the target may be
	 * gone.
	 */
	ressd_dispatch_ended(ressd);
	if (again) {
		send_apart(ressd, &members);
		return;
	}
	list_for_each_entry_safe(request, next, &members, member) {
		struct bio *bio = ressd_held_bio(request);

		bio->bi_status = status;
		bio_endio(bio);
	}
}

/* One bio for the memory of all, or NULL: there is none in reserve. */
static struct bio *join(struct ressd *ressd, struct ressd_request *leader)
{
	struct bio *first =
		ressd_held_bio(list_first_entry(&leader->members,
						struct ressd_request, member));
	struct ressd_request *request;
	struct bio *joined;

	/* It cannot be polled: the senders poll their own bios. */
	joined = bio_alloc_bioset(first->bi_bdev, leader->total_segments,
				  (first->bi_opf & ~REQ_POLLED) | REQ_NOMERGE,
				  GFP_NOWAIT, &ressd->bios);
	if (!joined)
		return NULL;
	bio_clone_blkg_association(joined, first);
	joined->bi_ioprio = first->bi_ioprio;
	joined->bi_iter.bi_sector = first->bi_iter.bi_sector;
	list_for_each_entry(request, &leader->members, member) {
		struct bio *bio = ressd_held_bio(request);
		struct bvec_iter iter;
		struct bio_vec bv;

		bio_for_each_bvec(bv, bio, iter)
			__bio_add_page(joined, bv.bv_page, bv.bv_len,
				       bv.bv_offset);
	}
	joined->bi_private = container_of(leader, struct ressd_held, request);
	joined->bi_end_io = joined_ended;
	return joined;
}

static void send_one(struct ressd *ressd, struct bio *bio, bool counted)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	/* The place in flight that was kept for it, or one more. */
	if (counted)
		shape->in_flight--;
	count_in_flight(shape, bio);
	mark(ressd, bio);
	spin_unlock_irqrestore(&shape->lock, flags);
	dm_submit_bio_remap(bio, NULL);
}

static void send_joined(struct ressd *ressd, struct ressd_request *leader,
			struct bio *joined)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	if (ressd_split_is_on(&shape->split))
		ressd_split_count(&shape->split, leader->direction,
				  leader->first, leader->total,
				  &shape->counters[leader->direction]);
	spin_unlock_irqrestore(&shape->lock, flags);
	submit_bio_noacct(joined);
}

/* A group that counts as one request in flight. */
static void send_group(struct ressd *ressd, struct ressd_request *leader)
{
	struct bio *joined =
		ressd_request_is_single(leader) ? NULL : join(ressd, leader);
	struct ressd_request *request, *next;
	LIST_HEAD(members);
	bool counted = true;

	if (joined) {
		send_joined(ressd, leader, joined);
		return;
	}
	/* The leader may be gone when the first of them was sent. */
	list_splice_init(&leader->members, &members);
	list_for_each_entry_safe(request, next, &members, member) {
		send_one(ressd, ressd_held_bio(request), counted);
		counted = false;
	}
}

static void collect(struct ressd_shape *shape, struct list_head *groups)
{
	struct ressd_request *leader;

	lockdep_assert_held(&shape->lock);
	while ((leader = ressd_queue_next(&shape->queue, ktime_get_ns(),
					  shape->in_flight))) {
		shape->in_flight++;
		list_add_tail(&leader->list, groups);
	}
}

static void send_groups(struct ressd *ressd, struct list_head *groups)
{
	struct ressd_request *leader, *next;
	struct blk_plug plug;

	blk_start_plug(&plug);
	list_for_each_entry_safe(leader, next, groups, list)
		send_group(ressd, leader);
	blk_finish_plug(&plug);
	INIT_LIST_HEAD(groups);
}

static void send_held(struct ressd *ressd)
{
	struct ressd_shape *shape = &ressd->shape;
	LIST_HEAD(groups);

	spin_lock_irq(&shape->lock);
	/*
	 * The timer's and the other worker may run at once; the first one sees
	 * what came since.
	 */
	if (shape->sending) {
		spin_unlock_irq(&shape->lock);
		return;
	}
	shape->sending = true;
	for (collect(shape, &groups); !list_empty(&groups);
	     collect(shape, &groups)) {
		spin_unlock_irq(&shape->lock);
		wake_up(&shape->wait);
		send_groups(ressd, &groups);
		/* Whoever comes meanwhile leaves more to be sent here. */
		cond_resched();
		spin_lock_irq(&shape->lock);
	}
	shape->sending = false;
	set_timer(ressd);
	spin_unlock_irq(&shape->lock);
}

static void dispatch_worker(struct work_struct *work)
{
	send_held(container_of(work, struct ressd, shape.work));
}

static void dispatch_timer(struct work_struct *work)
{
	send_held(container_of(to_delayed_work(work), struct ressd,
			       shape.timer));
}

/* --- life ----------------------------------------------------------------- */

void ressd_dispatch_init(struct ressd_shape *shape)
{
	ressd_queue_init(&shape->queue,
			 &(struct ressd_queue_options){ .depth = 1 });
	INIT_WORK(&shape->work, dispatch_worker);
	INIT_DELAYED_WORK(&shape->timer, dispatch_timer);
	init_waitqueue_head(&shape->wait);
}

void ressd_dispatch_exit(struct ressd_shape *shape)
{
	cancel_delayed_work_sync(&shape->timer);
	cancel_work_sync(&shape->work);
}

void ressd_dispatch_release(struct ressd *ressd)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	ressd_queue_release(&shape->queue);
	if (shape->queue.nr_held)
		queue_work(ressd->workqueue, &shape->work);
	spin_unlock_irqrestore(&shape->lock, flags);
}

void ressd_dispatch_suspend(struct ressd *ressd, bool suspended)
{
	struct ressd_shape *shape = &ressd->shape;
	unsigned long flags;

	spin_lock_irqsave(&shape->lock, flags);
	shape->suspended = suspended;
	spin_unlock_irqrestore(&shape->lock, flags);
	ressd_dispatch_release(ressd);
}
