// SPDX-License-Identifier: GPL-2.0-only
/* ressd-log: how blocks and records come and go.  tests/model proves the sum of it. */
#include <linux/errno.h>
#include "logbox.h"

TEST_SUITE("log");

TEST(empty_log_has_nothing_to_do)
{
	struct ressd_io io;

	box_format();
	CHECK(!box_io(&io), "an I/O");
	CHECK(!ressd_log_is_volatile(&box.log), "volatile");
	CHECK(ressd_log_is_drained(&box.log), "not drained");
	CHECK_EQ(ressd_log_free_blocks(&box.log), ressd_log_total_blocks(&box.log));
	box_sync();
	CHECK_EQ(box.flushes, 1);	/* direct writes must become durable all the same */
	CHECK_EQ(box.writes, 0);
}

TEST(overwrite_in_place_costs_no_space)
{
	u32 i;

	box_format();
	for (i = 1; i <= 100; i++) {
		CHECK_EQ(box_write(7, i), 0);
		CHECK_EQ(box_read(7), i);
	}
	CHECK_EQ(box.log.counters.overwrites, 99);
	CHECK_EQ(box.log.map.nr_mapped, 1);
	CHECK_EQ(box.log.records[box.log.open].nr_maps, 1);
}

TEST(open_record_goes_out_when_full_or_kicked)
{
	struct ressd_io io;
	u32 i;

	box_format();
	for (i = 0; i < 14; i++) {
		CHECK_EQ(box_write(i, 100 + i), 0);
		CHECK(i == 13 || !box_io(&io), "goes out with %u blocks", i + 1);
	}
	CHECK(box_io(&io), "full, but not handed out");
	CHECK_EQ(io.block, 16);
	CHECK_EQ(io.nr_blocks, 15);	/* the last block is the summary's */
	CHECK(!io.preflush && !io.fua, "flags");
	CHECK_EQ(box_write(50, 1), 0);
	CHECK(box_io(&io), "the segment is left, but no summary");
	CHECK(!io.record && !io.preflush && !io.fua, "not a plain summary");
	CHECK_EQ(io.block, 31);
	CHECK_EQ(io.nr_blocks, 1);
	CHECK(!box_io(&io), "goes out unasked");
	ressd_log_write_soon(&box.log);
	CHECK(box_io(&io), "kicked, but not handed out");
	CHECK_EQ(io.block, 32);
	CHECK_EQ(io.nr_blocks, 2);
	for (i = 0; i < 14; i++)
		CHECK_EQ(box_read(i), 100 + i);
}

TEST(group_commit)
{
	struct ressd_io io, second;
	u32 i;

	box_format();
	CHECK_EQ(box_write(1, 1), 0);
	ressd_log_write_soon(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "no write");
	CHECK(!ressd_log_next(&box.log, &second), "two at once");
	for (i = 2; i < 10; i++)
		CHECK_EQ(box_write(i, i), 0);
	CHECK_EQ(box_read(1), 1);	/* from the buffer in flight */
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, 0);
	ressd_log_write_soon(&box.log);
	CHECK(ressd_log_next(&box.log, &second), "no second write");
	CHECK_EQ(second.record->nr_maps, 8);
}

TEST(kill_counts_blocks_in_range_only)
{
	u32 i;

	box_format();
	for (i = 10; i < 20; i++)
		box_write(i, i);
	ressd_log_kill(&box.log, 12, 3);
	ressd_log_kill(&box.log, 19, 1);
	ressd_log_kill(&box.log, 20, 900);
	for (i = 10; i < 20; i++)
		CHECK_EQ(!box_read(i), (i >= 12 && i < 15) || i == 19);
	CHECK_EQ(box.log.counters.killed, 4);
}

/* Rotating or not, the first record of an activation stays where the chain ended. */
TEST(first_record_does_not_rotate)
{
	box_format();
	CHECK_EQ(box_write(1, 1), 0);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	ressd_log_rotate(&box.log);
	CHECK_EQ(box_write(2, 2), 0);
	CHECK_EQ(box_write(3, 3), -EAGAIN);
	CHECK_EQ(box.log.head_seq, 1);
	box_run();
	CHECK_EQ(box_write(3, 3), 0);
	CHECK_EQ(box.log.head_seq, 2);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(2), 2);
	CHECK_EQ(box_read(3), 3);
}

TEST(moved_only_if_current)
{
	u32 old;

	box_format();
	box_write(5, 1);
	old = ressd_map_block(&box.log.map, ressd_map_find(&box.log.map, 5));
	box_sync();
	CHECK(!ressd_log_moved(&box.log, old, 6), "another block");
	box_write(5, 2);
	CHECK(!ressd_log_moved(&box.log, old, 5), "rewritten meanwhile");
	CHECK_EQ(box_read(5), 2);
	old = ressd_map_block(&box.log.map, ressd_map_find(&box.log.map, 5));
	CHECK(ressd_log_moved(&box.log, old, 5), "current");
	CHECK(!ressd_log_moved(&box.log, old, 5), "twice");
}
