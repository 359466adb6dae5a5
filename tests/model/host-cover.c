// SPDX-License-Identifier: GPL-2.0-only
/* Covers: carries out what core's runs ask for, as dm-ressd-cover.c does. */
#include <string.h>
#include <linux/errno.h>
#include "host.h"

/* Is one in flight, or held for it, that goes to the place of a covered block? */
static bool writes_in_flight(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op_is_direct(op) && host_touches_cover(host, op))
			return true;
	return false;
}

/* Likewise, that comes from there. */
static bool reads_in_flight(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op_is_read(op) && !op->from_log && host_touches_cover(host, op))
			return true;
	return false;
}

void host_cover_start(struct host *host, enum ressd_cover_goal goal)
{
	struct cover *cover = &host->cover;

	cover->goal = goal;
	cover->stage = COVER_WAITS;
	cover->busy = goal != RESSD_COVER_CARRY && host->fault != FAULT_COVER_NOT_BUSY;
	cover->ticket = ressd_log_sync(&host->box.log);
	host->mover.state = MOVER_COVER;
}

/* The log block that holds a normal block, 0: none does. */
static u32 block_of(const struct host *host, u32 lbn)
{
	const struct ressd_map *map = &host->box.log.map;
	const struct ressd_node *node = ressd_map_find(map, lbn);

	return node ? ressd_map_block(map, node) : 0;
}

bool host_cover_mends(const struct host *host, u32 lbn)
{
	const struct cover *cover = &host->cover;

	return cover->bad_block && lbn == cover->run.bad && host->box.log.covered &&
	       block_of(host, lbn) == cover->bad_block;
}

static void end(struct host *host)
{
	struct cover *cover = &host->cover;

	host_trace(host, "cover: goal %u ends, %d", cover->goal, cover->run.result);
	if (cover->stage != COVER_WAITS && cover->goal == RESSD_COVER_CARRY)
		host->readers[cover->run.slot]--;
	cover->busy = false;
	cover->starved = cover->run.result == -EAGAIN;
	if (cover->stage != COVER_WAITS)
		cover->bad_block = cover->run.bad == RESSD_NO_BLOCK ?
				   0 : block_of(host, cover->run.bad);
	host->mover.state = MOVER_IDLE;
	host_complete_waiters(host, false);
	host_retry(host);
}

/* Those in flight are done, and so is what was logged before: then the run can begin. */
static void begin(struct host *host)
{
	struct cover *cover = &host->cover;
	struct ressd_log *log = &host->box.log;

	if (host_log_works(host) && ressd_log_synced(log) < cover->ticket &&
	    !ressd_log_is_starved(log))
		return;
	if (cover->goal != RESSD_COVER_CARRY && host_log_works(host) &&
	    writes_in_flight(host) && host->fault != FAULT_COVER_IGNORES_DIRECT)
		return;
	if (!ressd_cover_start(&cover->run, log, cover->goal)) {
		cover->run.result = -EAGAIN;
		end(host);
		return;
	}
	host_trace(host, "cover: goal %u begins", cover->goal);
	if (cover->goal == RESSD_COVER_CARRY)
		host->readers[cover->run.slot]++;
	cover->stage = COVER_DECIDES;
}

/* The next action of the run, as far as it can be begun now. */
static void decide(struct host *host)
{
	struct cover *cover = &host->cover;
	struct ressd_cover_action *action = &cover->action;
	struct ressd_log *log = &host->box.log;

	ressd_cover_next(&cover->run, log, action);
	/* The device gets nothing meanwhile, so a loss of power is none of its own. */
	while (action->kind == RESSD_COVER_WORK) {
		ressd_cover_work(&cover->run);
		ressd_cover_done(&cover->run, log, 0);
		ressd_cover_next(&cover->run, log, action);
	}
	cover->stage = COVER_ACTS;
	cover->write = NULL;
	cover->ticket = 0;
	switch (action->kind) {
	case RESSD_COVER_SYNC:
		cover->ticket = ressd_log_sync(log);
		break;
	case RESSD_COVER_RECLAIM:
		cover->ticket = ressd_log_reclaim(log);
		break;
	case RESSD_COVER_END:
		cover->unsafe |= cover->run.unsafe;
		if (!cover->run.result && cover->goal != RESSD_COVER_CARRY)
			cover->unsafe = cover->run.unsafe;
		end(host);
		break;
	default:
		break;
	}
}

static void done(struct host *host, int error)
{
	ressd_cover_done(&host->cover.run, &host->box.log, error);
	host->cover.stage = COVER_DECIDES;
}

static void read_blocks(struct host *host, bool error)
{
	const struct ressd_cover_action *action = &host->cover.action;
	u32 first = 0;

	if (action->kind == RESSD_COVER_READ_LOG)
		first = layout_log_sector(&host->layout, action->block);
	disk_read(&host->disk, first, action->nr * BLOCK_SECTORS, action->data);
	done(host, error ? -EIO : 0);
}

static void write_blocks(struct host *host, bool error, u64 number)
{
	struct cover *cover = &host->cover;
	const struct ressd_cover_action *action = &cover->action;

	if (!cover->write) {
		if (reads_in_flight(host) && host->fault != FAULT_COVER_IGNORES_READS)
			return;
		host_trace(host, "cover: writing home %u + %u", action->lbn, action->nr);
		cover->write = disk_submit(&host->disk, action->lbn * BLOCK_SECTORS,
					   action->nr * BLOCK_SECTORS, action->data);
		return;
	}
	if (error) {
		disk_fail(&host->disk, cover->write, number);
		cover->unsafe = true;	/* a cover may be missing */
	} else {
		disk_complete(&host->disk, cover->write, false);
	}
	cover->write = NULL;
	done(host, error ? -EIO : 0);
}

static void wait_for_log(struct host *host)
{
	const struct ressd_log *log = &host->box.log;
	const struct cover *cover = &host->cover;

	if (!host_log_works(host))
		done(host, -EIO);
	else if (ressd_log_synced(log) >= cover->ticket)
		done(host, 0);
	else if (ressd_log_is_starved(log))
		done(host, -EAGAIN);
}

static void act(struct host *host, bool error, u64 number)
{
	switch (host->cover.action.kind) {
	case RESSD_COVER_READ_HOME:
	case RESSD_COVER_READ_LOG:
		read_blocks(host, error);
		break;
	case RESSD_COVER_WRITE_HOME:
		write_blocks(host, error, number);
		break;
	case RESSD_COVER_SYNC:
	case RESSD_COVER_RECLAIM:
		wait_for_log(host);
		break;
	case RESSD_COVER_WAIT:
		if (!host_log_works(host) || !ressd_log_ram_is_full(&host->box.log))
			done(host, 0);
		break;
	case RESSD_COVER_WORK:
	case RESSD_COVER_END:
		break;
	}
}

void host_cover_step(struct host *host, bool error, u64 number)
{
	switch (host->cover.stage) {
	case COVER_WAITS:
		begin(host);
		break;
	case COVER_DECIDES:
		decide(host);
		break;
	case COVER_ACTS:
		act(host, error, number);
		break;
	}
}
