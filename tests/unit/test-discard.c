// SPDX-License-Identifier: GPL-2.0-only
/* Discards of segments that may be reused: which, when, and what recovery makes of them. */
#include <linux/errno.h>
#include <linux/string.h>
#include "logbox.h"

TEST_SUITE("discard");

static void move_all_home(void)
{
	struct ressd_node *node;

	for (node = ressd_map_first_from(&box.log.map, 0); node; node = ressd_map_next(node))
		ressd_log_moved(&box.log, ressd_map_block(&box.log.map, node), node->lbn);
}

/* Writes @nr blocks from @lbn on, each with its number as contents. */
static void write_blocks(u32 lbn, u32 nr)
{
	u32 end = lbn + nr;

	for (; lbn < end; lbn++) {
		int ret;

		while ((ret = box_write(lbn, lbn + 1)) == -EAGAIN)
			box_run();
		CHECK_EQ(ret, 0);
	}
}

/* All is on the device, home, and announced. */
static void reclaim_all(void)
{
	box_sync();
	move_all_home();
	ressd_log_reclaim(&box.log);
	box_run();
}

/* One record of a block in a segment of its own, brought home at once. */
static void next_segment(u32 lbn)
{
	u64 head = box.log.head_seq;

	ressd_log_rotate(&box.log);
	write_blocks(lbn, 1);
	reclaim_all();
	CHECK_EQ(box.log.head_seq, head + 1);
}

static u32 take(void)
{
	u32 slot = ~0U;

	CHECK(ressd_log_can_discard(&box.log), "none");
	CHECK(ressd_log_take_discard(&box.log, &slot), "there is one, but not to be had");
	return slot;
}

static bool takes_none(void)
{
	u32 slot;

	return !ressd_log_can_discard(&box.log) && !ressd_log_take_discard(&box.log, &slot);
}

/* Also those of an area that the log has not come to yet: what was there before is of no use. */
TEST(each_slot_once_a_lap)
{
	u32 taken[BOX_SEGMENTS] = { }, nr, i;

	box_format();
	write_blocks(1, 1);
	reclaim_all();
	/* Not the one in use, nor the one that the head enters next. */
	for (nr = 0; !takes_none(); nr++)
		CHECK_EQ(take(), (3 + nr) % BOX_SEGMENTS);
	CHECK_EQ(nr, BOX_SEGMENTS - 2);
	for (i = 0; i < 5 * BOX_SEGMENTS; i++) {
		u32 slot;

		next_segment(2 + i);
		slot = take();
		CHECK_EQ(slot, (box.log.head_seq + BOX_SEGMENTS - 1) % BOX_SEGMENTS);
		taken[slot]++;
		CHECK(takes_none(), "a second one in lap %u", i);
	}
	for (i = 0; i < BOX_SEGMENTS; i++)
		CHECK_EQ(taken[i], 5);
}

/* The head has overtaken what was not discarded: it goes on with what lies ahead. */
TEST(missed_ones_are_left)
{
	u32 i;

	box_format();
	write_blocks(0, 1);
	reclaim_all();
	for (i = 1; i < 9; i++)
		next_segment(i);
	CHECK_EQ(take(), (box.log.head_seq + 2) % BOX_SEGMENTS);
}

/* At no step before the record that announces the death is durable. */
TEST(none_before_its_death_is_durable)
{
	struct ressd_io io;
	u32 nr = 0;

	box_format();
	write_blocks(0, 20);		/* segment 1, and a part of segment 2 */
	box_sync();
	while (!takes_none())
		take();
	CHECK_EQ(box.log.head_seq, 2);
	move_all_home();
	box_tidy();
	CHECK(takes_none(), "when it is moved");
	ressd_log_reclaim(&box.log);
	CHECK(takes_none(), "when it is to be announced");
	while (box.log.reuse_seq < 2 && ressd_log_next(&box.log, &io)) {
		CHECK(takes_none(), "during I/O %u", nr);
		if (io.kind == RESSD_IO_WRITE)
			ressd_log_encode(&box.log, &io);
		ressd_log_done(&box.log, &io, 0);
		CHECK(takes_none(), "before it is forgotten");
		box_tidy();
		CHECK_EQ(ressd_log_can_discard(&box.log), box.log.reuse_seq == 2);
		nr++;
	}
	CHECK(nr, "no I/O");
	CHECK_EQ(take(), 1);
	CHECK(takes_none(), "more than one");
}

TEST(live_segments_are_left_alone)
{
	u32 slot, live;

	box_format();
	write_blocks(0, 1);
	reclaim_all();
	next_segment(1);
	ressd_log_rotate(&box.log);
	write_blocks(2, 1);
	box_sync();
	live = ressd_geom_slot(&box.log.geom, box_block(2));
	while (!takes_none()) {
		slot = take();
		CHECK(slot != live, "the slot of a live block");
		CHECK(slot != (box.log.head_seq + 1) % BOX_SEGMENTS, "the next slot");
	}
	CHECK_EQ(box_read(2), 3);
}

/* Moved blocks stay mapped until the death of their segment is durable. */
TEST(what_the_map_knows_of_it_is_forgotten)
{
	u32 i;

	box_format();
	write_blocks(0, 3);
	next_segment(10);
	CHECK(!ressd_map_find(&box.log.map, 1), "not forgotten");
	while (take() != 1)
		;
	CHECK_EQ(box.log.map.nr_mapped, 1);
	for (i = 16; i < 32; i++)
		CHECK_EQ(box.nodes[i].lbn, RESSD_NO_BLOCK);
	write_blocks(0, 40);
	box_sync();
	for (i = 0; i < 40; i++)
		CHECK_EQ(box_read(i), i + 1);
}

/* The slot that the head enters next is forgotten in pieces; until it is, a write waits. */
TEST(head_enters_what_is_forgotten_in_pieces)
{
	u32 i, head, block, waits = 0;
	int ret;

	box_format();
	write_blocks(0, 14);
	for (i = 1; i < BOX_SEGMENTS; i++)
		next_segment(100 + i);
	box.log.step_nodes = 1;
	/* As after an activation: nothing of it is forgotten. */
	head = box.log.head_seq;
	box.log.forgotten_seq = head + 1;
	block = 3 + ressd_geom_slot_start(&box.log.geom, (head + 1) % BOX_SEGMENTS);
	ressd_map_insert(&box.log.map, block, 900);
	ressd_map_set_clean(&box.log.map, &box.nodes[block]);
	ressd_log_rotate(&box.log);
	while ((ret = box_write(500, 1)) == -EAGAIN) {
		CHECK_EQ(box.log.head_seq, head);
		waits++;
	}
	CHECK_EQ(ret, 0);
	CHECK(waits > 5, "it has waited for %u pieces only", waits);
	CHECK_EQ(box.log.head_seq, head + 1);
	CHECK(!ressd_map_find(&box.log.map, 900), "not forgotten");
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(500), 1);
}

/* Found by a planted bug that was no longer found: with on_full bypass a write waited for ever. */
TEST(full_log_is_full_though_nothing_is_forgotten)
{
	u32 lbn = 0;

	box_format();
	box_fill(&lbn);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	box_sync();
	CHECK_EQ(box_write(lbn, 1), -ENOSPC);
}

/* A block is killed while the death of its segment is announced: its UNMAP dies with that. */
TEST(unmaps_of_it_are_forgotten)
{
	struct ressd_io io;

	box_format();
	write_blocks(0, 3);
	ressd_log_rotate(&box.log);
	write_blocks(7, 1);
	box_sync();
	move_all_home();
	ressd_log_reclaim(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "no announcement");
	CHECK_EQ(io.record->tail_seq, 2);
	ressd_log_kill(&box.log, 1, 1);
	CHECK_EQ(box.log.nr_unmaps, 1);
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, 0);
	CHECK_EQ(box.log.reuse_seq, 2);
	CHECK_EQ(box.log.nr_unmaps, 1);
	box_tidy();
	CHECK_EQ(box.log.nr_unmaps, 0);
	while (take() != 1)
		;
	box_sync();
}

/* As with a read: its end must be waited for. */
TEST(head_does_not_enter_what_is_in_flight)
{
	u32 i;

	box_format();
	write_blocks(0, 1);
	reclaim_all();
	box.busy_slot = take();
	CHECK_EQ(box.busy_slot, 3);
	next_segment(1);
	write_blocks(2, 12);		/* the rest of segment 2 */
	box_run();
	CHECK_EQ(box_write(20, 21), -ENOSPC);
	CHECK_EQ(box.log.head_seq, 2);
	box.busy_slot = ~0U;
	write_blocks(20, 1);
	CHECK_EQ(box.log.head_seq, 3);
	box_sync();
	for (i = 2; i < 14; i++)
		CHECK_EQ(box_read(i), i + 1);
}

TEST(none_under_a_reader)
{
	box_format();
	write_blocks(0, 1);
	reclaim_all();
	box.busy_slot = 3;
	CHECK(takes_none(), "under a reader");
	box.busy_slot = ~0U;
	CHECK_EQ(take(), 3);
}

TEST(none_out_of_service)
{
	enum ressd_mode mode;

	for (mode = RESSD_MODE_OFF; mode <= RESSD_MODE_FAIL; mode++) {
		box_format();
		write_blocks(0, 1);
		reclaim_all();
		box.log.mode = mode;
		CHECK(takes_none(), "in mode %u", mode);
		box.log.mode = RESSD_MODE_RW;
		take();
	}
}

/* --- recovery ------------------------------------------------------------------------------ */

enum contents { ZEROES, GARBAGE, MIXED, OLD_HEADERS, NR_CONTENTS };

/* What a device may return for @slot after a discard; superblocks are none of it. */
static void discard(u32 slot, enum contents contents)
{
	const struct ressd_geom *geom = &box.log.geom;
	u32 first = ressd_geom_slot_start(geom, slot);
	u32 end = ressd_geom_slot_end(geom, slot) + geom->summary_blocks;
	u32 sector, i;

	for (sector = first * 8; sector < end * 8; sector++) {
		u8 *bytes = box.disk + (size_t)sector * 512;
		bool zero = contents == ZEROES || (contents != GARBAGE && test_below(2));

		if ((contents == MIXED && test_below(3) == 0) ||
		    (contents == OLD_HEADERS && sector < first * 8 + 8))
			continue;
		for (i = 0; i < 512; i++)
			bytes[i] = zero ? 0 : test_below(256);
	}
}

static void discard_all(enum contents contents)
{
	u32 slot;

	while (ressd_log_take_discard(&box.log, &slot))
		discard(slot, contents);
}

/* A new activation finds all that is in a segment whose death was not announced, where it was. */
static void check_recovered(void)
{
	u32 blocks[BOX_NORMAL_BLOCKS], lbn, block;
	const struct ressd_node *node;

	box_sync();
	for (lbn = 0; lbn < BOX_NORMAL_BLOCKS; lbn++) {
		node = ressd_map_find(&box.log.map, lbn);
		block = node ? ressd_map_block(&box.log.map, node) : RESSD_NO_BLOCK;
		if (node && ressd_log_segment_seq(&box.log, block) < box.log.reuse_seq)
			block = RESSD_NO_BLOCK;
		blocks[lbn] = block;
	}
	CHECK(!box_recover(), "%s", box.error);
	for (lbn = 0; lbn < BOX_NORMAL_BLOCKS; lbn++) {
		node = ressd_map_find(&box.log.map, lbn);
		block = node ? ressd_map_block(&box.log.map, node) : RESSD_NO_BLOCK;
		CHECK_EQ(block, blocks[lbn]);
		CHECK(!node || box_read(lbn) == lbn + 1, "contents of block %u", lbn);
	}
	box_sync();			/* its opening record */
}

static void churn(enum contents contents)
{
	u32 round, lbn = 0, nr;

	for (round = 0; round < 200; round++, lbn += nr) {
		nr = 1 + test_below(20);
		if (ressd_log_free_segments(&box.log) < 4)
			reclaim_all();
		write_blocks(lbn % (BOX_NORMAL_BLOCKS - 20), nr);
		if (test_below(2))
			box_sync();
		discard_all(contents);
		if (test_below(3) == 0)
			check_recovered();
		if (test_below(2))
			discard_all(contents);
	}
	check_recovered();
}

TEST(recovery_does_not_care_what_is_there)
{
	enum contents contents;

	for (contents = 0; contents < NR_CONTENTS; contents++) {
		box_format();
		discard_all(contents);	/* before there is any record */
		check_recovered();
		CHECK_EQ(box.log.map.nr_mapped, 0);
		churn(contents);
		CHECK(box.log.head_seq > 4 * BOX_SEGMENTS, "only %llu segments",
		      (unsigned long long)box.log.head_seq);
	}
}
