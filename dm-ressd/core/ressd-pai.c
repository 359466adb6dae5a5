// SPDX-License-Identifier: GPL-2.0-only
/*
 * PAI, the parameter-aware order (PA section 5.3): well-formed requests are
 * sent first, the others wait to be completed by neighbours.
 *
 * A request is well-formed if it begins and ends at boundaries of
 * align_sectors; without these, if it is as long as is allowed.  The paper
 * wants both.  A request of whole pages that is shorter than the buffer costs
 * the device nothing extra, so that it need not wait.  Where a direction has no
 * limit all of its requests are well-formed.
 *
 * The others go into the pending list.  They are sent when they have waited for
 * @expire, then before all that came later; or while less than half of the
 * depth is in use: a device at rest would gain nothing by their waiting.  Older
 * ones that are well-formed go before them even then: where all wait for longer
 * than @expire, they would otherwise be the last.
 */
#include "ressd-queue.h"

static bool is_well_formed(const struct ressd_queue *queue,
			   const struct ressd_request *leader)
{
	const struct ressd_split *split = &queue->options.split;
	u32 longest = split->longest[leader->direction];

	if (!longest)
		return true;
	if (!split->align)
		return leader->total >= longest;
	return ressd_split_is_aligned(split, leader->first, split->align) &&
	       ressd_split_is_aligned(split, leader->first + leader->total,
				      split->align);
}

static bool can_join(const struct ressd_queue *queue,
		     const struct ressd_request *left,
		     const struct ressd_request *right)
{
	return ressd_requests_fit(left, right) &&
	       left->total + right->total <=
		       queue->options.split.longest[left->direction];
}

/*
 * Appends the group of @right to that of @left; the older of the leaders stays
 * in its place.
 */
static struct ressd_request *join(struct ressd_queue *queue,
				  struct ressd_request *left,
				  struct ressd_request *right)
{
	struct ressd_request *leader =
		left->arrived <= right->arrived ? left : right;
	struct ressd_request *other = leader == left ? right : left, *member;

	if (other->pending)
		list_del(&other->list);
	list_for_each_entry(member, &other->members, member)
		member->leader = leader;
	if (leader == left)
		list_splice_tail_init(&other->members, &leader->members);
	else
		list_splice_init(&other->members, &leader->members);
	leader->first = left->first;
	leader->total += other->total;
	leader->total_segments += other->total_segments;
	other->pending = false;
	queue->joined++;
	return leader;
}

static void pai_add(struct ressd_queue *queue, struct ressd_request *request)
{
	struct ressd_request *neighbour, *leader = request;

	if (is_well_formed(queue, leader)) {
		list_add_tail(&leader->list, &queue->fifo);
		return;
	}
	neighbour = ressd_queue_before(queue, request);
	if (neighbour && neighbour->leader->pending &&
	    can_join(queue, neighbour->leader, leader))
		leader = join(queue, neighbour->leader, leader);
	neighbour = ressd_queue_after(queue, request);
	if (neighbour && neighbour->leader->pending &&
	    can_join(queue, leader, neighbour->leader))
		leader = join(queue, leader, neighbour->leader);
	if (is_well_formed(queue, leader)) {
		if (leader->pending)
			list_del(&leader->list);
		leader->pending = false;
		list_add_tail(&leader->list, &queue->fifo);
	} else if (!leader->pending) {
		leader->pending = true;
		list_add_tail(&leader->list, &queue->pending);
	}
}

/*
 * Has the oldest pending one waited long enough, and come before the next
 * well-formed one?
 */
static bool is_due(const struct ressd_queue *queue,
		   const struct ressd_request *oldest,
		   const struct ressd_request *well_formed)
{
	return queue->now >= oldest->arrived &&
	       queue->now - oldest->arrived >= queue->options.expire &&
	       (!well_formed || oldest->arrived <= well_formed->arrived);
}

static struct ressd_request *pai_next(struct ressd_queue *queue)
{
	bool may_go = queue->releasing ||
		      2 * queue->in_flight < queue->options.depth;
	struct ressd_request *oldest, *leader;

	oldest = list_first_entry_or_null(&queue->pending, struct ressd_request,
					  list);
	leader = list_first_entry_or_null(&queue->fifo, struct ressd_request,
					  list);
	if (oldest && !queue->releasing && is_due(queue, oldest, leader)) {
		queue->expired++;
		leader = oldest;
	} else if (!leader && may_go) {
		leader = oldest;
	}
	if (leader)
		list_del(&leader->list);
	return leader;
}

static void pai_take(struct ressd_request *request, struct list_head *groups)
{
	list_move_tail(&request->leader->list, groups);
	request->leader->pending = false;
}

static u64 pai_deadline(const struct ressd_queue *queue)
{
	const struct ressd_request *oldest;

	if (list_empty(&queue->pending))
		return 0;
	oldest = list_first_entry(&queue->pending, struct ressd_request, list);
	return oldest->arrived + queue->options.expire;
}

const struct ressd_policy ressd_policy_pai = {
	.add = pai_add,
	.next = pai_next,
	.take = pai_take,
	.deadline = pai_deadline,
};
