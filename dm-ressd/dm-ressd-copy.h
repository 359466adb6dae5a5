/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of small writes into a record in RAM, without the lock.
 *
 * The invariant: no data of a record is looked at, overwritten or written out
 * while a copy into it is on its way.
 *
 * A copy begins under ressd->lock, and ends without, before its bio completes.
 * Core settles a record before it touches the data (core/ressd-log.h, COPIES):
 * with the lock held, or when the record is sealed, so that no other copy can
 * begin meanwhile.  It spins for that, as for a spinlock: whoever copies does
 * not sleep, for preemption is off from before the lock is given up until the
 * copy has ended.  Nobody settles in an interrupt, which might have come in the
 * middle of a copy.
 *
 * Only a write that completes at once is copied so.  One that waits for its
 * record or for a sync is on a list once the lock is free, and whoever finds
 * that the log has failed completes it.  With PREEMPT_RT, where the lock must
 * not be given up with preemption off, all are copied under it.
 *
 * tests/interleave runs this code in all interleavings and orders of stores,
 * and with loads that are late, with bugs planted.
 */
#ifndef DM_RESSD_COPY_H
#define DM_RESSD_COPY_H

#include <linux/atomic.h>

struct ressd_copies {
	atomic_t pending;
};

/* Under the lock. */
static inline void ressd_copy_begin(struct ressd_copies *copies)
{
	atomic_inc(&copies->pending);
}

/* The data and its checksum are in their place. */
static inline void ressd_copy_end(struct ressd_copies *copies)
{
	/* Pairs with the acquire in ressd_copies_settle(). */
	(void)atomic_fetch_dec_release(&copies->pending);
}

/* Waits until all copies that have begun have ended. */
static inline void ressd_copies_settle(struct ressd_copies *copies)
{
	/* Pairs with the release in ressd_copy_end(). */
	atomic_cond_read_acquire(&copies->pending, !VAL);
}

#endif
