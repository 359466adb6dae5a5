/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who reads a slot of the log, and who waits for space in the log.
 *
 * The invariants: the head enters no slot, and no discard of it begins, while a
 * read, a move or a discard of it is on its way; and when the last one of these
 * ends the log's worker looks again whether there is space for who waits.
 *
 * A slot's count grows under ressd->lock, for a read or a move only while the
 * slot has what is live, for a discard while nobody else is in it; it shrinks
 * in any context.  Who enters a slot holds the lock: nothing there is live by
 * then, so nobody else begins.  need_space changes under the lock, and is set
 * while anybody waits for space.
 *
 * For the wake-up, of two that store, then load what the other one has stored,
 * at least one sees the other: who waits sets need_space, then the worker looks
 * at the slot; who ends counts itself out, then looks at need_space.
 *
 * tests/interleave runs this code in all interleavings and orders of stores,
 * and with loads that are late, with bugs planted.
 */
#ifndef DM_RESSD_SPACE_H
#define DM_RESSD_SPACE_H

#include <asm/barrier.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* Under the lock. */
static inline void ressd_reader_begin(atomic_t *readers)
{
	atomic_inc(readers);
}

/*
 * All that was read has arrived.  True: the worker must look.  Any context.
 */
static inline bool ressd_reader_end(atomic_t *readers, const bool *need_space)
{
	/* A full barrier: pairs with that in ressd_space_look_again(). */
	return atomic_dec_and_test(readers) && READ_ONCE(*need_space);
}

/* The same under the lock, by who has the worker look in any case. */
static inline void ressd_reader_leave(atomic_t *readers)
{
	atomic_dec(readers);
}

/*
 * Under the lock.  What is written to the slot, or discarded, depends on the
 * answer, so it comes after what was read.
 */
static inline bool ressd_slot_is_read(const atomic_t *readers)
{
	return atomic_read(readers);
}

/*
 * A write begins to wait.  Under the lock; the caller queues the worker then,
 * which is a full barrier.
 */
static inline void ressd_space_wait(bool *need_space)
{
	WRITE_ONCE(*need_space, true);
}

/*
 * The worker has found no space, nor anything else to do; @wanted: somebody
 * waits for it.  True: it has to look once more, for a reader may have ended
 * without being told.  Under the lock.
 */
static inline bool ressd_space_look_again(bool *need_space, bool wanted)
{
	/* Set by who has queued the worker, or by it, before it looked. */
	if (!wanted || *need_space) {
		WRITE_ONCE(*need_space, wanted);
		return false;
	}
	WRITE_ONCE(*need_space, true);
	/* Pairs with atomic_dec_and_test() in ressd_reader_end(). */
	smp_mb();
	return true;
}

#endif
