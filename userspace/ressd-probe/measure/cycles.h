/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a random write costs on a drive that pauses.
 *
 * A drive whose log blocks are shared takes random writes at the speed of a log, until one is full
 * and reclaimed: a pause of seconds for hundreds of writes.  What a write costs is known over whole
 * cycles only, from the end of a pause to the end of another one; and one log block may cost ten
 * times as much as the next, so all of them count from the first pause on.
 */
#ifndef PROBE_CYCLES_H
#define PROBE_CYCLES_H

#include "measure/rounds.h"

#define CYCLES_GROUP	8U	/* writes; a buffer may hold hundreds, half a second each */
#define USUAL_GROUPS	32U	/* whose median says what is usual */

/* All 0 before the first group. */
struct cycles {
	u64 usual[USUAL_GROUPS];
	u64 pause_ns;		/* a group that takes longer holds a pause; 0: not known yet */
	unsigned int groups;
	unsigned int pauses;
	u64 longest_ns;			/* of them */
	u64 writes, ns;		/* so far */
	u64 first_writes, first_ns;	/* by the end of the first pause */
	struct result result;	/* since then; not done before the second pause */
};

/* CYCLES_GROUP random writes of @bytes each, and a flush, have taken @ns. */
void cycles_note(struct cycles *cycles, u32 bytes, u64 ns);

#endif
