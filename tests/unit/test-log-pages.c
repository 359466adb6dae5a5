// SPDX-License-Identifier: GPL-2.0-only
/* ressd-log on a device with pages and clustered blocks: where records end, how a log is primed. */
#include <linux/errno.h>
#include "logbox.h"
#include "ressd-log-private.h"

TEST_SUITE("log-pages");

/* Else each commit would rewrite that page, and begin a new version of the block by it. */
TEST(first_page_of_a_clustered_block_is_written_once)
{
	u32 start;

	box_format();
	box_write(1, 1);
	box_sync();
	start = box.log.records[box.log.open].block;
	box.log.page_blocks = 4;
	box.log.unit_blocks = 64;
	box.log.unit_phase = 64 + 1 - start % 64;	/* the second block of its page */
	box_write(2, 2);
	box_sync();
	CHECK_EQ(box.log.records[box.log.open].block, start + 3);
	box_write(3, 3);
	box_sync();
	CHECK_EQ(box.log.records[box.log.open].block, start + 5);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 1);
	CHECK_EQ(box_read(2), 2);
	CHECK_EQ(box_read(3), 3);
}

static void move_all_home(void)
{
	struct ressd_node *node;

	for (node = ressd_map_first_from(&box.log.map, 0); node; node = ressd_map_next(node))
		ressd_log_moved(&box.log, ressd_map_block(&box.log.map, node), node->lbn);
}

/* Padding a commit to a page costs room; ending a full record on its border costs nothing. */
TEST(full_records_end_on_a_page)
{
	const struct ressd_geom *geom = &box.log.geom;
	u32 lbn = 0, aligned = 0, left = 0, i, end, slot;

	box_format();
	box.log.page_blocks = 4;
	box.log.unit_blocks = 64;
	box.log.unit_phase = 3;
	for (i = 0; i < 6; i++) {
		const struct ressd_record *open = &box.log.records[box.log.open];

		do
			box_write(lbn++ % 64, i + 1);
		while (!ressd_log_record_full(&box.log));
		end = open->block + 1 + open->nr_maps;
		slot = ressd_geom_slot(geom, open->block);
		left += ressd_log_summary_flushes(&box.log, box.log.head_seq);
		CHECK(!ressd_log_summary_flushes(&box.log, box.log.head_seq) ||
		      (open->block + 3) / 4 < (ressd_geom_slot_end(geom, slot) + 3) / 4,
		      "a full record begins in the page of a summary with PREFLUSH, at %u",
		      open->block);
		CHECK((end + 3) % 4 == 0 || end == ressd_geom_slot_end(geom, slot),
		      "a full record ends at block %u", end);
		aligned += (end + 3) % 4 == 0;
		box_run();
		if (i == 2) {	/* each takes a segment, and there are few */
			move_all_home();
			ressd_log_reclaim(&box.log);
			ressd_log_rotate(&box.log);
			box_run();
		}
	}
	CHECK(aligned, "none ends on a page");
	CHECK(left && left < i, "%u summaries with PREFLUSH", left);
	CHECK_EQ(box_recover(), 0);
}

/*
 * A segment that is one page of the device is all summary page.  A drain enters it without data; a
 * write that comes before its record must not leave it, for the chain of records ends at a segment
 * without one.  (Found by 36-combinations on the kernel for memory errors.)
 */
TEST(segment_of_one_page_is_not_left_empty)
{
	struct ressd_io io;
	u64 head;
	u32 lbn;

	box_format();
	box.log.page_blocks = BOX_SEGMENT_BLOCKS;
	box.log.unit_blocks = 4 * BOX_SEGMENT_BLOCKS;
	box.log.unit_phase = 0;
	box.log.align_blocks = 8;
	for (lbn = 0; !ressd_log_summary_flushes(&box.log, box.log.head_seq) ||
	     ressd_log_open_blocks(&box.log); lbn++) {
		CHECK_EQ(box_write(lbn, lbn + 1), 0);
		if (ressd_log_record_full(&box.log))
			box_run();
	}
	head = box.log.head_seq;
	ressd_log_rotate(&box.log);
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.kind == RESSD_IO_WRITE && io.preflush &&
	      !io.record, "no summary is written");
	CHECK_EQ(box.log.head_seq, head + 1);
	CHECK_EQ(box_write(lbn, lbn + 1), 0);
	CHECK_EQ(box.log.head_seq, head + 1);
	memcpy(disk_block(io.block), io.data, (size_t)io.nr_blocks * RESSD_BLOCK_SIZE);
	ressd_log_done(&box.log, &io, 0);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(lbn), lbn + 1);
}

/* Commits of one block, two with the header: none lies in two pages, whatever came before. */
TEST(commit_of_a_block_takes_one_page)
{
	u32 lbn, first;

	box_format();
	box.log.page_blocks = 4;
	box.log.unit_blocks = 64;
	box.log.unit_phase = 8;
	box_write(0, 1);
	box_write(1, 1);
	box_sync();
	for (lbn = 2; lbn < 16; lbn++) {
		box_write(lbn, lbn);
		first = box_block(lbn) - 1;
		CHECK(first % 4 < 3, "the record of block %u begins at block %u", lbn, first);
		box_sync();
	}
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(15), 15);
}

/* Takes all the steps there are; returns how many. */
static u32 prime(void)
{
	u32 steps = 0;
	u64 ticket;

	while (ressd_log_can_prime(&box.log)) {
		ticket = ressd_log_prime(&box.log);
		box_run();
		CHECK(ressd_log_synced(&box.log) >= ticket, "a step does not end");
		CHECK(++steps <= BOX_SEGMENTS, "priming does not end");
	}
	return steps;
}

/*
 * The clustered block of 32 blocks begins with each second segment; the head is in one of them.
 * The simulator found that priming did not end where pages do not divide clustered blocks.
 */
TEST(empty_log_is_primed)
{
	const struct ressd_geom *geom = &box.log.geom;
	u32 phase, lbn, block;

	box_format();
	box.log.page_blocks = 3;
	box.log.unit_blocks = 16;
	for (lbn = 0; lbn < 6; lbn++)
		box_write(lbn, 1);
	box_sync();
	move_all_home();
	CHECK_EQ(prime(), 1);
	for (phase = 0; phase < 32; phase += 16) {
		box_format();
		box.log.page_blocks = 4;
		box.log.unit_blocks = 32;
		box.log.unit_phase = phase;
		box_write(1, 1);
		box_sync();
		box_write(3, 3);
		CHECK(!ressd_log_can_prime(&box.log), "while there is something in RAM");
		box_sync();
		CHECK(!ressd_log_can_prime(&box.log), "while there is something to move");
		move_all_home();
		CHECK(prime() > 0, "a log that begins no clustered block can be primed");
		CHECK(ressd_log_is_drained(&box.log), "it is still empty");
		CHECK_EQ(prime(), 0);
		/* The next record continues the clustered block at its second page. */
		box_write(2, 2);
		block = box_block(2) - 1;
		CHECK_EQ((block + phase) % 32, 4);
		CHECK_EQ(block % BOX_SEGMENT_BLOCKS, 4);
		box_sync();
		CHECK_EQ(box_recover(), 0);
		CHECK_EQ(box_read(1), 0);
		CHECK_EQ(box_read(2), 2);
	}
	/* All the segments are free afterwards. */
	for (lbn = 0; lbn < (BOX_SEGMENTS - 3) * (geom->segment_blocks - 2); lbn++)
		while (box_write(lbn, lbn + 1) == -EAGAIN)
			box_run();
	CHECK_EQ(box_read(lbn - 1), lbn);
}

/* Carries out I/Os, and counts the pages of four blocks that were written before. */
static u32 pages_again(u8 *written)
{
	struct ressd_io io;
	u32 again = 0, i;

	while (box_io(&io))
		for (i = 0; io.kind == RESSD_IO_WRITE && i < io.nr_blocks; i++) {
			u8 *page = &written[(io.block + i) / 4];

			again += *page && (!i || !((io.block + i) % 4));
			*page = 1;
		}
	return again;
}

/*
 * Found with journals on an SD card: each page was programmed twice, and each clustered block of
 * the log merged twice.  Neither commits of any size, nor records that are kicked, nor summaries
 * begin in a page that has been written to.
 */
TEST(padded_records_write_no_page_twice)
{
	u8 written[BOX_BLOCKS / 4 + 1] = { 0 };
	u32 commits, lbn;
	u64 seq;

	box_format();
	box.log.page_blocks = 4;
	box.log.unit_blocks = 64;
	for (commits = 0; commits < 40; commits++) {
		seq = box.log.head_seq;
		box.log.padding = (struct ressd_padding) {
			.records = 1000, .used = 1000, .taken = 1000,
		};
		for (lbn = 0; lbn < 1 + commits % 6; lbn++)
			while (box_write(commits * 6 + lbn, lbn + 1) == -EAGAIN)
				CHECK_EQ(pages_again(written), 0);
		if (commits % 3)
			ressd_log_write_soon(&box.log);
		else
			ressd_log_sync(&box.log);
		CHECK_EQ(pages_again(written), 0);
		CHECK_EQ(box.log.records[box.log.open].block % 4, 0);
		move_all_home();
		ressd_log_reclaim(&box.log);
		if (box.log.head_seq != seq)
			memset(written, 0, sizeof(written));
	}
	CHECK(box.log.head_seq > 6, "the log has not gone round");
	CHECK_EQ(box_recover(), 0);
}

/* Found by counting merges on an emulated drive: one more unit was opened behind each drain. */
TEST(log_that_a_drain_left_at_a_unit_is_primed)
{
	u32 i;

	box_format();
	box.log.page_blocks = 4;
	box.log.unit_blocks = BOX_SEGMENT_BLOCKS;
	for (i = 0; i < 3; i++) {
		box_write(i, 1);
		box_sync();
	}
	ressd_log_rotate(&box.log);
	/* Records without data: of UNMAPs. */
	for (i = 0; i < 3; i++) {
		ressd_log_kill(&box.log, i, 1);
		box_sync();
	}
	CHECK(box.log.records[box.log.open].block % BOX_SEGMENT_BLOCKS > 4, "a page is full");
	CHECK_EQ(prime(), 0);
}

/*
 * Found by the mover's model: where the log begins late in a page that is larger than its first
 * segment, a record took more blocks than its buffer has.
 */
TEST(page_larger_than_the_first_segment_does_not_lengthen_records)
{
	u32 phase, lbn;

	for (phase = 0; phase < 128; phase++) {
		box_format();
		box.log.page_blocks = 128;
		box.log.unit_blocks = 128;
		box.log.unit_phase = phase;
		for (lbn = 0; lbn < 3 * BOX_SEGMENT_BLOCKS; lbn++) {
			CHECK(ressd_log_open_limit(&box.log) <= ressd_log_head_end(&box.log),
			      "a record may end at block %u, beyond its segment, with phase %u",
			      ressd_log_open_limit(&box.log), phase);
			while (box_write(lbn, lbn + 1) == -EAGAIN)
				box_run();
		}
	}
}

/* Where no segment begins with a clustered block, or none is known, nothing is done. */
TEST(log_without_clustered_blocks_is_not_primed)
{
	u32 lbn;

	box_format();
	for (lbn = 0; lbn < 6; lbn++)
		box_write(lbn, 1);
	box_sync();
	move_all_home();
	CHECK_EQ(prime(), 0);
	box.log.page_blocks = 4;
	box.log.unit_blocks = 32;
	box.log.unit_phase = 8;
	CHECK_EQ(prime(), 0);
	box.log.unit_phase = 16;
	CHECK(prime() > 0, "this one can be");
}

/* A full record that waits to be written; all of its blocks are overwritten on another route. */
TEST(log_with_a_full_record_in_ram_is_not_primed)
{
	u32 lbn = 1;

	box_format();
	box.log.page_blocks = 4;
	box.log.unit_blocks = 2 * BOX_SEGMENT_BLOCKS;
	box_write(1, 1);
	box_sync();
	box.busy_slot = ressd_geom_slot_of_seq(&box.log.geom, 2);
	while (!box_write(lbn, 1))
		lbn++;
	box.busy_slot = ~0U;
	CHECK_EQ(box.log.nr_full, 1);
	CHECK_EQ(ressd_log_open_blocks(&box.log), 0);
	ressd_log_kill(&box.log, 0, lbn);
	CHECK_EQ(ressd_log_nr_movable(&box.log), 0);
	CHECK(!ressd_log_can_prime(&box.log), "while there is something in RAM");
	box_run();
	CHECK(ressd_log_can_prime(&box.log), "with nothing in RAM");
}
