/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Direct writes in flight, counted for each processor, and the entrance of
 * those that take no lock.
 *
 * A direct write is counted in the generation that is current when it begins,
 * and counts until its end is decided.  The mover leaves a generation behind
 * and waits until nobody is left in it; a repair waits for both.
 *
 * With the lock held a write begins in the current generation, whatever it
 * does.  Without it, it
 *
 *	1. counts itself in what it takes for the current generation,
 *	2. smp_mb(),
 *	3. looks whether that still is the current one, the mover has no batch,
 *	   the log works, and nothing that it covers is mapped.  If not it
 *	   counts itself out and takes the lock.
 *
 * Who waits for it
 *
 *	1. changes what a writer looks at in 3: sets a bit of the regions (a
 *	   small write, under the lock, which the mover takes afterwards), picks
 *	   a batch, leaves the generation, or changes the mode,
 *	2. smp_mb(),
 *	3. adds up the counts.
 *
 * Of two that store, then load what the other one has stored, at least one sees
 * the other: so who waits sees the writer's count, or the writer sees the
 * change and turns back.  Those that are seen have ended when the counts are
 * equal: the ends are added up first, and whoever has ended had begun before,
 * so no end is added without its beginning.
 *
 * tests/interleave runs this code in all interleavings and orders of stores,
 * and with loads that are late, with bugs planted.
 */
#ifndef DM_RESSD_FLIGHT_H
#define DM_RESSD_FLIGHT_H

#include <asm/barrier.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "core/ressd-regions.h"

/*
 * What one processor has counted, by generation; a write may end on another
 * one.
 */
struct ressd_flight {
	u32 begun[2];
	u32 ended[2];
};

/* What a writer looks at without the lock; all of it changes under the lock. */
struct ressd_gate {
	unsigned int generation;
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

/*
 * Leaves the generation, which is returned.  Under the lock, and never before
 * the one that was left last is empty: otherwise some would be in none that is
 * waited for.
 */
static inline unsigned int ressd_gate_leave(struct ressd_gate *gate)
{
	unsigned int old = gate->generation;

	WRITE_ONCE(gate->generation, !old);
	return old;
}

static inline void ressd_flight_begin(struct ressd_flight __percpu *flight,
				      unsigned int generation)
{
	this_cpu_inc(flight->begun[generation]);
}

/*
 * All that the write has done is seen by who sees that it has ended.  True: its
 * generation has been left behind, and who waits for it must be woken.  Any
 * context.
 */
static inline bool ressd_flight_end(struct ressd_flight __percpu *flight,
				    const struct ressd_gate *gate,
				    unsigned int generation)
{
	smp_mb();	/* pairs with the second one in ressd_flight_left() */
	this_cpu_inc(flight->ended[generation]);
	/*
	 * Pairs with the first one: it sees this, or we see that it is wanted.
	 */
	smp_mb();
	return READ_ONCE(gate->generation) != generation;
}

/*
 * So many of @generation, which the caller has left behind, or has kept others
 * from, are left.
 */
static inline u32 ressd_flight_left(struct ressd_flight __percpu *flight,
				    unsigned int generation)
{
	u32 ended = 0, begun = 0;
	int cpu;

	/*
	 * Pairs with those in ressd_flight_enter(), and the second in _end().
	 */
	smp_mb();
	for_each_possible_cpu(cpu)
		ended += READ_ONCE(per_cpu_ptr(flight, cpu)->ended[generation]);
	smp_mb();	/* pairs with the first one in ressd_flight_end() */
	for_each_possible_cpu(cpu)
		begun += READ_ONCE(per_cpu_ptr(flight, cpu)->begun[generation]);
	return begun - ended;
}

/*
 * A write of the blocks from @first to @last comes, without the lock.  It is
 * always counted, in *@generation; if false is returned it has to be counted
 * out, and to take the lock.
 */
static inline bool ressd_flight_enter(struct ressd_flight __percpu *flight,
				      const struct ressd_gate *gate,
				      const struct ressd_regions *regions,
				      u32 first, u32 last,
				      unsigned int *generation)
{
	*generation = READ_ONCE(gate->generation);
	ressd_flight_begin(flight, *generation);
	smp_mb();	/* pairs with that in ressd_flight_left() */
	/*
	 * Left twice it is the same again: then the rest shows what has changed
	 * before.  Pairs with the lock under which it is left.
	 */
	return smp_load_acquire(&gate->generation) == *generation &&
	       !READ_ONCE(gate->batch) && !READ_ONCE(gate->shut) &&
	       !ressd_regions_may_hold(regions, first, last);
}

#endif
