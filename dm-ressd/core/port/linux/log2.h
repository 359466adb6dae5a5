/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_LINUX_LOG2_H
#define PORT_LINUX_LOG2_H

#include <linux/types.h>

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

/* Floor of the binary logarithm; n > 0. */
static inline int ilog2(u64 n)
{
	return 63 - __builtin_clzll(n);
}

/* Smallest power of two >= n; 1 <= n <= half the range of long. */
static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return n <= 1 ? 1 : 1UL << (ilog2(n - 1) + 1);
}

static inline unsigned long rounddown_pow_of_two(unsigned long n)
{
	return 1UL << ilog2(n);
}

#endif
