// SPDX-License-Identifier: GPL-2.0-only
/* What the mover does under the lock: picks, also beside direct writes, sweeps, ends of moves. */
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include "holds.h"
#include "ressd-keep.h"
#include "ressd-step.h"
#include "ressd-sweep.h"

#define PICKED_AT_ONCE	(RESSD_STEP_NODES / 2)	/* dm-ressd-batch.c */
#define ENDED_AT_ONCE	(RESSD_STEP_NODES / 8)
#define COMPARED_AT_ONCE (RESSD_STEP_NODES * 8)
#define TRACKED		4096U			/* direct writes over the log's blocks */

static struct ressd_sweep sweep;
static struct ressd_step progress;
static struct ressd_move moves[PICKED_AT_ONCE];

/* pick_some() */
static void pick_step(void *context)
{
	u32 *nr = context;

	*nr = ressd_sweep_pick(&sweep, &ressd, moves, PICKED_AT_ONCE);
}

static void measure_picks(u32 mib, bool clean, u32 visit_blocks, const char *what)
{
	u32 nr;

	fill(mib, clean);
	ressd_sweep_start(&sweep, &ressd);
	ressd_sweep_visits(&sweep, visit_blocks, 0, visit_blocks ? 65536 : 0, 0);
	sample(what, pick_step, &nr);
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

void measure_mover(u32 mib)
{
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
}
