// SPDX-License-Identifier: GPL-2.0-only
/*
 * IRBW-FIFO-RP (IR): reads go before bundles of writes, and each bundle yields
 * only once, so that none starves.  It yields to the reads that wait when its
 * turn comes.  With one read for each bundle, as the paper's words can be
 * taken, several readers would wait for as many bundles.
 */
#include "ressd-bundles.h"

static void bundle_rp_add(struct ressd_queue *queue,
			  struct ressd_request *request)
{
	if (request->direction == RESSD_READ)
		list_add_tail(&request->list, &queue->reads);
	else if (!ressd_bundles_add(queue, request))
		list_add_tail(&request->list, &queue->fifo);
}

/* Does a read go before @bundle? */
static bool yields(struct ressd_queue *queue,
		   const struct ressd_request *bundle)
{
	if (list_empty(&queue->reads))
		return false;
	if (!bundle)
		return true;
	if (queue->yielding != bundle) {
		queue->yielding = bundle;
		queue->yields = ressd_list_length(&queue->reads);
	}
	if (!queue->yields)
		return false;
	queue->yields--;
	return true;
}

static struct ressd_request *bundle_rp_next(struct ressd_queue *queue)
{
	struct ressd_request *next = ressd_bundles_next(queue), *bundle;

	if (next)
		return next;
	bundle = list_first_entry_or_null(&queue->fifo, struct ressd_request,
					  list);
	next = bundle;
	if (yields(queue, bundle))
		next = list_first_entry(&queue->reads, struct ressd_request,
					list);
	if (!next)
		return NULL;
	list_del(&next->list);
	if (next != bundle)
		return next;
	queue->yielding = NULL;
	ressd_bundles_begin(queue, bundle);
	return ressd_bundles_next(queue);
}

const struct ressd_policy ressd_policy_bundle_rp = {
	.add = bundle_rp_add,
	.next = bundle_rp_next,
	.take = ressd_bundles_take,
};
