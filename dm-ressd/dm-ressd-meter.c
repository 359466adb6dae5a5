// SPDX-License-Identifier: GPL-2.0-only
/*
 * Route adaptive: measures for core/ressd-route.h what each route costs.
 *
 * The log's I/Os and the mover's batches are timed one by one.  Small writes
 * that go direct, and flushes after them, may be many at a time: what counts is
 * the time in which any is in flight.  They end in interrupts, so the meter
 * adds that up, and passes it to core before the next decision.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "dm-ressd-base.h"

/* Adds what has passed since the last call. */
static void read_clock(struct ressd_meter *meter)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&meter->lock);
	if (meter->in_flight)
		meter->ns += now - meter->since;
	meter->since = now;
}

void ressd_meter_start(struct ressd *ressd, struct ressd_bio *rb, u32 blocks)
{
	struct ressd_meter *meter = &ressd->meter;
	unsigned long flags;

	rb->flags |= RESSD_BIO_TIMED;
	rb->nr = blocks;
	spin_lock_irqsave(&meter->lock, flags);
	read_clock(meter);
	meter->in_flight++;
	spin_unlock_irqrestore(&meter->lock, flags);
}

void ressd_meter_stop(struct ressd *ressd, u32 blocks)
{
	struct ressd_meter *meter = &ressd->meter;
	unsigned long flags;

	spin_lock_irqsave(&meter->lock, flags);
	read_clock(meter);
	meter->in_flight--;
	meter->blocks += blocks;
	spin_unlock_irqrestore(&meter->lock, flags);
}

static void pass_on_meter(struct ressd *ressd)
{
	struct ressd_meter *meter = &ressd->meter;
	unsigned long flags;
	u32 blocks;
	u64 ns;

	lockdep_assert_held(&ressd->lock);
	spin_lock_irqsave(&meter->lock, flags);
	ns = meter->ns;
	blocks = meter->blocks;
	meter->ns = 0;
	meter->blocks = 0;
	spin_unlock_irqrestore(&meter->lock, flags);
	if (ns)
		ressd_route_direct_done(&ressd->route, ns, blocks);
}

/*
 * Small writes go direct from now on, and each sync after one that replaces a
 * logged block would have to write a record, even if that block is home.  So a
 * log that holds nothing else is drained, that is emptied.
 */
static void drain_left_log(struct ressd *ressd, enum ressd_route_phase before)
{
	lockdep_assert_held(&ressd->lock);
	if (ressd->route.phase != RESSD_ROUTE_DIRECT ||
	    before == RESSD_ROUTE_DIRECT || before == RESSD_ROUTE_LOG ||
	    !ressd->log.map.nr_mapped || ressd_log_nr_movable(&ressd->log) ||
	    ressd->suspending)
		return;
	ressd_begin_drain(ressd);
}

bool ressd_route_to_log(struct ressd *ressd, const struct bio *bio,
			struct ressd_bio *rb, u32 nr)
{
	enum ressd_route_phase phase = ressd->route.phase;
	u32 in_flight;
	bool log;

	lockdep_assert_held(&ressd->lock);
	if (!ressd_route_is_adaptive(ressd))
		return true;
	in_flight = atomic_fetch_inc(&ressd->meter.small_in_flight);
	rb->flags |= RESSD_BIO_SMALL;
	if (ressd_route_times_direct(&ressd->route))
		pass_on_meter(ressd);
	/* The clock is for peeks and samples: jiffies will do. */
	log = ressd_route_small(&ressd->route, nr, in_flight,
				jiffies64_to_nsecs(get_jiffies_64()));
	if (bio->bi_opf & REQ_FUA)
		ressd_route_flush(&ressd->route);
	if (ressd->route.phase == phase)
		return log;
	if (ressd->route.phase == RESSD_ROUTE_TRY_LOG)
		ressd->counters.trials++;
	drain_left_log(ressd, phase);
	/* The trial may need the mover to write all back. */
	ressd_wake(ressd);
	return log;
}

bool ressd_route_holds_log(struct ressd *ressd)
{
	const struct ressd_log *log = &ressd->log;

	lockdep_assert_held(&ressd->lock);
	if (!ressd_route_is_adaptive(ressd) ||
	    !ressd_route_wants_write(&ressd->route, ressd_log_open_blocks(log),
				     ressd_log_blocks_in_flight(log)))
		return false;
	ressd_log_write_soon(&ressd->log);
	return true;
}

bool ressd_route_tries_direct(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd_route_is_adaptive(ressd) &&
	       ressd->route.phase == RESSD_ROUTE_TRY_DIRECT;
}

bool ressd_route_asks_move(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd_route_is_adaptive(ressd) && ressd_mover_is_on(ressd) &&
	       ressd_route_wants_move(&ressd->route);
}

void ressd_route_start(struct ressd *ressd, u64 *start)
{
	lockdep_assert_held(&ressd->lock);
	*start = ktime_get_ns();
	ressd_route_begin(&ressd->route, *start);
}

void ressd_route_logged(struct ressd *ressd, u64 start, u32 blocks)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&ressd->lock);
	/*
	 * What a cover costs no block does: it comes once until the next drain.
	 */
	if (ressd_route_is_adaptive(ressd) && !ressd->cover.running)
		ressd_route_log_done(&ressd->route, now - start, blocks);
	ressd_route_end(&ressd->route, now);
}

void ressd_route_moved(struct ressd *ressd, u64 start, u32 blocks)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&ressd->lock);
	if (ressd_route_is_adaptive(ressd))
		ressd_route_move_done(&ressd->route, now - start, blocks);
	ressd_route_end(&ressd->route, now);
}

void ressd_route_trial_moved(struct ressd *ressd, bool complete)
{
	enum ressd_route_phase phase = ressd->route.phase;

	lockdep_assert_held(&ressd->lock);
	if (!ressd_route_is_adaptive(ressd))
		return;
	ressd_route_move_ended(&ressd->route, complete);
	drain_left_log(ressd, phase);
}
