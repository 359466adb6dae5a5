/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What check, dump and repair share: which reserved area is meant, and opening it while nobody
 * uses it.
 */
#ifndef RESSDCTL_OFFLINE_H
#define RESSDCTL_OFFLINE_H

#include "cli/failure.h"
#include "dm/blkdev.h"
#include "dm/table-line.h"
#include "log/image.h"
#include "log/super-pair.h"

/* The arguments of the three commands that name the area. */
struct offline_arguments {
	const char *table;	/* --table LINE, or NULL */
	const char *device;	/* else the device that the area ends with */
	bool in_use;		/* --in-use: look although a ressd device is active on it */
	bool search;		/* --search: the copy at the end is gone, look for the other one */
};

#define OFFLINE_OPTIONS						\
	{ "table", required_argument, NULL, 't' },		\
	{ "in-use", no_argument, NULL, 'u' },			\
	{ "search", no_argument, NULL, 's' }

/* Takes one option of OFFLINE_OPTIONS with getopt's @optarg; false if it is another one. */
bool offline_option(struct offline_arguments *arguments, int option);

/* Takes the words after the options.  0, or -EINVAL with a sentence that begins with @command. */
int offline_words(struct offline_arguments *arguments, const char *command, int argc, char **argv,
		  struct failure *failure);

struct offline_area {
	struct blkdev dev;
	u64 start, sectors;		/* of the reserved area */
	bool has_line;			/* @line was given: it must match the superblock */
	struct table_line line;
	struct super_pair supers;
	struct log_device device;	/* for offline_source() */
};

/*
 * Finds and opens the area, for reading or (@write) exclusively, and reads its superblocks.  0, or
 * a negative errno with a sentence.  A device in use is refused (-EBUSY).
 */
int offline_open(struct offline_area *area, const struct offline_arguments *arguments, bool write,
		 struct failure *failure);
/* fs_check_end() of the area; 0 also if that cannot be read. */
int offline_check_end(const struct offline_area *area, struct failure *failure);
void offline_close(struct offline_area *area);

struct log_source offline_source(struct offline_area *area);

#endif
