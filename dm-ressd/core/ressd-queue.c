// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that wait, and what all policies have in common; see ressd-queue.h.
 */
#include <linux/bug.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-queue.h"

static const struct ressd_policy *const policies[RESSD_NR_DISPATCH] = {
	[RESSD_DISPATCH_PAI] = &ressd_policy_pai,
	[RESSD_DISPATCH_BUNDLE] = &ressd_policy_bundle,
	[RESSD_DISPATCH_BUNDLE_RP] = &ressd_policy_bundle_rp,
};

static const struct ressd_policy *policy_of(const struct ressd_queue *queue)
{
	return policies[queue->options.dispatch];
}

void ressd_queue_init(struct ressd_queue *queue,
		      const struct ressd_queue_options *options)
{
	memset(queue, 0, sizeof(*queue));
	queue->options = *options;
	INIT_LIST_HEAD(&queue->ready);
	INIT_LIST_HEAD(&queue->fifo);
	INIT_LIST_HEAD(&queue->pending);
	INIT_LIST_HEAD(&queue->reads);
	INIT_LIST_HEAD(&queue->writing);
}

/* --- requests by sector --------------------------------------------------- */

u32 ressd_queue_place(const struct ressd_queue *queue, u64 sector)
{
	u32 low = 0, high = queue->nr_sorted;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (queue->sorted[middle]->sector < sector)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void sort_in(struct ressd_queue *queue, struct ressd_request *request)
{
	u32 place = ressd_queue_place(queue, request->sector);

	memmove(&queue->sorted[place + 1], &queue->sorted[place],
		(queue->nr_sorted - place) * sizeof(queue->sorted[0]));
	queue->sorted[place] = request;
	queue->nr_sorted++;
	queue->longest = max(queue->longest, request->sectors);
}

static void take_out(struct ressd_queue *queue, struct ressd_request *request)
{
	u32 place = ressd_queue_place(queue, request->sector);

	/* Reads may begin at the same sector.  No test: it is in there. */
	while (place < queue->nr_sorted && queue->sorted[place] != request)
		place++;
	if (WARN_ON_ONCE(place == queue->nr_sorted))
		return;
	queue->nr_sorted--;
	memmove(&queue->sorted[place], &queue->sorted[place + 1],
		(queue->nr_sorted - place) * sizeof(queue->sorted[0]));
	if (!queue->nr_sorted)
		queue->longest = 0;
}

/*
 * One that the policy has and that overlaps it, so that their order matters, or
 * NULL.
 */
static struct ressd_request *find_overlap(const struct ressd_queue *queue,
					  const struct ressd_request *request)
{
	u32 place =
		ressd_queue_place(queue, request->sector + request->sectors);

	while (place--) {
		struct ressd_request *held = queue->sorted[place];

		if (held->sector + queue->longest <= request->sector)
			break;
		if (held->sector + held->sectors > request->sector &&
		    (held->direction == RESSD_WRITE ||
		     request->direction == RESSD_WRITE))
			return held;
	}
	return NULL;
}

struct ressd_request *ressd_queue_before(const struct ressd_queue *queue,
					 const struct ressd_request *request)
{
	u32 place = ressd_queue_place(queue, request->sector);

	while (place--) {
		struct ressd_request *held = queue->sorted[place];

		if (held->sector + held->sectors == request->sector)
			return held;
		if (held->sector + queue->longest < request->sector)
			break;
	}
	return NULL;
}

struct ressd_request *ressd_queue_after(const struct ressd_queue *queue,
					const struct ressd_request *request)
{
	u64 end = request->sector + request->sectors;
	u32 place = ressd_queue_place(queue, end);

	if (place == queue->nr_sorted || queue->sorted[place]->sector != end)
		return NULL;
	return queue->sorted[place];
}

/* --- in and out ----------------------------------------------------------- */

static void take_group_out(struct ressd_queue *queue,
			   struct ressd_request *leader)
{
	struct ressd_request *member;

	list_for_each_entry(member, &leader->members, member)
		take_out(queue, member);
}

void ressd_queue_release(struct ressd_queue *queue)
{
	const struct ressd_policy *policy = policy_of(queue);
	struct ressd_request *leader;

	if (!policy)
		return;
	queue->releasing = true;
	while ((leader = policy->next(queue))) {
		take_group_out(queue, leader);
		list_add_tail(&leader->list, &queue->ready);
	}
	queue->releasing = false;
	queue->nr_released = 0;
	WARN_ON_ONCE(queue->nr_sorted);
}

/*
 * What is held and overlaps @request becomes ready, so that it is sent before.
 */
static void release_overlaps(struct ressd_queue *queue,
			     const struct ressd_request *request)
{
	const struct ressd_policy *policy = policy_of(queue);
	struct ressd_request *held, *leader;

	while ((held = find_overlap(queue, request))) {
		LIST_HEAD(groups);

		if (queue->nr_released++ == RESSD_MAX_RELEASED) {
			ressd_queue_release(queue);
			return;
		}
		policy->take(held, &groups);
		list_for_each_entry(leader, &groups, list)
			take_group_out(queue, leader);
		list_splice_tail_init(&groups, &queue->ready);
	}
}

void ressd_queue_set(struct ressd_queue *queue,
		     const struct ressd_queue_options *options)
{
	ressd_queue_release(queue);
	queue->options = *options;
}

static void make_leader(struct ressd_request *request, u64 now)
{
	request->arrived = now;
	request->leader = request;
	request->first = request->sector;
	request->total = request->sectors;
	request->total_segments = request->segments;
	request->pending = false;
	request->yielding = false;
	INIT_LIST_HEAD(&request->members);
	list_add_tail(&request->member, &request->members);
}

bool ressd_queue_may_pass(const struct ressd_queue *queue,
			  const struct ressd_request *request)
{
	return list_empty(&queue->ready) && !find_overlap(queue, request);
}

void ressd_queue_add(struct ressd_queue *queue, struct ressd_request *request,
		     u64 now, bool urgent)
{
	const struct ressd_policy *policy = policy_of(queue);

	make_leader(request, now);
	request->urgent = urgent;
	if (queue->nr_sorted == RESSD_MAX_HELD)
		ressd_queue_release(queue);
	release_overlaps(queue, request);
	queue->nr_held++;
	queue->most_held = max(queue->most_held, queue->nr_held);
	if (!policy || urgent) {
		list_add_tail(&request->list, &queue->ready);
		return;
	}
	sort_in(queue, request);
	policy->add(queue, request);
}

struct ressd_request *ressd_queue_next(struct ressd_queue *queue, u64 now,
				       u32 in_flight)
{
	const struct ressd_policy *policy = policy_of(queue);
	struct ressd_request *leader;

	leader = list_first_entry_or_null(&queue->ready, struct ressd_request,
					  list);
	if (policy && in_flight >= queue->options.depth &&
	    !(leader && leader->urgent))
		return NULL;
	if (leader) {
		list_del(&leader->list);
	} else {
		queue->now = now;
		queue->in_flight = in_flight;
		leader = policy ? policy->next(queue) : NULL;
		if (!leader)
			return NULL;
		take_group_out(queue, leader);
		queue->nr_released = 0;
	}
	queue->nr_held -= ressd_list_length(&leader->members);
	return leader;
}

void ressd_queue_put_back(struct ressd_queue *queue,
			  struct ressd_request *leader)
{
	list_add(&leader->list, &queue->ready);
	queue->nr_held += ressd_list_length(&leader->members);
}

u64 ressd_queue_deadline(const struct ressd_queue *queue, u32 in_flight)
{
	const struct ressd_policy *policy = policy_of(queue);

	if (!policy || !policy->deadline || in_flight >= queue->options.depth)
		return 0;
	return policy->deadline(queue);
}
