// SPDX-License-Identifier: GPL-2.0-only
/* ressd-step: how far a sweep is, and who has to wait for whom. */
#include <linux/errno.h>
#include <linux/minmax.h>
#include "logbox.h"
#include "ressd-step.h"

TEST_SUITE("step");

#define UNIT	100U	/* blocks of a clustered block */

static struct ressd_sweep sweep;
static struct ressd_step step;

static void start(u32 visit_blocks)
{
	ressd_sweep_start(&sweep, &box.log);
	ressd_sweep_visits(&sweep, visit_blocks, 0, 0, 0);
	ressd_step_start(&step, &sweep, &box.log);
}

/* One batch of at most @max blocks; returns how many it had. */
static u32 move(u32 max)
{
	struct ressd_move moves[64];
	u32 i, nr = ressd_sweep_pick(&sweep, &box.log, moves, max);

	for (i = 0; i < nr; i++)
		ressd_log_moved(&box.log, moves[i].block, moves[i].lbn);
	if (nr)
		ressd_step_moved(&step, &sweep, &box.log);
	return nr;
}

/* Small writes, each a record of its own. */
static void commit(u32 lbn, u32 nr)
{
	for (; nr--; lbn++) {
		CHECK_EQ(box_write(lbn, lbn), 0);
		box_sync();
	}
}

/* Blocks of the log that records have gone over since the sweep began. */
static u32 used(void)
{
	u32 freed = (box.log.reuse_seq - step.reused) *
		(box.log.geom.segment_blocks - box.log.geom.summary_blocks);

	return step.free + freed - ressd_log_free_blocks(&box.log);
}

/*
 * Found by tools/bench.sh: at the begin of a sweep a writer could be ahead by a record only, until
 * a block of the oldest segment was moved; so it waited while most of the log was free.
 */
TEST(most_of_the_room_is_the_writers_at_once)
{
	u32 limit, lbn = 300;

	box_format_large();
	commit(0, 140);
	start(UNIT);
	limit = step.room * 2 / 3;
	CHECK(limit > box.log.geom.record_blocks, "%u blocks are no room", step.room);
	while (used() <= limit) {
		CHECK(!ressd_step_writer_is_ahead(&step, &box.log), "held at %u of %u", used(),
		      limit);
		commit(lbn++, 1);
	}
	CHECK(ressd_step_writer_is_ahead(&step, &box.log), "not held at %u of %u", used(), limit);
	step.done = RESSD_STEP_WHOLE / 2;
	CHECK(!ressd_step_writer_is_ahead(&step, &box.log), "held though the mover goes on");
}

/*
 * Found by tools/bench/model: a commit announced what a sweep had emptied half way.  The room that
 * it made was taken for room that nobody had used, so that the writers used up all of it at once;
 * and the sweep, whose goal was behind it, went on until the next segment was empty.
 */
TEST(commits_that_free_segments_are_no_news_for_a_sweep)
{
	u32 before;

	box_format_large();
	commit(0, 30);
	ressd_log_rotate(&box.log);
	commit(5 * UNIT, 30);
	start(UNIT);
	while (move(64) && !ressd_sweep_between_visits(&sweep))
		;
	CHECK(ressd_step_has_room(&step, &box.log), "the oldest segment is empty");
	before = used();
	box_sync();
	commit(9 * UNIT, 2);
	commit(8 * UNIT, 2);
	CHECK(box.log.reuse_seq > step.goal && !ressd_log_can_reclaim(&box.log),
	      "commits have not freed it");
	CHECK(ressd_step_has_room(&step, &box.log), "the sweep would go on");
	step.room = (used() - before) / 2;
	step.done = 0;
	CHECK(used() > before, "nothing was used");
	CHECK(ressd_step_writer_is_ahead(&step, &box.log), "what was freed counts as unused");
}

/* Each clustered block that the oldest segment has blocks of is one of three thirds. */
TEST(visits_count_alike)
{
	u32 before = 0, i;

	box_format_large();
	for (i = 0; i < 3; i++)
		commit(i * UNIT, i == 1 ? 1 : 20);
	ressd_log_rotate(&box.log);
	commit(5 * UNIT, 1);
	start(UNIT);
	CHECK_EQ(step.goal, 1);
	for (i = 1; i <= 3; i++) {
		do {
			CHECK(step.done >= before, "goes back");
			before = step.done;
		} while (move(7) && !ressd_sweep_between_visits(&sweep));
		CHECK(step.done + 3 >= RESSD_STEP_WHOLE * i / 3 &&
		      step.done <= RESSD_STEP_WHOLE * i / 3, "%u of %u after visit %u", step.done,
		      RESSD_STEP_WHOLE, i);
	}
}

/*
 * Found by tools/bench/model with a stick of 450 units: visits were counted up to 64 only.  Most
 * of the space was given away early in the sweep, and at its end writers waited for 20 visits.
 */
TEST(many_visits_count_alike)
{
	u32 i, visits = 200;

	box_format_large();
	for (i = 0; i < visits; i++)
		while (box_write(i * 4, i) == -EAGAIN)
			box_run();
	box_sync();
	ressd_log_rotate(&box.log);
	commit(999, 1);
	start(4);
	CHECK_EQ(step.goal, 1);
	for (i = 1; i < visits; i++) {
		u32 even = RESSD_STEP_WHOLE / visits * i, least = even - even / 10;

		CHECK_EQ(move(64), 1);
		CHECK(step.done >= least && step.done <= even + even / 10,
		      "%u instead of %u after visit %u", step.done, even, i);
	}
}

/* Within a visit it is the place that counts. */
TEST(a_visit_goes_on_evenly)
{
	u32 before = 0;

	box_format_large();
	commit(0, UNIT);
	ressd_log_rotate(&box.log);
	commit(5 * UNIT, 1);
	start(UNIT);
	while (move(10)) {
		CHECK(step.done - before + 1 >= RESSD_STEP_WHOLE / 10 &&
		      step.done - before <= RESSD_STEP_WHOLE / 10 + 1, "a tenth of it is %u",
		      step.done - before);
		before = step.done;
		if (ressd_sweep_between_visits(&sweep))
			break;
	}
	CHECK_EQ(step.done, RESSD_STEP_WHOLE);
}

/* What was left of a visit was overwritten meanwhile. */
TEST(a_visit_ends_where_it_holds_nothing_more)
{
	u32 done = 0;

	box_format_large();
	commit(0, 50);
	commit(UNIT, 50);
	commit(2 * UNIT, 50);
	CHECK_EQ(box.log.head_seq, 2);
	start(UNIT);
	CHECK(step.goal == 1, "segment %llu", step.goal);
	CHECK_EQ(move(10), 10);
	CHECK(step.done, "nothing is done");
	ressd_log_kill(&box.log, 10, 40);
	while (move(7)) {
		CHECK(step.done >= done, "from %u back to %u", done, step.done);
		done = step.done;
	}
	CHECK(done > RESSD_STEP_WHOLE * 3 / 4, "it has come to %u", done);
}

/* Not what is younger than the sweep; and the writers have what the reserve leaves. */
TEST(a_sweep_moves_what_is_older)
{
	u32 room;

	box_format_large();
	commit(0, 30);
	ressd_log_rotate(&box.log);
	commit(5 * UNIT, 7);
	start(0);
	CHECK_EQ(step.blocks, 30);
	room = step.room;
	box.log.cover_reserve = 1;
	start(0);
	CHECK_EQ(step.room, room - box.log.geom.segment_blocks);
}

/* Clustered blocks are those of the device: blocks 70 to 169 are one. */
TEST(visits_begin_where_clustered_blocks_do)
{
	box_format_large();
	commit(80, 10);
	commit(110, 10);
	commit(135, 10);
	ressd_log_rotate(&box.log);
	commit(5 * UNIT, 1);
	ressd_sweep_start(&sweep, &box.log);
	ressd_sweep_visits(&sweep, UNIT, 30, 0, 0);
	ressd_step_start(&step, &sweep, &box.log);
	CHECK_EQ(step.visit, RESSD_STEP_WHOLE);
}

/* Its goal is the first segment that holds something. */
TEST(dead_segments_are_no_goal)
{
	box_format_large();
	commit(0, 300);
	CHECK_EQ(box.log.head_seq, 3);
	ressd_log_kill(&box.log, 0, 200);
	start(UNIT);
	CHECK(step.goal == 2, "segment %llu", step.goal);
	start(0);
	CHECK(step.goal == box.log.head_seq - 1, "segment %llu", step.goal);
	CHECK(!ressd_step_mover_is_ahead(&step, &box.log), "it has not begun");
}

/*
 * Found by tools/bench.sh: beside commits, which wait for the device themselves, the mover used all
 * the time that they left.  So most of the log was free, and visits found half as much as they
 * might have.
 */
TEST(the_mover_is_in_no_hurry_while_there_is_room)
{
	box_format_large();
	commit(0, 40);
	ressd_log_rotate(&box.log);
	commit(5 * UNIT, 1);
	start(UNIT);
	step.gain = step.room / 8;
	step.done = RESSD_STEP_WHOLE;
	while (used() + box.log.geom.record_blocks < step.room / 2) {
		CHECK(ressd_step_mover_is_ahead(&step, &box.log), "goes on at %u of %u", used(),
		      step.room);
		commit(5 * UNIT, 1);
	}
	commit(5 * UNIT, 1);
	CHECK(!ressd_step_mover_is_ahead(&step, &box.log), "waits at %u of %u", used(), step.room);
}

/* Small writes, as many to a record as it takes. */
static void fill(u32 lbn, u32 nr)
{
	for (; nr--; lbn++)
		while (box_write(lbn, lbn) == -EAGAIN)
			box_run();
	box_sync();
}

static bool much_is_dirty(void)
{
	return box.log.map.nr_dirty > box.log.geom.nr_blocks / 3;
}

/*
 * Found by tools/bench/model: the room that visits make comes a round later.  The mover waited
 * until room was scarce, and then writers of four fifths of the sustained rate were held.
 */
TEST(the_mover_is_in_a_hurry_while_much_is_dirty)
{
	box_format_large();
	fill(0, 400);
	start(UNIT);
	CHECK(much_is_dirty(), "%u blocks are dirty", box.log.map.nr_dirty);
	step.done = RESSD_STEP_WHOLE;
	CHECK(ressd_step_mover_is_ahead(&step, &box.log), "goes on though nobody writes");
	fill(400, step.gain / 4);
	CHECK(used() < step.gain / 2, "%u blocks were used", used());
	CHECK(!ressd_step_mover_is_ahead(&step, &box.log), "waits for more than half of the gain");
	while (much_is_dirty())
		move(1);
	step.done = RESSD_STEP_WHOLE;
	CHECK(ressd_step_mover_is_ahead(&step, &box.log), "is in a hurry for nothing");
}

/* With less room than the sweep gains they could wait for one another. */
TEST(in_a_hurry_with_little_room_not_both_wait)
{
	box_format_large();
	fill(0, 500);
	start(UNIT);
	CHECK(much_is_dirty(), "%u blocks are dirty", box.log.map.nr_dirty);
	step.room = 20;
	for (step.done = 0; step.done <= RESSD_STEP_WHOLE; step.done += RESSD_STEP_WHOLE / 64) {
		u32 lbn;

		step.free = ressd_log_free_blocks(&box.log);
		for (lbn = 0; lbn < step.room; lbn++) {
			CHECK(!ressd_step_writer_is_ahead(&step, &box.log) ||
			      !ressd_step_mover_is_ahead(&step, &box.log),
			      "both wait, %u used, %u done", used(), step.done);
			step.free++;
		}
	}
}

static void write_some(u32 nr)
{
	while (nr--) {
		if (box_write(test_below(BOX_NORMAL_BLOCKS), nr + 1)) {
			box_run();
			return;
		}
		if (!test_below(4))
			box_sync();
	}
	box_sync();
}

/* Whatever is written and moved: who waits is waited for by nobody. */
TEST(never_both_wait)
{
	u32 round;

	for (round = 0; round < 300; round++) {
		u32 before = 0;

		box_format_large();
		write_some(300 + test_below(200));
		start(test_below(3) ? 20 + test_below(400) : 0);
		do {
			CHECK(!ressd_step_writer_is_ahead(&step, &box.log) ||
			      !ressd_step_mover_is_ahead(&step, &box.log), "both wait, round %u",
			      round);
			CHECK(step.done >= before && step.done <= RESSD_STEP_WHOLE,
			      "from %u to %u, round %u", before, step.done, round);
			before = step.done;
			write_some(test_below(20));
		} while (move(1 + test_below(64)));
	}
}
