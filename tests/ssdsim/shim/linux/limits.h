/* SPDX-License-Identifier: GPL-2.0-only */
/* Userspace stand-in for the kernel header of this name. */
#ifndef SHIM_LIMITS_H
#define SHIM_LIMITS_H

#define U64_MAX	UINT64_MAX

#endif
