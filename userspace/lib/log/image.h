/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log at rest, read through the kernel's own core: its blocks one by one, and the map that
 * recovery makes of them.  Nothing is ever written.
 */
#ifndef RESSD_LOG_IMAGE_H
#define RESSD_LOG_IMAGE_H

#include <stdbool.h>
#include "dm/blkdev.h"
#include "ressd-log.h"
#include "ressd-record.h"
#include "ressd-recover.h"

/* Where the blocks of a reserved area come from. */
struct log_source {
	/* Reads @nr blocks from log block @block; 0, or a negative errno with a sentence. */
	int (*read)(void *context, u32 block, u32 nr, void *buffer, struct failure *failure);
	void *context;
};

/* The reserved area at @start (sectors) of @dev, which must outlive the source. */
struct log_device {
	const struct blkdev *dev;
	u64 start;
};

struct log_source log_source_device(struct log_device *device);

struct log_image {
	struct log_source source;
	struct ressd_super_info info;
	struct ressd_geom geom;
	struct failure failure;		/* of the last read that failed */
	/* What log_image_block() could not read. */
	u32 nr_unreadable, first_unreadable;
	struct failure unreadable;	/* of the first one */

	/* Set by log_image_recover(). */
	struct ressd_log log;
	struct ressd_recovery recovery;
	char error[RESSD_ERROR_SIZE];	/* why the log is refused */

	/* Private: memory, and the blocks read last. */
	struct ressd_node *nodes;
	unsigned long *clean;
	struct ressd_segment *segments;
	void *summary;
	void *buffers[RESSD_RECORDS + 1];
	u8 *window;
	u32 window_start, window_nr, window_next;
	u32 single_until;		/* block up to which a read of several has failed */
	u8 *bad;			/* each block: it is one of the unreadable ones */
};

/*
 * Prepares @image for the area that @info, a good superblock, describes.  Needs 32 bytes for each
 * block of the area.  0, or a negative errno with a sentence; close it in either case.
 */
int log_image_open(struct log_image *image, const struct ressd_super_info *info,
		   const struct log_source *source, struct failure *failure);
void log_image_close(struct log_image *image);

/*
 * Recovers as the kernel would when it activates the device.  0: image->log holds the map;
 * -EUCLEAN: the kernel refuses this log, image->error says why; else an error of the reader, with
 * its sentence in image->failure.  May be called again.
 */
int log_image_recover(struct log_image *image);

/*
 * One block, valid until the next call.  Reads ahead while blocks are asked for in order.  NULL
 * if it cannot be read; image->failure then has the sentence.
 */
const void *log_image_block(struct log_image *image, u32 block);

/* Reads all blocks, to find those that cannot be read. */
void log_image_read_all(struct log_image *image,
			void (*progress)(void *context, u64 done, u64 total), void *context);

/* Reads the same for functions of core: to them a block that cannot be read is a damaged one. */
struct ressd_reader log_image_reader(struct log_image *image);

#endif
