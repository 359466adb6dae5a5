// SPDX-License-Identifier: GPL-2.0-only
/*
 * dm-ressd-flight.h and core/ressd-regions in all interleavings: a direct write that takes no lock
 * comes and lands, beside a small write of the same block, and the mover or a repair.
 *
 * The mover must not write the block back, nor read it to fill a hole, and a repair must not begin,
 * while that write is on its way; and who waits for it must be woken.  Nor may the write be lost
 * where a batch ends; and if it waits for that, it must be sent on.
 */
#include "flight.h"
#include <linux/percpu.h>

/* One processor with one place, as the Makefile has made it; a crowd has none. */
#undef get_cpu_ptr
#define get_cpu_ptr(pointer)		own_places(pointer)
#undef for_each_possible_cpu
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < 1; cpu++)

struct ressd_flight_places;
static struct ressd_flight_places *own_places(struct ressd_flight_places *places);

#include "dm-ressd-flight.h"

#define BLOCK	5U

static struct ressd_flight_places crowd = { .place = { { .state = { RESSD_PLACE_TAKEN } } } };
static bool crowded;

static struct ressd_flight_places *own_places(struct ressd_flight_places *places)
{
	return crowded ? &crowd : places;
}

static struct {
	struct ressd_flight_places places;
	struct ressd_flight flight;
	struct ressd_flying write;	/* the direct write */
	atomic_t awaited;
	struct ressd_gate gate;
	unsigned long bits;
	u32 lock;
	u32 mapped;			/* what the map says */
	u32 submitted;
	u32 home;			/* what the normal area holds: 1, the direct write */
	/* What has happened, for the checks. */
	bool sent;			/* it goes to the device */
	bool flying;			/* it is on its way to the block */
	bool sleeps, woken;		/* who waits for it */
	bool repairs;			/* a repair has begun */
	bool logged;			/* the small write came before the direct one */
	bool waits;			/* a direct write, for the end of the batch */
	int bios_queued;		/* the bio worker */
} shared;

static struct ressd_regions regions = { .bits = &shared.bits };

/* --- the writers ---------------------------------------------------------------------------- */

/* ressd_count_out() */
static void end_direct(void)
{
	if (ressd_flight_end(&shared.flight, &shared.write) && atomic_dec_and_test(&shared.awaited))
		thread_note(shared.woken, true);
}

static bool enter(void)
{
	return ressd_flight_enter(&shared.flight, &shared.gate, &regions, &shared.write, BLOCK,
				  BLOCK);
}

static void direct_write(void)
{
	if (!enter()) {
		end_direct();
		return;
	}
	if (shared.repairs)
		thread_fail("a direct write passes a repair");
	thread_note(shared.sent, true);
	thread_note(shared.flying, true);
	/* Pairs with thread_wait() in device(). */
	smp_store_release(&shared.submitted, 1);
}

/* With the lock: true if it goes home now, false if it waits for a batch. */
static bool begin_direct(void)
{
	bool waits;

	thread_lock(&shared.lock);
	waits = shared.gate.batch;
	thread_note(shared.waits, waits);
	if (!waits)
		ressd_flight_begin(&shared.flight, &shared.write, BLOCK, BLOCK);
	thread_unlock(&shared.lock);
	return !waits;
}

static void write_home(void)
{
	thread_note(shared.flying, true);
	WRITE_ONCE(shared.home, 1);
	thread_note(shared.sent, true);
	thread_note(shared.flying, false);
	end_direct();
}

/* True if it has written. */
static bool write_unlocked(void)
{
	bool entered = enter();

	if (entered)
		write_home();
	else
		end_direct();
	return entered;
}

/* The lock is for what has completed before. */
static void late_write(void)
{
	thread_lock(&shared.lock);
	thread_note(shared.logged, shared.mapped);
	thread_unlock(&shared.lock);
	if (write_unlocked() && shared.logged)
		thread_fail("a direct write passes what the log has of its block");
}

static void try_unlocked(void)
{
	write_unlocked();
}

/* map_write(): what may not pass without the lock takes it. */
static void write_anyhow(void)
{
	if (!write_unlocked() && begin_direct())
		write_home();
}

/* ressd_bio_worker() */
static void bio_worker(void)
{
	for (;;) {
		thread_wait((const u32 *)&shared.bios_queued);
		thread_exchange(&shared.bios_queued, 0);
		if (shared.waits && begin_direct())
			write_home();
	}
}

/* The device has it; it ends on another processor. */
static void device(void)
{
	thread_wait(&shared.submitted);
	WRITE_ONCE(shared.home, 1);
	thread_note(shared.flying, false);
	end_direct();
}

static void small_write(void)
{
	thread_lock(&shared.lock);
	ressd_regions_set(&regions, BLOCK);
	WRITE_ONCE(shared.mapped, 1);
	thread_unlock(&shared.lock);
}

/* --- who waits for direct writes ------------------------------------------------------------- */

static bool touches(const void *context, u32 first, u32 last)
{
	const u32 *block = context;

	return first <= *block && *block <= last;
}

static void await(u32 block)
{
	ressd_flight_await(&shared.flight, &shared.awaited, touches, &block);
}

/* True if nobody is left; else it would sleep, and the rest is another evaluation of the same. */
static bool is_quiet(void)
{
	await(BLOCK);
	if (!atomic_read_acquire(&shared.awaited))
		return true;
	thread_note(shared.sleeps, true);
	return false;
}

static void pick_batch(void)
{
	thread_lock(&shared.lock);
	ressd_gate_add_move(&shared.gate);
	thread_unlock(&shared.lock);
}

static bool pick_mapped(void)
{
	bool mapped;

	thread_lock(&shared.lock);
	mapped = READ_ONCE(shared.mapped);
	if (mapped)
		ressd_gate_add_move(&shared.gate);
	thread_unlock(&shared.lock);
	return mapped;
}

static void sweep(void)
{
	if (pick_mapped() && is_quiet() && shared.flying)
		thread_fail("a logged block is written back under a direct write");
}

/* After a batch that is elsewhere, for which it waits for nothing. */
static void two_sweeps(void)
{
	await(BLOCK + 1);
	if (atomic_read_acquire(&shared.awaited))
		thread_fail("a batch waits for a write that is elsewhere");
	sweep();
}

static void fill_hole(void)
{
	pick_batch();
	if (is_quiet() && !READ_ONCE(shared.home) && shared.sent)
		thread_fail("a hole is read before a direct write has landed");
}

/* The same, up to the end of the batch: true if it has come there. */
static bool fill_and_end(void)
{
	u32 home;

	pick_batch();
	if (!is_quiet())
		return false;
	home = READ_ONCE(shared.home);
	WRITE_ONCE(shared.home, home);
	/* finish_batch() */
	thread_lock(&shared.lock);
	ressd_gate_end_batch(&shared.gate);
	thread_unlock(&shared.lock);
	thread_exchange(&shared.bios_queued, 1);
	return true;
}

static void fill_once(void)
{
	fill_and_end();
}

/* There may be no batch, or again one. */
static void fill_twice(void)
{
	if (fill_and_end())
		fill_and_end();
}

/* Whoever ends looks at the flag repairing: that it sees the mode as well is the same. */
static void repair(void)
{
	thread_lock(&shared.lock);
	WRITE_ONCE(shared.gate.shut, true);
	thread_unlock(&shared.lock);
	if (!ressd_flight_is_over(&shared.flight))
		return;
	thread_note(shared.repairs, true);
	if (shared.flying)
		thread_fail("it begins while a direct write is on its way");
}

/* --- the search ----------------------------------------------------------------------------- */

static void start(void)
{
	ressd_flight_init(&shared.flight, &shared.places);
}

static void check_end(void)
{
	if (shared.sleeps && !shared.flying && !shared.woken)
		thread_fail("nobody wakes who waits for a direct write");
}

static void check_batch(void)
{
	check_end();
	if (shared.waits && !shared.sleeps)
		thread_fail("nobody sends on what has waited for a batch");
	if (shared.sent && !shared.home)
		thread_fail("a hole is written back over a direct write");
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
	thread_function *const threads[] = { try_unlocked, small_write, two_sweeps };

	return threads_explore(threads, 3, &shared, sizeof(shared), start, check_end, stale,
			       states);
}

const char *explore_hole(u32 stale, u32 *states)
{
	return explore(fill_hole, stale, states);
}

const char *explore_logged(u32 stale, u32 *states)
{
	thread_function *const threads[] = { late_write, small_write };

	return threads_explore(threads, 2, &shared, sizeof(shared), start, check_end, stale,
			       states);
}

const char *explore_batch(u32 stale, u32 *states)
{
	thread_function *const threads[] = { write_anyhow, bio_worker, fill_once };

	return threads_explore(threads, 3, &shared, sizeof(shared), start, check_batch, stale,
			       states);
}

const char *explore_two_batches(u32 stale, u32 *states)
{
	thread_function *const threads[] = { try_unlocked, fill_twice };

	return threads_explore(threads, 2, &shared, sizeof(shared), start, check_batch, stale,
			       states);
}

const char *explore_repair(u32 stale, u32 *states)
{
	return explore(repair, stale, states);
}

/* The same in a crowd. */
#define LISTED(explore_it) \
	const char *explore_it##_listed(u32 stale, u32 *states) \
	{ \
		const char *failure; \
	\
		crowded = true; \
		failure = explore_it(stale, states); \
		crowded = false; \
		return failure; \
	}

LISTED(explore_sweep)
LISTED(explore_two_sweeps)
LISTED(explore_batch)
LISTED(explore_repair)
