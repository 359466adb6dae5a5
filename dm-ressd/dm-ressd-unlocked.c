// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large writes of blocks that are not mapped: they go to the normal area
 * without the lock.  Called by the router before it takes the lock;
 * dm-ressd-flight.h says why that is sound.
 *
 * The pattern identifier needs each write, for a small one may continue it, and
 * its state is under the lock.  So each processor notes the large writes that
 * it has sent (dm-ressd-notes.h); the next write that is judged under the lock
 * has the notes judged first.  A processor whose notes are full takes the lock
 * for its next write.
 */
#include <linux/blkdev.h>

#include "dm-ressd-io.h"

/*
 * So many are judged under one hold of the lock; see TIME UNDER THE LOCK in
 * core/ressd-log.h.
 */
#define JUDGED_AT_ONCE	64

/* --- notes ---------------------------------------------------------------- */

static bool note_write(struct ressd *ressd, const struct ressd_extent *e)
{
	const struct ressd_note note = {
		.sector = e->sector, .sectors = e->sectors,
	};
	bool added = ressd_notes_add(&get_cpu_ptr(ressd->seen)->notes,
				     &ressd->noted, &note);

	put_cpu_ptr(ressd->seen);
	return added;
}

/* Those of one processor, at most @max; returns how many. */
static u32 judge_notes(void *context, struct ressd_notes *notes, u32 max)
{
	u32 i, nr = ressd_notes_ready(notes, max);
	struct ressd *ressd = context;
	struct ressd_note note;

	lockdep_assert_held(&ressd->lock);
	if (!nr)
		return 0;
	for (i = 0; i < nr; i++) {
		ressd_notes_take(notes, i, &note);
		ressd->counters.writes++;
		ressd_pattern_write(&ressd->pattern, note.sector, note.sectors,
				    ressd_mover_sweeps(ressd->mover.state));
	}
	ressd_notes_free(notes, nr);
	return nr;
}

bool ressd_judge_notes(struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd_notes_judge(&ressd->seen->notes, &ressd->noted,
				 JUDGED_AT_ONCE, judge_notes, ressd);
}

void ressd_judge_all_noted(struct ressd *ressd)
{
	bool more;

	do {
		spin_lock(&ressd->lock);
		more = ressd_judge_noted(ressd);
		spin_unlock(&ressd->lock);
	} while (more);
}

/* --- writes --------------------------------------------------------------- */

bool ressd_write_unlocked(struct ressd *ressd, struct bio *bio,
			  struct ressd_bio *rb, const struct ressd_extent *e)
{
	/*
	 * FUA: a sync may have to follow.  Covered blocks: a run may hold them,
	 * or they are logged.  Shaped: the rest of the last one is under the
	 * lock.
	 */
	if (bio->bi_opf & REQ_FUA || e->first < ressd->log.cover_blocks ||
	    ressd_shape_is_used())
		return false;
	if (!ressd_flight_enter(&ressd->flight, &ressd->gate, &ressd->regions,
				&rb->flying, e->first, e->last) ||
	    !note_write(ressd, e)) {
		ressd_count_out(ressd, rb);
		return false;
	}
	rb->flags = RESSD_BIO_DIRECT;
	ressd_remap_normal(ressd, bio);
	return true;
}
