/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of sectors that threads hold for themselves, one range a thread.  Operations on
 * overlapping ranges follow one another; those that only share a 4 KiB block run at once.
 */
#ifndef RANGES_H
#define RANGES_H

#include <stdint.h>

#define MAX_THREADS	32U

/* Waits until no other thread holds a sector of the range, then takes it. */
void range_lock(unsigned int thread, uint64_t start, uint64_t sectors);
void range_unlock(unsigned int thread);

#endif
