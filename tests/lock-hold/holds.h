/* SPDX-License-Identifier: GPL-2.0-only */
/* The log that is measured, in states that are worst for a step, and what measures steps. */
#ifndef HOLDS_H
#define HOLDS_H

#include "ressd-log.h"

#define SAMPLES		2		/* of a step that is taken many times */
#define SPREAD		97		/* steps between two samples */

extern struct ressd_log ressd;
extern struct ressd_io io;
extern u32 lbn_bits;		/* of the normal area's size */

/* An empty log of @mib MiB, and its end. */
void init(u32 mib, u32 cover_blocks);
void done_with(void);

/*
 * All segments but the head's and two free ones are full of blocks, clean or dirty; until
 * forget_filled() @mib must stay the same.
 */
void fill(u32 mib, bool clean);
void forget_filled(void);

/* Different for all log blocks, and in no order that a tree could like. */
static inline u32 lbn_of(u32 block)
{
	return (u32)((u64)block * 2654435761U) & ((1U << lbn_bits) - 1);
}

/* All I/O of a sync, not measured. */
void settle(void);

/* Calls @call with @context and reports what it takes. */
void measure(const char *what, void (*call)(void *context), void *context);
void report(const char *what, u64 nr);

/* The same some times, with steps between. */
void sample(const char *what, void (*call)(void *context), void *context);

/* All steps of a log of @mib MiB. */
void measure_log(u32 mib);
void measure_mover(u32 mib);
void measure_covers(u32 mib);

#endif
