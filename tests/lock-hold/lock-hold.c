// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest time under the lock: what the module does with the log under one hold of ressd->lock,
 * in instructions, for logs of several sizes.  Each step that could grow with the log is taken in
 * the state that is worst for it; the loops around core are those of the module, with its limits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/types.h>
#include "count.h"
#include "plain-log.h"
#include "ressd-cover.h"
#include "ressd-keep.h"
#include "ressd-log.h"
#include "ressd-record.h"
#include "ressd-repair.h"
#include "ressd-step.h"
#include "ressd-summary.h"
#include "ressd-sweep.h"

#define LIMIT		100000ULL	/* instructions */
#define SAMPLES		2		/* of a step that is taken many times */
#define SPREAD		97		/* steps between two samples */

#define KILLED_AT_ONCE	(RESSD_STEP_NODES / 8)	/* dm-ressd-direct.c */
#define PICKED_AT_ONCE	(RESSD_STEP_NODES / 2)	/* dm-ressd-batch.c */
#define ENDED_AT_ONCE	(RESSD_STEP_NODES / 8)
#define COMPARED_AT_ONCE (RESSD_STEP_NODES * 8)
#define TRACKED		4096U			/* direct writes over the log's blocks */
#define WAITERS		16384U			/* bios, for a sync or for a record */
#define SETTLED_AT_ONCE	(RESSD_STEP_NODES / 8)	/* dm-ressd-log-worker.c */
#define SMALL_BLOCKS	32			/* of the largest small write */
#define COVER_STEPS	100			/* more than any run takes */

static struct ressd_log ressd;
static struct ressd_sweep sweep;
static struct ressd_step progress;
static struct ressd_move moves[PICKED_AT_ONCE];
static struct ressd_io io;
static u32 lbn_bits;
static u32 cover_blocks;
static u64 longest;

/* Different for all log blocks, and in no order that a tree could like. */
static u32 lbn_of(u32 block)
{
	return (u32)((u64)block * 2654435761U) & ((1U << lbn_bits) - 1);
}

static void init(u32 mib)
{
	struct ressd_log_setup setup = { .activation = 1, .segment_busy = never_busy };
	static const u8 uuid[RESSD_UUID_SIZE];
	void *buffers[RESSD_RECORDS];
	char error[200];
	u32 blocks, i;

	if (ressd_geom_init(&setup.geom, (u64)mib * 2048, 0, error, sizeof(error))) {
		fprintf(stderr, "lock-hold: %s\n", error);
		exit(2);
	}
	blocks = setup.geom.nr_blocks;
	for (lbn_bits = 1; 1U << lbn_bits < blocks; lbn_bits++)
		;
	setup.uuid = uuid;
	setup.normal_blocks = 1U << lbn_bits;
	setup.cover_blocks = cover_blocks;
	setup.nodes = allocate(ressd_map_nodes_bytes(blocks));
	setup.clean = allocate(ressd_map_clean_bytes(blocks));
	setup.regions = allocate(ressd_regions_bytes(setup.normal_blocks, blocks));
	setup.segments = allocate(setup.geom.nr_segments * sizeof(*setup.segments));
	for (i = 0; i < RESSD_RECORDS; i++)
		buffers[i] = allocate((size_t)setup.geom.record_blocks * RESSD_BLOCK_SIZE);
	setup.buffers = buffers;
	setup.summary = allocate(ressd_summary_bytes(&setup.geom));
	ressd_log_init(&ressd, &setup);
}

static void done_with(void)
{
	u32 i;

	free(ressd.map.nodes);
	free(ressd.map.clean);
	free(ressd.map.regions.bits);
	free(ressd.segments);
	for (i = 0; i < RESSD_RECORDS; i++)
		free(ressd.records[i].buffer);
	free(ressd.summary);
}

/*
 * All segments but the head's and two free ones are full of blocks, as if records had been written
 * and flushed.
 */
static void fill_anew(u32 mib, bool clean)
{
	u64 seq, last;

	init(mib);
	last = ressd.geom.nr_segments - 3;
	for (seq = 1; seq <= last; seq++) {
		u32 slot = ressd_geom_slot_of_seq(&ressd.geom, seq);
		u32 block = ressd_geom_slot_start(&ressd.geom, slot) + 1;
		u32 end = ressd_geom_slot_end(&ressd.geom, slot);

		for (; block < end; block++) {
			ressd_map_insert(&ressd.map, block, lbn_of(block));
			if (clean)
				ressd_map_set_clean(&ressd.map, &ressd.map.nodes[block]);
			else
				ressd.segments[slot].live++;
		}
	}
	ressd.head_seq = last + 1;
	ressd.forgotten_seq = last + 2;
	ressd.records[0].segment_seq = ressd.head_seq;
	ressd.records[0].block =
		ressd_geom_slot_start(&ressd.geom,
				      ressd_geom_slot_of_seq(&ressd.geom, ressd.head_seq));
	ressd.first_pending = false;
}

/* Each step begins with a log as fill_anew() made it: a copy takes a tenth of the time. */
static struct filled {
	struct ressd_log log;
	struct ressd_node *nodes;
	unsigned long *clean, *regions;
	struct ressd_segment *segments;
} logs[2];

static void *copied(void *to, const void *from, size_t bytes)
{
	return memcpy(to ? to : allocate(bytes), from, bytes);
}

static void keep(struct filled *filled)
{
	const u32 blocks = ressd.geom.nr_blocks;

	filled->log = ressd;
	filled->nodes = copied(NULL, ressd.map.nodes, ressd_map_nodes_bytes(blocks));
	filled->clean = copied(NULL, ressd.map.clean, ressd_map_clean_bytes(blocks));
	filled->regions = copied(NULL, ressd.map.regions.bits,
				 ressd_regions_bytes(ressd.normal_blocks, blocks));
	filled->segments = copied(NULL, ressd.segments,
				  ressd.geom.nr_segments * sizeof(*ressd.segments));
}

static void fill(u32 mib, bool clean)
{
	struct filled *made = &logs[clean];
	u32 blocks;

	if (!made->nodes) {
		fill_anew(mib, clean);
		keep(made);
		return;
	}
	ressd = made->log;
	blocks = ressd.geom.nr_blocks;
	copied(ressd.map.nodes, made->nodes, ressd_map_nodes_bytes(blocks));
	copied(ressd.map.clean, made->clean, ressd_map_clean_bytes(blocks));
	copied(ressd.map.regions.bits, made->regions,
	       ressd_regions_bytes(ressd.normal_blocks, blocks));
	copied(ressd.segments, made->segments, ressd.geom.nr_segments * sizeof(*ressd.segments));
	ressd_summary_start(ressd.summary, &ressd.geom, 0);
}

static void forget_filled(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(logs); i++) {
		ressd = logs[i].log;
		done_with();
		free(logs[i].nodes);
		free(logs[i].clean);
		free(logs[i].regions);
		free(logs[i].segments);
		logs[i] = (struct filled) { };
	}
}

static void report(const char *what, u64 nr)
{
	printf("  %s: %llu instructions\n", what, (unsigned long long)nr);
	if (nr > longest)
		longest = nr;
}

static void measure(const char *what, void (*call)(void *context), void *context)
{
	report(what, count_call(call, context));
}

/* ---- the steps ---- */

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
	u32 i, j;

	fill(mib, clean);
	range = (struct range) { .nr = ressd.normal_blocks };
	for (i = 0; i < SAMPLES; i++) {
		measure(what, step, &range);
		for (j = 0; j < SPREAD && range.nr; j++)
			step(&range);
	}
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

/* pick_some() */
static void pick_step(void *context)
{
	u32 *nr = context;

	*nr = ressd_sweep_pick(&sweep, &ressd, moves, PICKED_AT_ONCE);
}

static void measure_picks(u32 mib, bool clean, u32 visit_blocks, const char *what)
{
	u32 i, j, nr;

	fill(mib, clean);
	ressd_sweep_start(&sweep, &ressd);
	ressd_sweep_visits(&sweep, visit_blocks, 0, visit_blocks ? 65536 : 0, 0);
	for (i = 0; i < SAMPLES; i++) {
		measure(what, pick_step, &nr);
		for (j = 0; j < SPREAD; j++)
			pick_step(&nr);
	}
}

/* Direct writes in flight, and what a pick leaves over when it has been compared with each. */
struct tracked {
	struct list_head writes;
	u32 nr, left;
};

struct tracked_write {
	struct list_head list;
	u32 first, nr;
};

/* is_tracked() */
static bool is_tracked(const struct tracked *tracked, u32 lbn)
{
	const struct tracked_write *write;

	list_for_each_entry(write, &tracked->writes, list)
		if (lbn - write->first < write->nr)
			return true;
	return false;
}

/* pick_some() and picks_at_once() */
static void pick_beside_step(void *context)
{
	struct tracked *tracked = context;
	u32 i, nr, limit = COMPARED_AT_ONCE / (tracked->nr + 1) + 1;

	nr = ressd_sweep_pick(&sweep, &ressd, moves, min(PICKED_AT_ONCE, limit));
	for (i = 0; i < nr; i++)
		tracked->left += !is_tracked(tracked, moves[i].lbn);
}

/* The writes are elsewhere, so that each is compared with each pick. */
static void measure_picks_beside(u32 mib)
{
	static struct tracked_write writes[TRACKED];
	struct tracked tracked = { };
	u32 nr;

	INIT_LIST_HEAD(&tracked.writes);
	fill(mib, false);
	ressd_sweep_start(&sweep, &ressd);
	ressd_sweep_visits(&sweep, 0, 0, 0, 0);
	for (nr = 16; nr <= TRACKED; nr *= 16) {
		for (; tracked.nr < nr; tracked.nr++) {
			writes[tracked.nr].first = ressd.normal_blocks + tracked.nr;
			writes[tracked.nr].nr = 1;
			list_add_tail(&writes[tracked.nr].list, &tracked.writes);
		}
		measure("pick beside direct writes", pick_beside_step, &tracked);
	}
	if (!tracked.left)
		abort();
}

/* How a sweep begins: see start_sweep(). */
struct beginning {
	u32 visit_blocks;
	bool drain;
};

static void begin_step(void *context)
{
	const struct beginning *beginning = context;

	ressd_sweep_start(&sweep, &ressd);
	ressd_sweep_visits(&sweep, beginning->visit_blocks, 0, 0, 0);
	if (beginning->drain)
		sweep.last_segment = ressd.head_seq;
	else if (beginning->visit_blocks)
		ressd_sweep_oldest(&sweep, &ressd);
	ressd_step_start(&progress, &sweep, &ressd);
}

/* goal_reached() */
static void goal_step(void *context)
{
	u32 slot;

	(void)context;
	ressd_step_moved(&progress, &sweep, &ressd);
	if (!ressd_step_has_room(&progress, &ressd))
		ressd_keep_wanted(&ressd, 30, &slot);
}

/* The oldest segment's blocks go to @visits clustered blocks; 0: the device's are not known. */
static void measure_sweep(u32 mib, bool clean, u32 visits, bool drain)
{
	struct beginning beginning = { .drain = drain };
	u32 nr;

	fill(mib, clean);
	if (visits)
		beginning.visit_blocks = ressd.normal_blocks / visits + 1;
	measure("a sweep begins", begin_step, &beginning);
	pick_step(&nr);
	measure("a sweep looks how far it is", goal_step, NULL);
	sweep.visit_end++;
	measure("a sweep looks how far it is, after a visit", goal_step, NULL);
}

/* keep_slot(): nothing of the segment is left to be kept. */
static void keep_step(void *context)
{
	u32 start = ressd_geom_slot_start(&ressd.geom, 1);

	*(u32 *)context = ressd_keep_next(&ressd, start, ressd_geom_slot_end(&ressd.geom, 1));
}

static void measure_keeping(u32 mib)
{
	u32 block;

	fill(mib, true);
	measure("what of a segment is kept", keep_step, &block);
}

/* finish_some() */
static void moved_step(void *context)
{
	u32 i, first = *(u32 *)context;

	for (i = first; i < first + ENDED_AT_ONCE; i++)
		ressd_log_moved(&ressd, moves[i].block, moves[i].lbn);
}

static void measure_moved(u32 mib)
{
	u32 nr, first = 0;

	fill(mib, false);
	ressd_sweep_start(&sweep, &ressd);
	pick_step(&nr);
	measure("end of moves", moved_step, &first);
}

/*
 * What the map knows of reusable segments is forgotten; @unmaps: much of it on the list of UNMAPs.
 */
static void measure_forgetting(u32 mib, bool unmaps)
{
	bool more = true;
	u32 i, j;

	fill(mib, true);
	if (unmaps)
		ressd_log_kill(&ressd, 0, ressd.normal_blocks);
	ressd.tail_seq = ressd.head_seq;
	ressd.written_tail = ressd.head_seq;
	ressd.reuse_seq = ressd.head_seq;
	for (i = 0; i < SAMPLES && more; i++) {
		measure(unmaps ? "forgetting UNMAPs" : "forgetting a segment", tidy_step, &more);
		for (j = 0; j < SPREAD && more; j++)
			tidy_step(&more);
	}
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

/* A run of the cover: see carry_out_run() in dm-ressd-cover.c. */
struct covering {
	struct ressd_cover_run run;
	struct ressd_cover_action action;
};

static void cover_next_step(void *context)
{
	struct covering *covering = context;

	ressd_cover_next(&covering->run, &ressd, &covering->action);
}

static void cover_done_step(void *context)
{
	struct covering *covering = context;

	ressd_cover_done(&covering->run, &ressd, 0);
}

/* All I/O of a sync, not measured. */
static void settle(void)
{
	do {
		while (ressd_log_next(&ressd, &io)) {
			if (io.kind == RESSD_IO_WRITE)
				ressd_log_encode(&ressd, &io);
			ressd_log_done(&ressd, &io, 0);
		}
	} while (ressd_log_tidy(&ressd));
}

/* What the module does between two steps, without the lock; home is @home. */
static void cover_act(struct covering *covering, u8 *home)
{
	struct ressd_cover_action *action = &covering->action;
	size_t bytes = (size_t)action->nr * RESSD_BLOCK_SIZE;
	u8 *place = home + (size_t)action->lbn * RESSD_BLOCK_SIZE;

	switch (action->kind) {
	case RESSD_COVER_READ_HOME:
		memcpy(action->data, home, bytes);
		break;
	case RESSD_COVER_WRITE_HOME:
		memcpy(place, action->data, bytes);
		break;
	case RESSD_COVER_READ_LOG:
		/* All blocks are alike. */
		memset(action->data, 0x5a, RESSD_BLOCK_SIZE);
		break;
	case RESSD_COVER_WORK:
		ressd_cover_work(&covering->run);
		break;
	case RESSD_COVER_SYNC:
		ressd_log_sync(&ressd);
		settle();
		break;
	case RESSD_COVER_RECLAIM:
		ressd_log_reclaim(&ressd);
		settle();
		break;
	case RESSD_COVER_WAIT:
		settle();
		break;
	case RESSD_COVER_END:
		break;
	}
}

static void cover_run(struct covering *covering, u8 *home, enum ressd_cover_goal goal,
		      const char *what)
{
	u64 nr = 0;
	u32 i;

	if (!ressd_cover_start(&covering->run, &ressd, goal)) {
		fprintf(stderr, "lock-hold: %s does not begin\n", what);
		exit(2);
	}
	for (i = 0; i < COVER_STEPS; i++) {
		nr = max(nr, count_call(cover_next_step, covering));
		if (covering->action.kind == RESSD_COVER_END)
			break;
		cover_act(covering, home);
		nr = max(nr, count_call(cover_done_step, covering));
	}
	if (i == COVER_STEPS || covering->run.result) {
		fprintf(stderr, "lock-hold: %s ends with %d\n", what, covering->run.result);
		exit(2);
	}
	report(what, nr);
}

/* As many blocks as an area may cover, though the format takes fewer. */
static void measure_covers(u32 mib)
{
	const size_t bytes = RESSD_COVER_MAX * RESSD_BLOCK_SIZE;
	struct covering covering = { 0 };
	u8 *home = allocate(bytes);

	cover_blocks = RESSD_COVER_MAX;
	init(mib);
	cover_blocks = 0;
	memset(home, 0x5a, bytes);
	covering.run.logged = allocate(bytes);
	covering.run.home = allocate(bytes);
	settle();
	cover_run(&covering, home, RESSD_COVER_COVER, "covering, its longest step");
	cover_run(&covering, home, RESSD_COVER_UNCOVER, "uncovering, its longest step");
	free(covering.run.logged);
	free(covering.run.home);
	free(home);
	done_with();
}

static void measure_all(const char *name, u32 mib)
{
	longest = 0;
	printf("log of %s:\n", name);
	measure_kills(mib, false, "discard of all, its end", kill_step);
	measure_kills(mib, true, "discard of all, submitted", submit_step);
	measure_failed_flush(mib);
	measure_picks(mib, true, 0, "pick over clean blocks");
	measure_picks(mib, false, 0, "pick of dirty blocks");
	measure_picks(mib, false, 65536, "pick in a large clustered block");
	measure_picks(mib, false, 1024, "pick of visits");
	measure_picks_beside(mib);
	measure_sweep(mib, false, 0, false);
	measure_sweep(mib, false, 63, false);
	measure_sweep(mib, true, 63, true);
	measure_keeping(mib);
	measure_moved(mib);
	measure_forgetting(mib, false);
	measure_forgetting(mib, true);
	measure_accepting(mib, false);
	measure_accepting(mib, true);
	measure_commit(mib);
	measure_settling(mib);
	forget_filled();
	measure_covers(mib);
	printf("%s - lock-hold: no hold of more than %llu instructions, log of %s (%llu)\n",
	       longest && longest <= LIMIT ? "ok" : "not ok", LIMIT, name,
	       (unsigned long long)longest);
	printf("# result lock-hold/%s/instructions %llu instructions <=%llu\n", name,
	       (unsigned long long)longest, LIMIT);
	fflush(stdout);
}

int main(void)
{
	static const struct {
		const char *name;
		u32 mib;
	} sizes[] = {
		{ "64-mib", 64 }, { "1-gib", 1024 }, { "4-gib", 4096 }, { "16-gib", 16384 },
	};
	bool good = true;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		measure_all(sizes[i].name, sizes[i].mib);
		good &= longest && longest <= LIMIT;
	}
	return !good;
}
