/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_LINUX_STRING_H
#define PORT_LINUX_STRING_H

#include <string.h>
#include <linux/types.h>

/* First byte of @start that is not @c, or NULL: the opposite of memchr. */
static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)start;
	const unsigned char value = (unsigned char)c;

	if (!bytes || (*p == value && !memcmp(p, p + 1, bytes - 1)))
		return NULL;
	while (*p == value)
		p++;
	return (void *)p;
}

#endif
