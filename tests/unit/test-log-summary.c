// SPDX-License-Identifier: GPL-2.0-only
/* ressd-log: which segments get a summary, and before which record. */
#include "logbox.h"
#include "ressd-log-private.h"
#include "ressd-summary.h"

TEST_SUITE("log-summary");

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
