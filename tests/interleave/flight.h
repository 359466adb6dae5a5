/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef INTERLEAVE_FLIGHT_H
#define INTERLEAVE_FLIGHT_H

#include "threads.h"

/* What is wrong with who waits for direct writes, or NULL. */
const char *explore_sweep(u32 stale, u32 *states);
const char *explore_two_sweeps(u32 stale, u32 *states);
const char *explore_hole(u32 stale, u32 *states);
const char *explore_logged(u32 stale, u32 *states);
const char *explore_batch(u32 stale, u32 *states);
const char *explore_two_batches(u32 stale, u32 *states);
const char *explore_repair(u32 stale, u32 *states);

#endif
