/* SPDX-License-Identifier: GPL-2.0-only */
/* Each access goes to the scheduler of tests/interleave. */
#ifndef INTERLEAVE_ASM_BARRIER_H
#define INTERLEAVE_ASM_BARRIER_H

#include "threads.h"

#define READ_ONCE(x)			((__typeof__(x))thread_load(&(x), sizeof(x)))
#define WRITE_ONCE(x, value)		thread_store(&(x), sizeof(x), (u64)(value), false)
/* Barriers: loads are not reordered here, so all are acquires. */
#define smp_load_acquire(p)		READ_ONCE(*(p))
#define smp_store_release(p, value)	thread_store(p, sizeof(*(p)), (u64)(value), true)
#define smp_mb()			thread_barrier()

#endif
