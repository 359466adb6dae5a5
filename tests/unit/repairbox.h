/* SPDX-License-Identifier: GPL-2.0-only */
/* A log whose I/O fails, and its repair: what the tests of repair and distrust share. */
#ifndef REPAIRBOX_H
#define REPAIRBOX_H

#include <linux/errno.h>
#include "logbox.h"
#include "ressd-repair.h"

#define BUFFER_BLOCKS	4U

static u8 buffer[BUFFER_BLOCKS * RESSD_BLOCK_SIZE];

/* The next I/O fails: the write itself, or a flush. */
static inline void fail_io(enum ressd_io_kind kind, bool only_write)
{
	struct ressd_io io;

	CHECK(ressd_log_next(&box.log, &io) && io.kind == kind, "another I/O, or none");
	if (io.kind == RESSD_IO_WRITE)
		ressd_log_encode(&box.log, &io);
	io.only_write = only_write;
	ressd_log_done(&box.log, &io, -EIO);
	box_tidy();
}

static inline void fail_flush(void)
{
	ressd_log_sync(&box.log);
	fail_io(RESSD_IO_FLUSH, false);
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
}

/* A record with @nr blocks from @lbn on, contents @id, written but not flushed. */
static inline void write_record(u32 lbn, u32 nr, u64 id)
{
	u32 i;

	for (i = 0; i < nr; i++)
		CHECK_EQ(box_write(lbn + i, id), 0);
	ressd_log_write_soon(&box.log);
	CHECK(box_run(), "no record");
}

static inline int repair(void)
{
	ressd_repair_start(&box.log, buffer, BUFFER_BLOCKS);
	CHECK(!ressd_repair_is_over(&box.log), "over at once");
	box_run();
	CHECK(ressd_repair_is_over(&box.log), "no end");
	return ressd_repair_result(&box.log);
}

static inline void repair_well(void)
{
	CHECK_EQ(repair(), 0);
	CHECK_EQ(box.log.mode, RESSD_MODE_RW);
	box_sync();
	CHECK_EQ(box.log.durable_seq, box.log.written_seq);
}

/* Block @lbn holds @id before and after a repair, and after a recovery. */
static inline void repair_keeps(u32 lbn, u64 id)
{
	CHECK_EQ(box_read(lbn), id);
	repair_well();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(lbn), id);
}

static inline void move(u32 lbn)
{
	CHECK(ressd_log_moved(&box.log, box_block(lbn), lbn), "block %u is not moved", lbn);
	CHECK_EQ(box_read(lbn), 0);
}

static inline void move_all(u32 lbn, u32 nr)
{
	while (nr--)
		move(lbn++);
}

#endif
