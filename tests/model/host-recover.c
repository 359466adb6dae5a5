// SPDX-License-Identifier: GPL-2.0-only
/*
 * The message recover, as dm-ressd-repair.c carries it out: a repair by the log worker, then a sync
 * and a flush, after which writes with FUA are taken again.
 */
#include "host.h"

/* Is nothing in flight any more that was sent before a flush failed? */
static bool is_quiet(const struct host *host)
{
	const struct op *op;

	for (op = host->ops; op < host->ops + MAX_OPS; op++)
		if (op_is_direct(op) && host->fault != FAULT_REPAIR_IGNORES_DIRECT)
			return false;
	return host->io_stage == IO_IDLE && !host->mover.nr && host->mover.state != MOVER_COVER &&
	       !ressd_log_is_doubtful(&host->box.log);
}

static void start(struct host *host)
{
	struct ressd_log *log = &host->box.log;

	/* In mode OFF no flush has failed. */
	if (host_log_works(host) || (log->mode >= RESSD_MODE_RO && !is_quiet(host)))
		return;
	host_trace(host, "repair from mode %u", log->mode);
	ressd_repair_start(log, host->repair_buffer, host->layout.geom.record_blocks);
	host->recover.step = RECOVER_REPAIRS;
}

static void end_flush(struct host *host, bool error, u64 number)
{
	struct recover *recover = &host->recover;

	host_trace(host, "the flush of recover %s", error ? "fails" : "is done");
	recover->step = RECOVER_NONE;
	if (error) {
		host_flush_fails(host, number);
		return;
	}
	disk_flush_end(&host->disk, recover->mark, DISK_BOTH);
	if (host->fault != FAULT_RECOVER_ANSWERS_NOTHING)
		host_answer_flushes(host, recover->refused_flushes);
}

void host_recover(struct host *host, bool error, u64 number)
{
	if (host->recover.step == RECOVER_NONE)
		start(host);
	else if (host->recover.step == RECOVER_FLUSHES)
		end_flush(host, error, number);
}

void host_recover_step(struct host *host)
{
	struct recover *recover = &host->recover;
	struct ressd_log *log = &host->box.log;

	if (recover->step == RECOVER_REPAIRS && ressd_repair_is_over(log)) {
		recover->step = ressd_repair_result(log) ? RECOVER_NONE : RECOVER_SYNCS;
		recover->refused_flushes = host->refused_flushes;
		recover->ticket = ressd_log_sync(log);
	} else if (recover->step == RECOVER_SYNCS && !host_log_works(host)) {
		recover->step = RECOVER_NONE;
	} else if (recover->step == RECOVER_SYNCS && ressd_log_synced(log) >= recover->ticket) {
		host_trace(host, "the flush of recover begins");
		recover->step = RECOVER_FLUSHES;
		recover->mark = disk_flush_begin(&host->disk);
	}
}
