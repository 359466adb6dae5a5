/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recovery reads the device through: a window of consecutive blocks in one
 * buffer, moved as few times as possible.
 */
#ifndef RESSD_WINDOW_H
#define RESSD_WINDOW_H

#include "ressd-recover.h"
#include "ressd-summary.h"

struct ressd_window {
	const struct ressd_reader *reader;
	const struct ressd_geom *geom;
	const u8 *uuid;
	u32 start, nr;	/* blocks of the device that reader->buffer holds */
	u32 ahead;	/* blocks to read when one is missing, at least 1 */
};

/*
 * Points at block @block, which stays valid until the window moves.  If it is
 * not in the window, that moves to it and to those after it in the same slot.
 * NULL: a negative error is in *@ret.
 */
const void *ressd_window_block(struct ressd_window *window, u32 block,
			       int *ret);

/*
 * Points @header at the record header at @block if there is an intact one; 1
 * found, 0 none, negative error.  How much is read ahead follows from the
 * length of the record.
 */
int ressd_window_header(struct ressd_window *window, u32 block,
			const struct ressd_record_header **header);

/*
 * Points @summary at the summary of @slot if its first block is intact, else
 * returns false: also if it cannot be read, for it is redundant.  The window
 * holds the whole summary, the block before and the block after it if they fit
 * in, else its first block only.
 */
bool ressd_window_summary(struct ressd_window *window, u32 slot,
			  const struct ressd_summary **summary);

/*
 * Copies the whole summary that ressd_window_summary() has found to @copy;
 * false: no intact one.
 */
bool ressd_window_copy_summary(struct ressd_window *window, u32 slot,
			       struct ressd_summary *copy);

#endif
