// SPDX-License-Identifier: GPL-2.0-only
/*
 * dm-ressd-notes.h in all interleavings: large writes without the lock are noted on two processors,
 * while those who take the lock judge them, so many at once, as ressd_judge_notes() does.
 *
 * A note is judged once, whole and in its order; a ring with space refuses none; the flag tells of
 * what is left; and who takes the lock when a write was sent has its note judged, or knows that not
 * all are.
 */
#include "notes.h"
#include "dm-ressd-notes.h"

#define JUDGED	6	/* of a ring, at most */
#define FIRST	(0U - 30)	/* number of the first note: they soon begin again with 0 */

static struct {
	struct ressd_notes notes[NR_THREADS];
	struct ressd_note judged[NR_THREADS][JUDGED];
	u32 nr_judged[NR_THREADS];
	u32 lock;
	u32 sent[NR_THREADS];	/* so many, by who has noted them before */
	u32 added[NR_THREADS];
	bool noted;
} shared;

static u32 at_once;		/* so many are judged under one hold of the lock */
static u32 held;		/* the first ring holds so many at the start */

static struct ressd_note note_of(u32 ring, u32 nr)
{
	return (struct ressd_note) { .sector = nr + 1 + 1000ULL * ring, .sectors = nr + 3 };
}

/* --- the writers ------------------------------------------------------------------------------ */

static void write_once(void)
{
	u32 ring = thread_number(), nr = shared.added[ring];
	struct ressd_note note = note_of(ring, FIRST + nr);

	if (ressd_notes_add(&shared.notes[ring], &shared.noted, &note)) {
		thread_note(shared.added[ring], nr + 1);
		/* Pairs with the acquire in judge_sent(). */
		smp_store_release(&shared.sent[ring], nr + 1);
	} else if (nr < RESSD_MAX_NOTES) {
		thread_fail("a note is refused though there is space");
	}
}

static void write_twice(void)
{
	write_once();
	write_once();
}

/* --- who holds the lock ----------------------------------------------------------------------- */

/* judge_notes() */
static u32 judge_ring(void *context, struct ressd_notes *notes, u32 max)
{
	u32 i, ring = notes - shared.notes, nr = ressd_notes_ready(notes, max);

	(void)context;
	if (!nr)
		return 0;
	if (shared.nr_judged[ring] + nr > JUDGED) {
		thread_fail("more notes are judged than there are");
		return nr;
	}
	for (i = 0; i < nr; i++)
		ressd_notes_take(notes, i, &shared.judged[ring][shared.nr_judged[ring] + i]);
	ressd_notes_free(notes, nr);
	thread_note(shared.nr_judged[ring], shared.nr_judged[ring] + nr);
	return nr;
}

/* ressd_judge_noted(), by who has taken the lock: true if not all are judged. */
static bool judge_noted(void)
{
	bool more;

	thread_lock(&shared.lock);
	more = READ_ONCE(shared.noted) &&
	       ressd_notes_judge(shared.notes, &shared.noted, at_once, judge_ring, NULL);
	thread_unlock(&shared.lock);
	return more;
}

static void judge(void)
{
	judge_noted();
}

static void judge_sent(void)
{
	/* Pairs with the release in write_once(). */
	u32 sent = smp_load_acquire(&shared.sent[0]);

	if (!judge_noted() && shared.nr_judged[0] < sent)
		thread_fail("a write that was sent is not judged before a later one");
}

/* --- the search ------------------------------------------------------------------------------- */

/* As if the processor had noted them before, and nobody had taken the lock since. */
static void start(void)
{
	u32 nr, ring;

	for (ring = 0; ring < NR_THREADS; ring++) {
		shared.notes[ring].head = FIRST;
		shared.notes[ring].tail = FIRST;
	}
	for (nr = 0; nr < held; nr++)
		shared.notes[0].note[(FIRST + nr) % RESSD_MAX_NOTES] = note_of(0, FIRST + nr);
	shared.notes[0].head += held;
	shared.added[0] = held;
	shared.noted = held;
}

static void check_note(const struct ressd_note *note, u32 ring, u32 nr)
{
	const struct ressd_note right = note_of(ring, FIRST + nr);

	if (note->sector != right.sector || note->sectors != right.sectors)
		thread_fail("a note is not what was noted");
}

static void check_end(void)
{
	bool left = false;
	u32 ring, nr;

	for (ring = 0; ring < NR_THREADS; ring++) {
		const struct ressd_notes *notes = &shared.notes[ring];

		if (notes->tail != FIRST + shared.nr_judged[ring] ||
		    notes->head != FIRST + shared.added[ring])
			thread_fail("a note is lost");
		for (nr = 0; nr < shared.nr_judged[ring]; nr++)
			check_note(&shared.judged[ring][nr], ring, nr);
		for (; nr < shared.added[ring]; nr++)
			check_note(&notes->note[(FIRST + nr) % RESSD_MAX_NOTES], ring, nr);
		left |= notes->head != notes->tail;
	}
	if (left && !shared.noted)
		thread_fail("nobody hears of a note");
}

static const char *explore(void (*const *threads)(void), int nr, u32 max, u32 nr_held,
			   u32 stale, u32 *states)
{
	at_once = max;
	held = nr_held;
	return threads_explore(threads, nr, &shared, sizeof(shared), start, check_end, stale,
			       states);
}

/* All are judged at once. */
const char *explore_notes(u32 stale, u32 *states)
{
	void (*const threads[])(void) = { write_once, judge, judge_sent };

	return explore(threads, 3, JUDGED, 0, stale, states);
}

const char *explore_two_rings(u32 stale, u32 *states)
{
	void (*const threads[])(void) = { write_once, judge_sent, write_once };

	return explore(threads, 3, JUDGED, 0, stale, states);
}

/* One is judged at once. */
const char *explore_more_notes(u32 stale, u32 *states)
{
	void (*const threads[])(void) = { judge, write_twice };

	return explore(threads, 2, 1, 0, stale, states);
}

/* There is space for one more. */
const char *explore_full_notes(u32 stale, u32 *states)
{
	void (*const threads[])(void) = { write_twice, judge };

	return explore(threads, 2, 2, RESSD_MAX_NOTES - 1, stale, states);
}
