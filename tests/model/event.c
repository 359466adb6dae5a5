// SPDX-License-Identifier: GPL-2.0-only
/* Configurations and events at random; see event.h. */
#include <linux/kernel.h>
#include "host.h"
#include "ressd-cover.h"

#define LONG_SEGMENT	504U	/* blocks */
#define SLOW_STEPS	100	/* a slow I/O ends once in so many draws */

/* Once in so many an I/O of the log, or another one, fails; by config->errors. */
static const struct {
	u32 log, other;
} error_rates[] = { { 0, 0 }, { 120, 120 }, { 20, 20 }, { 400, 8 } };

#define NR_ERROR_RATES	ARRAY_SIZE(error_rates)

static u32 draw_alignment(struct random *random)
{
	static const u32 alignments[] = { 1, 1, 2, 4, 8 };

	return alignments[random_below(random, ARRAY_SIZE(alignments))];
}

/* Of one or several segments, as erase units are; most begin where a segment does. */
static void draw_long_clusters(struct config *config, struct random *random)
{
	u32 segments = 1 + random_below(random, 4);

	config->visit_blocks = segments * config->segment_blocks;
	config->page_blocks = 1U << random_below(random, 4);
	/* Some segments are one page. */
	if (config->page_blocks == 8 && segments % 2 && config->segment_blocks < LONG_SEGMENT)
		config->page_blocks = config->segment_blocks;
	config->page_phase = random_below(random, segments) * config->segment_blocks;
	if (random_once_in(random, 4))
		config->page_phase = random_below(random, config->visit_blocks);
}

/* So short that several begin in a segment. */
static void draw_short_clusters(struct config *config, struct random *random)
{
	config->visit_blocks = 2 + random_below(random, 10);
	config->page_blocks = 1 + random_below(random, config->visit_blocks);
	config->page_phase = random_below(random, config->visit_blocks);
}

/* The clustered block and the page, if they are known; a page is known only with its block. */
static void draw_clusters(struct config *config, struct random *random)
{
	config->visit_blocks = 0;
	config->fill_blocks = 0;
	config->page_blocks = 0;
	if (random_once_in(random, 2))
		return;
	if (random_once_in(random, 2))
		draw_long_clusters(config, random);
	else
		draw_short_clusters(config, random);
	config->visit_phase = random_below(random, config->visit_blocks);
	config->fill_blocks = random_below(random, 4);
	if (random_once_in(random, 2))
		config->page_blocks = 0;
}

/* So long that a summary's UNMAPs are behind its first block; padding fills them soon enough. */
static void draw_long_segments(struct config *config, struct random *random)
{
	config->segment_blocks = LONG_SEGMENT;
	config->reserved_blocks = config->segment_blocks * 4 + random_below(random, 200);
	config->align_blocks = 8;
}

static void draw_dispatch(struct config *config, struct random *random)
{
	config->dispatch = RESSD_DISPATCH_NONE;
	config->dispatch_depth = 1 + random_below(random, 4);
	if (random_once_in(random, 3))
		config->dispatch = random_below(random, RESSD_NR_DISPATCH);
}

/* Of some configurations: as many as such a small log can carry, or fewer; some logs are larger. */
static void draw_cover(struct config *config, struct random *random)
{
	char error[RESSD_ERROR_SIZE];
	struct ressd_geom geom;
	u32 nr = 1 + random_below(random, 6);

	if (random_once_in(random, 2))
		return;
	if (config->segment_blocks < LONG_SEGMENT)
		config->reserved_blocks += (1 + random_below(random, 4)) * config->segment_blocks;
	if (ressd_geom_init(&geom, config->reserved_blocks * BLOCK_SECTORS,
			    config->segment_blocks * BLOCK_SECTORS, error, sizeof(error)))
		return;
	nr = min(nr, config->normal_blocks);
	while (nr && !ressd_cover_fits(&geom, nr))
		nr--;
	config->cover_blocks = nr;
}

/* Without many crashes: else there is hardly time to bring all home. */
static void draw_idle_times(struct config *config, struct random *random)
{
	config->idle_every = 50U << random_below(random, 3);
	config->crash_every = 200U << random_below(random, 3);
}

void config_tune(struct config *config, u64 choice)
{
	struct random random = { .state = choice };

	config->align_blocks = draw_alignment(&random);
	draw_clusters(config, &random);
	config->rewrite = random_once_in(&random, 2);
	draw_dispatch(config, &random);
	config->wait = random_once_in(&random, 2);
	config->writethrough = random_once_in(&random, 4);
	config->keeps = random_once_in(&random, 2);
}

void config_draw(struct config *config, u64 seed)
{
	/* 0: only when somebody waits for room. */
	static const u32 thresholds[] = { 0, 33, 33, 80 };
	struct random random = { .state = ~seed };
	u32 segment = 16 + 8 * random_below(&random, 2);

	*config = (struct config) {
		.segment_blocks = segment,
		.reserved_blocks = segment * (4 + random_below(&random, 4)) +
				   random_below(&random, segment),
		.normal_blocks = 12 + random_below(&random, 24),
		.align_blocks = draw_alignment(&random),
		.hot_blocks = 6 + random_below(&random, 6),
		.writethrough = random_once_in(&random, 4),
		.wait = random_once_in(&random, 2),
		.overlap = random_once_in(&random, 2),
		.two_disks = random_once_in(&random, 3),
		.errors = random_below(&random, NR_ERROR_RATES),
		.crash_every = 25U << random_below(&random, 6),
	};
	draw_clusters(config, &random);
	config->tunes = random_once_in(&random, 4);
	if (random_once_in(&random, 24))
		draw_long_segments(config, &random);
	config->discards = random_below(&random, 3) == 1;
	config->rewrite = random_once_in(&random, 2);
	config->keeps = random_once_in(&random, 2);
	if (random_once_in(&random, 2))
		config->step_nodes = 1U << random_below(&random, 6);
	draw_dispatch(config, &random);
	draw_cover(config, &random);
	/* So few that a sync needs several records. */
	if (random_below(&random, 8) == 5)
		config->record_unmaps = 1 + random_below(&random, 3);
	config->move_threshold = thresholds[random_below(&random, ARRAY_SIZE(thresholds))];
	if (random_once_in(&random, 2))
		draw_idle_times(config, &random);
}

/* The first block of a direct write that the disk takes its time for; ~0U: none. */
static u32 slow_block(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op_is_direct(op) && op->slow)
			return op_first_block(op);
	return ~0U;
}

/* Not made of whole blocks: within one, or across several. */
static void draw_piece(struct event *event, struct random *random)
{
	u32 sectors = random_once_in(random, 3) ? event->nr : BLOCK_SECTORS;
	u32 skip = random_below(random, sectors);

	event->first += skip;
	event->nr = 1 + random_below(random, sectors - skip);
}

static void draw_place(struct event *event, const struct host *host, struct random *random)
{
	u32 blocks = host->config.normal_blocks, nr;
	u32 slow = slow_block(host);

	event->small = !random_once_in(random, 4);
	nr = 1 + random_below(random, event->small ? 2 : 4);
	if (random_below(random, 4))
		blocks = host->config.hot_blocks;
	event->first = random_below(random, blocks - nr + 1) * BLOCK_SECTORS;
	event->nr = nr * BLOCK_SECTORS;
	if (host->config.overlap && slow != ~0U && random_once_in(random, 4)) {
		event->first = slow * BLOCK_SECTORS;
		event->nr = BLOCK_SECTORS;
		event->small = true;
	}
	if (event->kind == EVENT_READ)
		event->nr = BLOCK_SECTORS;
	else if (event->kind == EVENT_WRITE && random_once_in(random, 6))
		draw_piece(event, random);
}

/* Any free one; if there is none, one that is not: then the event does nothing. */
static u32 free_slot(const struct host *host, struct random *random)
{
	u32 slot = random_below(random, MAX_OPS), i;

	for (i = 0; i < MAX_OPS && host->ops[slot].state != OP_FREE; i++)
		slot = (slot + 1) % MAX_OPS;
	return slot;
}

static void draw_bio(struct event *event, const struct host *host, struct random *random)
{
	u32 choice = random_below(random, 100);

	event->slot = free_slot(host, random);
	event->slow = random_once_in(random, 6);
	if (choice >= 92) {
		event->kind = EVENT_FLUSH;
		return;
	}
	event->kind = choice < 10 ? EVENT_READ : choice < 15 ? EVENT_DISCARD : EVENT_WRITE;
	/* With the log out of service most of them have to be refused. */
	event->fua = event->kind == EVENT_WRITE &&
		     random_once_in(random, host_log_works(host) ? 10 : 3);
	event->preflush = event->fua && random_once_in(random, 2);
	event->repeat = random_once_in(random, 5);
	draw_place(event, host, random);
	if (!oracle_has_room(&host->oracle, event->first, event->nr))
		*event = (struct event){ .kind = EVENT_FLUSH, .slot = event->slot };
}

/* An error of the I/O that this event ends. */
static void draw_error(struct event *event, const struct host *host, struct random *random)
{
	u32 rate = event->kind == EVENT_LOG ? error_rates[host->config.errors].log :
					      error_rates[host->config.errors].other;

	if (rate && random_once_in(random, rate)) {
		event->error = true;
		event->number = random_below(random, 1000);
	}
}

static bool at_device(const struct op *op)
{
	return op->state == OP_DEVICE || op->state == OP_READING || op->state == OP_FLUSHING ||
	       op->state == OP_PREFLUSHED || op->state == OP_MERGING;
}

static void draw_end(struct event *event, const struct host *host, struct source *source)
{
	struct random *random = &source->random;
	u32 slow_steps = source->idle ? SLOW_STEPS / 10 : SLOW_STEPS;
	u32 i, start = random_below(random, MAX_OPS);

	if (host->queue.nr_held && random_once_in(random, 2)) {
		event->kind = EVENT_DISPATCH;
		event->number = random_below(random, 1000);
		return;
	}
	event->kind = EVENT_END;
	for (i = 0; i < MAX_OPS; i++) {
		const struct op *op = &host->ops[(start + i) % MAX_OPS];

		if (!at_device(op) || (op->slow && random_below(random, slow_steps)))
			continue;
		event->slot = (start + i) % MAX_OPS;
		draw_error(event, host, random);
		return;
	}
	event->kind = EVENT_LOG;
}

/* Is there anything to be done in idle time? */
static bool has_idle_work(const struct ressd_log *log)
{
	return ressd_log_nr_movable(log) || ressd_log_can_prime(log);
}

static bool mover_is_wanted(const struct host *host, struct source *source)
{
	const struct ressd_log *log = &host->box.log;
	const struct op *op;

	if (source->idle && ressd_log_nr_movable(log))
		return true;
	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_SPACE || op->state == OP_MERGING ||
		    (op->state == OP_SYNC && ressd_log_is_starved(log)))
			return true;
	return random_once_in(&source->random, 20) || host->draining ||
	       host->recover.step == RECOVER_SYNCS ||
	       ressd_log_free_blocks(log) * 100 <
	       ressd_log_total_blocks(log) * host->config.move_threshold;
}

static void draw_mover(struct event *event, const struct host *host, struct source *source)
{
	const struct mover *mover = &host->mover;
	struct random *random = &source->random;
	enum ressd_cover_goal goal;

	event->kind = EVENT_MOVER;
	if (mover->state == MOVER_IDLE) {
		if (source->idle && ressd_log_can_prime(&host->box.log))
			event->kind = EVENT_PRIME;
		else if (mover_is_wanted(host, source) ||
			 (ressd_cover_choose(&host->box.log, host->draining, &goal) &&
			  goal != RESSD_COVER_CARRY))
			event->kind = EVENT_SWEEP;
		else
			event->kind = EVENT_LOG;
		event->number = event->kind == EVENT_SWEEP &&
				(random_once_in(random, 4) || source->idle);
		return;
	}
	/* Sometimes it sleeps between batches, or a read takes long, while much happens. */
	if (!source->idle &&
	    ((mover->state == MOVER_PICK && mover->sweep.next_lbn % 5 == 4) ||
	     (mover->state == MOVER_KEPT && mover->keep_block % 5 == 4)) &&
	    random_below(random, SLOW_STEPS / 2)) {
		event->kind = EVENT_LOG;
		return;
	}
	event->number = random_below(random, 1000);
	if (mover->state == MOVER_READ || mover->state == MOVER_WRITE ||
	    mover->state == MOVER_KEEP || mover->state == MOVER_COVER)
		draw_error(event, host, random);
}

/* The discard of a segment begins; once it is in flight it often takes its time. */
static bool draw_trim(struct event *event, const struct host *host, struct random *random)
{
	if (!host->config.discards || !random_once_in(random, host->trimming ? 40 : 6) ||
	    (!host->trimming && !ressd_log_can_discard(&host->box.log)))
		return false;
	event->kind = EVENT_TRIM;
	event->number = random_below(random, 1000);
	if (host->trimming)
		draw_error(event, host, random);
	return true;
}

static void draw_step(struct event *event, const struct host *host, struct source *source)
{
	struct random *random = &source->random;
	u32 choice;

	if (draw_trim(event, host, random))
		return;
	choice = random_below(random, 100);
	/* Nobody writes, and the mover has time. */
	if (source->idle && choice < 30)
		choice = 95;
	if (choice < 30) {
		draw_bio(event, host, random);
	} else if (choice < 55) {
		draw_end(event, host, source);
	} else if (choice < 80) {
		event->kind = EVENT_LOG;
		draw_error(event, host, random);
	} else if (choice < 96) {
		draw_mover(event, host, source);
	} else if (choice < 98) {
		event->kind = EVENT_KICK;
	} else {
		event->kind = EVENT_ROTATE;
	}
}

/* What happens to the host as a whole; false: nothing now. */
static bool draw_fate(struct event *event, const struct host *host, struct random *random)
{
	bool covers = host->config.cover_blocks && !host->config.idle_every;
	u32 drain_every = host->draining ? 100 : covers ? 300 : 1000;
	u32 every = host->config.crash_every;

	if (random_once_in(random, every)) {
		event->kind = EVENT_CRASH;
		cut_draw(&event->cut, random);
	} else if (random_once_in(random, 3 * every)) {
		event->kind = EVENT_STOP;
	} else if (random_once_in(random, 1500)) {
		event->kind = EVENT_RELOAD;
	} else if (random_once_in(random, 1500)) {
		event->kind = EVENT_DRAIN;
	} else if (random_once_in(random, 1500)) {
		event->kind = EVENT_SUSPEND;
	} else if (host->config.tunes && random_once_in(random, 150)) {
		event->kind = EVENT_TUNE;
	} else if (random_once_in(random, drain_every)) {
		event->kind = EVENT_DRAINING;
	} else {
		return false;
	}
	event->number = random_below(random, 1000);
	if (host->config.errors && random_once_in(random, 4)) {
		event->error = true;
		event->nr = 1 + random_below(random, 8);
	}
	return true;
}

/* Idle time begins, or goes on: mostly until all is done, but somebody may come at any moment. */
static void draw_idle(struct source *source, const struct host *host)
{
	const struct ressd_log *log = &host->box.log;
	u32 every = host->config.idle_every;

	if (source->idle)
		source->idle--;
	else if (every && random_once_in(&source->random, every))
		source->idle = 1 + random_below(&source->random, 800);
	if (source->idle && host->mover.state == MOVER_IDLE && ressd_log_is_at_rest(log) &&
	    !has_idle_work(log) && random_once_in(&source->random, 8))
		source->idle = 0;
}

void event_draw(struct event *event, const struct host *host, struct source *source)
{
	struct random *random = &source->random;

	*event = (struct event){ };
	draw_idle(source, host);
	if (draw_fate(event, host, random))
		return;
	if (host->opening) {
		event->kind = EVENT_LOG;
		draw_error(event, host, random);
	} else if (!host_log_works(host) && random_once_in(random, 12)) {
		event->kind = random_once_in(random, 5) ? EVENT_STOP : EVENT_REPAIR;
		event->number = random_below(random, 1000);
	} else if (host->recover.step == RECOVER_FLUSHES && random_once_in(random, 12)) {
		event->kind = EVENT_REPAIR;
		draw_error(event, host, random);
	} else if (random_once_in(random, host->config.overlap ? 8 : 60)) {
		/* Writes at the same time: only a read tells which of them has won. */
		event->kind = EVENT_CHECK;
	} else {
		draw_step(event, host, source);
	}
}
