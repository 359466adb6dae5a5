// SPDX-License-Identifier: GPL-2.0-only
/* ressd-sweep against a plain search for the next dirty block of the frozen segments. */
#include <linux/string.h>
#include <linux/minmax.h>
#include "logbox.h"
#include "ressd-sweep.h"

TEST_SUITE("sweep");

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

/* A batch as dm-ressd-batch.c picks it: core looks at few nodes in each call. */
static u32 pick_in_pieces(struct ressd_sweep *sweep, struct ressd_move *moves, u32 max)
{
	u32 nr = 0;

	box.log.step_nodes = 1 + test_below(20);
	do {
		if (nr)
			nr += ressd_sweep_pick_more(sweep, &box.log, moves + nr, max - nr);
		else
			nr = ressd_sweep_pick(sweep, &box.log, moves, max);
		CHECK(nr <= max, "%u blocks instead of %u at most", nr, max);
	} while (sweep->cut && nr < max);
	box.log.step_nodes = RESSD_STEP_NODES;
	return nr;
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
		while ((nr = pick_in_pieces(&sweep, moves, 1 + test_below(64)))) {
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

/* Of those that hold something. */
TEST(oldest_segment_alone)
{
	struct ressd_sweep sweep;
	u32 lbn;

	box_format();
	for (lbn = 1; lbn <= 3; lbn++) {
		CHECK_EQ(box_write(lbn, lbn), 0);
		box_sync();
		ressd_log_rotate(&box.log);
	}
	for (lbn = 1; lbn <= 2; lbn++) {
		ressd_sweep_start(&sweep, &box.log);
		CHECK_EQ(sweep.last_segment, 2);
		ressd_sweep_oldest(&sweep, &box.log);
		CHECK_EQ(sweep.last_segment, lbn);
		CHECK(ressd_log_moved(&box.log, box_block(lbn), lbn), "block %u", lbn);
	}
}

/* What may come along with the blocks of the frozen segments: on the device, not yet home. */
static bool may_come(const struct ressd_sweep *sweep, u32 lbn)
{
	const struct ressd_node *node = ressd_map_find(&box.log.map, lbn);
	u32 block;

	if (!node)
		return false;
	block = ressd_map_block(&box.log.map, node);
	return belongs(sweep, lbn) || (!ressd_map_is_clean(&box.log.map, block) &&
				       !ressd_log_data(&box.log, block));
}

/* The visits of a sweep, by looking at every clustered block: which of its blocks must come. */
static void expect_visits(const struct ressd_sweep *sweep, u8 *move, u8 *hole)
{
	u32 first, lbn, end;

	memset(move, 0, BOX_NORMAL_BLOCKS);
	memset(hole, 0, BOX_NORMAL_BLOCKS);
	for (first = 0; first < BOX_NORMAL_BLOCKS; first = end) {
		u32 into = (first + sweep->visit_phase) % sweep->visit_blocks;
		u32 frozen = 0, on_device = 0, runs = 0;
		bool follows = false;

		end = min(first + sweep->visit_blocks - into, BOX_NORMAL_BLOCKS);
		for (lbn = first; lbn < end; lbn++) {
			const struct ressd_node *node = ressd_map_find(&box.log.map, lbn);

			frozen += belongs(sweep, lbn);
			if (may_come(sweep, lbn) &&
			    !ressd_log_data(&box.log, ressd_map_block(&box.log.map, node))) {
				on_device++;
				runs += !follows;
				follows = true;
			} else {
				follows = false;
			}
		}
		if (!frozen)
			continue;
		for (lbn = first; lbn < end; lbn++) {
			move[lbn] = may_come(sweep, lbn);
			hole[lbn] = !move[lbn] && sweep->fill_blocks &&
				on_device >= sweep->fill_blocks && runs > 1;
		}
	}
}

TEST(visits_take_along_and_fill)
{
	u32 round, filled = 0, rode = 0;

	for (round = 0; round < 400; round++) {
		u8 move[BOX_NORMAL_BLOCKS], hole[BOX_NORMAL_BLOCKS];
		struct ressd_move moves[64];
		struct ressd_sweep sweep;
		u32 visit_blocks = 1 + test_below(120), lbn = 0, nr, i;

		box_format();
		fill(10 + test_below(60));
		ressd_sweep_start(&sweep, &box.log);
		ressd_sweep_visits(&sweep, visit_blocks, test_below(visit_blocks), test_below(8),
				   0);
		expect_visits(&sweep, move, hole);
		while ((nr = pick_in_pieces(&sweep, moves, 1 + test_below(64)))) {
			for (i = 0; i < nr; i++, lbn++) {
				for (; lbn < moves[i].lbn; lbn++)
					CHECK(!move[lbn] && !hole[lbn], "block %u is left out",
					      lbn);
				CHECK_EQ(lbn, moves[i].lbn);
				CHECK_EQ(ressd_move_is_hole(&moves[i]), hole[lbn]);
				CHECK_EQ(!ressd_move_is_hole(&moves[i]), move[lbn]);
				if (move[lbn])
					CHECK_EQ(box_block(lbn), moves[i].block);
				filled += hole[lbn];
				rode += move[lbn] && !belongs(&sweep, lbn);
			}
		}
		for (; lbn < BOX_NORMAL_BLOCKS; lbn++)
			CHECK(!move[lbn] && !hole[lbn], "block %u is left out", lbn);
	}
	CHECK(filled > 1000 && rode > 100, "%u holes and %u riders are too few", filled, rode);
}

/* With no block size known nothing changes: the moves of a plain sweep, counted as frozen. */
TEST(counts_what_was_frozen)
{
	struct ressd_move moves[8];
	struct ressd_sweep sweep;

	box_format();
	box_write(3, 1);
	box_sync();
	ressd_log_rotate(&box.log);
	box_write(5, 2);
	box_sync();
	ressd_sweep_start(&sweep, &box.log);
	CHECK_EQ(ressd_sweep_pick(&sweep, &box.log, moves, 8), 1);
	CHECK_EQ(sweep.frozen, 1);
	ressd_sweep_start(&sweep, &box.log);
	ressd_sweep_visits(&sweep, 4, 2, 2, 0);
	CHECK_EQ(ressd_sweep_pick(&sweep, &box.log, moves, 8), 4);	/* 2 to 5 */
	CHECK_EQ(moves[0].lbn, 2);
	CHECK(ressd_move_is_hole(&moves[0]) && ressd_move_is_hole(&moves[2]), "no holes");
	CHECK_EQ(sweep.frozen, 1);
	CHECK_EQ(ressd_sweep_pick(&sweep, &box.log, moves, 8), 0);
}

/*
 * Found with etcd on the SD card: a journal's blocks, which stand side by side, had the unit
 * rewritten whole, and once more when the journal went on.
 */
TEST(a_run_is_not_filled)
{
	struct ressd_move moves[64];
	struct ressd_sweep sweep;
	u32 i;

	for (i = 0; i < 2; i++) {
		u32 lbn;

		box_format();
		for (lbn = 0; lbn < 16; lbn += 1 + i)
			box_write(lbn, lbn);
		box_sync();
		ressd_log_rotate(&box.log);
		box_write(60, 2);
		box_sync();
		ressd_sweep_start(&sweep, &box.log);
		ressd_sweep_visits(&sweep, 32, 0, 8, 0);
		CHECK_EQ(ressd_sweep_pick(&sweep, &box.log, moves, 64), i ? 32 : 16);
	}
}

/*
 * Found in a guest: a visit whose last blocks made a batch full was not over until the next one had
 * begun, so a sweep that had gained its room went all the way round.
 */
TEST(a_full_batch_can_end_a_visit)
{
	struct ressd_move moves[2];
	struct ressd_sweep sweep;

	box_format();
	box_write(0, 1);
	box_write(2, 2);
	box_write(9, 3);
	box_sync();
	ressd_log_rotate(&box.log);
	box_write(20, 4);
	box_sync();
	ressd_sweep_start(&sweep, &box.log);
	ressd_sweep_visits(&sweep, 4, 0, 0, 0);
	CHECK_EQ(ressd_sweep_pick(&sweep, &box.log, moves, 1), 1);
	CHECK(!ressd_sweep_between_visits(&sweep), "over before block 2");
	CHECK_EQ(ressd_sweep_pick(&sweep, &box.log, moves, 1), 1);
	CHECK_EQ(moves[0].lbn, 2);
	CHECK(ressd_sweep_between_visits(&sweep), "not over behind block 2");
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
	ressd_log_write_soon(&box.log);
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
	u32 blocks;

	CHECK_EQ(ressd_sweep_run_length(moves, 4), 3);
	CHECK_EQ(ressd_sweep_run_length(moves + 2, 2), 1);
	CHECK_EQ(ressd_sweep_log_run(moves, 4, &blocks), 2);
	CHECK_EQ(blocks, 2);
	CHECK_EQ(ressd_sweep_log_run(moves, 1, &blocks), 1);
	CHECK_EQ(blocks, 1);
	/* Side by side in the log, but not at home. */
	CHECK_EQ(ressd_sweep_log_run(moves + 2, 2, &blocks), 2);
}

TEST(runs_of_holes)
{
	const struct ressd_move moves[] = {
		{ .lbn = 5, .block = RESSD_NO_BLOCK }, { .lbn = 6, .block = RESSD_NO_BLOCK },
		{ .lbn = 7, .block = 20 }, { .lbn = 8, .block = 21 },
		{ .lbn = 9, .block = RESSD_NO_BLOCK }, { .lbn = 10, .block = 22 },
		{ .lbn = 11, .block = RESSD_NO_BLOCK }, { .lbn = 12, .block = 30 },
	};
	u32 blocks;

	CHECK_EQ(ressd_sweep_run_length(moves, 8), 8);
	/* The log is read over holes, but not to one. */
	CHECK_EQ(ressd_sweep_log_run(moves + 2, 6, &blocks), 4);
	CHECK_EQ(blocks, 3);
	CHECK_EQ(ressd_sweep_log_run(moves + 2, 3, &blocks), 2);
	CHECK_EQ(blocks, 2);
}

/* Home is read from hole to hole, over what the log holds of a few blocks between. */
TEST(holes_are_read_over_a_few_logged_blocks)
{
	struct ressd_move moves[20];
	u32 i;

	for (i = 0; i < 20; i++)
		moves[i] = (struct ressd_move) { .lbn = 30 + i, .block = RESSD_NO_BLOCK };
	CHECK_EQ(ressd_sweep_home_run(moves, 20), 20);
	moves[0].block = 7;
	CHECK_EQ(ressd_sweep_home_run(moves, 20), 0);
	moves[3].block = 90;
	moves[4].block = 70;
	moves[19].block = 71;
	CHECK_EQ(ressd_sweep_home_run(moves + 1, 19), 18);
	CHECK_EQ(ressd_sweep_home_run(moves + 1, 3), 2);
	for (i = 6; i < 15; i++)
		moves[i].block = 100 + i;
	CHECK_EQ(ressd_sweep_home_run(moves + 1, 19), 5);
	for (i = 10; i < 20; i++)
		moves[i].lbn += 5;
	CHECK_EQ(ressd_sweep_home_run(moves + 1, 19), 5);
	moves[9].block = RESSD_NO_BLOCK;
	CHECK_EQ(ressd_sweep_home_run(moves + 1, 19), 9);
}

/* Each round begins where the last one ended, and comes to every block once. */
TEST(rounds_go_on_where_the_last_one_ended)
{
	u32 round;

	for (round = 0; round < 200; round++) {
		u8 seen[BOX_NORMAL_BLOCKS] = { 0 };
		struct ressd_move moves[64];
		struct ressd_sweep sweep;
		u32 visit_blocks = 1 + test_below(120), phase = test_below(visit_blocks);
		u64 from = test_below(BOX_NORMAL_BLOCKS + 100);
		u32 lbn, nr, i, wraps = 0, last = 0;

		box_format();
		fill(10 + test_below(60));
		ressd_sweep_start(&sweep, &box.log);
		/* As a visit would have left it: at the end of a clustered block. */
		from += visit_blocks - 1 - (from + phase + visit_blocks - 1) % visit_blocks;
		ressd_sweep_visits(&sweep, visit_blocks, phase, test_below(8), from);
		while ((nr = pick_in_pieces(&sweep, moves, 1 + test_below(64)))) {
			for (i = 0; i < nr; i++) {
				CHECK(!seen[moves[i].lbn]++, "block %u comes twice", moves[i].lbn);
				wraps += moves[i].lbn < last;
				last = moves[i].lbn;
			}
		}
		CHECK(wraps <= 1, "%u wraps", wraps);
		CHECK(ressd_sweep_between_visits(&sweep), "ended within a visit");
		for (lbn = 0; lbn < BOX_NORMAL_BLOCKS; lbn++)
			CHECK(seen[lbn] || !belongs(&sweep, lbn), "block %u is left out", lbn);
	}
}

/* What a device keeps open, the block that was written to last first; 0 is the log's. */
static u32 kept_open[8];

static bool write_to(u32 block, u32 open_units)
{
	u32 at = 0;

	while (at < open_units - 1 && kept_open[at] != block)
		at++;
	memmove(kept_open + 1, kept_open, at * sizeof(*kept_open));
	kept_open[0] = block;
	for (at = 0; at < open_units && kept_open[at]; at++)
		;
	return at < open_units;
}

/*
 * An SD card with two open blocks closed the log's for each visit, and the mover's for each record
 * that followed.
 */
TEST(visits_leave_the_block_of_the_log_open)
{
	u32 open_units, i, asked;

	for (open_units = 0; open_units < 8; open_units++) {
		struct ressd_visits visits = { 0 };
		struct ressd_sweep sweep = { .visit_blocks = 8 };

		box_format();
		memset(kept_open, 0xff, sizeof(kept_open));
		for (i = 1, asked = 0; i <= 200; i++) {
			CHECK_EQ(box_write(1, i), 0);
			if (!test_below(8)) {
				box_sync();
				write_to(0, open_units ?: 1);
				CHECK_EQ(box_write(1, i), 0);
			}
			sweep.visit_end = 8 * i;
			if (ressd_visits_close_log(&visits, &sweep, &box.log, open_units)) {
				asked++;
				box_sync();
				write_to(0, open_units);
			}
			CHECK(!ressd_visits_close_log(&visits, &sweep, &box.log, open_units),
			      "the same visit twice");
			CHECK(write_to(i, open_units ?: 1) || open_units < 2 || !asked,
			      "visit %u closes the log's of %u", i, open_units);
		}
		if (open_units < 2)
			CHECK_EQ(asked, 0);
		else
			CHECK(asked && asked <= 200 / (open_units - 1), "%u times", asked);
	}
}

TEST(nothing_is_written_to_keep_the_log_open_if_there_is_nothing)
{
	struct ressd_visits visits = { 0 };
	struct ressd_sweep sweep = { .visit_blocks = 8, .visit_end = 8 };

	box_format();
	CHECK(!ressd_visits_close_log(&visits, &sweep, &box.log, 2), "no data");
	sweep.visit_end = 16;
	CHECK_EQ(box_write(1, 1), 0);
	CHECK(ressd_visits_close_log(&visits, &sweep, &box.log, 2), "data");
	box_sync();
}
