// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two policies of IR, which gather writes by LBA-bundle: all held writes
 * that begin in the same bundle_sectors of the device form a bundle, led by the
 * one that came first.  Once a bundle is being written, ascending and at one
 * go, later writes begin a new one.
 *
 * Neighbours go as one request, unless they have to stay apart (CELLS of
 * ressd-split.h): the block layer merges only what is sent together, and of a
 * small depth that is one write or two.
 *
 * IRBW-FIFO: bundles of writes and single reads, in the order in which the
 * first request of each came.
 *
 * IRBW-FIFO-RP: reads go before bundles of writes, and each bundle yields only
 * once, so that none starves.  It yields to the reads that wait when its turn
 * comes.  With one read for each bundle, as the paper's words can be taken,
 * several readers would wait for as many bundles.
 */
#include <linux/math64.h>
#include "ressd-queue.h"

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

/*
 * Adds a write to its bundle.  False: it leads a new one, which has yet to be
 * put in a list.
 */
static bool join_bundle(struct ressd_queue *queue,
			struct ressd_request *request)
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

/* Begins to write the bundle, which is out of its list. */
static void begin_bundle(struct ressd_queue *queue,
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

/* The next writes of the bundle that is being written, joined, or NULL. */
static struct ressd_request *next_writes(struct ressd_queue *queue)
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

/* A bundle, or what is left to be written of one only the request itself. */
static void bundle_take(struct ressd_request *request, struct list_head *groups)
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

static void bundle_add(struct ressd_queue *queue, struct ressd_request *request)
{
	if (request->direction == RESSD_READ || !join_bundle(queue, request))
		list_add_tail(&request->list, &queue->fifo);
}

static void bundle_rp_add(struct ressd_queue *queue,
			  struct ressd_request *request)
{
	if (request->direction == RESSD_READ)
		list_add_tail(&request->list, &queue->reads);
	else
		bundle_add(queue, request);
}

/* Does a read go before @bundle?  Only RP has any on queue->reads. */
static bool yields(const struct ressd_queue *queue,
		   struct ressd_request *bundle)
{
	if (list_empty(&queue->reads))
		return false;
	if (!bundle)
		return true;
	if (!bundle->yielding) {
		bundle->yielding = true;
		bundle->yields = ressd_list_length(&queue->reads);
	}
	if (!bundle->yields)
		return false;
	bundle->yields--;
	return true;
}

static struct ressd_request *bundle_next(struct ressd_queue *queue)
{
	struct ressd_request *next = next_writes(queue);

	if (next)
		return next;
	next = list_first_entry_or_null(&queue->fifo, struct ressd_request,
					list);
	if (yields(queue, next))
		next = list_first_entry(&queue->reads, struct ressd_request,
					list);
	if (!next)
		return NULL;
	list_del(&next->list);
	if (next->direction == RESSD_READ)
		return next;
	begin_bundle(queue, next);
	return next_writes(queue);
}

const struct ressd_policy ressd_policy_bundle = {
	.add = bundle_add,
	.next = bundle_next,
	.take = bundle_take,
};

const struct ressd_policy ressd_policy_bundle_rp = {
	.add = bundle_rp_add,
	.next = bundle_next,
	.take = bundle_take,
};
