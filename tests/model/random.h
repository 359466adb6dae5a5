/* SPDX-License-Identifier: GPL-2.0-only */
/* Repeatable random numbers: everything that the simulator decides follows from its seed. */
#ifndef MODEL_RANDOM_H
#define MODEL_RANDOM_H

#include <linux/types.h>

struct random {
	u64 state;
};

static inline u64 random_u64(struct random *random)
{
	u64 x = random->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* 0 .. limit - 1; limit > 0 */
static inline u32 random_below(struct random *random, u32 limit)
{
	return (u32)((random_u64(random) >> 32) * limit >> 32);
}

/* True once in @n times. */
static inline bool random_once_in(struct random *random, u32 n)
{
	return random_below(random, n) == 0;
}

#endif
