/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the mover moves next (RE section 3.3): dirty blocks of full segments in
 * ascending normal-area order, a batch at a time.
 *
 * Where the device's clustered block is known (ressd_sweep_visits()), the mover
 * goes round from one to the next that the oldest segment has blocks for, and a
 * visit takes along what younger segments hold for it: the device's costs are
 * those of a clustered block more than those of a write.  A sweep ends when the
 * oldest segment is empty, and the next one goes on where it ended.  So the log
 * is nearly full all the time, and a visit finds the blocks of a whole round:
 * twice as many as if half of the log were frozen and emptied at one go.  With
 * enough of them the whole clustered block is rewritten in order, which spares
 * the device a merge; the holes between the moves are read from home and
 * written back.
 *
 * Context: caller holds the lock that protects the log.
 */
#ifndef RESSD_SWEEP_H
#define RESSD_SWEEP_H

#include "ressd-log.h"

struct ressd_move {
	u32 lbn;	/* normal block: destination */
	u32 block;	/* source in the log; RESSD_NO_BLOCK: a hole, home */
	u32 crc;	/* crc32c that the source must have; not for a hole */
};

static inline bool ressd_move_is_hole(const struct ressd_move *move)
{
	return move->block == RESSD_NO_BLOCK;
}

struct ressd_sweep {
	u64 last_segment;	/* newest segment that belongs to the sweep */
	u64 next_lbn;		/* where to go on; beyond all blocks: done */
	u64 frozen;		/* blocks of its segments picked so far */
	u32 visit_blocks;	/* of a clustered block; 0: no visits */
	u32 visit_phase;	/* normal block 0 is this far into one */
	u32 fill_blocks;	/* logged blocks to rewrite one; 0: never */
	u64 visit_end;		/* end of the clustered block visited now */
	u64 from_lbn;		/* where the round began */
	bool wrapped;		/* it went on at the first block */
	bool filling;		/* it is rewritten whole */
	u64 searched_lbn;	/* nothing to visit from next_lbn to here */
	/*
	 * Counting what the log holds of the block to be visited, to decide
	 * whether to fill it.
	 */
	bool counting;
	bool has_runs;		/* more than one */
	u32 counted;
	u64 run_end;		/* behind the block that was counted last */
	u64 count_lbn;		/* where that goes on */
	/*
	 * The last pick has ended early, and the batch is to be completed by
	 * another one.
	 */
	bool cut;
	u32 left;		/* nodes that it may still look at */
};

/* Visits since the log's last record was written. */
struct ressd_visits {
	u64 end;	/* of the last one: sweep->visit_end */
	u64 records;	/* log->counters.records when it began */
	u32 nr;
};

/*
 * Freezes all full segments.  The caller must then wait until the records
 * written before are on the device (log->written_seq >= the value returned) and
 * until the direct writes in flight are done: one that was started before a
 * block was logged must not land after the block was moved.
 */
u64 ressd_sweep_start(struct ressd_sweep *sweep, const struct ressd_log *log);

/*
 * Only the oldest segment that holds anything is to be emptied: visits go where
 * its blocks are, and take along what the log holds there.
 */
void ressd_sweep_oldest(struct ressd_sweep *sweep, const struct ressd_log *log);

/*
 * Visits clustered blocks of @visit_blocks, from the next pick on; normal block
 * 0 is @phase blocks into one (less than @visit_blocks).  One with @fill_blocks
 * logged blocks or more, in more than one run, is rewritten whole; 0: none ever
 * is.  The round begins at @from, the end of the last visit.
 */
void ressd_sweep_visits(struct ressd_sweep *sweep, u32 visit_blocks, u32 phase,
			u32 fill_blocks, u64 from);

/*
 * True between two visits: a sweep may end here if the oldest segment is empty.
 */
static inline bool ressd_sweep_between_visits(const struct ressd_sweep *sweep)
{
	return sweep->visit_blocks && sweep->next_lbn >= sweep->visit_end;
}

/*
 * Before a batch is written back: does a visit begin for which a device of
 * @open_units (0: unknown) closes the log's own clustered block, because that
 * was written to least recently?  The log's next record would then cost two
 * merges; a record written before the visit saves them.  True only if there is
 * data for one.
 */
bool ressd_visits_close_log(struct ressd_visits *visits,
			    const struct ressd_sweep *sweep,
			    struct ressd_log *log, u32 open_units);

/*
 * Picks up to @max moves in ascending order of lbn; 0: the sweep is done.
 * Among them can be holes.  With sweep->cut set it has ended early, so as not
 * to hold the lock for long, with few moves or none: another pick goes on where
 * it ended.  With holes, and where blocks of younger segments are taken along,
 * the caller must not start to read before every direct write that was in
 * flight at the time of the pick is done, and must hold up those that come
 * later until the moves have been written.
 */
u32 ressd_sweep_pick(struct ressd_sweep *sweep, const struct ressd_log *log,
		     struct ressd_move *moves, u32 max);

/*
 * The same for a batch that has moves already: what follows these, up to the
 * end of the visit; 0 and not cut: the batch is complete.
 */
u32 ressd_sweep_pick_more(struct ressd_sweep *sweep,
			  const struct ressd_log *log, struct ressd_move *moves,
			  u32 max);

/*
 * Turns a move into a hole: something else is about to write its destination.
 */
static inline void ressd_move_make_hole(struct ressd_move *move)
{
	move->block = RESSD_NO_BLOCK;
}

/* Length of the run of consecutive destinations at moves[0]. */
u32 ressd_sweep_run_length(const struct ressd_move *moves, u32 nr);

/*
 * Length of the read from the log that begins with moves[0], which is no hole:
 * consecutive sources, wherever they go and whatever holes are between, so what
 * was logged in ascending order is read in few commands.  *@blocks: how many
 * are read.
 */
u32 ressd_sweep_log_run(const struct ressd_move *moves, u32 nr, u32 *blocks);

/*
 * A batch with holes is read in two steps: first from home, then from the log
 * what it holds, which is newer.  Length of the read from home that begins with
 * the hole moves[0]; 0: that is none.  It ends with a hole, but may go on over
 * a few logged blocks, for the sake of fewer commands.
 */
u32 ressd_sweep_home_run(const struct ressd_move *moves, u32 nr);

#endif
