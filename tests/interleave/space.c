// SPDX-License-Identifier: GPL-2.0-only
/*
 * dm-ressd-space.h in all interleavings: the log's worker is to enter a slot, for a sync or for a
 * small write that waits for space, while that slot is read, moved or discarded.
 *
 * A slot is not written to under a read, and not discarded under a read or when it is written; who
 * waits goes on when the last read has ended; and the worker runs for nobody but those who wait.
 */
#include <string.h>
#include "space.h"
#include <linux/atomic.h>
#include <linux/string.h>
#include "dm-ressd-space.h"

/* What the slot holds. */
enum { LOGGED = 1, DISCARDED, WRITTEN };

static struct {
	u64 slot;
	u64 read[NR_THREADS];		/* what each thread has read of it */
	atomic_t readers;
	u32 lock;
	int queued;			/* the worker */
	bool need_space;
	/* Under the lock. */
	bool live;			/* the slot has what was not overwritten */
	bool write_waits;		/* on waiters.space */
	bool sync_waits;
	bool entered;			/* by the head */
	/* What has happened, for the checks. */
	bool waited;			/* somebody has, ever */
	bool written;
	bool claimed;			/* by a discard */
} shared;

/* ressd_run_log() */
static void run_log(void)
{
	thread_exchange(&shared.queued, 1);
}

/* ressd_put_reader() */
static void put_reader(void)
{
	if (!ressd_reader_end(&shared.readers, &shared.need_space))
		return;
	if (!shared.waited)
		thread_fail("a read's end has the worker look though nobody waits");
	run_log();
}

/* --- who is in the slot ----------------------------------------------------------------------- */

/* begin_log_read(): false if the newest version is elsewhere. */
static bool begin_read(void)
{
	bool live;

	thread_lock(&shared.lock);
	live = shared.live;
	if (live)
		ressd_reader_begin(&shared.readers);
	thread_unlock(&shared.lock);
	return live;
}

static void read_slot(void)
{
	memcpy(&shared.read[thread_number()], &shared.slot, sizeof(shared.slot));
}

static void read_block(void)
{
	if (!begin_read())
		return;
	read_slot();
	put_reader();
}

/* pick_some() to goal_reached(): what it moves is not live any more. */
static void move_block(void)
{
	if (!begin_read())
		return;
	read_slot();
	thread_lock(&shared.lock);
	thread_note(shared.live, false);
	ressd_reader_leave(&shared.readers);
	thread_unlock(&shared.lock);
	run_log();
}

/* claim_next(), begin_discard() */
static void discard(void)
{
	bool claimed;

	thread_lock(&shared.lock);
	claimed = !shared.need_space && !shared.live && !shared.entered &&
		  !ressd_slot_is_read(&shared.readers);
	if (claimed) {
		thread_note(shared.claimed, true);
		ressd_reader_begin(&shared.readers);
	}
	thread_unlock(&shared.lock);
	if (!claimed)
		return;
	WRITE_ONCE(shared.slot, DISCARDED);
	put_reader();
}

/* --- who needs the slot ----------------------------------------------------------------------- */

/* ressd_log_advance_head() */
static bool enter(void)
{
	if (shared.live || ressd_slot_is_read(&shared.readers))
		return false;
	thread_note(shared.entered, true);
	return true;
}

/* What it supersedes is the last that was live in the slot. */
static void small_write(void)
{
	thread_lock(&shared.lock);
	thread_note(shared.live, false);
	if (!enter()) {
		/* ressd_wait_for_space() */
		thread_note(shared.write_waits, true);
		thread_note(shared.waited, true);
		ressd_space_wait(&shared.need_space);
	}
	run_log();
	thread_unlock(&shared.lock);
}

/* The last one that was live is invalidated, then a flush comes. */
static void sync_log(void)
{
	thread_lock(&shared.lock);
	thread_note(shared.live, false);
	thread_note(shared.sync_waits, true);
	thread_note(shared.waited, true);
	run_log();
	thread_unlock(&shared.lock);
}

/* ressd_retry_space_waiters() */
static void retry_waiters(void)
{
	thread_lock(&shared.lock);
	if (shared.write_waits && (shared.entered || enter()))
		thread_note(shared.write_waits, false);
	thread_unlock(&shared.lock);
}

/* ressd_log_next(): the record of who has waited goes to the slot. */
static bool log_next(void)
{
	if (shared.sync_waits && (shared.entered || enter()))
		thread_note(shared.sync_waits, false);
	return shared.entered && !shared.written;
}

static bool next_io(void)
{
	return log_next() ||
	       (ressd_space_look_again(&shared.need_space,
				       shared.write_waits || shared.sync_waits) &&
		log_next());
}

/* Each run of it begins with a barrier. */
static void worker(void)
{
	bool more;

	for (;;) {
		thread_wait((const u32 *)&shared.queued);
		thread_exchange(&shared.queued, 0);
		do {
			retry_waiters();
			thread_lock(&shared.lock);
			more = next_io();
			thread_unlock(&shared.lock);
			if (more) {
				WRITE_ONCE(shared.slot, WRITTEN);
				thread_note(shared.written, true);
			}
		} while (more);
	}
}

/* --- the search ------------------------------------------------------------------------------- */

static void start(void)
{
	shared.slot = LOGGED;
	shared.live = true;
}

/* What was there is invalidated, but for a read that has begun before. */
static void start_dead(void)
{
	start();
	shared.live = false;
}

static void check_end(void)
{
	u32 i;

	if (shared.need_space)
		thread_fail("the worker is to look though nobody waits any more");
	for (i = 0; i < NR_THREADS; i++)
		if (shared.read[i] && shared.read[i] != LOGGED)
			thread_fail("a slot changes under a read");
	if (shared.written && shared.slot != WRITTEN)
		thread_fail("a slot is discarded when it was written");
	if (shared.readers.counter)
		thread_fail("a slot stays in use");
	if (shared.write_waits || shared.sync_waits)
		thread_fail("nobody wakes who waits for space");
}

static const char *explore(thread_function *const *threads, int nr, thread_function *begin,
			   u32 stale, u32 *states)
{
	return threads_explore(threads, nr, &shared, sizeof(shared), begin, check_end, stale,
			       states);
}

const char *explore_write_for_slot(u32 stale, u32 *states)
{
	thread_function *const threads[] = { read_block, move_block, small_write, worker };

	return explore(threads, NR_THREADS, start, stale, states);
}

const char *explore_sync_for_slot(u32 stale, u32 *states)
{
	thread_function *const threads[] = { read_block, sync_log, worker };

	return explore(threads, 3, start, stale, states);
}

const char *explore_discard(u32 stale, u32 *states)
{
	thread_function *const threads[] = { discard, small_write, worker };

	return explore(threads, 3, start_dead, stale, states);
}
