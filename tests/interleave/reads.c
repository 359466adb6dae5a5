// SPDX-License-Identifier: GPL-2.0-only
/*
 * dm-ressd-look.h, core/ressd-regions and core/ressd-map in all interleavings: a read looks without
 * the lock, as ressd_map_read() does, beside small and direct writes, the mover, and flushes that
 * fail.
 *
 * A read that begins when a write was acknowledged returns that one or a newer one; and a read that
 * begins when a failed flush was reported, or that knows of it, fails or returns what the map has
 * taken back.
 */
#include <string.h>
#include "reads.h"
#include <linux/atomic.h>
#include "dm-ressd-look.h"
#include "ressd-map.h"

#define LOG_BLOCKS	4
#define BLOCK		(2 * RESSD_REGIONS_WORD - 1)	/* the last one of the first word's bits */
#define NEIGHBOUR	(BLOCK - 1)			/* of the same region */
#define OTHER		(BLOCK - 2)			/* of another one, in the log throughout */
#define BIT		(1UL << (RESSD_REGIONS_WORD - 1))

/* Versions of the block grow: at home, in the log, written to it since. */
enum { LOST, LOGGED, WRITTEN };

static struct {
	struct ressd_map map;
	struct ressd_node nodes[LOG_BLOCKS];
	unsigned long clean, bits[2];
	u32 lock;
	u32 home;
	u32 acknowledged;		/* WRITTEN, by who has written it */
	u32 version[LOG_BLOCKS];	/* of what is in the log */
	/* Failed flushes. */
	atomic_t failed_flushes;
	int known_to_core, known_to_map;
	u32 queued;			/* the worker is to look */
	u32 reported;			/* so many flushes have failed for their callers */
	bool doubtful;
	bool dropped;			/* the device has lost what was in its cache */
} shared;

static u32 last_read;			/* block; a read begins with BLOCK */

/* --- writes and the mover, as core has them do ------------------------------------------------ */

static void map_version(u32 log_block, u32 version)
{
	ressd_map_insert(&shared.map, log_block, BLOCK);
	shared.version[log_block] = version;
}

static void forget(struct ressd_node *node)
{
	ressd_map_erase(&shared.map, node);
	node->lbn = RESSD_NO_BLOCK;
}

/* supersede() */
static void small_write(void)
{
	struct ressd_node *old;

	thread_lock(&shared.lock);
	old = ressd_map_find(&shared.map, BLOCK);
	if (old) {
		ressd_map_take_out(&shared.map, old);
		old->lbn = RESSD_NO_BLOCK;
	}
	map_version(1, WRITTEN);
	thread_unlock(&shared.lock);
	/* Pairs with the acquire in read_block(). */
	smp_store_release(&shared.acknowledged, WRITTEN);
}

/* Writes home what is logged; later its segment is forgotten. */
static void mover(void)
{
	struct ressd_node *node = &shared.nodes[0];
	bool moved;

	thread_lock(&shared.lock);
	moved = ressd_map_find(&shared.map, BLOCK) == node;
	thread_unlock(&shared.lock);
	if (!moved)
		return;
	WRITE_ONCE(shared.home, LOGGED);
	thread_lock(&shared.lock);
	moved = ressd_map_find(&shared.map, BLOCK) == node;
	if (moved)
		ressd_map_set_clean(&shared.map, node);
	thread_unlock(&shared.lock);
	thread_lock(&shared.lock);
	if (moved && ressd_map_find(&shared.map, BLOCK) == node)
		forget(node);
	thread_unlock(&shared.lock);
}

/* kill_superseded(): another block of the region leaves the log. */
static void write_neighbour(void)
{
	thread_lock(&shared.lock);
	forget(&shared.nodes[2]);
	thread_unlock(&shared.lock);
}

/* Its node stays with its number, for a failed flush. */
static void direct_write(void)
{
	WRITE_ONCE(shared.home, WRITTEN);
	thread_lock(&shared.lock);
	if (shared.known_to_core) {
		thread_unlock(&shared.lock);
		return;
	}
	ressd_map_erase(&shared.map, &shared.nodes[0]);
	thread_unlock(&shared.lock);
	/* Pairs with the acquire in read_block(). */
	smp_store_release(&shared.acknowledged, WRITTEN);
}

/* --- failed flushes --------------------------------------------------------------------------- */

/* The device drops what was written directly; it may have done so before. */
static void flush(void)
{
	if (!shared.dropped) {
		thread_note(shared.dropped, true);
		WRITE_ONCE(shared.home, LOST);
	}
	/* end_flagged() */
	atomic_inc(&shared.failed_flushes);
	/* Pairs with thread_wait() in worker(). */
	smp_store_release(&shared.queued, 1);
}

/* ressd_note_doubt() */
static void note_doubt(void)
{
	ressd_look_known(&shared.known_to_map, shared.known_to_core - shared.doubtful);
}

/* ressd_take_flush_errors() */
static void take_flush_errors(void)
{
	int errors = atomic_read(&shared.failed_flushes);

	if (errors == shared.known_to_core)
		return;
	thread_note(shared.known_to_core, errors);
	thread_note(shared.doubtful, true);
	note_doubt();
}

/* distrust_kills() */
static void take_back(void)
{
	if (!shared.doubtful)
		return;
	if (!ressd_map_find(&shared.map, BLOCK))
		ressd_map_revive(&shared.map, &shared.nodes[0]);
	thread_note(shared.doubtful, false);
	note_doubt();
}

/* Of the log and of bios: what failed is taken into account, and its caller hears of it. */
static void worker(void)
{
	int known;

	thread_wait(&shared.queued);
	thread_lock(&shared.lock);
	take_flush_errors();
	known = shared.known_to_core;
	thread_unlock(&shared.lock);
	/* Pairs with the acquire in read_block(). */
	smp_store_release(&shared.reported, known);
	thread_lock(&shared.lock);
	take_back();
	thread_unlock(&shared.lock);
}

/* --- the read --------------------------------------------------------------------------------- */

/* map_locked() */
static u32 version_in_log(void)
{
	struct ressd_node *node;
	u32 version = LOST;

	thread_lock(&shared.lock);
	node = ressd_map_find(&shared.map, BLOCK);
	if (node && !ressd_map_is_clean(&shared.map, ressd_map_block(&shared.map, node)))
		version = shared.version[ressd_map_block(&shared.map, node)];
	thread_unlock(&shared.lock);
	return version;
}

static void read_block(void)
{
	/* Pair with the releases of who writes, and of worker(). */
	u32 reported = smp_load_acquire(&shared.reported);
	u32 expected = smp_load_acquire(&shared.acknowledged);
	u32 version = LOST;
	int known;

	if (ressd_look(&shared.known_to_map, &shared.map.regions, BLOCK, last_read, &known))
		version = version_in_log();
	if (version == LOST)
		version = READ_ONCE(shared.home);
	/* check_failures() */
	if (atomic_read(&shared.failed_flushes) != known)
		return;
	if (version == LOST && (known || reported))
		thread_fail("a read has not seen what was taken back after a failed flush");
	if (version < expected && !shared.dropped)
		thread_fail("a read misses a write that was acknowledged");
}

/* --- the search ------------------------------------------------------------------------------- */

/* All of them are in the log. */
static void start(void)
{
	struct ressd_map *map = &shared.map;

	ressd_map_init(map, shared.nodes, &shared.clean, LOG_BLOCKS);
	map_version(0, LOGGED);
	ressd_map_insert(map, 2, NEIGHBOUR);
	ressd_map_insert(map, 3, OTHER);
	shared.acknowledged = LOGGED;
	map->regions = (struct ressd_regions) { .bits = shared.bits, .shift = 1 };
	shared.bits[0] = BIT | BIT >> 1;
}

static void start_alone(void)
{
	start();
	shared.map.regions.bits = NULL;
	forget(&shared.nodes[2]);
	shared.map.regions.bits = shared.bits;
}

/* A flush has failed: the map is about to take the block back. */
static void start_in_doubt(void)
{
	start_alone();
	shared.map.regions.bits = NULL;
	ressd_map_erase(&shared.map, &shared.nodes[0]);
	shared.map.regions.bits = shared.bits;
	shared.bits[0] = BIT >> 1;
	atomic_set(&shared.failed_flushes, 1);
	shared.known_to_core = 1;
	shared.reported = 1;
	shared.doubtful = true;
	shared.dropped = true;
}

static void check_end(void)
{
	bool set = ressd_map_find(&shared.map, BLOCK) || ressd_map_find(&shared.map, NEIGHBOUR);

	if (shared.bits[0] != ((set ? BIT : 0) | BIT >> 1))
		thread_fail("a bit does not say what the map has");
}

static const char *explore(thread_function *const *threads, int nr, u32 last,
			   thread_function *begin, u32 stale, u32 *states)
{
	last_read = last;
	return threads_explore(threads, nr, &shared, sizeof(shared), begin, check_end, stale,
			       states);
}

const char *explore_reads(u32 stale, u32 *states)
{
	thread_function *const threads[] = { small_write, mover, write_neighbour, read_block };

	return explore(threads, NR_THREADS, BLOCK, start, stale, states);
}

const char *explore_long_reads(u32 stale, u32 *states)
{
	thread_function *const threads[] = { small_write, mover, write_neighbour, read_block };

	return explore(threads, NR_THREADS, BLOCK + 1, start, stale, states);
}

const char *explore_reads_of_written(u32 stale, u32 *states)
{
	thread_function *const threads[] = { direct_write, write_neighbour, read_block };

	return explore(threads, 3, BLOCK, start, stale, states);
}

const char *explore_failed_flush(u32 stale, u32 *states)
{
	thread_function *const threads[] = { direct_write, flush, worker, read_block };

	return explore(threads, NR_THREADS, BLOCK, start_alone, stale, states);
}

/* What takes back for the first one meets the second. */
static void take_back_first(void)
{
	thread_lock(&shared.lock);
	take_back();
	thread_unlock(&shared.lock);
}

const char *explore_two_failures(u32 stale, u32 *states)
{
	thread_function *const threads[] = { take_back_first, flush, worker, read_block };

	return explore(threads, NR_THREADS, BLOCK, start_in_doubt, stale, states);
}
