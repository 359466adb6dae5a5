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
/* Where it has found no place. */
const char *explore_sweep_listed(u32 stale, u32 *states);
const char *explore_two_sweeps_listed(u32 stale, u32 *states);
const char *explore_batch_listed(u32 stale, u32 *states);
const char *explore_repair_listed(u32 stale, u32 *states);

#endif
