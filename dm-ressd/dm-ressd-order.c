// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of small writes that may pass each other: ascending ones share the
 * device's pages and units only while they come one after the other.
 *
 * A batch: small writes that ascend, of which the first part is logged and the
 * rest is direct (core/ressd-pattern.h).  Where the device is slow the first
 * part waits for records to be written, and the rest would pass it.  So a
 * direct write of a batch waits until the small writes that came before it, and
 * wait for a record, are in the log.  It waits for none that came later, nor
 * for the mover: as soon as the log is short of space, or covers are being
 * written, all go on.
 *
 * A lost trial of route adaptive: all small writes that came meanwhile have
 * waited, thousands of them while the kernel writes back, and go direct.  All
 * writes that come while they are sent queue up behind them, large ones, too:
 * else those that wait and those that come would reach the device in turn, two
 * ascending streams that last as long as the writer does.
 *
 * They are sent by a worker: the mover or the log's worker, which has freed
 * space, need not wait for the device.
 */
#include "dm-ressd-io.h"

static bool log_is_behind(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd->waiters.for_record && !list_empty(&ressd->waiters.space);
}

/* While any wait, the large writes that come have to take the lock. */
void ressd_order_tune(struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	WRITE_ONCE(ressd->locked_sectors, list_empty(&ressd->waiters.order) ?
		   ressd->options.small_write_sectors : U32_MAX);
}

static void add(struct ressd *ressd, struct ressd_bio *rb, u64 ticket)
{
	lockdep_assert_held(&ressd->lock);
	rb->ticket = ticket;
	list_add_tail(&rb->list, &ressd->waiters.order);
	ressd_order_tune(ressd);
}

bool ressd_order_takes(struct ressd *ressd, struct ressd_bio *rb,
		       const struct ressd_extent *e)
{
	struct ressd_waiters *waiters = &ressd->waiters;
	bool ordered = ressd->pattern.ordered;

	lockdep_assert_held(&ressd->lock);
	if (!e->whole || (list_empty(&waiters->order) ?
				  !log_is_behind(ressd) :
				  !ordered && !ressd_route_is_adaptive(ressd)))
		return false;
	/* Its blocks may be mapped by the time that it goes on. */
	ressd_set_blocks(rb, e);
	add(ressd, rb, waiters->came);
	return true;
}

void ressd_order_add(struct ressd *ressd, struct ressd_bio *rb)
{
	add(ressd, rb, 0);
}

/* The first one that need not wait any longer, or NULL. */
static struct ressd_bio *next_in_order(struct ressd *ressd)
{
	struct ressd_waiters *waiters = &ressd->waiters;
	struct ressd_bio *rb = list_first_entry_or_null(&waiters->order,
							struct ressd_bio, list);

	if (rb && log_is_behind(ressd) && waiters->left < rb->ticket)
		rb = NULL;
	return rb;
}

void ressd_order_changed(struct ressd *ressd)
{
	spin_lock(&ressd->lock);
	if (next_in_order(ressd))
		queue_work(ressd->workqueue, &ressd->waiters.work);
	spin_unlock(&ressd->lock);
}

/* Sends the first one; false: there is none. */
static bool send_next(struct ressd *ressd)
{
	struct ressd_bio *rb;
	LIST_HEAD(submit);
	LIST_HEAD(complete);

	spin_lock(&ressd->lock);
	rb = next_in_order(ressd);
	if (rb) {
		list_del(&rb->list);
		ressd_order_tune(ressd);
		ressd_go_on(rb, ressd_write_direct(ressd, ressd_bio_of(rb)),
			    &submit, &complete);
	}
	spin_unlock(&ressd->lock);
	ressd_send_on(&submit, &complete);
	return rb;
}

void ressd_order_worker(struct work_struct *work)
{
	struct ressd *ressd = container_of(work, struct ressd, waiters.work);

	while (send_next(ressd))
		cond_resched();
}
