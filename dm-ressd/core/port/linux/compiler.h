/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_LINUX_COMPILER_H
#define PORT_LINUX_COMPILER_H

#define unlikely(x)		__builtin_expect(!!(x), 0)

#ifndef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#endif
#ifndef __printf
#define __printf(a, b)		__attribute__((format(printf, a, b)))
#endif

#endif
