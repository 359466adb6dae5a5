// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-queue: whatever comes, with whatever policy, every request is sent exactly once,
 * overlapping ones in their order, no more than the depth at a time, none later than its bound.
 */
#include <linux/kernel.h>
#include "queuebox.h"

TEST_SUITE("queue");

/*
 * No request waits for more than those that were held when it came and a bounded number of others:
 * of pai those that come until it has expired, of the bundles those of the bundles before it.
 */
static void check_starvation(u32 bound)
{
	u32 i;

	for (i = 0; i < nr_tried; i++)
		CHECK(tried[i].turn - tried[i].came_after <= bound, "%u waited for %u others", i,
		      tried[i].turn - tried[i].came_after);
}

static void random_load(u64 range)
{
	u64 now = 0;

	while (nr_tried < MAX_REQUESTS) {
		u32 sectors = test_below(3) ? 8 * (1 + test_below(4)) : 8 * (1 + test_below(64));
		u64 sector = test_below(2) && nr_tried ?
			tried[nr_tried - 1].request.sector + tried[nr_tried - 1].request.sectors :
			8 * test_below(range / 8);

		now += test_below(2 * MS);
		if (queue.nr_held < RESSD_MAX_HELD)
			add_as(test_below(2) ? RESSD_WRITE : RESSD_READ, sector, sectors, now,
			       !test_below(20));
		while (in_flight && test_below(2))
			in_flight--;
		while (test_below(8) && send(now))
			;
		CHECK(queue.nr_held <= RESSD_MAX_HELD, "%u held", queue.nr_held);
	}
}

static void random_case(enum ressd_dispatch dispatch, u64 range)
{
	struct ressd_queue_options options = options_of(dispatch);

	options.depth = 1 + test_below(8);
	if (test_below(2))
		options.split.align = 0;
	start(&options);
	random_load(range);
	finish();
	check_order();
	/* Held at most; of each bundle that may come before, its reads; what comes meanwhile. */
	check_starvation(4 * RESSD_MAX_HELD);
}

TEST(every_request_once_and_in_order)
{
	enum ressd_dispatch dispatch;
	u32 round;

	for (round = 0; round < 30; round++)
		for (dispatch = 0; dispatch < RESSD_NR_DISPATCH; dispatch++)
			random_case(dispatch, round % 2 ? 4000 : 400000);
}

/* Options change while much is held: nothing is lost, and overlaps keep their order. */
TEST(policies_change_under_load)
{
	struct ressd_queue_options options;
	u64 now = 0;

	options = options_of(RESSD_DISPATCH_NONE);
	start(&options);
	while (nr_tried < MAX_REQUESTS) {
		now += MS / 4;
		if (queue.nr_held < RESSD_MAX_HELD)
			add(test_below(2) ? RESSD_WRITE : RESSD_READ, 8 * test_below(800),
			    8 * (1 + test_below(20)), now);
		if (!test_below(40)) {
			options = options_of(test_below(RESSD_NR_DISPATCH));
			options.bundle_sectors = 8 * (1 + test_below(200));
			ressd_queue_set(&queue, &options);
		}
		in_flight = test_below(options.depth + 1);
		if (test_below(2))
			send(now);
	}
	finish();
	check_order();
}

/* More than can be held: what waits is sent, and nothing is lost. */
TEST(more_than_can_be_held)
{
	u32 i;

	start_with(RESSD_DISPATCH_PAI);
	for (i = 0; i < RESSD_MAX_HELD; i++)
		add(RESSD_WRITE, 9 + 1000 * i, 8, 0);
	CHECK_EQ(queue.nr_sorted, RESSD_MAX_HELD);
	add(RESSD_WRITE, 3, 8, 0);
	CHECK_EQ(queue.nr_sorted, 1);
	CHECK_EQ(queue.nr_held, RESSD_MAX_HELD + 1);
	finish();
}

/* A request taken and put back is the next one again, also before others that are ready. */
TEST(put_back)
{
	struct ressd_request *leader;

	start_with(RESSD_DISPATCH_BUNDLE);
	add(RESSD_WRITE, 2000, 8, 0);
	add(RESSD_READ, 0, 8, 0);
	leader = ressd_queue_next(&queue, 0, 0);
	CHECK(leader == &tried[0].request, "not the first");
	ressd_queue_put_back(&queue, leader);
	CHECK_EQ(queue.nr_held, 2);
	CHECK(ressd_queue_next(&queue, 0, 0) == leader, "another one");
	ressd_queue_put_back(&queue, leader);
	add(RESSD_WRITE, 2000, 8, 0);
	CHECK(ressd_queue_next(&queue, 0, 0) == leader, "another one");
	add_as(RESSD_WRITE, 5000, 8, 0, true);
	ressd_queue_put_back(&queue, leader);
	CHECK(ressd_queue_next(&queue, 0, 0) == leader, "another one");
	ressd_queue_put_back(&queue, leader);
	finish();
	check_order();
}

/* What is urgent passes all that it does not overlap, and waits for what it does. */
TEST(urgent)
{
	struct ressd_request free = { .sector = 5000, .sectors = 8, .direction = RESSD_WRITE };
	struct ressd_request bound = { .sector = 104, .sectors = 8, .direction = RESSD_WRITE };

	start_with(RESSD_DISPATCH_PAI);
	add(RESSD_WRITE, 100, 8, 0);
	CHECK(ressd_queue_may_pass(&queue, &free), "must wait");
	CHECK(!ressd_queue_may_pass(&queue, &bound), "passes what it overlaps");
	ressd_queue_add(&queue, &bound, 0, true);
	CHECK(!ressd_queue_may_pass(&queue, &free), "passes what is ready");
	/* The depth is half used, so that pai would hold the first one; not any more. */
	CHECK(ressd_queue_next(&queue, 0, 2) == &tried[0].request, "not in its order");
	CHECK(ressd_queue_next(&queue, 0, 2) == &bound, "held");
	CHECK_EQ(queue.nr_held, 0);
}

/*
 * More writers than the depth, each of which sends another urgent write when one has ended: these
 * wait for no place in flight, and what a policy holds gets its turn.  (Found by reading: they took
 * every place, and a read was held for as long as they went on.)
 */
TEST(urgent_ones_starve_nobody)
{
	enum ressd_dispatch dispatch;
	u32 i;

	for (dispatch = RESSD_DISPATCH_PAI; dispatch < RESSD_NR_DISPATCH; dispatch++) {
		struct ressd_queue_options options = options_of(dispatch);

		options.depth = 1;
		start(&options);
		add(RESSD_WRITE, 24, 32, 0);
		CHECK(send(0), "nothing");
		add(RESSD_READ, 56, 32, 0);
		for (i = 0; i < 4; i++)
			add_as(RESSD_WRITE, 8000 * (i + 1), 8, 0, true);
		for (i = 0; i < 4; i++)
			CHECK(send(0), "an urgent one waits for a place");
		CHECK(!send(0), "more in flight than the depth");
		/* One of those in flight ends, and its writer sends the next one. */
		for (i = 0; i < 20; i++) {
			in_flight--;
			if (ressd_queue_may_pass(&queue, &tried[2 + i % 4].request))
				nr_sent++;
			else
				add_as(RESSD_WRITE, 8000 * (i % 4 + 1), 8, 0, true);
			if (send(0))
				break;
		}
		CHECK_EQ(tried[1].sends, 1);
	}
}

/* Two writes that overlap: the first one goes next, the other held requests keep their place. */
TEST(an_overlap_concerns_only_who_overlaps)
{
	static const enum ressd_dispatch policies[] = {
		RESSD_DISPATCH_PAI, RESSD_DISPATCH_BUNDLE, RESSD_DISPATCH_BUNDLE_RP,
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		start_with(policies[i]);
		for (k = 0; k < 20; k++)
			add(RESSD_WRITE, 100 + 10000 * k, 8, 0);
		add(RESSD_WRITE, 100 + 10000 * 19, 16, 0);
		add(RESSD_READ, 24, 32, 0);		/* of a whole page: it would go first */
		CHECK(send(0), "nothing");
		CHECK_EQ(tried[19].sends, 1);
		CHECK(send(0), "nothing");
		CHECK_EQ(tried[policies[i] == RESSD_DISPATCH_BUNDLE ? 0 : 21].sends, 1);
		finish();
		check_order();
	}
}

/* Many writers of one block: others get their turn after RESSD_MAX_RELEASED of these at most. */
TEST(one_block_written_again_and_again_starves_nobody)
{
	enum ressd_dispatch dispatch;
	u32 i;

	for (dispatch = RESSD_DISPATCH_PAI; dispatch < RESSD_NR_DISPATCH; dispatch++) {
		start_with(dispatch);
		add(RESSD_WRITE, 100000, 8, 0);
		add(RESSD_WRITE, 200000, 8, 0);
		for (i = 0; i < 16; i++)
			add(RESSD_WRITE, 8, 8, 0);
		for (i = 0; i < 100; i++) {
			in_flight = 3;
			CHECK(send(0) || dispatch == RESSD_DISPATCH_PAI, "nothing");
			add(RESSD_WRITE, 8, 8, 0);
		}
		CHECK(tried[0].sends && tried[0].turn < 40, "the first one waits");
		CHECK(tried[1].sends && tried[1].turn < 40, "the second one waits");
		finish();
		check_order();
	}
}
