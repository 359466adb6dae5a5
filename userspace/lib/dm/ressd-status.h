/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's status line (INFO), read into a struct.
 *
 *	<used blocks>/<total blocks> <dirty blocks>/<mapped blocks> <state>
 *		[<#words> <key> <value> ...]
 *
 * Blocks are 4 KiB blocks of the reserved area.  Newer targets may append keys and, after the
 * announced words, anything else: all of it is accepted, keys that are not known here as numbers.
 */
#ifndef RESSD_STATUS_H
#define RESSD_STATUS_H

#include <linux/types.h>
#include "cli/failure.h"

#define STATUS_STATE	16
#define STATUS_KEY	40
#define STATUS_COUNTERS	64	/* read at most; a target has about 25 */

struct ressd_counter {
	char key[STATUS_KEY];
	u64 value;
};

struct ressd_status {
	u64 used_blocks;	/* of the log, live or not yet reusable */
	u64 total_blocks;
	u64 dirty_blocks;	/* hold data that the normal area does not have */
	u64 mapped_blocks;	/* dirty, or copied but still read from the log */
	char state[STATUS_STATE];	/* "rw", "bypass", "damaged", "off", "ro" or "Fail" */
	unsigned int nr_counters;
	struct ressd_counter counters[STATUS_COUNTERS];
};

/* Reads a status line.  0, or -EPROTO with a sentence that shows what was not understood. */
int ressd_status_parse(struct ressd_status *status, const char *text, struct failure *failure);

/* The value of @key, or @missing when the target does not report it. */
u64 ressd_status_get(const struct ressd_status *status, const char *key, u64 missing);

#endif
