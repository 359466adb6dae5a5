/* SPDX-License-Identifier: GPL-2.0-only */
/* Barriers and accesses without a lock. */
#ifndef PORT_ASM_BARRIER_H
#define PORT_ASM_BARRIER_H

#define READ_ONCE(x)			(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
#define smp_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, value) \
	__atomic_store_n(p, value, __ATOMIC_RELEASE)
#define smp_mb()			__atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif
