// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large writes of blocks that are not mapped: they go to the normal area
 * without the lock.  Called by the router before it takes the lock;
 * dm-ressd-flight.h says why that is sound.
 *
 * The pattern identifier needs each write, for a small one may continue it, and
 * its state is under the lock.  So each processor notes the large writes that
 * it has sent; the next write that is judged under the lock has the notes
 * judged first.  A processor whose notes are full takes the lock for its next
 * write.
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
	struct ressd_notes *notes = &get_cpu_ptr(ressd->seen)->notes;
	u32 head = notes->head;
	/*
	 * Pairs with the release in judge_notes(): the place is not read any
	 * more.
	 */
	bool space = head - smp_load_acquire(&notes->tail) < RESSD_MAX_NOTES;

	if (space) {
		notes->note[head % RESSD_MAX_NOTES] = (struct ressd_note) {
			.sector = e->sector, .sectors = e->sectors,
		};
		/* Pairs with the acquire in judge_notes(). */
		smp_store_release(&notes->head, head + 1);
		smp_mb();	/* pairs with that in ressd_judge_notes() */
		if (!READ_ONCE(ressd->noted))
			WRITE_ONCE(ressd->noted, true);
	}
	put_cpu_ptr(ressd->seen);
	return space;
}

/* Those of one processor, at most @max; returns how many. */
static u32 judge_notes(struct ressd *ressd, struct ressd_notes *notes, u32 max)
{
	/* Pairs with the release in note_write(). */
	u32 nr, head = smp_load_acquire(&notes->head);

	lockdep_assert_held(&ressd->lock);
	if (notes->tail == head)
		return 0;
	for (nr = 0; notes->tail + nr != head && nr < max; nr++) {
		const struct ressd_note *note =
			&notes->note[(notes->tail + nr) % RESSD_MAX_NOTES];

		ressd->counters.writes++;
		ressd_pattern_write(&ressd->pattern, note->sector,
				    note->sectors,
				    ressd_mover_sweeps(ressd->mover.state));
	}
	/* Pairs with the acquire in note_write(). */
	smp_store_release(&notes->tail, notes->tail + nr);
	return nr;
}

static bool judge_some(struct ressd *ressd)
{
	/*
	 * This processor's first: the write that is judged next may continue
	 * one of them.
	 */
	u32 nr = judge_notes(ressd, &raw_cpu_ptr(ressd->seen)->notes,
			     JUDGED_AT_ONCE);
	int cpu;

	lockdep_assert_held(&ressd->lock);
	for_each_possible_cpu(cpu) {
		if (nr == JUDGED_AT_ONCE)
			return true;
		nr += judge_notes(ressd, &per_cpu_ptr(ressd->seen, cpu)->notes,
				  JUDGED_AT_ONCE - nr);
	}
	return false;
}

bool ressd_judge_notes(struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	WRITE_ONCE(ressd->noted, false);
	/* Pairs with that in note_write(): we see the note, or it sets this. */
	smp_mb();
	if (!judge_some(ressd))
		return false;
	WRITE_ONCE(ressd->noted, true);
	return true;
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
	unsigned int generation;

	/*
	 * FUA: a sync may have to follow.  Covered blocks: a run may hold them,
	 * or they are logged.  Shaped: the rest of the last one is under the
	 * lock.
	 */
	if (bio->bi_opf & REQ_FUA || e->first < ressd->log.cover_blocks ||
	    ressd_shape_is_used())
		return false;
	if (!ressd_flight_enter(&ressd->seen->flight, &ressd->gate,
				&ressd->regions, e->first, e->last,
				&generation) ||
	    !note_write(ressd, e)) {
		ressd_count_out(ressd, generation);
		return false;
	}
	rb->flags = RESSD_BIO_DIRECT;
	rb->generation = generation;
	ressd_remap_normal(ressd, bio);
	return true;
}
