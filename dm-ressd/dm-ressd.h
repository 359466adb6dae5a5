/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dm-ressd: makes one slow flash device good at small random writes (RE: "ReSSD: A Software Layer
 * for Improving the Small Random Write Performance of SSDs").
 *
 * DOC: who does what
 *
 *	dm-ressd-target.c	life of the target: table line, suspend, resume
 *	dm-ressd-instances.c	no two targets share an area
 *	dm-ressd-status.c	status and messages
 *	dm-ressd-io.c		bios: the router, writes to the log and direct ones, discard, flush
 *	dm-ressd-read.c		... reads
 *	dm-ressd-end.c		... how they end
 *	dm-ressd-unlocked.c	... large writes that take no lock
 *	dm-ressd-merge.c	pieces of a block that is in the log
 *	dm-ressd-log.c		superblock, recovery
 *	dm-ressd-device.c	I/O of the target's own buffers
 *	dm-ressd-commit.c	the worker that writes the log
 *	dm-ressd-mover.c	the thread that brings the data home
 *	dm-ressd-batch.c	... one batch after the other
 *	dm-ressd-pace.c		how that is spread in time
 *	dm-ressd-cover.c	the bare disk looks like no file system
 *	dm-ressd-discard.c	discards of segments that hold nothing any more
 *	dm-ressd-route.c	which way costs less (route adaptive)
 *	dm-ressd-shape.c	requests to the normal area: cut to what the device takes best
 *	dm-ressd-dispatch.c	... and in which order they are sent
 *	dm-ressd-error.c	what happens after an I/O error: modes, the message recover
 *	core/			everything that is not Linux: map, log protocol, recovery, grammar
 *
 * The invariants of crash safety stand in core/ressd-log.h; what is written, with which flags and
 * in which order, is decided there.  Here are the bios, locks and threads around it.
 *
 * DOC: locking
 *
 * ressd->lock protects the log with its map, the RPI, the options, the counters and the lists of
 * waiting bios.  It is taken in process context only; the end of a log write, which may come in an
 * interrupt, tries it and leaves the rest to the worker if it is held.  ressd->done_lock protects
 * the list of completed bios that still need process context, and the end of the mover's I/Os, of
 * discards and of log writes; it is taken from interrupts, and never together with ressd->lock.
 * readers[], meter.small_in_flight and mover.ios are atomic.  meter.lock is
 * the innermost lock, and is taken from interrupts.  shape.lock (dm-ressd-shape.c) is taken below
 * ressd->lock or alone, also from interrupts.
 *
 * Functions that need a lock held assert it (lockdep_assert_held()), which costs nothing but in a
 * kernel with lockdep (tools/vm/debug-kernel).
 *
 * No hold of ressd->lock grows with the log: what is done for each block is done in pieces, see
 * TIME UNDER THE LOCK in core/ressd-log.h.
 *
 * DOC: without the lock
 *
 * A read of blocks that are not mapped takes no lock, and writes nothing that another processor
 * uses: it counts itself in struct ressd_seen, of its own processor, and looks at a bitmap in front
 * of the map (core/ressd-regions.h).  If that says that nothing is mapped it goes to the normal
 * area.  Otherwise it takes the lock and looks at the map, as all others do.  What may happen
 * between the look and the read's arrival at the device, and why nothing is wrong then:
 *
 *	a small write is logged		It was completed before the read came, and the read sees its
 *					bit: that was set under the lock before it was completed.
 *					Or it was not, and both answers are right.
 *	the block is written back	The mover leaves the bit alone; when the segment is
 *	 and forgotten			forgotten, home has the data: a bit is cleared with a
 *					release, and looked at with an acquire.  A read that came
 *					first may see home before or after that write, or, sector by
 *					sector, either: the block was logged while the read was on
 *					its way, see above.
 *	a direct write, a discard	They invalidate what the log has when they have arrived at
 *					home, with the same release, and complete after that.
 *	a newer log copy		The bit is never clear in between (ressd_map_take_out()).
 *	covers come and go		Reads of covered blocks always take the lock, and are
 *					counted while these are at home (cover.reads).
 *	a flush fails			errors.known_to_map is read before the bitmap, by an
 *					acquire, and set by a release after the map was changed:
 *					so a read relies on no more than what the map has taken into
 *					account, and fails if its number is not the last.
 *	the message set, reload,	As dm has it: a table is not changed or suspended while its
 *	 suspend			bios are in flight, and no option concerns such reads.
 *	a dispatch policy holds it	As if the device had it, see below.
 *
 * The log's segments are never reused or discarded under such a read, for it reads none: only those
 * that have taken the lock do, and count in readers[].
 *
 * A write that is larger than small_write_sectors, without FUA, of blocks that are not mapped takes
 * no lock either: dm-ressd-flight.h.  It is like a direct write that has taken the lock, found
 * nothing mapped, and given it up; what comes then is under "a direct write and the mover".
 *
 * DOC: errors
 *
 * log.mode (core/ressd-log.h) says what the target still does.  It gets worse under the lock, by
 * ressd_log_done() or, when a flush fails that went to the device directly, by
 * ressd_take_flush_errors(); whoever may have caused that calls ressd_note_mode() without the lock,
 * which tells the user and lets all waiters look again.  In the modes RO and FAIL no direct write
 * succeeds, those in flight when the mode changed included: whether the failed flush took them
 * along cannot be known, and core has revived what they killed.
 *
 * A read that was in flight when a flush failed fails, too: of the log it may have seen what was
 * there before a record that is gone, of the normal area something older than what core has then
 * revived.  Only what is in RAM or in a durable record is safe from that.  So a read remembers how
 * many failures the map took into account when it was mapped, and compares that with all that are
 * known when it ends: one that is mapped after the failure, but before core has heard of it or can
 * act on it (ressd_log_is_doubtful()), fails as well.
 *
 * DOC: a direct write and the mover
 *
 * A direct write (to the normal area) that covers dirty blocks is on the tracked list from its
 * submission until its blocks are killed; the mover leaves blocks under a tracked write alone, and
 * a direct write that overlaps the mover's batch waits for it.  A direct write that found nothing
 * mapped is not tracked, but a block that is logged while it is in flight must not be moved before
 * it has landed: a sweep first waits until all direct writes that were in flight when it froze its
 * segments are done (the two generations of dm-ressd-flight.h).
 *
 * With move_block_sectors a batch may also hold blocks that were logged since, and holes: blocks
 * that are only read from home and written back.  The former is also true of a sweep that takes the
 * segment in use (drain, idle, trial).  Then the same is done for each batch: from its choice on
 * direct writes that touch it wait, and reading begins when those in flight are done.  Without it a
 * direct write that lands between reading and writing a hole would be lost.
 *
 * A clean block (core/ressd-map.h) is killed when a direct write to it is *submitted*: home holds
 * the same data, and the UNMAP is written only after a flush.
 *
 * DOC: forward progress
 *
 * Nothing on the way of a bio allocates, except from a bio set with a reserve.  A small write that
 * finds the log full is sent to the normal area (on_full bypass) or waits for the mover (on_full
 * wait), which needs no room in the log to go on (core/ressd-log.h, SPACE).  One that waits for an
 * I/O of the log, because both records are full or because a trial of route adaptive is judged by
 * it, finds that I/O in flight or due, and the log's worker queued; and so does one that waits for
 * that worker, because the next segment is not yet forgotten.
 *
 * What a dispatch policy holds (dm-ressd-dispatch.c) is for all others as if the device had it, and
 * waits for nothing but the end of requests that the device has, or for a timer.
 */
#ifndef DM_RESSD_H
#define DM_RESSD_H

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/jump_label.h>
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
#include "core/ressd-rpi.h"
#include "core/ressd-split.h"
#include "core/ressd-summary.h"
#include "core/ressd-sweep.h"
#include "dm-ressd-flight.h"

#define DM_MSG_PREFIX "ressd"

/*
 * A write of the log.  Somebody waits for it: without REQ_IDLE the block layer's writeback
 * throttling would take it for background writeback, and hold it up behind that.
 */
#define RESSD_LOG_WRITE	(REQ_OP_WRITE | REQ_SYNC | REQ_IDLE)

/* What status reports; since activation or clear_stats. */
struct ressd_counters {
	u64 log_reads;			/* served from the log, from RAM or device */
	u64 writes;
	u64 small_writes;		/* of these, small and random by the RPI */
	u64 bypassed;			/* small ones sent to the normal area: log full or off */
	u64 flushes;
	u64 discards;
	u64 moved_blocks;
	u64 moved_runs;			/* writes that brought them home */
	u64 moved_runs_12k;		/* of these, 12 KiB or longer */
	u64 kept_blocks;		/* written to the log again */
	u64 filled_blocks;		/* of holes, read at home and written back */
	u64 sweeps;
	u64 adaptive_direct;		/* small writes that route adaptive sent direct */
	u64 trials;			/* of the log, by route adaptive */
	u64 errors;
	u64 write_retries;		/* log writes tried again after an error */
	u64 log_discards;		/* of segments that held nothing any more */
	u64 uncounted_reads;		/* of all reads, those before clear_stats */
};

/* Large writes that took no lock, and that the pattern identifier is yet to hear of. */
#define RESSD_MAX_NOTES	32U

struct ressd_note {
	u64 sector;
	u32 sectors;
};

struct ressd_notes {
	struct ressd_note note[RESSD_MAX_NOTES];
	u32 head;			/* the next one's number; by its processor */
	u32 tail;			/* the oldest one's; under the lock */
};

/* What one processor has seen; only that one changes it, but for notes.tail, and without a lock. */
struct ressd_seen {
	u64 reads;			/* since the target was made */
	unsigned long last_bio;		/* jiffies */
	struct ressd_flight flight;	/* direct writes not yet dealt with */
	struct ressd_notes notes;
};

/* The time in which small writes were on their direct way, see dm-ressd-route.c. */
struct ressd_meter {
	spinlock_t lock;		/* see DOC: locking */
	u32 in_flight;
	u32 blocks;			/* completed, not yet told to core */
	u64 ns;				/* that something was in flight, not yet told */
	u64 since;			/* ... but what came after this */
	atomic_t small_in_flight;	/* small writes under route adaptive, both routes */
};

/* What shapes the requests to the normal area, see dm-ressd-shape.c and dm-ressd-dispatch.c. */
struct ressd_shape {
	bool used;			/* ressd_shape_key counts this target */
	/* What is left of the write that was cut last; under ressd->lock. */
	u64 rest_sector;
	u32 rest_sectors;

	spinlock_t lock;		/* see DOC: locking */
	struct ressd_split split;
	struct ressd_split_counters counters[2];	/* by enum ressd_direction */
	struct ressd_queue queue;
	u32 in_flight;			/* requests that count for the depth */
	bool sending;			/* the worker is about to send some: nothing passes them */
	bool suspended;			/* nothing is held */

	struct work_struct work;	/* sends what is held */
	struct delayed_work timer;	/* ... because it has waited too long */
	wait_queue_head_t wait;		/* for room in the queue */
};

/* What the log is made of, see core/ressd-log.h, and the buffers; allocated by the constructor. */
struct ressd_memory {
	struct ressd_node *nodes;
	unsigned long *clean;
	struct ressd_segment *segments;
	unsigned long *region_bits;
	void *records[2];
	void *summary;
	void *page;			/* of max_page blocks, for log_rewrite; or NULL */
	u32 max_page;
	void *merge;			/* 4 KiB, for the bio worker */
};

/* Bios that wait; under the lock. */
struct ressd_waiters {
	struct list_head sync;		/* for a ticket (log.sync_done) */
	struct list_head record;	/* writethrough: for log.written_seq */
	struct list_head space;		/* small writes, for space in the log */
	struct list_head merge;		/* sub-4K pieces: to be merged by the bio worker */
	struct list_head move;		/* direct writes, for the mover's batch or a cover */
	bool need_space;		/* read without it: whoever frees space has the log look */
};

/* See DOC: errors. */
struct ressd_errors {
	/* Flushes that failed since the device was created; any context. */
	atomic_t failed_flushes;
	int known_to_map;		/* of these; set under the lock, read without */
	/* The rest is under the lock. */
	int known_to_core;		/* of these */
	enum ressd_mode noted_mode;	/* the one that the user knows of */
	bool repairing;
	u32 lost_blocks;		/* that the last repair could not find on the device */
	u32 bad_blocks;			/* that the last sweep could not move */
	bool stuck;			/* because of them it gained no space */
};

/* The pages of a buffer of the log, found once, so that its plain writes need not look for them. */
struct ressd_pages {
	void *buffer;
	struct bio_vec *vecs;
	u32 nr_vecs;
};

/* The I/O of the log, one at a time; while log.busy it belongs to who carries it out. */
struct ressd_log_io {
	struct work_struct work;	/* asks core for the next one */
	struct delayed_work timer;	/* commit_interval_ms after a write */
	struct ressd_pages pages[4];	/* of the records, the summary and the page; constant */
	struct ressd_io io;
	struct bio write;		/* the plain write in flight */
	u64 start;			/* ns */
	int error;			/* valid with ended */
	bool ended;			/* the worker has yet to tell core; released, acquired */
};

/* Where the mover has a batch: changed by its thread, under the lock. */
struct ressd_move_space {
	void *buffer;			/* the data of the moves */
	struct ressd_move *moves;
	u32 max;			/* moves that there is space for */
};

struct ressd_mover {
	struct task_struct *thread;	/* changed by resume and suspend */
	wait_queue_head_t rest;		/* at rest: there may be something to do */

	/* What others ask of it; under the lock. */
	bool off;			/* by the user: moves only when a write could not go on */
	bool draining;			/* small writes go direct, all is moved */
	int drain_result;
	bool retry_now;			/* do not wait until backoff is over */
	struct ressd_move_space next_space;	/* a larger one, see dm-ressd-batch.c */

	/* Set by its thread under the lock; it reads them without. */
	enum ressd_mover_state state;	/* see core/ressd-mover.h */
	bool unprimed;			/* something was moved since the log was last primed */
	struct ressd_sweep sweep;
	struct ressd_step step;		/* of this sweep */
	struct ressd_move_space space;	/* the batch has gate.batch moves */
	u32 bad_blocks;			/* that this sweep could not move */

	/* Its thread's own. */
	bool watches_clock;		/* at rest; read by others */
	unsigned long backoff;		/* jiffies until the next sweep after one with errors */
	u64 visit_from;			/* where the next round of visits begins */
	atomic_t ios, io_errors;	/* of the batch; they end in interrupts */
};

/* What has become of the discard that was begun last. */
enum ressd_discard_state {
	RESSD_DISCARD_NONE,		/* another one may begin */
	RESSD_DISCARD_IN_FLIGHT,
	RESSD_DISCARD_DONE,		/* the mover's thread has yet to note it */
	RESSD_DISCARD_FAILED,		/* likewise */
};

/* Discards of the log; the mover's thread, but for the end of one. */
struct ressd_discard {
	bool possible;			/* the device takes them, none has failed; under the lock */
	enum ressd_discard_state state;	/* released, acquired */
	u32 slot;			/* of the one in flight */
};

/* See dm-ressd-cover.c; under the lock but for the buffers, which the run's thread uses. */
struct ressd_cover {
	struct ressd_cover_run run;
	bool running;
	bool busy;			/* writes of covered blocks wait */
	bool failed;			/* the last run: small writes go direct */
	bool bad;			/* the copy of a covered block is damaged */
	atomic_t reads;			/* of covered blocks at home, in flight */
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
	struct list_head instances;	/* of all targets; dm-ressd-instances.c */
	bool blank;			/* to be formatted when first resumed */
	bool formatting;		/* begun, not completed */
	bool active;			/* the log is recovered and may be written */
	u32 recovery_ms;

	/* For reads and large writes, which take no lock; what is not constant seldom changes. */
	struct ressd_regions regions;	/* the map's */
	struct ressd_seen __percpu *seen;
	struct ressd_gate gate;		/* for direct writes; set under the lock */
	struct ressd_errors errors;
	atomic_t *readers;		/* per segment slot: reads, moves, discards in flight */

	spinlock_t lock;		/* see DOC: locking */
	struct ressd_log log;
	struct ressd_super_info super;	/* store_lock in dm-ressd-log.c, once active */
	struct ressd_options options;
	struct ressd_rpi rpi;
	struct ressd_route route;	/* in use with route adaptive */
	struct ressd_counters counters;
	struct ressd_waiters waiters;
	struct list_head tracked;	/* direct writes in flight over dirty blocks */
	bool suspending;		/* nothing may wait for space */
	/*
	 * From the moment that the memory was copied to be saved nothing may be freed or discarded:
	 * the map in that copy still refers to it.
	 */
	bool hibernating;

	spinlock_t done_lock;		/* taken from interrupts */
	struct list_head done;		/* completed bios that need process context */
	struct work_struct bio_work;	/* ... and others that do */

	wait_queue_head_t wait;		/* mover, drain: something happened */
	struct ressd_log_io log_io;
	struct ressd_mover mover;
	struct ressd_discard discard;
	struct ressd_cover cover;
	struct ressd_meter meter;	/* has a lock of its own */
	struct ressd_shape shape;	/* likewise */
};

static inline sector_t ressd_normal_sector(const struct ressd *ressd, u32 lbn)
{
	return ressd->table.normal_start + ((sector_t)lbn << 3);
}

static inline sector_t ressd_log_sector(const struct ressd *ressd, u32 block)
{
	return ressd->table.reserved_start + ((sector_t)block << 3);
}

/* Blocks from the start of the device, whatever partition it is on, to @start in an area of it. */
static inline u64 ressd_device_block(const struct dm_dev *dev, u64 start)
{
	return (get_start_sect(dev->bdev) + start) / RESSD_BLOCK_SECTORS;
}

/* All reads since the target was made; a moment later there may be more.  Any context. */
static inline u64 ressd_reads(const struct ressd *ressd)
{
	u64 reads = 0;
	int cpu;

	/* On 32 bits a sum may be wrong for once where a count goes over 2^32. */
	for_each_possible_cpu(cpu)
		reads += READ_ONCE(per_cpu_ptr(ressd->seen, cpu)->reads);
	return reads;
}

/*
 * Something happened: who has to look?  Any context; these are how one file hands work to another
 * one that it does not call.
 */
/* The log's worker: there may be something to write, or space for who waits for it. */
static inline void ressd_run_log(struct ressd *ressd)
{
	queue_work(ressd->workqueue, &ressd->log_io.work);
}

/* The bio worker: bios need process context, or need not wait for moves any more. */
static inline void ressd_run_bios(struct ressd *ressd)
{
	queue_work(ressd->workqueue, &ressd->bio_work);
}

/* The mover, busy or at rest, and all others that wait for an event. */
static inline void ressd_wake(struct ressd *ressd)
{
	wake_up(&ressd->wait);
	wake_up(&ressd->mover.rest);
}

/* dm-ressd-io.c; what the files that handle bios share among them is in dm-ressd-bio.h */
/* Passes the options on to the pattern identifier.  Under the lock, or while nobody writes. */
void ressd_tune_router(struct ressd *ressd);
/* The target's map: sends the bio on, lets it wait, completes it, or refuses it. */
int ressd_map_bio(struct dm_target *ti, struct bio *bio);
/* Lets the small writes that wait for room try again.  Context: process, no lock held. */
void ressd_retry_space_waiters(struct ressd *ressd);

/* dm-ressd-end.c */
/* The target's end_io: a device has completed what was sent there.  Any context. */
int ressd_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error);
/* What bios need process context for: their end, pieces to merge, waiting for the mover. */
void ressd_bio_worker(struct work_struct *work);
/* Completes whatever waited for records or syncs that are done now. */
void ressd_complete_waiters(struct ressd *ressd);
/* The same in two steps: collects them, under the lock; completes them, in any context. */
void ressd_take_settled(struct ressd *ressd, struct list_head *settled);
void ressd_end_settled(struct list_head *settled);

/* dm-ressd-device.c */
int ressd_init_bios(struct ressd *ressd);
void ressd_exit_bios(struct ressd *ressd);
/*
 * A bio for the first of @bytes at @buffer, which comes from vmalloc: bi_iter.bi_size says how many
 * it holds.  May sleep, but does not fail.  The caller looks after flush_kernel_vmap_range().
 */
struct bio *ressd_alloc_bio(struct ressd *ressd, struct block_device *bdev, blk_opf_t opf,
			    sector_t sector, void *buffer, size_t bytes);
/* Reads or writes @nr_blocks, @buffer from vmalloc, and waits for it: 0 or -EIO. */
int ressd_rw(struct ressd *ressd, struct block_device *bdev, blk_opf_t opf, sector_t sector,
	     u32 nr_blocks, void *buffer);

/* dm-ressd-log.c */
/* Reads or writes @nr blocks at log block @block, @buffer from vmalloc.  May sleep. */
int ressd_log_rw(struct ressd *ressd, blk_opf_t opf, u32 block, u32 nr, void *buffer);
/* Flushes the cache of both devices. */
int ressd_flush_devices(struct ressd *ressd);
/* Reads both superblock copies: 0, -ENODATA when blank, or an error with a sentence. */
int ressd_read_super(struct ressd *ressd, char *error, size_t size);
/* Makes both superblocks say that these are the device's options.  Logs a sentence on failure. */
int ressd_store_options(struct ressd *ressd, const struct ressd_options *options);
/* An empty log, as activation must find it.  dm-ressd-target.c */
void ressd_init_log(struct ressd *ressd, const struct ressd_geom *geom);
/* Formats a blank reserved area or recovers the log; logs a sentence on failure. */
int ressd_activate(struct ressd *ressd);

/* dm-ressd-commit.c */
void ressd_log_worker(struct work_struct *work);
/* Finds the pages of the log's buffers; 0 or -ENOMEM.  Of what was found none need be there. */
int ressd_find_pages(struct ressd *ressd);
void ressd_forget_pages(struct ressd *ressd);
void ressd_commit_timer(struct work_struct *work);
/* Writes and flushes everything that is only in RAM; 0 or -EIO. */
int ressd_sync(struct ressd *ressd);
/* Waits for a ticket of ressd_log_sync() or ressd_log_reclaim(). */
int ressd_wait_ticket(struct ressd *ressd, u64 ticket);
/* Waits until no I/O of the log is in flight; nothing must ask for another one meanwhile. */
void ressd_wait_for_log_io(struct ressd *ressd);

/* dm-ressd-unlocked.c */
/* Direct writes of a generation that are not over; exact when none can begin in it any more. */
u32 ressd_directs_left(const struct ressd *ressd, unsigned int generation);
/* Has the pattern identifier judge the large writes that took no lock; true: not all.  Under it. */
bool ressd_judge_noted(struct ressd *ressd);
/* ... all of them.  Without it. */
void ressd_judge_all_noted(struct ressd *ressd);

/* dm-ressd-error.c */
/* True if every write and discard must fail.  Any context; exact under the lock. */
static inline bool ressd_refuses_writes(const struct ressd *ressd)
{
	return READ_ONCE(ressd->log.mode) >= RESSD_MODE_RO;
}

/* True if the log is in service.  Any context; exact under the lock. */
static inline bool ressd_log_works(const struct ressd *ressd)
{
	return READ_ONCE(ressd->log.mode) == RESSD_MODE_RW;
}

/*
 * To be called when core has learnt of a failed flush, or has done what follows from it: sets
 * errors.known_to_map.  Under the lock.
 */
void ressd_note_doubt(struct ressd *ressd);
/* Tells core of flushes that failed beside it.  Under the lock. */
void ressd_take_flush_errors(struct ressd *ressd);
/* Tells the user if the mode has changed, and all who wait.  Context: process, no lock held. */
void ressd_note_mode(struct ressd *ressd);
/*
 * The message recover: 0, -EAGAIN on a suspended device, -EBUSY, -ENOMEM, -EIO, or -EUCLEAN when
 * data is gone; may sleep long.
 */
int ressd_recover_message(struct ressd *ressd);

/* dm-ressd-mover.c */
/* May it move, or discard, though no write would have to wait otherwise?  Under the lock. */
static inline bool ressd_mover_is_on(const struct ressd *ressd)
{
	return !ressd->mover.off && !ressd->hibernating && !ressd->suspending;
}

/* Has the mover, if it is at rest, something to do now?  Under the lock. */
bool ressd_mover_is_wanted(const struct ressd *ressd);
/* Starts the thread; nothing to do when it runs already. */
int ressd_mover_start(struct ressd *ressd);
void ressd_mover_stop(struct ressd *ressd);
/* Moves everything home; interruptible.  0, -EINTR, -EIO. */
int ressd_drain(struct ressd *ressd);

/* dm-ressd-batch.c */
/* Space for batches of @max moves, or -ENOMEM: then there is nothing to be freed. */
int ressd_move_space_init(struct ressd_move_space *space, u32 max);
void ressd_move_space_free(struct ressd_move_space *space);
/* How large a batch may be by now, or will be from the next one on.  Under the lock. */
u32 ressd_max_moves(const struct ressd *ressd);
/* Gives the mover space for batches of @max moves, if it has less.  Without the lock; may sleep. */
int ressd_grow_move_space(struct ressd *ressd, u32 max);
/* The mover's thread calls the next two, without the lock. */
/*
 * Picks the next batch and pins its segments.  From now on direct writes to its blocks wait.
 * Returns how many were looked at: 0 at the sweep's end.
 */
u32 ressd_batch_pick(struct ressd *ressd);
/* Brings the batch home and lets go of it; blocks that fail stay mapped and count as bad. */
void ressd_batch_move(struct ressd *ressd);

/* dm-ressd-keep.c */
/* By the mover, which is KEEPING meanwhile: true if that has emptied the oldest segment. */
bool ressd_keep_tail(struct ressd *ressd);
/* Shall the log keep it?  In which slot.  Under the lock. */
bool ressd_keeps(const struct ressd *ressd, u32 *slot);
/* True if a move in flight goes to one of the @nr blocks from @first on.  Under the lock. */
bool ressd_mover_overlaps(const struct ressd *ressd, u32 first, u32 nr);

/* Waits for the direct writes that are in flight now.  The mover's thread, or before it runs. */
void ressd_wait_for_direct_writes(struct ressd *ressd);
/* Has the open record written; returns when it is, or the log does not work.  Likewise. */
void ressd_write_open_record(struct ressd *ressd);
/*
 * Waits for a ticket, unless it takes another sweep to make the room that the sync needs.  0, or
 * -EIO if the log does not work.  Likewise.
 */
int ressd_wait_as_mover(struct ressd *ressd, u64 ticket);

/* dm-ressd-cover.c */
int ressd_cover_init(struct ressd *ressd);
void ressd_cover_free(struct ressd *ressd);
/* Must a direct write of these blocks wait for a run, or for the next one?  Under the lock. */
bool ressd_cover_holds(const struct ressd *ressd, u32 first, u32 nr);
/* The same, and after an error there is none to wait for: the write must fail.  Under the lock. */
bool ressd_cover_is_stuck(const struct ressd *ressd, u32 first, u32 nr);
/* May small writes wait until the log is covered, if it is not?  Under the lock. */
bool ressd_cover_takes_writes(const struct ressd *ressd);
/* One run: 0, -EIO, or -EAGAIN if it takes a sweep first.  The mover's thread. */
int ressd_cover_run(struct ressd *ressd, enum ressd_cover_goal goal);
/* Activation, after the opening record: a log that was not covered becomes a drained one. */
int ressd_cover_restore(struct ressd *ressd);
/* Activation: warns if the bare disk has something else where covers should be. */
void ressd_cover_compare(struct ressd *ressd);

/* dm-ressd-pace.c */
/* Has a writer, or the mover in a sweep, to wait for the other one?  Under the lock. */
bool ressd_pace_holds_writer(const struct ressd *ressd);
bool ressd_pace_holds_mover(const struct ressd *ressd);
/* Has no bio come for a while?  Any context. */
bool ressd_pace_is_quiet(const struct ressd *ressd);
/* Is this time in which pace idle brings all home?  Any context. */
bool ressd_pace_is_idle(const struct ressd *ressd);

/* dm-ressd-discard.c */
/*
 * Looks whether the reserved device takes discards, and says so if it does not though log_discard
 * is on; a device whose discard has failed gets another chance.  Context: process, no lock held,
 * the geometry is known.
 */
void ressd_discard_start(struct ressd *ressd);
/* Has ressd_discard_next() something to do, and nothing is more important?  Under the lock. */
bool ressd_discard_is_wanted(const struct ressd *ressd);
/* The mover's thread, without the lock: notes the end of a discard, and begins the next one. */
void ressd_discard_next(struct ressd *ressd);
/* Waits for the one in flight; the mover's thread runs no more. */
void ressd_discard_stop(struct ressd *ressd);

/* dm-ressd-shape.c */
DECLARE_STATIC_KEY_FALSE(ressd_shape_key);

/*
 * Does a target of this module shape its requests?  All that is done for that stands behind this
 * branch, so that bios pay nothing where no target does: not one instruction but the no-op that the
 * kernel turns into a jump.
 */
static __always_inline bool ressd_shape_is_used(void)
{
	return static_branch_unlikely(&ressd_shape_key);
}

void ressd_shape_init(struct ressd *ressd);
/* Has the key count this target if @options need it; before they are set.  May sleep. */
void ressd_shape_prepare(struct ressd *ressd, const struct ressd_options *options);
/* Passes the options on.  Under the lock, or while nobody reads or writes. */
void ressd_shape_tune(struct ressd *ressd);
void ressd_shape_clear_stats(struct ressd *ressd);
void ressd_shape_exit(struct ressd *ressd);

/* dm-ressd-dispatch.c */
void ressd_dispatch_init(struct ressd_shape *shape);
void ressd_dispatch_exit(struct ressd_shape *shape);
/* Has all that is held sent.  Any context. */
void ressd_dispatch_release(struct ressd *ressd);
/* From now on nothing is held, or may be again.  Any context. */
void ressd_dispatch_suspend(struct ressd *ressd, bool suspended);

/* dm-ressd-route.c; all do nothing unless the option says adaptive, and need the lock but one. */
static inline bool ressd_route_is_adaptive(const struct ressd *ressd)
{
	return ressd->options.route == RESSD_ROUTE_ADAPTIVE;
}

/*
 * A small write of @nr blocks comes, and is in flight until its end_io: true if it shall go to the
 * log.  Only while the log works, so it is not refused afterwards.
 */
bool ressd_route_to_log(struct ressd *ressd, struct bio *bio, u32 nr);
/* True while small writes go direct. */
bool ressd_route_is_direct(const struct ressd *ressd);
/*
 * Has a small write to wait until the log has written what is in RAM, for a trial?  Then the open
 * record is due, and the caller has the log's worker look.
 */
bool ressd_route_holds_log(struct ressd *ressd);
/* Shall the mover bring all home, for a trial?  Nothing is logged then. */
bool ressd_route_asks_move(const struct ressd *ressd);
/* The end of what ressd_route_sent() counted, of @blocks blocks.  Any context, no lock needed. */
void ressd_route_ended(struct ressd *ressd, u32 blocks);
/* An I/O of the log, or a batch of the mover, has taken @ns for @blocks blocks. */
void ressd_route_logged(struct ressd *ressd, u64 ns, u32 blocks);
void ressd_route_moved(struct ressd *ressd, u64 ns, u32 blocks);
/* The mover has done what ressd_route_asks_move() asked for, or (not @complete) cannot. */
void ressd_route_trial_moved(struct ressd *ressd, bool complete);

/* dm-ressd-target.c */
/* Tells the log what the options say of the device.  Under the lock, or before the log is used. */
void ressd_tune_log(struct ressd *ressd);

/* dm-ressd-instances.c */
/*
 * Enters the target, whose devices and table line are known.  -EBUSY, with a sentence, if another
 * mapped device uses one of its areas; the same device may, for it is being reloaded.
 */
int ressd_register(struct ressd *ressd, char *error, size_t size);
/*
 * Before the target takes the place of another one of the same mapped device: -EBUSY, with a
 * sentence, if that has a log that is not drained and that this one would not find.
 */
int ressd_check_change(struct ressd *ressd, char *error, size_t size);
/* Takes it out again, if it was entered. */
void ressd_unregister(struct ressd *ressd);

/* dm-ressd-status.c */
void ressd_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
		  char *result, unsigned int maxlen);
int ressd_message(struct dm_target *ti, unsigned int argc, char **argv,
		  char *result, unsigned int maxlen);

static inline const char *ressd_name(const struct ressd *ressd)
{
	return dm_device_name(dm_table_get_md(ressd->ti->table));
}

#endif
