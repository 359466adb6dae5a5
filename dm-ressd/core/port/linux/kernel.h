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

#ifndef U32_MAX
#define U32_MAX			((u32)~0U)
#define U64_MAX			((u64)~0ULL)
#endif

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((unsigned long long)(n), (d))
#define roundup(x, y)		(((x) + (y) - 1) / (y) * (y))
#define rounddown(x, y)		((x) - (x) % (y))

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
