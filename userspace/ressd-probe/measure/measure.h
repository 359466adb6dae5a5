/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw I/O of the probe: one transfer at a time (queue depth 1), O_DIRECT, incompressible data,
 * within one region of a device and never outside.
 */
#ifndef PROBE_MEASURE_H
#define PROBE_MEASURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include "measure/disk.h"
#include "measure/rounds.h"

enum access {
	ACCESS_SEQUENTIAL_WRITE,
	ACCESS_SEQUENTIAL_READ,
	ACCESS_RANDOM_WRITE,
	ACCESS_ORDERED_WRITE,	/* ascending, one transfer every stride bytes */
	ACCESS_RANDOM_READ,
};

/*
 * How long one round lasts: until time or transfers are reached, but min_ops at least.  Where these
 * would take longer than slow_ns (0: as long as they may), as many as take that, but
 * MEASURE_LATE_OPS.  The first round, which is start-up, has to show that.
 */
struct effort {
	u64 round_ns;
	u64 min_ops;
	u64 max_ops;
	u64 slow_ns;
	u64 most_bytes;	/* written by a cell, after which there are no more rounds than needed */
};

#define MEASURE_UNITS	1024U	/* that the region is divided into, at most */

/* One call to the disk, for those who want to see all of them. */
struct sample {
	const char *phase;
	char kind;		/* 'r', 'w' or 'f' */
	u64 offset;		/* of the disk, bytes */
	u32 bytes;
	u64 ns;
};

struct measure {
	struct disk *disk;
	u64 offset;		/* of the region, multiple of 4096 */
	u64 bytes;		/* of the region, multiple of 4096 */
	u64 planned;		/* the region before measure_fill(): see measure_reach() */
	u64 sequential_ops;	/* of a round of sequential writes, at most; 0: as effort says */
	u32 sequential_bytes;	/* size of one sequential transfer, at most MEASURE_MAX_BYTES */
	struct effort effort;
	u64 deadline;		/* on the disk's clock: cells end early from then on; 0: none */
	u64 apart;		/* bytes: see measure_random_place(); 0: anywhere */
	u64 apart_phase;	/* the first multiple of it, bytes of the region */
	u16 apart_order[MEASURE_UNITS];
	unsigned int apart_turn;
	u64 whole_bytes;	/* rounds of ordered writes pass over multiples of it; 0: any */
	u64 fill_ns;		/* measure_fill() ends then, if enough is full; 0: never */
	u64 least_fill;		/* bytes: enough */
	u64 most_fill;		/* bytes: it ends then as well; 0: never */
	u64 write_limit;	/* bytes that may be written in all; 0: no limit */
	u64 written;		/* bytes so far */
	u64 spent_limit;	/* the limit at which a write was refused; 0: none was */
	u64 read;		/* bytes so far */
	u64 zero_reads;		/* transfers that returned nothing but zeroes */
	u64 random;		/* state of the generator */
	u64 stamp;		/* number of blocks written; makes every block unique */
	u8 *data;
	u64 *samples;
	/* While filling: @bytes are written, the last transfer took @ns.  May be NULL. */
	void (*filled)(void *context, u64 bytes, u64 ns);
	void *filled_context;
	void (*record)(void *context, const struct sample *sample);	/* each call; may be NULL */
	void *record_context;
	const char *phase;	/* for @record: what is being measured */
};

#define MEASURE_MAX_BYTES	(512U << 10)

/* Set by a signal handler: the transfer in progress is the last one. */
extern atomic_bool measure_interrupted;

/* Prepares @measure, whose first five members are set.  0, or a negative errno with a sentence. */
int measure_init(struct measure *measure, struct failure *failure);
void measure_release(struct measure *measure);

/*
 * Bytes that random writes go to: the region as planned, of which measure_fill() may have written
 * only a part.  In a part they might all find room in the drive's log blocks or spare blocks.
 */
u64 measure_reach(const struct measure *measure);

/*
 * Single timed calls; @at and @bytes (at most MEASURE_MAX_BYTES) are multiples of the disk's
 * granule and lie in the region, or -ERANGE.  A write takes fresh data; one that would exceed
 * write_limit is not made, nor any after it: -EDQUOT.  -ECANCELED when interrupted.  @ns may be
 * NULL.
 */
int measure_read(struct measure *measure, u64 at, u32 bytes, u64 *ns, struct failure *failure);
int measure_write(struct measure *measure, u64 at, u32 bytes, u64 *ns, struct failure *failure);
int measure_flush(struct measure *measure, u64 *ns, struct failure *failure);

/* Has write_limit refused a write, now or in the run that is resumed? */
bool measure_is_spent(const struct measure *measure);

/* Has the deadline come? */
bool measure_is_late(const struct measure *measure);

/*
 * Where a random write of @size bytes goes.  All over the device it rarely finds its clustered
 * block open from a write before; in the region, which is a tenth of it, it often would.  So the
 * region is divided into units of measure->apart bytes, and in each round of them every one has its
 * turn, in a random order and at a random place.
 */
u64 measure_random_place(struct measure *measure, u32 size);

/* A random number below @below. */
u64 measure_random(struct measure *measure, u64 below);

/*
 * Writes the whole region once, in order, and flushes.  When fill_ns are over and it has at least
 * least_fill bytes, what is written by then becomes the region.
 */
int measure_fill(struct measure *measure, struct failure *failure);

#define MEASURE_LATE_OPS	8U	/* of a round that would take too long, at least */

/*
 * One cell: transfers of @size bytes (multiple of 4096; sequential ones take their own size) until
 * rounds_want_more() is content or the deadline has come, after one round at least.  @stride only
 * for ACCESS_ORDERED_WRITE: bytes between the starts of transfers, multiple of 4096.  With
 * whole_bytes a round of these may be longer than effort says, unless max_ops is too low for it.
 * 0, -ECANCELED when interrupted, or another negative errno; all with a sentence.
 */
int measure_cell(struct measure *measure, enum access access, u32 size, u64 stride,
		 struct result *result, struct failure *failure);

#endif
