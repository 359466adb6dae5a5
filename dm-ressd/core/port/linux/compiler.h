/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PORT_LINUX_COMPILER_H
#define PORT_LINUX_COMPILER_H

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

#ifndef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#endif
#ifndef __must_check
#define __must_check		__attribute__((warn_unused_result))
#endif
#ifndef __maybe_unused
#define __maybe_unused		__attribute__((unused))
#endif
#ifndef __packed
#define __packed		__attribute__((packed))
#endif
#ifndef fallthrough
#define fallthrough		__attribute__((fallthrough))
#endif
#ifndef __printf
#define __printf(a, b)		__attribute__((format(printf, a, b)))
#endif

#endif
