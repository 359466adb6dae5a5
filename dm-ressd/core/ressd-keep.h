/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stays in the log though its segment is to be used again.
 *
 * The oldest segment becomes free when its live blocks are written back, a
 * visit for each clustered block that they lie in, or when they are appended to
 * the log again, in one sequential stream.  The latter costs much less, but
 * only what is overwritten before its turn comes again is saved.  So the log
 * keeps them if they are few: if overwriting, the headers of commits, or visits
 * to other blocks of theirs have left at most one part in RESSD_KEEP_PART of
 * the segment.
 *
 * Only while two thirds of the space are left that there is when the mover
 * begins.  Where it is scarcer a lasting load fills the log with what is live,
 * and then waits for a round of visits.
 *
 * Context: caller holds the lock that protects the log.
 */
#ifndef RESSD_KEEP_H
#define RESSD_KEEP_H

#include "ressd-log.h"

/*
 * docs/notebook/mover.md: with 3 etcd on an SD card takes 4 % longer, with 2 17
 * %.
 */
#define RESSD_KEEP_PART	4U

/*
 * True if the oldest segment with anything live is such a one, and there is
 * space; its slot.  The mover begins when less than @threshold percent of the
 * log are free.
 */
bool ressd_keep_wanted(const struct ressd_log *log, u32 threshold, u32 *slot);

/*
 * The first dirty block of the device at log block @block or behind it, before
 * @end; or @end.
 */
u32 ressd_keep_next(const struct ressd_log *log, u32 block, u32 end);

#endif
