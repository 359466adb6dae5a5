// SPDX-License-Identifier: GPL-2.0-only
/* ressd-page: commits that are written with all of their page, and what that leaves alone. */
#include <linux/string.h>
#include <linux/errno.h>
#include "logbox.h"
#include "ressd-record.h"
#include "ressd-repair.h"

TEST_SUITE("page");

#define PAGE_BLOCKS	4U

static u8 page[2 * PAGE_BLOCKS * RESSD_BLOCK_SIZE];
static u8 before[sizeof(box.disk)];

static void tune(u32 page_blocks, bool rewrite)
{
	box.log.page_blocks = page_blocks;
	box.log.unit_blocks = 64;
	box.log.unit_phase = 0;
	box.log.page_buffer = rewrite ? page : NULL;
}

/* A log that goes on at block 16, where a page begins, but no clustered block. */
static void format(void)
{
	box_format();
	memset(page, 0xff, sizeof(page));
	tune(PAGE_BLOCKS, true);
}

/* One record of the blocks accepted so far, as a sync writes it, flush included. */
static struct ressd_io commit(void)
{
	struct ressd_io io, flush;

	ressd_log_sync(&box.log);
	memcpy(before, box.disk, sizeof(before));
	CHECK(box_io(&io) && io.kind == RESSD_IO_WRITE && io.record, "no record is written");
	CHECK(box_io(&flush) && flush.kind == RESSD_IO_FLUSH, "no flush follows");
	return io;
}

/* A commit of block @lbn, which is a write of @nr blocks at @block. */
static void commit_is(u32 lbn, u32 block, u32 nr)
{
	struct ressd_io io;

	box_write(lbn, lbn);
	io = commit();
	CHECK(io.block == block && io.nr_blocks == nr, "%u + %u instead of %u + %u", io.block,
	      io.nr_blocks, block, nr);
}

/* The record at @block of @nr blocks is all that the last commit has changed but for zeroes. */
static void check_changes(u32 block, u32 nr, u32 end)
{
	u32 at;

	for (at = 0; at < box.blocks; at++) {
		const u8 *now = box.disk + (size_t)at * RESSD_BLOCK_SIZE;

		if (at < block || at >= end)
			CHECK(!memcmp(now, before + (size_t)at * RESSD_BLOCK_SIZE,
				      RESSD_BLOCK_SIZE), "block %u has changed", at);
		else if (at >= block + nr)
			CHECK(ressd_is_zero(now, RESSD_BLOCK_SIZE), "block %u is not zero", at);
	}
}

TEST(commits_are_written_with_their_page)
{
	format();
	memset(box.disk + 16 * RESSD_BLOCK_SIZE, 0xee, 15 * RESSD_BLOCK_SIZE);
	commit_is(1, 16, PAGE_BLOCKS);
	check_changes(16, 2, 20);
	commit_is(2, 16, PAGE_BLOCKS);
	check_changes(18, 2, 20);
	commit_is(3, 20, PAGE_BLOCKS);
	check_changes(20, 2, 24);
	CHECK_EQ(box.log.counters.whole_pages, 3);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 1);
	CHECK_EQ(box_read(2), 2);
	CHECK_EQ(box_read(3), 3);
}

/* No flush follows a record that is only kicked; yet the next commit knows it. */
TEST(records_that_go_out_alone_are_kept)
{
	struct ressd_io io;

	format();
	tune(2 * PAGE_BLOCKS, true);
	box_write(1, 1);
	commit();
	box_write(2, 2);
	ressd_log_write_soon(&box.log);
	CHECK(box_io(&io) && io.block == 18 && io.nr_blocks == 2, "a kick writes more than that");
	commit_is(3, 16, 2 * PAGE_BLOCKS);
	check_changes(20, 2, 24);
	CHECK_EQ(box.log.counters.whole_pages, 2);
}

/* Where no commit comes nothing is copied, so a page that such a record begins is not known. */
TEST(page_begins_with_a_commit)
{
	struct ressd_io io;

	format();
	box_write(1, 1);
	ressd_log_write_soon(&box.log);
	CHECK(box_io(&io) && io.block == 16 && io.nr_blocks == 2, "a kick writes more than that");
	commit_is(2, 18, 2);
	commit_is(3, 20, PAGE_BLOCKS);
}

/* What a record of several pages leaves in its last one is known as well. */
TEST(end_of_a_long_record_is_kept)
{
	struct ressd_io io;
	u32 lbn;

	format();
	for (lbn = 0; lbn < 5; lbn++)
		box_write(lbn, lbn + 1);
	io = commit();
	CHECK_EQ(io.block, 16);
	CHECK_EQ(io.nr_blocks, 6);
	commit_is(9, 20, PAGE_BLOCKS);
	check_changes(22, 2, 24);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(5 - 1), 5);
	CHECK_EQ(box_read(9), 9);
}

/* The log was activated in the middle of the page. */
TEST(unknown_page_is_not_written)
{
	struct ressd_io io;

	format();
	box_write(1, 1);
	commit();
	CHECK_EQ(box_recover(), 0);
	tune(PAGE_BLOCKS, true);
	box_write(2, 2);
	ressd_log_sync(&box.log);
	CHECK(box_io(&io) && io.kind == RESSD_IO_WRITE, "the opening record");
	CHECK_EQ(io.block, 18);
	CHECK_EQ(io.nr_blocks, 2);
	box_run();
	commit_is(3, 20, PAGE_BLOCKS);
}

/* The last page of segment 1, blocks 28 to 31, has the summary in it. */
TEST(page_with_a_summary_is_not_written)
{
	struct ressd_io io;
	u32 lbn;

	format();
	for (lbn = 0; lbn < 6; lbn++) {
		box_write(lbn, lbn + 1);
		commit();
	}
	box_write(6, 7);
	io = commit();
	CHECK_EQ(io.block, 28);
	CHECK_EQ(io.nr_blocks, 3);	/* for the last one before the summary is of no use */
	check_changes(28, 3, 31);
}

/* Nor one that began in the segment before, or in the superblock. */
TEST(page_of_two_segments_is_not_written)
{
	format();
	box.log.unit_phase = 2;		/* pages begin at 14 and at 18 */
	commit_is(1, 16, 2);
	commit_is(2, 18, PAGE_BLOCKS);

	format();
	box.log.unit_phase = 1;		/* ... at 15, 19 and 23 */
	commit_is(1, 16, 3);
	commit_is(2, 19, PAGE_BLOCKS);
	commit_is(3, 19, PAGE_BLOCKS);
}

static void move_all_home(void);

/*
 * The log comes round to a page that was kept in an earlier life of its segment.  A record that is
 * no commit begins it; what was kept then must not go out over that record with the next commit.
 */
TEST(page_of_an_earlier_life_is_forgotten)
{
	const struct ressd_record *open;
	struct ressd_io io;

	format();
	commit_is(1, 16, PAGE_BLOCKS);
	commit_is(2, 16, PAGE_BLOCKS);
	tune(PAGE_BLOCKS, false);
	do {
		ressd_log_rotate(&box.log);
		box_write(3, 3);
		box_sync();
		move_all_home();
		open = &box.log.records[box.log.open];
	} while (box.log.head_seq < BOX_SEGMENTS);
	ressd_log_rotate(&box.log);
	tune(PAGE_BLOCKS, true);
	box_write(4, 4);
	ressd_log_write_soon(&box.log);
	CHECK(box_io(&io), "no record");
	while (!io.record)
		CHECK(box_io(&io), "no record");
	CHECK_EQ(io.block, 16);
	CHECK_EQ(open->segment_seq, BOX_SEGMENTS + 1);
	commit_is(5, 18, 2);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(4), 4);
	CHECK_EQ(box_read(5), 5);
}

/* A page of another size is another page, though it begins at the same block. */
TEST(page_may_change)
{
	struct ressd_io io;

	format();
	box_write(1, 1);
	commit();
	tune(2 * PAGE_BLOCKS, true);
	commit_is(2, 18, 2);
	tune(PAGE_BLOCKS, false);
	box_write(3, 3);
	io = commit();
	CHECK_EQ(io.nr_blocks, 2);
	tune(PAGE_BLOCKS, true);
	commit_is(4, 22, 2);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 1);
	CHECK_EQ(box_read(4), 4);
}

/* The write of a commit fails; the repair writes its page again, for any of it may be spoilt. */
TEST(repair_writes_the_page_again)
{
	static u8 buffer[RESSD_BLOCK_SIZE];
	struct ressd_io io;

	format();
	box_write(1, 1);
	commit();
	box_write(2, 2);
	ressd_log_sync(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "nothing to write");
	ressd_log_encode(&box.log, &io);
	CHECK_EQ(io.block, 16);
	io.only_write = true;
	ressd_log_done(&box.log, &io, -EIO);
	memset(box.disk + 16 * RESSD_BLOCK_SIZE, 0xee, PAGE_BLOCKS * RESSD_BLOCK_SIZE);
	ressd_repair_start(&box.log, buffer, 1);
	CHECK(box_io(&io) && io.block == 16 && io.nr_blocks == PAGE_BLOCKS, "not the page");
	box_run();
	CHECK_EQ(box.log.mode, RESSD_MODE_RW);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 1);
	CHECK_EQ(box_read(2), 2);
}

static void move_all_home(void)
{
	struct ressd_node *node;

	for (node = ressd_map_first_from(&box.log.map, 0); node; node = ressd_map_next(node))
		ressd_log_moved(&box.log, ressd_map_block(&box.log.map, node), node->lbn);
	ressd_log_reclaim(&box.log);
	box_run();
}

/* Whatever goes on, everything in the log reads as it was written, also after an activation. */
TEST(nothing_else_is_ever_changed)
{
	static u64 newest[64];
	u32 step, lbn, i;

	format();
	memset(newest, 0, sizeof(newest));
	for (step = 1; step < 20000; step++) {
		lbn = test_below(64);
		if (box_write(lbn, step))
			move_all_home();
		else
			newest[lbn] = step;
		if (test_below(3) == 0)
			box_sync();
		if (test_below(7) == 0)
			ressd_log_write_soon(&box.log);
		if (test_below(50) == 0)
			ressd_log_rotate(&box.log);
		box_run();
		for (i = 0; i < 64; i++) {
			u64 now = box_read(i);

			CHECK(!now || now == newest[i], "block %u is %llu instead of %llu", i,
			      (unsigned long long)now, (unsigned long long)newest[i]);
		}
		if (test_below(40) == 0)
			tune(1 + test_below(2 * PAGE_BLOCKS), test_below(4));
		if (test_below(200) == 0) {
			box_sync();
			CHECK(!box_recover(), "%s", box.error);
			tune(PAGE_BLOCKS, true);
		}
	}
	CHECK(box.log.counters.whole_pages, "no page was written");
}
