/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log on a reserved area in RAM whose writes never fail: what the tests of log, recover and
 * sweep share.  Normal block contents are one repeated number.
 */
#ifndef LOGBOX_H
#define LOGBOX_H

#include "harness.h"
#include "ressd-args.h"
#include "ressd-log.h"
#include "ressd-recover.h"

#define BOX_SEGMENT_BLOCKS	16U
#define BOX_SEGMENTS		6U
#define BOX_BLOCKS		(BOX_SEGMENT_BLOCKS * BOX_SEGMENTS)
#define BOX_NORMAL_BLOCKS	1000U
#define BOX_MAX_SEGMENT_BLOCKS	256U	/* of box_format_large() */
#define BOX_MAX_BLOCKS		(BOX_MAX_SEGMENT_BLOCKS * 4)

struct logbox {
	struct ressd_log log;
	u32 blocks, segment_blocks;
	u32 cover_blocks;		/* 0; set it, and then box_recover() */
	struct ressd_node nodes[BOX_MAX_BLOCKS];
	unsigned long clean[BOX_MAX_BLOCKS / 32];
	unsigned long regions[BOX_NORMAL_BLOCKS / 32 + 1];
	struct ressd_segment segments[BOX_SEGMENTS];
	u8 buffers[RESSD_RECORDS][RESSD_MAX_RECORD_BLOCKS * RESSD_BLOCK_SIZE];
	u8 summary[2 * RESSD_BLOCK_SIZE];
	u8 disk[BOX_MAX_BLOCKS * RESSD_BLOCK_SIZE];
	u32 busy_slot;			/* ~0U: none */
	u32 writes, flushes;		/* I/Os done */
	u32 reads, bad_read;		/* of a recovery; number of the one that fails, 0: none */
	u32 steps;			/* told by it */
	struct ressd_recovery recovery;
	char error[RESSD_ERROR_SIZE];
};

extern struct logbox box;

/* An empty log on a blank area; its opening is not asked for. */
void box_format(void);

/* The same, but the last segment is half as long. */
void box_format_short(void);

/* The same with 4 segments of 1 MiB: more log blocks than a record has UNMAPs. */
void box_format_large(void);

/* A new activation that recovers from box.disk; returns what ressd_recover() does. */
int box_recover(void);

/* The log is damaged, as @sentence says, so box_recover() refuses it. */
void box_refused(const char *sentence);

/* Accepts a write of @lbn, contents @id; returns what ressd_log_accept() does. */
int box_write(u32 lbn, u64 id);

/* Writes blocks from @lbn on until the log takes no more; it then is the first one refused. */
void box_fill(u32 *lbn);

/* Carries out one I/O; false if there was none.  @io tells what it was. */
bool box_io(struct ressd_io *io);

/* Carries out I/Os until there is none; returns how many. */
u32 box_run(void);

/* Does all that is done in pieces. */
void box_tidy(void);

/* A sync, carried out. */
void box_sync(void);

/* The log block that @lbn, which is mapped, is in. */
u32 box_block(u32 lbn);

/* A log block of box.disk, and the record header that it is. */
static inline u8 *disk_block(u32 block)
{
	return box.disk + (size_t)block * RESSD_BLOCK_SIZE;
}

static inline struct ressd_record_header *header_at(u32 block)
{
	return (struct ressd_record_header *)disk_block(block);
}

/* Contents of @lbn by map, RAM and disk; 0 if not mapped or clean. */
u64 box_read(u32 lbn);

#endif
