/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef INTERLEAVE_SPACE_H
#define INTERLEAVE_SPACE_H

#include "threads.h"

/*
 * What is wrong with the reuse of a slot, or NULL: by a small write while it is read and moved, by
 * a sync, beside a discard.
 */
const char *explore_write_for_slot(u32 stale, u32 *states);
const char *explore_sync_for_slot(u32 stale, u32 *states);
const char *explore_discard(u32 stale, u32 *states);

#endif
