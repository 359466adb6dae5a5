/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to the normal area: cut, held, and sent in the order of a policy. */
#ifndef DM_RESSD_DISPATCH_H
#define DM_RESSD_DISPATCH_H

#include <linux/jump_label.h>

#include "dm-ressd-base.h"

/* dm-ressd-dispatch.c */
void ressd_dispatch_init(struct ressd_shape *shape);
void ressd_dispatch_exit(struct ressd_shape *shape);
/* Has all that is held sent.  Any context. */
void ressd_dispatch_release(struct ressd *ressd);
/* From now on nothing is held, or may be again.  Any context. */
void ressd_dispatch_suspend(struct ressd *ressd, bool suspended);
/*
 * Sends a bio, or holds it: DM_MAPIO_REMAPPED or _SUBMITTED.  Under shape.lock.
 */
int ressd_dispatch(struct ressd *ressd, struct bio *bio);
/* A bio that was counted has ended.  Any context. */
void ressd_dispatch_ended(struct ressd *ressd);
/* Waits while a policy holds as many as it can.  May sleep. */
void ressd_dispatch_throttle(struct ressd *ressd);

/* Which sector of the normal area a bio is aimed at. */
static inline u64 ressd_shape_sector(const struct ressd *ressd,
				     const struct bio *bio)
{
	return bio->bi_iter.bi_sector - ressd->table.normal_start;
}

/* dm-ressd-shape.c */
DECLARE_STATIC_KEY_FALSE(ressd_shape_key);

/*
 * Does a target of this module shape its requests?  All that is done for that
 * stands behind this branch, so that bios pay nothing where no target does: not
 * one instruction but the no-op that the kernel turns into a jump.
 */
static __always_inline bool ressd_shape_is_used(void)
{
	return static_branch_unlikely(&ressd_shape_key);
}

void ressd_shape_init(struct ressd *ressd);
/*
 * Has the key count this target if @options need it; before they are set.  May
 * sleep.
 */
void ressd_shape_prepare(struct ressd *ressd,
			 const struct ressd_options *options);
/* Passes the options on.  Under the lock, or while nobody reads or writes. */
void ressd_tune_shape(struct ressd *ressd);
void ressd_shape_clear_stats(struct ressd *ressd);
void ressd_shape_exit(struct ressd *ressd);

/* The rest is called only behind ressd_shape_is_used(). */
/*
 * Is this what is left of a write that was cut?  It is forgotten then.  Under
 * the lock.
 */
bool ressd_shape_takes_rest(struct ressd *ressd, const struct ressd_extent *e);
/* Cuts a direct write to its first piece.  Under the lock. */
void ressd_shape_cut_write(struct ressd *ressd, struct bio *bio,
			   struct ressd_extent *e);
/*
 * A read, or a write or discard, that is aimed at the normal area: as the
 * target's map.  Reads are cut here.
 */
int ressd_shape_send_read(struct ressd *ressd, struct bio *bio);
int ressd_shape_send_write(struct ressd *ressd, struct bio *bio);

#endif
