// SPDX-License-Identifier: GPL-2.0-only
/* ressd-log: what is handed out, with which flags, and when.  tests/model proves the sum of it. */
#include <linux/errno.h>
#include <linux/string.h>
#include "logbox.h"
#include "ressd-log-private.h"
#include "ressd-repair.h"
#include "ressd-summary.h"

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

TEST(sync_without_unmaps_is_write_and_flush)
{
	struct ressd_io io;
	u64 ticket;

	box_format();
	box_write(1, 1);
	ticket = ressd_log_sync(&box.log);
	CHECK(box_io(&io), "no record");
	CHECK(io.kind == RESSD_IO_WRITE && !io.preflush && !io.fua, "not a plain write");
	CHECK(ressd_log_synced(&box.log) < ticket, "done before the flush");
	CHECK(box_io(&io), "no flush");
	CHECK(io.kind == RESSD_IO_FLUSH, "not a flush");
	CHECK_EQ(ressd_log_synced(&box.log), ticket);
	CHECK(!box_io(&io), "more");
	CHECK_EQ(box.log.durable_seq, 1);
}

TEST(sync_with_unmaps_is_one_preflush_fua_write)
{
	struct ressd_io io;
	u64 ticket;

	box_format();
	box_write(1, 1);
	box_sync();
	ressd_log_kill(&box.log, 0, 10);
	CHECK_EQ(box.log.nr_unmaps, 1);
	CHECK(!ressd_map_find(&box.log.map, 1), "still mapped");
	CHECK(!box_io(&io), "an UNMAP goes out unasked");
	ticket = ressd_log_sync(&box.log);
	CHECK(box_io(&io), "no record");
	CHECK(io.kind == RESSD_IO_WRITE && io.preflush && io.fua, "flags");
	CHECK_EQ(ressd_log_synced(&box.log), ticket);
	CHECK_EQ(io.record->nr_unmaps, 1);
}

TEST(write_during_a_sync_is_of_the_next)
{
	struct ressd_io io;
	u64 first, second;

	box_format();
	box_write(1, 1);
	first = ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "no record");
	box_write(2, 2);
	second = ressd_log_sync(&box.log);
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, 0);
	CHECK(box_io(&io) && io.kind == RESSD_IO_FLUSH, "no flush");
	CHECK_EQ(ressd_log_synced(&box.log), first);
	box_run();
	CHECK_EQ(ressd_log_synced(&box.log), second);
	CHECK_EQ(box.log.durable_seq, 2);
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

TEST(full_log_keeps_a_segment_in_reserve)
{
	u32 i, ret = 0;

	box_format();
	for (i = 0; i < 500; i++) {
		ret = box_write(i, i + 1);
		if (ret == (u32)-EAGAIN) {
			box_run();
			ret = box_write(i, i + 1);
		}
		if (ret)
			break;
	}
	CHECK_EQ(ret, (u32)-ENOSPC);
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
		int ret;

		while ((ret = box_write(lbn % BOX_NORMAL_BLOCKS, lbn + 1)) != -ENOSPC) {
			if (ret == -EAGAIN)
				box_run();
			else
				lbn++;
		}
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
	int ret;

	box_format();
	while ((ret = box_write(written, 1)) != -ENOSPC) {
		written += !ret;
		if (ret)
			CHECK(box_run(), "no record");
	}
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
	for (;;) {
		int ret = box_write(written, 1);

		if (ret == -ENOSPC)
			break;
		written += !ret;
		if (ret == -EAGAIN)
			CHECK(box_run(), "no record");
	}
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

/* Found by the simulator: the block's old, clean node lies in the segment that is reused for it. */
/* What it held need not even be forgotten: that is no reason to wait. */
TEST(busy_segment_that_is_not_forgotten)
{
	struct ressd_io io;
	u32 lbn = 0;
	int ret;

	box_format();
	box_write(0, 1);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	box.busy_slot = 2;
	do {
		ret = box_write(++lbn, 1);
		if (ret == -EAGAIN)
			CHECK(box_io(&io), "no I/O");
	} while (!ret || ret == -EAGAIN);
	CHECK_EQ(ret, -ENOSPC);
	CHECK_EQ(box.log.head_seq, 1);
	box.busy_slot = ~0U;
	CHECK_EQ(box_write(lbn, 1), 0);
	CHECK_EQ(box.log.head_seq, 2);
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

/* More UNMAPs than a record can have: the last one alone ends the sync. */
TEST(unmaps_of_two_records)
{
	struct ressd_io io;
	u32 lbn;

	box_format_large();
	for (lbn = 0; lbn < 700; lbn++)
		if (box_write(lbn, 1) == -EAGAIN) {
			box_run();
			CHECK_EQ(box_write(lbn, 1), 0);
		}
	box_sync();
	ressd_log_kill(&box.log, 0, 700);
	ressd_log_sync(&box.log);
	CHECK(box_io(&io) && io.preflush && !io.fua, "the first one ends it");
	CHECK(box_io(&io) && io.preflush && io.fua, "the last one does not");
	CHECK(!ressd_log_unmaps_pending(&box.log), "some are left");
	CHECK_EQ(ressd_log_synced(&box.log), box.log.sync_wanted);
}

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

TEST(failed_write_stops_the_log)
{
	struct ressd_io io;
	u64 ticket;

	box_format();
	box_write(5, 77);
	ticket = ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "no record");
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, -EIO);
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	CHECK_EQ(box_write(6, 1), -EIO);
	CHECK(!ressd_log_next(&box.log, &io), "goes on");
	CHECK(ressd_log_synced(&box.log) < ticket, "the sync succeeds");
	CHECK_EQ(box_read(5), 77);	/* accepted, so it stays readable */
}

TEST(failed_flush_stops_the_log)
{
	struct ressd_io io;
	u64 ticket;

	box_format();
	ticket = ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.kind == RESSD_IO_FLUSH, "no flush");
	ressd_log_done(&box.log, &io, -EIO);
	CHECK(box.log.mode == RESSD_MODE_RO && ressd_log_synced(&box.log) < ticket, "swallowed");
}

/* The last summary that was written, as the disk has it. */
static const struct ressd_summary *summary_at(u32 slot)
{
	u32 block = ressd_geom_slot_end(&box.log.geom, slot);
	const void *summary = box.disk + (size_t)block * RESSD_BLOCK_SIZE;

	return ressd_summary_valid(summary, box.log.uuid, &box.log.geom, block) ? summary : NULL;
}

static void write_and_kick(u32 lbn, u64 id)
{
	CHECK_EQ(box_write(lbn, id), 0);
	ressd_log_write_soon(&box.log);
	box_run();
}

TEST(summary_of_a_rotated_segment)
{
	box_format();
	write_and_kick(1, 10);
	write_and_kick(2, 20);
	ressd_log_rotate(&box.log);
	CHECK(!box_run(), "an I/O though nothing is to be written");
	CHECK(!summary_at(1), "before the head has left");
	write_and_kick(3, 30);
	CHECK(summary_at(1), "none");
	CHECK_EQ(le32_to_cpu(summary_at(1)->nr_records), 2);
	CHECK_EQ(le32_to_cpu(summary_at(1)->next_block), 20);
	CHECK_EQ(le32_to_cpu(summary_at(1)->maps[3].block), 2);
	CHECK_EQ(box.writes, 4);
}

/* While its last record is in flight a segment may be left, but the summary is not yet complete. */
TEST(summary_waits_for_the_last_record)
{
	struct ressd_io io, next;
	u32 i;

	box_format();
	for (i = 0; i < 14; i++)
		CHECK_EQ(box_write(i, i), 0);
	CHECK(ressd_log_next(&box.log, &io), "no record");
	CHECK_EQ(box_write(100, 1), 0);
	CHECK_EQ(box.log.head_seq, 2);
	ressd_log_write_soon(&box.log);
	CHECK(!ressd_log_next(&box.log, &next), "two at once");
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, 0);
	CHECK(box_io(&io) && !io.record, "no summary before the next segment's first record");
	CHECK(box_io(&io) && io.record && io.record->segment_seq == 2, "no record behind it");
	CHECK(summary_at(1), "not valid");
	CHECK_EQ(le32_to_cpu(summary_at(1)->maps[14].block), 13);
}

/* A sync whose record has no data may be what makes the head leave a full segment. */
TEST(summary_comes_before_a_bare_record)
{
	struct ressd_io io;
	u32 i;

	box_format();
	for (i = 0; i < 14; i++)
		CHECK_EQ(box_write(i, i), 0);
	box_sync();
	ressd_log_kill(&box.log, 3, 1);
	ressd_log_sync(&box.log);
	CHECK(box_io(&io) && !io.record && io.block == 31, "no summary first");
	CHECK(box_io(&io) && io.record && io.record->nr_unmaps == 1 && io.block == 32, "no UNMAP");
	CHECK_EQ(ressd_log_synced(&box.log), box.log.sync_wanted);
}

/*
 * A segment whose UNMAPs do not fit gets no summary; but then it is left after a few records, so
 * that recovery never has many to read.
 */
TEST(unsummarised_segment_is_left_soon)
{
	const struct ressd_geom *geom = &box.log.geom;
	u32 i;

	box_format();
	write_and_kick(500, 1);
	/* As if so many had been written before. */
	box.log.summary->nr_unmaps = cpu_to_le32(ressd_summary_capacity(geom) + 1);
	for (i = 0; box.log.head_seq == 1; i++) {
		CHECK(i < 10, "%u more records", i);
		ressd_log_kill(&box.log, 500, 1);
		box_sync();
		CHECK_EQ(box_write(500, i), 0);
	}
	CHECK_EQ(i, 7);		/* the first record, and one each time */
	box_sync();
	CHECK(!summary_at(1), "a summary without all UNMAPs");
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(500), i - 1);
}

/*
 * As before, but its last record ends where the segment does, and the next one is begun before
 * that is written.
 */
TEST(unsummarised_segment_that_is_left_by_itself)
{
	struct ressd_io io;
	u32 i;

	box_format();
	for (i = 0; i < 6; i++)
		write_and_kick(500 + i, i);
	ressd_log_kill(&box.log, 500, 1);
	box_sync();
	box.log.summary->nr_unmaps =
		cpu_to_le32(ressd_summary_capacity(&box.log.geom) + 1);
	CHECK_EQ(box_write(600, 1), 0);
	ressd_log_write_soon(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.record && io.record->nr_maps == 1, "no record");
	ressd_log_encode(&box.log, &io);
	CHECK_EQ(box_write(601, 1), 0);
	CHECK_EQ(box.log.head_seq, 2);
	ressd_log_done(&box.log, &io, 0);
	CHECK(!ressd_log_is_rotating(&box.log), "the next one is left as well");
}

/* Segments that covers need are not taken by a record without data. */
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

TEST(bare_record_leaves_the_reserve_alone)
{
	struct ressd_io io;

	box_format();
	write_and_kick(500, 1);
	box_sync();
	ressd_log_kill(&box.log, 500, 1);
	ressd_log_sync(&box.log);
	box.log.cover_reserve = ressd_log_free_segments(&box.log) + 1;
	CHECK(!ressd_log_next(&box.log, &io), "the record takes what the reserve lacks");
	box.log.cover_reserve--;
	CHECK(ressd_log_next(&box.log, &io) && io.record, "no record");
}

/*
 * All of the first segment is home, and the first record of the second one claims that as the tail;
 * it is written, and not yet durable.
 */
static void claim_second_segment(void)
{
	struct ressd_io io;

	box_format();
	box_write(10, 1);
	box_write(11, 1);
	box_sync();
	ressd_log_moved(&box.log, box_block(10), 10);
	ressd_log_moved(&box.log, box_block(11), 11);
	ressd_log_rotate(&box.log);
	box_write(20, 2);
	box.log.record_unmaps = 1;	/* so a sync takes two records, and only the last has FUA */
	ressd_log_kill(&box.log, 10, 11);
	ressd_log_reclaim(&box.log);
	ressd_log_sync(&box.log);
	do
		CHECK(box_io(&io), "the tail is not claimed");
	while (box.log.written_tail != 2);
	CHECK_EQ(box.log.head_seq, 2);
	CHECK(box.log.durable_seq < box.log.written_seq, "it is durable");
}

/*
 * The first record of the tail was lost, and the summary that repeated its claim was not: recovery
 * began with a record of an earlier activation that stood there, and brought old contents back.
 */
TEST(summary_claims_no_tail_that_may_be_lost)
{
	struct ressd_io io;

	claim_second_segment();
	ressd_log_rotate(&box.log);
	CHECK(box_io(&io) && !io.record, "no summary follows");
	CHECK(io.preflush, "the claim is repeated without a flush");
}

/* Full records are not set aside within a sync, so what is known to be durable is set back here. */
TEST(full_record_claims_no_tail_that_may_be_lost)
{
	struct ressd_position first;
	struct ressd_io io;
	u32 lbn = 30;

	claim_second_segment();
	first = box.log.unproven;
	box_run();
	box.log.unproven = first;
	box.log.durable_seq = first.seq - 1;
	while (!box.log.nr_full)
		CHECK_EQ(box_write(lbn++, 3), 0);
	CHECK(box_io(&io) && io.record && !io.record->nr_unmaps, "no full record follows");
	CHECK(io.preflush, "the claim is repeated without a flush");
}
