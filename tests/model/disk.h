/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk with a volatile cache, as the block layer's contract allows the worst one to be.
 *
 * A write is volatile from its submission on.  It becomes durable by a flush that is begun after
 * the write was completed, or on its own completion if it has FUA.  When the power fails, every
 * 512-byte sector independently holds its durable contents or those of any later write, completed
 * or in flight: any subset, any order, any tear between sectors.
 *
 * Units: sectors of 512 bytes.
 */
#ifndef MODEL_DISK_H
#define MODEL_DISK_H

#include <linux/list.h>
#include "random.h"

#define SECTOR_BYTES	512

/* Contents of a sector; shared between all that hold them and never changed. */
struct sector {
	u32 references;
	struct sector *next_free;
	u64 words[SECTOR_BYTES / sizeof(u64)];
};

struct disk_write {
	struct list_head list;
	u32 first, nr;
	u64 order;			/* of completion; 0: in flight */
	struct sector *sectors[];	/* NULL: an FUA write has replaced this one */
};

/* What every sector holds; as made by disk_cut(). */
struct image {
	u32 nr;
	struct sector **sectors;
};

struct disk {
	struct image durable;
	struct image view;		/* what a read returns */
	struct list_head writes;	/* volatile: completed in order, then those in flight */
	u64 order;
	u64 nr_writes;			/* completed ever */
};

void disk_init(struct disk *disk, u32 nr_sectors);
void disk_free(struct disk *disk);

/* Starts a write of @nr sectors at @data. */
struct disk_write *disk_submit(struct disk *disk, u32 first, u32 nr, const void *data);

/* Completes it; the caller forgets @write. */
void disk_complete(struct disk *disk, struct disk_write *write, bool fua);

/* What a flush begun now makes durable when disk_flush_end() is called with it. */
u64 disk_flush_begin(const struct disk *disk);
void disk_flush_end(struct disk *disk, u64 mark);

void disk_read(const struct disk *disk, u32 first, u32 nr, void *data);

/* Fills @image (of the disk's size) with one of the states that a power cut may leave. */
void disk_cut(const struct disk *disk, struct random *random, struct image *image);

/* The power is back, and @image is what there is. */
void disk_adopt(struct disk *disk, const struct image *image);

/*
 * The host stops, the disk keeps its power and its cache: any part of the writes in flight has
 * reached the cache.
 */
void disk_host_stops(struct disk *disk, struct random *random);

void image_init(struct image *image, u32 nr_sectors);
void image_free(struct image *image);
void image_copy(struct image *to, const struct image *from);
void image_read(const struct image *image, u32 first, u32 nr, void *data);

#endif
