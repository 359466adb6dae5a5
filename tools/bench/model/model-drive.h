/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An emulated drive and its clock for mover-model.  Apart, because the drive is compiled against
 * its own port of kernel headers.  One command at a time, each call ends when the command does; or
 * several, see model_drive_depth().
 */
#ifndef MODEL_DRIVE_H
#define MODEL_DRIVE_H

#include <linux/types.h>

struct model_drive;

/* Reads a profile; NULL with a message if it cannot be used. */
struct model_drive *model_drive_create(const char *profile);
/* Overrides one key of the profile, before the start; 0 or negative, with a message. */
int model_drive_set(struct model_drive *drive, const char *word);
int model_drive_start(struct model_drive *drive);

/* What lies before it: a partition at sector @offset, a host that takes @host_ns (0: as usual). */
void model_drive_host(struct model_drive *drive, u64 offset, u32 host_ns);
u64 model_drive_sectors(const struct model_drive *drive);
u64 model_drive_now(const struct model_drive *drive);	/* nanoseconds */
u64 model_drive_erases(const struct model_drive *drive);
void model_drive_wait(struct model_drive *drive, u64 until);	/* nothing is asked of it */

/*
 * From now on up to @depth commands are in flight, MODEL_DRIVE_DEPTH at most: a call ends when
 * another one could follow.  Waits for all that are, if that is another depth or 1.
 */
#define MODEL_DRIVE_DEPTH	32U
void model_drive_depth(struct model_drive *drive, u32 depth);
u32 model_drive_in_flight(const struct model_drive *drive);

void model_drive_read(struct model_drive *drive, u64 sector, u32 sectors);
void model_drive_write(struct model_drive *drive, u64 sector, u32 sectors);
void model_drive_flush(struct model_drive *drive);
void model_drive_discard(struct model_drive *drive, u64 sector, u32 sectors);

#endif
