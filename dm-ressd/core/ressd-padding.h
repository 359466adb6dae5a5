/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does it pay to pad commits to the device's page?
 *
 * A record that a flush follows mostly ends within a clustered page of the
 * device, and the next one begins there.  The device programs such a page
 * twice.  So it fills a clustered block (unit) of the log neither in order nor
 * at one go, and merges it once or twice, where one that is written page by
 * page costs nothing.  But padding fills the log sooner: the mover has to make
 * more visits, each of which costs a merge as well.  It pays if it adds less
 * than three quarters of a visit to a unit of the log.
 *
 * So what counts is how many visits a unit of the log needs: few if the mover
 * finds large parts of units, as of journals and of logs of databases, many if
 * the writes are random.  Visits come in clusters, so they are counted while
 * the log is filled RESSD_PADDING_ROUNDS times.  One more is taken for granted,
 * or an empty log would be filled with padding before the first one comes.
 * Where records are long, as without flushes, nothing is padded: most end on a
 * page's border anyway, and a page that is left to the segment's summary breaks
 * the order in which the log is written.
 *
 * Context: caller holds the lock of the log.
 */
#ifndef RESSD_PADDING_H
#define RESSD_PADDING_H

#include <linux/types.h>
#include "ressd-geom.h"

/* Quarters; docs/notebook/padding.md: 1 to 8 were tried. */
#define RESSD_PADDING_VISITS	3U
/* 1 and 8 were tried. */
#define RESSD_PADDING_ROUNDS	4U
/* Blocks: records are long from there on, in the mean. */
#define RESSD_PADDING_LONG	(RESSD_MAX_RECORD_BLOCKS / 4)

struct ressd_padding {
	u64 records;
	u64 used;	/* blocks of records, without padding */
	u64 taken;	/* blocks of the log, with it */
	u64 waste;	/* blocks that would fill the records' last pages */
	u64 visits;	/* of the mover */
};

/*
 * Notes a record of @used blocks, whose last page @waste would fill, and which
 * has @taken blocks, in a log of @log_blocks.
 */
void ressd_padding_record(struct ressd_padding *padding, u32 used, u32 waste,
			  u32 taken, u32 log_blocks);

/* Notes that the mover visits a unit. */
void ressd_padding_visit(struct ressd_padding *padding);

/* Are records to be padded?  The device's unit is of @unit_blocks. */
bool ressd_padding_pays(const struct ressd_padding *padding, u32 unit_blocks);

#endif
