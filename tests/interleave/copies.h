/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef INTERLEAVE_COPIES_H
#define INTERLEAVE_COPIES_H

#include "threads.h"
#include "asm/barrier.h"

/* What is wrong with copies into a record, or NULL. */
const char *explore_copies(u32 stale, u32 *states);

#endif
