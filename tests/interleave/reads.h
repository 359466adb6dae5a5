/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef INTERLEAVE_READS_H
#define INTERLEAVE_READS_H

#include "threads.h"

/*
 * What is wrong with reads that take no lock, or NULL: of one block, of blocks whose bits are in
 * two words, beside a direct write, beside a failed flush, beside the second one of two.
 */
const char *explore_reads(u32 stale, u32 *states);
const char *explore_long_reads(u32 stale, u32 *states);
const char *explore_reads_of_written(u32 stale, u32 *states);
const char *explore_failed_flush(u32 stale, u32 *states);
const char *explore_two_failures(u32 stale, u32 *states);

#endif
