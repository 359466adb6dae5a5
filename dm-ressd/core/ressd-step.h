/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far a sweep is, and who is ahead: the mover, or the writers, who use up
 * room meanwhile.  No rate is estimated: the room that is used is the clock.
 *
 * A sweep that visits clustered blocks (ressd-sweep.h) ends when its oldest
 * segment is empty.  How far it is follows from the visits that the blocks of
 * that segment still take, by a sample of them, and from how much of the one
 * under way is done: visits are what takes time, and not the segment's few
 * blocks in them.
 *
 * Two thirds of the room that there is when a sweep begins are the writers' at
 * once, so that none is held while there is plenty, and visits find much to
 * move; the rest becomes theirs little by little as the sweep goes on, so that
 * they do not find the log suddenly full.
 *
 * The mover is ahead when it has done more of the sweep than the writers have
 * used of what it gains, or of half of the room if that is more; by a record
 * more.  So it does not run ahead of commits, which leave the device to it for
 * most of the time: a fifth of the log stays free, no matter how slow they are,
 * and the rest waits for visits that find much.  Never both are ahead.
 *
 * With visits room comes a whole round after the visit that makes it.  A mover
 * that waited for the room to be scarce would be a round late, with writers
 * faster than that, and they would be held until it has gone round.  What is
 * still to be moved tells it at once: if that is more than a third of the log,
 * the mover is ahead only when it has done more of the sweep than the writers
 * have used of half of what it gains.  That is two thirds of a log in use, half
 * of what is in use being home already; and commits, whose headers fill the
 * log, never come to it.
 *
 * Context: caller holds the lock that protects the log.
 */
#ifndef RESSD_STEP_H
#define RESSD_STEP_H

#include "ressd-log.h"
#include "ressd-sweep.h"

#define RESSD_STEP_WHOLE	65536U	/* a sweep that is done */

struct ressd_step {
	u64 goal;	/* segment to be emptied, or the newest of the sweep */
	u64 blocks;	/* without visits: to be moved */
	u64 reused;	/* log->reuse_seq when the sweep began */
	u32 free;	/* room then, in blocks */
	u32 room;	/* what of it writers may use */
	u32 gain;	/* room at the sweep's end, in blocks */
	u32 done;	/* of RESSD_STEP_WHOLE */
	u32 visited;	/* the same, when the visit under way began */
	u32 visit;	/* and what that adds */
	u64 visit_end;	/* where it ends; 0: none is under way */
};

/*
 * A sweep begins: after ressd_sweep_start(), with ressd_sweep_visits() or
 * without.
 */
void ressd_step_start(struct ressd_step *step, const struct ressd_sweep *sweep,
		      const struct ressd_log *log);

/* Some of it has been moved. */
void ressd_step_moved(struct ressd_step *step, const struct ressd_sweep *sweep,
		      const struct ressd_log *log);

/*
 * True if the sweep has gained a segment, or can: the oldest one is empty, or
 * commits, which announce what is dead as well, have made it reusable already.
 */
static inline bool ressd_step_has_room(const struct ressd_step *step,
				       const struct ressd_log *log)
{
	return log->reuse_seq > step->goal || ressd_log_can_reclaim(log);
}

/* Have the writers, or has the mover, to wait for the other one? */
bool ressd_step_writer_is_ahead(const struct ressd_step *step,
				const struct ressd_log *log);
bool ressd_step_mover_is_ahead(const struct ressd_step *step,
			       const struct ressd_log *log);

#endif
