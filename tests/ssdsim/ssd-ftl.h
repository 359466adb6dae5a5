/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flash translation layers: which physical clustered page holds a logical one.
 * A layer does its merges or garbage collection itself, step by step on the
 * NAND; their cost is the time these steps take.
 *
 * Plain C, no locks: the caller serialises. Times are nanoseconds.
 */
#ifndef SSD_FTL_H
#define SSD_FTL_H

#include <linux/types.h>

#include "ssd-nand.h"
#include "ssd-profile.h"

struct ssd_ftl;

/**
 * struct ssd_ftl_counters - what a translation layer did.
 * @switch_merges: log block became the data block, nothing copied
 * @partial_merges: log block completed by copies and became the data block
 * @full_merges: log and data block copied into a third one
 * @merge_copies: pages copied by merges
 * @gc_blocks: blocks that garbage collection erased
 * @gc_copies: pages it copied
 * @slc_programs: pages of the host that the pseudo-SLC area took
 * @slc_copies: pages that were folded out of it
 * @map_hits, @map_reads, @map_writes: uses of the map that found it in RAM, and map
 *	pages read and written
 */
struct ssd_ftl_counters {
	u64 switch_merges;
	u64 partial_merges;
	u64 full_merges;
	u64 merge_copies;
	u64 gc_blocks;
	u64 gc_copies;
	u64 slc_programs;
	u64 slc_copies;
	u64 map_hits;
	u64 map_reads;
	u64 map_writes;
};

/**
 * struct ssd_ftl_ops - one kind of translation layer.
 * @name: as in the profile
 * @destroy: release everything, also after a failed create
 * @lookup: where @page is; false if it was never written or is discarded
 * @resolve: have the map entry of a page in RAM; returns when it is (NULL: it always is)
 * @background: do work that can wait and can begin before @now, on dies that are idle;
 *	the firmware is free at @from; returns the end of the work (NULL: there is none)
 * @ready: earliest time at which a die can take a page (NULL: not known)
 * @write: program a whole logical page, doing whatever must be done first;
 *	returns the time its data have left the controller, from which the
 *	firmware can go on
 * @discard: forget a page
 * @power_cycle: what is in RAM only is lost; the mapping itself is found again without
 *	work, and no background work begins before @on (NULL: there is neither)
 * @check: verify every invariant of the mapping; 0 or -EINVAL with a sentence
 */
struct ssd_ftl_ops {
	const char *name;
	void (*destroy)(struct ssd_ftl *ftl);
	bool (*lookup)(struct ssd_ftl *ftl, u32 page, struct ssd_place *place);
	u64 (*resolve)(struct ssd_ftl *ftl, u32 page, u64 start);
	u64 (*background)(struct ssd_ftl *ftl, u64 from, u64 now);
	u64 (*ready)(struct ssd_ftl *ftl);
	u64 (*write)(struct ssd_ftl *ftl, u32 page, u64 start);
	void (*discard)(struct ssd_ftl *ftl, u32 page, u64 start);
	void (*power_cycle)(struct ssd_ftl *ftl, u64 on);
	int (*check)(struct ssd_ftl *ftl, char *error, size_t size);
};

struct ssd_ftl {
	const struct ssd_ftl_ops *ops;
	const struct ssd_geometry *geometry;
	struct ssd_nand *nand;
	struct ssd_ftl_counters counters;
};

/**
 * ssd_ftl_log_create - hybrid layer: data blocks mapped by block, and log
 * blocks, each for one data block, mapped by page.
 * @profile: log_victim, log_restart, prefill
 * @geometry, @nand: must outlive the layer
 * @ftl: the new layer
 *
 * Return: 0 or -ENOMEM.
 */
int ssd_ftl_log_create(const struct ssd_profile *profile,
		       const struct ssd_geometry *geometry,
		       struct ssd_nand *nand, struct ssd_ftl **ftl);

/**
 * ssd_ftl_fast_create - hybrid layer: data blocks mapped by block, and log blocks
 * mapped by page that all data blocks share: one for writes that follow each other from
 * the start of a block, the others for all else.
 * @profile: prefill
 * @geometry: at least two log blocks
 * @nand: must outlive the layer, as @geometry
 * @ftl: the new layer
 *
 * Return: 0 or -ENOMEM.
 */
int ssd_ftl_fast_create(const struct ssd_profile *profile,
			const struct ssd_geometry *geometry,
			struct ssd_nand *nand, struct ssd_ftl **ftl);

/**
 * ssd_ftl_page_create - every page mapped, greedy garbage collection.
 * @profile: firmware, gc_threshold_ppm, map_cache_pages, slc_mb, prefill
 * @geometry, @nand: must outlive the layer
 * @ftl: the new layer
 *
 * Return: 0 or -ENOMEM.
 */
int ssd_ftl_page_create(const struct ssd_profile *profile,
			const struct ssd_geometry *geometry,
			struct ssd_nand *nand, struct ssd_ftl **ftl);

#endif /* SSD_FTL_H */
