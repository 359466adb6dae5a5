/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef INTERLEAVE_NOTES_H
#define INTERLEAVE_NOTES_H

#include "threads.h"

/*
 * What is wrong with notes of large writes, or NULL: of one processor, of two, more than are judged
 * at once, a full ring.
 */
const char *explore_notes(u32 stale, u32 *states);
const char *explore_two_rings(u32 stale, u32 *states);
const char *explore_more_notes(u32 stale, u32 *states);
const char *explore_full_notes(u32 stale, u32 *states);

#endif
