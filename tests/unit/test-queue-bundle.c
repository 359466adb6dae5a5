// SPDX-License-Identifier: GPL-2.0-only
/* ressd-bundle: bundles go one after the other, each ascending, and reads as the policy says. */
#include <linux/kernel.h>
#include "queuebox.h"

TEST_SUITE("queue-bundle");

TEST(bundles_ascend_in_fifo_order)
{
	static const u32 order[] = { 4, 0, 2, 5, 1, 3, 6 };

	start_with(RESSD_DISPATCH_BUNDLE);
	add(RESSD_WRITE, 3500, 8, 0);		/* bundle 3 */
	add(RESSD_READ, 3600, 8, 0);
	add(RESSD_WRITE, 3900, 8, 0);
	add(RESSD_WRITE, 500, 8, 0);		/* bundle 0 */
	add(RESSD_WRITE, 3000, 8, 0);
	add(RESSD_WRITE, 3991, 8, 0);		/* sector 3999 of the device: still bundle 3 */
	while (in_flight = 0, nr_sent < 2)
		CHECK(send(0), "nothing");
	/* The bundle is being written: what comes now begins another one, and does not join it. */
	add(RESSD_WRITE, 3100, 8, 0);
	finish();
	check_turns(order, 7);
}

/* Of depth 1 all neighbours of a bundle go at once, in whatever order they came; others do not. */
TEST(bundles_join_neighbours)
{
	static const enum ressd_dispatch policies[] = {
		RESSD_DISPATCH_BUNDLE, RESSD_DISPATCH_BUNDLE_RP,
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		struct ressd_queue_options options = options_of(policies[i]);

		options.split = (struct ressd_split) { };
		options.depth = 1;
		start(&options);
		for (k = 0; k < 20; k++)
			add(RESSD_WRITE, 8 * (k ^ 3), 8, 0);
		add(RESSD_WRITE, 168, 8, 0);		/* behind a hole */
		add(RESSD_WRITE, 176, 8 * 254, 0);	/* too many segments with the one before */
		CHECK(send(0), "nothing");
		CHECK_EQ(nr_sent, 20);
		CHECK_EQ(tried[3].turn, 0);
		in_flight = 0;
		CHECK(send(0), "nothing");
		CHECK_EQ(nr_sent, 21);
		finish();
		check_order();
	}
}

/* Three neighbours of 100 segments each: the memory of two fits in one request. */
TEST(bundles_join_what_fits)
{
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_BUNDLE);
	u32 i;

	options.split = (struct ressd_split) { };
	options.bundle_sectors = 4096;
	start(&options);
	for (i = 0; i < 3; i++)
		add(RESSD_WRITE, 99 * 8 * i, 99 * 8, 0);
	CHECK(send(0), "nothing");
	CHECK_EQ(nr_sent, 2);
	finish();
}

/* What must stay apart is not joined: what begins a cell, or is of another kind. */
TEST(bundles_join_only_what_may_be_merged)
{
	struct ressd_request other = { .sector = 528, .sectors = 8, .segments = 1,
				       .direction = RESSD_WRITE, .kind = 1 };

	start_with(RESSD_DISPATCH_BUNDLE);
	add(RESSD_WRITE, 488, 16, 0);
	add(RESSD_WRITE, 504, 8, 0);		/* sector 512 of the device */
	add(RESSD_WRITE, 512, 8, 0);
	add(RESSD_WRITE, 520, 8, 0);
	ressd_queue_add(&queue, &other, 0, false);
	CHECK(send(0), "nothing");
	CHECK_EQ(nr_sent, 1);
	CHECK(send(0), "nothing");
	CHECK_EQ(nr_sent, 2);
	CHECK(send(0), "nothing");
	CHECK_EQ(nr_sent, 4);
	CHECK(ressd_queue_next(&queue, 0, 0) == &other, "another one");
	CHECK_EQ(queue.nr_held, 0);
}

/* Sector 984 is the 992nd of the device, and 992 the 1000th: the first one of bundle 1. */
TEST(bundles_count_from_the_start_of_the_device)
{
	start_with(RESSD_DISPATCH_BUNDLE);
	add(RESSD_WRITE, 992, 8, 0);
	add(RESSD_WRITE, 984, 8, 0);
	CHECK_EQ(queue.joined, 0);
	finish();
	CHECK_EQ(tried[0].turn, 0);
}

TEST(bundle_rp_prefers_reads_once_for_each_bundle)
{
	start_with(RESSD_DISPATCH_BUNDLE_RP);
	add(RESSD_WRITE, 500, 8, 0);
	add(RESSD_WRITE, 3500, 8, 0);
	add(RESSD_READ, 9000, 8, 0);
	add(RESSD_READ, 9100, 8, 0);
	CHECK(send(0), "nothing");
	CHECK_EQ(tried[2].turn, 0);
	add(RESSD_READ, 9200, 8, 0);		/* after the bundle's turn has come */
	in_flight = 0;
	while (nr_sent < 3 && send(0))
		;
	CHECK_EQ(tried[3].turn, 1);
	CHECK_EQ(tried[0].turn, 2);
	finish();
	CHECK_EQ(tried[4].turn, 3);
	CHECK_EQ(tried[1].turn, 4);
}

/*
 * A bundle that has yielded goes early, because of an overlap, and its memory comes back as another
 * one: that yields to the reads that wait, too.  (Found by reading: it passed for the one before.)
 */
TEST(bundle_rp_yields_in_memory_used_again)
{
	struct ressd_request *again = &tried[0].request;

	start_with(RESSD_DISPATCH_BUNDLE_RP);
	add(RESSD_WRITE, 500, 8, 0);
	add(RESSD_READ, 9000, 8, 0);
	CHECK(send(0), "nothing");
	CHECK_EQ(tried[1].sends, 1);
	add_as(RESSD_WRITE, 500, 8, 0, true);
	CHECK(send(0) && send(0), "nothing");
	CHECK_EQ(tried[0].turn, 1);
	CHECK_EQ(tried[2].turn, 2);

	in_flight = 0;
	again->sector = 3500;
	ressd_queue_add(&queue, again, 0, false);
	add(RESSD_READ, 9100, 8, 0);
	CHECK(send(0), "nothing");
	CHECK_EQ(tried[3].sends, 1);
	CHECK(ressd_queue_next(&queue, 0, 0) == again, "another one");
	CHECK_EQ(queue.nr_held, 0);
}

/* Readers without end: every bundle is written after those that waited when its turn came. */
TEST(bundle_rp_does_not_starve_writes)
{
	u32 i;

	start_with(RESSD_DISPATCH_BUNDLE_RP);
	for (i = 0; i < 8; i++)
		add(RESSD_WRITE, 100000 + 2000 * i, 8, 0);
	for (i = 0; i < 200; i++) {
		add(RESSD_READ, 8 * i, 8, 0);
		add(RESSD_READ, 8 * i + 8000, 8, 0);
		in_flight = 0;
		CHECK(send(0) && send(0), "nothing");
	}
	for (i = 0; i < 8; i++)
		CHECK(tried[i].turn < 8 * 8, "bundle %u was the %u'th", i, tried[i].turn);
	finish();
	check_order();
}
