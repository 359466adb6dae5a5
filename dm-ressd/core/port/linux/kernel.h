/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of <linux/kernel.h> that dm-ressd/core uses. */
#ifndef PORT_LINUX_KERNEL_H
#define PORT_LINUX_KERNEL_H

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/minmax.h>
#include <linux/types.h>

#ifndef U8_MAX
#define U8_MAX			((u8)~0U)
#define U16_MAX			((u16)~0U)
#define U32_MAX			((u32)~0U)
#define U64_MAX			((u64)~0ULL)
#define S32_MAX			((s32)(U32_MAX >> 1))
#define S64_MAX			((s64)(U64_MAX >> 1))
#endif

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((unsigned long long)(n), (d))
/* @y: a power of two. */
#define round_down(x, y)	((x) & ~((__typeof__(x))((y) - 1)))
#define round_up(x, y)		((((x) - 1) | ((__typeof__(x))((y) - 1))) + 1)
#define roundup(x, y)		(((x) + (y) - 1) / (y) * (y))
#define rounddown(x, y)		((x) - (x) % (y))
#ifndef ALIGN
#define ALIGN(x, a)		round_up(x, a)
#endif

/* snprintf that returns what was stored, as the kernel's. */
static inline __printf(3, 4) int scnprintf(char *buffer, size_t size,
					   const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buffer, size, format, args);
	va_end(args);
	if (n < 0 || !size)
		return 0;
	return (size_t)n < size ? n : (int)size - 1;
}

#endif
