/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/hash.h, as far as core/ uses it. */
#ifndef PORT_LINUX_HASH_H
#define PORT_LINUX_HASH_H

#include <linux/types.h>

static inline u32 hash_32(u32 value, unsigned int bits)
{
	return value * 0x61c88647U >> (32 - bits);
}

#endif
