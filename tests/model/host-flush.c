// SPDX-License-Identifier: GPL-2.0-only
/* Flushes: by the log or past it, and what becomes of them when the log or another flush fails. */
#include <linux/kernel.h>
#include "host.h"

/* May a flush go straight down, because the log has nothing to add to it? */
static bool flush_is_enough(const struct host *host)
{
	const struct ressd_log *log = &host->box.log;

	if (host->config.two_disks)
		return false;
	if (!host_log_works(host))
		return ressd_log_owes_nothing(log);
	return !log->cycle &&
	       (!ressd_log_is_volatile(log) || host->fault == FAULT_FLUSH_BESIDE_LOG);
}

/* The log is not in service and owes something that it cannot write. */
bool host_flushes_fail(const struct host *host)
{
	return !host_log_works(host) && !flush_is_enough(host);
}

void host_answer_flushes(struct host *host, u32 refused)
{
	host->answered_flushes = max(host->answered_flushes, refused);
}

/* dm sends the data that comes behind a flush whatever became of this. */
void host_finish_flush(struct host *host, struct op *op, bool failed)
{
	if (failed) {
		host->refused_flushes++;
	} else {
		oracle_flushed(&host->oracle, op->started);
		host_answer_flushes(host, op->refused_flushes);
	}
	host->flushed += !failed;
	host_trace(host, "op%ld flush: %s", (long)(op - host->ops), failed ? "fails" : "done");
	op->state = op->has_data ? OP_PREFLUSHED : OP_FREE;
}

void host_start_flush(struct host *host, struct op *op)
{
	struct ressd_log *log = &host->box.log;

	op->flush_errors = host->flush_errors;
	op->refused_flushes = host->refused_flushes;
	if (flush_is_enough(host)) {
		op->mark = disk_flush_begin(&host->disk);
		op->state = OP_FLUSHING;
		return;
	}
	if (!host_log_works(host)) {
		host_finish_flush(host, op, true);
		return;
	}
	op->ticket = ressd_log_sync(log);
	op->state = OP_SYNC;
	host_trace(host, "op%ld flush: ticket %llu", (long)(op - host->ops),
		   (unsigned long long)op->ticket);
}

void host_flush(struct host *host)
{
	host_start_op(host, &(struct event){ .kind = EVENT_FLUSH });
}

void host_flush_fails(struct host *host, u64 number)
{
	disk_flush_fail(&host->disk, DISK_BOTH, number);
	if (host->fault == FAULT_FLUSH_ERROR_DROPPED)
		return;
	host_flush_failed(host);
	ressd_log_flush_failed(&host->box.log);
	host_tidy(host);
	host_complete_waiters(host, false);
	host_retry(host);
}

void host_end_flush(struct host *host, struct op *op, bool error, u64 number)
{
	bool another_failed = op->flush_errors != host->flush_errors;

	if (error) {
		host_finish_flush(host, op, true);
		host_flush_fails(host, number);
		return;
	}
	disk_flush_end(&host->disk, op->mark, DISK_BOTH);
	host_finish_flush(host, op, another_failed && host->fault != FAULT_FLUSH_BESIDE_FLUSH);
}
