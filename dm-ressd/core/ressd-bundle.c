// SPDX-License-Identifier: GPL-2.0-only
/*
 * IRBW-FIFO (IR): bundles of writes and single reads, in the order in which the
 * first request of each came.
 */
#include "ressd-bundles.h"

static void bundle_add(struct ressd_queue *queue, struct ressd_request *request)
{
	if (request->direction == RESSD_READ ||
	    !ressd_bundles_add(queue, request))
		list_add_tail(&request->list, &queue->fifo);
}

static struct ressd_request *bundle_next(struct ressd_queue *queue)
{
	struct ressd_request *next = ressd_bundles_next(queue);

	if (next)
		return next;
	next = list_first_entry_or_null(&queue->fifo, struct ressd_request,
					list);
	if (!next)
		return NULL;
	list_del(&next->list);
	if (next->direction == RESSD_READ)
		return next;
	ressd_bundles_begin(queue, next);
	return ressd_bundles_next(queue);
}

const struct ressd_policy ressd_policy_bundle = {
	.add = bundle_add,
	.next = bundle_next,
	.take = ressd_bundles_take,
};
