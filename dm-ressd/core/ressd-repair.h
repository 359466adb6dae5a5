/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way back after an I/O error: what core/ressd-commit.c does no more on its
 * own because the device cannot be relied on, and how a log that left mode RW
 * returns to it.
 *
 * WHAT A FAILED FLUSH MEANS.  Everything written since the last good flush may
 * be gone, and the next flush will succeed all the same.  So until a repair:
 *  - no record after durable_seq counts as durable;
 *  - a moved block is dirty again: its copy in the log is intact, that at home
 *    may be gone;
 *  - a block that a direct write or a discard killed, and whose UNMAP is not
 *    yet written, is dirty again.  That write may be gone, and home may then
 *    hold what is older than the log's version.  To go back to that version is
 *    what a loss of power would do as well.
 * The caller fails the writes that are in flight at that time, for theirs is
 * the same question.
 *
 * A REPAIR writes the record again whose write failed, at its place, from RAM;
 * flushes; and reads back every record since the last one known durable,
 * checking the chain of headers and all data.  Only what was found on the
 * device after a good flush counts as durable.  Nothing is accepted while it
 * runs; its I/Os come from ressd_log_next() like all others.
 *
 * If a flush has failed, the record that was to be written is no longer true:
 * its UNMAPs and the tail that it announces are taken back.  If it has no data,
 * nothing is left of it.  Written again it would use up a block of the log for
 * nothing, and there may be no other for the record that announces a tail.  So
 * its place, where the device may hold any part of it, is made blank, and it
 * becomes the open record again.  Unless there is data behind it: then the log
 * has a segment free.
 *
 * Context: as in ressd-log.h.
 */
#ifndef RESSD_REPAIR_H
#define RESSD_REPAIR_H

#include "ressd-log.h"

/*
 * Begins a repair; the mode is not RW, no repair is under way,
 * ressd_log_is_doubtful() is not true, and no direct write and no move that was
 * in flight when the mode became RO still is.  @buffer has room for @nr_blocks
 * (at least one) and stays the caller's; it is used until
 * ressd_repair_is_over().
 */
void ressd_repair_start(struct ressd_log *log, void *buffer, u32 nr_blocks);

static inline bool ressd_repair_is_over(const struct ressd_log *log)
{
	return log->repair.step == RESSD_REPAIR_NONE;
}

/*
 * What the last repair came to:
 *	0		the mode is RW
 *	-EIO		an I/O failed; the mode is OFF or RO (or still FAIL)
 *	-EUCLEAN	a record is gone or damaged; the mode is FAIL, and
 *			ressd_repair_is_lost() says which blocks are concerned
 */
static inline int ressd_repair_result(const struct ressd_log *log)
{
	return log->repair.result;
}

/*
 * After -EUCLEAN: would the data of @block be forgotten when the log is
 * recovered from the device?  It stands in the first bad record or after it.
 */
bool ressd_repair_is_lost(const struct ressd_log *log, u32 block);

/*
 * True if the record that @block belongs to is known durable: no failed flush
 * can take it.
 */
bool ressd_repair_is_proven(const struct ressd_log *log, u32 block);

/*
 * Modes RO and FAIL: true if the device may hold anything at all in @block,
 * which no record in RAM holds: its record came after the last one known
 * durable, and is perhaps gone.  A read of it must fail then.
 */
bool ressd_repair_is_unproven(const struct ressd_log *log, u32 block);

/*
 * The rest is for ressd-commit.c.  A flush has failed: begins what follows from
 * that, and does a piece of it; true: more is left.
 */
void ressd_repair_distrust(struct ressd_log *log);
bool ressd_repair_distrust_some(struct ressd_log *log);

/* The next I/O of the repair, if one is under way, and the end of that. */
bool ressd_repair_next(struct ressd_log *log, struct ressd_io *io);
void ressd_repair_done(struct ressd_log *log, const struct ressd_io *io,
		       bool failed);

/*
 * The place of the record that was taken back is blank: it is the open one
 * again, as if it had not been.
 */
void ressd_repair_reopen(struct ressd_log *log);

#endif
