/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stays in the log though its segment is to be used again.
 *
 * Much of what a file system writes is soon overwritten or freed: what is moved home early is moved
 * for nothing.  Where half of the oldest segment's blocks, or more, have died without the mover's
 * help, those that live are written to the log once more, in one sequential stream, and have the
 * time of another round to die.  What does not die becomes ever more of what such segments hold,
 * until less than half of one has died by itself: then the mover brings it home.
 *
 * Only while two thirds of the room are left that there is when the mover begins.  Where it is
 * scarcer the log is full of what lives, and sweeps need the rest for the writers that they pace.
 *
 * Context: caller holds the lock that protects the log.
 */
#ifndef RESSD_KEEP_H
#define RESSD_KEEP_H

#include "ressd-log.h"

/*
 * True if the oldest segment with anything alive is such a one, and there is room; its slot.  The
 * mover begins when less than @threshold percent of the log are free.
 */
bool ressd_keep_wanted(const struct ressd_log *log, u32 threshold, u32 *slot);

/* The first dirty block of the device at log block @block or behind it, before @end; or @end. */
u32 ressd_keep_next(const struct ressd_log *log, u32 block, u32 end);

#endif
