/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the mover moves next (RE section 3.3): dirty blocks of full segments in ascending
 * normal-area order, a batch at a time.
 *
 * Context: caller holds the lock that protects the log.
 */
#ifndef RESSD_SWEEP_H
#define RESSD_SWEEP_H

#include "ressd-log.h"

struct ressd_move {
	u32 lbn;		/* normal block: destination */
	u32 block;		/* log block: source */
	u32 crc;		/* crc32c that the source must have */
};

struct ressd_sweep {
	u64 last_segment;	/* newest segment that belongs to the sweep */
	u64 next_lbn;		/* where to go on; beyond every block: the sweep is done */
};

/*
 * Freezes all full segments.  The caller must then wait until the records written before are on
 * the device (log->written_seq >= the value returned) and until the direct writes in flight are
 * done: one that was started before a block was logged must not land after the block was moved.
 */
u64 ressd_sweep_start(struct ressd_sweep *sweep, const struct ressd_log *log);

/* Picks up to @max moves in ascending order of lbn; 0: the sweep is done. */
u32 ressd_sweep_pick(struct ressd_sweep *sweep, const struct ressd_log *log,
		     struct ressd_move *moves, u32 max);

/* Length of the run of consecutive destinations (and with @sources also sources) at moves[0]. */
u32 ressd_sweep_run(const struct ressd_move *moves, u32 nr, bool sources);

#endif
