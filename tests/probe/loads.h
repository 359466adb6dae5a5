/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What loads of applications gain by the log, from what single writes cost.  ressd-probe says
 * nothing of these; tools/probe_answer.py compares them with the model of the target.
 */
#ifndef PROBE_LOADS_H
#define PROBE_LOADS_H

#include "judge/analyse.h"

enum load {
	LOAD_COMMITS,	/* 4 KiB anywhere, and a flush */
	LOAD_ZIPF,	/* 4 KiB, where the distribution of Zipf (1.1) has it */
	LOAD_FLOWS,	/* 4 KiB to one of two places that ascend by turns, and a flush */
	NR_LOADS,
};

/* ns for each 4 KiB, as far as it is not said otherwise. */
struct load_costs {
	u64 direct_ns;		/* of a random write */
	u64 log_ns;		/* in a record of many */
	u64 move_ns;		/* to bring a block home, by the mover's distances */
	u64 in_order_ns;	/* written in order */
	u64 flush_ns;		/* of a flush after a write; 0: there is nothing to flush */
	u64 commit_ns;		/* of a write and a flush that open no clustered block */
	u64 blocks;		/* that the writes go to */
	u64 logged;		/* writes that the log holds when the mover comes, on average */
	u32 overwritten_percent;	/* of them, if all blocks are written to alike */
};

/* All 0 without a rehearsal. */
void load_costs_of(struct load_costs *costs, const struct measurements *measurements,
		   const struct finding *findings, const struct analysis *analysis);

const char *load_name(enum load load);

/* Percent of @logged writes to @blocks, as LOAD_ZIPF has them, that others overwrite. */
u32 load_zipf_overwritten(u64 blocks, u64 logged);

/* Gain in percent if all of it goes through the log; 0: not known. */
u32 load_gain(enum load load, const struct load_costs *costs);

#endif
