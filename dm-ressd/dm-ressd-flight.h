/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Direct writes in flight, and the entrance of those that take no lock.
 *
 * A direct write is entered with the blocks that it touches, from before it is
 * sent until its end is decided.  The mover waits for those that touch its
 * batch, a run of the cover for those that touch covered blocks, a repair for
 * all.  Nobody waits for others: a write may be throttled for its control group
 * for as long as that has to wait.
 *
 * Each processor has places for so many writes, which take no lock and share
 * nothing with other processors.  What finds no place is in a list, whose lock
 * is an innermost one, taken with interrupts off.
 *
 * With ressd->lock held a write is entered, whatever it does.  Without it, it
 *
 *	1. is entered,
 *	2. looks whether the mover has no batch, the log works, and nothing that
 *	   it covers is mapped.  If not it is taken out, and takes the lock.
 *
 * Who waits for it
 *
 *	1. changes what a writer looks at in 2: sets a bit of the regions (a
 *	   small write, under the lock, which the mover takes afterwards), picks
 *	   a batch, or changes the mode,
 *	2. looks at places and list.
 *
 * Both have a full barrier, or hold the list's lock, between their steps.  Of
 * two that store, then load what the other one has stored, at least one sees
 * the other: so who waits finds the write, or the writer sees the change and
 * turns back.  A place may be taken anew while it is looked at; then the write
 * that it was for has ended, and the new one has turned back or is not in the
 * way.
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

#define RESSD_PLACES		64
/* So many are looked at under one hold of the list's lock. */
#define RESSD_FLIGHT_STEP	64

enum ressd_place_state {
	RESSD_PLACE_FREE,
	RESSD_PLACE_TAKEN,
	RESSD_PLACE_AWAITED,	/* counted by ressd_flight_await() */
};

struct ressd_flight_place {
	atomic_t state;
	u32 first, last;	/* blocks touched */
};

/* Those of one processor; a write may end on another one. */
struct ressd_flight_places {
	u32 next;
	struct ressd_flight_place place[RESSD_PLACES];
};

/* One direct write. */
struct ressd_flying {
	struct ressd_flight_place *place;	/* NULL: it is in the list */
	struct list_head list;
	u32 first, last;		/* as in struct ressd_flight_place */
	bool awaited;
};

struct ressd_flight {
	struct ressd_flight_places __percpu *places;
	spinlock_t lock;		/* of what follows */
	struct list_head writes;	/* without a place */
	struct list_head unseen;	/* of these, by ressd_flight_await() */
};

/* Whether a waiter has to wait for a write of these blocks. */
typedef bool ressd_touches_t(const void *context, u32 first, u32 last);

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

/* @places: all free. */
static inline void
ressd_flight_init(struct ressd_flight *flight,
		  struct ressd_flight_places __percpu *places)
{
	flight->places = places;
	spin_lock_init(&flight->lock);
	INIT_LIST_HEAD(&flight->writes);
	INIT_LIST_HEAD(&flight->unseen);
}

/* --- a write -------------------------------------------------------------- */

static inline struct ressd_flight_place *
ressd_place_find(struct ressd_flight_places *places)
{
	struct ressd_flight_place *place;
	int i;

	for (i = 0; i < RESSD_PLACES; i++) {
		place = &places->place[places->next++ % RESSD_PLACES];
		if (atomic_read(&place->state) == RESSD_PLACE_FREE)
			return place;
	}
	return NULL;
}

/* True, or all are taken.  Process context. */
static inline bool ressd_place_take(struct ressd_flight *flight,
				    struct ressd_flying *write, u32 first,
				    u32 last)
{
	struct ressd_flight_place *place =
		ressd_place_find(get_cpu_ptr(flight->places));

	if (place) {
		WRITE_ONCE(place->first, first);
		WRITE_ONCE(place->last, last);
		/* A full barrier, see above; also after the two. */
		atomic_xchg(&place->state, RESSD_PLACE_TAKEN);
	}
	put_cpu_ptr(flight->places);
	write->place = place;
	return place;
}

static inline void ressd_flight_list(struct ressd_flight *flight,
				     struct ressd_flying *write, u32 first,
				     u32 last)
{
	unsigned long flags;

	write->first = first;
	write->last = last;
	write->awaited = false;
	spin_lock_irqsave(&flight->lock, flags);
	list_add_tail(&write->list, &flight->writes);
	spin_unlock_irqrestore(&flight->lock, flags);
}

static inline void ressd_flight_begin(struct ressd_flight *flight,
				      struct ressd_flying *write, u32 first,
				      u32 last)
{
	if (unlikely(!ressd_place_take(flight, write, first, last)))
		ressd_flight_list(flight, write, first, last);
}

static inline bool ressd_flight_unlist(struct ressd_flight *flight,
				       struct ressd_flying *write)
{
	unsigned long flags;
	bool awaited;

	spin_lock_irqsave(&flight->lock, flags);
	list_del(&write->list);
	awaited = write->awaited;
	spin_unlock_irqrestore(&flight->lock, flags);
	return awaited;
}

/*
 * All that the write has done is seen by who does not find it any more.  True:
 * ressd_flight_await() has counted it, and it is to be counted out.  Any
 * context.
 */
static inline bool ressd_flight_end(struct ressd_flight *flight,
				    struct ressd_flying *write)
{
	if (unlikely(!write->place))
		return ressd_flight_unlist(flight, write);
	return atomic_xchg(&write->place->state, RESSD_PLACE_FREE) ==
	       RESSD_PLACE_AWAITED;
}

/*
 * A write of the blocks from @first to @last comes, without the lock.  It is
 * always entered; if false is returned it has to be taken out, by
 * ressd_flight_end(), and to take the lock.
 */
static inline bool ressd_flight_enter(struct ressd_flight *flight,
				      const struct ressd_gate *gate,
				      const struct ressd_regions *regions,
				      struct ressd_flying *write, u32 first,
				      u32 last)
{
	ressd_flight_begin(flight, write, first, last);
	return !READ_ONCE(gate->batch) && !READ_ONCE(gate->shut) &&
	       !ressd_regions_may_hold(regions, first, last);
}

/* --- who waits ------------------------------------------------------------ */

static inline void ressd_place_await(struct ressd_flight_place *place,
				     atomic_t *awaited,
				     ressd_touches_t *touches,
				     const void *context)
{
	/* If it ends meanwhile it is not counted, or counted out first. */
	if (atomic_read(&place->state) == RESSD_PLACE_TAKEN &&
	    touches(context, READ_ONCE(place->first),
		    READ_ONCE(place->last)) &&
	    atomic_cmpxchg(&place->state, RESSD_PLACE_TAKEN,
			   RESSD_PLACE_AWAITED) == RESSD_PLACE_TAKEN)
		atomic_inc(awaited);
}

/* Looks at some of the list; false: at all of them by now. */
static inline bool ressd_flight_await_some(struct ressd_flight *flight,
					   atomic_t *awaited,
					   ressd_touches_t *touches,
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
static inline void ressd_flight_await(struct ressd_flight *flight,
				      atomic_t *awaited,
				      ressd_touches_t *touches,
				      const void *context)
{
	struct ressd_flight_places *places;
	unsigned long flags;
	int cpu, i;

	smp_mb();	/* see above */
	spin_lock_irqsave(&flight->lock, flags);
	list_splice_init(&flight->writes, &flight->unseen);
	spin_unlock_irqrestore(&flight->lock, flags);
	while (ressd_flight_await_some(flight, awaited, touches, context))
		;
	for_each_possible_cpu(cpu) {
		places = per_cpu_ptr(flight->places, cpu);
		for (i = 0; i < RESSD_PLACES; i++)
			ressd_place_await(&places->place[i], awaited, touches,
					  context);
	}
	smp_mb();	/* what those have written that have ended is seen */
}

/* Is none in flight?  The caller has kept others from passing. */
static inline bool ressd_flight_is_over(struct ressd_flight *flight)
{
	struct ressd_flight_places *places;
	unsigned long flags;
	bool over = true;
	int cpu, i;

	smp_mb();	/* see above */
	for_each_possible_cpu(cpu) {
		places = per_cpu_ptr(flight->places, cpu);
		for (i = 0; i < RESSD_PLACES && over; i++)
			over = atomic_read(&places->place[i].state) ==
			       RESSD_PLACE_FREE;
	}
	spin_lock_irqsave(&flight->lock, flags);
	over &= list_empty(&flight->writes) && list_empty(&flight->unseen);
	spin_unlock_irqrestore(&flight->lock, flags);
	return over;
}

#endif
