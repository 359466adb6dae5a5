// SPDX-License-Identifier: GPL-2.0-only
/* ressd-log: what fits, what is kept in reserve, who waits for free space, and its reuse. */
#include <linux/errno.h>
#include "logbox.h"
#include "ressd-log-private.h"
#include "ressd-repair.h"

TEST_SUITE("log-space");

/*
 * Found by tools/bench/model: when the head came to the last segment, which was half as long, half
 * a segment of free blocks was gone at once, and pace even held writers for 42 s.
 */
TEST(a_short_last_segment_is_no_loss_of_free_blocks)
{
	u32 i, free, before = BOX_BLOCKS;

	box_format_short();
	for (i = 0; i < 10 * BOX_BLOCKS; i++) {
		CHECK_EQ(box_write(i % 8, i), 0);
		box_sync();
		free = ressd_log_free_blocks(&box.log);
		/* A block and its header; what is left of a segment may be one block too few. */
		CHECK(!i || free + 3 >= before, "%u free blocks after %u", free, before);
		before = free;
	}
	CHECK(box.log.head_seq > 3 * BOX_SEGMENTS, "segment %llu is the head", box.log.head_seq);
}

TEST(full_log_keeps_a_segment_in_reserve)
{
	u32 i = 0;

	box_format();
	box_fill(&i);
	CHECK(ressd_log_free_segments(&box.log) == 1, "%u segments free",
	      ressd_log_free_segments(&box.log));
	CHECK(i > 60, "full after %u blocks", i);
	box_sync();		/* there is always room for that */
	ressd_log_kill(&box.log, 0, 10);
	box_sync();
}

/* Fills the log, brings everything home, and finds all the room again, many times over. */
TEST(moved_segments_are_reused)
{
	u32 round, i, lbn = 0;

	box_format();
	for (round = 0; round < 50; round++) {
		box_fill(&lbn);
		box_sync();
		for (i = 0; i < BOX_NORMAL_BLOCKS; i++) {
			struct ressd_node *node = ressd_map_find(&box.log.map, i);

			if (node)
				ressd_log_moved(&box.log, ressd_map_block(&box.log.map, node), i);
		}
		CHECK(ressd_log_can_reclaim(&box.log), "nothing to gain");
		ressd_log_reclaim(&box.log);
		box_run();
		CHECK(ressd_log_free_segments(&box.log) >= BOX_SEGMENTS - 2, "round %u: %u free",
		      round, ressd_log_free_segments(&box.log));
	}
	CHECK(lbn > 50 * 60, "%u blocks", lbn);
}

/* Records of one UNMAP each until only the very last block is left, which is not theirs. */
static void fill_reserve(u32 *written)
{
	while (ressd_log_free_blocks(&box.log) > 1) {
		ressd_log_kill(&box.log, --*written, 1);
		box_sync();
	}
	CHECK_EQ(ressd_log_free_segments(&box.log), 0);
}

/* The mover must not wait for a sync that waits for the mover. */
TEST(sync_without_room_is_starved)
{
	static u8 buffer[RESSD_BLOCK_SIZE];
	u32 written = 0;
	u64 ticket;

	box_format();
	box_fill(&written);
	box_sync();
	fill_reserve(&written);
	CHECK(!ressd_log_is_starved(&box.log), "nobody waits");
	ressd_log_kill(&box.log, --written, 1);
	ticket = ressd_log_reclaim(&box.log);
	CHECK(!box_run() && ressd_log_is_starved(&box.log), "it has found room");

	ressd_log_give_up(&box.log);
	CHECK_EQ(box.log.mode, RESSD_MODE_OFF);
	ressd_repair_start(&box.log, buffer, 1);
	box_run();
	CHECK_EQ(box.log.mode, RESSD_MODE_RW);
	CHECK(ressd_log_is_starved(&box.log), "the sync is forgotten");

	while (written--)
		ressd_log_moved(&box.log, box_block(written), written);
	box_run();
	CHECK(ressd_log_synced(&box.log) >= ticket, "it still waits");
	CHECK(!ressd_log_is_starved(&box.log), "and says so");
	ressd_log_give_up(&box.log);
	CHECK_EQ(box.log.mode, RESSD_MODE_RW);
}

/* More UNMAPs than one record holds, and one block to announce the tail that they make. */
TEST(last_block_announces_before_all_unmaps_are_written)
{
	u32 written = 0;
	u64 ticket;

	box_format_large();
	box_fill(&written);
	box_sync();
	fill_reserve(&written);
	CHECK(written > RESSD_RECORD_ENTRIES, "only %u blocks are left", written);
	ressd_log_kill(&box.log, 0, written);
	ticket = ressd_log_reclaim(&box.log);
	box_run();
	CHECK(ressd_log_synced(&box.log) >= ticket, "the log hangs");
	CHECK(!ressd_log_is_full(&box.log), "no segment is free");
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.log.map.nr_mapped, 0);
}

TEST(busy_segment_is_not_reused)
{
	u32 i;
	int ret;

	box_format();
	box.busy_slot = 2;	/* head starts in slot 1 */
	for (i = 0; i < 14; i++)
		CHECK_EQ(box_write(i, i), 0);
	box_run();
	ret = box_write(100, 1);
	CHECK(ret == -ENOSPC, "%d", ret);
	box.busy_slot = ~0U;
	CHECK_EQ(box_write(100, 1), 0);
}

/* What it held need not even be forgotten: that is no reason to wait. */
TEST(busy_segment_that_is_not_forgotten)
{
	u32 lbn = 1;

	box_format();
	box_write(0, 1);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	box.busy_slot = 2;
	box_fill(&lbn);
	CHECK_EQ(box.log.head_seq, 1);
	box.busy_slot = ~0U;
	CHECK_EQ(box_write(lbn, 1), 0);
	CHECK_EQ(box.log.head_seq, 2);
}

/* Found by the simulator: the block's old, clean node lies in the segment that is reused for it. */
TEST(rewrite_of_a_block_in_the_segment_reused)
{
	u32 i, round;

	box_format();
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 14; i++) {
			int ret = box_write(i, round * 100 + i + 1);

			if (ret == -EAGAIN) {
				box_run();
				ret = box_write(i, round * 100 + i + 1);
			}
			CHECK(!ret, "round %u block %u: %d", round, i, ret);
		}
		box_sync();
		for (i = 0; i < 14; i++)
			ressd_log_moved(&box.log, box_block(i), i);
		ressd_log_reclaim(&box.log);
		box_run();
		CHECK_EQ(box.log.map.nr_dirty, 0);
		CHECK(box.log.map.nr_mapped <= 14, "%u mapped", box.log.map.nr_mapped);
	}
}

/* What is carried may take all that a record with data can have; the last block is for others. */
TEST(last_segment_is_used_up)
{
	struct ressd_place place;
	u32 lbn = 0, i;
	int ret;

	box_format();
	CHECK(!ressd_log_can_prime(&box.log), "before the first record");
	do {
		ret = ressd_log_accept_leaving(&box.log, lbn, &place, 0);
		lbn += !ret;
		if (ret == -EAGAIN)
			box_run();
	} while (!ret || ret == -EAGAIN);
	CHECK_EQ(ret, -ENOSPC);
	CHECK_EQ(ressd_log_free_segments(&box.log), 0);
	box_sync();
	CHECK(box.log.records[box.log.open].block < ressd_log_head_end(&box.log), "it is full");
	for (i = 0; i < lbn; i++)
		CHECK(ressd_log_moved(&box.log, box_block(i), i), "block %u", i);
	CHECK(!ressd_log_can_prime(&box.log), "there is no segment for that");
	ressd_log_reclaim(&box.log);
	box_run();
	CHECK_EQ(box_write(0, 1), 0);
}

/* A discard is in the slot that comes next: the log went off, which had room. */
TEST(a_busy_slot_is_no_lack_of_room)
{
	struct ressd_io io;
	u32 lbn = 0;

	box_format();
	box_sync();
	/* The head's segment is full to its end, and its last record is written. */
	do {
		box_write(lbn++, 1);
		box_run();
	} while (box.log.records[box.log.open].block + 2 < 2 * BOX_SEGMENT_BLOCKS && lbn < 100);
	box_sync();
	box.busy_slot = 2;
	ressd_log_kill(&box.log, 0, 1);
	ressd_log_reclaim(&box.log);
	while (box_io(&io))
		;
	CHECK(ressd_log_is_starved(&box.log), "the slot is not waited for");
	ressd_log_give_up(&box.log);
	CHECK_EQ(box.log.mode, RESSD_MODE_RW);
	box.busy_slot = ~0U;
	ressd_log_give_up(&box.log);
	CHECK_EQ(box.log.mode, RESSD_MODE_OFF);
}

/* Segments that covers need are not taken by a record without data. */
TEST(bare_record_leaves_the_reserve_alone)
{
	struct ressd_io io;

	box_format();
	CHECK_EQ(box_write(500, 1), 0);
	box_sync();
	ressd_log_kill(&box.log, 500, 1);
	ressd_log_sync(&box.log);
	box.log.cover_reserve = ressd_log_free_segments(&box.log) + 1;
	CHECK(!ressd_log_next(&box.log, &io), "the record takes what the reserve lacks");
	box.log.cover_reserve--;
	CHECK(ressd_log_next(&box.log, &io) && io.record, "no record");
}
