// SPDX-License-Identifier: GPL-2.0-only
/* ressd-log: what a sync writes, with which flags, and what is claimed before it is durable. */
#include <linux/errno.h>
#include "logbox.h"

TEST_SUITE("log-sync");

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
