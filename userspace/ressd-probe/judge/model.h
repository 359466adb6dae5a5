/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The analytical model of RE section 3.5, Eq. (1) to (5), generalised to any write size.
 *
 * All bandwidths are in bytes per second and must not be zero.  Times are in nanoseconds per 4 KiB.
 */
#ifndef PROBE_MODEL_H
#define PROBE_MODEL_H

#include <linux/types.h>

struct bandwidths {
	u64 sequential_write;		/* SW */
	u64 random_read;		/* RR, of this size */
	u64 random_write;		/* RW, of this size */
	u64 ordered_write;		/* OW, of this size */
};

struct cost {
	u64 direct_ns;		/* Eq. (1): 4 KiB at random, bare device */
	u64 log_ns;		/* first term of Eq. (2) */
	u64 move_ns;		/* second and third term at @alpha */
	u32 gain_percent;	/* direct / (log + move), 100 = no gain */
	bool worth;		/* Eq. (5): log + move < direct */
};

/* @alpha_percent: share of the logged blocks that is overwritten before being moved, 0..100. */
void model_evaluate(const struct bandwidths *bandwidths, u32 alpha_percent, struct cost *cost);

#endif
