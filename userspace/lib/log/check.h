/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offline check of a reserved area: both superblocks, the recovery that the kernel would do, and
 * everything that this recovery does not look at.  Only reads.
 */
#ifndef RESSD_LOG_CHECK_H
#define RESSD_LOG_CHECK_H

#include "log/findings.h"
#include "log/image.h"
#include "log/super-pair.h"

struct log_check {
	struct findings findings;
	bool refused;		/* the kernel would not activate the device */
	bool blank;		/* never formatted: the kernel formats it when it is first used */
	/* Of a log that is not refused. */
	u64 segments, records, unmaps;	/* of the live chain */
	u64 data_blocks;	/* whose checksums were compared */
	u64 mapped_blocks;	/* normal blocks whose newest contents are in the log */
	u64 lost_blocks;	/* of these, do not match their checksum */
	u64 unreadable_blocks;	/* of the reserved area, also of a refused log: cannot be read */
	u64 tail_segment, head_segment;
	bool covered;		/* the first blocks of the normal area are in the log only */

	/* Called now and then with blocks looked at; may be NULL. */
	void (*progress)(void *context, u64 done, u64 total);
	void *context;
};

/* Judges both copies; @table and @options may be NULL (then nothing says how it should be). */
void log_check_supers(struct log_check *check, const struct super_pair *supers,
		      const struct ressd_table *table, const struct ressd_options *options);

/*
 * Checks the log, going on behind blocks that cannot be read.  0, or a negative errno with a
 * sentence when it cannot be looked at.
 */
int log_check_log(struct log_check *check, struct log_image *image, struct failure *failure);

/*
 * Of a log that log_check_log() has not refused: compares what stands on @normal, which has the
 * normal area of @image, with what should.  0, or a negative errno with a sentence.
 */
int log_check_covers(struct log_check *check, const struct log_image *image,
		     const struct blkdev *normal, struct failure *failure);

/* Checks that an area without superblocks is blank throughout, as the kernel will. */
int log_check_blank(struct log_check *check, const struct log_source *source, u32 nr_blocks,
		    struct failure *failure);

void log_check_free(struct log_check *check);

#endif
