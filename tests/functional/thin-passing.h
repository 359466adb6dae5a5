/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A load whose recording is wrong: a flush that has begun before another one ends behind it, as on
 * any disk with more than one queue.  dm-log-writes notes what a flush covers when that has ended,
 * so a mark that is set between both ends lacks what was durable.
 */
#ifndef THIN_PASSING_H
#define THIN_PASSING_H

#include <stdint.h>

/* Makes /dev/mapper/paths of @sectors of /dev/mapper/@below, with a way on which flushes wait. */
void passing_start(const char *below, uint64_t sectors);

/*
 * Over dm-log-writes named "recorder" on that device: a file f0 of @folder is synced, and then
 * several times overwritten and, while a flush that covers this is held, synced again; @saved is
 * as for ressd-fsx.  At the marks but the first one the recording has the contents before.
 */
void passing_run(const char *folder, const char *saved);

/* Removes the device; nothing uses it any more. */
void passing_stop(void);

#endif
