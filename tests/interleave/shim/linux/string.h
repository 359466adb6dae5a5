/* SPDX-License-Identifier: GPL-2.0-only */
/* As asm/barrier.h. */
#ifndef INTERLEAVE_LINUX_STRING_H
#define INTERLEAVE_LINUX_STRING_H

#include <string.h>
#include "threads.h"

#define memcpy(to, from, bytes)		thread_copy(to, from, bytes)

#endif
