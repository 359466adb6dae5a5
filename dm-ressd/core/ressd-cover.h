/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cover: while the log is not drained the bare disk must not look like a
 * file system.
 *
 * The first blocks of the normal area hold what a file system, partition table,
 * volume or swap space is recognised by.  While the log holds anything, the
 * newest version of these blocks is in the log only, and their places on the
 * disk hold covers: sectors that say what this is and how to open it.  The
 * superblock says how many blocks (struct ressd_super, cover_blocks); 0: none,
 * as in areas that were formatted before there were covers.
 *
 * The log is COVERED or not, and each record says which
 * (RESSD_RECORD_UNCOVERED).  The last record of the chain decides:
 *
 *	covered		the log counts, as ever.  All covers stand, durably,
 *			before the first such record is written, and the log
 *			holds each covered block.
 *	uncovered	home counts.  The log holds copies of the covered blocks
 *			at most; one counts where home holds a cover, sector by
 *			sector.  Everything else that was in the log is home,
 *			durably, before the first such record is written.
 *
 * So both ways between a plain disk and a covered one lead through states in
 * which home may hold any part of the covers, and nothing but a cover stands
 * for the log's copy: a change of the bare disk counts then.  Block 0
 * gets its cover, durably, before the other blocks get theirs, and comes home
 * after them.
 *
 *	cover:		copies into the log, sync; cover of block 0, sync; the
 *			other covers, sync; from now on the log is covered and
 *			accepts data.
 *	uncover:	everything else is home, and all covers stand; an
 *			uncovered record, durably and after a flush; the other
 *			blocks home, sync; block 0 home.  Then their segment is
 *			free, which is announced after a flush as ever.
 *	carry:		the oldest segment holds nothing but covered blocks:
 *			these are appended to the log once more, so that the
 *			segment can be reused.
 *
 * The mover leaves covered blocks alone, a write to them is always logged (with
 * the log uncovered it waits while one of the runs above is under way), and a
 * discard does not touch them.
 *
 * After a loss of power in an uncovered state the activation uncovers
 * (RESTORE), and drains, before it serves anything: the bare disk may have been
 * changed since.  Within one activation it was not, so an interrupted run can
 * be followed by either.
 *
 * SPACE: a segment, or more if they are small, is kept in reserve for carrying
 * (ressd-log.h, SPACE): writers and records of UNMAPs leave it alone.  All
 * covered blocks fit in there with room for the records that announce what
 * became free (ressd_cover_reserve()); that is at least one segment each time,
 * and what was carried is met again only after a whole round of the log.
 *
 * Context: the caller holds the lock that protects the log, but for the
 * functions that say so.
 */
#ifndef RESSD_COVER_H
#define RESSD_COVER_H

#include "ressd-log.h"

/* --- one covered block on the disk ---------------------------------------- */

/*
 * Fills @block, 4096 bytes, with the cover of normal block @lbn.  No lock
 * needed.
 */
void ressd_cover_fill(void *block, const u8 *uuid, u32 lbn);

/*
 * Is @sector that of a cover: the one with number @index (0 ... 7) of block
 * @lbn?  No lock.
 */
bool ressd_cover_is_sector(const void *sector, const u8 *uuid, u32 lbn,
			   u32 index);

/*
 * How many sectors of @home, the first @nr normal blocks, are no covers.  No
 * lock.
 */
u32 ressd_cover_missing(const void *home, const u8 *uuid, u32 nr);

/*
 * Replaces the covers in @home, what normal block @lbn holds on the disk, by
 * the sectors of @logged.  Returns how many there were.  No lock needed.
 */
u32 ressd_cover_merge(void *home, const void *logged, const u8 *uuid, u32 lbn);

/* --- what the log has of it ----------------------------------------------- */

/*
 * Is the log's copy of some covered block newer than, or instead of, what the
 * disk has?
 */
bool ressd_cover_any_dirty(const struct ressd_log *log);

/* The same of those among the @nr blocks from @lbn on, which is covered. */
bool ressd_cover_is_dirty(const struct ressd_log *log, u32 lbn, u32 nr);

/* Does the oldest segment hold nothing but covered blocks? */
bool ressd_cover_must_carry(const struct ressd_log *log);

/* --- a run ---------------------------------------------------------------- */

enum ressd_cover_goal {
	RESSD_COVER_COVER,
	RESSD_COVER_UNCOVER,
	RESSD_COVER_RESTORE,	/* the same, activating an uncovered log */
	RESSD_COVER_CARRY,
};

enum ressd_cover_kind {
	RESSD_COVER_READ_HOME,	/* nr blocks from normal block @lbn, 0, on */
	RESSD_COVER_READ_LOG,	/* log block @block */
	RESSD_COVER_WRITE_HOME,	/* nr blocks from normal block @lbn on */
	RESSD_COVER_WORK,	/* ressd_cover_work(), best without the lock */
	RESSD_COVER_SYNC,	/* wait for ressd_log_sync() */
	RESSD_COVER_RECLAIM,	/* wait for ressd_log_reclaim() */
	RESSD_COVER_WAIT,	/* record full: wait for ressd_log_next() */
	RESSD_COVER_END,	/* the run is over */
};

/*
 * Is a run due now, before the mover sweeps?  Then its goal is in *@goal.  A
 * drain uncovers the log when all else is written back; otherwise a log that a
 * writer waits for is covered.
 */
bool ressd_cover_choose(const struct ressd_log *log, bool draining,
			enum ressd_cover_goal *goal);

/* What the caller does next; then it calls ressd_cover_done(). */
struct ressd_cover_action {
	enum ressd_cover_kind kind;
	void *data;			/* nr * 4096 bytes */
	u32 block, lbn, nr;
};

/*
 * One run.  While one that covers or uncovers is under way, from before
 * ressd_cover_start() to its END, the caller holds up all writes and discards
 * of covered blocks; it begins when those in flight are done.  Before the first
 * WRITE_HOME of one that covers it waits for the reads of covered blocks that
 * were sent home.  While one that carries is under way the caller counts the
 * slot (run->slot) as read.
 */
struct ressd_cover_run {
	enum ressd_cover_goal goal;
	const u8 *uuid;
	u32 nr;		/* covered blocks, RESSD_COVER_MAX at most */
	u32 step;
	u32 at;		/* covered block that is next in this step */
	u32 slot;	/* CARRY: whose blocks */
	u32 block;	/* log block that was read last */
	bool from_ram;	/* it has no checksum yet */
	u64 copied;	/* bit n: block n was read into logged */
	u32 missing;	/* sectors of home that are no covers */
	bool changed;	/* home holds something that it must get */
	u8 *logged;	/* cover_blocks * 4096 bytes each; the caller's */
	u8 *home;
	bool damaged;	/* UNCOVER: a block cannot come home: covers again */
	bool unsafe;	/* a cover could not be written */
	bool repeated;	/* UNCOVER: covers were written once more */
	u32 bad;	/* covered block with a bad copy, or RESSD_NO_BLOCK */
	int result;	/* at the END: 0, -EIO, or -EAGAIN: it found no room */
};

/*
 * Begins a run; buffers are set by the caller.  False: there is nothing to be
 * done.
 */
bool ressd_cover_start(struct ressd_cover_run *run, struct ressd_log *log,
		       enum ressd_cover_goal goal);

/* What is to be done next. */
void ressd_cover_next(struct ressd_cover_run *run, struct ressd_log *log,
		      struct ressd_cover_action *action);

/*
 * What takes too long for the lock: fills in, compares or merges.  The caller
 * holds up the run.
 */
void ressd_cover_work(struct ressd_cover_run *run);

/*
 * It is done, with @error (0 or negative).  A SYNC or RECLAIM for which the log
 * is no longer in service, or that waits for room, has the error -EAGAIN: the
 * run ends, and may be begun again.
 */
void ressd_cover_done(struct ressd_cover_run *run, struct ressd_log *log,
		      int error);

#endif
