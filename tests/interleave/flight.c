// SPDX-License-Identifier: GPL-2.0-only
/*
 * dm-ressd-flight.h and core/ressd-regions in all interleavings: a direct write that takes no lock
 * comes and lands, beside a small write of the same block, and the mover or a repair.
 *
 * The mover must not write the block back, nor read it to fill a hole, and a repair must not begin,
 * while that write is on its way; and who waits for it must be woken.
 */
#include "flight.h"
#include "dm-ressd-flight.h"

#define BLOCK	5U

static struct {
	struct ressd_flight flight[NR_THREADS];
	struct ressd_gate gate;
	unsigned long bits;
	u32 lock;
	u32 mapped;			/* what the map says */
	u32 submitted;
	u32 home;			/* what the normal area holds: 1, the direct write */
	/* What has happened, for the checks. */
	unsigned int generation;	/* of the direct write */
	bool sent;			/* it goes to the device */
	bool flying;			/* it is on its way to the block */
	bool sleeps, woken;		/* who waits for it */
} shared;

static struct ressd_regions regions = { .bits = &shared.bits };

_Static_assert(sizeof(struct ressd_flight) == PERCPU_BYTES, "see threads.h");

/* --- the writers ---------------------------------------------------------------------------- */

static void end_direct(unsigned int generation)
{
	if (ressd_flight_end(shared.flight, &shared.gate, generation))
		thread_note(shared.woken, true);
}

static void direct_write(void)
{
	unsigned int generation;

	if (!ressd_flight_enter(shared.flight, &shared.gate, &regions, BLOCK, BLOCK, &generation)) {
		end_direct(generation);
		return;
	}
	thread_note(shared.generation, generation);
	thread_note(shared.sent, true);
	thread_note(shared.flying, true);
	/* Pairs with thread_wait() in device(). */
	smp_store_release(&shared.submitted, 1);
}

/* The device has it; it ends on another processor. */
static void device(void)
{
	thread_wait(&shared.submitted);
	WRITE_ONCE(shared.home, 1);
	thread_note(shared.flying, false);
	end_direct(shared.generation);
}

static void small_write(void)
{
	thread_lock(&shared.lock);
	ressd_regions_set(&regions, BLOCK);
	WRITE_ONCE(shared.mapped, 1);
	thread_unlock(&shared.lock);
}

/* --- who waits for direct writes ------------------------------------------------------------- */

static unsigned int leave_generation(void)
{
	unsigned int old;

	thread_lock(&shared.lock);
	old = READ_ONCE(shared.gate.generation);
	WRITE_ONCE(shared.gate.generation, !old);
	thread_unlock(&shared.lock);
	return old;
}

/* True if nobody is left; else it would sleep, and the rest is another evaluation of the same. */
static bool is_quiet(unsigned int generation)
{
	if (!ressd_flight_left(shared.flight, generation))
		return true;
	thread_note(shared.sleeps, true);
	return false;
}

static bool block_is_mapped(void)
{
	bool mapped;

	thread_lock(&shared.lock);
	mapped = READ_ONCE(shared.mapped);
	thread_unlock(&shared.lock);
	return mapped;
}

static void write_back(void)
{
	if (shared.flying)
		thread_fail("a logged block is written back under a direct write");
}

static void sweep(void)
{
	bool frozen = block_is_mapped();

	if (is_quiet(leave_generation()) && frozen)
		write_back();
}

/* Twice: the current generation is again what it was when the direct write began. */
static void two_sweeps(void)
{
	if (is_quiet(leave_generation()))
		sweep();
}

static void fill_hole(void)
{
	thread_lock(&shared.lock);
	WRITE_ONCE(shared.gate.batch, 1);
	thread_unlock(&shared.lock);
	if (is_quiet(leave_generation()) && !READ_ONCE(shared.home) && shared.sent)
		thread_fail("a hole is read before a direct write has landed");
}

/* Whoever ends looks at the flag repairing: that it sees the mode as well is the same. */
static void repair(void)
{
	thread_lock(&shared.lock);
	WRITE_ONCE(shared.gate.shut, true);
	thread_unlock(&shared.lock);
	if (!ressd_flight_left(shared.flight, 0) && !ressd_flight_left(shared.flight, 1) &&
	    shared.flying)
		thread_fail("it begins while a direct write is on its way");
}

/* --- the search ----------------------------------------------------------------------------- */

static void start(void)
{
}

static void check_end(void)
{
	if (shared.sleeps && !shared.flying && !shared.woken)
		thread_fail("nobody wakes who waits for a direct write");
}

static const char *explore(thread_function *waiter, u32 stale, u32 *states)
{
	thread_function *const threads[] = { direct_write, device, small_write, waiter };

	return threads_explore(threads, NR_THREADS, &shared, sizeof(shared), start, check_end,
			       stale, states);
}

const char *explore_sweep(u32 stale, u32 *states)
{
	return explore(sweep, stale, states);
}

const char *explore_two_sweeps(u32 stale, u32 *states)
{
	return explore(two_sweeps, stale, states);
}

const char *explore_hole(u32 stale, u32 *states)
{
	return explore(fill_hole, stale, states);
}

const char *explore_repair(u32 stale, u32 *states)
{
	return explore(repair, stale, states);
}
