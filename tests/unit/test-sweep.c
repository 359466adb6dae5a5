// SPDX-License-Identifier: GPL-2.0-only
/* ressd-sweep against a plain search for the next dirty block of the frozen segments. */
#include <string.h>
#include "logbox.h"
#include "ressd-sweep.h"

const char test_suite[] = "sweep";

static void fill(u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 lbn = test_below(BOX_NORMAL_BLOCKS);

		if (box_write(lbn, i + 1)) {
			box_run();
			if (box_write(lbn, i + 1))
				return;
		}
		if (test_below(5) == 0)
			box_sync();
	}
}

/* What a sweep must deliver, by looking at every block. */
static bool belongs(const struct ressd_sweep *sweep, u32 lbn)
{
	const struct ressd_node *node = ressd_map_find(&box.log.map, lbn);
	u32 block;

	if (!node)
		return false;
	block = ressd_map_block(&box.log.map, node);
	return !ressd_map_is_clean(&box.log.map, block) &&
	       ressd_log_segment_seq(&box.log, block) <= sweep->last_segment;
}

TEST(delivers_each_once_in_order)
{
	u32 round;

	for (round = 0; round < 200; round++) {
		struct ressd_move moves[64];
		struct ressd_sweep sweep;
		u32 lbn = 0, nr, i;

		box_format();
		fill(10 + test_below(60));
		ressd_sweep_start(&sweep, &box.log);
		while ((nr = ressd_sweep_pick(&sweep, &box.log, moves, 1 + test_below(64)))) {
			for (i = 0; i < nr; i++) {
				while (lbn < moves[i].lbn)
					CHECK(!belongs(&sweep, lbn++), "block %u is left out",
					      lbn - 1);
				CHECK(belongs(&sweep, lbn), "block %u does not belong", lbn);
				CHECK_EQ(box_block(lbn), moves[i].block);
				lbn++;
			}
		}
		while (lbn < BOX_NORMAL_BLOCKS)
			CHECK(!belongs(&sweep, lbn++), "block %u is left out", lbn - 1);
	}
}

TEST(leaves_the_open_segment_alone)
{
	struct ressd_move moves[8];
	struct ressd_sweep sweep;

	box_format();
	box_write(1, 1);
	box_sync();
	ressd_sweep_start(&sweep, &box.log);
	CHECK_EQ(ressd_sweep_pick(&sweep, &box.log, moves, 8), 0);
	ressd_log_rotate(&box.log);
	box_write(2, 2);
	box_sync();
	ressd_sweep_start(&sweep, &box.log);
	CHECK_EQ(ressd_sweep_pick(&sweep, &box.log, moves, 8), 1);
	CHECK_EQ(moves[0].lbn, 1);
}

TEST(names_the_record_to_wait_for)
{
	struct ressd_sweep sweep;
	struct ressd_io io;

	box_format();
	CHECK_EQ(ressd_sweep_start(&sweep, &box.log), 0);
	box_write(1, 1);
	CHECK_EQ(ressd_sweep_start(&sweep, &box.log), 0);
	ressd_log_kick(&box.log);
	CHECK(ressd_log_next(&box.log, &io), "no record");
	CHECK_EQ(ressd_sweep_start(&sweep, &box.log), 1);
	CHECK_EQ(box.log.written_seq, 0);
	ressd_log_encode(&box.log, &io);
	ressd_log_done(&box.log, &io, 0);
	CHECK_EQ(box.log.written_seq, 1);
}

TEST(run_lengths)
{
	const struct ressd_move moves[] = {
		{ .lbn = 5, .block = 10 }, { .lbn = 6, .block = 11 }, { .lbn = 7, .block = 20 },
		{ .lbn = 9, .block = 21 },
	};

	CHECK_EQ(ressd_sweep_run(moves, 4, false), 3);
	CHECK_EQ(ressd_sweep_run(moves, 4, true), 2);
	CHECK_EQ(ressd_sweep_run(moves, 1, true), 1);
	CHECK_EQ(ressd_sweep_run(moves + 2, 2, false), 1);
}
