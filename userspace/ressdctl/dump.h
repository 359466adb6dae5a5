/* SPDX-License-Identifier: GPL-2.0-only */
/* What ressdctl dump shows, and the two ways of writing it. */
#ifndef RESSDCTL_DUMP_H
#define RESSDCTL_DUMP_H

#include "log/image.h"
#include "log/super-pair.h"
#include "log/walk.h"
#include "ressd-summary.h"

/* What recovery makes of a record. */
enum dump_fate {
	DUMP_CURRENT,	/* belongs to the log */
	DUMP_DEAD,	/* everything in it was superseded or moved; its segment may be reused */
	DUMP_LEFT,	/* left behind by a power cut or an earlier lap; it does not count */
	DUMP_UNKNOWN,	/* the log is refused, so nothing can be said */
};

/* One way of writing; called in this order, each between begin and end as often as needed. */
struct dump_writer {
	void (*begin)(void);
	void (*superblocks)(const struct super_pair *supers);
	void (*segments_begin)(void);
	void (*segment_begin)(const struct log_image *image, u32 slot);
	void (*record)(const struct log_spot *spot, enum dump_fate fate);
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

const char *dump_fate_word(enum dump_fate fate);

#endif
