/* SPDX-License-Identifier: GPL-2.0-only */
/* Constructor to destructor, status and messages. */
#ifndef DM_RESSD_TARGET_H
#define DM_RESSD_TARGET_H

#include "dm-ressd-io.h"

/* dm-ressd-instances.c */
/*
 * Enters the target, whose devices and table line are known.  -EBUSY, with a
 * sentence, if another mapped device uses one of its areas; the same device
 * may, for it is being reloaded.
 */
int ressd_register(struct ressd *ressd, char *error, size_t size);
/*
 * Before the target takes the place of another one of the same mapped device:
 * -EBUSY, with a sentence, if that has a log that is not drained and that this
 * one would not find; and again whenever it is tried, for dm destroys the other
 * table though this one is refused.  @load: it is being loaded; then also if
 * the other one cannot write its log.  If it could not write the last of it
 * since then the first flush of this one fails.
 */
int ressd_check_change(struct ressd *ressd, bool load, char *error,
		       size_t size);
/* Takes it out again, if it was entered. */
void ressd_unregister(struct ressd *ressd);

/* dm-ressd-status.c */
void ressd_status(struct dm_target *ti, status_type_t type,
		  unsigned int status_flags, char *result, unsigned int maxlen);
int ressd_message(struct dm_target *ti, unsigned int argc, char **argv,
		  char *result, unsigned int maxlen);

#endif
