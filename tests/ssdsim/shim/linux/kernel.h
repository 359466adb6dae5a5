/* SPDX-License-Identifier: GPL-2.0-only */
/* Userspace stand-in for the kernel header of this name. */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/types.h>

#define min(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define max3(a, b, c) max(max(a, b), c)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP((unsigned long long)(n), (d))
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

__attribute__((format(printf, 3, 4)))
static inline int scnprintf(char *text, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	if (!size)
		return 0;
	va_start(arguments, format);
	length = vsnprintf(text, size, format, arguments);
	va_end(arguments);
	return length < (int)size ? length : (int)size - 1;
}

#endif
