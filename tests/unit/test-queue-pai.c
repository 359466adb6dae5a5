// SPDX-License-Identifier: GPL-2.0-only
/* ressd-pai: what is well-formed goes first, neighbours are joined, the rest waits for a time. */
#include "queuebox.h"

TEST_SUITE("queue-pai");

TEST(pai_sends_well_formed_requests_first)
{
	static const u32 order[] = { 1, 3 };

	start_with(RESSD_DISPATCH_PAI);
	add(RESSD_WRITE, 100, 8, 0);		/* neither begins nor ends at a boundary */
	add(RESSD_WRITE, 1024 - 8, 512, 0);
	add(RESSD_READ, 2000, 48, 0);
	add(RESSD_READ, 3200 - 8, 64, 0);
	in_flight = 2;
	while (in_flight < 4 && send(1))
		;
	check_turns(order, 2);
	in_flight = 2;
	CHECK(!send(4 * MS), "sent before its time, with half of the depth in use");
	CHECK_EQ(ressd_queue_deadline(&queue, in_flight), 5 * MS);
	/* Nothing may go before one has ended: a timer that is due would be set again at once. */
	CHECK_EQ(ressd_queue_deadline(&queue, 4), 0);
	CHECK(send(5 * MS), "held for too long");
	CHECK_EQ(tried[0].sends, 1);
	CHECK_EQ(queue.expired, 1);
	in_flight = 0;
	CHECK(send(4 * MS), "held although the device rests");
	CHECK_EQ(tried[2].sends, 1);
	CHECK_EQ(ressd_queue_deadline(&queue, in_flight), 0);
}

/* Neighbours complete each other, from the left, from the right, and to both sides. */
TEST(pai_joins_neighbours)
{
	static const u32 order[] = { 0, 2, 1 };

	start_with(RESSD_DISPATCH_PAI);
	add(RESSD_WRITE, 64 - 8, 8, 0);
	add(RESSD_WRITE, 80 - 8, 16, 1);
	CHECK_EQ(queue.joined, 0);
	add(RESSD_WRITE, 72 - 8, 8, 2);		/* 64 .. 96: one page */
	CHECK_EQ(queue.joined, 2);
	in_flight = 3;
	CHECK(send(3), "well-formed, but held");
	check_turns(order, 3);
	CHECK_EQ(in_flight, 4);

	/* Not of two directions, not beyond the limit. */
	start_with(RESSD_DISPATCH_PAI);
	add(RESSD_WRITE, 64 - 8, 8, 0);
	add(RESSD_READ, 72 - 8, 24, 0);
	add(RESSD_WRITE, 1000, 500, 0);
	add(RESSD_WRITE, 1500, 20, 0);
	CHECK_EQ(queue.joined, 0);
	finish();
}

/* Two halves of a page that only differ in their kind, or hold more memory than fits. */
TEST(pai_joins_only_what_may_be_joined)
{
	struct ressd_request left = { .sector = 64 - 8, .sectors = 16, .segments = 200 };
	struct ressd_request right = { .sector = 80 - 8, .sectors = 16, .segments = 57 };

	start_with(RESSD_DISPATCH_PAI);
	ressd_queue_add(&queue, &left, 0, false);
	ressd_queue_add(&queue, &right, 0, false);
	CHECK_EQ(queue.joined, 0);

	start_with(RESSD_DISPATCH_PAI);
	right.segments = 56;
	right.kind = 1;
	ressd_queue_add(&queue, &left, 0, false);
	ressd_queue_add(&queue, &right, 0, false);
	CHECK_EQ(queue.joined, 0);

	start_with(RESSD_DISPATCH_PAI);
	left.kind = 1;
	ressd_queue_add(&queue, &left, 0, false);
	ressd_queue_add(&queue, &right, 0, false);
	CHECK_EQ(queue.joined, 1);
}

/* A group has waited as long as the first of its members, on whichever side others join it. */
TEST(pai_counts_the_time_of_the_oldest)
{
	start_with(RESSD_DISPATCH_PAI);
	add(RESSD_WRITE, 108, 8, 1 * MS);
	add(RESSD_WRITE, 100, 8, 3 * MS);
	add(RESSD_WRITE, 116, 8, 4 * MS);
	CHECK_EQ(queue.joined, 2);
	CHECK_EQ(ressd_queue_deadline(&queue, in_flight), 6 * MS);
	in_flight = 3;
	CHECK(!send(6 * MS - 1), "sent before its time");
	add(RESSD_WRITE, 5000, 8, 5 * MS);	/* another group does not put it off */
	CHECK_EQ(ressd_queue_deadline(&queue, in_flight), 6 * MS);
	CHECK(send(6 * MS), "held for too long");
	CHECK_EQ(nr_sent, 3);

	/* Two that came at the same time, the left one last; and a clock that is behind. */
	start_with(RESSD_DISPATCH_PAI);
	add(RESSD_WRITE, 80 - 8, 16, 9 * MS);
	in_flight = 3;
	CHECK(!send(2 * MS), "sent before it came");
	add(RESSD_WRITE, 64 - 8, 16, 9 * MS);
	CHECK_EQ(queue.joined, 1);
	CHECK(send(9 * MS), "well-formed, but held");
	CHECK_EQ(nr_sent, 2);
}

TEST(pai_without_pages_wants_full_length)
{
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_PAI);
	static const u32 order[] = { 1, 2, 3 };

	options.split.align = 0;
	options.split.longest[RESSD_READ] = 0;
	start(&options);
	add(RESSD_WRITE, 1024, 504, 0);
	add(RESSD_WRITE, 5000, 512, 0);
	add(RESSD_READ, 9000, 8, 0);		/* no limit: all are well-formed */
	add(RESSD_READ, 9008, 8, 0);
	in_flight = 1;
	while (send(1))
		;
	check_turns(order, 3);
	add(RESSD_WRITE, 1528, 8, 2);
	in_flight = 3;
	CHECK(send(2), "complete, but held");
	CHECK_EQ(tried[0].turn, 3);
	CHECK_EQ(tried[4].turn, 4);
}
