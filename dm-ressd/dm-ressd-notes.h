/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes of large writes that took no lock, which the pattern identifier is yet
 * to hear of: a ring for each processor, and a flag for all of them.
 *
 * A processor adds to its own ring, with preemption off; who holds the lock
 * takes notes out of any.  The invariants: a note is taken once, whole, and
 * after those that its processor has added before; and who takes the lock when
 * a note was added sees the flag, or another one has taken that note.
 *
 * For the latter of two that store, then load what the other one has stored, at
 * least one sees the other: who adds stores the note, then looks whether the
 * flag is set; who takes clears the flag, then looks for notes.
 *
 * tests/interleave runs this code in all interleavings and orders of stores,
 * and with loads that are late, with bugs planted; for that the accesses are
 * marked, or memcpy(), though a ring's ends are each changed by one side only.
 */
#ifndef DM_RESSD_NOTES_H
#define DM_RESSD_NOTES_H

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>

#define RESSD_MAX_NOTES	32U

struct ressd_note {
	u64 sector;
	u32 sectors;
};

struct ressd_notes {
	struct ressd_note note[RESSD_MAX_NOTES];
	u32 head;	/* the next one's number; by its processor */
	u32 tail;	/* the oldest one's; under the lock */
};

/* To this processor's ring: false if that is full.  With preemption off. */
static inline bool ressd_notes_add(struct ressd_notes *notes, bool *noted,
				   const struct ressd_note *note)
{
	u32 head = READ_ONCE(notes->head);

	/*
	 * Pairs with the release in ressd_notes_free(): the place is not read
	 * any more.
	 */
	if (head - smp_load_acquire(&notes->tail) >= RESSD_MAX_NOTES)
		return false;
	memcpy(&notes->note[head % RESSD_MAX_NOTES], note, sizeof(*note));
	/* Pairs with the acquire in ressd_notes_ready(). */
	smp_store_release(&notes->head, head + 1);
	smp_mb();	/* pairs with that in ressd_notes_judge() */
	if (!READ_ONCE(*noted))
		WRITE_ONCE(*noted, true);
	return true;
}

/* Under the lock, as all below: so many can be taken, at most @max. */
static inline u32 ressd_notes_ready(const struct ressd_notes *notes, u32 max)
{
	/* Pairs with the release in ressd_notes_add(). */
	u32 head = smp_load_acquire(&notes->head);

	return min(head - READ_ONCE(notes->tail), max);
}

/* The one number @nr of these. */
static inline void ressd_notes_take(const struct ressd_notes *notes, u32 nr,
				    struct ressd_note *note)
{
	nr += READ_ONCE(notes->tail);
	memcpy(note, &notes->note[nr % RESSD_MAX_NOTES], sizeof(*note));
}

/* The first @nr were taken: their places are free. */
static inline void ressd_notes_free(struct ressd_notes *notes, u32 nr)
{
	/* Pairs with the acquire in ressd_notes_add(). */
	smp_store_release(&notes->tail, READ_ONCE(notes->tail) + nr);
}

/*
 * Has @judge take notes of all processors, at most @max; it returns how many of
 * these it took of one.  True: not all.
 */
static __always_inline bool
ressd_notes_judge(struct ressd_notes __percpu *notes, bool *noted, u32 max,
		  u32 (*judge)(void *context, struct ressd_notes *notes,
			       u32 max),
		  void *context)
{
	int cpu;
	u32 nr;

	WRITE_ONCE(*noted, false);
	/*
	 * Pairs with that in ressd_notes_add(): we see the note, or it sets
	 * this.
	 */
	smp_mb();
	/*
	 * This processor's first: the write that is judged next may continue
	 * one of them.
	 */
	nr = judge(context, raw_cpu_ptr(notes), max);
	for_each_possible_cpu(cpu) {
		if (nr == max)
			break;
		nr += judge(context, per_cpu_ptr(notes, cpu), max - nr);
	}
	/* The last one may have more, too. */
	if (nr < max)
		return false;
	WRITE_ONCE(*noted, true);
	return true;
}

#endif
