/* SPDX-License-Identifier: GPL-2.0-only */
/* Userspace stand-in for the kernel header of this name. */
#ifndef SHIM_BITMAP_H
#define SHIM_BITMAP_H

#include <limits.h>
#include <string.h>

#include <linux/slab.h>
#include <linux/types.h>

#define SHIM_LONG_BITS	(sizeof(unsigned long) * CHAR_BIT)
#define SHIM_LONGS(bits) (((bits) + SHIM_LONG_BITS - 1) / SHIM_LONG_BITS)
#define DECLARE_BITMAP(name, bits) unsigned long name[SHIM_LONGS(bits)]

static inline bool test_bit(size_t bit, const unsigned long *map)
{
	return map[bit / SHIM_LONG_BITS] >> (bit % SHIM_LONG_BITS) & 1;
}

static inline void shim_put_bit(size_t bit, unsigned long *map, bool value)
{
	unsigned long mask = 1UL << (bit % SHIM_LONG_BITS);

	if (value)
		map[bit / SHIM_LONG_BITS] |= mask;
	else
		map[bit / SHIM_LONG_BITS] &= ~mask;
}

static inline bool test_and_set_bit(size_t bit, unsigned long *map)
{
	bool old = test_bit(bit, map);

	shim_put_bit(bit, map, true);
	return old;
}

#define __test_and_set_bit test_and_set_bit

static inline bool test_and_clear_bit(size_t bit, unsigned long *map)
{
	bool old = test_bit(bit, map);

	shim_put_bit(bit, map, false);
	return old;
}

#define __test_and_clear_bit test_and_clear_bit

static inline void __set_bit(size_t bit, unsigned long *map)
{
	shim_put_bit(bit, map, true);
}

static inline unsigned long *bitmap_zalloc(size_t bits, int flags)
{
	return kcalloc(SHIM_LONGS(bits), sizeof(long), flags);
}

static inline void bitmap_free(unsigned long *map)
{
	free(map);
}

static inline void bitmap_zero(unsigned long *map, size_t bits)
{
	memset(map, 0, SHIM_LONGS(bits) * sizeof(long));
}

static inline void bitmap_copy(unsigned long *to, const unsigned long *from, size_t bits)
{
	memcpy(to, from, SHIM_LONGS(bits) * sizeof(long));
}

static inline void bitmap_set(unsigned long *map, size_t first, size_t count)
{
	while (count--)
		shim_put_bit(first++, map, true);
}

static inline void bitmap_andnot(unsigned long *to, const unsigned long *a,
				 const unsigned long *b, size_t bits)
{
	size_t i;

	for (i = 0; i < SHIM_LONGS(bits); i++)
		to[i] = a[i] & ~b[i];
}

static inline size_t find_next_bit(const unsigned long *map, size_t bits, size_t bit)
{
	while (bit < bits && !test_bit(bit, map))
		bit++;
	return bit;
}

static inline size_t find_first_bit(const unsigned long *map, size_t bits)
{
	return find_next_bit(map, bits, 0);
}

static inline size_t find_next_zero_bit(const unsigned long *map, size_t bits, size_t bit)
{
	while (bit < bits && test_bit(bit, map))
		bit++;
	return bit;
}

static inline bool bitmap_empty(const unsigned long *map, size_t bits)
{
	return find_first_bit(map, bits) == bits;
}

static inline u32 bitmap_weight(const unsigned long *map, size_t bits)
{
	u32 weight = 0;
	size_t bit;

	for (bit = 0; bit < bits; bit++)
		weight += test_bit(bit, map);
	return weight;
}

#endif
