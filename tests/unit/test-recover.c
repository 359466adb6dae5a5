// SPDX-License-Identifier: GPL-2.0-only
/* ressd-recover: what is taken, what is dropped, what is refused. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "logbox.h"
#include "ressd-record.h"
#include "ressd-summary.h"

TEST_SUITE("recover");

/* Three synced records: log blocks 16 (lbn 10 11), 19 (lbn 20), 21 (lbn 10 30). */
static void three_records(void)
{
	box_format();
	box_write(10, 101);
	box_write(11, 111);
	box_sync();
	box_write(20, 201);
	box_sync();
	box_write(10, 102);
	box_write(30, 301);
	box_sync();
	CHECK_EQ(box.writes, 3);
}

TEST(blank_area_is_an_empty_log)
{
	box_format();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.log.map.nr_mapped, 0);
	CHECK_EQ(box.recovery.records, 0);
	CHECK_EQ(box_write(1, 1), 0);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 1);
}

TEST(newest_contents_win)
{
	three_records();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 3);
	CHECK_EQ(box_read(10), 102);
	CHECK_EQ(box_read(11), 111);
	CHECK_EQ(box_read(20), 201);
	CHECK_EQ(box_read(30), 301);
	CHECK_EQ(box.log.map.nr_dirty, 4);
}

TEST(recovery_is_idempotent_and_writes_nothing)
{
	static u8 before[sizeof(box.disk)];

	three_records();
	memcpy(before, box.disk, sizeof(before));
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_recover(), 0);
	CHECK(!memcmp(before, box.disk, sizeof(before)), "the disk has changed");
	CHECK_EQ(box.log.map.nr_dirty, 4);
}

/* Its data is torn and nothing says that it was durable: the last record is dropped. */
TEST(torn_last_record_is_dropped)
{
	three_records();
	disk_block(23)[4095] ^= 1;
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 2);
	CHECK_EQ(box.recovery.dropped, 1);
	CHECK_EQ(box_read(10), 101);
	CHECK_EQ(box_read(30), 0);
	/* The next one stands in its place. */
	box_sync();
	CHECK_EQ(le64_to_cpu(header_at(21)->seq), 3);
	CHECK_EQ(le16_to_cpu(header_at(21)->nr_maps), 0);
	CHECK_EQ(le32_to_cpu(header_at(21)->flags), RESSD_RECORD_FIRST);
}

/* Nothing was flushed: a hole in the newest segment is what a power cut leaves. */
TEST(records_behind_a_torn_one_are_dropped)
{
	u32 i;

	box_format();
	box_write(10, 101);
	box_sync();
	for (i = 0; i < 3; i++) {
		box_write(20 + i, 200 + i);
		ressd_log_write_soon(&box.log);
		box_run();
	}
	CHECK_EQ(box.log.durable_seq, 1);
	memset(disk_block(18), 0, RESSD_BLOCK_SIZE);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 1);
	CHECK_EQ(box_read(10), 101);
	CHECK_EQ(box_read(21), 0);
}

/* Formerly taken for the end of the log: a later record shows that the missing one was durable. */
TEST(damage_in_the_newest_segment_is_refused)
{
	three_records();
	memset(disk_block(19), 0, RESSD_BLOCK_SIZE);
	box_refused("records are missing from number 2");
	three_records();
	header_at(19)->uuid[0] ^= 1;	/* as left by another format */
	ressd_record_seal(header_at(19));
	box_refused("records are missing from number 2");
	three_records();
	memset(disk_block(16), 0, RESSD_BLOCK_SIZE);
	box_refused("records are missing from number 1");
}

/* Records of one block each. */
static void write_and_sync(u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		box_write(i, i + 1);
		box_sync();
	}
}

/* Data of a record whose header survives, or not: the last record may have been torn. */
TEST(last_record_may_be_gone)
{
	three_records();
	memset(disk_block(21), 0, RESSD_BLOCK_SIZE);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 2);
}

/* The newest segment has lost its first header; a later record in it shows that. */
TEST(first_header_of_the_newest_segment_is_missed)
{
	box_format();
	box_write(1, 1);
	box_sync();
	ressd_log_rotate(&box.log);
	write_and_sync(3);
	memset(disk_block(32), 0, RESSD_BLOCK_SIZE);
	box_refused("records are missing from number 2");
}

/*
 * Where the chain ended may be the rest of a torn record that continues it: so the first record of
 * an activation stands there, even if the next segment is asked for before it is written.
 */
TEST(first_record_stands_where_the_chain_ended)
{
	struct ressd_io io;

	three_records();
	CHECK_EQ(box_recover(), 0);
	ressd_log_rotate(&box.log);
	ressd_log_sync(&box.log);
	CHECK(box_io(&io), "no opening record");
	CHECK_EQ(io.block, 24);
	CHECK_EQ(le64_to_cpu(header_at(24)->segment_seq), 1);
}

/*
 * The begin of a segment that was torn, and with it the tail that it announced, is made whole by
 * sectors written over it.  Meanwhile recovery has done without it, and so has all that followed:
 * replays/torn-tail-made-whole.script shows how it comes about.
 */
static void revive_tail(u32 first)
{
	const struct ressd_geom *geom = &box.log.geom;
	struct ressd_record_header torn;
	u32 end, next;

	box_format();
	while (box.log.head_seq < first) {
		box_write(1, 1);
		box_sync();
		ressd_log_moved(&box.log, box_block(1), 1);
		ressd_log_rotate(&box.log);
		ressd_log_reclaim(&box.log);
		box_run();
	}
	box_write(10, 102);
	box_sync();
	end = box.log.records[box.log.open].block;
	ressd_log_rotate(&box.log);
	box_write(40, 401);
	box_sync();
	next = ressd_geom_slot_start(geom, ressd_geom_slot_of_seq(geom, first + 1));
	torn = *header_at(next);
	torn.tail_seq = cpu_to_le64(first + 1);
	ressd_record_seal(&torn);
	memset(disk_block(next), 0, RESSD_BLOCK_SIZE);
	CHECK(!box_recover(), "%s", box.error);
	box_sync();
	CHECK_EQ(le32_to_cpu(header_at(end)->epoch), 2);
	*header_at(next) = torn;
	CHECK(!box_recover(), "%s", box.error);
	CHECK_EQ(box_read(10), 102);
	/* Before there is an opening record nobody has done without it. */
	memset(disk_block(end), 0, RESSD_BLOCK_SIZE);
	CHECK(!box_recover(), "%s", box.error);
	CHECK_EQ(box_read(10), 0);
	CHECK_EQ(box_read(40), 401);
}

/* Also where that tail is met before the segment in which the next epoch began. */
TEST(tail_of_an_earlier_activation_does_not_count)
{
	revive_tail(1);
	revive_tail(BOX_SEGMENTS - 1);
}

/* Somebody has stored a copy of the log in the log: its records stand in other blocks. */
TEST(copy_of_a_header_is_no_record)
{
	three_records();
	box_write(40, 401);
	box_sync();
	/* It claims that record 3 is durable. */
	memcpy(disk_block(28), disk_block(24), RESSD_BLOCK_SIZE);
	memset(disk_block(21), 0, RESSD_BLOCK_SIZE);
	memset(disk_block(24), 0, RESSD_BLOCK_SIZE);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 2);
}

/* A missing record that a later one calls durable is damage, not a power cut. */
TEST(refuses_a_gap_that_the_next_segment_reveals)
{
	box_format();
	write_and_sync(3);
	ressd_log_rotate(&box.log);
	box_write(3, 4);
	box_sync();
	box_write(4, 5);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.log.map.nr_dirty, 5);
	memset(disk_block(20), 0, RESSD_BLOCK_SIZE);	/* the third record, in slot 1 */
	CHECK_EQ(box_recover(), 0);	/* the summary says the same */
	CHECK_EQ(box.log.map.nr_dirty, 5);
	memset(disk_block(31), 0, RESSD_BLOCK_SIZE);
	box_refused("records are missing from number 3");
}

TEST(stale_record_of_another_chain_does_not_follow)
{
	static u8 stale[2 * RESSD_BLOCK_SIZE];

	three_records();
	memcpy(stale, disk_block(19), sizeof(stale));	/* record 2 with its data */
	box_format();
	box_write(99, 1);
	box_write(98, 1);
	box_sync();
	memcpy(disk_block(19), stale, sizeof(stale));
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 1);
	CHECK_EQ(box_read(20), 0);
	CHECK_EQ(box_read(99), 1);
}

TEST(unmaps_survive)
{
	three_records();
	ressd_log_kill(&box.log, 10, 1);
	ressd_log_kill(&box.log, 20, 1);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(10), 0);	/* not 101 either */
	CHECK_EQ(box_read(20), 0);
	CHECK_EQ(box_read(11), 111);
	CHECK_EQ(box_read(30), 301);
}

TEST(entries_outside_the_device_are_refused)
{
	three_records();
	header_at(19)->entries[0].block = cpu_to_le32(BOX_NORMAL_BLOCKS);
	ressd_record_seal(header_at(19));
	header_at(21)->prev_crc = header_at(19)->crc;
	ressd_record_seal(header_at(21));
	CHECK(box_recover() == -EUCLEAN, "accepted");
	CHECK_HAS(box.error, "points outside the device, record 2");
}

/* Segment @first is tail and head; block @lbn alone is in the log, in a record that says so. */
static void begin_at(u64 first, u32 lbn)
{
	box_format();
	while (box.log.head_seq < first) {
		box_write(1, 1);
		box_sync();
		ressd_log_moved(&box.log, box_block(1), 1);
		ressd_log_rotate(&box.log);
		if (box.log.head_seq + 1 == first)
			box_write(lbn, lbn);
		ressd_log_reclaim(&box.log);
		box_run();
	}
	CHECK_EQ(box.log.written_tail, first);
}

/*
 * Only the chain says what may be used again: what no record of it has announced is in use as far
 * back as the ring goes, whatever the number of the segment.
 */
TEST(what_the_chain_does_not_say_is_not_free)
{
	u64 first;

	for (first = 2; first <= BOX_SEGMENTS + 3; first++) {
		u32 in_use = min_t(u64, first, BOX_SEGMENTS);

		/* The record that announces the tail is torn: the chain has none. */
		begin_at(first, 7);
		disk_block(box_block(7))[0] ^= 1;
		CHECK(!box_recover(), "%s", box.error);
		CHECK_EQ(box.recovery.records, 0);
		CHECK_EQ(ressd_log_free_segments(&box.log), BOX_SEGMENTS - in_use);
		box_sync();
		CHECK_EQ(box_write(7, 8), 0);
		box_sync();
		CHECK(!box_recover(), "%s", box.error);
		CHECK_EQ(box_read(7), 8);

		/* Forged: the last record knows an older tail than the one before it. */
		begin_at(first, 7);
		box_write(8, 8);
		box_sync();
		header_at(box_block(8) - 1)->tail_seq = cpu_to_le64(1);
		ressd_record_seal(header_at(box_block(8) - 1));
		CHECK(!box_recover(), "%s", box.error);
		CHECK_EQ(box.recovery.records, 2);
		CHECK_EQ(ressd_log_free_segments(&box.log), BOX_SEGMENTS - in_use);
	}
}

/* Forged: the last record knows a newer tail, but is of an earlier epoch than another one. */
TEST(no_more_is_free_than_is_claimed)
{
	struct ressd_record_header *last;
	u64 lbn;

	box_format();
	for (lbn = 1; lbn <= 3; lbn++) {
		box_write(lbn, lbn);
		box_sync();
		ressd_log_rotate(&box.log);
	}
	CHECK(!box_recover(), "%s", box.error);
	box_sync();	/* the opening record: epoch 2, tail 1 */
	box_write(4, 4);
	box_sync();
	last = header_at(box_block(4) - 1);
	last->epoch = cpu_to_le32(1);
	last->tail_seq = last->segment_seq;
	ressd_record_seal(last);
	CHECK(!box_recover(), "%s", box.error);
	CHECK_EQ(box_read(1), 1);
	CHECK_EQ(ressd_log_free_segments(&box.log), BOX_SEGMENTS - box.log.head_seq);
}

/* All of the segment's slot, or its first header and its summary, are zero. */
static void lose(u64 segment_seq, bool all)
{
	const struct ressd_geom *geom = &box.log.geom;
	u32 slot = ressd_geom_slot_of_seq(geom, segment_seq);
	u32 block = ressd_geom_slot_start(geom, slot), end = ressd_geom_slot_end(geom, slot);

	for (; block < end; block++, all || (block = end))
		memset(disk_block(block), 0, RESSD_BLOCK_SIZE);
	memset(disk_block(end), 0, RESSD_BLOCK_SIZE);
}

/* The first record of the tail is lost: the others are of no use, and it was durable. */
TEST(lost_tail_is_refused)
{
	u32 slot;

	/* A later record of its segment. */
	begin_at(9, 7);
	box_write(8, 8);
	box_sync();
	ressd_log_rotate(&box.log);
	box_write(9, 9);
	box_sync();
	lose(9, false);
	box_refused("nothing is left of segment 9");
	/* The first record of the next segment. */
	lose(9, true);
	box_refused("nothing is left of segment 9");
	/* The next segment's summary alone: its records are lost as well. */
	ressd_log_rotate(&box.log);
	begin_at(9, 7);
	ressd_log_rotate(&box.log);
	box_write(9, 9);
	box_sync();
	ressd_log_rotate(&box.log);
	box_write(10, 10);
	box_sync();
	lose(9, true);
	lose(11, true);
	slot = ressd_geom_slot_of_seq(&box.log.geom, 10);
	memset(disk_block(ressd_geom_slot_start(&box.log.geom, slot)), 0, RESSD_BLOCK_SIZE);
	box_refused("nothing is left of segment 9");
}

/* Nothing was flushed: a cut may take the first record of the tail and leave the next segment's. */
TEST(tail_that_was_not_durable)
{
	u32 lbn = 0;

	box_format();
	while (box.log.head_seq == 1) {
		box_write(lbn++, 100);
		ressd_log_write_soon(&box.log);
		box_run();
	}
	box_write(lbn, 100);
	ressd_log_write_soon(&box.log);
	box_run();
	CHECK_EQ(le64_to_cpu(header_at(2 * BOX_SEGMENT_BLOCKS)->tail_seq), 1);
	CHECK_EQ(box.log.durable_seq, 0);
	memset(disk_block(BOX_SEGMENT_BLOCKS), 0, RESSD_BLOCK_SIZE);
	CHECK(!box_recover(), "%s", box.error);
	CHECK_EQ(box.log.map.nr_dirty, 0);
	box_write(20, 201);
	box_sync();
	CHECK(!box_recover(), "%s", box.error);
	CHECK_EQ(box_read(10), 0);
	CHECK_EQ(box_read(20), 201);
}

/*
 * A log that is full to the end of its last segment, by a forged tail: no record can be written.
 * Formerly it was accepted, and its activation waited for ever for the opening record, if the
 * oldest segment was dead, or else the first fsync of a user.
 */
TEST(forged_tail_in_a_full_segment)
{
	u32 end, lbn = 7;

	begin_at(BOX_SEGMENTS + 3, lbn);
	box_write(100, 100);	/* one more, so that the last one fits exactly */
	end = ressd_geom_slot_end(&box.log.geom, 3);
	while (box.log.records[box.log.open].block < end) {
		lbn++;
		box_write(lbn, lbn);
		box_sync();
	}
	CHECK_EQ(box.log.records[box.log.open].block, end);
	header_at(box_block(lbn) - 1)->tail_seq = cpu_to_le64(1);
	ressd_record_seal(header_at(box_block(lbn) - 1));
	box_refused("full to its last block");
}

/* The first record of an empty log, as if it were number @seq in segment @segment_seq. */
static void forge(u64 seq, u64 segment_seq)
{
	struct ressd_record_header *header;
	u32 from, to;

	box_format();
	box_write(10, 101);
	box_sync();
	from = box_block(10) - 1;
	to = ressd_geom_slot_start(&box.log.geom,
				   ressd_geom_slot_of_seq(&box.log.geom, segment_seq));
	if (to != from) {
		memcpy(disk_block(to), disk_block(from), 2 * RESSD_BLOCK_SIZE);
		memset(disk_block(from), 0, 2 * RESSD_BLOCK_SIZE);
	}
	header = header_at(to);
	header->seq = cpu_to_le64(seq);
	header->segment_seq = cpu_to_le64(segment_seq);
	header->tail_seq = cpu_to_le64(segment_seq);
	header->block = cpu_to_le32(to);
	ressd_record_seal(header);
}

/*
 * Recovery accepted any number, but the records of that activation then had numbers that wrapped
 * or that the next one refused: what was acknowledged in between was lost.
 */
TEST(numbers_that_leave_no_room)
{
	static const u64 numbers[] = {
		~0ULL, ~0ULL - 1, ~0ULL - 100, 1ULL << 63, ~0ULL >> 1, RESSD_MAX_SEQ + 1,
		RESSD_MAX_SEQ, RESSD_MAX_SEQ - 1, RESSD_MAX_SEQ - 100,
		RESSD_MAX_SEQ - RESSD_SEQ_ROOM - 100, 1ULL << 61,
	};
	u32 i, as_segment;

	for (as_segment = 0; as_segment < 2; as_segment++) {
		for (i = 0; i < ARRAY_SIZE(numbers); i++) {
			forge(as_segment ? 1 : numbers[i], as_segment ? numbers[i] : 1);
			if (box_recover())
				continue;
			CHECK_EQ(box_write(20, 201), 0);
			box_sync();
			CHECK(!box_recover(), "%llx, %u: the next activation is refused: %s",
			      numbers[i], as_segment, box.error);
			CHECK_EQ(box_read(20), 201);
		}
	}
	forge(RESSD_MAX_SEQ - 100, 1);
	box_refused("no log comes to number");
	forge(1, RESSD_MAX_SEQ - 100);
	box_refused("no log comes to number");
}

TEST(record_without_a_tail)
{
	struct ressd_record_header *header;

	forge(1, 1);
	header = header_at(BOX_SEGMENT_BLOCKS);
	header->tail_seq = 0;
	ressd_record_seal(header);
	box_refused("no tail is known");
}

/* Whatever the reserved area holds, recovery ends, stays in its memory and says why. */
TEST(random_damage_never_hurts)
{
	static u8 image[sizeof(box.disk)];
	u32 round, i, lbn = 0;

	box_format();
	for (i = 0; i < 70; i++) {
		if (box_write(lbn++ * 7 % BOX_NORMAL_BLOCKS, i + 1))
			break;
		if (i % 3 == 0)
			box_sync();
		box_run();
	}
	memcpy(image, box.disk, sizeof(image));
	for (round = 0; round < 2000; round++) {
		memcpy(box.disk, image, sizeof(image));
		for (i = 0; i <= round % 4; i++) {
			struct ressd_record_header *header;
			u32 block = test_below(BOX_BLOCKS);

			((u8 *)disk_block(block))[test_below(round % 2 ? 256 : 4096)] ^=
				1 << test_below(8);
			/* Half of the time the crc is right again: a hostile disk. */
			header = header_at(block);
			if (test_below(2) && header->magic == cpu_to_le64(RESSD_RECORD_MAGIC))
				ressd_record_seal(header);
		}
		if (box_recover())
			CHECK(box.error[0], "refused without a sentence");
	}
}
