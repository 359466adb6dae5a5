/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all layers use: where things are, who is to be woken, I/O of own
 * buffers, the clock.
 */
#ifndef DM_RESSD_BASE_H
#define DM_RESSD_BASE_H

#include <linux/kcsan-checks.h>

#include "dm-ressd-bio.h"

static inline sector_t ressd_normal_sector(const struct ressd *ressd, u32 lbn)
{
	return ressd->table.normal_start + ((sector_t)lbn << 3);
}

static inline sector_t ressd_log_sector(const struct ressd *ressd, u32 block)
{
	return ressd->table.reserved_start + ((sector_t)block << 3);
}

/*
 * Blocks from the start of the device, whatever partition it is on, to @start
 * in an area of it.
 */
static inline u64 ressd_device_block(const struct dm_dev *dev, u64 start)
{
	return (get_start_sect(dev->bdev) + start) / RESSD_BLOCK_SECTORS;
}

/*
 * Is the error of a write with FUA that of the write alone?  Otherwise the
 * block layer may have sent a flush behind it, for a cache that knows no FUA.
 * A stacked device (dm, md) may say that it knows FUA though a device below it
 * does not.
 */
static inline bool ressd_fua_needs_no_flush(struct block_device *bdev)
{
	return !bdev_write_cache(bdev) ||
	       (bdev_fua(bdev) && queue_is_mq(bdev_get_queue(bdev)));
}

/*
 * All reads since the target was made; a moment later there may be more.  Any
 * context.
 */
static inline u64 ressd_reads(const struct ressd *ressd)
{
	u64 reads = 0;
	int cpu;

	/*
	 * On 32 bits a sum may be wrong for once where a count goes over 2^32.
	 */
	for_each_possible_cpu(cpu)
		reads += READ_ONCE(per_cpu_ptr(ressd->seen, cpu)->reads);
	return reads;
}

/*
 * KCSAN watches neither memcpy() nor a device.  So the data of records that
 * they are about to read, or write, is named to it, block by block.  Other
 * kernels have nothing to do here.
 */
static inline void ressd_reads_data(const void *data, u32 blocks)
{
	for (; blocks; blocks--, data += RESSD_BLOCK_SIZE)
		kcsan_check_read(data, RESSD_BLOCK_SIZE);
}

static inline void ressd_writes_data(const void *data)
{
	kcsan_check_write(data, RESSD_BLOCK_SIZE);
}

/*
 * Three ways to say that something has happened, to layers below and above.
 * Any context.
 */

/*
 * The log's worker: there may be something to write, or space for who waits for
 * it.
 */
static inline void ressd_run_log(struct ressd *ressd)
{
	queue_work(ressd->workqueue, &ressd->log_io.work);
}

/*
 * The bio worker: bios need process context, or need not wait for moves any
 * more.
 */
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

/*
 * Has the mover write all back, until mover.draining is false again: all is
 * written back, or it cannot be, or a suspend comes.
 */
static inline void ressd_begin_drain(struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	WRITE_ONCE(ressd->mover.draining, true);
	/*
	 * Writers that wait for covers go to the normal area now, or ask again
	 * if the drain was interrupted by then.  Not to be cleared later, when
	 * they may have done so.
	 */
	ressd->log.cover_wanted = false;
	ressd_run_log(ressd);
	ressd_wake(ressd);
}

/*
 * Blocks that the log has accepted of writers: what it keeps or carries is not
 * new, and copies are not the user's.
 */
static inline u64 ressd_taken(const struct ressd *ressd)
{
	const struct ressd_log_counters *counters = &ressd->log.counters;

	lockdep_assert_held(&ressd->lock);
	return counters->accepted - counters->covered - counters->carried -
	       ressd->counters.kept_blocks;
}

/* Would recovery find nothing?  Without the lock. */
static inline bool ressd_is_drained(struct ressd *ressd)
{
	bool drained;

	spin_lock(&ressd->lock);
	drained = ressd_log_is_drained(&ressd->log);
	spin_unlock(&ressd->lock);
	return drained;
}

/* Is the mover not to wait until its backoff is over?  Without the lock. */
static inline void ressd_retry_moves(struct ressd *ressd, bool now)
{
	spin_lock(&ressd->lock);
	WRITE_ONCE(ressd->mover.retry_now, now);
	spin_unlock(&ressd->lock);
}

/*
 * True if every write and discard must fail.  Any context; exact under the
 * lock.
 */
static inline bool ressd_refuses_writes(const struct ressd *ressd)
{
	return READ_ONCE(ressd->log.mode) >= RESSD_MODE_RO;
}

/* True if the log is in service.  Any context; exact under the lock. */
static inline bool ressd_log_is_rw(const struct ressd *ressd)
{
	return READ_ONCE(ressd->log.mode) == RESSD_MODE_RW;
}

/*
 * May the mover move, or discard, though no write would have to wait otherwise?
 * Under the lock.
 */
static inline bool ressd_mover_is_on(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return !ressd->mover.off && !ressd->hibernating && !ressd->suspending;
}

/* Gives back readers[slot].  Any context. */
static inline void ressd_put_reader(struct ressd *ressd, u32 slot)
{
	if (ressd_reader_end(&ressd->readers[slot], &ressd->waiters.need_space))
		ressd_run_log(ressd);
}

/*
 * A direct write is over: its end is decided, and what it has superseded in the
 * log is invalidated.  The mover may wait for this, and so may a repair, which
 * is woken by each, for that is seldom.  Any context.
 */
static inline void ressd_count_out(struct ressd *ressd, struct ressd_bio *rb)
{
	bool awaited = ressd_flight_end(&ressd->flight, &rb->flying);

	/*
	 * Its barrier, or lock, is for repairing as well: repair_if_quiet()
	 * looks after that was set.
	 */
	if ((awaited && atomic_dec_and_test(&ressd->mover.awaited)) ||
	    READ_ONCE(ressd->errors.repairing))
		wake_up(&ressd->wait);
}

static inline const char *ressd_name(const struct ressd *ressd)
{
	return dm_device_name(dm_table_get_md(ressd->ti->table));
}

/* dm-ressd-device.c */
int ressd_init_bios(struct ressd *ressd);
void ressd_exit_bios(struct ressd *ressd);
/*
 * A bio for the first of @bytes at @buffer, which comes from vmalloc:
 * bi_iter.bi_size says how many it holds.  May sleep, but does not fail.  The
 * caller looks after flush_kernel_vmap_range().
 */
struct bio *ressd_alloc_bio(struct ressd *ressd, struct block_device *bdev,
			    blk_opf_t opf, sector_t sector, void *buffer,
			    size_t bytes);
/*
 * Reads or writes @nr_blocks, @buffer from vmalloc, and waits for it: 0 or
 * -EIO.
 */
int ressd_rw(struct ressd *ressd, struct block_device *bdev, blk_opf_t opf,
	     sector_t sector, u32 nr_blocks, void *buffer);
/*
 * Reads or writes @nr blocks at log block @block, @buffer from vmalloc.  May
 * sleep.
 */
int ressd_log_rw(struct ressd *ressd, blk_opf_t opf, u32 block, u32 nr,
		 void *buffer);
/*
 * As vmalloc(), for a message: a device that is suspended, or is to be, may
 * hold the swap space, so no memory is to be written there for this.
 */
void *ressd_vmalloc_noio(size_t bytes);
/* Flushes the cache of both devices. */
int ressd_flush_devices(struct ressd *ressd);

/*
 * dm-ressd-meter.c; ressd_route_...() need the lock.  Nothing is
 * measured unless the option says adaptive.
 */
static inline bool ressd_route_is_adaptive(const struct ressd *ressd)
{
	return ressd->options.route == RESSD_ROUTE_ADAPTIVE;
}

/*
 * A small write of @nr blocks comes, and is in flight until its end_io: true if
 * it shall go to the log.  Only while the log works, so it is not refused
 * afterwards.
 */
bool ressd_route_to_log(struct ressd *ressd, const struct bio *bio,
			struct ressd_bio *rb, u32 nr);
/* True while small writes go direct. */
static inline bool ressd_route_is_direct(const struct ressd *ressd)
{
	lockdep_assert_held(&ressd->lock);
	return ressd_route_is_adaptive(ressd) &&
	       !ressd_route_takes_log(&ressd->route);
}

/*
 * Has a small write to wait until the log has written what is in RAM, for a
 * trial?  Then the open record is due, and the caller has the log's worker
 * look.
 */
bool ressd_route_holds_log(struct ressd *ressd);
/* Is the direct way tried?  Then the mover rests, unless a write waits. */
bool ressd_route_tries_direct(const struct ressd *ressd);

/* Shall the mover bring blocks home, for a trial?  Nothing is logged then. */
bool ressd_route_asks_move(const struct ressd *ressd);
/* Begins to time a bio that is of @blocks blocks.  Any context. */
void ressd_meter_start(struct ressd *ressd, struct ressd_bio *rb, u32 blocks);
/*
 * A small write that is not logged, or a flush after some, goes to the device:
 * its time counts, unless a batch of the mover is in flight.  Beside that it
 * may take ten times as long, and a device that is written to directly has no
 * such batches.
 */
static inline void ressd_route_sent(struct ressd *ressd, struct ressd_bio *rb,
				    u32 blocks)
{
	lockdep_assert_held(&ressd->lock);
	if (!ressd->gate.batch && ressd_route_times_direct(&ressd->route))
		ressd_meter_start(ressd, rb, blocks);
}

/* The end of what was timed (RESSD_BIO_TIMED), likewise. */
void ressd_meter_stop(struct ressd *ressd, u32 blocks);
/*
 * An I/O of the log or a batch of the mover begins; @start is for the call
 * that says how many blocks it was of.
 */
void ressd_route_start(struct ressd *ressd, u64 *start);
void ressd_route_logged(struct ressd *ressd, u64 start, u32 blocks);
void ressd_route_moved(struct ressd *ressd, u64 start, u32 blocks);
/*
 * The mover has done what ressd_route_asks_move() asked for, or (not @complete)
 * cannot.
 */
void ressd_route_trial_moved(struct ressd *ressd, bool complete);

#endif
