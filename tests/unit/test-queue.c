// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-queue: whatever comes, with whatever policy, every request is sent exactly once,
 * overlapping ones in their order, no more than the depth at a time, none later than its bound; and
 * each policy orders as it says.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "harness.h"
#include "ressd-queue.h"

TEST_SUITE("queue");

#define MS		1000000ULL
#define MAX_REQUESTS	3000U

/* A request as the test knows it. */
struct tried {
	struct ressd_request request;
	u32 number;			/* in the order in which they came */
	u32 sends;			/* how often it was sent */
	u32 turn;			/* ... as the how many'th */
	u32 came_after;			/* requests that had been sent when it came */
	u64 came;
};

static struct tried tried[MAX_REQUESTS];
static u32 nr_tried, nr_sent, in_flight;
static struct ressd_queue queue;

static struct ressd_queue_options options_of(enum ressd_dispatch dispatch)
{
	return (struct ressd_queue_options) {
		.dispatch = dispatch,
		.split = { .longest = { 512, 512 }, .align = 32, .page = 32, .start = 8 },
		.bundle_sectors = 1000,
		.expire = 5 * MS,
		.depth = 4,
	};
}

static void start(const struct ressd_queue_options *options)
{
	memset(tried, 0, sizeof(tried));
	nr_tried = 0;
	nr_sent = 0;
	in_flight = 0;
	ressd_queue_init(&queue, options);
}

static struct tried *add_as(enum ressd_direction direction, u64 sector, u32 sectors, u64 now,
			    bool urgent)
{
	struct tried *new = &tried[nr_tried];

	CHECK(nr_tried < MAX_REQUESTS, "too many");
	new->request = (struct ressd_request) {
		.sector = sector,
		.sectors = sectors,
		.direction = direction,
		.segments = 1 + sectors / 8,
	};
	new->number = nr_tried++;
	new->came = now;
	new->came_after = nr_sent;
	ressd_queue_add(&queue, &new->request, now, urgent);
	return new;
}

static struct tried *add(enum ressd_direction direction, u64 sector, u32 sectors, u64 now)
{
	return add_as(direction, sector, sectors, now, false);
}

static bool overlap(const struct ressd_request *a, const struct ressd_request *b)
{
	return a->sector < b->sector + b->sectors && b->sector < a->sector + a->sectors &&
	       (a->direction == RESSD_WRITE || b->direction == RESSD_WRITE);
}

/* Takes the next group; false: there is none.  Its parts are checked. */
static bool send(u64 now)
{
	struct ressd_request *leader = ressd_queue_next(&queue, now, in_flight), *member;
	u64 next;
	u32 segments = 0, nr = 0;

	if (!leader)
		return false;
	CHECK(in_flight < queue.options.depth || leader->urgent ||
	      queue.options.dispatch == RESSD_DISPATCH_NONE, "%u in flight", in_flight);
	in_flight++;
	next = leader->first;
	list_for_each_entry(member, &leader->members, member) {
		struct tried *it = container_of(member, struct tried, request);

		CHECK_EQ(it->sends++, 0);
		it->turn = nr_sent++;
		nr++;
		segments += member->segments;
		CHECK_EQ(member->sector, next);
		CHECK_EQ(member->direction, leader->direction);
		CHECK_EQ(member->kind, leader->kind);
		next += member->sectors;
	}
	CHECK_EQ(next, leader->first + leader->total);
	if (nr > 1) {
		CHECK(!queue.options.split.longest[leader->direction] ||
		      leader->total <= queue.options.split.longest[leader->direction],
		      "%u sectors joined", leader->total);
		CHECK(segments <= RESSD_MAX_SEGMENTS, "%u segments", segments);
	}
	return true;
}

static void finish(void)
{
	u64 now = 1000000 * MS;

	do {
		in_flight = 0;
	} while (send(now));
	CHECK_EQ(queue.nr_held, 0);
	CHECK_EQ(queue.nr_sorted, 0);
	CHECK_EQ(nr_sent, nr_tried);
}

static void check_order(void)
{
	u32 i, k;

	for (i = 0; i < nr_tried; i++) {
		CHECK_EQ(tried[i].sends, 1);
		for (k = i + 1; k < nr_tried && k < i + 600; k++)
			if (overlap(&tried[i].request, &tried[k].request))
				CHECK(tried[i].turn < tried[k].turn,
				      "%u (%llu + %u) was sent after %u (%llu + %u)", i,
				      (unsigned long long)tried[i].request.sector,
				      tried[i].request.sectors, k,
				      (unsigned long long)tried[k].request.sector,
				      tried[k].request.sectors);
	}
}

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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_PAI);
	u32 i;

	start(&options);
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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_BUNDLE);
	struct ressd_request *leader;

	start(&options);
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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_PAI);
	struct ressd_request free = { .sector = 5000, .sectors = 8, .direction = RESSD_WRITE };
	struct ressd_request bound = { .sector = 104, .sectors = 8, .direction = RESSD_WRITE };

	start(&options);
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
		struct ressd_queue_options options = options_of(policies[i]);

		start(&options);
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
		struct ressd_queue_options options = options_of(dispatch);

		start(&options);
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

/* --- pai ----------------------------------------------------------------------------------- */

/* Sent in this order, by number. */
static void check_turns(const u32 *numbers, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		CHECK_EQ(tried[numbers[i]].sends, 1);
		CHECK_EQ(tried[numbers[i]].turn, i);
	}
	CHECK_EQ(nr_sent, nr);
}

TEST(pai_sends_well_formed_requests_first)
{
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_PAI);
	static const u32 order[] = { 1, 3 };

	start(&options);
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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_PAI);
	static const u32 order[] = { 0, 2, 1 };

	start(&options);
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
	start(&options);
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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_PAI);
	struct ressd_request left = { .sector = 64 - 8, .sectors = 16, .segments = 200 };
	struct ressd_request right = { .sector = 80 - 8, .sectors = 16, .segments = 57 };

	start(&options);
	ressd_queue_add(&queue, &left, 0, false);
	ressd_queue_add(&queue, &right, 0, false);
	CHECK_EQ(queue.joined, 0);

	start(&options);
	right.segments = 56;
	right.kind = 1;
	ressd_queue_add(&queue, &left, 0, false);
	ressd_queue_add(&queue, &right, 0, false);
	CHECK_EQ(queue.joined, 0);

	start(&options);
	left.kind = 1;
	ressd_queue_add(&queue, &left, 0, false);
	ressd_queue_add(&queue, &right, 0, false);
	CHECK_EQ(queue.joined, 1);
}

/* A group has waited as long as the first of its members, on whichever side others join it. */
TEST(pai_counts_the_time_of_the_oldest)
{
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_PAI);

	start(&options);
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
	start(&options);
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

/* --- bundles -------------------------------------------------------------------------------- */

TEST(bundles_ascend_in_fifo_order)
{
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_BUNDLE);
	static const u32 order[] = { 4, 0, 2, 1, 3, 5 };

	start(&options);
	add(RESSD_WRITE, 3500, 8, 0);		/* bundle 3 */
	add(RESSD_READ, 3600, 8, 0);
	add(RESSD_WRITE, 3900, 8, 0);
	add(RESSD_WRITE, 500, 8, 0);		/* bundle 0 */
	add(RESSD_WRITE, 3000, 8, 0);
	add(RESSD_WRITE, 3991, 8, 0);		/* sector 3999 of the device: still bundle 3 */
	while (in_flight = 0, nr_sent < 2)
		CHECK(send(0), "nothing");
	CHECK_EQ(tried[4].turn, 0);
	/* The bundle is being written: what comes now begins another one, and does not join it. */
	add(RESSD_WRITE, 3100, 8, 0);
	finish();
	CHECK_EQ(tried[5].turn, 3);
	CHECK_EQ(tried[1].turn, 4);
	CHECK_EQ(tried[3].turn, 5);
	CHECK_EQ(tried[6].turn, 6);
	CHECK(order[0] == 4 && tried[0].turn == 1 && tried[2].turn == 2, "order");
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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_BUNDLE);
	struct ressd_request other = { .sector = 528, .sectors = 8, .segments = 1,
				       .direction = RESSD_WRITE, .kind = 1 };

	start(&options);
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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_BUNDLE);

	start(&options);
	add(RESSD_WRITE, 992, 8, 0);
	add(RESSD_WRITE, 984, 8, 0);
	CHECK_EQ(queue.joined, 0);
	finish();
	CHECK_EQ(tried[0].turn, 0);
}

TEST(bundle_rp_prefers_reads_once_for_each_bundle)
{
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_BUNDLE_RP);

	start(&options);
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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_BUNDLE_RP);
	struct ressd_request *again = &tried[0].request;

	start(&options);
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
	struct ressd_queue_options options = options_of(RESSD_DISPATCH_BUNDLE_RP);
	u32 i;

	start(&options);
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
