/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The request pattern identifier (RE section 3.3): is this write a small random one?
 *
 * The paper follows one stream: a write that starts where the previous one ended is sequential.
 * Here up to RESSD_RPI_MAX_STREAMS streams are followed at once, so that several sequential
 * writers do not look random to each other; @streams of 1 is exactly the paper's rule.  A write
 * that ends where a stream's last one ended stays with that stream: the end of a file that is
 * written again and again is random each time, and takes one stream, not many that would then look
 * sequential.
 *
 * Context: the caller serialises all calls on one struct.
 */
#ifndef RESSD_RPI_H
#define RESSD_RPI_H

#include <linux/types.h>

#define RESSD_RPI_MAX_STREAMS	64

struct ressd_rpi {
	u32 streams;			/* 1..RESSD_RPI_MAX_STREAMS */
	u32 small_sectors;		/* largest small write */
	u64 clock;			/* writes seen */
	struct {
		u64 next;		/* sector right after the stream's last write */
		u64 used;		/* clock of that write; 0: slot unused */
	} stream[RESSD_RPI_MAX_STREAMS];
};

void ressd_rpi_init(struct ressd_rpi *rpi, u32 streams, u32 small_sectors);

/* Changes the parameters; streams already followed are kept as far as they fit. */
void ressd_rpi_set(struct ressd_rpi *rpi, u32 streams, u32 small_sectors);

/* Notes the write of @sectors at @sector.  True: small and random, so it belongs in the log. */
bool ressd_rpi_write(struct ressd_rpi *rpi, u64 sector, u32 sectors);

#endif
