/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel types for code of dm-ressd/core compiled in userspace.
 *
 * The exported kernel header comes first (__u8 .. __le64, with sparse's
 * __bitwise), so that system headers which include <linux/types.h> still find
 * what they need when this directory shadows it.
 */
#ifndef PORT_LINUX_TYPES_H
#define PORT_LINUX_TYPES_H

#ifndef __SANE_USERSPACE_TYPES__
/* 64-bit types are long long on every machine. */
#define __SANE_USERSPACE_TYPES__
#endif

#include_next <linux/types.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef u64 sector_t;

#ifdef __CHECKER__
#define __force			__attribute__((force))
#else
#define __force
#endif

/*
 * Byte order: the casts satisfy sparse, the glibc macros are right on any host.
 */
#define cpu_to_le16(x)		((__force __le16)htole16(x))
#define cpu_to_le32(x)		((__force __le32)htole32(x))
#define cpu_to_le64(x)		((__force __le64)htole64(x))
#define le16_to_cpu(x)		((u16)le16toh((__force u16)(__le16)(x)))
#define le32_to_cpu(x)		((u32)le32toh((__force u32)(__le32)(x)))
#define le64_to_cpu(x)		((u64)le64toh((__force u64)(__le64)(x)))

#endif
