/* SPDX-License-Identifier: GPL-2.0-only */
/* --preserve: the region's contents are kept aside while it is measured, and put back. */
#ifndef PROBE_PRESERVE_H
#define PROBE_PRESERVE_H

#include "dm/blkdev.h"

struct preserved {
	const struct blkdev *dev;
	u64 offset;		/* of the region on the device, bytes */
	u64 bytes;
	const char *path;	/* of the file that holds the contents; NULL: memory does */
	int fd;
	u8 *memory;
	u8 *buffer;		/* for two pieces; from the begin, for memory may be short later */
	bool saved;		/* the contents are complete, and must be put back */
};

/* So much can be kept in memory, bytes. */
u64 preserve_memory(void);

/*
 * Copies the region of @dev into a new file @path, or into memory if @path is NULL.  0, or a
 * negative errno with a sentence: -EEXIST if the file exists, -ENOMEM if there is too little
 * memory.  Nothing is written to the device.
 */
int preserve_save(struct preserved *preserved, const struct blkdev *dev, u64 offset, u64 bytes,
		  const char *path, struct failure *failure);

/*
 * Writes everything back, flushes, and compares.  Goes on after errors, to save what can be saved.
 * When all is well the file is removed; else it stays, and the sentence says how to use it.
 * Nothing happens if nothing was saved.
 */
int preserve_restore(struct preserved *preserved, struct failure *failure);

#endif
