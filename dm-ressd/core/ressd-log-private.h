/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What files of core that work on the log share, and nothing outside of core
 * but its tests uses.  Context: as in ressd-log.h.
 */
#ifndef RESSD_LOG_PRIVATE_H
#define RESSD_LOG_PRIVATE_H

#include <asm/barrier.h>
#include "ressd-log.h"

/* The segment that log block @block is in. */
static inline struct ressd_segment *
ressd_log_segment(const struct ressd_log *log, u32 block)
{
	return &log->segments[ressd_geom_slot(&log->geom, block)];
}

/* The record that is @nr before the open one, up to nr_full + 1. */
static inline u32 ressd_log_before_open(const struct ressd_log *log, u32 nr)
{
	return (log->open + RESSD_RECORDS - nr) % RESSD_RECORDS;
}

/* Where the record that is or was in flight last stands. */
static inline u32 ressd_log_in_flight(const struct ressd_log *log)
{
	return ressd_log_before_open(log, log->nr_full + 1);
}

/* The record that is written next. */
static inline const struct ressd_record *
ressd_log_next_record(const struct ressd_log *log)
{
	return &log->records[ressd_log_before_open(log, log->nr_full)];
}

/*
 * The open record gets its end and is full from now on, be it or not; the next
 * buffer becomes the open one.
 */
void ressd_log_close_record(struct ressd_log *log);

/* True if no UNMAP is left of those that the cycle has to write. */
static inline bool ressd_cycle_is_written(const struct ressd_log *log)
{
	return !log->cycle_unmaps || !log->nr_unmaps;
}

/* End of the head's segment: the first block that is no record's any more. */
u32 ressd_log_head_end(const struct ressd_log *log);

/*
 * First block that the open record must not use: the end of its segment or of
 * its buffer, drawn back to a boundary of alignment and of the device's pages
 * so that a full record ends on one.
 */
u32 ressd_log_open_limit(const struct ressd_log *log);

/*
 * Is the next record to start a new segment?  Not where that is kept for
 * covered blocks.
 */
bool ressd_log_is_rotating(const struct ressd_log *log);

/*
 * Has a record been sealed for the head's segment?  Only then may the head
 * leave it: recovery follows the chain from a segment to the next one only.
 */
bool ressd_log_head_has_record(const struct ressd_log *log);

/*
 * The first record of an activation has to stand where the chain ended:
 * recovery may have dropped a torn record there, whose header would otherwise
 * still continue the chain, beside the new one.
 */
bool ressd_log_may_rotate(const struct ressd_log *log);

/* To change the tree for a node takes about as long as to look at so many. */
#define RESSD_CHANGE_COST	8U

/*
 * Forgets a piece of the slot that the head enters next, if something of it is
 * left; true if nothing is then, or if there is no such slot.
 */
bool ressd_log_forget_next(struct ressd_log *log);

/*
 * Forgets some of the dead segments, if any is left to be forgotten.  True: to
 * be called again.
 */
bool ressd_log_forget_more(struct ressd_log *log);

/*
 * Moves the (still empty) open record to the next segment if at least @leave
 * stay free.
 */
bool ressd_log_advance_head(struct ressd_log *log, u32 leave);

/*
 * ressd_log_accept() without its refusals: @reserve free segments must be left.
 * With 0, for covered blocks only, the last block of the last segment is left
 * for the record that announces a new tail.
 */
int ressd_log_accept_leaving(struct ressd_log *log, u32 lbn,
			     struct ressd_place *place, u32 reserve);

/*
 * Is the summary of segment @segment_seq, if it is left now, written with
 * PREFLUSH?
 */
bool ressd_log_summary_flushes(const struct ressd_log *log, u64 segment_seq);

/* Is the first record of segment @tail_seq not known to be durable? */
bool ressd_log_tail_is_unproven(const struct ressd_log *log, u64 tail_seq);

/*
 * The tail that may be announced if everything that records up to @limit did,
 * and every direct write and move completed by now, were durable.
 */
u64 ressd_log_scan_tail(const struct ressd_log *log, u64 limit);

/* Waits for the copies into @record: see COPIES. */
void ressd_log_settle(const struct ressd_log *log,
		      const struct ressd_record *record);

/* The caller may look at the mode without its lock. */
static inline void ressd_log_set_mode(struct ressd_log *log,
				      enum ressd_mode mode)
{
	WRITE_ONCE(log->mode, mode);
}

/* Where the buffer of @record holds @block. */
static inline void *ressd_record_data(const struct ressd_record *record,
				      u32 block)
{
	return (u8 *)record->buffer +
	       (size_t)(block - record->block) * RESSD_BLOCK_SIZE;
}

#endif
