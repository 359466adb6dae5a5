/* SPDX-License-Identifier: GPL-2.0-only */
/* min, max and clamp; every argument is evaluated once. */
#ifndef PORT_LINUX_MINMAX_H
#define PORT_LINUX_MINMAX_H

#define min_t(type, a, b) ({						\
	type port_min_a = (a);						\
	type port_min_b = (b);						\
									\
	port_min_a < port_min_b ? port_min_a : port_min_b; })

#define max_t(type, a, b) ({						\
	type port_max_a = (a);						\
	type port_max_b = (b);						\
									\
	port_max_a > port_max_b ? port_max_a : port_max_b; })

/*
 * As in the kernel, the arguments must have one type: the comparison of
 * pointers warns.
 */
#define PORT_SAME_TYPE(a, b) \
	((void)((__typeof__(a) *)1 == (__typeof__(b) *)1))

#define min(a, b) ({ PORT_SAME_TYPE(a, b); min_t(__typeof__(a), a, b); })
#define max(a, b) ({ PORT_SAME_TYPE(a, b); max_t(__typeof__(a), a, b); })
#define max3(a, b, c)			max(max(a, b), c)
#define clamp_t(type, v, low, high)	min_t(type, max_t(type, v, low), high)
#define clamp(v, low, high)		clamp_t(__typeof__(v), v, low, high)

#define swap(a, b) do {							\
	__typeof__(a) port_swap = (a);					\
									\
	(a) = (b);							\
	(b) = port_swap;						\
} while (0)

#endif
