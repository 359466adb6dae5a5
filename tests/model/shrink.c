// SPDX-License-Identifier: GPL-2.0-only
/* Delta debugging of a run that fails; see shrink.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "shrink.h"

#define LAST_EVENTS	8U	/* only there are crash states tried, but many */
#define PER_MOMENT	200U

struct shrinker {
	struct script *script;
	struct verdict *verdict;
	clock_t end;
	u32 explore;		/* PER_MOMENT until the cut is fixed, then 0 */
};

/*
 * Plays @events.  If that fails too they become the script's, up to the one that fails, and true is
 * returned.  Cuts are shared between lists of events: nothing of them is copied or freed.
 */
static bool still_fails(struct shrinker *shrinker, const struct events *events)
{
	struct script *script = shrinker->script;
	struct run_options options = script->options;
	struct verdict verdict;

	options.per_moment = shrinker->explore;
	options.explore_from = events->nr > LAST_EVENTS ? events->nr - LAST_EVENTS : 0;
	run_events(&options, &script->config, events, script->seed, &verdict);
	if (verdict.good) {
		verdict_free(&verdict);
		return false;
	}
	verdict_free(shrinker->verdict);
	*shrinker->verdict = verdict;
	memmove(script->events.list, events->list, events->nr * sizeof(events->list[0]));
	script->events.nr = verdict.events;
	return true;
}

static bool in_time(const struct shrinker *shrinker)
{
	return clock() < shrinker->end;
}

/* Leaves out @nr events from @first on. */
static bool without(struct shrinker *shrinker, u32 first, u32 nr)
{
	const struct events *all = &shrinker->script->events;
	struct events fewer = { };
	bool fails;
	u32 i;

	for (i = 0; i < all->nr; i++)
		if (i < first || i >= first + nr)
			events_add(&fewer, &all->list[i]);
	fails = still_fails(shrinker, &fewer);
	events_free(&fewer);
	return fails;
}

/* Leaves out what can be; true if anything could. */
static bool drop_events(struct shrinker *shrinker)
{
	const struct events *all = &shrinker->script->events;
	u32 before = all->nr, chunk, end;

	for (chunk = all->nr / 2; chunk; chunk /= 2)
		for (end = all->nr; end && in_time(shrinker); ) {
			u32 first = end > chunk ? end - chunk : 0;

			without(shrinker, first, end - first);
			end = first < all->nr ? first : all->nr;
		}
	return all->nr < before;
}

/* Puts @event in place of number @i. */
static bool with(struct shrinker *shrinker, u32 i, const struct event *event)
{
	struct events changed = { };
	bool fails;
	u32 j;

	for (j = 0; j < shrinker->script->events.nr; j++)
		events_add(&changed, j == i ? event : &shrinker->script->events.list[j]);
	fails = still_fails(shrinker, &changed);
	events_free(&changed);
	return fails;
}

#define PLAINER_WAYS	8U

/* Makes @event plainer in one way; false if it is so already. */
static bool make_plainer(struct event *event, u32 way)
{
	struct event before = *event;

	switch (way) {
	case 0:
		event->error = false;
		break;
	case 1:
		event->preflush = false;
		break;
	case 2:
		event->fua = event->preflush;	/* which goes with FUA only */
		break;
	case 3:
		event->slow = false;
		break;
	case 4:
		event->repeat = false;
		break;
	case 5:
		if (event->kind == EVENT_CRASH && event->cut.kind > CUT_ALL_LOST)
			event->cut = (struct cut){ .kind = CUT_NOTHING_LOST };
		break;
	case 6:
		if (event->kind == EVENT_CRASH && event->cut.kind > CUT_ALL_LOST)
			event->cut = (struct cut){ .kind = CUT_ALL_LOST };
		break;
	default:
		if (event->kind == EVENT_WRITE && event->nr > BLOCK_SECTORS)
			event->nr = BLOCK_SECTORS;
		break;
	}
	return memcmp(&before, event, sizeof(before));
}

static void plainer_event(struct shrinker *shrinker, u32 i)
{
	struct events *events = &shrinker->script->events;
	struct event plain;
	u32 way;

	for (way = 0; way < PLAINER_WAYS && i < events->nr; way++) {
		plain = events->list[i];
		if (make_plainer(&plain, way) && in_time(shrinker))
			with(shrinker, i, &plain);
	}
}

static void plainer_events(struct shrinker *shrinker)
{
	u32 i;

	for (i = 0; i < shrinker->script->events.nr && in_time(shrinker); i++)
		plainer_event(shrinker, i);
}

/* The state that is wrong becomes an event, so that no other has to be tried. */
static bool fix_cut(struct shrinker *shrinker)
{
	struct events events = { };
	struct event cut = { .kind = EVENT_CUT, .cut = shrinker->verdict->cut };
	u32 i, nr = shrinker->script->events.nr;
	bool fails;

	if (cut.cut.kind != CUT_LIST)
		return false;
	cut.cut.keep = malloc(cut.cut.nr + 1);
	if (!cut.cut.keep)
		abort();
	memcpy(cut.cut.keep, shrinker->verdict->cut.keep, cut.cut.nr);
	/* The crash that the run would have gone on from is not needed any more. */
	if (nr && shrinker->script->events.list[nr - 1].kind == EVENT_CRASH)
		nr--;
	for (i = 0; i < nr; i++)
		events_add(&events, &shrinker->script->events.list[i]);
	events_add(&events, &cut);
	events_add(&shrinker->script->events, &cut);	/* room for it */
	shrinker->script->events.nr--;
	shrinker->explore = 0;
	fails = still_fails(shrinker, &events);
	if (!fails) {
		shrinker->explore = PER_MOMENT;
		free(cut.cut.keep);
	}
	events_free(&events);
	return fails;
}

/* Loses what can be lost too. */
static void fewer_survivors(struct shrinker *shrinker)
{
	struct events *events = &shrinker->script->events;
	struct cut *cut = &events->list[events->nr - 1].cut;
	u32 chunk, first, nr = events->nr;
	u8 *before = malloc(cut->nr + 1);

	if (!before)
		abort();
	for (chunk = cut->nr; chunk; chunk /= 2)
		for (first = 0; first < cut->nr && in_time(shrinker); first += chunk) {
			u32 end = first + chunk < cut->nr ? first + chunk : cut->nr;

			memcpy(before, cut->keep, cut->nr);
			memset(cut->keep + first, 0, end - first);
			if (!memcmp(before, cut->keep, cut->nr))
				continue;
			if (!still_fails(shrinker, events) || events->nr != nr)
				memcpy(cut->keep, before, cut->nr);
			events->nr = nr;
		}
	free(before);
	still_fails(shrinker, events);
}

void shrink(struct script *script, struct verdict *verdict, u32 seconds)
{
	struct shrinker shrinker = {
		.script = script, .verdict = verdict,
		.end = clock() + seconds * CLOCKS_PER_SEC,
		.explore = PER_MOMENT,
	};

	script->events.nr = verdict->events;
	/* What was found while the end of the run settled needs no crash states. */
	if (!without(&shrinker, 0, 0))
		return;
	while (drop_events(&shrinker) && in_time(&shrinker))
		;
	plainer_events(&shrinker);
	drop_events(&shrinker);
	if (fix_cut(&shrinker)) {
		script->options.per_moment = 0;
		fewer_survivors(&shrinker);
	} else {
		script->options.per_moment = PER_MOMENT;
	}
}
