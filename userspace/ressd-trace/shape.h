/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a trace fit the device, and changes its times: what is replayed is what comes out of this.
 */
#ifndef TRACE_SHAPE_H
#define TRACE_SHAPE_H

#include "trace.h"

/* Where requests go that lie beyond the end of the region. */
enum fit {
	FIT_REFUSE,		/* nowhere: they are an error */
	FIT_FOLD,		/* back to the start: place modulo the region's size */
	FIT_PACK,		/* the MiBs that are used move together, then as above */
};

#define SHAPE_PACK_BYTES	1048576ULL
#define SHAPE_MAX_BURST		1024
#define SHAPE_USUAL_SPEED	1000	/* as recorded */

struct shape {
	u64 region_start;	/* bytes of the device that the trace is mapped to */
	u64 region_bytes;
	u32 block;		/* logical block of the device */
	enum fit fit;
	bool reads_only;
	u32 speed;		/* thousandths; 0: nobody waits for the time of a request */
	u32 burst;		/* writes arrive 1 .. burst at once (SC); 0: as recorded */
	u64 seed;		/* of the sizes of bursts */
};

/* What was changed. */
struct shaped {
	u64 rounded;		/* requests whose ends were moved to borders of blocks */
	u64 folded;
	u64 left_out;		/* writes and flushes, for reads_only */
	u64 span;		/* bytes up to the last one of the trace, sources side by side */
};

/* 0, or -EINVAL with a sentence that begins with @path, the trace's. */
int shape_trace(struct trace *trace, const char *path, const struct shape *shape,
		struct shaped *shaped, struct failure *failure);

#endif
