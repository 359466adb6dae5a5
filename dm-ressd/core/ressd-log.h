/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log protocol: one state machine that decides what is written, with which
 * flags, what must be flushed first, whom to complete and which segment may be
 * reused.  The kernel and the crash simulator drive this same code.  Copies of
 * data, bios, locks and threads stay outside.
 *
 * INVARIANTS (docs/crash-safety.md argues for each)
 *
 * 1. A write completes only once every later read returns it:
 *    ressd_log_accept() maps the block before the caller completes the write;
 *    ressd_log_kill() of a dirty block is called after a direct write has
 *    reached the normal area and before that write is completed.
 * 2. After a completed sync (ressd_log_synced() >= the ticket) every write
 *    completed before the ticket was drawn survives any power cut.
 * 3. What was overwritten or discarded outside the log never comes back: its
 *    log block goes on the list of UNMAPs, which only ever leave in a record
 *    written with PREFLUSH (so the superseding data is durable first) and which
 *    a sync writes with FUA before it completes.
 * 4. A segment is reused only when it is the tail of the ring, holds no dirty
 *    block, everything that killed its blocks is durable, a durable record says
 *    so (tail_seq), and the caller reports no read in flight in it.  Otherwise
 *    recovery would walk into half-overwritten records.  The same is asked of a
 *    discard.
 * 5. Only ressd_log_moved() turns a block clean, and only if it is still the
 *    current one.
 * 6. A record is valid only if it chains to the one before: seq, crc of the
 *    previous header, and the same activation unless it is the first one of a
 *    new activation.
 * 7. No allocation anywhere: RESSD_RECORDS record buffers, one summary, one
 *    node per log block, one struct per segment.
 * 8. A device whose log is not drained never shows a file system on the bare
 *    disk, and one that is drained shows the user's: see ressd-cover.h.
 *
 * LIFE OF A RECORD: one record is open; blocks are accepted into its buffer and
 * are read from there.  ressd_log_next() seals it and hands it out as a write;
 * the next buffer becomes the open one.  One I/O is in flight at a time, so
 * whatever arrives meanwhile shares the next record (group commit).  An open
 * record has a place in the log from its first block on: log block = start of
 * the record + 1 + index.  One that is full when the one before is not yet
 * written is set aside while there are buffers, and space in the log: it is
 * complete but for its header, and waits for its turn.  But not while a sync
 * has yet to seal one: UNMAPs must not leave before the records whose blocks
 * they name, so only the last one in RAM has any, and a sync must not wait for
 * what comes after it.
 *
 * SPACE: a data block is accepted only while one whole free segment stays in
 * reserve beyond the head.  Records with UNMAPs only may use that reserve
 * except for its last block, which is kept for the record that announces a new
 * tail.  So moving data home can always make room: whatever stands in that last
 * block has freed a segment.  A repair keeps to that, see ressd-repair.h.  A
 * log with covers keeps one segment more in reserve, for carrying them on
 * (ressd-cover.h).
 *
 * NO GAPS: recovery follows the chain from a segment to the next one only, so
 * the head leaves no segment without a record.  One that it has entered gets a
 * record with the next sync, if there is nothing else to write an empty one.
 *
 * TAIL: recovery begins with whatever record stands at the start of the tail's
 * segment.  If its first record is lost, that may be one of an earlier
 * activation, which recovery had dropped.  So a record or summary is written
 * with PREFLUSH if it claims a tail whose first record is written, but not
 * known to be durable.
 *
 * ERRORS: an I/O that fails makes the log worse by a mode (enum ressd_mode),
 * and nothing but a repair (ressd-repair.h) makes it better.  No sync ever
 * completes on the word of a flush that came after a failed one.
 *
 * SUMMARIES: when the open record has moved to the next segment, the next I/O
 * is the summary of the segment left behind, at that slot's end.  It stands
 * beside the chain, not in it: it repeats what the records say, so that
 * recovery reads it instead of them, and nothing is lost without it.
 *  - It claims that a record is durable, as records do: its last one if it was
 *    written with PREFLUSH.  That is so only when recovery would otherwise have
 *    to compare very much with its checksums; without it the summary continues
 *    the stream of the records, which spares the device a flush and the rest of
 *    a page.  Whoever finds a summary must not take its records for durable, or
 *    for being there, before some claim says so.
 *  - It names its first and its last record by their crcs.  Recovery believes
 *    it only between the record that the first one follows and a record that
 *    follows the last one: so neither a summary of an earlier life of the slot
 *    nor one that a later record has outdated counts.
 *  - A summary may survive a loss of power that takes some of its records.  The
 *    next activation goes on in their place, and makes it blank, durably before
 *    its opening record is there.  In each segment that it enters later, the
 *    first record is of an activation that such a summary does not know; and
 *    what it claims is no more than any record's that was cut off.
 *  - A segment whose UNMAPs do not fit has none.  The head leaves a segment
 *    before that happens, or after a few records, so that recovery has few to
 *    read; unless it is the last free one.
 *  - If its write fails, and only that, the log goes on without it.
 *
 * DISCARDS: what stands in a segment that may be reused is never read again, so
 * it may as well be discarded, and hold anything from then on: zeroes, what it
 * held before, or neither, sector by sector.  Recovery takes nothing from there
 * but claims, which are true however old they are.
 *  - The caller counts a slot whose discard is in flight as read
 *    (segment_busy), so that the head does not enter it: a record written there
 *    could be discarded.
 *  - Neither an open record nor a record or a summary in flight is ever
 *    concerned: reuse_seq does not exceed the segment of the last written
 *    record.
 *
 * COPIES: the caller may give up the lock after ressd_log_accept(), and copy
 * the data to its place then.  No record's data is looked at, overwritten or
 * written out before the copies into that record which have begun have ended:
 * whatever in core does one of these calls settle() first, which waits for
 * them.  None begins later that it would have to wait for: in the open record
 * they begin under the lock, which is held then, and in a sealed one none
 * begins.
 *
 * Context: the caller holds one lock over every call except ressd_log_encode().
 */
#ifndef RESSD_LOG_H
#define RESSD_LOG_H

#include "ressd-dying.h"
#include "ressd-geom.h"
#include "ressd-map.h"
#include "ressd-padding.h"
#include "ressd-record.h"

/*
 * One is open, one in flight, the others wait.  A burst that RAM holds waits
 * for nothing: 64 writes at once of SC's proj0 take 2.09 ms on average instead
 * of 6.58 with two (docs/papers/sc.md).  Each is 512 KiB, which a flush may
 * have to write first.
 */
#define RESSD_RECORDS	4U

struct ressd_summary;

struct ressd_segment {
	u64 seq;	/* while recovering: sequence number found, 0 none */
	u64 kill_seq;	/* last record that superseded a block in here */
	u32 live;	/* dirty blocks */
};

struct ressd_record {
	void *buffer;		/* record_blocks * 4096: header, then data */
	bool sealed;		/* handed out, not yet done */
	bool taken_back;	/* its place is made blank instead of written */
	bool uncovered;		/* RESSD_RECORD_UNCOVERED, set when sealed */
	u64 seq;
	u64 segment_seq;
	u64 tail_seq;		/* announced by it, set when sealed */
	u32 block;		/* log block of the header */
	u32 nr_maps;
	u32 nr_unmaps;
	u32 nr_blocks;		/* set when it is full or sealed */
	u32 entries_written;	/* in the buffer's header; then zeroes */
};

/*
 * What is known of the page that the last encoded record ends in; see
 * ressd-page.h.
 */
struct ressd_page {
	u32 start;	/* its first log block */
	u32 size;	/* blocks of it */
	u32 nr;		/* known, from its start on; zeroes behind */
};

/*
 * TIME UNDER THE LOCK: no call takes longer the larger log, map or range are,
 * for all that must be done for each block is done in pieces: so many nodes are
 * looked at in one call, or an eighth as many taken out of the tree or put
 * back, which keeps it below 100,000 instructions (tests/lock-hold).
 */
#define RESSD_STEP_NODES	512U

/* What is done after a failed flush, a piece at a time; see ressd-repair.h. */
enum ressd_distrust_step {
	RESSD_DISTRUST_NONE,
	RESSD_DISTRUST_MOVES,
	RESSD_DISTRUST_KILLS,
	RESSD_DISTRUST_DEATHS,
};

struct ressd_distrust {
	enum ressd_distrust_step step;
	u64 next;	/* block or segment that it goes on with */
};

/*
 * What the log can still be used for; each mode allows less than the one
 * before.
 *	RW	in service
 *	OFF	a record could not be written: nothing more is accepted or
 *		synced.  Everything accepted stays readable; direct writes may
 *		go on.
 *	RO	a flush failed: what the device took since the last good one may
 *		be gone.  The caller must fail every write, those in flight
 *		included.
 *	FAIL	as RO, and a repair has found that some of it is gone indeed
 */
enum ressd_mode {
	RESSD_MODE_RW,
	RESSD_MODE_OFF,
	RESSD_MODE_RO,
	RESSD_MODE_FAIL,
};

struct ressd_log_counters {
	u64 records;		/* written */
	u64 record_blocks;	/* written, headers and padding included */
	u64 whole_pages;	/* written instead of records alone */
	u64 accepted;		/* blocks accepted */
	u64 overwrites;		/* of these, in place in the open record */
	u64 superseded;		/* blocks invalidated by a newer log block */
	u64 killed;		/* ... by a direct write or a discard */
	u64 covered;		/* accepted copies of covered blocks */
	u64 carried;		/* ... and such as were in the log already */
};

/* Where a record stands in the log, and what it must chain to. */
struct ressd_position {
	u64 segment_seq;
	u64 seq;		/* its number */
	u32 block;
	u32 prev_crc;
};

enum ressd_repair_step {
	RESSD_REPAIR_NONE,
	RESSD_REPAIR_WRITE,	/* the record whose write failed */
	RESSD_REPAIR_FLUSH,
	RESSD_REPAIR_READ,	/* all since the last durable record */
};

/* A repair under way, or what the last one found; see ressd-repair.h. */
struct ressd_repair {
	enum ressd_repair_step step;
	int result;			/* of the last one */
	void *buffer;			/* the caller's, nr_blocks blocks */
	u32 nr_blocks;
	struct ressd_position next;	/* first record not yet found intact */
	u64 segment_seq;		/* what is read next */
	u32 block;
	u32 data_left;			/* of the record at @next, in blocks */
	u32 end, crc;			/* of that record */
};

struct ressd_log {
	/* Set by ressd_log_init() and constant. */
	struct ressd_geom geom;
	u8 uuid[RESSD_UUID_SIZE];
	u64 activation;
	u32 epoch;			/* of this activation: ressd-claims.h */
	u32 normal_blocks;		/* size of the normal area */
	u32 cover_blocks;		/* covered, or 0: see ressd-cover.h */
	u32 cover_reserve;		/* segments that only carrying uses */
	struct ressd_segment *segments;	/* nr_segments */
	bool (*segment_busy)(void *context, u32 slot);
	void (*settle)(void *context, u32 record);
	void *context;
	struct ressd_zeroes zeroes;

	u32 align_blocks;	/* appends end on it, >= 1; may change */
	/*
	 * Some devices take a second write to the first page of a clustered
	 * block for the begin of a new version of it, and pay a merge for the
	 * old one.  So a record that begins in such a page fills it.  And a
	 * full record ends on a page's border, if align_blocks does not say
	 * otherwise: then the next one begins without a read-modify-write.  Nor
	 * does any leave just one block of a page: the next commit would take
	 * two pages.  The caller sets and may change these; page_blocks of 0:
	 * unknown.
	 */
	u32 page_blocks;	/* the device's clustered page */
	u32 unit_blocks;	/* its clustered block, at least a page */
	u32 unit_phase;		/* log block 0 is this far into one */
	/*
	 * Commits are written with the page that they stand in, see
	 * ressd-page.h: page_blocks * 4096 bytes, which the caller may change
	 * like these, and must keep while an I/O is in flight; NULL: they are
	 * written alone.
	 */
	void *page_buffer;
	struct ressd_page page;

	/*
	 * Of the segment that the last written record stands in.  It grows with
	 * each record, and does not change while it is being written: no record
	 * is done then.
	 */
	struct ressd_summary *summary;
	u64 summary_written;	/* segment with its summary done or left out */

	struct ressd_map map;
	struct ressd_record records[RESSD_RECORDS];
	u32 open;			/* index of the open record */
	u32 nr_full;			/* set aside, just before that one */

	u64 head_seq;		/* segment of the open record */
	u32 head_maps;		/* data blocks in that segment so far */
	u64 tail_seq;		/* none before is live; ready to announce */
	u64 reuse_seq;		/* segments before may be overwritten */
	u64 written_tail;	/* tail_seq of the last written record */
	u64 discard_seq;	/* free slots before it were discarded */
	/*
	 * Slots of segments to come before this are known to the map no more,
	 * so that the head can enter them; in the slot of this one log blocks
	 * before forget_block are not.
	 */
	u64 forgotten_seq;
	u32 forget_block;	/* 0: none */
	u32 step_nodes;		/* RESSD_STEP_NODES; less in tests */
	u32 record_unmaps;	/* RESSD_RECORD_ENTRIES; less in tests */

	u32 prev_crc;		/* of the last written record's header */
	bool first_pending;	/* the next record is this activation's first */
	bool opening;		/* that one is not durable: ressd_recover() */
	bool place_blank;	/* no room for it, and none is there torn */
	/*
	 * Log block of a summary that may speak for records that a loss of
	 * power has taken; 0: none.  It is made blank, durably before a record
	 * of this activation is there.
	 */
	u32 stale_summary;
	u64 written_seq;	/* last record whose write has completed */
	u64 durable_seq;	/* last record known durable */
	struct ressd_position unproven;	/* first one after it, if written */

	/* Dying nodes, UNMAP not yet sealed into a record. */
	struct ressd_dying unmaps;
	u32 nr_unmaps;
	/* Sealed into the record that is not yet written. */
	struct ressd_dying sealed_unmaps;

	bool covered;		/* the next record says so; see ressd-cover.h */
	bool written_covered;	/* the last written record says so */
	bool cover_wanted;	/* a write waits until the log is covered */

	/* Commit cycle: seal, write, flush. */
	bool busy;		/* an I/O is handed out */
	bool starved;		/* the cycle's record has no place */
	enum ressd_mode mode;
	bool distrust;		/* a flush failed while an I/O was in flight */
	struct ressd_distrust distrusting;	/* what is yet to follow */
	struct ressd_repair repair;
	bool kicked;		/* the open record must go out, full or not */
	bool reclaim;		/* announce a new tail with the next sync */
	bool rotate;		/* the next record starts a new segment */
	bool filling;		/* the last record was sealed for being full */
	u64 sync_wanted;	/* last ticket drawn */
	u64 sync_done;		/* last ticket completed */
	u64 cycle;		/* ticket this cycle completes, 0: no cycle */
	bool cycle_sealed;	/* the cycle has sealed its first record */
	u32 cycle_unmaps;	/* UNMAPs this cycle has yet to write */
	u64 cycle_tail;		/* tail to announce when its flush is done */

	struct ressd_padding padding;
	struct ressd_log_counters counters;
};

/* What to initialise a log with; all pointers stay the caller's. */
struct ressd_log_setup {
	struct ressd_geom geom;
	const u8 *uuid;
	u64 activation;			/* random, never 0 */
	u32 normal_blocks;
	u32 cover_blocks;
	struct ressd_node *nodes;	/* geom.nr_blocks */
	unsigned long *clean;		/* ressd_map_clean_bytes(nr_blocks) */
	unsigned long *regions;		/* ressd_regions_bytes(), or NULL */
	struct ressd_segment *segments;	/* geom.nr_segments */
	void *const *buffers;	/* RESSD_RECORDS of geom.record_blocks * 4096 */
	void *summary;			/* ressd_summary_bytes(geom) */
	/*
	 * True while a read, a move or a discard of that slot is in flight;
	 * under the lock.
	 */
	bool (*segment_busy)(void *context, u32 slot);
	/*
	 * Waits for the copies into that record, by its index; see COPIES.
	 * NULL: all end before the lock is released.
	 */
	void (*settle)(void *context, u32 record);
	void *context;
};

/* An empty log.  ressd_recover() then fills it from the device. */
void ressd_log_init(struct ressd_log *log, const struct ressd_log_setup *setup);

/* Where an accepted block goes. */
struct ressd_place {
	void *data;	/* 4096 bytes in the open record's buffer */
	/*
	 * Its crc is the caller's to set, with the data.  0: not known yet,
	 * then ressd_log_encode() finds it.
	 */
	struct ressd_entry *entry;
	u64 seq;	/* of the record that will hold it */
	u32 record;	/* the index of that */
	bool overwrites;	/* the copy must end under this lock hold */
};

/*
 * Takes in a write of the whole normal block @lbn: from now on the map says
 * that it is in the log.  The caller copies the data to place->data before it
 * releases the lock, or as COPIES allows.  Returns
 *	0		accepted
 *	-EAGAIN		the open record is full and no other one free, or the
 *			next segment is not yet forgotten
 *			(ressd_log_tidy()); try again when the next I/O, or
 *			that, is done.  Or the log is not covered
 *			(ressd-cover.h)
 *	-ENOSPC		the log is full; try again when segments were reclaimed
 *	-EIO		the mode is not RW
 * @place is NULL: that is what it would return.  A record may be closed and a
 * segment entered for it, but nothing is taken in.
 */
int ressd_log_accept(struct ressd_log *log, u32 lbn, struct ressd_place *place);
/*
 * The same for a covered block whose copy is damaged: it takes the space that
 * is kept for carrying that copy, or in a full log nothing could replace it.
 */
int ressd_log_mend(struct ressd_log *log, u32 lbn, struct ressd_place *place);

/*
 * @nr normal blocks from @lbn were superseded outside the log by a direct write
 * or a discard that has completed.  The caller completes it after this call,
 * and if it was FUA after a sync.
 */
void ressd_log_kill(struct ressd_log *log, u32 lbn, u32 nr);

/*
 * The same of a part of them, from @lbn on: returns how many blocks it was, @nr
 * if all.
 */
u32 ressd_log_kill_some(struct ressd_log *log, u32 lbn, u32 nr);

/*
 * Does a piece of what is done in pieces: after a failed flush the map is made
 * to show what that may have taken along, and slots that may be reused are
 * forgotten.  Returns true while more is to be done.  The caller calls it
 * whenever ressd_log_next() has nothing, and lets go of the lock between two
 * calls; writes that wait for the head to enter a segment, discards, and a
 * repair go on then.
 */
bool ressd_log_tidy(struct ressd_log *log);

/*
 * The mover has written @block back, to normal block @lbn.  True if it was
 * still current; false also in the modes RO and FAIL, for that write may be
 * gone.
 */
bool ressd_log_moved(struct ressd_log *log, u32 block, u32 lbn);

/*
 * Draws a ticket.  The sync is complete when ressd_log_synced() returns that
 * number or more; it never completes before a repair if the mode is not RW.
 */
u64 ressd_log_sync(struct ressd_log *log);

static inline u64 ressd_log_synced(const struct ressd_log *log)
{
	return log->sync_done;
}

/*
 * Like ressd_log_sync(), and every segment that has become empty meanwhile
 * becomes reusable.
 */
u64 ressd_log_reclaim(struct ressd_log *log);

/*
 * True if a sync cannot go on before the mover has freed space.  So the mover
 * itself must not wait for one then.  Known when ressd_log_next() has been
 * called since the last ressd_log_reclaim().
 */
static inline bool ressd_log_is_starved(const struct ressd_log *log)
{
	return log->starved;
}

/*
 * The mover cannot free that space, for moves fail: mode OFF, so that no sync
 * waits for ever.
 */
void ressd_log_give_up(struct ressd_log *log);

/* True if ressd_log_reclaim() would gain a segment. */
bool ressd_log_can_reclaim(const struct ressd_log *log);

/*
 * True if there is no space for data: only moves and reclaiming free some.
 */
bool ressd_log_is_full(const struct ressd_log *log);

/* True if a record is full and not yet handed out by ressd_log_next(). */
bool ressd_log_record_full(const struct ressd_log *log);

/* True if the open one is, and no other can take data before the next I/O. */
bool ressd_log_ram_is_full(const struct ressd_log *log);

/* Blocks of data in the open record; in those that are full or in flight. */
u32 ressd_log_open_blocks(const struct ressd_log *log);
u32 ressd_log_blocks_in_flight(const struct ressd_log *log);

/*
 * The open record shall be written soon, full or not (commit interval,
 * writethrough).
 */
void ressd_log_write_soon(struct ressd_log *log);

/*
 * The next record starts a new segment, so that all older ones can be moved
 * (drain).
 */
void ressd_log_rotate(struct ressd_log *log);

/*
 * Begins what a burst will need, while there is time: some devices pay a merge
 * for the first write to a clustered block, and for each write to one that they
 * had closed meanwhile.  So an empty log goes to the next segment in whose
 * first page a clustered block begins (see page_blocks), and writes its first
 * record: what follows continues that block in order.  ressd_log_can_prime() is
 * true while there is a step to go, ressd_log_prime() takes it: one segment
 * further.  It returns the ticket of a sync to wait for, and may come to
 * nothing.
 */
bool ressd_log_can_prime(const struct ressd_log *log);
u64 ressd_log_prime(struct ressd_log *log);

/*
 * True if recovery would find no mapping at all: the normal area is a plain
 * disk.
 */
bool ressd_log_is_drained(const struct ressd_log *log);

/*
 * True if something is only in RAM or not yet announced: a sync would have to
 * write a record.
 */
bool ressd_log_is_volatile(const struct ressd_log *log);

/*
 * True if an UNMAP may not be durable yet.  Then a direct FUA write is not
 * complete before a sync, for the UNMAP may be that of an older copy of its
 * blocks.  To be called when the write is done and has killed what it
 * superseded: what was logged and killed while it was in flight counts, too.
 */
bool ressd_log_unmaps_pending(const struct ressd_log *log);

/*
 * Takes the next segment to be discarded: each slot once before the head comes
 * to it again, oldest first, none that is not reusable, not yet forgotten or in
 * use by a read, none that the head enters next.  True: it is in *@slot, and
 * the caller counts it as busy before it releases the lock, until the discard
 * has ended, well or not.
 */
bool ressd_log_take_discard(struct ressd_log *log, u32 *slot);

/* True if there is one now. */
bool ressd_log_can_discard(const struct ressd_log *log);

enum ressd_io_kind { RESSD_IO_WRITE, RESSD_IO_FLUSH, RESSD_IO_READ };

struct ressd_io {
	enum ressd_io_kind kind;	/* FLUSH: of both devices */
	void *data;			/* WRITE, READ: nr_blocks * 4096 */
	u32 block;			/* log block */
	u32 nr_blocks;
	bool preflush;			/* flush both devices before it */
	bool fua;			/* durable when it completes */
	/*
	 * Set by the caller before it passes an error to ressd_log_done(): it
	 * was the write, and no flush, neither the PREFLUSH nor one that stands
	 * in for FUA, has failed.
	 */
	bool only_write;
	/* Private from here on. */
	struct ressd_record *record;	/* NULL: WRITE of a segment's summary */
	void *page;			/* the page that it ends in, or NULL */
	u32 page_start, page_blocks;	/* that page */
	bool whole_page;		/* all of it is written */
};

/*
 * Hands out the next I/O, or returns false if there is none now: nothing to do,
 * one in flight, or (while ressd_log_synced() < log->sync_wanted) no room, so
 * that the mover must make some.
 */
bool ressd_log_next(struct ressd_log *log, struct ressd_io *io);

/*
 * True if the log is in service, nothing is in flight, and ressd_log_next() has
 * nothing to do.
 */
bool ressd_log_is_at_rest(const struct ressd_log *log);

/*
 * Fills in header and checksums of a WRITE, and may make it the write of a
 * whole page.  To be called once for each.  No lock needed: neither a sealed
 * record, nor its page, nor the summary changes while its write is under way.
 */
void ressd_log_encode(struct ressd_log *log, struct ressd_io *io);

/*
 * False if a flush beside the log has failed since @io was handed out: its
 * PREFLUSH, though it has succeeded, may come after that one, and what the
 * record says need not be true.  To be called between the two; the write is
 * then not begun, and ressd_log_done() gets the error of a failed flush.
 */
static inline bool ressd_log_may_write(const struct ressd_log *log)
{
	return !log->distrust;
}

/*
 * The I/O has completed with @error (0 or negative).  An error leads to mode
 * OFF if io->only_write, otherwise to RO.  The caller then fails all bios that
 * wait for a ticket or a record.
 */
void ressd_log_done(struct ressd_log *log, struct ressd_io *io, int error);

/*
 * A flush of either device that the log did not send has failed.  To be called
 * before its bio completes, whatever is in flight.
 */
void ressd_log_flush_failed(struct ressd_log *log);

/*
 * True from then on until the I/O that was in flight is done, and
 * ressd_log_tidy() has no more to do: only then the map shows what the failed
 * flush may have taken along.  A read that begins meanwhile may see something
 * older than what was durable; it must fail like one that was in flight when
 * the flush failed.  A repair must not begin before.
 */
static inline bool ressd_log_is_doubtful(const struct ressd_log *log)
{
	return log->distrust || log->distrusting.step != RESSD_DISTRUST_NONE;
}

/*
 * Mode OFF: true if the log holds nothing that is in RAM only, so that a flush
 * of the devices may succeed.
 */
bool ressd_log_owes_nothing(const struct ressd_log *log);

/*
 * For ressd-recover.c: the next record, which stands at log block @block, was
 * found.
 */
void ressd_log_summarise(struct ressd_log *log,
			 const struct ressd_record_header *header, u32 block);

/* Does a record in RAM hold @block?  If not it is read from the device. */
bool ressd_log_holds(const struct ressd_log *log, u32 block);

/* Its data then, else NULL.  Not in an interrupt: see COPIES. */
const void *ressd_log_data(const struct ressd_log *log, u32 block);

/* Sequence number of the segment that @block belongs to at present. */
u64 ressd_log_segment_seq(const struct ressd_log *log, u32 block);

/*
 * Blocks that the mover has yet to write back; covered ones are written back
 * last, by a run of their own.
 */
u32 ressd_log_nr_movable(const struct ressd_log *log);

/* Is there a segment before the head that is not free? */
static inline bool ressd_log_is_used(const struct ressd_log *log)
{
	return log->reuse_seq < log->head_seq;
}

/* Segments beyond the head that may be overwritten. */
u32 ressd_log_free_segments(const struct ressd_log *log);

/* Blocks that records can still use, and all that they ever can. */
u32 ressd_log_free_blocks(const struct ressd_log *log);
u32 ressd_log_total_blocks(const struct ressd_log *log);

#endif
