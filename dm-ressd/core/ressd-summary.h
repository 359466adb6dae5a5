/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The summary of a segment (struct ressd_summary): gathered record by record,
 * sealed when the head has left the segment, validated when it comes back from
 * a disk.
 *
 * A summary's memory is geom->summary_blocks * 4096 bytes, allocated by the
 * caller.  It may overflow: a segment with more UNMAPs than it has room for has
 * no summary.
 *
 * Applying all MAPs of a segment in the order of their blocks and then all its
 * UNMAPs gives the same map as applying record after record.  The MAPs' order
 * is that of the records.  An UNMAP names a log block, and a log block is
 * written once before its segment is reused:
 *  - an UNMAP comes after the MAP of the block that it names, or in the same
 *    record; one that does not, which a forged record may hold, is left out;
 *  - a later MAP of the same normal block supersedes the named block, so that
 *    the UNMAP means nothing, before or after that MAP;
 *  - the named block is not written anew within the same segment, for UNMAPs of
 *    a segment that is reused are dropped before its first new record.
 *
 * Context: no locks inside; callers serialise all calls for one summary.
 */
#ifndef RESSD_SUMMARY_H
#define RESSD_SUMMARY_H

#include "ressd-record.h"

/* Bytes of a summary, and how many UNMAPs it can hold. */
size_t ressd_summary_bytes(const struct ressd_geom *geom);
u32 ressd_summary_capacity(const struct ressd_geom *geom);

/* Its UNMAPs: log blocks, le32_to_cpu(summary->nr_unmaps) of them. */
const __le32 *ressd_summary_unmaps(const struct ressd_summary *summary,
				   const struct ressd_geom *geom);

/* An empty summary of segment @segment_seq. */
void ressd_summary_start(struct ressd_summary *summary,
			 const struct ressd_geom *geom, u64 segment_seq);

/*
 * Takes in the segment's next record, which stands at log block @block.  The
 * valid @header is believed.  A summary that does not begin with the segment's
 * first record is useless: it never fits.
 */
void ressd_summary_add(struct ressd_summary *summary,
		       const struct ressd_geom *geom,
		       const struct ressd_record_header *header, u32 block);

/* True if all UNMAPs taken in so far found room. */
bool ressd_summary_fits(const struct ressd_summary *summary,
			const struct ressd_geom *geom);

/*
 * Fills in the rest and the checksums.  It must hold a record, and fit.  It
 * claims that record @durable_seq, its last one or an earlier one, is durable
 * before it is written.  More records may be added to it afterwards.
 */
void ressd_summary_seal(struct ressd_summary *summary,
			const struct ressd_geom *geom, const u8 *uuid,
			u64 durable_seq);

/*
 * True if the first block of @summary, the only one looked at, is an intact one
 * of the log @uuid that was written to log block @block, the end of a slot's
 * records.
 */
bool ressd_summary_header_valid(const struct ressd_summary *summary,
				const u8 *uuid, const struct ressd_geom *geom,
				u32 block);

/*
 * The same of the whole summary: all the arrays are intact, MAPs only where
 * data can be.
 */
bool ressd_summary_valid(const struct ressd_summary *summary, const u8 *uuid,
			 const struct ressd_geom *geom, u32 block);

/* True if every entry of the valid @summary is within the two areas. */
bool ressd_summary_in_range(const struct ressd_summary *summary,
			    const struct ressd_geom *geom, u32 normal_blocks);

/* The end of the chain after the segment's last record. */
void ressd_summary_link(const struct ressd_summary *summary,
			struct ressd_link *link);

/*
 * True if the segment's first record continues the chain: see
 * ressd_record_follows().
 */
bool ressd_summary_follows(const struct ressd_summary *summary,
			   const struct ressd_link *link);

/* True if the segment's first record is the one that @first was made from. */
bool ressd_summary_begins_with(const struct ressd_summary *summary,
			       const struct ressd_link *first);

#endif
