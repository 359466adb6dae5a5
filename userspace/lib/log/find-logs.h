/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which logs of ressd are on a device, wherever they lie: before something is written there.
 *
 * A reserved area may begin at any block, so what is going to be overwritten is read as a whole.
 * Of the rest, the places are looked at where a superblock usually stands: the first and the last
 * block of the device, and around every MiB (on large devices every second, fourth, ...).
 */
#ifndef RESSD_FIND_LOGS_H
#define RESSD_FIND_LOGS_H

#include "dm/blkdev.h"
#include "ressd-record.h"

#define FOUND_LOGS_KEPT	32U

/* A part of a device, in bytes. */
struct byte_range {
	u64 start;
	u64 bytes;
};

/* A log whose superblock was found, or one that has lost it. */
struct found_log {
	u64 start;			/* byte of the device at which the reserved area begins */
	bool has_super;
	struct ressd_super_info info;	/* has_super; reserved_start is that of this device */
	u8 uuid[RESSD_UUID_SIZE];
};

struct found_logs {
	struct found_log list[FOUND_LOGS_KEPT];
	u32 nr;
	u64 strange;			/* byte of a superblock that cannot be read; 0: none */
};

/*
 * Looks for logs on @dev: everywhere in the @nr @ranges (which may reach beyond the device) and a
 * little around them, and in the usual places.  0, or a negative errno with a sentence.
 */
int find_logs(const struct blkdev *dev, const struct byte_range *ranges, u32 nr,
	      struct found_logs *logs, struct failure *failure);

#define FOUND_LOG_TEXT	192

/*
 * Does @log on @dev hold anything that is not in its normal area, or can nobody tell?  Then 1 and
 * what it is in @what (FOUND_LOG_TEXT bytes); else 0, or a negative errno with a sentence.
 */
int found_log_holds(const struct blkdev *dev, const struct found_log *log, char *what,
		    struct failure *failure);

/* The same for a superblock that cannot be read, if there is one. */
bool found_logs_strange(const struct found_logs *logs, char *what);

/* True if the areas of @log, taken as if both were on its device, share a byte with @range. */
bool found_log_meets(const struct found_log *log, const struct byte_range *range);

/*
 * Blanks the superblocks of @logs within @range, which is going to be formatted: they must not be
 * found again.  Not durable yet.
 */
int found_logs_forget(const struct blkdev *dev, const struct found_logs *logs,
		      const struct byte_range *range, struct failure *failure);

#endif
