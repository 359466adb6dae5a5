/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table line and its options: words -> struct and struct -> words, with a
 * sentence for every refusal.  The module's constructor and messages, ressdctl
 * and ressd-probe all use these.
 *
 *	<start> <len> ressd <normal dev> <normal start>
 *		<reserved dev> <reserved start> <reserved sectors>
 *		[<#opt words> <opts>...]
 *
 * All numbers are in 512-byte sectors unless their name says otherwise.
 */
#ifndef RESSD_ARGS_H
#define RESSD_ARGS_H

#include "ressd-format.h"

#define RESSD_ERROR_SIZE	256	/* enough for every sentence here */
#define RESSD_OPTIONS_TEXT	1024	/* ... and for all options, printed */

#define RESSD_MAX_MOVE_BLOCK_SECTORS	524288U	/* 256 MiB */
#define RESSD_MAX_MOVE_BATCH_SECTORS	8192U	/* 4 MiB */

enum ressd_route_option {
	RESSD_ROUTE_ALWAYS,
	RESSD_ROUTE_NEVER,
	RESSD_ROUTE_ADAPTIVE,
};

enum ressd_commit { RESSD_COMMIT_WRITEBACK, RESSD_COMMIT_WRITETHROUGH };
enum ressd_on_full { RESSD_FULL_BYPASS, RESSD_FULL_WAIT };
enum ressd_switch { RESSD_OFF, RESSD_ON };
enum ressd_dispatch {
	RESSD_DISPATCH_NONE,
	RESSD_DISPATCH_PAI,
	RESSD_DISPATCH_BUNDLE,
	RESSD_DISPATCH_BUNDLE_RP,
	RESSD_NR_DISPATCH,
};

enum ressd_pace { RESSD_PACE_BURST, RESSD_PACE_EVEN, RESSD_PACE_IDLE };

/*
 * Every option of the target; each is one unsigned word, an enumeration or a
 * number.
 */
struct ressd_options {
	u32 small_write_sectors;	/* largest that counts as small */
	u32 streams;		/* sequential streams that are followed */
	u32 open_units;		/* clustered blocks that stay open; or 0 */
	u32 route;		/* enum ressd_route_option */
	u32 log_cost_us;	/* of a block, its move included; 0: unknown */
	u32 move_threshold;	/* the mover wakes below this % of free room */
	u32 move_batch_sectors;	/* data moved per step */
	u32 move_block_sectors;	/* the device's clustered block; 0: unknown */
	u32 move_fill_blocks;	/* logged blocks to rewrite one; 0: never */
	u32 pace;		/* enum ressd_pace */
	u32 commit;		/* enum ressd_commit */
	u32 commit_interval_ms;	/* longest time a write stays only in RAM */
	u32 log_align_sectors;	/* appends end on this boundary; 0: 4 KiB */
	u32 log_page_sectors;	/* the device's clustered page; 0: unknown */
	u32 log_rewrite;	/* enum ressd_switch: commit whole pages */
	u32 log_discard;	/* enum ressd_switch: of reusable segments */
	u32 segment_sectors;	/* format time; 0: as the superblock says */
	u32 cover;		/* enum ressd_switch, format time */
	u32 on_full;		/* enum ressd_on_full */
	u32 split_read_sectors;	/* longest read of the normal area; 0: any */
	u32 split_write_sectors;	/* ... and write */
	u32 align_sectors;	/* first pieces end on this boundary; 0: off */
	u32 dispatch;		/* enum ressd_dispatch: their order */
	u32 bundle_sectors;	/* of the device, whose writes form a bundle */
	u32 pending_expire_ms;	/* longest time that pai holds a request */
	u32 dispatch_depth;	/* requests in flight if dispatch is not none */
};

/*
 * The positional part of a table line.  The device words stay with the caller.
 */
struct ressd_table {
	u64 len;	/* of the target, and of the normal area */
	u64 normal_start;
	u64 reserved_start;
	u64 reserved_sectors;
};

void ressd_options_default(struct ressd_options *options);

/*
 * The key of an option that counts at the format only and is not as by default,
 * or NULL.
 */
const char *ressd_options_fixed(const struct ressd_options *options);

/*
 * Parses @argc option words (without the count) into @options, which holds the
 * defaults.  Returns 0, or -EINVAL with a sentence in @error (@size bytes).  An
 * unknown key, a key given twice, one without value, a value out of range and
 * options that contradict each other are each refused.
 */
int ressd_options_parse(struct ressd_options *options, unsigned int argc,
			char **argv, char *error, size_t size);

/*
 * Sets one option on a live device ("message ... set"); format options, and
 * what contradicts the other options, are refused.
 */
int ressd_option_set(struct ressd_options *options, const char *key,
		     const char *value, char *error, size_t size);

/*
 * Writes the options that differ from the defaults as "<count> key value ...",
 * the form that a table line ends with ("0" when there are none).  Returns what
 * snprintf would.
 */
int ressd_options_print(const struct ressd_options *options, char *buffer,
			size_t size);

/*
 * Writes the options that differ from the defaults as a superblock stores them:
 * "key value ...", then zeroes.  Those that count at the format only are left
 * out, for the superblock has fields for them.
 */
void ressd_options_pack(const struct ressd_options *options,
			char stored[RESSD_STORED_OPTIONS]);

/*
 * Parses a decimal number of sectors; @name is the argument's name for the
 * sentence.
 */
int ressd_parse_u64(const char *word, const char *name, u64 *value, char *error,
		    size_t size);

/*
 * Checks the positional part: alignment, lengths, bounds, overlap.
 * @normal_dev_sectors and @reserved_dev_sectors are the sizes of the two
 * devices, @same_dev says that they are one.
 */
int ressd_table_check(const struct ressd_table *table, u64 normal_dev_sectors,
		      u64 reserved_dev_sectors, bool same_dev, char *error,
		      size_t size);

#endif
