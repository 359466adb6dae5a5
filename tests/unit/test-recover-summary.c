// SPDX-License-Identifier: GPL-2.0-only
/* ressd-recover: what summaries of segments say, and when they are believed. */
#include <linux/errno.h>
#include <linux/string.h>
#include "logbox.h"
#include "ressd-record.h"
#include "ressd-summary.h"

TEST_SUITE("recover-summary");

static struct ressd_summary *summary_at(u32 slot)
{
	return (struct ressd_summary *)disk_block(ressd_geom_slot_end(&box.log.geom, slot));
}

/* Everything that recovery decides. */
struct outcome {
	struct { u32 lbn, crc; } nodes[BOX_BLOCKS];
	u32 live[BOX_SEGMENTS];
	u64 head_seq, tail_seq, reuse_seq, seq;
	u32 block, prev_crc, mapped;
};

static void outcome_of_recovery(struct outcome *outcome)
{
	const struct ressd_log *log = &box.log;
	u32 i;

	CHECK(!box_recover(), "%s", box.error);
	memset(outcome, 0, sizeof(*outcome));
	for (i = 0; i < BOX_BLOCKS; i++) {
		outcome->nodes[i].lbn = box.nodes[i].lbn;
		if (box.nodes[i].lbn != RESSD_NO_BLOCK)
			outcome->nodes[i].crc = box.nodes[i].crc;
	}
	for (i = 0; i < BOX_SEGMENTS; i++)
		outcome->live[i] = box.segments[i].live;
	outcome->head_seq = log->head_seq;
	outcome->tail_seq = log->tail_seq;
	outcome->reuse_seq = log->reuse_seq;
	outcome->seq = log->records[0].seq;
	outcome->block = log->records[0].block;
	outcome->prev_crc = log->prev_crc;
	outcome->mapped = log->map.nr_mapped;
}

static void move_everything(void)
{
	struct ressd_node *node = ressd_map_first_from(&box.log.map, 0);

	for (; node; node = ressd_map_next(node)) {
		u32 block = ressd_map_block(&box.log.map, node);

		if (!ressd_log_data(&box.log, block))
			ressd_log_moved(&box.log, block, node->lbn);
	}
	ressd_log_reclaim(&box.log);
	box_run();
}

/* A sync for which room may have to be made first. */
static void sync_somehow(void)
{
	u64 ticket = ressd_log_sync(&box.log);

	box_run();
	if (ressd_log_synced(&box.log) < ticket)
		move_everything();
	CHECK(ressd_log_synced(&box.log) >= ticket, "the sync does not end");
}

/* One step of a life in which everything happens that a log sees. */
static void live(u32 hot)
{
	u32 lbn = test_below(hot), choice = test_below(100);
	int ret;

	if (choice < 60) {
		ret = box_write(lbn, test_random() | 1);
		if (ret == -EAGAIN)
			box_run();
	} else if (choice < 70) {
		ressd_log_kill(&box.log, lbn, 1 + test_below(4));
	} else if (choice < 80) {
		sync_somehow();
	} else if (choice < 90) {
		struct ressd_node *node = ressd_map_first_from(&box.log.map, lbn);

		box_run();
		if (node && !ressd_log_data(&box.log, ressd_map_block(&box.log.map, node)))
			ressd_log_moved(&box.log, ressd_map_block(&box.log.map, node), node->lbn);
	} else if (choice < 94) {
		ressd_log_write_soon(&box.log);
	} else if (choice < 97) {
		ressd_log_rotate(&box.log);
	} else {
		ressd_log_reclaim(&box.log);
		box_run();
	}
}

/* The same is found with all summaries, with some of them, and with none. */
TEST(summaries_say_what_the_records_say)
{
	static struct outcome with, without;
	static u8 image[sizeof(box.disk)];
	u32 round, slot, i, used = 0, segments = 0;

	for (round = 0; round < 400; round++) {
		u32 hot = 5 + test_below(60);

		box_format();
		for (i = 20 + test_below(400); i; i--) {
			live(hot);
			if (test_below(150))
				continue;
			box_run();
			CHECK(!box_recover(), "round %u: %s", round, box.error);
			sync_somehow();
		}
		sync_somehow();
		memcpy(image, box.disk, sizeof(image));
		outcome_of_recovery(&with);
		used += box.recovery.summaries;
		segments += with.head_seq - with.tail_seq;
		for (slot = 0; slot < BOX_SEGMENTS; slot++) {
			if (round % 2 && test_below(2))
				continue;
			summary_at(slot)->crc ^= cpu_to_le32(1U << test_below(32));
		}
		outcome_of_recovery(&without);
		CHECK(round % 2 || !box.recovery.summaries, "a broken summary is used");
		CHECK(!memcmp(&with, &without, sizeof(with)), "round %u: it is not the same",
		      round);
		memcpy(box.disk, image, sizeof(image));
	}
	/* All but few of the segments that were left are recovered by their summary. */
	CHECK(used * 10 > segments * 9 && used > 300, "%u of %u segments", used, segments);
}

/* Two full segments, and one record in the third: log blocks 16, 32, 48. */
static void two_segments(void)
{
	u32 i;

	box_format();
	for (i = 0; i < 28; i++) {
		if (box_write(i, i + 1) == -EAGAIN) {
			box_run();
			CHECK_EQ(box_write(i, i + 1), 0);
		}
	}
	box_run();
	CHECK_EQ(box_write(28, 29), 0);
	box_sync();
	CHECK_EQ(box.log.head_seq, 3);
}

static void all_there(u32 nr, u32 summaries)
{
	u32 i;

	CHECK(!box_recover(), "%s", box.error);
	CHECK_EQ(box.recovery.summaries, summaries);
	for (i = 0; i < nr; i++)
		CHECK(box_read(i) == i + 1, "block %u", i);
	CHECK_EQ(box.log.map.nr_dirty, nr);
}

TEST(headers_are_not_needed)
{
	u32 slot;

	two_segments();
	all_there(29, 2);
	for (slot = 1; slot < 3; slot++)
		memset(disk_block(16 * slot), 0, RESSD_BLOCK_SIZE);
	all_there(29, 2);
}

TEST(torn_summary_is_not_used)
{
	two_segments();
	summary_at(1)->maps[3].block = cpu_to_le32(999);
	all_there(29, 1);
	two_segments();
	memset(summary_at(2), 0, RESSD_BLOCK_SIZE / 2);
	all_there(29, 1);
	box_sync();
	all_there(29, 1);
}

/* Goes on with one record a block until segment @seq is the head. */
static void write_until(u64 seq)
{
	u32 i;

	for (i = 0; box.log.head_seq < seq; i = (i + 1) % 29) {
		if (ressd_log_is_full(&box.log))
			move_everything();
		CHECK_EQ(box_write(i, i + 1), 0);
		box_sync();
	}
}

/* Overwrites the headers of slot @slot, only the first of them if there is to be but one. */
static void damage_headers(u32 slot, bool all)
{
	u32 block = ressd_geom_slot_start(&box.log.geom, slot);
	u32 end = ressd_geom_slot_end(&box.log.geom, slot);

	for (; block < end; block++)
		if (header_at(block)->magic == cpu_to_le64(RESSD_RECORD_MAGIC)) {
			memset(disk_block(block), 0xee, RESSD_BLOCK_SIZE);
			if (!all)
				return;
		}
}

/* Of the head segment @seq and of those before it that follow @last_intact little is left. */
static void damage_newest(u64 last_intact, u64 seq)
{
	u64 damaged;

	write_until(seq);
	CHECK(box.log.written_tail <= last_intact, "segment %llu is the tail",
	      (unsigned long long)box.log.written_tail);
	CHECK_EQ(box_write(1, 2), 0);
	box_sync();
	for (damaged = last_intact + 1; damaged <= seq; damaged++) {
		u32 slot = ressd_geom_slot_of_seq(&box.log.geom, damaged);

		damage_headers(slot, damaged < seq);
		memset(summary_at(slot), 0xee, RESSD_BLOCK_SIZE);
	}
}

/*
 * Formerly accepted without its newest records, as a search behind the end of the chain saw nothing
 * in the next segment and went no further.  fuzz/corpus/recover/found-accepted-then-refused
 */
TEST(log_damaged_in_several_places_is_refused)
{
	box_format();
	damage_newest(1, 3);
	box_refused("records are missing from number 8");
	box_format();
	damage_newest(1, 4);
	box_refused("records are missing from number 8");
	box_format();
	damage_newest(8, 9);
	box_refused("records are missing from number");
	box_format();
	write_until(6);
	move_everything();
	damage_newest(6, 8);
	box_refused("records are missing from number");
}

/*
 * A power cut has torn the first record of a segment that nothing made durable: what is left of
 * two earlier laps behind it does not count.
 */
TEST(stale_headers_behind_a_torn_one_do_not_refuse)
{
	u32 slot, dirty;

	box_format();
	write_until(14);
	dirty = box.log.map.nr_dirty;
	ressd_log_rotate(&box.log);
	CHECK_EQ(box_write(500, 1), 0);
	box_run();
	ressd_log_write_soon(&box.log);
	box_run();
	CHECK_EQ(box.log.head_seq, 15);
	slot = ressd_geom_slot_of_seq(&box.log.geom, 15);
	CHECK_EQ(le64_to_cpu(header_at(16 * slot + 2)->segment_seq), 9);
	disk_block(16 * slot)[511] ^= 1;
	CHECK(!box_recover(), "%s", box.error);
	CHECK_EQ(box_read(500), 0);
	CHECK(box.log.map.nr_dirty >= dirty, "%u blocks of %u", box.log.map.nr_dirty, dirty);
	CHECK_EQ(box.recovery.searched_seq, 15);
	box_sync();
	CHECK(!box_recover(), "%s", box.error);
}

/* One of an earlier life of the slot, as when the newer one was never written. */
TEST(stale_summary_is_not_used)
{
	static u8 stale[RESSD_BLOCK_SIZE];
	u64 used;

	box_format();
	write_until(3);
	memcpy(stale, summary_at(2), sizeof(stale));
	write_until(9);
	CHECK_EQ(le64_to_cpu(summary_at(2)->segment_seq), 8);
	CHECK(box.log.tail_seq <= 8, "nothing of it is alive");
	CHECK(!box_recover(), "%s", box.error);
	used = box.recovery.summaries;
	memcpy(summary_at(2), stale, sizeof(stale));
	CHECK(!box_recover(), "%s", box.error);
	CHECK_EQ(box.recovery.summaries, used - 1);
}

/*
 * The summary of the log's first segment is there, but in the place of that segment's first record
 * is the one of the lap before, for the device has lied: what is behind confirms the summary.
 */
TEST(stale_first_record_does_not_contradict_a_summary)
{
	static u8 stale[RESSD_BLOCK_SIZE];
	u32 slot, i;

	box_format();
	write_until(2);
	memcpy(stale, disk_block(16), sizeof(stale));
	write_until(7);
	slot = ressd_geom_slot_of_seq(&box.log.geom, 7);
	CHECK_EQ(slot, 1);
	move_everything();
	CHECK_EQ(box.log.tail_seq, 7);
	for (i = 0; box.log.head_seq == 7; i++) {
		CHECK_EQ(box_write(200 + i, i + 1), 0);
		ressd_log_write_soon(&box.log);
		box_run();
	}
	box_sync();
	CHECK_EQ(box_write(200 + i, i + 1), 0);
	box_sync();
	i++;
	CHECK(summary_at(slot)->durable_seq != summary_at(slot)->last_seq, "all is durable");
	memcpy(disk_block(16 * slot), stale, sizeof(stale));
	CHECK(!box_recover(), "%s", box.error);
	while (i--)
		CHECK_EQ(box_read(200 + i), i + 1);
}

/* Record 1 is durable, and its segment is left early; record 2 is to be the next one's first. */
static void leave_segment_early(void)
{
	box_format();
	CHECK_EQ(box_write(0, 1), 0);
	box_sync();
	ressd_log_rotate(&box.log);
	CHECK_EQ(box_write(1, 2), 0);
}

/* And there it is, not durable. */
static void begin_next_segment(void)
{
	leave_segment_early();
	ressd_log_write_soon(&box.log);
	box_run();
	CHECK_EQ(le64_to_cpu(header_at(32)->seq), 2);
}

/* Block @lbn makes the third record of segment 1, which is left: its summary tells of all three. */
static void summary_is_written_anew(u32 lbn)
{
	CHECK_EQ(box_write(lbn, lbn + 1), 0);
	box_sync();
	ressd_log_rotate(&box.log);
	CHECK_EQ(box_write(lbn + 1, lbn + 2), 0);
	box_sync();
	all_there(lbn + 2, 1);
	CHECK_EQ(le32_to_cpu(summary_at(1)->nr_records), 3);
}

/* Records that an activation has put behind the last one that the summary knows. */
TEST(outdated_summary_is_not_the_end)
{
	u8 kept[RESSD_BLOCK_SIZE];
	struct ressd_io io;

	leave_segment_early();
	CHECK(box_io(&io) && !io.record, "no summary");
	memcpy(kept, summary_at(1), sizeof(kept));
	/* The power fails: record 2 is not written. */
	all_there(1, 0);
	CHECK_EQ(box_write(1, 2), 0);
	box_sync();
	CHECK_EQ(box.log.head_seq, 1);
	CHECK(!ressd_is_zero(kept, sizeof(kept)), "no summary");
	CHECK(ressd_is_zero(summary_at(1), RESSD_BLOCK_SIZE), "the old summary is still there");
	/* The device has lied: it is. */
	memcpy(summary_at(1), kept, sizeof(kept));
	all_there(2, 1);	/* the next record, of the same segment, confirms it */
	summary_is_written_anew(2);
}

/* A summary is there, for it was written without a flush before, but not a record of it. */
TEST(summary_does_not_speak_for_records_that_are_gone)
{
	u32 i;

	box_format();
	CHECK_EQ(box_write(0, 1), 0);
	box_sync();
	for (i = 1; i < 20; i++) {
		if (box_write(i, 100 + i) == -EAGAIN) {
			box_run();
			CHECK_EQ(box_write(i, 100 + i), 0);
		}
	}
	ressd_log_write_soon(&box.log);
	box_run();
	CHECK_EQ(box.log.head_seq, 2);
	CHECK_EQ(le64_to_cpu(summary_at(1)->last_seq), 2);
	CHECK_EQ(le64_to_cpu(summary_at(1)->durable_seq), 1);
	disk_block(19)[0] ^= 1;		/* of record 2 */
	all_there(1, 0);
	CHECK_EQ(box.recovery.dropped, 1);
	box_sync();
	CHECK(ressd_is_zero(summary_at(1), RESSD_BLOCK_SIZE), "the summary is still there");
	for (i = 1; i < 4; i++) {
		CHECK_EQ(box_write(i, i + 1), 0);
		box_sync();
	}
	all_there(4, 0);
}

/* A torn one could become whole by sectors of the next one in its place. */
TEST(torn_summary_of_the_open_segment_is_made_blank)
{
	struct ressd_io io;

	leave_segment_early();
	CHECK(box_io(&io) && !io.record, "no summary");
	((u8 *)summary_at(1))[600] ^= 1;
	all_there(1, 0);
	box_sync();
	CHECK_EQ(box.log.head_seq, 1);
	CHECK(ressd_is_zero(summary_at(1), RESSD_BLOCK_SIZE), "it is still there");
	all_there(1, 0);
	/* If that fails the log is off, and has nothing that is not on the device. */
	((u8 *)summary_at(1))[600] ^= 1;
	all_there(1, 0);
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.kind == RESSD_IO_WRITE, "no write");
	io.only_write = true;
	ressd_log_done(&box.log, &io, -EIO);
	CHECK_EQ(box.log.mode, RESSD_MODE_OFF);
	CHECK(ressd_log_owes_nothing(&box.log), "it owes something");
}

/* One that recovery has used is not blanked: here it alone still tells of record 1. */
TEST(used_summary_stays)
{
	begin_next_segment();
	disk_block(33)[0] ^= 1;
	memset(disk_block(16), 0xee, RESSD_BLOCK_SIZE);
	all_there(1, 1);
	CHECK_EQ(box.recovery.dropped, 1);
	box_sync();
	CHECK_EQ(box.log.head_seq, 1);
	all_there(1, 1);
	summary_is_written_anew(1);
}

/*
 * Whichever read fails for once, by an error or a SIGKILL: the log is refused, or complete.
 * Formerly the summary was blanked when it could not be read once more at the end of recovery.
 */
TEST(used_summary_stays_when_a_read_fails)
{
	u32 nr = 0;

	do {
		begin_next_segment();
		disk_block(33)[0] ^= 1;
		memset(disk_block(16), 0xee, RESSD_BLOCK_SIZE);
		box.bad_read = ++nr;
		if (!box_recover())
			box_sync();
		box.bad_read = 0;
		all_there(1, 1);
	} while (nr <= box.reads);
}

/*
 * The segment was left early, and the next one's first record is torn; sectors of another one make
 * it whole.
 */
TEST(torn_first_record_does_not_come_back)
{
	begin_next_segment();
	disk_block(32)[RESSD_BLOCK_SIZE - 1] ^= 1;
	all_there(1, 0);
	box_sync();
	disk_block(32)[RESSD_BLOCK_SIZE - 1] ^= 1;
	all_there(1, 0);
	CHECK_EQ(box.recovery.dropped, 0);
}

/* The chain ends exactly at a segment's end: the opening record is the next one's first. */
TEST(exactly_full_head)
{
	u32 i;

	box_format();
	for (i = 0; i < 14; i++)
		CHECK_EQ(box_write(i, i + 1), 0);
	box_sync();
	CHECK_EQ(box.log.records[box.log.open].block, 31);
	CHECK_EQ(box_recover(), 0);
	memset(summary_at(1), 0xee, RESSD_BLOCK_SIZE);	/* a torn one, or none at all */
	box_sync();
	CHECK_EQ(box.log.head_seq, 2);
	CHECK_EQ(le32_to_cpu(header_at(32)->flags), RESSD_RECORD_FIRST);
	CHECK_EQ(header_at(32)->prev_crc, header_at(16)->crc);
	all_there(14, 1);
}

/* Each read fails once: recovery ends with that error, or does without a summary. */
static void fail_each_read(u32 blocks)
{
	u32 failed = 0, i, nr;
	int ret;

	CHECK(!box_recover() && box.steps > box.log.geom.nr_segments, "%u steps", box.steps);
	nr = box.reads;
	for (box.bad_read = 1; box.bad_read <= nr; box.bad_read++) {
		ret = box_recover();
		CHECK(!ret || ret == -EIO, "read %u: %d", box.bad_read, ret);
		failed += !!ret;
		for (i = 0; !ret && i < blocks; i++)
			CHECK(box_read(i) == i + 1, "read %u: block %u", box.bad_read, i);
	}
	CHECK(failed > 5 && failed < nr, "%u of %u", failed, nr);
}

TEST(errors_of_the_reader)
{
	u32 i;

	two_segments();
	for (i = 29; i < 32; i++) {
		box_write(i, i + 1);
		ressd_log_write_soon(&box.log);
		box_run();
	}
	fail_each_read(i);
	/* A long record whose data has to be read. */
	box_format_large();
	for (i = 0; i < 100; i++)
		CHECK_EQ(box_write(i, i + 1), 0);
	ressd_log_write_soon(&box.log);
	box_run();
	fail_each_read(i);
}

TEST(summary_entries_outside_the_device_are_refused)
{
	two_segments();
	summary_at(1)->maps[3].block = cpu_to_le32(BOX_NORMAL_BLOCKS);
	summary_at(1)->crc = cpu_to_le32(ressd_block_crc(summary_at(1)));
	CHECK(box_recover() == -EUCLEAN, "accepted");
	CHECK_HAS(box.error, "points outside the device, summary of segment 1");
}
