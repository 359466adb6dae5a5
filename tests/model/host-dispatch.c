// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes of the normal area in the order of a policy, as dm-ressd-dispatch.c sends them:
 * core's queue with its real policies.  To the rest of the host a write that is held is one in
 * flight; what is joined goes as its parts, as it does where memory for one request is short.
 */
#include <linux/kernel.h>
#include "host.h"

#define MAX_BUNDLE_SECTORS	(8 * BLOCK_SECTORS)

void host_dispatch_tune(struct host *host)
{
	const struct config *config = &host->config;

	ressd_queue_set(&host->queue, &(struct ressd_queue_options) {
		.dispatch = config->dispatch,
		.split = {
			.longest = { 2 * BLOCK_SECTORS, 2 * BLOCK_SECTORS },
			.align = config->dispatch_depth * BLOCK_SECTORS,
			.page = config->dispatch_depth * BLOCK_SECTORS,
		},
		.bundle_sectors = MAX_BUNDLE_SECTORS >> config->dispatch_depth,
		.expire = 20,
		.depth = config->dispatch_depth,
	});
}

void host_dispatch_init(struct host *host)
{
	ressd_queue_init(&host->queue, &(struct ressd_queue_options) { .depth = 1 });
	host->in_flight = 0;
	host_dispatch_tune(host);
}

void host_dispatch(struct host *host, struct op *op)
{
	bool urgent = op->fua || op->kind == EVENT_DISCARD;

	if (!host->config.dispatch && !host->queue.nr_held) {
		host_send(host, op);
		return;
	}
	op->request = (struct ressd_request) {
		.sector = op->first,
		.sectors = op->nr,
		.direction = op->kind == EVENT_READ ? RESSD_READ : RESSD_WRITE,
		.kind = op->kind,
		.segments = 1,
	};
	if (urgent && ressd_queue_may_pass(&host->queue, &op->request)) {
		host_send(host, op);
		return;
	}
	op->state = OP_HELD;
	ressd_queue_add(&host->queue, &op->request, host->oracle.now, urgent);
}

static void send_counted(struct host *host, struct ressd_request *request)
{
	struct op *op = list_entry(request, struct op, request);

	host->in_flight++;
	op->counted = true;
	host_send(host, op);
}

void host_dispatch_step(struct host *host, u64 number)
{
	struct ressd_queue *queue = &host->queue;
	struct ressd_request *leader, *request, *next;
	u64 now = host->oracle.now;

	if (number % 2)
		now = max(now, ressd_queue_deadline(queue, host->in_flight));
	if (!(number % 8))
		ressd_queue_release(queue);
	leader = ressd_queue_next(queue, now, host->in_flight);
	if (!leader)
		return;
	list_for_each_entry_safe(request, next, &leader->members, member)
		send_counted(host, request);
}

void host_dispatch_ended(struct host *host, struct op *op)
{
	if (op->counted && host->fault != FAULT_HELD_STAYS)
		host->in_flight--;
	op->counted = false;
}
