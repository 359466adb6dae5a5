/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the normal area that wait, and the order in which they are sent
 * (PA section 5.3, IR).  The target adds reads and writes, and takes the next
 * one whenever the device can have it.
 *
 * A policy holds requests; each is one ops struct in a file of its own.  What
 * all of them have in common is here:
 *
 * DEPTH: at most @depth requests are in flight, so that there is something to
 * order.  Urgent ones do not wait for that: where more writers than that sent
 * such ones without end, nothing that a policy has would ever be sent.
 *
 * OVERLAP: requests that overlap, one of them a write, are sent in the order in
 * which they came.  A policy never sees such a pair: before the second one is
 * added, the group of the first is moved to the ready list, and nothing is
 * taken from the policy before that list is empty.  So that rewriting one block
 * again and again does not hold up everybody else, all that the policy has is
 * moved, in its order, if RESSD_MAX_RELEASED groups were moved since its last
 * turn; and when the policy or its options change.
 *
 * Nothing is allocated; a request is part of what the caller holds it in.
 * Times are in ns.
 *
 * Context: the caller serialises all calls on one queue.
 */
#ifndef RESSD_QUEUE_H
#define RESSD_QUEUE_H

#include <linux/list.h>
#include <linux/types.h>

#include "ressd-args.h"
#include "ressd-split.h"

/*
 * A policy has no more; the caller makes writers and readers wait while so many
 * are held.  The number of tags that a disk's queue has by default.
 */
#define RESSD_MAX_HELD		256

/*
 * Who would be sent next by a policy waits for no more groups than these
 * because of overlaps.
 */
#define RESSD_MAX_RELEASED	8

/* Segments of memory in one request that was joined from several. */
#define RESSD_MAX_SEGMENTS	256

struct ressd_request {
	/* By the caller. */
	u64 sector;	/* of the normal area */
	u32 sectors;
	u32 segments;	/* of memory; above RESSD_MAX_SEGMENTS: never joined */
	u64 kind;	/* only those of one kind and owner are joined */
	const void *owner;	/* the control group that is charged */
	enum ressd_direction direction;

	/* By the queue. */
	bool yielding : 1;		/* bundle_rp: its turn has come */
	bool pending : 1;		/* pai: waits for neighbours */
	bool urgent : 1;		/* waits for no place in flight */
	u16 yields;			/* so many reads go before it */
	u64 arrived;			/* the first of its members */
	struct ressd_request *leader;	/* of its group; NULL: not joinable */
	struct list_head list;		/* of leaders: the policy's, or ready */
	struct list_head members;	/* of a leader: its group, ascending */
	struct list_head member;
	u64 first;			/* of a leader: what the group covers */
	u32 total, total_segments;
};

struct ressd_queue_options {
	enum ressd_dispatch dispatch;
	struct ressd_split split;
	u32 bundle_sectors;
	u64 expire;	/* longest time in the pending list of pai */
	u32 depth;
};

struct ressd_queue {
	struct ressd_queue_options options;
	struct list_head ready;	/* leaders; sent before all of the policy's */
	u32 nr_held;		/* requests, ready ones included */

	/*
	 * What the policy has: all requests, by sector, for overlaps and
	 * neighbours.
	 */
	struct ressd_request *sorted[RESSD_MAX_HELD];
	u32 nr_sorted;
	u32 longest;		/* of them, since there were none */
	u32 nr_released;	/* groups, since the policy had its turn */

	/* What a policy may go by when it is asked for the next one. */
	u64 now;
	u32 in_flight;
	bool releasing;	/* all is wanted: none may be left back */

	/* Lists of the policy, of leaders. */
	struct list_head fifo;
	struct list_head pending;	/* pai, by age */
	struct list_head reads;		/* bundle_rp */
	struct list_head writing;	/* bundle: left of the one written */

	u64 joined;	/* requests that were joined with others */
	u64 expired;	/* groups sent because they had waited too long */
	u32 most_held;
};

/*
 * What a policy does.  All is called with room in the queue, and with nothing
 * that overlaps.
 */
struct ressd_policy {
	/* Takes the request, which is in sorted[] already. */
	void (*add)(struct ressd_queue *queue, struct ressd_request *request);
	/*
	 * The next leader, out of all lists of the policy, or NULL: none, or
	 * none yet.
	 */
	struct ressd_request *(*next)(struct ressd_queue *queue);
	/*
	 * Moves the request's group from its lists to @groups, as single
	 * requests if need be.
	 */
	void (*take)(struct ressd_request *request, struct list_head *groups);
	/*
	 * When it has to be asked again if nothing else happens; 0: need not.
	 * NULL: likewise.
	 */
	u64 (*deadline)(const struct ressd_queue *queue);
};

extern const struct ressd_policy ressd_policy_pai;
extern const struct ressd_policy ressd_policy_bundle;
extern const struct ressd_policy ressd_policy_bundle_rp;

void ressd_queue_init(struct ressd_queue *queue,
		      const struct ressd_queue_options *options);

/* Changes the options; what is held becomes ready. */
void ressd_queue_set(struct ressd_queue *queue,
		     const struct ressd_queue_options *options);

/* May the request be sent at once, before all that is held? */
bool ressd_queue_may_pass(const struct ressd_queue *queue,
			  const struct ressd_request *request);

/*
 * Adds a request.  @urgent: neither a policy nor the depth holds it; only what
 * is ready, or overlaps, goes before.
 */
void ressd_queue_add(struct ressd_queue *queue, struct ressd_request *request,
		     u64 now, bool urgent);

/*
 * The leader of the next group to be sent while @in_flight are, or NULL.  It is
 * out of the queue with all its members.
 */
struct ressd_request *ressd_queue_next(struct ressd_queue *queue, u64 now,
				       u32 in_flight);

/* Undoes the last ressd_queue_next(). */
void ressd_queue_put_back(struct ressd_queue *queue,
			  struct ressd_request *leader);

/* Has all that is held sent as soon as the depth allows. */
void ressd_queue_release(struct ressd_queue *queue);

/*
 * When ressd_queue_next() has to be called if nothing else happens while
 * @in_flight are; 0: need not.  With the whole depth in use the end of one has
 * to happen first.
 */
u64 ressd_queue_deadline(const struct ressd_queue *queue, u32 in_flight);

/* --- for policies --------------------------------------------------------- */

/* As list_count_nodes() of newer kernels. */
static inline u32 ressd_list_length(const struct list_head *list)
{
	const struct list_head *entry;
	u32 nr = 0;

	list_for_each(entry, list)
		nr++;
	return nr;
}

/* Is the group a single request? */
static inline bool ressd_request_is_single(const struct ressd_request *leader)
{
	return list_is_singular(&leader->members);
}

/* Can what the leaders stand for go to the device as one request? */
static inline bool ressd_requests_fit(const struct ressd_request *left,
				      const struct ressd_request *right)
{
	return left->direction == right->direction &&
	       left->kind == right->kind && left->owner == right->owner &&
	       left->first + left->total == right->first &&
	       left->total_segments + right->total_segments <=
		       RESSD_MAX_SEGMENTS;
}

/*
 * Held requests that have no sector before @sector: the place of the first in
 * sorted[].
 */
u32 ressd_queue_place(const struct ressd_queue *queue, u64 sector);

/*
 * The held request that ends where @request begins, or NULL; and that begins
 * where it ends.
 */
struct ressd_request *ressd_queue_before(const struct ressd_queue *queue,
					 const struct ressd_request *request);
struct ressd_request *ressd_queue_after(const struct ressd_queue *queue,
					const struct ressd_request *request);

#endif
