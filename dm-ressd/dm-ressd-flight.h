/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Direct writes in flight, listed for each processor, and the entrance of those
 * that take no lock.
 *
 * A direct write is listed with the blocks that it touches, from before it is
 * sent until its end is decided.  The mover waits for those that touch its
 * batch, a run of the cover for those that touch covered blocks, a repair for
 * all.  Nobody waits for others: a write may be throttled for its control group
 * for as long as that has to wait.
 *
 * Each list has a lock, the innermost one, taken with interrupts off.  With
 * ressd->lock held a write is listed, whatever it does.  Without it, it
 *
 *	1. is listed,
 *	2. looks whether the mover has no batch, the log works, and nothing that
 *	   it covers is mapped.  If not it is taken from the list, and takes the
 *	   lock.
 *
 * Who waits for it
 *
 *	1. changes what a writer looks at in 2: sets a bit of the regions (a
 *	   small write, under the lock, which the mover takes afterwards), picks
 *	   a batch, or changes the mode,
 *	2. looks at the lists.
 *
 * Both take the list's lock between their steps.  Who takes it second sees what
 * the first one did before: so who waits finds the write, or the writer sees
 * the change and turns back.
 *
 * tests/interleave runs this code in all interleavings and orders of stores,
 * and with loads that are late, with bugs planted.
 */
#ifndef DM_RESSD_FLIGHT_H
#define DM_RESSD_FLIGHT_H

#include <asm/barrier.h>
#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/ressd-regions.h"

/* So many are looked at under one hold of a list's lock. */
#define RESSD_FLIGHT_STEP	64

/* What one processor has sent; a write may end on another one. */
struct ressd_flight {
	spinlock_t lock;		/* of the lists */
	struct list_head writes;
	struct list_head unseen;	/* by ressd_flight_await() */
};

/* One direct write. */
struct ressd_flying {
	struct list_head list;
	struct ressd_flight *flight;
	u32 first, last;		/* blocks touched */
	bool awaited;			/* under flight->lock */
};

/* What a writer looks at without the lock; all of it changes under the lock. */
struct ressd_gate {
	u32 batch;			/* moves in flight */
	bool shut;			/* the log is not in service */
};

/* One more move in the batch.  Under the lock. */
static inline void ressd_gate_add_move(struct ressd_gate *gate)
{
	WRITE_ONCE(gate->batch, gate->batch + 1);
}

/*
 * The batch has ended.  Under the lock: so a write that has found it there, and
 * waits, has been put on the list by then, or finds none.
 */
static inline void ressd_gate_end_batch(struct ressd_gate *gate)
{
	/*
	 * What was written to holes has landed before ressd_flight_enter() sees
	 * this; what that lets pass depends on it.
	 */
	smp_store_release(&gate->batch, 0);
}

static inline void ressd_flight_init(struct ressd_flight __percpu *flight)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ressd_flight *one = per_cpu_ptr(flight, cpu);

		spin_lock_init(&one->lock);
		INIT_LIST_HEAD(&one->writes);
		INIT_LIST_HEAD(&one->unseen);
	}
}

static inline void ressd_flight_begin(struct ressd_flight __percpu *flight,
				      struct ressd_flying *write,
				      u32 first, u32 last)
{
	/* Which processor's list it is does not matter, if it moves on. */
	struct ressd_flight *own = raw_cpu_ptr(flight);
	unsigned long flags;

	write->flight = own;
	write->first = first;
	write->last = last;
	write->awaited = false;
	spin_lock_irqsave(&own->lock, flags);
	list_add_tail(&write->list, &own->writes);
	spin_unlock_irqrestore(&own->lock, flags);
}

/*
 * All that the write has done is seen by who does not find it any more.  True:
 * ressd_flight_await() has counted it, and it is to be counted out.  Any
 * context.
 */
static inline bool ressd_flight_end(struct ressd_flying *write)
{
	struct ressd_flight *flight = write->flight;
	unsigned long flags;
	bool awaited;

	spin_lock_irqsave(&flight->lock, flags);
	list_del(&write->list);
	awaited = write->awaited;
	spin_unlock_irqrestore(&flight->lock, flags);
	return awaited;
}

/* Looks at some of one list; false: at all of them by now. */
static inline bool
ressd_flight_await_some(struct ressd_flight *flight, atomic_t *awaited,
			bool (*touches)(const void *context, u32 first,
					u32 last),
			const void *context)
{
	struct ressd_flying *write;
	unsigned long flags;
	bool more;
	int i;

	spin_lock_irqsave(&flight->lock, flags);
	for (i = 0; i < RESSD_FLIGHT_STEP; i++) {
		write = list_first_entry_or_null(&flight->unseen,
						 struct ressd_flying, list);
		if (!write)
			break;
		if (touches(context, write->first, write->last)) {
			write->awaited = true;
			atomic_inc(awaited);
		}
		list_move_tail(&write->list, &flight->writes);
	}
	more = !list_empty(&flight->unseen);
	spin_unlock_irqrestore(&flight->lock, flags);
	return more;
}

/*
 * Adds to *@awaited, which is 0, all in flight of which @touches is true: it is
 * 0 again when they have ended.  One caller at a time, without a lock.
 */
static inline void
ressd_flight_await(struct ressd_flight __percpu *flight, atomic_t *awaited,
		   bool (*touches)(const void *context, u32 first, u32 last),
		   const void *context)
{
	unsigned long flags;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ressd_flight *one = per_cpu_ptr(flight, cpu);

		spin_lock_irqsave(&one->lock, flags);
		list_splice_init(&one->writes, &one->unseen);
		spin_unlock_irqrestore(&one->lock, flags);
		while (ressd_flight_await_some(one, awaited, touches, context))
			;
	}
}

/* Is none in flight?  The caller has kept others from passing. */
static inline bool ressd_flight_is_over(struct ressd_flight __percpu *flight)
{
	unsigned long flags;
	bool over = true;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct ressd_flight *one = per_cpu_ptr(flight, cpu);

		spin_lock_irqsave(&one->lock, flags);
		over &= list_empty(&one->writes) && list_empty(&one->unseen);
		spin_unlock_irqrestore(&one->lock, flags);
	}
	return over;
}

/*
 * A write of the blocks from @first to @last comes, without the lock.  It is
 * always listed; if false is returned it has to be taken from the list, and to
 * take the lock.
 */
static inline bool ressd_flight_enter(struct ressd_flight __percpu *flight,
				      const struct ressd_gate *gate,
				      const struct ressd_regions *regions,
				      struct ressd_flying *write,
				      u32 first, u32 last)
{
	ressd_flight_begin(flight, write, first, last);
	return !READ_ONCE(gate->batch) && !READ_ONCE(gate->shut) &&
	       !ressd_regions_may_hold(regions, first, last);
}

#endif
