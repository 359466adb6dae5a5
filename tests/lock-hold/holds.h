/* SPDX-License-Identifier: GPL-2.0-only */
/* The steps that the module takes under one hold of the lock. */
#ifndef HOLDS_H
#define HOLDS_H

#include <linux/types.h>

#define SAMPLES		2		/* of a step that is taken many times */
#define SPREAD		97		/* steps between two samples */

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
