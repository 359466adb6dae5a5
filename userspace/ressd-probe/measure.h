/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw I/O of the probe: one transfer at a time (queue depth 1), O_DIRECT, incompressible data,
 * within one region of a device and never outside.
 */
#ifndef PROBE_MEASURE_H
#define PROBE_MEASURE_H

#include <stdatomic.h>
#include "blkdev.h"
#include "rounds.h"

enum access {
	ACCESS_SEQUENTIAL_WRITE,
	ACCESS_SEQUENTIAL_READ,
	ACCESS_RANDOM_WRITE,
	ACCESS_ORDERED_WRITE,	/* ascending, one transfer every stride bytes */
	ACCESS_RANDOM_READ,
};

/* How long one round lasts: until time or transfers are reached, but min_ops at least. */
struct effort {
	u64 round_ns;
	u64 min_ops;
	u64 max_ops;
};

struct measure {
	const struct blkdev *dev;
	u64 offset;		/* of the region, multiple of 4096 */
	u64 bytes;		/* of the region, multiple of 4096 */
	u32 sequential_bytes;	/* size of one sequential transfer, at most MEASURE_MAX_BYTES */
	struct effort effort;
	u64 written;		/* bytes so far */
	u64 zero_reads;		/* transfers that returned nothing but zeroes */
	u64 random;		/* state of the generator */
	u64 stamp;		/* number of blocks written; makes every block unique */
	u8 *data;
	u64 *samples;
	void (*progress)(unsigned int percent);	/* while initialising; may be NULL */
};

#define MEASURE_MAX_BYTES	(512U << 10)

/* Set by a signal handler: the transfer in progress is the last one. */
extern atomic_bool measure_interrupted;

/* Prepares @measure, whose first five members are set.  0, or a negative errno with a sentence. */
int measure_init(struct measure *measure, struct failure *failure);
void measure_release(struct measure *measure);

/* Writes the whole region once, in order, and flushes. */
int measure_fill(struct measure *measure, struct failure *failure);

/*
 * One cell: transfers of @size bytes (multiple of 4096; sequential ones take their own size) until
 * rounds_want_more() is content.  @stride only for ACCESS_ORDERED_WRITE: bytes between the starts
 * of transfers, multiple of 4096.  0, -ECANCELED when interrupted, or another negative errno; all
 * with a sentence.
 */
int measure_cell(struct measure *measure, enum access access, u32 size, u64 stride,
		 struct result *result, struct failure *failure);

#endif
