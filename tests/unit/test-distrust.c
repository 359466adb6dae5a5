// SPDX-License-Identifier: GPL-2.0-only
/* ressd-repair: what a failed flush takes back, and what it leaves. */
#include <linux/errno.h>
#include <linux/string.h>
#include "repairbox.h"

TEST_SUITE("distrust");

TEST(tail_of_a_failed_record_is_not_reused)
{
	box_format();
	write_record(1, 14, 10);
	write_record(20, 1, 10);
	move_all(1, 14);
	box_sync();
	CHECK_EQ(box.log.reuse_seq, 1);
	ressd_log_reclaim(&box.log);
	fail_io(RESSD_IO_WRITE, false);
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	CHECK_EQ(box.log.reuse_seq, 1);
	CHECK_EQ(box_read(1), 10);	/* the copy at home may be gone */
	CHECK_EQ(box.log.segments[1].live, 14);
	repair_well();
	CHECK_EQ(box.log.reuse_seq, 1);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 10);
}

/* Nor does a record that holds data claim that tail when it is written again. */
TEST(tail_of_a_failed_record_with_data_is_not_reused)
{
	struct ressd_io io;

	box_format();
	write_record(1, 14, 10);
	write_record(20, 1, 10);
	box_sync();
	move_all(1, 14);
	box_sync();
	CHECK_EQ(box_write(30, 10), 0);
	ressd_log_reclaim(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.record, "no record");
	CHECK_EQ(io.record->tail_seq, 2);
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, -EIO);
	box_tidy();
	CHECK_EQ(box_read(1), 10);
	repair_well();
	CHECK_EQ(box.log.written_tail, 1);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 10);
	CHECK_EQ(box_read(30), 10);
}

TEST(failed_flush_takes_back_moves)
{
	box_format();
	write_record(1, 3, 10);
	move(2);
	fail_flush();
	CHECK_EQ(box_read(2), 10);
	CHECK(!ressd_log_moved(&box.log, box_block(2), 2), "a move that was in flight");
	repair_well();
	move(2);
}

/*
 * Found by tests/model: home may be lost, the newer version is not durable, and the map knows the
 * older one no more.
 */
TEST(death_waits_for_what_was_logged_again)
{
	struct ressd_io io;

	box_format();
	write_record(1, 1, 10);
	ressd_log_rotate(&box.log);
	write_record(20, 1, 10);
	box_sync();
	move(1);
	CHECK_EQ(box_write(1, 11), 0);
	ressd_log_flush_failed(&box.log);
	box_tidy();
	CHECK_EQ(repair(), 0);
	ressd_log_reclaim(&box.log);
	CHECK(box_io(&io) && io.record && io.record->nr_maps == 1, "no record");
	CHECK_EQ(io.record->tail_seq, 1);
	box_run();
	box_sync();
	CHECK_EQ(box.log.reuse_seq, 2);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 11);
}

TEST(failed_flush_takes_back_kills)
{
	box_format();
	write_record(1, 3, 10);
	ressd_log_kill(&box.log, 2, 1);
	CHECK_EQ(box_read(2), 0);
	ressd_log_sync(&box.log);
	fail_io(RESSD_IO_WRITE, false);	/* the PREFLUSH of the record with the UNMAP */
	CHECK_EQ(box.log.nr_unmaps, 0);
	CHECK_EQ(box.log.segments[1].live, 3);
	repair_keeps(2, 10);
}

/* Only the write failed, after a good flush: then what killed the block is durable. */
TEST(failed_write_takes_back_no_kills)
{
	box_format();
	write_record(1, 3, 10);
	ressd_log_kill(&box.log, 2, 1);
	ressd_log_sync(&box.log);
	fail_io(RESSD_IO_WRITE, true);
	CHECK_EQ(box.log.mode, RESSD_MODE_OFF);
	repair_keeps(2, 0);
	CHECK_EQ(box_read(3), 10);
}

TEST(newest_killed_version_comes_back)
{
	box_format();
	write_record(7, 1, 10);
	ressd_log_kill(&box.log, 7, 1);
	write_record(7, 1, 20);
	ressd_log_kill(&box.log, 7, 1);
	CHECK_EQ(box.log.nr_unmaps, 2);
	ressd_log_sync(&box.log);
	fail_io(RESSD_IO_WRITE, false);
	CHECK_EQ(box.log.nr_unmaps, 1);
	repair_keeps(7, 20);
}

TEST(newer_version_in_the_log_stays)
{
	box_format();
	write_record(7, 1, 10);
	ressd_log_kill(&box.log, 7, 1);
	box_write(7, 30);
	ressd_log_sync(&box.log);
	fail_io(RESSD_IO_WRITE, false);
	CHECK_EQ(box.log.nr_unmaps, 1);
	repair_keeps(7, 30);
}

TEST(what_an_announced_tail_left_behind_stays_dead)
{
	box_format();
	write_record(1, 14, 10);
	write_record(20, 1, 20);
	move_all(1, 14);
	ressd_log_reclaim(&box.log);
	box_run();
	ressd_log_reclaim(&box.log);
	box_run();
	CHECK_EQ(box.log.reuse_seq, 2);
	fail_flush();
	CHECK_EQ(box_read(1), 0);
	CHECK_EQ(box_read(2), 0);
	CHECK_EQ(box_read(20), 20);
	repair_well();
}

/*
 * A block is discarded while the record that frees its segment is in flight: its UNMAP waits, for
 * nothing as soon as that is durable.
 */
static void leave_unmap_of_dead_segment(void)
{
	struct ressd_io io;

	box_format();
	write_record(1, 14, 10);
	move_all(1, 14);
	box_sync();
	ressd_log_prime(&box.log);
	do {
		CHECK(ressd_log_next(&box.log, &io), "no announcement");
		if (io.kind == RESSD_IO_WRITE)
			ressd_log_encode(&box.log, &io);
		if (io.record)
			ressd_log_kill(&box.log, 1, 1);
		ressd_log_done(&box.log, &io, 0);
	} while (!io.record);
	CHECK_EQ(box.log.reuse_seq, 2);
	CHECK_EQ(box.log.nr_unmaps, 1);
}

TEST(unmap_of_a_dead_segment_is_not_doubted)
{
	leave_unmap_of_dead_segment();
	CHECK(!ressd_log_is_drained(&box.log), "an UNMAP is left");
	ressd_log_flush_failed(&box.log);
	box_tidy();
	CHECK_EQ(box.log.nr_unmaps, 1);
	CHECK_EQ(box_read(1), 0);
	repair_well();
	CHECK_EQ(box_read(1), 0);
}

TEST(unmap_on_its_way_is_forgotten_with_its_segment)
{
	struct ressd_io io;

	leave_unmap_of_dead_segment();
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.record && io.record->nr_unmaps == 1, "no UNMAP");
	ressd_log_encode(&box.log, &io);
	box_tidy();
	ressd_log_done(&box.log, &io, 0);
	box_sync();
	CHECK(ressd_log_is_drained(&box.log), "something is left");
	write_record(1, 3, 20);
	CHECK_EQ(box_read(1), 20);
}

TEST(flush_failure_from_outside)
{
	struct ressd_io io;

	box_format();
	write_record(1, 1, 10);
	move(1);
	ressd_log_flush_failed(&box.log);
	box_tidy();
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	CHECK_EQ(box_read(1), 10);
	repair_well();

	/* While the record with an UNMAP is in flight: what that record says is taken back. */
	ressd_log_kill(&box.log, 1, 1);
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.preflush, "no record with PREFLUSH");
	ressd_log_encode(&box.log, &io);
	ressd_log_flush_failed(&box.log);
	box_tidy();
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	CHECK_EQ(box_write(3, 1), -EIO);
	ressd_log_done(&box.log, &io, 0);
	box_tidy();
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	repair_keeps(1, 10);
}

/*
 * What a failed flush may have taken along is found in pieces: until all is, the map is in doubt.
 */
TEST(failed_flush_in_pieces)
{
	u32 lbn, pieces = 0;

	box_format();
	write_record(1, 10, 10);
	ressd_log_rotate(&box.log);
	write_record(50, 1, 10);
	box_sync();
	for (lbn = 1; lbn <= 5; lbn++)
		move(lbn);
	ressd_log_kill(&box.log, 6, 5);
	box.log.step_nodes = 1;
	ressd_log_flush_failed(&box.log);
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	do {
		CHECK(ressd_log_is_doubtful(&box.log), "not in doubt after %u pieces", pieces);
		CHECK_EQ(box_write(3, 1), -EIO);
		/* Another one fails: all is looked at again. */
		if (pieces++ == 7)
			ressd_log_flush_failed(&box.log);
	} while (ressd_log_tidy(&box.log));
	CHECK(!ressd_log_is_doubtful(&box.log), "still in doubt");
	CHECK(pieces >= 20, "only %u pieces", pieces);
	for (lbn = 1; lbn <= 10; lbn++)
		CHECK_EQ(box_read(lbn), 10);
	CHECK_EQ(box.log.nr_unmaps, 0);
	box.log.step_nodes = RESSD_STEP_NODES;
	repair_well();
	CHECK_EQ(box_recover(), 0);
	for (lbn = 1; lbn <= 10; lbn++)
		CHECK_EQ(box_read(lbn), 10);
}

/* The last record that may hold a newer version is full and was never handed out. */
TEST(death_waits_for_a_full_record)
{
	struct ressd_io io;
	u32 lbn = 2;
	int ret;

	box_format_large();
	while (!ressd_log_next(&box.log, &io))
		CHECK_EQ(box_write(lbn++, 10), 0);
	CHECK_EQ(box_write(1, 10), 0);
	box.busy_slot = 2;		/* where the next record would begin */
	while (!(ret = box_write(lbn, 20)))
		lbn++;
	CHECK_EQ(ret, -ENOSPC);
	CHECK(box.log.nr_full, "no record is full");
	CHECK_EQ(ressd_log_open_blocks(&box.log), 0);
	ressd_log_flush_failed(&box.log);
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, 0);
	box_tidy();
	CHECK_EQ(box.log.segments[1].kill_seq, box.log.records[box.log.open].seq - 1);
}
