/* SPDX-License-Identifier: GPL-2.0-only */
/* The log on its device: superblock, worker, errors, discards of segments. */
#ifndef DM_RESSD_LOG_H
#define DM_RESSD_LOG_H

#include "dm-ressd-dispatch.h"

/* dm-ressd-activate.c */
/* An empty log, as recovery must find it. */
void ressd_setup_log(struct ressd *ressd, const struct ressd_geom *geom);
/*
 * Tells the log what the options say of the device.  Under the lock, or before
 * the log is used.
 */
void ressd_tune_log(struct ressd *ressd);
/*
 * Reads both superblock copies: 0, -ENODATA when blank, or an error with a
 * sentence.
 */
int ressd_read_super(struct ressd *ressd, char *error, size_t size);
/*
 * Makes both superblocks say that these are the device's options.  Logs a
 * sentence on failure.
 */
int ressd_store_options(struct ressd *ressd,
			const struct ressd_options *options);
/*
 * Recovers the log, or formats a blank reserved area.  Logs a sentence on
 * failure.
 */
int ressd_open_log(struct ressd *ressd, struct ressd_recovery *recovery);

/* dm-ressd-log-worker.c */
void ressd_log_worker(struct work_struct *work);
/*
 * Finds the pages of the log's buffers; 0 or -ENOMEM.  Of what was found none
 * need be there.
 */
int ressd_find_pages(struct ressd *ressd);
void ressd_free_page_vecs(struct ressd *ressd);
void ressd_commit_timer(struct work_struct *work);
/* Writes and flushes everything that is only in RAM; 0 or -EIO. */
int ressd_sync(struct ressd *ressd);
/*
 * Flushes the cache of both devices; 0, or an error, which
 * ressd_take_flush_errors() will report to core.  May sleep, no lock held.
 */
int ressd_flush(struct ressd *ressd);
/*
 * Waits until no I/O of the log is in flight; none begins until
 * ressd_release_log().  The mover's thread runs no more.
 */
void ressd_hold_log(struct ressd *ressd);
static inline void ressd_release_log(struct ressd *ressd)
{
	spin_lock(&ressd->lock);
	ressd->log_io.held = false;
	spin_unlock(&ressd->lock);
	ressd_run_log(ressd);
}

/* dm-ressd-error.c */
/*
 * To be called when core has learnt of a failed flush, or has done what follows
 * from it: sets errors.known_to_map.  Under the lock.
 */
void ressd_note_doubt(struct ressd *ressd);
/* Tells core of flushes that failed beside it.  Under the lock. */
void ressd_take_flush_errors(struct ressd *ressd);
/*
 * A flush has succeeded that began when @refused bios of a flush had failed:
 * errors.answered is no less from now on.  Any context.
 */
void ressd_answer_flushes(struct ressd *ressd, int refused);
/*
 * Tells the user if the mode has changed, and all who wait.  Context: process,
 * no lock held.
 */
void ressd_note_mode(struct ressd *ressd);

/* dm-ressd-repair.c */
/*
 * The message recover: 0, -EAGAIN on a suspended device, -EBUSY, -ENOMEM, -EIO,
 * or -EUCLEAN when data is gone; may sleep long.
 */
int ressd_recover_message(struct ressd *ressd);

/* dm-ressd-log-discard.c */
/*
 * Looks whether the reserved device takes discards, and says so if it does not
 * though log_discard is on; a device whose discard has failed gets another
 * chance.  Context: process, no lock held, the geometry is known.
 */
void ressd_discard_start(struct ressd *ressd);
/*
 * Has ressd_discard_next() something to do, and nothing is more important?
 * Under the lock.
 */
bool ressd_discard_is_wanted(const struct ressd *ressd);
/*
 * The mover's thread, without the lock: notes the end of a discard, and begins
 * the next one.
 */
void ressd_discard_next(struct ressd *ressd);
/* Waits for the one in flight; the mover's thread runs no more. */
void ressd_discard_stop(struct ressd *ressd);

#endif
