// SPDX-License-Identifier: GPL-2.0-only
/* The life of the host: start, steps, stop; see host.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/errno.h>
#include "host.h"

#define SETTLE_STEPS	20000

void violation(struct host *host, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(host->why, sizeof(host->why), format, args);
	va_end(args);
	longjmp(host->failed, 1);
}

void host_trace(const struct host *host, const char *format, ...)
{
	va_list args;

	if (!host->trace)
		return;
	va_start(args, format);
	printf("%6llu ", (unsigned long long)host->oracle.now);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

static bool slot_busy(void *context, u32 slot)
{
	const struct host *host = context;

	return host->readers[slot] && host->fault != FAULT_NOT_BUSY;
}

/* What of the layout may change while the host runs. */
static void tune_layout(struct layout *layout, const struct config *config)
{
	layout->align_blocks = config->align_blocks;
	layout->page_blocks = config->page_blocks;
	layout->unit_blocks = config->visit_blocks;
	layout->unit_phase = config->page_phase;
	layout->rewrite = config->rewrite;
}

static void init_layout(struct host *host)
{
	const struct config *config = &host->config;
	struct layout *layout = &host->layout;
	char error[RESSD_ERROR_SIZE];

	if (ressd_geom_init(&layout->geom, config->reserved_blocks * BLOCK_SECTORS,
			    config->segment_blocks * BLOCK_SECTORS, error, sizeof(error)))
		violation(host, "%s", error);
	if (layout->geom.nr_segments > MAX_SLOTS)
		violation(host, "more than %u segments", MAX_SLOTS);
	layout->normal_blocks = config->normal_blocks;
	layout->step_nodes = config->step_nodes ? config->step_nodes : RESSD_STEP_NODES;
	layout->record_unmaps =
		config->record_unmaps ? config->record_unmaps : RESSD_RECORD_ENTRIES;
	layout->cover_blocks = config->cover_blocks;
	tune_layout(layout, config);
}

void host_init(struct host *host)
{
	u32 sectors;

	init_layout(host);
	sectors = layout_sectors(&host->layout);
	disk_init(&host->disk, sectors, host->config.two_disks ?
		  host->layout.normal_blocks * BLOCK_SECTORS : sectors);
	replica_init(&host->replica, sectors, host->layout.normal_blocks * BLOCK_SECTORS);
	oracle_init(&host->oracle, host->layout.normal_blocks * BLOCK_SECTORS);
	box_init(&host->box, &host->layout, slot_busy, host);
	host->readers = calloc(host->layout.geom.nr_segments, sizeof(host->readers[0]));
	host->repair_buffer = malloc(host->layout.geom.record_blocks * RESSD_BLOCK_SIZE);
	host->cover.run.logged = malloc(host->layout.cover_blocks * RESSD_BLOCK_SIZE + 1);
	host->cover.run.home = malloc(host->layout.cover_blocks * RESSD_BLOCK_SIZE + 1);
	host->cover.bare = calloc(host->layout.normal_blocks * BLOCK_SECTORS, sizeof(u64));
	if (!host->readers || !host->repair_buffer || !host->cover.run.logged ||
	    !host->cover.run.home || !host->cover.bare)
		abort();
}

void host_free(struct host *host)
{
	disk_free(&host->disk);
	replica_free(&host->replica);
	oracle_free(&host->oracle);
	box_free(&host->box);
	free(host->readers);
	free(host->repair_buffer);
	free(host->cover.run.logged);
	free(host->cover.run.home);
	free(host->cover.bare);
}

static void recover(struct host *host, u32 bad_read)
{
	int ret;

	replica_follow(&host->replica, &host->disk.view);
	host_trace(host, "start, activation %llu", (unsigned long long)host->activation + 1);
	ret = box_recover(&host->box, &host->replica, ++host->activation, bad_read);
	if (ret == -EIO && bad_read)
		ret = box_recover(&host->box, &host->replica, ++host->activation, 0);
	if (ret)
		violation(host, "recovery refuses: %s", host->box.error);
}

void host_restart(struct host *host, u32 bad_read)
{
	u32 slot;

	memset(host->ops, 0, sizeof(host->ops));
	host_dispatch_init(host);
	memset(&host->mover, 0, sizeof(host->mover));
	host->io_stage = IO_IDLE;
	host->cover.busy = false;
	host->cover.starved = false;
	host->cover.bad_block = 0;
	host->restore = RESTORE_DUE;
	host->trimming = false;
	host->draining = false;
	host->opening_ticket = 0;
	host->recover.step = RECOVER_NONE;
	host->refused_flushes = 0;
	host->answered_flushes = 0;
	for (slot = 0; slot < host->layout.geom.nr_segments; slot++)
		host->readers[slot] = 0;
	host->disk.lossy = false;
	recover(host, bad_read);
	if (host->fault != FAULT_NO_RECOVERY_FLUSH)
		disk_flush_end(&host->disk, disk_flush_begin(&host->disk), DISK_BOTH);
	if (host->fault != FAULT_NO_OPENING && host->fault != FAULT_NO_RECOVERY_FLUSH)
		host->opening_ticket = ressd_log_sync(&host->box.log);
	host->opening = true;
}

/* The first read of a sector after a start. */
static void is_found(struct host *host, u32 sector, u64 id)
{
	u64 *bare = &host->cover.bare[sector];

	if (*bare && *bare != id)
		violation(host, "sector %u was written to the plain disk, as %llx, and reads %llx",
			  sector, (unsigned long long)*bare, (unsigned long long)id);
	*bare = 0;
	oracle_crashed(&host->oracle, sector, id);
}

static void activate_again(struct host *host)
{
	host_trace(host, "the activation fails, and is tried again");
	host_restart(host, 0);
}

/* A step of the run that brings home what may be covered. */
static void restore_step(struct host *host, bool error, u64 number)
{
	host_cover_step(host, error, number);
	if (host->mover.state == MOVER_IDLE && host->cover.run.result)
		activate_again(host);
}

/*
 * A log that was not covered: what may be covered comes home, and all that the log still knows is
 * durably dead before anything is served.  True: it is so.
 */
static bool is_restored(struct host *host, bool error, u64 number)
{
	struct ressd_log *log = &host->box.log;

	if (!log->cover_blocks || log->covered || !log->map.nr_mapped ||
	    ressd_log_is_drained(log))
		return true;
	if (host->mover.state == MOVER_COVER) {
		restore_step(host, error, number);
		return false;
	}
	if (host->restore == RESTORE_DUE && ressd_cover_any_dirty(log)) {
		host_cover_start(host, RESSD_COVER_RESTORE);
		return false;
	}
	if (host->restore == RESTORE_DUE || ressd_log_synced(log) >= host->opening_ticket) {
		ressd_log_rotate(log);
		host->opening_ticket = ressd_log_reclaim(log);
		host->restore = RESTORE_DRAINS;
	}
	return false;
}

/* Until the sync that seals a recovery is done nothing is served, so nothing is decided yet. */
static void opening_step(struct host *host, bool error, u64 number)
{
	/* Whose I/O the error is. */
	bool restores = host->mover.state == MOVER_COVER && host->io_stage == IO_IDLE;
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	u32 lbn, i;

	host_log_step(host, error && !restores, number);
	if (!host_log_works(host)) {
		activate_again(host);
		return;
	}
	if ((ressd_log_synced(&host->box.log) < host->opening_ticket &&
	     host->restore == RESTORE_DUE) || !is_restored(host, error && restores, number))
		return;
	host->opening = false;
	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		box_read(&host->box, &host->disk.view, lbn, data);
		for (i = 0; i < BLOCK_SECTORS; i++)
			is_found(host, lbn * BLOCK_SECTORS + i, data[i * SECTOR_WORDS]);
	}
}

static bool is_settled(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state != OP_FREE)
			return false;
	return host->io_stage == IO_IDLE && host->mover.state == MOVER_IDLE && !host->opening &&
	       !host->trimming && host->recover.step == RECOVER_NONE &&
	       !ressd_log_is_doubtful(&host->box.log);
}

static bool mover_is_wanted(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_SPACE || op->state == OP_SYNC || op->state == OP_MOVES ||
		    op->state == OP_MERGING)
			return true;
	return host->draining || host->recover.step == RECOVER_SYNCS;
}

/* One step of each that is under way, in an order that is always the same. */
static void settle_step(struct host *host, u32 step)
{
	if (host->opening) {
		opening_step(host, false, 0);
		host->moment(host->context);
		return;
	}
	host_end_op(host, &host->ops[step % MAX_OPS], false, 0);
	host->moment(host->context);
	if (host->queue.nr_held) {
		host_dispatch_step(host, 1);
		host->moment(host->context);
	}
	host_log_step(host, false, 0);
	host->moment(host->context);
	if (host->mover.state == MOVER_IDLE && mover_is_wanted(host))
		host_mover_start(host, host->draining);
	host_mover_step(host, false, MAX_MOVES - 1);
	host->moment(host->context);
	if (host->recover.step == RECOVER_FLUSHES) {
		host_recover(host, false, 0);
		host->moment(host->context);
	}
	if (host->trimming && step % MAX_OPS == MAX_OPS - 1) {
		host_trim_step(host, false, 0);
		host->moment(host->context);
	}
}

/* At rest the mover of the module wakes up for what core says, not for each write that waits. */
static void check_cover_waiters(struct host *host)
{
	const struct ressd_log *log = &host->box.log;
	enum ressd_cover_goal goal;
	const struct op *op;

	if (host->opening || host->mover.state != MOVER_IDLE || host->io_stage != IO_IDLE ||
	    !host_log_works(host) || !log->cover_blocks || log->covered ||
	    !ressd_log_is_at_rest(log) || ressd_cover_choose(log, false, &goal))
		return;
	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op->state == OP_SPACE)
			violation(host, "a write waits for covers, and nothing covers the device");
}

void host_settle(struct host *host)
{
	u32 steps;

	host->draining = false;		/* interrupted, if one is under way */
	for (steps = 0; !is_settled(host); steps++) {
		if (steps == SETTLE_STEPS)
			violation(host, "something hangs: mover in state %u, %u free blocks",
				  host->mover.state, ressd_log_free_blocks(&host->box.log));
		check_cover_waiters(host);
		settle_step(host, steps);
	}
}

void host_sync(struct host *host)
{
	host_settle(host);
	host_flush(host);
	host_settle(host);
}

/* Idle time after a drain: the log is still empty afterwards. */
static void prime(struct host *host)
{
	u32 steps;

	for (steps = 0; host_log_works(host) && ressd_log_can_prime(&host->box.log); steps++) {
		if (steps == MAX_SLOTS)
			violation(host, "priming the log does not end");
		host_mover_prime(host);
		host_settle(host);
	}
	if (host_log_works(host))
		host_check_home(host);
}

/* As ressd_drain() of the module: who waits for covers goes on to the normal area. */
static void begin_drain(struct host *host)
{
	host->draining = true;
	host->box.log.cover_wanted = false;
	host_retry(host);
}

static void drain(struct host *host)
{
	struct ressd_log *log = &host->box.log;
	u32 steps;

	host_settle(host);
	begin_drain(host);
	for (steps = 0; host_log_works(host) && !(ressd_log_is_drained(log) && is_settled(host));
	     steps++) {
		if (steps == SETTLE_STEPS)
			violation(host, "bringing all home hangs: %u dirty blocks",
				  log->map.nr_dirty);
		if (is_settled(host)) {
			host_flush(host);
			host_mover_start(host, true);
		}
		settle_step(host, steps);
	}
	if (host_log_works(host))
		host_check_home(host);
	host->draining = false;
	prime(host);
}

static void suspend(struct host *host)
{
	host_sync(host);
	host_check_reads(host);
}

static void tune(struct host *host, u64 choice)
{
	config_tune(&host->config, choice);
	tune_layout(&host->layout, &host->config);
	box_tune(&host->box, &host->layout);
	host_dispatch_tune(host);
	host_trace(host, "alignment %u, clustered block %u, page %u + %u%s",
		   host->config.align_blocks, host->config.visit_blocks, host->config.page_blocks,
		   host->config.page_phase, host->config.rewrite ? ", written whole" : "");
}

static void running_step(struct host *host, const struct event *event)
{
	switch (event->kind) {
	case EVENT_WRITE:
	case EVENT_DISCARD:
	case EVENT_READ:
	case EVENT_FLUSH:
		host_start_op(host, event);
		break;
	case EVENT_END:
		host_end_op(host, &host->ops[event->slot % MAX_OPS], event->error,
			    event->number);
		break;
	case EVENT_DISPATCH:
		host_dispatch_step(host, event->number);
		break;
	case EVENT_LOG:
		host_log_step(host, event->error, event->number);
		break;
	case EVENT_SWEEP:
		host_mover_start(host, event->number);
		break;
	case EVENT_PRIME:
		host_mover_prime(host);
		break;
	case EVENT_MOVER:
		host_mover_step(host, event->error, event->number);
		break;
	case EVENT_TRIM:
		host_trim_step(host, event->error, event->number);
		break;
	case EVENT_KICK:
		ressd_log_write_soon(&host->box.log);
		break;
	case EVENT_ROTATE:
		ressd_log_rotate(&host->box.log);
		break;
	case EVENT_TUNE:
		tune(host, event->number);
		break;
	case EVENT_REPAIR:
		host_recover(host, event->error, event->number);
		break;
	case EVENT_CHECK:
		host_check_reads(host);
		break;
	case EVENT_SUSPEND:
		suspend(host);
		break;
	case EVENT_DRAIN:
		drain(host);
		break;
	case EVENT_DRAINING:
		if (host->draining)
			host->draining = false;
		else
			begin_drain(host);
		break;
	default:
		break;
	}
}

void host_apply(struct host *host, const struct event *event)
{
	if (!host->opening)
		running_step(host, event);
	else if (event->kind == EVENT_LOG)
		opening_step(host, event->error, event->number);
	host_check_log(host);
}
