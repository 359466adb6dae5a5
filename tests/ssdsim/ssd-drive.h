/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The controller of an emulated drive. Each command is given with the time of
 * its arrival and answered with the time of its completion, which follows from
 * the work of the interface, the buffers, the translation layer and the NAND.
 * Nothing here or below asks whether accesses are random, sequential or ordered.
 *
 * Two sides meet here: the host side (commands, one at a time or side by side, and the
 * transfer of their data) and the firmware side (everything that touches the NAND: one
 * operation after the other, never interrupted, or work for all dies side by side). Once
 * the write buffer is full, or the host idle, the firmware drains it in the background;
 * reads go in between.
 *
 * Plain C, no locks: the caller serialises. Times are nanoseconds on one clock
 * and never run backwards; ranges are sectors and must lie inside the drive.
 */
#ifndef SSD_DRIVE_H
#define SSD_DRIVE_H

#include <linux/types.h>

#include "ssd-buffer.h"
#include "ssd-ftl.h"
#include "ssd-nand.h"
#include "ssd-profile.h"

/**
 * struct ssd_drive_counters - what the host asked for and the buffers did.
 * @busy_ns: time during which a command or background work was going on
 * @page_reads: clustered pages read for the host
 * @rmw_reads: clustered pages read to complete a partial write
 * @prefetch_reads: clustered pages read before anybody asked
 */
struct ssd_drive_counters {
	u64 reads;
	u64 read_bytes;
	u64 writes;
	u64 write_bytes;
	u64 flushes;
	u64 discards;
	u64 discard_bytes;
	u64 read_buffer_hits;
	u64 write_buffer_hits;
	u64 write_buffer_merges;
	u64 page_reads;
	u64 rmw_reads;
	u64 prefetch_reads;
	u64 busy_ns;
};

/**
 * struct ssd_drive_events - calls of the drive while it works on a command.
 * @arrived: these sectors of the write being served are now in the buffer; the
 *	calls of one write follow each other in ascending order without gaps
 * @durable: the newest version of these sectors has gone to the NAND; may be NULL, then
 *	the drive does not look for them
 */
struct ssd_drive_events {
	void (*arrived)(void *context, u64 sector, u32 sectors);
	void (*durable)(void *context, u64 sector, u32 sectors);
};

/**
 * struct ssd_drive - one drive.
 * @link: the interface, reserved for transfers
 * @host_free: the next command can begin then
 * @last_end: the last command completes then
 * @firmware_free: the firmware can start its next operation then; stays 0 if it
 *	works on all dies side by side
 * @draining: the write buffer is being drained, since @drain_from
 * @busy_until: end of the work counted in busy_ns
 */
struct ssd_drive {
	struct ssd_profile profile;
	struct ssd_geometry geometry;
	struct ssd_nand nand;
	struct ssd_ftl *ftl;
	struct ssd_write_buffer write_buffer;
	struct ssd_read_buffer read_buffer;
	struct ssd_bus link;
	u64 host_free;
	u64 last_end;
	u64 firmware_free;
	bool draining;
	u64 drain_from;
	u64 busy_until;
	struct ssd_drive_counters counters;
	const struct ssd_drive_events *events;
	void *context;
};

/**
 * ssd_drive_create - a drive as described.
 * @events: may be NULL
 * @context: handed to @events
 * @error: on failure one sentence
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int ssd_drive_create(struct ssd_drive **drive, const struct ssd_profile *profile,
		     const struct ssd_drive_events *events, void *context,
		     char *error, size_t size);
void ssd_drive_destroy(struct ssd_drive *drive);

/* Commands. @now: time of arrival. Return: time of completion. */
u64 ssd_drive_read(struct ssd_drive *drive, u64 now, u64 sector, u32 sectors);
u64 ssd_drive_write(struct ssd_drive *drive, u64 now, u64 sector, u32 sectors, bool fua);
u64 ssd_drive_flush(struct ssd_drive *drive, u64 now);

/** ssd_drive_discard - clustered pages wholly in the range lose their contents. */
u64 ssd_drive_discard(struct ssd_drive *drive, u64 now, u64 sector, u64 sectors);

/**
 * ssd_drive_whole_pages - the part of a range that discard acts on.
 *
 * Return: false if there is none.
 */
bool ssd_drive_whole_pages(const struct ssd_drive *drive, u64 *sector, u64 *sectors);

/** ssd_drive_nothing - a command that the drive takes and does nothing for. */
u64 ssd_drive_nothing(struct ssd_drive *drive, u64 now);

/**
 * ssd_drive_power_cycle - what is in RAM only is lost, as when the power fails: buffers,
 * prefetched pages, the part of the map in RAM, and the commands under way.
 * The layer finds its mapping again; work on the NAND that had begun (the firmware redoes
 * it) ends as planned.
 * @off, @on: when the power went and came back; no work begins in between
 */
void ssd_drive_power_cycle(struct ssd_drive *drive, u64 off, u64 on);

/** ssd_drive_check - verify every invariant. Return: 0 or an error, with a sentence. */
int ssd_drive_check(struct ssd_drive *drive, char *error, size_t size);

/** ssd_drive_print - counters as "key value" lines. Return: characters written. */
int ssd_drive_print(const struct ssd_drive *drive, char *text, size_t size);

/** ssd_drive_reset_counters - count from zero; the state of the drive stays. */
void ssd_drive_reset_counters(struct ssd_drive *drive);

#endif /* SSD_DRIVE_H */
