// SPDX-License-Identifier: GPL-2.0-only
/* What a run of the cover does under the lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "count.h"
#include "holds.h"
#include "plain-log.h"
#include "ressd-cover.h"

#define COVER_STEPS	100			/* more than any run takes */

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
void measure_covers(u32 mib)
{
	const size_t bytes = RESSD_COVER_MAX * RESSD_BLOCK_SIZE;
	struct covering covering = { 0 };
	u8 *home = allocate(bytes);

	init(mib, RESSD_COVER_MAX);
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
