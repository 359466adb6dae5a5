// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of fully-associative log blocks: which merge a known state and a known write must
 * cost. The drive has blocks of 32 pages of 8 KB (4 ways x 8 rows), 64 data blocks, a
 * sequential log block and two random ones.
 */
#include <string.h>

#include "test.h"

#define US		1000ULL
#define PAGE		16U		/* sectors of a clustered page */
#define BLOCK_PAGES	32U

#define READ_NS		(20 * US)
#define PROGRAM_NS	(200 * US)
#define ERASE_NS	(1000 * US)

static const char test_profile[] =
	"capacity_mb=16 channels=2 planes=1 ways=4 die_sets=2 block_pages=8 page_bytes=4096\n"
	"spare_bytes=0 read_ns=20000 program_ns=200000 erase_ns=1000000 bus_read_ps=10000\n"
	"bus_write_ps=20000 copyback=1 log_association=full log_blocks=3 read_buffer_kb=0\n"
	"write_buffer_kb=32 command_ns=5000 interface_mb_s=100 check=1\n"
	"write_buffer_idle_us=0\n";

#include "drive-test.h"

static u64 write_page(struct ssd_drive *drive, u64 now, u32 block, u32 index)
{
	now = ssd_drive_write(drive, now, (u64)(block * BLOCK_PAGES + index) * PAGE, PAGE, false);
	return ssd_drive_flush(drive, now);
}

static u64 write_pages(struct ssd_drive *drive, u64 now, u32 block, u32 first, u32 count)
{
	u32 index;

	for (index = first; index < first + count; index++)
		now = write_page(drive, now, block, index);
	return now;
}

/* The same as often as it takes to fill that many random log blocks, with nothing valid. */
static u64 fill_logs_in_vain(struct ssd_drive *drive, u64 now, u32 block, u32 logs)
{
	u32 i;

	for (i = 0; i < logs * BLOCK_PAGES; i++)
		now = write_page(drive, now, block, 7);
	return now;
}

/* All that merges did so far. */
static void expect_work(struct ssd_drive *drive, u64 switches, u64 partial, u64 full,
			u64 copies, u64 erases)
{
	const struct ssd_ftl_counters *ftl = &drive->ftl->counters;

	EXPECT(ftl->switch_merges == switches && ftl->partial_merges == partial &&
	       ftl->full_merges == full,
	       "%llu switch, %llu partial, %llu full merges, not %llu, %llu, %llu",
	       (unsigned long long)ftl->switch_merges, (unsigned long long)ftl->partial_merges,
	       (unsigned long long)ftl->full_merges, (unsigned long long)switches,
	       (unsigned long long)partial, (unsigned long long)full);
	EXPECT(ftl->merge_copies == copies && drive->nand.copies == copies &&
	       drive->nand.erases == erases,
	       "%llu copies, %llu erases, not %llu, %llu", (unsigned long long)drive->nand.copies,
	       (unsigned long long)drive->nand.erases, (unsigned long long)copies,
	       (unsigned long long)erases);
}

/* Every page is found where it is; check=1 compares what is there. */
static void read_everything(struct ssd_drive *drive, u64 now)
{
	u32 page;

	for (page = 0; page < drive->geometry.pages; page++)
		now = ssd_drive_read(drive, now, (u64)page * PAGE, PAGE);
}

DRIVE_TEST(whole_block_is_switched, "")
{
	write_pages(drive, 0, 3, 0, 32);
	expect_work(drive, 1, 0, 0, 0, 1);
}

DRIVE_TEST(half_block_is_completed, "")
{
	u64 now = write_pages(drive, 0, 3, 0, 12);

	expect_work(drive, 0, 0, 0, 0, 0);
	now = write_pages(drive, now, 4, 0, 1);
	expect_work(drive, 0, 1, 0, 20, 1);
	read_everything(drive, now);
}

/* A block whose start is written again begins anew. */
DRIVE_TEST(first_page_begins_again, "")
{
	u64 now = write_page(drive, 0, 3, 0);

	write_pages(drive, now, 3, 0, 32);
	expect_work(drive, 1, 1, 0, 31, 2);
}

/* This is what associativity is for: one stray page in each of 60 blocks costs no merge. */
DRIVE_TEST(strays_share_log_blocks, "")
{
	u64 now = 0;
	u32 block;

	for (block = 0; block < 60; block++)
		now = write_page(drive, now, block, 5);
	expect_work(drive, 0, 0, 0, 0, 0);
	read_everything(drive, now);
}

/* The oldest log block holds pages of four blocks: four full merges when it must go. */
DRIVE_TEST(reclaim_merges_each_block_in_it, "")
{
	u64 now = 0;
	u32 block;

	for (block = 10; block < 14; block++)
		now = write_pages(drive, now, block, 3, 8);
	now = fill_logs_in_vain(drive, now, 20, 1);
	expect_work(drive, 0, 0, 0, 0, 0);
	now = write_page(drive, now, 30, 5);
	/* Four data blocks and the log block are erased. */
	expect_work(drive, 0, 0, 4, 4 * 32, 5);
	read_everything(drive, now);
}

/* A full merge takes the pages of its block out of the newer log blocks, too. */
DRIVE_TEST(merge_takes_pages_from_all_logs, "")
{
	u64 now = fill_logs_in_vain(drive, 0, 20, 1);

	now = write_pages(drive, now, 20, 8, 16);	/* second log, first half */
	now = write_pages(drive, now, 21, 8, 16);	/* second half */
	now = write_page(drive, now, 22, 5);
	expect_work(drive, 0, 0, 1, 32, 2);
	/* Only block 21 is left when the second one goes. */
	now = fill_logs_in_vain(drive, now, 23, 1);
	expect_work(drive, 0, 0, 2, 64, 4);
	read_everything(drive, now);
}

DRIVE_TEST(log_without_valid_pages_is_erased, "")
{
	u64 now = fill_logs_in_vain(drive, 0, 20, 2);

	write_page(drive, now, 20, 7);
	expect_work(drive, 0, 0, 0, 0, 1);
}

/* The newest version of a page in the sequential log block may be in a random one. */
DRIVE_TEST(rewritten_page_survives_the_switch, "")
{
	u64 now = write_pages(drive, 0, 3, 0, 20);

	now = write_page(drive, now, 3, 9);
	now = write_pages(drive, now, 3, 20, 12);
	expect_work(drive, 1, 0, 0, 0, 1);
	/* The random log block still has it, and merging it costs a block. */
	now = fill_logs_in_vain(drive, now, 20, 2);
	expect_work(drive, 1, 0, 1, 32, 3);
	read_everything(drive, now);
}

/* A partial merge copies the newest versions, so that their log pages become garbage. */
DRIVE_TEST(completion_takes_the_newest, "")
{
	u64 now = write_page(drive, 0, 3, 25);

	now = write_pages(drive, now, 3, 0, 12);
	now = write_page(drive, now, 4, 0);
	expect_work(drive, 0, 1, 0, 20, 1);
	now = fill_logs_in_vain(drive, now, 20, 2);
	/* Page 25 is not valid in its log block any more. */
	expect_work(drive, 0, 1, 0, 20, 2);
	read_everything(drive, now);
}

/* A full merge leaves the pages of the sequential log block where they are. */
DRIVE_TEST(merge_spares_the_sequential_log, "")
{
	u64 now = write_page(drive, 0, 3, 25);

	now = write_pages(drive, now, 3, 0, 12);
	now = fill_logs_in_vain(drive, now, 20, 2);
	expect_work(drive, 0, 0, 1, 20, 2);
	now = write_pages(drive, now, 3, 12, 20);
	expect_work(drive, 1, 0, 1, 20, 3);
	read_everything(drive, now);
}

DRIVE_TEST(discarded_block_is_not_copied, "")
{
	u64 now = write_pages(drive, 0, 3, 0, 12);

	now = write_pages(drive, now, 5, 3, 8);
	now = ssd_drive_discard(drive, now, 3 * BLOCK_PAGES * PAGE, 3 * BLOCK_PAGES * PAGE);
	/* Three data blocks and the sequential log block. */
	expect_work(drive, 0, 0, 0, 0, 4);
	now = fill_logs_in_vain(drive, now, 20, 2);
	expect_work(drive, 0, 0, 0, 0, 5);
	now = write_page(drive, now, 4, 9);
	read_everything(drive, now);
}

/* On a drive never written there is nothing to copy. */
DRIVE_TEST(new_drive_is_switched, "prefill=0")
{
	u64 now = write_pages(drive, 0, 3, 0, 12);

	now = write_page(drive, now, 4, 0);
	expect_work(drive, 1, 0, 0, 0, 0);
	now = write_page(drive, now, 6, 9);
	now = fill_logs_in_vain(drive, now, 20, 2);
	expect_work(drive, 1, 0, 1, 1, 1);
	read_everything(drive, now);
}

/* Regression: a merge that makes room for a page never written looked for that page. */
DRIVE_TEST(room_is_made_for_a_new_page, "prefill=0")
{
	u64 now = write_page(drive, 0, 3, 9);

	now = fill_logs_in_vain(drive, now, 20, 1);
	now = write_pages(drive, now, 20, 1, 31);
	now = write_page(drive, now, 3, 10);
	expect_work(drive, 0, 0, 1, 1, 1);
	read_everything(drive, now);
}

/* Eight rows, the four dies side by side; then the next block: merges follow each other. */
DRIVE_TEST(merges_take_their_time, "")
{
	u64 now, two;

	now = write_pages(drive, 0, 10, 3, 16);
	now = write_pages(drive, now, 11, 3, 16);
	now = later(fill_logs_in_vain(drive, now, 20, 1));
	two = write_page(drive, now, 30, 5) - now;
	EXPECT(two >= 2 * 8 * (READ_NS + PROGRAM_NS) &&
	       two <= 2 * 8 * (READ_NS + PROGRAM_NS) + 2 * ERASE_NS + 12 * PROGRAM_NS,
	       "two merges took %llu ns", (unsigned long long)two);
}

const struct test fast_tests[] = {
	{ "log_association=full: a block written whole is switched", whole_block_is_switched },
	{ "log_association=full: a block written in part is completed", half_block_is_completed },
	{ "log_association=full: a first page begins again", first_page_begins_again },
	{ "log_association=full: stray pages share log blocks", strays_share_log_blocks },
	{ "log_association=full: reclaiming merges each block in it",
	  reclaim_merges_each_block_in_it },
	{ "log_association=full: a merge takes pages from all logs",
	  merge_takes_pages_from_all_logs },
	{ "log_association=full: a log without valid pages is erased",
	  log_without_valid_pages_is_erased },
	{ "log_association=full: a rewritten page survives the switch",
	  rewritten_page_survives_the_switch },
	{ "log_association=full: completion takes the newest pages", completion_takes_the_newest },
	{ "log_association=full: a merge spares the sequential log",
	  merge_spares_the_sequential_log },
	{ "log_association=full: a discarded block is not copied", discarded_block_is_not_copied },
	{ "log_association=full: a new drive is switched", new_drive_is_switched },
	{ "log_association=full: room is made for a new page", room_is_made_for_a_new_page },
	{ "log_association=full: merges take their time", merges_take_their_time },
	{ NULL, NULL },
};
