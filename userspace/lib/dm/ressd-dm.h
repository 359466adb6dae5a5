/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device-mapper, as far as ressd devices need it: the only file that knows libdevmapper.
 *
 * A device gets the DM UUID "RESSD-<uuid of the superblock>".  With udev running, every call waits
 * until udev is done, so that /dev/mapper/<name> is there or gone on return; without udev, or with
 * DM_DISABLE_UDEV set, libdevmapper makes the nodes itself.  Not thread-safe.
 *
 * Every function returns 0, or a negative errno with a sentence; where the target refused, the
 * sentence is the target's own.
 */
#ifndef RESSD_DM_H
#define RESSD_DM_H

#include <stdbool.h>
#include <sys/types.h>
#include "cli/failure.h"
#include "dm/ressd-status.h"
#include "dm/table-line.h"

#define DM_UUID_PREFIX	"RESSD-"

/*
 * The name that a word of the user means: /dev/mapper/NAME is NAME, another path is none (NULL),
 * and all else is a name.
 */
const char *ressd_dm_name(const char *word);

/* Does device-mapper take it for a name?  -EINVAL if not. */
int ressd_dm_check_name(const char *name, struct failure *failure);

/* Could @name be created: is it a free name, is device-mapper there, and the target loaded? */
int ressd_dm_can_create(const char *name, struct failure *failure);

/* Creates and activates @name.  @uuid (text, without prefix) may be NULL: set it afterwards. */
int ressd_dm_create(const char *name, const char *uuid, const struct table_line *line,
		    struct failure *failure);

/* The UUID of @name (text, without prefix) into @uuid; empty if dmsetup has created it without. */
int ressd_dm_uuid(const char *name, char *uuid, size_t size, struct failure *failure);

/* Gives a device that has none its UUID (text, without prefix). */
int ressd_dm_set_uuid(const char *name, const char *uuid, struct failure *failure);

/* Could @name be removed?  -EBUSY when somebody uses it. */
int ressd_dm_check_removable(const char *name, struct failure *failure);

/* Removes @name.  -EBUSY when somebody uses it. */
int ressd_dm_remove(const char *name, struct failure *failure);

/* Sends a message and waits for its end. */
int ressd_dm_message(const char *name, const char *message, struct failure *failure);

/*
 * The table line of @name, as "dmsetup table" shows it.  @text has TABLE_LINE_TEXT bytes.
 * Refuses (-EINVAL) a device that is not one ressd target.
 */
int ressd_dm_table(const char *name, char *text, struct failure *failure);

/* The status of @name; the same refusals. */
int ressd_dm_status(const char *name, struct ressd_status *status, struct failure *failure);

/*
 * Calls @visit with the name of each device that has a target ressd, sorted.  0, or a negative
 * errno with a sentence.
 */
int ressd_dm_list(void (*visit)(void *context, const char *name), void *context,
		  struct failure *failure);

/*
 * Calls @visit for each target of the device-mapper device @number (any, not only ours), in bytes.
 * 0, or a negative errno without a sentence.
 */
int ressd_dm_targets(dev_t number,
		     void (*visit)(void *context, u64 start, u64 bytes, const char *type,
				   const char *parameters), void *context);

#endif
