/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device on which flushes pass each other, as on a disk with several queues: dm-multipath with
 * two paths to the same device, of which one holds each flush for some time (dm-delay), and a
 * thread that switches between them.  Everything else goes straight down.
 */
#ifndef THIN_JITTER_H
#define THIN_JITTER_H

#include <stdint.h>

/* Makes /dev/mapper/jitter of @sectors of /dev/mapper/@below; its times follow from @seed. */
void jitter_start(const char *below, uint64_t sectors, uint64_t seed);

/* Removes it; nothing uses it any more. */
void jitter_stop(void);

#endif
