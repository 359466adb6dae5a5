// SPDX-License-Identifier: GPL-2.0-only
/* What bios and the log's worker do under the lock: kills, writes, I/O, failed flushes, waiters. */
#include <linux/kernel.h>
#include <linux/list.h>
#include "holds.h"
#include "ressd-record.h"
#include "ressd-repair.h"

#define KILLED_AT_ONCE	(RESSD_STEP_NODES / 8)	/* dm-ressd-direct.c */
#define SETTLED_AT_ONCE	(RESSD_STEP_NODES / 8)	/* dm-ressd-log-worker.c */
#define WAITERS		16384U			/* bios, for a sync or for a record */
#define SMALL_BLOCKS	32			/* of the largest small write */

struct range {
	u32 first, nr;
};

/* kill_superseded() */
static void kill_step(void *context)
{
	struct range *range = context;
	u32 done = ressd_log_kill_some(&ressd, range->first, range->nr);

	range->first += done;
	range->nr -= done;
}

/* write_direct(): what is clean is killed when the write is submitted. */
static void submit_step(void *context)
{
	struct range *range = context;
	struct ressd_node *next, *node = ressd_map_first_from(&ressd.map, range->first);
	u32 killed = 0;

	for (; node && node->lbn - range->first < range->nr; node = next) {
		if (killed++ == KILLED_AT_ONCE)
			break;
		next = ressd_map_next(node);
		if (ressd_map_is_clean(&ressd.map, ressd_map_block(&ressd.map, node)))
			ressd_log_kill(&ressd, node->lbn, 1);
	}
}

static void measure_kills(u32 mib, bool clean, const char *what, void (*step)(void *context))
{
	struct range range;

	fill(mib, clean);
	range = (struct range) { .nr = ressd.normal_blocks };
	sample(what, step, &range);
}

static void tidy_step(void *context)
{
	bool *more = context;

	*more = ressd_log_tidy(&ressd);
}

static void fail_step(void *context)
{
	(void)context;
	ressd_log_flush_failed(&ressd);
}

static const char *distrust_name(void)
{
	static const char *const names[] = {
		[RESSD_DISTRUST_MOVES] = "failed flush, moves",
		[RESSD_DISTRUST_KILLS] = "failed flush, kills",
		[RESSD_DISTRUST_DEATHS] = "failed flush, deaths",
	};

	return names[ressd.distrusting.step];
}

/* Half of the blocks are moved, the other half is killed, and nothing of that is durable. */
static void measure_failed_flush(u32 mib)
{
	enum ressd_distrust_step last = RESSD_DISTRUST_NONE;
	bool more = true;
	u32 samples = 0;

	fill(mib, true);
	ressd_log_kill(&ressd, 0, ressd.normal_blocks / 2);
	measure("failed flush", fail_step, NULL);
	while (more) {
		if (ressd.distrusting.step != last)
			samples = 0;
		last = ressd.distrusting.step;
		if (samples++ % SPREAD == 0 && samples < SAMPLES * SPREAD)
			measure(distrust_name(), tidy_step, &more);
		else
			tidy_step(&more);
	}
}

/*
 * What the map knows of reusable segments is forgotten; @unmaps: much of it on the list of UNMAPs.
 */
static void measure_forgetting(u32 mib, bool unmaps)
{
	bool more;

	fill(mib, true);
	if (unmaps)
		ressd_log_kill(&ressd, 0, ressd.normal_blocks);
	ressd.tail_seq = ressd.head_seq;
	ressd.written_tail = ressd.head_seq;
	ressd.reuse_seq = ressd.head_seq;
	sample(unmaps ? "forgetting UNMAPs" : "forgetting a segment", tidy_step, &more);
}

/* take_blocks(), but for the copies; the head enters a segment that the map still knows. */
static void accept_step(void *context)
{
	struct ressd_place place;
	u32 i;

	(void)context;
	for (i = 0; i < SMALL_BLOCKS; i++)
		if (ressd_log_accept(&ressd, lbn_of(ressd.records[0].block / 2 + i), &place))
			break;
}

static void measure_accepting(u32 mib, bool enters)
{
	u32 slot;

	fill(mib, true);
	ressd.tail_seq = ressd.head_seq;
	ressd.written_tail = ressd.head_seq;
	ressd.reuse_seq = ressd.head_seq;
	/* The two free ones are used up. */
	if (enters) {
		ressd.head_seq += 2;
		ressd.forgotten_seq = ressd.head_seq + 1;
		slot = ressd_geom_slot_of_seq(&ressd.geom, ressd.head_seq);
		ressd.records[0].segment_seq = ressd.head_seq;
		ressd.records[0].block = ressd_geom_slot_end(&ressd.geom, slot);
	}
	measure(enters ? "a write enters a segment" : "a write of 32 blocks", accept_step, NULL);
}

static void next_step(void *context)
{
	(void)context;
	if (!ressd_log_next(&ressd, &io))
		io.kind = RESSD_IO_READ;
}

static void done_step(void *context)
{
	(void)context;
	ressd_log_done(&ressd, &io, 0);
}

/* A sync of as many UNMAPs as a record holds, where all segments have died. */
static void measure_commit(u32 mib)
{
	u32 i;

	fill(mib, false);
	ressd_log_kill(&ressd, 0, ressd.normal_blocks);
	while (ressd_log_tidy(&ressd))
		;
	ressd_log_reclaim(&ressd);
	for (i = 0; i < 2 * SAMPLES; i++) {
		measure("next I/O of a sync", next_step, NULL);
		if (io.kind == RESSD_IO_READ)
			break;
		if (io.kind == RESSD_IO_WRITE)
			ressd_log_encode(&ressd, &io);
		measure("end of that I/O", done_step, NULL);
	}
}

/* Bios that wait, in the order of their tickets, and those of them that go on. */
struct waiter {
	struct list_head list;
	u64 ticket;
};

struct waiting {
	struct list_head sync, record, settled;
};

/* take_settled() */
static void take_settled(struct list_head *waiters, u64 reached, struct list_head *settled,
			 u32 *room)
{
	struct waiter *waiter, *next;

	list_for_each_entry_safe(waiter, next, waiters, list) {
		if (!*room || (waiter->ticket > reached && ressd.mode == RESSD_MODE_RW))
			return;
		list_move_tail(&waiter->list, settled);
		--*room;
	}
}

/* take_some_settled() */
static void settle_step(void *context)
{
	struct waiting *waiting = context;
	u32 room = SETTLED_AT_ONCE;

	take_settled(&waiting->sync, ressd_log_synced(&ressd), &waiting->settled, &room);
	take_settled(&waiting->record, ressd.written_seq, &waiting->settled, &room);
}

static void measure_settling(u32 mib)
{
	static struct waiter waiters[WAITERS];
	struct waiting waiting;
	u32 i;

	fill(mib, false);
	INIT_LIST_HEAD(&waiting.sync);
	INIT_LIST_HEAD(&waiting.record);
	INIT_LIST_HEAD(&waiting.settled);
	for (i = 0; i < ARRAY_SIZE(waiters); i++) {
		waiters[i].ticket = 1;
		list_add_tail(&waiters[i].list, i % 2 ? &waiting.sync : &waiting.record);
	}
	ressd.sync_done = 0;
	ressd.written_seq = 0;
	measure("end of an I/O that nobody waits for", settle_step, &waiting);
	ressd.sync_done = 1;
	ressd.written_seq = 1;
	measure("end of an I/O that all wait for", settle_step, &waiting);
}

void measure_log(u32 mib)
{
	measure_kills(mib, false, "discard of all, its end", kill_step);
	measure_kills(mib, true, "discard of all, submitted", submit_step);
	measure_failed_flush(mib);
	measure_forgetting(mib, false);
	measure_forgetting(mib, true);
	measure_accepting(mib, false);
	measure_accepting(mib, true);
	measure_commit(mib);
	measure_settling(mib);
}
