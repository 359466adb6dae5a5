/* SPDX-License-Identifier: GPL-2.0-only */
/* A queue, and requests that are checked when it sends them: for the tests of ressd-queue. */
#ifndef QUEUEBOX_H
#define QUEUEBOX_H

#include "harness.h"
#include "ressd-queue.h"

#define MS		1000000ULL
#define MAX_REQUESTS	3000U

/* A request as the test knows it. */
struct tried {
	struct ressd_request request;
	u32 sends;			/* how often it was sent */
	u32 turn;			/* ... as the how many'th */
	u32 came_after;			/* requests that had been sent when it came */
	u64 came;
};

static struct tried tried[MAX_REQUESTS];
static u32 nr_tried, nr_sent, in_flight;
static struct ressd_queue queue;

static inline struct ressd_queue_options options_of(enum ressd_dispatch dispatch)
{
	return (struct ressd_queue_options) {
		.dispatch = dispatch,
		.split = { .longest = { 512, 512 }, .align = 32, .page = 32, .start = 8 },
		.bundle_sectors = 1000,
		.expire = 5 * MS,
		.depth = 4,
	};
}

static inline void start(const struct ressd_queue_options *options)
{
	memset(tried, 0, sizeof(tried));
	nr_tried = 0;
	nr_sent = 0;
	in_flight = 0;
	ressd_queue_init(&queue, options);
}

static inline void start_with(enum ressd_dispatch dispatch)
{
	const struct ressd_queue_options options = options_of(dispatch);

	start(&options);
}

static inline struct tried *add_as(enum ressd_direction direction, u64 sector, u32 sectors,
				   u64 now, bool urgent)
{
	struct tried *new = &tried[nr_tried];

	CHECK(nr_tried < MAX_REQUESTS, "too many");
	new->request = (struct ressd_request) {
		.sector = sector,
		.sectors = sectors,
		.direction = direction,
		.segments = 1 + sectors / 8,
	};
	nr_tried++;
	new->came = now;
	new->came_after = nr_sent;
	ressd_queue_add(&queue, &new->request, now, urgent);
	return new;
}

static inline struct tried *add(enum ressd_direction direction, u64 sector, u32 sectors, u64 now)
{
	return add_as(direction, sector, sectors, now, false);
}

static inline bool overlap(const struct ressd_request *a, const struct ressd_request *b)
{
	return a->sector < b->sector + b->sectors && b->sector < a->sector + a->sectors &&
	       (a->direction == RESSD_WRITE || b->direction == RESSD_WRITE);
}

/* Takes the next group; false: there is none.  Its parts are checked. */
static inline bool send(u64 now)
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
		CHECK(member->owner == leader->owner, "of another owner");
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

static inline void finish(void)
{
	u64 now = 1000000 * MS;

	do {
		in_flight = 0;
	} while (send(now));
	CHECK_EQ(queue.nr_held, 0);
	CHECK_EQ(queue.nr_sorted, 0);
	CHECK_EQ(nr_sent, nr_tried);
}

static inline void check_order(void)
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

/* Sent in this order, by number. */
static inline void check_turns(const u32 *numbers, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		CHECK_EQ(tried[numbers[i]].sends, 1);
		CHECK_EQ(tried[numbers[i]].turn, i);
	}
	CHECK_EQ(nr_sent, nr);
}

#endif
