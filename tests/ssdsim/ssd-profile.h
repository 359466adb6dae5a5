/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The description of one emulated drive: what its NAND, controller and
 * firmware are made of, read from "key=value" words.
 *
 * Plain C: compiled into the kernel module and in userspace.
 */
#ifndef SSD_PROFILE_H
#define SSD_PROFILE_H

#include <linux/types.h>

#define SSD_NAME_LENGTH		32
#define SSD_SECTOR_SHIFT	9

/* Largest clustered page: bounds the sector bitmap of a write buffer entry. */
#define SSD_MAX_PAGE_SECTORS	1024

/* The translation layer. */
enum ssd_ftl_kind {
	SSD_FTL_LOG,		/* data blocks and log blocks */
	SSD_FTL_PAGE,		/* every page mapped, garbage collection */
};

/* Whether the firmware waits for one NAND operation before it starts another. */
enum ssd_firmware {
	SSD_FIRMWARE_SERIAL,	/* it waits for the data to have moved */
	SSD_FIRMWARE_PARALLEL,	/* every die that is free gets work */
};

/* Which data blocks may have pages in a log block. */
enum ssd_log_association {
	SSD_LOG_ASSOCIATION_BLOCK,	/* one */
	SSD_LOG_ASSOCIATION_FULL,	/* all */
};

/* Which log block is merged when another one is needed. */
enum ssd_log_victim {
	SSD_LOG_VICTIM_LRU,	/* the one not written for the longest time */
	SSD_LOG_VICTIM_FIFO,	/* the one opened first */
};

/* Which buffered write may take more sectors of the same clustered page. */
enum ssd_buffer_match {
	SSD_BUFFER_MATCH_TAIL,	/* only the newest entry */
	SSD_BUFFER_MATCH_ALL,	/* any entry not yet on its way to the NAND */
};

/* What a power cut may take. */
enum ssd_power_loss {
	SSD_POWER_LOSS_UNFLUSHED,	/* every write not covered by a FLUSH or FUA */
	SSD_POWER_LOSS_BUFFERED,	/* only what is not yet programmed */
};

/* Which entry leaves the write buffer first. */
enum ssd_buffer_order {
	SSD_BUFFER_ORDER_FIFO,	/* the one that came first */
	SSD_BUFFER_ORDER_LRU,	/* the one not written for the longest time */
};

/* How far the buffer is drained once it is full, or the host idle. */
enum ssd_buffer_drain {
	SSD_BUFFER_DRAIN_EMPTY,	/* until nothing is left */
	SSD_BUFFER_DRAIN_ROOM,	/* only to make room for what arrives, or for a flush */
};

/**
 * struct ssd_profile - one drive. Every number is a u32 so that the key table
 * of the parser can describe it; the ranges are in that table (ssd-profile.c).
 * @name: of the block device
 * @capacity_mb: user capacity, MiB
 * @scale: the drive is this many times smaller, and so are the log blocks of @log_ppm and
 *	@map_cache_pages; pages, blocks, dies, buffers and @log_blocks stay as they are
 * @channels: NAND buses that move one clustered page together
 * @planes: planes of one die programmed together
 * @ways: dies of a channel over which the pages of a clustered block rotate
 * @die_sets: disjoint groups of dies; a clustered block lies within one group
 * @channel_sets: buses that work independently, each of @channels channels
 * @page_bytes: data bytes of one NAND page
 * @spare_bytes: spare bytes moved over the bus with each NAND page
 * @block_pages: pages of one NAND erase block
 * @read_ns: NAND array to page register (tR)
 * @program_ns: page register to NAND array (tPROG)
 * @program_slow_ns: the same for the slow page of each MLC pair; 0 = no such pages
 * @erase_ns: block erase (tBERS)
 * @bus_read_ps: read cycle of one byte on one channel, picoseconds
 * @bus_write_ps: write cycle of one byte on one channel, picoseconds
 * @copyback: 1 if the firmware moves pages inside a die, without the bus
 * @firmware: enum ssd_firmware
 * @ftl: enum ssd_ftl_kind; the keys log_* belong to "log", @overprovision_ppm,
 *	@gc_threshold_ppm, @erase_on_open, @map_cache_pages and @slc_mb to "page"
 * @overprovision_ppm: physical blocks beyond the capacity, in parts per million of all
 * @gc_threshold_ppm: a die set with fewer erased blocks, in parts per million of its
 *	blocks, collects garbage in the background (at most half of its spare blocks)
 * @erase_on_open: 0 = a block is erased as soon as nothing in it is valid any more; 1 = only when
 *	it is opened again, so that what is written next waits for it
 * @map_cache_pages: clustered pages of the map that fit in RAM; 0 = all of it
 * @slc_mb: pseudo-SLC area of "page", of blocks beyond all others that hold one bit in a cell
 *	for two: what the host writes goes there first, and is folded into the other blocks
 *	when the host is idle; 0 = none
 * @slc_program_ns: page register to such a block
 * @log_blocks: log blocks, not scaled; 0 = take @log_ppm
 * @log_ppm: log blocks in parts per million of the data blocks (minimum 2)
 * @log_association: enum ssd_log_association; @log_victim and @log_restart belong to
 *	"block": with "full" the log blocks are a ring, and the first page of a block always
 *	opens the sequential one
 * @log_victim: enum ssd_log_victim
 * @log_restart: 1 = writing the first page of a block opens a fresh log block
 * @read_buffer_kb: read buffer, KiB (0 = none)
 * @partial_read: 1 = of a clustered page only the NAND pages that are wanted are moved
 *	over the bus, as many at a time as there are channels
 * @partial_update: 1 = a partial clustered page is programmed without reading the rest
 *	(the layer maps sectors within it; putting parts together costs nothing here)
 * @prefetch_pages: clustered pages behind a read that are read into the read buffer
 * @write_buffer_kb: write buffer, KiB
 * @write_buffer_match: enum ssd_buffer_match
 * @write_buffer_order: enum ssd_buffer_order
 * @write_buffer_drain: enum ssd_buffer_drain
 * @write_buffer_idle_us: the buffer is drained once it is full, or when no
 *	command has come for this long, microseconds
 * @write_buffer_through: 1 = a write that is longer than the buffer completes when all that is
 *	buffered has been programmed
 * @write_cache: 1 = writes complete in the buffer (volatile until flushed)
 * @command_ns: every command: decode, status
 * @host_read_ns: firmware work of a read command that reaches the NAND
 * @interface_mb_s: host interface, 10^6 bytes per second
 * @queue_depth: commands the kernel may send before one completes; more than 1 is
 *	native command queueing: they are served side by side
 * @max_request_kb: largest command, KiB
 * @noise_ppm: each command is seen to take longer or shorter by a factor with the median 1, whose
 *	logarithm has this standard deviation, parts per million (log-normal); 30000 is 3 %
 * @interference_ppm: share of the commands that something else delays, parts per million
 * @interference_us: mean of these delays, microseconds (exponential)
 * @noise_seed: of both
 * @fua: 1 if forced-unit-access writes are accepted
 * @discard: 1 if the drive accepts discard
 * @prefill: 1 = starts as a drive whose every page has been written (zeros)
 * @track_volatile: 1 = the store keeps the durable version of unflushed sectors;
 *	a must for the power switch
 * @power_loss: enum ssd_power_loss
 * @lies_about_flush: 1 = FLUSH and FUA succeed at once and mean nothing
 * @report_write_through: 1 = the host is told that there is no volatile cache
 * @check: 1 = every NAND page carries its logical page and reads compare it
 */
struct ssd_profile {
	char name[SSD_NAME_LENGTH];
	u32 capacity_mb;
	u32 scale;
	u32 channels;
	u32 planes;
	u32 ways;
	u32 die_sets;
	u32 channel_sets;
	u32 page_bytes;
	u32 spare_bytes;
	u32 block_pages;
	u32 read_ns;
	u32 program_ns;
	u32 program_slow_ns;
	u32 erase_ns;
	u32 bus_read_ps;
	u32 bus_write_ps;
	u32 copyback;
	u32 firmware;
	u32 ftl;
	u32 overprovision_ppm;
	u32 gc_threshold_ppm;
	u32 erase_on_open;
	u32 map_cache_pages;
	u32 slc_mb;
	u32 slc_program_ns;
	u32 log_blocks;
	u32 log_ppm;
	u32 log_association;
	u32 log_victim;
	u32 log_restart;
	u32 read_buffer_kb;
	u32 partial_read;
	u32 partial_update;
	u32 prefetch_pages;
	u32 write_buffer_kb;
	u32 write_buffer_match;
	u32 write_buffer_order;
	u32 write_buffer_drain;
	u32 write_buffer_idle_us;
	u32 write_buffer_through;
	u32 write_cache;
	u32 command_ns;
	u32 host_read_ns;
	u32 interface_mb_s;
	u32 queue_depth;
	u32 max_request_kb;
	u32 noise_ppm;
	u32 interference_ppm;
	u32 interference_us;
	u32 noise_seed;
	u32 fua;
	u32 discard;
	u32 prefill;
	u32 track_volatile;
	u32 power_loss;
	u32 lies_about_flush;
	u32 report_write_through;
	u32 check;
};

/**
 * struct ssd_geometry - what follows from a profile.
 * @page_sectors: clustered page, 512-byte sectors
 * @block_pages: clustered pages of a clustered block
 * @rows: clustered pages of one way of a clustered block
 * @data_blocks: clustered blocks of the user capacity
 * @log_blocks: log blocks (0 with page mapping)
 * @map_pages: clustered pages that hold the map, if only part of it fits in RAM
 * @map_cache_pages: those that do
 * @slc_blocks: physical clustered blocks of the pseudo-SLC area, likewise; they are the last ones
 * @total_blocks: physical clustered blocks, a multiple of the die sets
 * @pages: clustered pages of the user capacity
 * @sectors: user capacity, sectors
 */
struct ssd_geometry {
	u32 page_sectors;
	u32 block_pages;
	u32 rows;
	u32 data_blocks;
	u32 log_blocks;
	u32 map_pages;
	u32 map_cache_pages;
	u32 slc_blocks;
	u32 total_blocks;
	u32 pages;
	u64 sectors;
};

/** ssd_profile_init - the defaults: a small generic drive. */
void ssd_profile_init(struct ssd_profile *profile);

/**
 * ssd_profile_parse - apply "key=value" words to a profile.
 * @profile: changed in place; a later word overrides an earlier one
 * @text: words separated by white space; "#" starts a comment up to the line end
 * @error: on failure one sentence: the key, the limit, the remedy
 * @size: of @error
 *
 * Return: 0 or -EINVAL (the profile is then partly changed and must not be used).
 */
int ssd_profile_parse(struct ssd_profile *profile, const char *text,
		      char *error, size_t size);

/**
 * ssd_profile_geometry - check a whole profile and derive its geometry.
 *
 * Return: 0 or -EINVAL with a sentence in @error.
 */
int ssd_profile_geometry(const struct ssd_profile *profile,
			 struct ssd_geometry *geometry, char *error, size_t size);

/**
 * ssd_profile_print - the profile as words the parser accepts, one a line.
 *
 * Return: characters written (never more than @size - 1).
 */
int ssd_profile_print(const struct ssd_profile *profile, char *text, size_t size);

#endif /* SSD_PROFILE_H */
