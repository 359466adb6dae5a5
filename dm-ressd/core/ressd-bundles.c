// SPDX-License-Identifier: GPL-2.0-only
/* Writes gathered by LBA-bundle; see ressd-bundles.h. */
#include <linux/math64.h>
#include "ressd-bundles.h"

static u64 bundle_of(const struct ressd_queue *queue,
		     const struct ressd_request *request)
{
	return div_u64(queue->options.split.start + request->sector,
		       queue->options.bundle_sectors);
}

static bool leads_to(const struct ressd_request *held,
		     const struct ressd_request *request)
{
	return held != request && held->direction == RESSD_WRITE &&
	       held->leader;
}

/* The leader of the bundle that the write belongs to, or NULL. */
static struct ressd_request *find_leader(const struct ressd_queue *queue,
					 const struct ressd_request *request)
{
	const u64 bundle = bundle_of(queue, request);
	const u32 own = ressd_queue_place(queue, request->sector);
	u32 place;

	for (place = own; place < queue->nr_sorted; place++) {
		if (bundle_of(queue, queue->sorted[place]) != bundle)
			break;
		if (leads_to(queue->sorted[place], request))
			return queue->sorted[place]->leader;
	}
	for (place = own; place--;) {
		if (bundle_of(queue, queue->sorted[place]) != bundle)
			break;
		if (leads_to(queue->sorted[place], request))
			return queue->sorted[place]->leader;
	}
	return NULL;
}

bool ressd_bundles_add(struct ressd_queue *queue, struct ressd_request *request)
{
	struct ressd_request *leader = find_leader(queue, request);
	struct list_head *after;

	if (!leader)
		return false;
	for (after = leader->members.prev; after != &leader->members;
	     after = after->prev)
		if (list_entry(after, struct ressd_request, member)->sector <
		    request->sector)
			break;
	list_move(&request->member, after);
	request->leader = leader;
	queue->joined++;
	return true;
}

void ressd_bundles_begin(struct ressd_queue *queue,
			 struct ressd_request *leader)
{
	struct ressd_request *member;

	list_for_each_entry(member, &leader->members, member)
		member->leader = NULL;
	list_splice_init(&leader->members, &queue->writing);
}

static void make_single(struct ressd_request *request)
{
	list_del(&request->member);
	INIT_LIST_HEAD(&request->members);
	list_add_tail(&request->member, &request->members);
}

static struct ressd_request *first_left(struct ressd_queue *queue)
{
	return list_first_entry_or_null(&queue->writing, struct ressd_request,
					member);
}

static bool is_alone(const struct ressd_queue *queue,
		     const struct ressd_request *leader)
{
	return ressd_split_is_alone(&queue->options.split, RESSD_WRITE,
				    leader->first, leader->total);
}

/* Does the write go with the one before it, or those? */
static bool joins(const struct ressd_queue *queue,
		  const struct ressd_request *leader,
		  const struct ressd_request *request)
{
	return ressd_requests_fit(leader, request) &&
	       !is_alone(queue, leader) && !is_alone(queue, request);
}

struct ressd_request *ressd_bundles_next(struct ressd_queue *queue)
{
	struct ressd_request *leader = first_left(queue), *request;

	if (!leader)
		return NULL;
	make_single(leader);
	while ((request = first_left(queue)) &&
	       joins(queue, leader, request)) {
		list_move_tail(&request->member, &leader->members);
		leader->total += request->sectors;
		leader->total_segments += request->segments;
	}
	return leader;
}

void ressd_bundles_take(struct ressd_request *request, struct list_head *groups)
{
	struct ressd_request *leader = request->leader, *member, *next;
	LIST_HEAD(members);

	if (!leader) {
		make_single(request);
		list_add_tail(&request->list, groups);
		return;
	}
	list_del(&leader->list);
	list_splice_init(&leader->members, &members);
	list_for_each_entry_safe(member, next, &members, member) {
		make_single(member);
		list_add_tail(&member->list, groups);
	}
}
