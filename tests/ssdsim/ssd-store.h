/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contents of an emulated drive: a sparse array of 4 KiB units in RAM.
 * What was never written reads as zeros.
 *
 * With tracking on, the store also keeps the durable version of every sector
 * whose newest version is volatile, and a label that says which write that was,
 * so that a power cut can put any subset of them back.
 *
 * Plain C, no locks: the caller serialises. Memory is taken with
 * GFP_ATOMIC | __GFP_NOWARN, so that callers may hold a spinlock.
 */
#ifndef SSD_STORE_H
#define SSD_STORE_H

#include <linux/types.h>

#define SSD_UNIT_SECTORS	8
#define SSD_UNIT_BYTES		4096

struct ssd_store;

/**
 * ssd_store_create - an empty store.
 * @sectors: its size
 * @track: keep durable versions of volatile sectors
 *
 * Return: the store or NULL if there is no memory.
 */
struct ssd_store *ssd_store_create(u64 sectors, bool track);
void ssd_store_destroy(struct ssd_store *store);

/**
 * ssd_store_reserve - take all memory that writing a range may need.
 *
 * Return: 0 or -ENOMEM; after 0 an ssd_store_write() of the range cannot fail.
 */
int ssd_store_reserve(struct ssd_store *store, u64 sector, u32 sectors);

/**
 * ssd_store_label - who writes from now on.
 * @label: kept with every sector that ssd_store_write() or ssd_store_discard()
 *	makes volatile
 */
void ssd_store_label(struct ssd_store *store, u64 label);

/** ssd_store_write - new contents, volatile if tracked; the range is reserved. */
void ssd_store_write(struct ssd_store *store, u64 sector, u32 sectors, const void *data);

/** ssd_store_read - the newest contents. */
void ssd_store_read(const struct ssd_store *store, u64 sector, u32 sectors, void *data);

/** ssd_store_commit - the newest contents of a range are durable. */
void ssd_store_commit(struct ssd_store *store, u64 sector, u32 sectors);

/**
 * ssd_store_discard - a range reads as zeros from now on, volatile if tracked.
 * A store that does not track gives the memory of whole units back.
 */
void ssd_store_discard(struct ssd_store *store, u64 sector, u64 sectors);

/** ssd_store_volatile - is the newest version of this sector volatile? */
bool ssd_store_volatile(const struct ssd_store *store, u64 sector);

/** ssd_store_volatile_label - who wrote the newest version of a volatile sector. */
u64 ssd_store_volatile_label(const struct ssd_store *store, u64 sector);

/** ssd_store_revert - put the durable version of a volatile sector back. */
void ssd_store_revert(struct ssd_store *store, u64 sector);

/** ssd_store_volatile_before - first volatile sector in [@sector, @end), or @end. */
u64 ssd_store_volatile_before(const struct ssd_store *store, u64 sector, u64 end);

/** ssd_store_volatile_next - first volatile sector at or after @sector, or the size. */
u64 ssd_store_volatile_next(const struct ssd_store *store, u64 sector);

/** ssd_store_bytes - memory held for contents. */
u64 ssd_store_bytes(const struct ssd_store *store);

#endif /* SSD_STORE_H */
