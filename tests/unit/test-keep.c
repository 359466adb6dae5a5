// SPDX-License-Identifier: GPL-2.0-only
/* ressd-keep: what stays in the log though its segment is to be used again. */
#include <linux/string.h>
#include "logbox.h"
#include "ressd-keep.h"

TEST_SUITE("keep");

#define FULL	14U	/* blocks that fill a segment */

static u32 slot;

/* Writes @nr blocks from @lbn on, and lets go out what is full. */
static void put(u32 lbn, u32 nr, u64 id)
{
	for (; nr--; lbn++) {
		if (!box_write(lbn, id))
			continue;
		box_run();
		CHECK_EQ(box_write(lbn, id), 0);
	}
}

/* Segment 1 holds blocks 0 to 13, and segment 2 others and newer versions of the first @died. */
static void start(u32 died)
{
	box_format();
	put(0, FULL, 1);
	box_run();		/* or they would be overwritten in RAM */
	put(0, died, 2);
	put(100, FULL - died, 3);
	put(200, 1, 4);
	box_run();
	CHECK_EQ(box.log.head_seq, 3);
}

static void die(u32 block, u32 nr)
{
	ressd_log_kill(&box.log, block, nr);
}

/* With so many superseded blocks the rest is few enough. */
static u32 enough(void)
{
	return FULL - BOX_SEGMENT_BLOCKS / RESSD_KEEP_PART;
}

TEST(few_live_blocks_are_kept)
{
	start(FULL - 1);
	start(enough() - 1);
	CHECK(!ressd_keep_wanted(&box.log, 0, &slot), "too many are live");
	start(enough());
	CHECK(ressd_keep_wanted(&box.log, 0, &slot), "few are live");
	CHECK_EQ(slot, 1);
	CHECK_EQ(box_recover(), 0);
	CHECK(ressd_keep_wanted(&box.log, 0, &slot), "recovery has not counted the live ones");
	start(enough() - 1);
	die(FULL - 1, 1);
	CHECK(ressd_keep_wanted(&box.log, 0, &slot), "killed by a direct write is not live");
	start(enough() - 1);
	CHECK(ressd_log_moved(&box.log, box_block(FULL - 1), FULL - 1), "not moved");
	CHECK(ressd_keep_wanted(&box.log, 0, &slot), "written back is not live");
}

TEST(an_empty_segment_is_not_kept)
{
	start(FULL);
	CHECK(ressd_log_can_reclaim(&box.log), "not empty");
	CHECK(!ressd_keep_wanted(&box.log, 0, &slot), "it is empty, and the next one lives");
}

/* The one that is being written has no dead of its own. */
TEST(the_head_is_not_kept)
{
	box_format();
	put(0, 3, 1);
	box_sync();
	die(0, 2);
	CHECK_EQ(box.log.head_seq, 1);
	CHECK(!ressd_keep_wanted(&box.log, 0, &slot), "the head is kept");
}

/* Or else the mover could find no room any more. */
TEST(nothing_is_kept_where_room_is_scarce)
{
	start(enough());
	put(300, FULL - 1, 6);
	CHECK(ressd_keep_wanted(&box.log, 0, &slot), "there is room");
	put(400, FULL + 1, 7);
	box_run();
	CHECK(ressd_log_free_segments(&box.log) < 2, "%u free segments",
	      ressd_log_free_segments(&box.log));
	CHECK(!ressd_keep_wanted(&box.log, 0, &slot), "there is none");

	start(enough());
	CHECK(ressd_keep_wanted(&box.log, 0, &slot), "there is room");
	box.log.cover_reserve = ressd_log_free_segments(&box.log) - 1;
	CHECK(!ressd_keep_wanted(&box.log, 0, &slot), "covers need it");
}

/*
 * Found by the demo: a lasting load met a log that was full of what it had kept, and waited for a
 * whole round of visits, 3.4 s.
 */
TEST(nothing_is_kept_where_a_third_of_the_space_is_used)
{
	u32 percent;

	start(enough());
	percent = ressd_log_free_blocks(&box.log) * 100 / ressd_log_total_blocks(&box.log);
	CHECK(percent < 66, "%u percent are free", percent);
	CHECK(ressd_keep_wanted(&box.log, percent * 3 / 2, &slot), "there is space");
	CHECK(!ressd_keep_wanted(&box.log, percent * 3 / 2 + 2, &slot), "there is none");
}

TEST(nothing_is_kept_by_a_log_out_of_service)
{
	start(enough());
	ressd_log_flush_failed(&box.log);
	CHECK(!ressd_keep_wanted(&box.log, 0, &slot), "mode %d", box.log.mode);
}

/* As dm-ressd-keep.c does it.  Afterwards the segment is free, and all is there. */
TEST(kept_blocks_are_there_after_a_crash)
{
	u32 block, end, lbn, nr = 0;

	start(enough());
	CHECK(ressd_keep_wanted(&box.log, 0, &slot), "few are live");
	block = ressd_geom_slot_start(&box.log.geom, slot);
	end = ressd_geom_slot_end(&box.log.geom, slot);
	for (;; block++, nr++) {
		struct ressd_place place;

		block = ressd_keep_next(&box.log, block, end);
		if (block == end)
			break;
		CHECK_EQ(ressd_log_accept(&box.log, box.log.map.nodes[block].lbn, &place), 0);
		memcpy(place.data, box.disk + (size_t)block * RESSD_BLOCK_SIZE, RESSD_BLOCK_SIZE);
		CHECK_EQ(ressd_keep_next(&box.log, block, block + 1), block + 1);
	}
	CHECK_EQ(nr, FULL - enough());
	CHECK_EQ(box.segments[1].live, 0);
	ressd_log_write_soon(&box.log);
	box_run();
	ressd_log_reclaim(&box.log);
	box_run();
	CHECK_EQ(box.log.reuse_seq, 2);
	CHECK_EQ(box_recover(), 0);
	for (lbn = 0; lbn < FULL; lbn++)
		CHECK_EQ(box_read(lbn), lbn < enough() ? 2 : 1);
}

/* What is home, superseded, or in RAM only. */
TEST(only_what_is_dirty_on_the_device_is_kept)
{
	u32 start_block, end;

	start(enough());
	start_block = ressd_geom_slot_start(&box.log.geom, 1);
	end = ressd_geom_slot_end(&box.log.geom, 1);
	CHECK_EQ(ressd_keep_next(&box.log, start_block, end), start_block + 1 + enough());
	CHECK(ressd_log_moved(&box.log, box_block(enough()), enough()), "not moved");
	CHECK_EQ(ressd_keep_next(&box.log, start_block, end), start_block + 2 + enough());
	CHECK_EQ(box_write(500, 1), 0);
	CHECK_EQ(ressd_keep_next(&box.log, box_block(500), box_block(500) + 1),
		 box_block(500) + 1);
}
