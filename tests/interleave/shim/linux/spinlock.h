/* SPDX-License-Identifier: GPL-2.0-only */
/* As asm/barrier.h. */
#ifndef INTERLEAVE_LINUX_SPINLOCK_H
#define INTERLEAVE_LINUX_SPINLOCK_H

#include "threads.h"

/*
 * What is under it is accessed at once.  What a thread finds there follows from
 * how often the lock was held before: that it loads, so it is part of the state.
 */
struct interleave_spinlock {
	u32 lock, holds;
};

#define spinlock_t			struct interleave_spinlock

#define spin_lock_init(l)		(*(l) = (spinlock_t) { })	/* at the start */
#define spin_lock_irqsave(l, flags) \
	((flags) = 0, thread_lock(&(l)->lock), \
	 (void)thread_load(&(l)->holds, sizeof((l)->holds), false))
#define spin_unlock_irqrestore(l, flags) \
	((void)(flags), (l)->holds++, thread_unlock(&(l)->lock))

#endif
