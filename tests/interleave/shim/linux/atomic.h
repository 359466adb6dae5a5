/* SPDX-License-Identifier: GPL-2.0-only */
/* As asm/barrier.h. */
#ifndef INTERLEAVE_LINUX_ATOMIC_H
#define INTERLEAVE_LINUX_ATOMIC_H

#include "threads.h"

struct interleave_atomic {
	int counter;
};

#define atomic_t			struct interleave_atomic

#define atomic_read(v)			((int)thread_load(&(v)->counter, sizeof(int), false))
#define atomic_read_acquire(v)		((int)thread_load(&(v)->counter, sizeof(int), true))
#define atomic_set(v, value)		((v)->counter = (value))	/* at the start */
#define atomic_inc(v)			thread_add(&(v)->counter, 1, false)
#define atomic_dec(v)			thread_add(&(v)->counter, -1, false)
#define atomic_dec_and_test(v)		(!thread_add_fully(&(v)->counter, -1))
#define atomic_xchg(v, value)		thread_exchange(&(v)->counter, value)
#define atomic_cmpxchg(v, from, value)	thread_replace(&(v)->counter, from, value)
#define atomic_fetch_dec_release(v)	thread_add(&(v)->counter, -1, true)
/* The only condition there is: that it is 0. */
#define atomic_cond_read_acquire(v, condition) \
	thread_wait_for_none((const u32 *)&(v)->counter, true)
#define atomic_cond_read_relaxed(v, condition) \
	thread_wait_for_none((const u32 *)&(v)->counter, false)

#endif
