// SPDX-License-Identifier: GPL-2.0-only
/* ressd-repair: how the log returns to service after a failed I/O. */
#include <linux/errno.h>
#include <linux/string.h>
#include "repairbox.h"

TEST_SUITE("repair");

TEST(failed_record_is_written_again_at_its_place)
{
	u64 ticket;
	u32 place;

	box_format();
	write_record(1, 2, 10);
	box_write(5, 50);
	place = box_block(5);
	ticket = ressd_log_sync(&box.log);
	fail_io(RESSD_IO_WRITE, true);
	CHECK_EQ(box.log.mode, RESSD_MODE_OFF);
	CHECK_EQ(box_write(6, 1), -EIO);
	CHECK(!box_run(), "goes on");
	CHECK_EQ(box_read(5), 50);

	repair_well();
	CHECK(ressd_log_synced(&box.log) >= ticket, "the sync is forgotten");
	CHECK_EQ(box_block(5), place);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(5), 50);
	CHECK_EQ(box_read(2), 10);
}

/*
 * Behind it records are full that were never handed out: the repair leaves them to the log, and the
 * failed one where it is, with @nr blocks of data or none.
 */
static void fails_before_full_ones(u32 nr)
{
	struct ressd_io io;
	u32 lbn = 0, i;

	box_format_large();
	CHECK_EQ(box_write(lbn++, 1), 0);
	box_sync();
	for (; lbn <= nr; lbn++)
		CHECK_EQ(box_write(lbn, lbn + 1), 0);
	ressd_log_kill(&box.log, 0, 1);
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "no write");
	CHECK_EQ(io.record->nr_maps, nr);
	while (!box_write(lbn, lbn + 1))
		lbn++;
	CHECK_EQ(box.log.nr_full, RESSD_RECORDS - 2);
	ressd_log_encode(&box.log, &io);
	io.only_write = false;
	ressd_log_done(&box.log, &io, -EIO);
	box_tidy();
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	CHECK_EQ(box_read(0), 1);
	repair_well();
	CHECK_EQ(box.log.nr_full, 0);
	CHECK_EQ(box_recover(), 0);
	for (i = 1; i < lbn; i++)
		CHECK_EQ(box_read(i), i + 1);
}

TEST(failed_record_with_full_ones_behind_it)
{
	fails_before_full_ones(0);
	fails_before_full_ones(1);
}

TEST(switched_off_log_may_owe_nothing)
{
	box_format();
	write_record(1, 14, 10);	/* a whole segment */
	write_record(20, 1, 10);
	move_all(1, 14);
	CHECK(!ressd_log_owes_nothing(&box.log), "in service");
	box_sync();
	CHECK(ressd_log_can_reclaim(&box.log), "nothing to announce");
	ressd_log_reclaim(&box.log);
	fail_io(RESSD_IO_WRITE, true);
	CHECK_EQ(box.log.mode, RESSD_MODE_OFF);
	CHECK(ressd_log_owes_nothing(&box.log), "a record that only announced a tail");
	ressd_log_kill(&box.log, 20, 1);
	CHECK(!ressd_log_owes_nothing(&box.log), "an UNMAP cannot be written");
	CHECK(!ressd_log_is_at_rest(&box.log), "at rest, and off");
	CHECK(!ressd_log_can_prime(&box.log), "is primed, and off");
	ressd_log_give_up(&box.log);
	CHECK_EQ(box.log.mode, RESSD_MODE_OFF);
	repair_well();
	write_record(21, 1, 10);
	box_sync();
	ressd_log_kill(&box.log, 21, 1);
	ressd_log_sync(&box.log);
	fail_io(RESSD_IO_WRITE, true);
	CHECK(!ressd_log_owes_nothing(&box.log), "a record that only has an UNMAP");
	repair_well();
	CHECK_EQ(box.log.reuse_seq, 2);
}

/* Full to the last block, which is kept for the record that announces what move_all() frees. */
static void fill_log(void)
{
	u32 lbn = 0;

	box_format();
	box_fill(&lbn);
	box_sync();
	while (ressd_log_free_blocks(&box.log) > 1) {
		ressd_log_kill(&box.log, --lbn, 1);
		box_sync();
	}
	CHECK_EQ(ressd_log_free_segments(&box.log), 0);
}

/* The record that announces a tail fails by a flush, after @reached of its blocks were written. */
static void fail_announcement(u32 reached)
{
	struct ressd_io io;
	u32 tail = box.log.reuse_seq;

	ressd_log_reclaim(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.record && io.record->tail_seq > tail,
	      "no announcement");
	ressd_log_encode(&box.log, &io);
	memcpy(box.disk + (size_t)io.block * RESSD_BLOCK_SIZE, io.data,
	       (size_t)reached * RESSD_BLOCK_SIZE);
	ressd_log_done(&box.log, &io, -EIO);
	box_tidy();
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
}

/* Found by tests/model: a repair took the last block for nothing, and nothing could follow. */
TEST(repair_leaves_the_last_block_of_a_full_log)
{
	u32 reached, round;

	for (reached = 0; reached <= 1; reached++) {
		fill_log();
		for (round = 0; round < 3; round++) {
			move_all(0, 14);
			fail_announcement(reached);
			CHECK_EQ(repair(), 0);
			CHECK_EQ(ressd_log_free_blocks(&box.log), 1);
			CHECK_EQ(box_read(3), 4);
		}
		/* Nothing of it is on the device. */
		CHECK_EQ(box_recover(), 0);
		CHECK_EQ(box_read(3), 4);
		CHECK_EQ(ressd_log_free_blocks(&box.log), 1);
		box_sync();
		move_all(0, 14);
		ressd_log_reclaim(&box.log);
		box_run();
		CHECK_EQ(ressd_log_free_segments(&box.log), 1);
		CHECK_EQ(box_read(20), 21);
	}
}

/* Data that was accepted behind it keeps its place, and has a segment in reserve. */
TEST(record_with_data_behind_it_is_not_taken_back)
{
	struct ressd_io io;
	u64 seq;

	box_format();
	write_record(1, 2, 10);
	ressd_log_kill(&box.log, 1, 1);
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.record && !io.record->nr_maps, "no bare record");
	seq = io.record->seq;
	ressd_log_encode(&box.log, &io);
	CHECK_EQ(box_write(7, 70), 0);
	ressd_log_done(&box.log, &io, -EIO);
	box_tidy();
	repair_well();
	CHECK_EQ(box.log.written_seq, seq + 1);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 10);
	CHECK_EQ(box_read(7), 70);
}

TEST(no_write_after_a_flush_failed_beside_the_preflush)
{
	struct ressd_io io;

	box_format();
	write_record(1, 2, 10);
	ressd_log_kill(&box.log, 1, 1);
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.preflush, "no record with PREFLUSH");
	CHECK(ressd_log_may_write(&box.log), "no flush has failed");
	ressd_log_flush_failed(&box.log);
	box_tidy();
	CHECK(!ressd_log_may_write(&box.log), "one has");
	ressd_log_done(&box.log, &io, -EIO);
	box_tidy();
	CHECK_EQ(box_read(1), 10);
	repair_well();
}

/* The segment has no summary, whose PREFLUSH would prove all records before it. */
static void leave_summary_out(void)
{
	box.log.summary_written = box.log.head_seq;
}

/* Records over several segments, one of which ends early. */
static void write_much(void)
{
	write_record(1, 14, 10);
	leave_summary_out();
	write_record(20, 5, 20);
	write_record(30, 5, 30);
	ressd_log_rotate(&box.log);
	leave_summary_out();
	write_record(40, 3, 40);
	write_record(20, 2, 50);	/* supersedes */
}

TEST(everything_not_known_durable_is_read_back)
{
	struct ressd_io io;
	u32 blocks = 0;

	box_format();
	write_much();
	fail_flush();
	ressd_repair_start(&box.log, buffer, BUFFER_BLOCKS);
	while (!ressd_repair_is_over(&box.log)) {
		CHECK(box_io(&io), "no I/O");
		if (io.kind != RESSD_IO_READ)
			continue;
		CHECK(io.nr_blocks && io.nr_blocks <= BUFFER_BLOCKS, "%u blocks", io.nr_blocks);
		blocks += io.nr_blocks;
	}
	CHECK_EQ(ressd_repair_result(&box.log), 0);
	/* 5 headers, 29 blocks of data, one look at where the segment ended early. */
	CHECK_EQ(blocks, 35);
	box_sync();
	fail_flush();
	CHECK_EQ(repair(), 0);
}

/* The first segment is full, and so is the second, whose summary is to be written with PREFLUSH. */
static void fill_two_segments(void)
{
	write_record(1, 14, 10);
	write_record(20, 14, 20);
	CHECK_EQ(box.log.durable_seq, 0);
}

/* What a summary's flush has proven need not be read again. */
TEST(summary_proves_the_records_before_it)
{
	box_format();
	fill_two_segments();
	write_record(40, 1, 40);
	CHECK_EQ(box.log.durable_seq, 2);
	CHECK_EQ(box.log.unproven.seq, 3);
	fail_flush();
	repair_well();
}

/* A summary is redundant: without it the log goes on, but not after a failed flush. */
TEST(failed_summary)
{
	struct ressd_io io;

	box_format();
	fill_two_segments();
	CHECK_EQ(box_write(40, 40), 0);
	fail_io(RESSD_IO_WRITE, true);
	CHECK_EQ(box.log.mode, RESSD_MODE_RW);
	CHECK_EQ(box.log.durable_seq, 2);	/* its PREFLUSH has succeeded */
	ressd_log_write_soon(&box.log);
	CHECK(box_io(&io) && io.record && !box_io(&io), "it is tried again");
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(40), 40);

	box_format();
	fill_two_segments();
	CHECK_EQ(box_write(40, 40), 0);
	fail_io(RESSD_IO_WRITE, false);
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	CHECK_EQ(box.log.durable_seq, 0);
	CHECK_EQ(repair(), 0);
	CHECK_EQ(box.log.summary_written, 2);
	box_sync();
	CHECK_EQ(box.writes, 5);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(40), 40);
}

/* A flush that the log did not ask for fails while the summary is in flight. */
TEST(flush_failure_during_a_summary)
{
	struct ressd_io io;

	box_format();
	write_record(1, 14, 10);
	CHECK_EQ(box_write(20, 20), 0);
	CHECK(ressd_log_next(&box.log, &io) && !io.record, "no summary");
	ressd_log_encode(&box.log, &io);
	ressd_log_flush_failed(&box.log);
	box_tidy();
	ressd_log_done(&box.log, &io, 0);
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	CHECK_EQ(box.log.durable_seq, 0);
	repair_well();
}

/* Whatever single block of the records is damaged, and in whatever way, the repair finds it. */
TEST(damage_is_found)
{
	u32 block, found = 0;

	for (block = BOX_SEGMENT_BLOCKS; block < BOX_BLOCKS - 1; block++) {
		box_format();
		write_much();
		fail_flush();
		box.disk[(size_t)block * RESSD_BLOCK_SIZE + 1000] ^= 4;
		if (!repair())
			continue;
		CHECK_EQ(ressd_repair_result(&box.log), (u64)-EUCLEAN);
		CHECK_EQ(box.log.mode, RESSD_MODE_FAIL);
		CHECK_EQ(box_write(90, 1), -EIO);
		CHECK(!box_run(), "goes on");
		found++;
		/* It was an error of reading: the next repair finds all well. */
		box.disk[(size_t)block * RESSD_BLOCK_SIZE + 1000] ^= 4;
		repair_well();
	}
	CHECK_EQ(found, 5 + 29);
}

/* In the place of a record there is another one, with a good checksum. */
TEST(another_record_in_its_place_is_found)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		struct ressd_record_header *header;

		box_format();
		write_much();
		fail_flush();
		header = header_at(box_block(i < 3 ? 30 : 20) - 1);
		if (i == 0)
			header->segment_seq = cpu_to_le64(le64_to_cpu(header->segment_seq) +
							  BOX_SEGMENTS);
		else if (i == 1)
			header->prev_crc ^= 1;
		else if (i == 2)
			header->seq = cpu_to_le64(le64_to_cpu(header->seq) + 1);
		else	/* the last one: no other follows that could tell */
			header->activation ^= 1;
		ressd_record_seal(header);
		CHECK(repair() == -EUCLEAN, "case %u is taken for the record", i);
		CHECK_EQ(box.log.mode, RESSD_MODE_FAIL);
	}
}

/* A repair of two records, up to the I/O behind @steps of it; false if it is over before. */
static bool repair_to(u32 steps, struct ressd_io *io)
{
	u32 i;

	box_format();
	write_record(1, 3, 10);
	box_write(5, 50);
	ressd_log_sync(&box.log);
	fail_io(RESSD_IO_WRITE, true);
	ressd_repair_start(&box.log, buffer, BUFFER_BLOCKS);
	for (i = 0; i < steps; i++)
		CHECK(box_io(io), "step %u is missing", i);
	if (ressd_repair_is_over(&box.log))
		return false;
	CHECK(ressd_log_next(&box.log, io), "no I/O");
	return true;
}

/* A flush that the log has not asked for fails beside an I/O of a repair: nothing of it counts. */
TEST(flush_failure_beside_a_repair)
{
	u32 step;

	for (step = 0;; step++) {
		struct ressd_io io;

		if (!repair_to(step, &io))
			break;
		if (io.kind == RESSD_IO_WRITE)
			ressd_log_encode(&box.log, &io);
		ressd_log_flush_failed(&box.log);
		ressd_log_flush_failed(&box.log);
		ressd_log_done(&box.log, &io, 0);
		box_tidy();
		CHECK(ressd_repair_is_over(&box.log), "goes on after step %u", step);
		CHECK_EQ(ressd_repair_result(&box.log), (u64)-EIO);
		CHECK_EQ(box.log.mode, RESSD_MODE_RO);
		repair_well();
		CHECK_EQ(box_recover(), 0);
		CHECK_EQ(box_read(5), 50);
	}
	CHECK_EQ(step, 6);
}

TEST(lost_blocks_are_named)
{
	u32 first;

	box_format();
	write_much();
	fail_flush();
	/* The record of 30 .. 34 has vanished. */
	first = box_block(30) - 1;
	memset(box.disk + (size_t)first * RESSD_BLOCK_SIZE, 0, RESSD_BLOCK_SIZE);
	CHECK_EQ(repair(), (u64)-EUCLEAN);
	CHECK(!ressd_repair_is_lost(&box.log, box_block(1)), "before it");
	CHECK(!ressd_repair_is_lost(&box.log, box_block(24)), "just before it");
	CHECK(ressd_repair_is_lost(&box.log, box_block(30)), "in it");
	CHECK(ressd_repair_is_lost(&box.log, box_block(34)), "in it");
	CHECK(ressd_repair_is_lost(&box.log, box_block(40)), "after it");
	CHECK(ressd_repair_is_lost(&box.log, box_block(20)), "after it");
	/* And just these are what a recovery from the device forgets. */
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(24), 20);
	CHECK_EQ(box_read(20), 20);
	CHECK_EQ(box_read(30), 0);
	CHECK_EQ(box_read(40), 0);
}

/* An error at each step of the repair: it ends, says so, and can be tried again. */
TEST(errors_of_the_repair)
{
	u32 step;

	for (step = 0; step < 7; step++) {
		struct ressd_io io = { .kind = RESSD_IO_READ };

		if (!repair_to(step, &io))
			break;
		io.only_write = io.kind == RESSD_IO_WRITE || io.kind == RESSD_IO_READ;
		ressd_log_done(&box.log, &io, -EIO);
		box_tidy();
		CHECK(ressd_repair_is_over(&box.log), "goes on");
		CHECK_EQ(ressd_repair_result(&box.log), (u64)-EIO);
		CHECK_EQ(box.log.mode,
			 io.kind == RESSD_IO_FLUSH ? RESSD_MODE_RO : RESSD_MODE_OFF);
		CHECK_EQ(box_read(5), 50);
		repair_well();
		CHECK_EQ(box_recover(), 0);
		CHECK_EQ(box_read(5), 50);
		CHECK_EQ(box_read(1), 10);
	}
	/* The write, the flush, and two reads for each of two records. */
	CHECK_EQ(step, 6);
}

TEST(a_repair_of_a_failed_repair_flush_distrusts)
{
	struct ressd_io io;

	box_format();
	write_record(1, 3, 10);
	move(1);
	box_write(5, 50);
	ressd_log_sync(&box.log);
	fail_io(RESSD_IO_WRITE, true);
	CHECK_EQ(box_read(1), 0);	/* only a write failed: the copy at home is good */
	ressd_repair_start(&box.log, buffer, BUFFER_BLOCKS);
	CHECK(box_io(&io) && io.kind == RESSD_IO_WRITE, "no write");
	fail_io(RESSD_IO_FLUSH, false);
	CHECK_EQ(box.log.mode, RESSD_MODE_RO);
	CHECK_EQ(box_read(1), 10);
	repair_well();
}

/* A flush of before the log went off fails when none of the repair's I/Os is in flight. */
TEST(flush_fails_between_two_ios_of_a_repair)
{
	u32 step, i;

	for (step = 0;; step++) {
		struct ressd_io io;

		box_format();
		write_record(1, 14, 10);	/* a whole segment */
		write_record(20, 1, 20);
		box_sync();
		move_all(1, 14);		/* home, in the device's cache only */
		box_write(30, 30);
		ressd_log_sync(&box.log);
		fail_io(RESSD_IO_WRITE, true);
		CHECK_EQ(box.log.mode, RESSD_MODE_OFF);
		ressd_repair_start(&box.log, buffer, BUFFER_BLOCKS);
		for (i = 0; i < step; i++)
			CHECK(box_io(&io), "step %u is missing", i);
		if (ressd_repair_is_over(&box.log))
			break;
		ressd_log_flush_failed(&box.log);
		box_run();		/* as the log's worker: tidies when there is no I/O */
		CHECK_EQ(box.log.mode, RESSD_MODE_RO);
		CHECK(ressd_repair_is_over(&box.log), "goes on");
		CHECK_EQ(box_read(1), 10);
		repair_well();
		CHECK_EQ(box_recover(), 0);
		CHECK_EQ(box_read(1), 10);
	}
}
