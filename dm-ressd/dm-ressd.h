/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dm-ressd: makes one slow flash device good at small random writes (RE:
 * "ReSSD: A Software Layer for Improving the Small Random Write Performance of
 * SSDs").
 *
 * DOC: who does what
 *
 * Six layers, each with a header of its own; a file includes that of its layer,
 * and so calls what is in its layer or below, never above.  The head of each
 * file says what it does.
 *
 *	target		constructor to destructor, status, messages; no two
 *			targets share an area
 *	io		bios: the router, reads, writes to the log and direct
 *			ones, how they end
 *	mover		the thread that writes the log's data back, in batches;
 *			pace, covers
 *	log		superblock, recovery, the worker that writes the log,
 *			errors, discards of its segments
 *	dispatch	requests to the normal area: cut, held, and sent in
 *			order
 *	base		I/O of the target's own buffers, the clock of route
 *			adaptive
 *	core/		everything that is not Linux: map, log protocol,
 *			recovery, grammar
 *
 * What goes up is a wake-up (dm-ressd-base.h) or one of struct ressd_upcalls.
 *
 *	home		a block's place in the normal area
 *	to move		to write a logged block home
 *	to kill		to invalidate a log block: what is newer is elsewhere
 *	live, dead	of a segment: with, or without dirty blocks
 *	to keep		to append the live blocks of the oldest segment again
 *	unit		the device's clustered block; a visit of the mover takes
 *			all that the log holds of one
 *
 * The invariants of crash safety stand in core/ressd-log.h; what is written,
 * with which flags and in which order, is decided there.  Here are the bios,
 * locks and threads around it.
 *
 * DOC: locking
 *
 * ressd->lock protects the log with its map, the pattern identifier, the
 * options, the counters and the lists of waiting bios.  It is taken in process
 * context only; the end of a log write, which may come in an interrupt, tries
 * it and leaves the rest to the worker if it is held.  ressd->done_lock
 * protects the list of completed bios that still need process context, and the
 * end of the mover's I/Os, of discards and of log writes; it is taken from
 * interrupts, and never together with ressd->lock.  readers[], cover.reads,
 * meter.small_in_flight, mover.ios, mover.awaited and the counts of failed
 * flushes are atomic.  meter.lock and the lock of direct writes without a
 * place (dm-ressd-flight.h) are innermost ones, and are taken from interrupts.
 * shape.lock (dm-ressd-shape.c) is taken below ressd->lock or alone, also from
 * interrupts.
 *
 * Functions that need a lock held assert it (lockdep_assert_held()), which
 * costs nothing but in a kernel with lockdep (tools/vm/debug-kernel); but for
 * those of the headers that tests/interleave runs, which do not know it.
 *
 * A small write that completes at once takes its place in the open record under
 * ressd->lock, and copies its data and finds their checksum without:
 * dm-ressd-copy.h.
 *
 * No hold of ressd->lock grows with the log: what is done for each block is
 * done in pieces, see TIME UNDER THE LOCK in core/ressd-log.h.
 *
 * All locks are spinlocks.  Without one these may sleep:
 *
 *	map				only in ressd_dispatch_throttle()
 *	the end of a bio or an I/O	no, it may be in an interrupt
 *	the log's worker, the mover	for I/O
 *	the bio, order and dispatch	when they send, or read what a piece of
 *	 workers			a block is merged with
 *	messages, constructor, resume,	yes
 *	 suspend
 *
 * DOC: without the lock
 *
 * A read of blocks that are not mapped takes no lock, and writes nothing that
 * another processor uses: it counts itself in struct ressd_seen, of its own
 * processor, and looks at a bitmap in front of the map (core/ressd-regions.h).
 * If that says that nothing is mapped it goes to the normal area.  Otherwise it
 * takes the lock and looks at the map, as all others do.  What may happen
 * between the look and the read's arrival at the device, and why nothing is
 * wrong then:
 *
 *	a small write is logged		It was completed before the read came,
 *					and the read sees its bit: that was set
 *					under the lock before it was completed.
 *					Or it was not, and both answers are
 *					right.
 *	the block is written back	The mover leaves the bit alone; when the
 *	 and forgotten			segment is forgotten, home has the data:
 *					a bit is cleared with a release, and
 *					looked at with an acquire.  A read that
 *					came first may see home before or after
 *					that write, or, sector by sector,
 *					either: the block was logged while the
 *					read was on its way, see above.
 *	a direct write, a discard	They invalidate what the log has when
 *					they have arrived at home, with the same
 *					release, and complete after that.
 *	a newer log copy		The bit is never clear in between
 *					(ressd_map_take_out()).
 *	covers come and go		Reads of covered blocks always take the
 *					lock, and are counted while these are at
 *					home (cover.reads).
 *	a flush fails			errors.known_to_map is read before the
 *					bitmap, by an acquire, and set by a
 *					release after the map was changed: so a
 *					read relies on no more than what the map
 *					has taken into account, and fails if its
 *					number is not the last.
 *	the message set, reload,	As dm has it: a table is not changed or
 *	 suspend			suspended while its bios are in flight,
 *					and no option concerns such reads.
 *	a dispatch policy holds it	As if the device had it, see below.
 *
 * The log's segments are never reused or discarded under such a read, for it
 * reads none: only those that have taken the lock do, and count in readers[].
 *
 * A write that is larger than small_write_sectors, without FUA, of blocks that
 * are not mapped takes no lock either (dm-ressd-flight.h), unless others wait
 * in dm-ressd-order.c.  It is like a direct write that has taken the lock,
 * found nothing mapped, and given it up; what comes then is under "a direct
 * write and the mover".
 *
 * DOC: errors
 *
 * log.mode (core/ressd-log.h) says what the target still does.  It gets worse
 * under the lock, by ressd_log_done() or, when a flush fails that went to the
 * device directly, by ressd_take_flush_errors().  Callers of these then call
 * ressd_note_mode() without the lock, which informs the user and wakes all
 * waiters.  In the modes RO and FAIL no direct write succeeds, those in flight
 * when the mode changed included: the failed flush may have lost their data,
 * and core has taken their invalidations back.
 *
 * A read that was in flight when a flush failed fails, too: of the log it may
 * have seen what was there before a record that is gone, of the normal area
 * something older than what core has then revived.  Only what is in RAM or in a
 * durable record is safe from that.  So a read remembers how many failures the
 * map took into account when it was mapped, and compares that with all that are
 * known when it ends: one that is mapped after the failure, but before that was
 * reported to core or core can act on it (ressd_log_is_doubtful()), fails as
 * well.
 *
 * DOC: a direct write and the mover
 *
 * A direct write (to the normal area) that covers dirty blocks is on the
 * tracked list from its submission until its blocks are killed; the mover
 * leaves blocks under a tracked write alone, and a direct write that overlaps
 * the mover's batch waits for it.  A direct write that found nothing mapped is
 * not tracked, but a block that is logged while it is in flight must not be
 * moved before it has landed.  And with move_block_sectors a batch may have
 * holes: blocks that are only read from home and written back.  A direct write
 * that lands between the two would be lost.  So from the choice of a batch on
 * direct writes that touch it wait, and reading begins when those in flight
 * that touch it are done (dm-ressd-flight.h).
 *
 * A clean block (core/ressd-map.h) is killed when a direct write to it is
 * *submitted*: home holds the same data, and the UNMAP is written only after a
 * flush.
 *
 * DOC: forward progress
 *
 * Nothing on the way of a bio allocates, except from a bio set with a reserve.
 * A small write that finds the log full is sent to the normal area (on_full
 * bypass) or waits for the mover (on_full wait), which needs no room in the log
 * to go on (core/ressd-log.h, SPACE).  One that waits for an I/O of the log,
 * because all records are full or because a trial of route adaptive is judged
 * by it, finds that I/O in flight or due, and the log's worker queued; and so
 * does one that waits for that worker, because the next segment is not yet
 * forgotten.
 *
 * What a dispatch policy holds (dm-ressd-dispatch.c) is for all others as if
 * the device had it, and waits for nothing but the end of requests that the
 * device has, or for a timer.
 */
#ifndef DM_RESSD_H
#define DM_RESSD_H

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/ressd-args.h"
#include "core/ressd-cover.h"
#include "core/ressd-log.h"
#include "core/ressd-mover.h"
#include "core/ressd-queue.h"
#include "core/ressd-step.h"
#include "core/ressd-record.h"
#include "core/ressd-recover.h"
#include "core/ressd-repair.h"
#include "core/ressd-route.h"
#include "core/ressd-pattern.h"
#include "core/ressd-split.h"
#include "core/ressd-summary.h"
#include "core/ressd-sweep.h"
#include "dm-ressd-copy.h"
#include "dm-ressd-flight.h"
#include "dm-ressd-look.h"
#include "dm-ressd-notes.h"
#include "dm-ressd-space.h"

#define DM_MSG_PREFIX "ressd"

/*
 * A write of the log.  Callers wait for it: without REQ_IDLE the block layer's
 * writeback throttling would take it for background writeback, and hold it up
 * behind that.
 */
#define RESSD_LOG_WRITE	(REQ_OP_WRITE | REQ_SYNC | REQ_IDLE)

/* What status reports; since activation or clear_stats. */
struct ressd_counters {
	u64 log_reads;		/* served from the log, from RAM or device */
	u64 writes;
	u64 small_writes;	/* of these, small and random */
	u64 bypassed;		/* small, but sent direct: log full or off */
	u64 flushes;
	u64 discards;
	u64 moved_blocks;
	u64 moved_runs;		/* writes of them to the normal area */
	u64 moved_runs_12k;	/* of these, 12 KiB or longer */
	u64 kept_blocks;	/* written to the log again */
	u64 filled_blocks;	/* of holes, read at home and written back */
	u64 sweeps;
	u64 adaptive_direct;	/* sent direct by route adaptive */
	u64 trials;		/* of the log, by route adaptive */
	u64 errors;
	u64 write_retries;	/* log writes tried again after an error */
	u64 log_discards;	/* of segments that held nothing any more */
	u64 uncounted_reads;	/* of all reads, those before clear_stats */
};

/*
 * What one processor has seen; only that one changes it, but for notes.tail
 * and the states of places, and without a lock.
 */
struct ressd_seen {
	u64 reads;			/* since the target was made */
	unsigned long last_bio;		/* jiffies */
	struct ressd_flight_places places;	/* of direct writes in flight */
	struct ressd_notes notes;
};

/* The time in which small direct writes were in flight: dm-ressd-meter.c. */
struct ressd_meter {
	spinlock_t lock;	/* see DOC: locking */
	u32 in_flight;
	u32 blocks;		/* completed, not yet passed to core */
	u64 ns;			/* that something was in flight, likewise */
	u64 since;		/* ... but what came after this */
	atomic_t small_in_flight;	/* of route adaptive, both routes */
};

/*
 * Writes that were cut and of which the rest has not come yet, the oldest
 * first: one for each writer, as many as the pattern identifier follows.
 */
struct ressd_cuts {
	struct ressd_note cut[RESSD_PATTERN_MAX_STREAMS];
	u32 nr;
};

/*
 * What shapes the requests to the normal area, see dm-ressd-shape.c and
 * dm-ressd-dispatch.c.
 */
struct ressd_shape {
	bool used;			/* ressd_shape_key counts this target */
	struct ressd_cuts cuts;		/* under ressd->lock */

	spinlock_t lock;	/* see DOC: locking */
	struct ressd_split split;
	struct ressd_split_counters counters[2];	/* by direction */
	struct ressd_queue queue;
	u32 in_flight;		/* requests that count for the depth */
	bool sending;		/* the worker is about to send: none passes */
	bool suspended;		/* nothing is held */

	struct work_struct work;	/* sends what is held */
	struct delayed_work timer;	/* ... because it has waited too long */
	wait_queue_head_t wait;		/* for room in the queue */
};

/*
 * What the log is made of, see core/ressd-log.h, and the buffers; allocated by
 * the constructor.
 */
struct ressd_memory {
	struct ressd_node *nodes;
	unsigned long *clean;
	struct ressd_segment *segments;
	unsigned long *region_bits;
	void *records[RESSD_RECORDS];
	void *summary;
	void *page;	/* of max_page blocks, for log_rewrite; or NULL */
	u32 max_page;
	void *merge;	/* 4 KiB, for the activation, then the bio worker */
};

/* Bios that wait; under the lock. */
struct ressd_waiters {
	struct list_head sync;		/* for a ticket (log.sync_done) */
	struct list_head record;	/* writethrough: for log.written_seq */
	struct list_head space;		/* small writes, for space in the log */
	struct list_head merge;		/* sub-4K pieces to be merged */
	struct list_head move;		/* direct writes: a batch or a cover */
	/* Direct writes that may not pass small ones, see dm-ressd-order.c. */
	struct list_head order;
	u64 came, left;		/* small writes that wait, or did, on space */
	bool for_record;	/* they wait for one, not for space */
	struct work_struct work;	/* sends those on order */
	bool need_space;	/* what frees space queues the log's worker */
};

/* See DOC: errors. */
struct ressd_errors {
	/* Flushes that failed since the device was created; any context. */
	atomic_t failed_flushes;
	int known_to_map;	/* of these; set under the lock, read without */
	/*
	 * Bios of a flush that have failed; how many had when the newest flush
	 * began that has succeeded.  Writes with FUA fail while these differ.
	 */
	atomic_t refused_flushes, answered;
	/* The rest is under the lock. */
	/* Data of the table before may be lost: a flush has to fail. */
	bool inherited;
	/* It has not flushed: so data is lost if the activation cannot. */
	bool unflushed;
	int known_to_core;	/* of failed_flushes */
	enum ressd_mode noted_mode;	/* the last one that was reported */
	bool repairing;		/* read without the lock */
	u32 lost_blocks;	/* that the last repair could not find */
	u32 bad_blocks;		/* that the last sweep could not move */
	bool stuck;		/* because of them it gained no space */
};

/*
 * The pages of a buffer of the log, found once, so that its plain writes need
 * not look for them.
 */
struct ressd_pages {
	void *buffer;
	struct bio_vec *vecs;
	u32 nr_vecs;
};

/*
 * The I/O of the log, one at a time; while log.busy it belongs to who carries
 * it out.
 */
struct ressd_log_io {
	struct work_struct work;	/* carries out the next one */
	struct delayed_work timer;	/* commit_interval_ms after a write */
	/* Of the records, the summary and the page; constant. */
	struct ressd_pages pages[RESSD_RECORDS + 2];
	struct ressd_io io;
	struct bio write;		/* the plain write in flight */
	u64 start;			/* ns */
	bool held;	/* in a visit, or suspended; under the lock */
	int error;			/* valid with ended */
	bool ended;	/* not yet passed to core; released, acquired */
};

/* Where the mover has a batch: changed by its thread, under the lock. */
struct ressd_move_space {
	void *buffer;			/* the data of the moves */
	struct ressd_move *moves;
	u32 max;			/* moves that there is space for */
};

struct ressd_mover {
	struct task_struct *thread;	/* changed by resume and suspend */
	wait_queue_head_t rest;		/* at rest: there may be work to do */

	/* What others request of it; under the lock. */
	bool off;	/* by the user: only moves that writes need */
	bool draining;	/* small writes go direct, all is moved */
	int drain_result;
	bool retry_now;	/* do not wait until backoff is over */
	struct ressd_move_space next_space;	/* larger: dm-ressd-batch.c */

	/* Set by its thread under the lock; it reads them without. */
	enum ressd_mover_state state;	/* see core/ressd-mover.h */
	bool unprimed;			/* moved something since last primed */
	u64 vain;	/* ressd_taken() + 1 after a vain sweep, or 0 */
	struct ressd_sweep sweep;
	struct ressd_step step;		/* of this sweep */
	struct ressd_move_space space;	/* the batch has gate.batch moves */
	u32 bad_block;			/* log block, see bad_blocks */

	/* Its thread's own. */
	u32 bad_blocks;			/* that this sweep could not move */
	bool watches_clock;		/* at rest; read by others */
	u32 backoff;			/* ms; see ressd_mover_pause() */
	u64 visit_from;			/* where the next visits begin */
	struct ressd_visits visits;
	atomic_t ios, io_errors;	/* of the batch; end in interrupts */
	atomic_t awaited;	/* direct writes in the way; likewise */
};

/* What has become of the discard that was begun last. */
enum ressd_discard_state {
	RESSD_DISCARD_NONE,	/* another one may begin */
	RESSD_DISCARD_IN_FLIGHT,
	RESSD_DISCARD_DONE,	/* the mover's thread has yet to note it */
	RESSD_DISCARD_FAILED,	/* likewise */
};

/* Discards of the log; the mover's thread, but for the end of one. */
struct ressd_discard {
	bool possible;	/* supported, none failed; under the lock */
	enum ressd_discard_state state;	/* released, acquired */
	u32 slot;	/* of the one in flight */
};

/*
 * See dm-ressd-cover.c; under the lock but for the buffers, which the run's
 * thread uses.
 */
struct ressd_cover {
	struct ressd_cover_run run;
	bool running;
	bool busy;	/* writes of covered blocks wait */
	bool failed;	/* the last run: small writes go direct */
	u32 bad_block;	/* log block, the damaged copy of run.bad; 0: none */
	atomic_t reads;	/* of covered blocks at home, in flight */
};

struct ressd;

/*
 * What the log's worker calls of the layers above it; set by the constructor.
 * All else that goes up is a wake-up: ressd_run_log(), ressd_run_bios(),
 * ressd_wake().
 */
struct ressd_upcalls {
	/*
	 * Small writes that wait for space may try again.  Context: process, no
	 * lock held.
	 */
	void (*retry_space_waiters)(struct ressd *ressd);
	/*
	 * Has the mover, if it is at rest, something to do now?  Under the
	 * lock.
	 */
	bool (*mover_is_wanted)(const struct ressd *ressd);
};

/* Where a table has its areas. */
struct ressd_areas {
	dev_t normal, reserved;
	struct ressd_table table;
};

enum ressd_life {
	RESSD_FORMATTED,	/* to be recovered when first resumed */
	RESSD_BLANK,		/* to be formatted then */
	RESSD_FORMATTING,	/* begun, not completed */
	RESSD_ACTIVE,		/* the log is recovered and may be written */
};

struct ressd {
	/* Constant once the device is active. */
	struct dm_target *ti;
	struct dm_dev *normal, *reserved;
	bool same_dev;			/* one flush reaches both areas */
	struct ressd_table table;
	struct ressd_memory memory;
	struct bio_set bios;		/* dm-ressd-device.c */
	struct workqueue_struct *workqueue;
	struct notifier_block power;	/* hibernation begins or has ended */
	struct list_head instances;	/* all targets; dm-ressd-instances.c */
	/*
	 * Of the table before this one, whose log holds data.  Until this one
	 * is active none may follow that does not find it.  No devices: none.
	 */
	struct ressd_areas owed;
	const struct ressd_upcalls *up;
	enum ressd_life life;
	u32 recovery_ms;

	/*
	 * For reads and large writes, which take no lock; what is not constant
	 * seldom changes.
	 */
	struct ressd_regions regions;	/* the map's */
	struct ressd_seen __percpu *seen;
	struct ressd_gate gate;		/* direct writes; set under the lock */
	struct ressd_flight flight;
	u32 locked_sectors;	/* up to so many take the lock; likewise */
	struct ressd_errors errors;
	atomic_t *readers;		/* per slot: reads, moves, discards */

	/* There may be notes, see dm-ressd-unlocked.c; a line of its own. */
	bool noted ____cacheline_aligned_in_smp;

	/* Into the records; it changes without the lock: a line of its own. */
	struct ressd_copies copies[RESSD_RECORDS]
		____cacheline_aligned_in_smp;

	/* See DOC: locking. */
	spinlock_t lock ____cacheline_aligned_in_smp;
	struct ressd_log log;
	struct ressd_super_info super;	/* store_lock, once active */
	struct mutex store_lock;	/* not across devices: one may hang */
	struct ressd_options options;
	struct ressd_pattern pattern;
	struct ressd_route route;	/* in use with route adaptive */
	struct ressd_counters counters;
	struct ressd_waiters waiters;
	struct list_head tracked;	/* direct writes over dirty blocks */
	u32 nr_tracked;
	bool suspending;		/* nothing may wait for space */
	/*
	 * From the moment that the memory was copied to be saved nothing may be
	 * freed or discarded: the map in that copy still refers to it.
	 */
	bool hibernating;

	spinlock_t done_lock;		/* taken from interrupts */
	struct list_head done;		/* bios to end in process context */
	struct work_struct bio_work;	/* ... and others that do */

	wait_queue_head_t wait;		/* mover, drain: something happened */
	struct ressd_log_io log_io;
	struct ressd_mover mover;
	struct ressd_discard discard;
	struct ressd_cover cover;
	struct ressd_meter meter;	/* has a lock of its own */
	struct ressd_shape shape;	/* likewise */
};

#endif
