/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One or two disks with volatile caches, as the block layer's contract allows the worst to be.
 *
 * A write is volatile from its submission on.  It becomes durable by a flush of its disk that is
 * begun after the write was completed, or on its own completion if it has FUA.  When the power
 * fails, every 512-byte sector independently holds its durable contents or those of any later
 * write, completed or in flight: any subset, any order, any tear between sectors.
 *
 * Both disks share one row of sectors; the second one begins at sector @second.
 *
 * A write that fails has reached the disk in any part.  A flush that fails has changed nothing, or
 * the disk has lost what its cache held.
 *
 * Units: sectors of 512 bytes.
 */
#ifndef MODEL_DISK_H
#define MODEL_DISK_H

#include <linux/list.h>
#include "random.h"

#define SECTOR_BYTES	512
#define SECTOR_WORDS	(SECTOR_BYTES / sizeof(u64))
#define BEHIND_CRC	16	/* where a header goes on behind its own crc */

/* Contents of a sector; shared between all that hold them and never changed. */
struct sector {
	u32 references;
	bool uniform;			/* every word is words[0]: what a user has written */
	u64 hash;			/* of the contents */
	u32 crc, crc_behind;		/* seed 0, whole and behind the first 16 bytes */
	struct sector *next_free;
	u64 words[SECTOR_WORDS];
};

struct disk_write {
	struct list_head list;
	u32 first, nr;
	u64 order;			/* of completion; 0: in flight */
	u64 lost;			/* in flight when a flush failed: what that took; or 0 */
	struct sector *sectors[];	/* NULL: an FUA write has replaced it, or it has failed */
};

/* What every sector holds. */
struct image {
	u32 nr;
	struct sector **sectors;
};

struct disk {
	struct image durable;
	struct image view;		/* what a read returns */
	u32 second;			/* first sector of the second disk; all: there is none */
	struct list_head writes;	/* volatile: completed in order, then those in flight */
	u64 order;
	u64 changes;			/* grows with whatever may change what a cut leaves */
	bool lossy;			/* a failed flush has taken some of what the cache held */
};

/* Disks by bit. */
enum { DISK_FIRST = 1, DISK_SECOND = 2, DISK_BOTH = 3 };

void disk_init(struct disk *disk, u32 nr_sectors, u32 second);
void disk_free(struct disk *disk);

/* Starts a write of @nr sectors at @data. */
struct disk_write *disk_submit(struct disk *disk, u32 first, u32 nr, const void *data);

/* Completes it; the caller forgets @write. */
void disk_complete(struct disk *disk, struct disk_write *write, bool fua);

/* It ends with an error: any part of it, chosen by @number, has reached the disk. */
void disk_fail(struct disk *disk, struct disk_write *write, u64 number);

/*
 * A flush of @disks fails; @number chooses whether the cache is as it was, or has lost any part of
 * what it held: also of writes in flight, which may have been there already, and complete all the
 * same.
 */
void disk_flush_fail(struct disk *disk, u32 disks, u64 number);

/* What a flush begun now makes durable when disk_flush_end() is called with it. */
u64 disk_flush_begin(const struct disk *disk);
void disk_flush_end(struct disk *disk, u64 mark, u32 disks);

void disk_read(const struct disk *disk, u32 first, u32 nr, void *data);

/* The power is back, and @image is what there is. */
void disk_adopt(struct disk *disk, const struct image *image);

/*
 * The host stops, the disk keeps its power and its cache: any part of the writes in flight, chosen
 * by @number, has reached the cache.
 */
void disk_host_stops(struct disk *disk, u64 number);

void image_init(struct image *image, u32 nr_sectors);
void image_free(struct image *image);
void image_copy(struct image *to, const struct image *from);
void image_read(const struct image *image, u32 first, u32 nr, void *data);

/* Lets *@place hold @sector. */
void sector_assign(struct sector **place, struct sector *sector);

#endif
