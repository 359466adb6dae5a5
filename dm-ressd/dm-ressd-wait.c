// SPDX-License-Identifier: GPL-2.0-only
/* What the mover, and a run of the cover, have to wait for. */
#include "dm-ressd-mover.h"

void ressd_wait_for_direct_writes(struct ressd *ressd,
				  ressd_touches_t *touches)
{
	atomic_t *awaited = &ressd->mover.awaited;

	ressd_flight_await(&ressd->flight, awaited, touches, ressd);
	/* What is read at home comes after what they have written. */
	wait_event(ressd->wait, !atomic_read_acquire(awaited));
}

void ressd_wait_for_record(struct ressd *ressd, u64 record)
{
	ressd_run_log(ressd);
	spin_lock(&ressd->lock);
	wait_event_cmd(ressd->wait,
		       ressd->log.written_seq >= record ||
			       !ressd_log_is_rw(ressd),
		       spin_unlock(&ressd->lock), spin_lock(&ressd->lock));
	spin_unlock(&ressd->lock);
}

void ressd_write_open_record(struct ressd *ressd)
{
	struct ressd_log *log = &ressd->log;
	u64 record;

	spin_lock(&ressd->lock);
	record = log->records[log->open].seq - !ressd_log_open_blocks(log);
	ressd_log_write_soon(log);
	spin_unlock(&ressd->lock);
	ressd_wait_for_record(ressd, record);
}

int ressd_wait_as_mover(struct ressd *ressd, u64 ticket)
{
	ressd_run_log(ressd);
	spin_lock(&ressd->lock);
	wait_event_cmd(ressd->wait,
		       ressd_log_synced(&ressd->log) >= ticket ||
			       !ressd_log_is_rw(ressd) ||
			       ressd_log_is_starved(&ressd->log),
		       spin_unlock(&ressd->lock), spin_lock(&ressd->lock));
	spin_unlock(&ressd->lock);
	return ressd_log_is_rw(ressd) ? 0 : -EIO;
}

int ressd_reclaim_as_mover(struct ressd *ressd)
{
	u64 ticket;

	spin_lock(&ressd->lock);
	ticket = ressd_log_reclaim(&ressd->log);
	spin_unlock(&ressd->lock);
	return ressd_wait_as_mover(ressd, ticket);
}
