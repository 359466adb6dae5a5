/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares two recordings of the same writes by dm-log-writes.  The kernel notes what a flush
 * covers when that flush has ended, so where a flush passes an earlier one a recording does not
 * tell what was durable.  A second recorder below the place where they pass sees them in their
 * final order.
 */
#ifndef WRITES_ORDER_H
#define WRITES_ORDER_H

#include <stdint.h>

struct stale {
	char mark[32];
	uint64_t sectors;	/* that are older than in the other recording */
	uint64_t misordered;	/* of these, whose newer version was noted before the older */
};

/*
 * For each mark of the recording @path: what it holds up to there, compared with what @right holds
 * up to its own mark of that name; marks that @right does not have are left out.  A sector is older
 * if @right has noted that version before its last one, or if @path has noted none yet.  Returns
 * how many there are, at most @max.  Ends the program at an error.
 */
unsigned int writes_order_compare(const char *path, const char *right, struct stale *stale,
				  unsigned int max);

#endif
