// SPDX-License-Identifier: GPL-2.0-only
/* One run; see run.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bug.h>
#include "run.h"

struct run {
	struct host host;
	struct explorer explorer;
	u32 events;
	u32 per_moment, explore_from;
};

/* The run that a WARN belongs to. */
static struct host *warned_host;

static void fail_on_warn(const char *condition, const char *file, int line)
{
	violation(warned_host, "WARN_ON(%s) at %s:%d", condition, file, line);
}

void verdict_free(struct verdict *verdict)
{
	free(verdict->cut.keep);
	verdict->cut.keep = NULL;
}

void events_add(struct events *events, const struct event *event)
{
	if (events->nr == events->max) {
		events->max = events->max ? 2 * events->max : 256;
		events->list = realloc(events->list, events->max * sizeof(events->list[0]));
		if (!events->list)
			abort();
	}
	events->list[events->nr++] = *event;
}

void events_free(struct events *events)
{
	free(events->list);
	*events = (struct events){ };
}

static void moment(void *context)
{
	struct run *run = context;

	explore(&run->explorer);
}

/* ---- what happens to the host as a whole ---- */

/* Another computer finds a plain disk, and writes to some of its sectors. */
static void write_bare(struct host *host, u64 number)
{
	u32 sector, sectors = host->layout.normal_blocks * BLOCK_SECTORS, i;
	struct random random = { .state = number };
	u64 words[SECTOR_WORDS];

	for (sector = 0; sector < sectors; sector++) {
		if (!random_once_in(&random, 3))
			continue;
		host->cover.bare[sector] = ++host->last_id;
		for (i = 0; i < SECTOR_WORDS; i++)
			words[i] = host->last_id;
		disk_complete(&host->disk, disk_submit(&host->disk, sector, 1, words), true);
		oracle_crashed(&host->oracle, sector, host->last_id);
	}
	host_trace(host, "another computer writes to the plain disk");
}

/* Power is lost, and back. */
static void crash(struct run *run, const struct event *event)
{
	struct host *host = &run->host;
	struct image image;

	host_trace(host, "the power fails");
	explore_cut(&run->explorer, &event->cut);
	image = replica_image(&host->replica);
	disk_adopt(&host->disk, &image);
	if (event->number % 2 && explore_is_plain(&run->explorer))
		write_bare(host, event->number);
	host_restart(host, event->error ? event->nr : 0);
}

/* The host stops and starts again while the disk keeps its power. */
static void stop(struct run *run, const struct event *event)
{
	struct host *host = &run->host;

	host_trace(host, "the host stops, the disk keeps its power");
	disk_host_stops(&host->disk, event->number);
	explore(&run->explorer);
	explore_view(&run->explorer);
	host_restart(host, event->error ? event->nr : 0);
}

/* A clean stop, as by a table reload: nothing at all may change. */
static void reload(struct run *run, const struct event *event)
{
	struct host *host = &run->host;

	host_sync(host);
	host_check_reads(host);
	stop(run, event);
	host_settle(host);
}

/* After a drain no crash may bring a mapping back. */
static void drain(struct run *run, const struct event *event)
{
	struct host *host = &run->host;

	host_apply(host, event);
	if (!host_log_works(host))
		return;
	run->explorer.drained = true;
	host->oracle.narrowed++;	/* all that follows is a new promise */
	explore(&run->explorer);
	explore_view(&run->explorer);
	run->explorer.drained = false;
}

static void apply(struct run *run, const struct event *event)
{
	struct host *host = &run->host;

	if (run->events == run->explore_from)
		run->explorer.per_moment = run->per_moment;
	run->events++;
	switch (event->kind) {
	case EVENT_CRASH:
		crash(run, event);
		break;
	case EVENT_STOP:
		stop(run, event);
		break;
	case EVENT_RELOAD:
		if (!host->opening)
			reload(run, event);
		break;
	case EVENT_DRAIN:
		if (!host->opening)
			drain(run, event);
		break;
	case EVENT_CUT:
		explore_cut(&run->explorer, &event->cut);
		break;
	default:
		host_apply(host, event);
		break;
	}
	explore(&run->explorer);
}

/* ---- from the beginning to the end ---- */

static struct run *run_new(const struct run_options *options, const struct config *config, u64 seed)
{
	struct run *run = calloc(1, sizeof(*run));
	struct host *host;

	if (!run)
		abort();
	host = &run->host;
	host->config = *config;
	host->fault = options->fault;
	host->trace = options->trace;
	host->moment = moment;
	host->context = run;
	warned_host = host;
	port_warn_hook = fail_on_warn;
	host_init(host);
	replica_make_current(&host->replica);
	explorer_init(&run->explorer, host, seed, 0);
	run->per_moment = options->per_moment;
	run->explore_from = options->explore_from;
	return run;
}

/* The wrong state, sector by sector. */
static void keep_cut(const struct run *run, struct verdict *verdict)
{
	const struct replica *replica = &run->host.replica;

	if (!run->explorer.checking)
		return;
	verdict->cut.kind = CUT_LIST;
	verdict->cut.nr = replica->nr_keep;
	verdict->cut.keep = malloc(replica->nr_keep + 1);
	if (!verdict->cut.keep)
		abort();
	memcpy(verdict->cut.keep, replica->keep, replica->nr_keep);
}

static void run_end(struct run *run, bool good, struct verdict *verdict)
{
	*verdict = (struct verdict) {
		.good = good, .events = run->events, .states = run->explorer.states,
		.contents = run->explorer.nr_contents, .moments = run->explorer.moments,
	};
	if (!good) {
		snprintf(verdict->why, sizeof(verdict->why), "%s", run->host.why);
		keep_cut(run, verdict);
	}
	explorer_free(&run->explorer);
	host_free(&run->host);
	free(run);
}

static bool is_lost(const struct host *host)
{
	return host->box.log.mode == RESSD_MODE_FAIL;
}

/* The device is well by now: the log comes back into service, and is like any other. */
static void bring_back(struct host *host)
{
	host_recover(host, false, 0);
	host_settle(host);
	if (is_lost(host))
		return;
	if (!host_log_works(host))
		violation(host, "a repair of a device that is well leaves mode %u",
			  host->box.log.mode);
	if (host->refused_flushes != host->answered_flushes)
		violation(host, "writes with FUA are refused though the log is back in service");
}

static void finish(struct run *run)
{
	struct host *host = &run->host;
	u64 flushed;

	host_settle(host);
	host_check_reads(host);
	if (!host_log_works(host) && !is_lost(host)) {
		bring_back(host);
		host_check_reads(host);
	}
	flushed = host->flushed;
	host_sync(host);
	if (!is_lost(host) && host->flushed == flushed)
		violation(host, "a flush of a device that is well does not complete");
	host_check_reads(host);
	explore(&run->explorer);
	explore_view(&run->explorer);
}

void run_seed(const struct run_options *options, u64 seed, u32 nr, struct events *events,
	      struct verdict *verdict)
{
	struct source source = { .random.state = seed };
	struct config config;
	struct event event;
	struct run *run;

	config_draw(&config, seed);
	run = run_new(options, &config, seed);
	if (setjmp(run->host.failed)) {
		run_end(run, false, verdict);
		return;
	}
	host_restart(&run->host, 0);
	while (run->events < nr) {
		event_draw(&event, &run->host, &source);
		if (events)
			events_add(events, &event);
		apply(run, &event);
	}
	finish(run);
	run_end(run, true, verdict);
}

void run_events(const struct run_options *options, const struct config *config,
		const struct events *events, u64 seed, struct verdict *verdict)
{
	struct run *run = run_new(options, config, seed);

	if (setjmp(run->host.failed)) {
		run_end(run, false, verdict);
		return;
	}
	host_restart(&run->host, 0);
	while (run->events < events->nr)
		apply(run, &events->list[run->events]);
	finish(run);
	run_end(run, true, verdict);
}
