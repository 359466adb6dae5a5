/* SPDX-License-Identifier: GPL-2.0-only */
/* Each access goes to the scheduler of tests/interleave. */
#ifndef INTERLEAVE_ASM_BARRIER_H
#define INTERLEAVE_ASM_BARRIER_H

#include "threads.h"

#define LOAD(x, acquire)		((__typeof__(x))thread_load(&(x), sizeof(x), acquire))
#define READ_ONCE(x)			LOAD(x, false)
#define WRITE_ONCE(x, value)		thread_store(&(x), sizeof(x), (u64)(value), false)
#define smp_load_acquire(p)		LOAD(*(p), true)
#define smp_store_release(p, value)	thread_store(p, sizeof(*(p)), (u64)(value), true)
#define smp_mb()			thread_barrier()

#endif
