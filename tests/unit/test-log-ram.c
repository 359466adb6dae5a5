// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-log: what is in RAM beside a record in flight: full records that wait, and copies that
 * have begun and are not over.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include "logbox.h"

TEST_SUITE("log-ram");

static void end_io(struct ressd_io *io)
{
	ressd_log_encode(&box.log, io);
	memcpy(disk_block(io->block), io->data, (size_t)io->nr_blocks * RESSD_BLOCK_SIZE);
	ressd_log_done(&box.log, io, 0);
}

/* Fills RAM while a record of one block, @lbn - 1, is in flight; returns the next lbn. */
static u32 fill_ram(u32 lbn, struct ressd_io *io)
{
	int ret;

	CHECK_EQ(box_write(lbn - 1, lbn), 0);
	ressd_log_write_soon(&box.log);
	CHECK(ressd_log_next(&box.log, io), "no write");
	while (!(ret = box_write(lbn, lbn + 1)))
		lbn++;
	CHECK_EQ(ret, -EAGAIN);
	CHECK(ressd_log_ram_is_full(&box.log), "room, but it is to wait");
	CHECK_EQ(box.log.nr_full, RESSD_RECORDS - 2);
	return lbn;
}

TEST(full_records_wait_for_the_one_in_flight)
{
	struct ressd_io io, second;
	u32 lbn, end, full;

	box_format_large();
	end = fill_ram(1, &io);
	CHECK(end > (RESSD_RECORDS - 1) * (RESSD_MAX_RECORD_BLOCKS - 1) - 8, "%u blocks", end);
	CHECK_EQ(ressd_log_blocks_in_flight(&box.log), end - ressd_log_open_blocks(&box.log));
	CHECK(!ressd_log_next(&box.log, &second), "two at once");
	for (lbn = 0; lbn < end; lbn++)
		CHECK_EQ(box_read(lbn), lbn + 1);
	CHECK_EQ(box_write(end - 1, 7), 0);	/* in the open record: in place */
	CHECK_EQ(box_write(1, 1), -EAGAIN);	/* in a full one: a newer version */
	for (full = 1; full < RESSD_RECORDS; full += !!io.record) {
		end_io(&io);
		CHECK(ressd_log_is_volatile(&box.log), "what is full is not owed");
		CHECK(ressd_log_next(&box.log, &io), "it does not go on");
		CHECK(!io.record || (io.record->seq == full + 1 && !io.preflush && !io.fua),
		      "not the next one, or with a flush");
	}
	end_io(&io);
	CHECK(!ressd_log_is_volatile(&box.log), "something is left");
	CHECK_EQ(box_recover(), 0);
	for (lbn = 0; lbn + 1 < end; lbn++)
		CHECK_EQ(box_read(lbn), lbn + 1);
	CHECK_EQ(box_read(lbn), 7);
}

/* The records that it has to seal are those that are there when it begins; then RAM takes more. */
TEST(sync_waits_for_no_later_record)
{
	struct ressd_io io;
	u64 ticket, last;
	u32 lbn;

	box_format_large();
	lbn = fill_ram(1, &io);
	last = box.log.records[box.log.open].seq;
	ressd_log_kill(&box.log, 0, 1);
	ressd_log_kill(&box.log, lbn - 1, 1);
	ticket = ressd_log_sync(&box.log);
	do {
		bool sealed;

		end_io(&io);
		CHECK(ressd_log_next(&box.log, &io), "it does not go on");
		if (!io.record)
			continue;
		sealed = io.record->seq == last;
		CHECK_EQ(box_write(lbn, 1), sealed ? 0 : -EAGAIN);
		CHECK_EQ(io.record->nr_unmaps, sealed ? 2 : 0);
		CHECK_EQ(io.preflush, sealed);
	} while (!io.record || io.record->seq < last);
	CHECK(io.fua, "the last one is not durable");
	while (!box_write(++lbn, 1))
		;
	CHECK(box.log.nr_full, "none is set aside beside the flush");
	end_io(&io);
	CHECK(ressd_log_synced(&box.log) >= ticket, "the sync waits for what came later");
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(0), 0);
	CHECK_EQ(box_read(1), 2);
}

/*
 * A sync writes UNMAPs in two records, and the first one frees the segments that the others are of:
 * they are forgotten.  UNMAPs of what was logged meanwhile must not leave before that.
 */
TEST(unmaps_of_a_sync_are_forgotten)
{
	struct ressd_io io;
	u32 lbn = 0, end;

	box_format_large();
	box_fill(&lbn);
	for (end = lbn; ressd_log_free_segments(&box.log); lbn--) {
		ressd_log_kill(&box.log, lbn - 1, 1);
		box_sync();
	}
	ressd_log_kill(&box.log, 0, end);
	CHECK(box.log.nr_unmaps > RESSD_RECORD_ENTRIES, "%u UNMAPs", box.log.nr_unmaps);
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.fua, "no durable record");
	end_io(&io);
	CHECK(box.log.nr_unmaps, "all UNMAPs are written");

	for (lbn = 0; !box_write(lbn, 2 + lbn); lbn++)
		;
	CHECK_EQ(box.log.nr_full, 0);	/* the next UNMAPs are to be in this one */
	box_tidy();
	CHECK_EQ(box.log.nr_unmaps, 0);
	CHECK_EQ(box_write(lbn, 2 + lbn), 0);
	CHECK_EQ(box.log.nr_full, 1);
	ressd_log_kill(&box.log, 0, 1);
	CHECK(ressd_log_next(&box.log, &io) && io.record, "no record");
	CHECK_EQ(io.record->nr_maps, lbn);
	CHECK(!io.preflush && !io.record->nr_unmaps, "UNMAPs leave before the full record");
	end_io(&io);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(0), 0);
	CHECK_EQ(box_read(1), 3);
	CHECK_EQ(box_read(lbn), 2 + lbn);
}

/* Found by tools/bench/model: waits for the mover came at once, and were longer on the SD card. */
TEST(little_space_keeps_records_from_waiting)
{
	struct ressd_io io;
	u32 lbn = 0;
	int ret;

	box_format();
	while (ressd_log_free_segments(&box.log) > BOX_SEGMENTS / 4)
		if (!box_write(lbn, 1))
			lbn++;
		else
			box_run();
	box_run();
	CHECK_EQ(box_write(lbn++, 1), 0);
	ressd_log_write_soon(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "no write");
	while (!(ret = box_write(lbn, 1)))
		lbn++;
	CHECK_EQ(ret, -EAGAIN);
	CHECK(ressd_log_ram_is_full(&box.log), "room in RAM");
	CHECK_EQ(box.log.nr_full, 0);
}

/* A record a segment: each segment has its summary before the next one has a record. */
TEST(full_records_in_several_segments)
{
	struct ressd_io io;
	u32 lbn, end, segments = 0;

	box_format();
	end = fill_ram(1, &io);
	CHECK_EQ(box.log.head_seq, 1 + RESSD_RECORDS - 2);
	end_io(&io);
	while (ressd_log_next(&box.log, &io)) {
		u32 slot = ressd_geom_slot(&box.log.geom, io.block);

		CHECK_EQ(slot, 1 + segments);
		segments += !io.record;
		end_io(&io);
	}
	CHECK_EQ(segments, RESSD_RECORDS - 2);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.summaries, segments);
	for (lbn = 0; lbn < end; lbn++)
		CHECK_EQ(box_read(lbn), lbn + 1);
}

/*
 * All of a full record is killed while a flush is under way.  Its segment is dead by then, but the
 * tail cannot be beyond it before it is written.
 */
TEST(tail_stays_before_full_records)
{
	struct ressd_io io;
	u32 end;

	box_format();
	ressd_log_sync(&box.log);
	end = fill_ram(1, &io);
	ressd_log_kill(&box.log, 0, end);
	CHECK_EQ(io.kind, RESSD_IO_WRITE);
	end_io(&io);
	CHECK(ressd_log_next(&box.log, &io) && io.kind == RESSD_IO_FLUSH, "no flush");
	ressd_log_done(&box.log, &io, 0);
	while (ressd_log_next(&box.log, &io)) {
		CHECK(!io.record || io.record->tail_seq <= io.record->segment_seq,
		      "tail %llu in segment %llu", io.record->tail_seq, io.record->segment_seq);
		end_io(&io);
	}
	CHECK_EQ(box_recover(), 0);
}

/* A copy that has begun and is not over; settle() has it end. */
static struct {
	struct ressd_place place;
	u64 id;
} copying;

static void end_copy(void *context, u32 record)
{
	u32 i;

	(void)context;
	if (!copying.id || copying.place.record != record)
		return;
	for (i = 0; i < RESSD_BLOCK_SIZE / sizeof(u64); i++)
		((u64 *)copying.place.data)[i] = copying.id;
	copying.place.entry->crc = cpu_to_le32(ressd_crc(copying.place.data, RESSD_BLOCK_SIZE));
	copying.id = 0;
}

/* Block 1 holds 1; a copy of @id over it, into the record that is open then, is on its way. */
static void begin_copy(u64 id)
{
	box_format();
	box_write(1, 1);
	box_sync();
	box.log.settle = end_copy;
	CHECK_EQ(ressd_log_accept(&box.log, 1, &copying.place), 0);
	CHECK(!copying.place.overwrites, "the copy may not be late");
	copying.id = id;
}

static void check_durable(u64 id)
{
	CHECK_EQ(box_read(1), id);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), id);
}

TEST(a_copy_ends_before_its_block_is_read)
{
	begin_copy(2);
	CHECK(ressd_log_holds(&box.log, box_block(1)) && copying.id, "to ask is to wait");
	CHECK_EQ(box_read(1), 2);
	check_durable(2);
}

/* Else the mover would leave it alone, and what overwrites the buffer could be read instead. */
TEST(a_written_record_is_not_in_ram)
{
	struct ressd_io io;

	box_format();
	CHECK_EQ(box_write(1, 2), 0);
	ressd_log_write_soon(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "no write");
	CHECK(ressd_log_holds(&box.log, box_block(1)), "it is in flight");
	end_io(&io);
	CHECK(!ressd_log_holds(&box.log, box_block(1)), "it is written");
	CHECK_EQ(box_read(1), 2);
}

TEST(a_copy_ends_before_its_block_is_overwritten)
{
	begin_copy(2);
	CHECK_EQ(box_write(1, 3), 0);
	CHECK_EQ(copying.id, 0);
	check_durable(3);
}

TEST(a_copy_ends_before_its_record_is_written)
{
	begin_copy(2);
	box_sync();
	CHECK_EQ(copying.id, 0);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 2);
}

/* Sealed, it is read from RAM as well; and the other record's copies are not waited for. */
TEST(a_copy_ends_before_its_sealed_record_is_read)
{
	struct ressd_io io;

	begin_copy(2);
	ressd_log_write_soon(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "the record does not go out");
	CHECK_EQ(box_write(2, 4), 0);
	CHECK_EQ(box_write(2, 5), 0);
	CHECK_EQ(copying.id, 2);
	CHECK_EQ(box_read(1), 2);
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, 0);
}

TEST(a_copy_of_what_is_discarded_meanwhile_goes_nowhere)
{
	begin_copy(2);
	ressd_log_kill(&box.log, 1, 1);
	CHECK_EQ(box_read(1), 0);
	box_sync();
	CHECK_EQ(copying.id, 0);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 0);
}

/* What would become of a write is what becomes of it, and the question takes in nothing. */
TEST(a_question_is_answered_as_a_write)
{
	u32 lbn = 0, full = 0;
	int ret;

	box_format();
	do {
		ret = ressd_log_accept(&box.log, lbn, NULL);
		CHECK_EQ(box.log.counters.accepted, lbn);
		CHECK_EQ(box.log.map.nr_mapped, lbn);
		CHECK_EQ(box_write(lbn, lbn + 2), ret);
		if (ret == -EAGAIN)
			full += box_run();
		if (ret)
			continue;
		/* It is in the open record. */
		CHECK_EQ(ressd_log_accept(&box.log, lbn, NULL), 0);
		CHECK_EQ(box_read(lbn), lbn + 2);
		CHECK_EQ(box.log.counters.overwrites, 0);
		lbn++;
	} while (ret != -ENOSPC);
	CHECK(full, "RAM was never full");
	CHECK_EQ(ressd_log_accept(&box.log, 0, NULL), -ENOSPC);
	box.log.mode = RESSD_MODE_OFF;
	CHECK_EQ(ressd_log_accept(&box.log, 0, NULL), -EIO);
}
