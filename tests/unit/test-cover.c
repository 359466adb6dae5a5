// SPDX-License-Identifier: GPL-2.0-only
/* ressd-cover: the covers themselves, and runs of a log in RAM. */
#include <linux/crc32c.h>
#include <linux/errno.h>
#include "logbox.h"
#include "ressd-log-private.h"
#include "ressd-summary.h"
#include "ressd-cover.h"

TEST_SUITE("cover");

#define NR	3U		/* covered blocks */
#define MANY	17U		/* more than a segment has */

static const u8 uuid[RESSD_UUID_SIZE] = "a test of covers";
static u8 home[MANY * RESSD_BLOCK_SIZE];
static u8 logged[MANY * RESSD_BLOCK_SIZE], buffer[MANY * RESSD_BLOCK_SIZE];

/* --- one block ------------------------------------------------------------------------------ */

TEST(a_cover_is_that_of_its_place_only)
{
	u8 block[RESSD_BLOCK_SIZE], other[RESSD_UUID_SIZE] = "another";
	u32 i;

	ressd_cover_fill(block, uuid, 5);
	for (i = 0; i < RESSD_COVER_SECTORS; i++) {
		u8 *sector = block + i * 512;

		CHECK(ressd_cover_is_sector(sector, uuid, 5, i), "sector %u is none", i);
		CHECK(!ressd_cover_is_sector(sector, uuid, 4, i), "of another block");
		CHECK(!ressd_cover_is_sector(sector, uuid, 5, i ^ 1), "of another sector");
		CHECK(!ressd_cover_is_sector(sector, other, 5, i), "of another area");
		sector[100 + 40 * i] ^= 1 << i;
		CHECK(!ressd_cover_is_sector(sector, uuid, 5, i), "damaged");
	}
}

/* Of another version, with a good checksum. */
TEST(a_cover_of_another_version_is_none)
{
	struct ressd_cover_sector sectors[RESSD_COVER_SECTORS], *sector = &sectors[0];
	u32 i;

	for (i = 0; i < 2; i++) {
		ressd_cover_fill(sectors, uuid, 0);
		sector->version = cpu_to_le32(RESSD_FORMAT_VERSION + i);
		sector->crc = 0;
		sector->crc = cpu_to_le32(crc32c(~0U, sector, sizeof(*sector)));
		CHECK_EQ(ressd_cover_is_sector(sector, uuid, 0, 0), !i);
	}
}

/* Partition tables and boot sectors have 55 AA there, swap space and LVM words of their own. */
TEST(a_cover_has_no_signature_of_something_else)
{
	struct ressd_cover_sector sectors[RESSD_COVER_SECTORS];
	u32 i;

	ressd_cover_fill(sectors, uuid, 0);
	for (i = 0; i < RESSD_COVER_SECTORS; i++) {
		CHECK(ressd_is_zero((u8 *)&sectors[i] + 496, 16), "sector %u", i);
		CHECK(strstr(sectors[i].text, "Do not mount"), "it says nothing to people");
	}
}

TEST(only_covers_are_replaced)
{
	u8 place[RESSD_BLOCK_SIZE], copy[RESSD_BLOCK_SIZE];

	memset(copy, 7, sizeof(copy));
	memset(place, 9, sizeof(place));
	CHECK_EQ(ressd_cover_merge(place, copy, uuid, 2), 0);
	CHECK(place[0] == 9 && place[4095] == 9, "changed without a cover");
	ressd_cover_fill(place, uuid, 2);
	memset(place + 512, 9, 1024);
	CHECK_EQ(ressd_cover_merge(place, copy, uuid, 2), 6);
	CHECK(place[0] == 7 && place[512] == 9 && place[1535] == 9 && place[1536] == 7 &&
	      place[4095] == 7, "not sector by sector");
}

static struct ressd_geom geometry(u32 segment_blocks, u32 blocks)
{
	char error[RESSD_ERROR_SIZE];
	struct ressd_geom geom;

	CHECK(!ressd_geom_init(&geom, (u64)blocks * 8, segment_blocks * 8, error, sizeof(error)),
	      "%s", error);
	return geom;
}

TEST(small_logs_cover_nothing)
{
	struct ressd_geom geom = geometry(256, 256 * 8);

	CHECK_EQ(ressd_cover_default(&geom, 1 << 20), 17);
	CHECK_EQ(ressd_cover_default(&geom, 17 * 8 - 1), 0);
	CHECK_EQ(ressd_cover_reserve(&geom, 17), 1);
	CHECK_EQ(ressd_cover_reserve(&geom, 0), 0);
	geom = geometry(256, 256 * 8 + 20);	/* the last segment is short */
	CHECK_EQ(ressd_cover_reserve(&geom, 17), 2);
	CHECK_EQ(ressd_cover_default(&geom, 1 << 20), 17);
	geom = geometry(256, 256 * 4);
	CHECK_EQ(ressd_cover_reserve(&geom, 17), 1);
	CHECK_EQ(ressd_cover_default(&geom, 1 << 20), 0);
	geom = geometry(256, 256 * 6 + 20);
	CHECK_EQ(ressd_cover_default(&geom, 1 << 20), 0);
	geom = geometry(16, 16 * 11);
	CHECK_EQ(ressd_cover_reserve(&geom, 17), 3);
	CHECK_EQ(ressd_cover_default(&geom, 1 << 20), 0);
	CHECK(ressd_cover_fits(&geom, 17), "17 do not fit");
	CHECK(!ressd_cover_fits(&geom, 60), "60 fit");
	geom = geometry(16, 16 * 12);
	CHECK_EQ(ressd_cover_default(&geom, 1 << 20), 17);
}

/* --- runs ----------------------------------------------------------------------------------- */

static void transfer(const struct ressd_cover_action *action)
{
	size_t bytes = (size_t)action->nr * RESSD_BLOCK_SIZE;
	u8 *place = home + (size_t)action->lbn * RESSD_BLOCK_SIZE;

	switch (action->kind) {
	case RESSD_COVER_READ_HOME:
		memcpy(action->data, home, bytes);
		break;
	case RESSD_COVER_READ_LOG:
		memcpy(action->data, disk_block(action->block), bytes);
		break;
	case RESSD_COVER_WRITE_HOME:
		memcpy(place, action->data, bytes);
		break;
	case RESSD_COVER_RECLAIM:
		ressd_log_reclaim(&box.log);
		box_run();
		break;
	case RESSD_COVER_SYNC:
		box_sync();
		break;
	case RESSD_COVER_WAIT:
		box_run();
		break;
	case RESSD_COVER_WORK:
	case RESSD_COVER_END:
		break;
	}
}

static u32 bad_block;			/* of the last run */
static u32 bad_read;			/* of the log, that fails; 0: none */
static bool bad_home;			/* it cannot be read */
static bool bad_sync;			/* the next one fails */
static struct ressd_io *in_flight;	/* a record's write, which the next action ends; or NULL */
static void (*home_read)(void);		/* called once when the home blocks are read; or NULL */
static u32 waits;			/* of the last run */

/* Carries a run out, the @bad_write-th write fails; its result. */
static int run(enum ressd_cover_goal goal, u32 bad_write)
{
	struct ressd_cover_run run = { .logged = logged, .home = buffer };
	struct ressd_cover_action action;

	CHECK(ressd_cover_start(&run, &box.log, goal), "it does not begin");
	for (waits = 0;; waits += action.kind == RESSD_COVER_WAIT) {
		int error = 0;

		ressd_cover_next(&run, &box.log, &action);
		bad_block = run.bad;
		if (in_flight)
			ressd_log_done(&box.log, in_flight, 0);
		in_flight = NULL;
		if (action.kind == RESSD_COVER_WORK)
			ressd_cover_work(&run);
		if (action.kind == RESSD_COVER_END)
			return run.result;
		if (action.kind == RESSD_COVER_WRITE_HOME && bad_write && !--bad_write)
			error = -EIO;
		else if (action.kind == RESSD_COVER_READ_LOG && bad_read && !--bad_read)
			error = -EIO;
		else if (action.kind == RESSD_COVER_READ_HOME && bad_home)
			error = -EIO;
		else if (action.kind == RESSD_COVER_SYNC && bad_sync)
			error = -EIO;
		else
			transfer(&action);
		if (action.kind == RESSD_COVER_READ_HOME && home_read) {
			home_read();
			home_read = NULL;
		}
		ressd_cover_done(&run, &box.log, error);
	}
}

static void start_with(u32 nr)
{
	box_format();
	box.cover_blocks = nr;
	CHECK_EQ(box_recover(), 0);
	box_sync();
	memset(home, 0x11, nr * RESSD_BLOCK_SIZE);
}

static void start(void)
{
	start_with(NR);
}

static bool stands(u32 lbn)
{
	u32 i;

	for (i = 0; i < RESSD_COVER_SECTORS; i++)
		if (!ressd_cover_is_sector(home + lbn * RESSD_BLOCK_SIZE + i * 512, box.log.uuid,
					   lbn, i))
			return false;
	return true;
}

TEST(nothing_is_logged_before_covers_stand)
{
	enum ressd_cover_goal goal;

	start();
	CHECK(!ressd_cover_choose(&box.log, false, &goal), "nobody has written");
	CHECK_EQ(box_write(100, 1), -EAGAIN);
	CHECK(ressd_cover_choose(&box.log, false, &goal) && goal == RESSD_COVER_COVER,
	      "a writer waits");
	CHECK(!ressd_cover_choose(&box.log, true, &goal), "it waits for a drain's end");
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK(stands(0) && stands(1) && stands(2), "a cover is missing");
	CHECK_EQ(box_write(100, 1), 0);
	CHECK_EQ(ressd_log_nr_movable(&box.log), 1);
	CHECK_EQ(box_read(2), 0x1111111111111111ULL);
}

/* Else a discard of the whole device looked at all blocks of the log, and waited for dirty ones. */
TEST(only_covered_blocks_are_looked_at)
{
	u32 lbn;

	start();
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(box_write(NR, 1), 0);
	CHECK(ressd_cover_is_dirty(&box.log, 0, 1000), "their copies are in the log");
	for (lbn = 0; lbn < NR; lbn++)
		ressd_log_moved(&box.log, box_block(lbn), lbn);
	CHECK(!ressd_cover_is_dirty(&box.log, 0, 1000), "the block behind them counts");
}

/*
 * Found by 72-mixed: the copies of covered blocks keep the tail where it is, so priming had nothing
 * to announce and left two segments in a row without a record; the next recovery refused the log.
 */
TEST(priming_leaves_no_segment_without_a_record)
{
	u64 head;
	u32 steps;

	start_with(1);
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(box_write(100, 1), 0);
	box_sync();
	ressd_log_moved(&box.log, box_block(100), 100);
	ressd_log_reclaim(&box.log);
	box_run();
	box.log.page_blocks = 4;
	box.log.unit_blocks = 4 * BOX_SEGMENT_BLOCKS;
	head = box.log.head_seq;
	for (steps = 0; steps < 4 && ressd_log_can_prime(&box.log); steps++) {
		ressd_log_prime(&box.log);
		box_run();
	}
	CHECK(box.log.head_seq > head + 1, "it left %llu segments only",
	      (unsigned long long)(box.log.head_seq - head));
	CHECK_EQ(box_write(200, 2), 0);
	box_sync();
	head = box.log.head_seq;
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.log.head_seq, head);
	CHECK_EQ(box_read(0), 0x1111111111111111ULL);
	CHECK_EQ(box_read(200), 2);
}

/*
 * A repair may have cut off copies of covered blocks.  Formerly as many others then counted as
 * home: a drain announced that before they were, and a loss of power would have lost them.
 */
TEST(lost_copies_hide_no_other_blocks)
{
	enum ressd_cover_goal goal;
	u32 lbn;

	start();
	CHECK_EQ(box_write(100, 1), -EAGAIN);
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	ressd_log_kill(&box.log, 1, 2);
	for (lbn = 100; lbn < 102; lbn++) {
		CHECK_EQ(box_write(lbn, 1), 0);
		box_sync();
		CHECK_EQ(ressd_log_nr_movable(&box.log), lbn - 99);
	}
	CHECK(!ressd_cover_choose(&box.log, true, &goal), "two blocks are not home");
	for (lbn = 100; lbn < 102; lbn++)
		CHECK(ressd_log_moved(&box.log, box_block(lbn), lbn), "not moved");
	CHECK_EQ(ressd_log_nr_movable(&box.log), 0);
	CHECK(ressd_cover_choose(&box.log, true, &goal) && goal == RESSD_COVER_UNCOVER, "none is");
}

static void flush_comes(void)
{
	ressd_log_sync(&box.log);
}

/* A flush waits for a segment's copies in RAM: the other copies wait until they are written. */
TEST(covering_waits_for_a_flush)
{
	start_with(MANY);
	home_read = flush_comes;
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(waits, 1);
	CHECK_EQ(box.log.counters.covered, MANY);
	CHECK(stands(0) && stands(MANY - 1), "a cover is missing");
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(MANY - 1), 0x1111111111111111ULL);
}

static void log_fails(void)
{
	box.log.mode = RESSD_MODE_OFF;
}

TEST(nothing_is_covered_when_the_log_fails)
{
	start();
	home_read = log_fails;
	CHECK_EQ(run(RESSD_COVER_COVER, 0), -EIO);
	CHECK(!box.log.covered && !stands(0), "there is a cover, and no copy");
}

/*
 * The log has failed with all copies in RAM, and was repaired.  Writes to covered blocks wait for
 * the next run: formerly it read them at home all the same, and if that failed they waited for
 * ever.
 */
TEST(an_interrupted_run_needs_no_home)
{
	enum ressd_cover_goal goal;

	start();
	bad_sync = true;
	CHECK_EQ(run(RESSD_COVER_COVER, 0), -EIO);
	bad_sync = false;
	CHECK(!box.log.covered && ressd_cover_any_dirty(&box.log), "not interrupted");
	box_sync();
	CHECK(ressd_cover_choose(&box.log, false, &goal) && goal == RESSD_COVER_COVER,
	      "no run follows");
	bad_home = true;
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	bad_home = false;
	CHECK(box.log.covered && stands(0) && stands(2), "not covered");
	CHECK_EQ(box_read(2), 0x1111111111111111ULL);
}

TEST(recovery_knows_what_counts)
{
	start();
	CHECK_EQ(box_write(100, 1), -EAGAIN);
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(box_recover(), 0);
	CHECK(!box.log.covered, "no record says that covers stand");
	CHECK(ressd_cover_any_dirty(&box.log), "the copies are lost");
	box_sync();
	CHECK_EQ(run(RESSD_COVER_RESTORE, 0), 0);
	CHECK(home[0] == 0x11 && home[NR * RESSD_BLOCK_SIZE - 1] == 0x11, "not restored");
	CHECK(!ressd_cover_any_dirty(&box.log), "not home");

	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(box_write(100, 1), 0);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK(box.log.covered, "a record says that covers stand");
}

/* The summary of the segment that the head leaves now. */
static const struct ressd_summary *next_summary(void)
{
	u32 slot = ressd_geom_slot_of_seq(&box.log.geom, box.log.head_seq);
	const struct ressd_summary *summary =
		(void *)disk_block(ressd_geom_slot_end(&box.log.geom, slot));

	box.log.rotate = true;
	ressd_log_reclaim(&box.log);
	box_run();
	box_sync();
	CHECK_EQ(le64_to_cpu(summary->magic), RESSD_SUMMARY_MAGIC);
	return summary;
}

/* The last record of a segment says what counts; so must the summary that speaks for it. */
TEST(a_summary_knows_what_counts)
{
	const struct ressd_summary *summary;
	struct ressd_link link;

	start();
	CHECK_EQ(box_write(1, 5), -EAGAIN);
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(box_write(1, 5), 0);
	box_sync();
	summary = next_summary();
	CHECK(le32_to_cpu(summary->flags) & RESSD_RECORD_FIRST, "the first one's flag is lost");
	ressd_summary_link(summary, &link);
	CHECK(!link.uncovered, "home would count");
	CHECK_EQ(run(RESSD_COVER_UNCOVER, 0), 0);
	box_sync();
	summary = next_summary();
	ressd_summary_link(summary, &link);
	CHECK(link.uncovered, "the log would count");
}

/* Found by the simulator: what stood there instead of the cover was taken for the newer version. */
TEST(a_cover_that_was_not_written_does_not_count_as_home)
{
	start();
	CHECK_EQ(box_write(1, 5), -EAGAIN);
	CHECK_EQ(run(RESSD_COVER_COVER, 2), 0);
	CHECK(stands(0) && !stands(1), "the wrong write has failed");
	CHECK_EQ(box_write(1, 5), 0);
	box_sync();
	CHECK_EQ(run(RESSD_COVER_UNCOVER, 2), -EIO);
	CHECK(box.log.covered, "home would count, and has an older version");
	CHECK_EQ(run(RESSD_COVER_UNCOVER, 0), 0);
	CHECK_EQ(home[RESSD_BLOCK_SIZE], 5);
	CHECK_EQ(home[2 * RESSD_BLOCK_SIZE], 0x11);
}

TEST(what_cannot_come_home_is_covered_again)
{
	start();
	CHECK_EQ(box_write(100, 1), -EAGAIN);
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(run(RESSD_COVER_UNCOVER, 1), -EIO);
	CHECK(box.log.covered && stands(0) && stands(1) && stands(2), "not covered");
	/* The log's copy cannot be read, or is damaged. */
	bad_read = 2;
	CHECK_EQ(run(RESSD_COVER_UNCOVER, 0), -EIO);
	CHECK_EQ(bad_block, 1);
	CHECK(box.log.covered && stands(0) && stands(1) && stands(2), "not covered");
	disk_block(box_block(2))[77] ^= 1;
	CHECK_EQ(run(RESSD_COVER_UNCOVER, 0), -EIO);
	CHECK_EQ(bad_block, 2);
	CHECK(box.log.covered && stands(0) && stands(1) && stands(2), "not covered");
	disk_block(box_block(2))[77] ^= 1;
	CHECK_EQ(run(RESSD_COVER_UNCOVER, 0), 0);
	CHECK(home[0] == 0x11 && home[NR * RESSD_BLOCK_SIZE - 1] == 0x11, "not home");
}

/* Home may have something newer by then: nothing is covered. */
TEST(what_cannot_be_restored_stays_as_it_is)
{
	start();
	CHECK_EQ(box_write(100, 1), -EAGAIN);
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(box_recover(), 0);
	box_sync();
	CHECK_EQ(run(RESSD_COVER_RESTORE, 1), -EIO);
	CHECK(!box.log.covered && ressd_cover_any_dirty(&box.log), "restored");
	CHECK_EQ(run(RESSD_COVER_RESTORE, 0), 0);
	CHECK(home[0] == 0x11 && home[NR * RESSD_BLOCK_SIZE - 1] == 0x11, "not restored");
}

/* Power was lost when some of the copies were in the log, and a cover in place of one of them. */
TEST(few_copies_are_restored)
{
	struct ressd_place place;

	start();
	CHECK_EQ(ressd_log_accept_leaving(&box.log, 1, &place, 0), 0);
	memset(place.data, 0x22, RESSD_BLOCK_SIZE);
	box_sync();
	ressd_cover_fill(home + RESSD_BLOCK_SIZE, box.log.uuid, 1);
	CHECK_EQ(box_recover(), 0);
	box_sync();
	CHECK_EQ(run(RESSD_COVER_RESTORE, 0), 0);
	CHECK(home[0] == 0x11 && home[2 * RESSD_BLOCK_SIZE] == 0x11, "changed");
	CHECK(home[RESSD_BLOCK_SIZE] == 0x22 && home[2 * RESSD_BLOCK_SIZE - 1] == 0x22,
	      "not restored");
	CHECK(!ressd_cover_any_dirty(&box.log), "not home");
}

TEST(nothing_runs_without_covers_or_out_of_service)
{
	struct ressd_cover_run run = { .logged = logged, .home = buffer };

	start();
	box.log.mode = RESSD_MODE_OFF;
	CHECK(!ressd_cover_start(&run, &box.log, RESSD_COVER_COVER), "the log is off");
	box_format();
	CHECK_EQ(box_recover(), 0);
	CHECK(!ressd_cover_start(&run, &box.log, RESSD_COVER_COVER), "there are no covers");
}

TEST(covered_blocks_are_carried_when_their_segment_holds_nothing_else)
{
	enum ressd_cover_goal goal;
	u32 lbn = 100;

	start();
	CHECK_EQ(box_write(100, 1), -EAGAIN);
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	while (!box_write(lbn, 2) || (box_run() && !box_write(lbn, 2)))
		lbn++;
	CHECK(ressd_log_is_full(&box.log), "there is room");
	CHECK(!ressd_cover_must_carry(&box.log), "others live in it");
	ressd_log_kill(&box.log, 100, lbn - 100);
	CHECK(ressd_cover_choose(&box.log, false, &goal) && goal == RESSD_COVER_CARRY, "none does");
	box_sync();
	disk_block(box_block(1))[77] ^= 1;
	CHECK_EQ(run(RESSD_COVER_CARRY, 0), -EIO);
	CHECK_EQ(bad_block, 1);
	disk_block(box_block(1))[77] ^= 1;
	CHECK_EQ(run(RESSD_COVER_CARRY, 0), 0);
	CHECK(!ressd_log_is_full(&box.log), "nothing was gained");
	CHECK_EQ(box_read(0), 0x1111111111111111ULL);
	CHECK_EQ(box_read(2), 0x1111111111111111ULL);
}

/* A record of the segment that is to be carried is still being written. */
TEST(what_is_in_ram_is_carried_from_there)
{
	struct ressd_io io;

	start();
	CHECK_EQ(box_write(100, 1), -EAGAIN);
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	CHECK_EQ(box_write(0, 5), 0);
	ressd_log_rotate(&box.log);
	CHECK(ressd_log_next(&box.log, &io) && io.kind == RESSD_IO_WRITE && io.record, "no record");
	ressd_log_encode(&box.log, &io);
	CHECK(!ressd_log_is_at_rest(&box.log), "at rest beside a write");
	CHECK_EQ(box_write(100, 6), 0);
	CHECK(ressd_cover_must_carry(&box.log), "nothing is to be carried");
	in_flight = &io;
	CHECK_EQ(run(RESSD_COVER_CARRY, 0), 0);
	CHECK_EQ(box_read(0), 5);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(0), 5);
	CHECK_EQ(box_read(1), 0x1111111111111111ULL);
}

TEST(a_superblock_names_the_covered_blocks)
{
	struct ressd_super_info info = {
		.table = { .len = 1 << 20, .reserved_start = 1 << 20, .reserved_sectors = 1 << 15 },
		.segment_sectors = 2048, .record_blocks = 128, .cover_blocks = 17,
	}, back;
	char error[RESSD_ERROR_SIZE];
	struct ressd_super super;

	ressd_super_encode(&super, &info, 0);
	CHECK_EQ(le32_to_cpu(super.incompat), RESSD_INCOMPAT_COVER);
	CHECK_EQ(ressd_super_decode(&super, 0, &back, error, sizeof(error)), RESSD_SUPER_GOOD);
	CHECK_EQ(back.cover_blocks, 17);
	info.cover_blocks = 500;
	ressd_super_encode(&super, &info, 0);
	CHECK_EQ(ressd_super_decode(&super, 0, &back, error, sizeof(error)), RESSD_SUPER_DAMAGED);
	CHECK_HAS(error, "500 covered blocks");
	info.cover_blocks = 17;
	info.table.len = 16 * RESSD_BLOCK_SECTORS;
	ressd_super_encode(&super, &info, 0);
	CHECK_EQ(ressd_super_decode(&super, 0, &back, error, sizeof(error)), RESSD_SUPER_DAMAGED);
	CHECK_HAS(error, "17 covered blocks");
	info.cover_blocks = 0;
	ressd_super_encode(&super, &info, 0);
	CHECK_EQ(le32_to_cpu(super.incompat), 0);
}

/* Everything but covered blocks is brought home, and what died is announced. */
static void move_all_else(void)
{
	u32 lbn;

	for (lbn = NR; lbn < BOX_NORMAL_BLOCKS; lbn++) {
		const struct ressd_node *node = ressd_map_find(&box.log.map, lbn);
		u32 block = node ? ressd_map_block(&box.log.map, node) : 0;

		if (node && !ressd_log_holds(&box.log, block))
			ressd_log_moved(&box.log, block, lbn);
	}
	ressd_log_reclaim(&box.log);
	box_run();
	box_tidy();
}

/* Until nothing is accepted any more. */
static void fill_log(u32 *lbn)
{
	int ret;

	while (!(ret = box_write(*lbn, *lbn)) || ret == -EAGAIN) {
		*lbn = *lbn < 900 ? *lbn + 1 : 100;
		if (!(*lbn % 4))
			box_sync();
		box_tidy();
	}
	CHECK_EQ(ret, -ENOSPC);
	box_sync();
}

/* The copy cannot be carried, so nothing behind it can be reused, and the log fills up. */
TEST(a_damaged_copy_is_mended_in_a_full_log)
{
	struct ressd_place place;
	enum ressd_cover_goal goal;
	u32 lbn = 100, i;

	start();
	CHECK_EQ(run(RESSD_COVER_COVER, 0), 0);
	disk_block(box_block(1))[77] ^= 1;
	for (i = 0; i < 20; i++) {
		fill_log(&lbn);
		move_all_else();
		if (ressd_cover_choose(&box.log, false, &goal))
			CHECK_EQ(run(goal, 0), -EIO);
	}
	CHECK_EQ(bad_block, 1);
	CHECK_EQ(box_write(1, 5), -ENOSPC);
	CHECK_EQ(ressd_log_mend(&box.log, 1, &place), 0);
	memset(place.data, 5, RESSD_BLOCK_SIZE);
	box_sync();
	CHECK(ressd_cover_choose(&box.log, false, &goal), "nothing to carry");
	CHECK_EQ(goal, RESSD_COVER_CARRY);
	CHECK_EQ(run(goal, 0), 0);
	move_all_else();
	CHECK_EQ(box_write(2, 5), 0);
}
