/* SPDX-License-Identifier: GPL-2.0-only */
/* Making a reserved area: what format and adopt share. */
#ifndef RESSDCTL_FORMAT_H
#define RESSDCTL_FORMAT_H

#include "dm/blkdev.h"
#include "dm/table-line.h"

struct format_arguments {
	struct table_line line;
	const char *table;
	bool yes;
	bool force;
	bool same_device;	/* normal and reserved area are on one */
	bool adopts;		/* the file system is known to end before the reserved area */
};

/*
 * Formats the reserved area of the line on @dev, opened with BLKDEV_WRITE, after all that --force
 * overrides and the question; says what it did.  0, or a negative errno with a sentence.
 */
int format_device(const struct format_arguments *arguments, const struct blkdev *dev,
		  struct failure *failure);

#endif
