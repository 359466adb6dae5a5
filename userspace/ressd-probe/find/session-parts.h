/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a session: session.c, which runs them in order, cells.c, rehearsals.c and
 * dispatch.c.
 */
#ifndef PROBE_SESSION_PARTS_H
#define PROBE_SESSION_PARTS_H

#include "find/session.h"

#define SECOND		1000000000ULL
#define BLOCK		4096U

/* What is needed, of 4 KiB and of 8 KiB as well; the others only if there is time. */
#define NEEDED_4K	5U
#define NEEDED_CELLS	8U

/*
 * The verdict rests on the smallest writes: so much longer are their rounds, which pass over some
 * clustered blocks and let a drive that maps pages collect what others have left; and those of the
 * reads that tell which pauses are another load's.
 */
#define VERDICT_ROUNDS	4

/* Device time of each part, seconds; what one part leaves over is not the next one's. */
struct budget {
	unsigned int fill;
	unsigned int survey;
	unsigned int kept;		/* for aging, whatever the survey has used up */
	unsigned int cells;
	unsigned int rehearsal;
	unsigned int sweep;
	unsigned int dispatch;		/* twice that, if so much is left; 0: leave it out */
	unsigned int age;		/* at most, of the time that the survey has left */
	unsigned int cycles;		/* likewise where there are pauses */
	u64 least_fill;			/* bytes that are filled, however slow the drive */
	u64 most_fill;			/* likewise, however fast; 0: all of the region */
	u64 aged;			/* bytes that are written when aging ends; 0: any */
	u64 rehearsed;			/* bytes after which no larger writes are rehearsed */
	unsigned int sequential;	/* writes in order of a round, at most */
	unsigned int needed;		/* cells that are measured, however late it is ... */
	bool only_needed;		/* ... and the others behind all else, if there is time */
	struct effort effort;		/* of a cell */
};

/* session-parts.c */

const struct budget *session_budget(const struct session *session);

u64 session_now(const struct session *session);

/*
 * When a part must end that may take @seconds: so early that those behind it, which may take
 * @behind seconds, and the last one, keep their time, whatever those before it have used up.
 */
u64 session_end_of_part(const struct session *session, unsigned int seconds, unsigned int behind);

/* Tell the watcher. */
void session_show_step(const struct session *session, const char *name);
void session_end_step(const struct session *session);

/* Does each place have a block of its own, some of which the drive keeps open? */
bool session_has_open_blocks(const struct session *session);

bool session_may_write_more(const struct session *session);

/* The limit ends the writing; what was measured by then is still good. */
int session_take_limit(int code);

bool session_flush_ignored(const struct session *session);

/* cells.c: parts, in their order.  0, or a negative errno with a sentence, as all parts. */

/*
 * Where flushes are ignored, a read or a write in order may have to wait for all the random writes
 * that the drive has buffered, half a second each: so these come before them, not to pay for them.
 */
int cells_run_cheap(struct session *session, struct failure *failure);

/*
 * A drive that puts random writes wherever there is room is fast until its spare blocks are used
 * up.  So some are written before any is measured, where the survey has left the time.
 */
int cells_age(struct session *session, struct failure *failure);

/*
 * Right behind the aging: on a drive that maps pages writes in order leave garbage that costs
 * nothing to collect.
 */
int cells_run_random(struct session *session, struct failure *failure);

int cells_run(struct session *session, struct failure *failure);

/* What is not needed, if the parts before have left the time. */
int cells_run_rest(struct session *session, struct failure *failure);

/*
 * Ordered writes at several distances, shortly: what the mover gains by a denser sweep.  A quick
 * run has only the time for it that the other parts have left.
 */
int cells_run_sweep(struct session *session, struct failure *failure);

/* rehearsals.c: ever larger writes, as long as the log pays for them. */
int rehearsals_run(struct session *session, struct failure *failure);

/* dispatch.c, the last one: do reads gain if they go before bundles of writes? */
int dispatch_run(struct session *session, struct failure *failure);

#endif
