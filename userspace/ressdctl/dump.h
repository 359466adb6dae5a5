/* SPDX-License-Identifier: GPL-2.0-only */
/* What ressdctl dump shows, and the two ways of writing it. */
#ifndef RESSDCTL_DUMP_H
#define RESSDCTL_DUMP_H

#include "log/image.h"
#include "log/super-pair.h"
#include "log/walk.h"
#include "ressd-summary.h"

/* One way of writing; called in this order, each between begin and end as often as needed. */
struct dump_writer {
	void (*begin)(void);
	void (*superblocks)(const struct super_pair *supers);
	void (*segments_begin)(void);
	void (*segment_begin)(const struct log_image *image, u32 slot);
	/* @fate: what recovery makes of it, in a word or two. */
	void (*record)(const struct log_spot *spot, const char *fate);
	void (*records_end)(void);
	/* The intact summary of the slot, if it has one; @stale: of an earlier life of the slot. */
	void (*summary)(const struct log_image *image, const struct ressd_summary *summary,
			bool stale);
	void (*segment_end)(void);
	void (*segments_end)(void);
	/* @code and image->error as log_image_recover() left them. */
	void (*map_begin)(const struct log_image *image, int code);
	void (*mapping)(u32 normal_block, u32 log_block, u32 crc);
	void (*map_end)(void);
	void (*end)(void);
};

extern const struct dump_writer dump_text, dump_json;

#endif
