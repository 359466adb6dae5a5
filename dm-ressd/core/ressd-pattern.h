/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The request pattern identifier (RE section 3.3, where it is called RPI): does
 * this write belong in the log?
 *
 * The paper's rule: a small write that does not start where the previous one
 * ended is random, and goes to the log.  Here up to RESSD_PATTERN_MAX_STREAMS
 * streams are followed at once, so that several sequential writers do not look
 * random to each other; @streams of 1 is exactly the paper's rule.  A write
 * that ends where a stream's last one ended stays with that stream: the end of
 * a file that is written again and again is random each time, and takes one
 * stream, not many that would then look sequential.
 *
 * OPEN UNITS (ressd-units.h): a device keeps some of its clustered blocks open
 * for writing; the log occupies one, and a running mover another.  If their
 * number is known, a small sequential write is logged like a random one, with
 * these exceptions.  Where units are few, it is direct in a unit that direct
 * writes keep open beside log and mover.  But not while the load commits: each
 * flush costs a page there, and the unit its order.  Then it is direct only if
 * it is of a long run whose unit has stayed open: from one of its writes to the
 * next fewer other units were used than the device keeps open, by direct
 * writes, the log and the mover's visits.  The run opens the unit that it runs
 * into; it may have the log's if nothing is logged.  It must have written more
 * than flushes cost it: a page each if it is almost alone, and beside others
 * eight for each that comes within a page.  It opens none while the mover needs
 * all.  Its end, written again, is direct in its unit if log and mover take
 * all: a record for it would close that unit, and a visit would follow.
 *
 * With more than RESSD_PATTERN_FEW_UNITS a random write is direct in an open
 * unit, too, and may open one, as does a stream that runs into one; and the
 * mover's visits compete for them.  Fewer are left to sequential writes, for
 * which they matter more.
 *
 * BATCHES: a stream may also ascend in steps of less than two units, as the
 * sorted writeback of a checkpoint or of the page cache does.  The first part
 * of such a batch is logged: one part in RESSD_PATTERN_BATCH_PART of the log,
 * or RESSD_PATTERN_MANY_UNITS_PART.  The rest is direct: it visits each unit
 * once, which the mover could not do better.  But if a batch over the same
 * range came before, and half of the log could hold either, all of it is
 * logged: the mover then visits a unit once for several batches.  A flush ends
 * a batch.  The caller sends nothing of the direct part before what was logged
 * is in the log.
 *
 * Where units are few the direct part begins with the next unit, since the
 * mover visits this one in any case, unless a quarter of the log could not hold
 * one.  And the batch then goes on over a flush if one of the last eight
 * writes was its own, when a journal has committed meanwhile, or if all writes
 * since continued a stream and it is a unit longer than the first part.  And it
 * goes on over steps of less than eight units, since a file system may have the
 * journal, or something else, between the files.  What goes back in it is of
 * it, too, in a unit that is open, if log and mover take all.  All these rules
 * need @open_units; with 0 only the streams count.
 *
 * Context: the caller serialises all calls on one struct.
 */
#ifndef RESSD_PATTERN_H
#define RESSD_PATTERN_H

#include <linux/list.h>
#include <linux/types.h>
#include "ressd-units.h"

#define RESSD_PATTERN_MAX_STREAMS	64
#define RESSD_PATTERN_BUCKET_BITS	6	/* of the table of streams */

/* Not more of them are left to sequential writes alone. */
#define RESSD_PATTERN_FEW_UNITS	8

/*
 * docs/notebook/mover.md: buffered random writes on an SD card take 3 % longer
 * with 8.
 */
#define RESSD_PATTERN_BATCH_PART	16
/* Sectors: where units are many. */
#define RESSD_PATTERN_MANY_UNITS_PART	192U

/* Everything in sectors unless its name says otherwise. */
struct ressd_pattern_options {
	u32 streams;		/* 1..RESSD_PATTERN_MAX_STREAMS */
	u32 small_sectors;	/* largest small write */
	u32 open_units;		/* that the device has, 0: unknown */
	u32 unit_sectors;	/* of one; 0: unknown, then open_units is 0 */
	u32 unit_phase;		/* sector 0 is this far into one */
	u32 page_sectors;	/* that the device writes at once; 0: unknown */
	u64 log_sectors;	/* that the log can hold */
};

struct ressd_stream {
	u64 next;	/* sector right after its last write */
	u64 used;	/* clock of that write; 0: slot unused */
	u64 start;	/* of its batch */
	u64 sectors;	/* of its batch so far */
	u64 flushes;	/* seen before that write */
	u64 places;	/* likewise */
	u64 run;	/* sectors in a row, over flushes */
	u64 run_start;	/* pattern->sectors before them */
	u64 run_flushes; /* between these */
	u64 torn;	/* pages of these that a flush came within */
	u64 units_clock; /* that of units, after its last write */
	u64 direct_from; /* of its batch: sector; 0: it is in its first part */
	struct list_head age;	/* in a ring, the next one was used before */
	struct ressd_stream *same; /* the next one of its bucket */
};

struct ressd_pattern {
	struct ressd_pattern_options options;
	bool ordered;		/* the last write: of a batch's direct part */
	u64 clock;			/* writes seen */
	u64 sectors;			/* of these */
	u64 places;			/* of these that continued nothing */
	u64 flushes;			/* seen */
	u64 flushed;			/* clock at the last flush */
	/* Writes before the last flush and before that one; 0: many. */
	u32 commit, commit_before;
	struct ressd_stream stream[RESSD_PATTERN_MAX_STREAMS];
	struct list_head *newest;	/* of the ring of ages: used last */
	/* Streams in use, by the hash of @next: no write looks at all. */
	struct ressd_stream *bucket[1 << RESSD_PATTERN_BUCKET_BITS];
	/* The last two batches that have left the first part behind. */
	struct ressd_stream batch, batch_before;
	struct ressd_units units;
};

void ressd_pattern_init(struct ressd_pattern *pattern);

/*
 * Sets the options, before the first write and at any later time; streams
 * already followed are kept as far as they fit.
 */
void ressd_pattern_set(struct ressd_pattern *pattern,
		       const struct ressd_pattern_options *options);

/*
 * Notes the write of @sectors at @sector.  True: it belongs in the log.
 * @moving: the mover writes to the normal area at present.
 */
bool ressd_pattern_write(struct ressd_pattern *pattern, u64 sector, u32 sectors,
			 bool moving);

/* Notes that the mover writes to the unit of @sector. */
void ressd_pattern_visit(struct ressd_pattern *pattern, u64 sector);

/*
 * Notes that the log is empty.  What is logged next costs covers, more than to
 * open a unit: so, where units are many, all are taken for closed and may be
 * opened first, if the load commits.
 */
void ressd_pattern_drained(struct ressd_pattern *pattern);

/* Notes that a flush, or a write with FUA, has a record of UNMAPs written. */
void ressd_pattern_record(struct ressd_pattern *pattern);

/* Notes a flush. */
void ressd_pattern_flush(struct ressd_pattern *pattern);

#endif
