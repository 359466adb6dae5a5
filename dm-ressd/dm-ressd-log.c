// SPDX-License-Identifier: GPL-2.0-only
/* Superblock, recovery, and the worker that carries out what core/ressd-commit.c decides. */
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/dm-io.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "dm-ressd.h"
#include "dm-ressd-compat.h"

#define FIRST_RETRY_MS	100	/* of a failed log write; doubled each time */
#define LAST_RETRY_MS	400

int ressd_log_rw(struct ressd *ressd, blk_opf_t opf, u32 block, u32 nr, void *buffer)
{
	struct dm_io_region region = {
		.bdev = ressd->reserved->bdev,
		.sector = ressd_log_sector(ressd, block),
		.count = (sector_t)nr << 3,
	};
	struct dm_io_request request = {
		.bi_opf = opf,
		.mem.type = DM_IO_VMA,
		.mem.ptr.vma = buffer,
		.client = ressd->io_client,
	};

	return ressd_dm_io(&request, &region, NULL);
}

int ressd_flush_devices(struct ressd *ressd)
{
	int ret = blkdev_issue_flush(ressd->normal->bdev);

	if (!ret && !ressd->same_dev)
		ret = blkdev_issue_flush(ressd->reserved->bdev);
	return ret;
}

/*
 * The superblock is read in the constructor, before there is an I/O client or a geometry: a client
 * of its own, and the copies' places from the table.
 */
int ressd_read_super(struct ressd *ressd, char *error, size_t size)
{
	u32 last = ressd->table.reserved_sectors / RESSD_BLOCK_SECTORS - 1;
	struct ressd_super *copies;
	int ret;

	if (ressd->table.reserved_sectors < 2 * RESSD_BLOCK_SECTORS ||
	    ressd->table.reserved_sectors / RESSD_BLOCK_SECTORS > RESSD_MAX_RESERVED_BLOCKS) {
		struct ressd_geom geom;

		/* Says why such a size cannot be. */
		return ressd_geom_init(&geom, ressd->table.reserved_sectors, 0, error, size);
	}
	copies = vmalloc(2 * RESSD_BLOCK_SIZE);
	ressd->io_client = dm_io_client_create();
	if (!copies || IS_ERR(ressd->io_client)) {
		snprintf(error, size, "there is not enough memory to read the superblock");
		ret = -ENOMEM;
		goto out;
	}
	ret = ressd_log_rw(ressd, REQ_OP_READ, 0, 1, &copies[0]);
	if (!ret)
		ret = ressd_log_rw(ressd, REQ_OP_READ, last, 1, &copies[1]);
	if (ret)
		snprintf(error, size,
			 "the superblock cannot be read from the reserved area (error %d)", ret);
	else
		ret = ressd_super_choose(&copies[0], &copies[1], &ressd->super, error, size);
out:
	if (!IS_ERR_OR_NULL(ressd->io_client))
		dm_io_client_destroy(ressd->io_client);
	ressd->io_client = NULL;
	vfree(copies);
	return ret;
}

/* 0 if the whole reserved area is zero: data that somebody may need is never formatted over. */
static int check_blank(struct ressd *ressd)
{
	const u32 nr_blocks = ressd->log.geom.nr_blocks;
	void *buffer = ressd->record_buffers[0];
	u32 block, nr;
	int ret;

	for (block = 0; block < nr_blocks; block += nr) {
		nr = min_t(u32, nr_blocks - block, RESSD_MAX_RECORD_BLOCKS);
		ret = ressd_log_rw(ressd, REQ_OP_READ, block, nr, buffer);
		if (ret) {
			DMERR("%s: the reserved area cannot be read at block %u (error %d)",
			      ressd_name(ressd), block, ret);
			return ret;
		}
		if (!ressd_is_zero(buffer, (size_t)nr * RESSD_BLOCK_SIZE)) {
			DMERR("%s: the reserved area has no superblock but is not blank; if its contents may go, use ressdctl format",
			      ressd_name(ressd));
			return -EINVAL;
		}
		cond_resched();
	}
	return 0;
}

/*
 * Writes both copies, the second first: a cut in between leaves two that differ in the length, or
 * one that is blank, which core/ressd-record.c tells apart from damage.
 */
static int write_super(struct ressd *ressd)
{
	const u32 last = ressd->log.geom.nr_blocks - 1;
	struct ressd_super *super = ressd->merge_buffer;
	u32 copy;
	int ret = 0;

	for (copy = 2; !ret && copy--; ) {
		ressd_super_encode(super, &ressd->super, copy);
		ret = ressd_log_rw(ressd, REQ_OP_WRITE | REQ_SYNC | REQ_FUA, copy ? last : 0, 1,
				   super);
	}
	if (ret)
		DMERR("%s: the superblock cannot be written (error %d)", ressd_name(ressd), ret);
	return ret;
}

static int format_blank(struct ressd *ressd)
{
	int ret = ressd->formatting ? 0 : check_blank(ressd);

	/* If this fails half way and is tried again, the area is not blank any more. */
	ressd->formatting = !ret;
	if (!ret)
		ret = write_super(ressd);
	if (!ret)
		DMINFO("%s: formatted the blank reserved area, %u segments of %u KiB",
		       ressd_name(ressd), ressd->log.geom.nr_segments,
		       ressd->log.geom.segment_blocks * 4);
	return ret;
}

/*
 * Makes both superblock copies say the length of the table, which may be larger than before.  Must
 * end before the first block beyond the old length is served: until then either length is right.
 */
static int adopt_length(struct ressd *ressd)
{
	const u64 before = ressd->super.table.len;
	int ret;

	if (ressd->table.len == before && !ressd->super.uneven)
		return 0;
	ressd->super.table.len = ressd->table.len;
	ret = write_super(ressd);
	if (ret) {
		ressd->super.table.len = before;
		ressd->super.uneven = true;
		return ret;
	}
	ressd->super.uneven = false;
	DMINFO("%s: the normal area has %llu sectors now, it had %llu", ressd_name(ressd),
	       (unsigned long long)ressd->table.len, (unsigned long long)before);
	return 0;
}

#define PROGRESS_INTERVAL	(5 * HZ)	/* of a long recovery, in the kernel log */

/* A recovery under way. */
struct recovering {
	struct ressd *ressd;
	unsigned long next_report;	/* jiffies */
};

static int read_blocks(void *context, u32 block, u32 nr, void *buffer)
{
	const struct recovering *recovering = context;

	cond_resched();
	if (fatal_signal_pending(current))
		return -EINTR;
	return ressd_log_rw(recovering->ressd, REQ_OP_READ, block, nr, buffer);
}

static void report_progress(void *context, u32 done, u32 total)
{
	struct recovering *recovering = context;

	if (time_before(jiffies, recovering->next_report))
		return;
	recovering->next_report = jiffies + PROGRESS_INTERVAL;
	DMINFO("%s: the log is being recovered, %u of %u steps are done",
	       ressd_name(recovering->ressd), done, total);
}

static int recover(struct ressd *ressd, struct ressd_recovery *recovery)
{
	struct recovering recovering = {
		.ressd = ressd,
		.next_report = jiffies + PROGRESS_INTERVAL,
	};
	struct ressd_reader reader = {
		.read = read_blocks,
		.progress = report_progress,
		.context = &recovering,
		.buffer = ressd->record_buffers[1],
	};
	const struct ressd_geom geom = ressd->log.geom;
	char error[RESSD_ERROR_SIZE];
	int ret;

	/* An attempt that failed may have left a part of the log in the map. */
	ressd_init_log(ressd, &geom);
	ret = ressd_recover(&ressd->log, &reader, recovery, error, sizeof(error));
	if (ret == -EINTR) {
		DMERR("%s: recovery was interrupted; nothing was changed, activate the device again",
		      ressd_name(ressd));
		return ret;
	}
	if (ret) {
		DMERR("%s: %s", ressd_name(ressd),
		      error[0] ? error : "the log cannot be read from the reserved area");
		return ret;
	}
	/* What was read may so far be in the device's cache only. */
	ret = ressd_flush_devices(ressd);
	if (ret) {
		DMERR("%s: the device cannot be flushed (error %d)", ressd_name(ressd), ret);
		return ret;
	}
	return 0;
}

/* The opening record included: only then the device is served. */
static void report_recovery(struct ressd *ressd, const struct ressd_recovery *recovery,
			    ktime_t start)
{
	ressd->recovery_ms = ktime_ms_delta(ktime_get(), start);
	DMINFO("%s: recovered %u blocks from %llu records (%llu segments by summary) in %u ms",
	       ressd_name(ressd), ressd->log.map.nr_mapped,
	       (unsigned long long)recovery->records, (unsigned long long)recovery->summaries,
	       ressd->recovery_ms);
}

int ressd_activate(struct ressd *ressd)
{
	struct ressd_recovery recovery = { };
	bool recovered = !ressd->blank;
	ktime_t start = ktime_get();
	int ret = recovered ? recover(ressd, &recovery) : format_blank(ressd);

	if (!ret)
		ret = adopt_length(ressd);
	if (ret)
		return ret;
	ressd->blank = false;
	ressd->active = true;
	/* The opening record, before anything is served: see ressd_recover(). */
	if (recovered && ressd_sync(ressd)) {
		DMERR("%s: the log is recovered, but its opening record cannot be written",
		      ressd_name(ressd));
		ressd->active = false;
		return -EIO;
	}
	if (recovered)
		report_recovery(ressd, &recovery, start);
	return 0;
}

/*
 * Many errors of cheap devices are gone a moment later.  A write can be tried again, for its data
 * is still here; a flush cannot, for the next one would succeed whatever the failed one has lost.
 */
static int write_record(struct ressd *ressd, struct ressd_io *io)
{
	blk_opf_t opf = REQ_OP_WRITE | REQ_SYNC | (io->fua ? REQ_FUA : 0);
	unsigned int wait;
	int ret;

	io->only_write = !io->fua || bdev_fua(ressd->reserved->bdev);
	ret = ressd_log_rw(ressd, opf, io->block, io->nr_blocks, io->data);
	for (wait = FIRST_RETRY_MS; ret && io->only_write && wait <= LAST_RETRY_MS; wait *= 2) {
		spin_lock(&ressd->lock);
		ressd->counters.write_retries++;
		spin_unlock(&ressd->lock);
		msleep(wait);
		ret = ressd_log_rw(ressd, opf, io->block, io->nr_blocks, io->data);
	}
	if (ret && !io->only_write)
		atomic_inc(&ressd->flush_errors);
	return ret;
}

/* Reads that are in flight learn of an error by the count, core by ressd_log_done(). */
static int flush_for_log(struct ressd *ressd)
{
	int ret = ressd_flush_devices(ressd);

	if (ret)
		atomic_inc(&ressd->flush_errors);
	return ret;
}

/*
 * Not by REQ_PREFLUSH: then it could not be told what has failed.  A flush sent by others may have
 * failed before this one was begun, which then knew nothing of what that one had lost.
 */
static int preflush(struct ressd *ressd)
{
	int ret = flush_for_log(ressd);

	if (ret)
		return ret;
	spin_lock(&ressd->lock);
	ressd_take_flush_errors(ressd);
	if (!ressd_log_may_write(&ressd->log))
		ret = -EIO;
	spin_unlock(&ressd->lock);
	return ret;
}

static int do_io(struct ressd *ressd, struct ressd_io *io)
{
	int ret = 0;

	switch (io->kind) {
	case RESSD_IO_FLUSH:
		return flush_for_log(ressd);
	case RESSD_IO_READ:
		io->only_write = true;
		return ressd_log_rw(ressd, REQ_OP_READ, io->block, io->nr_blocks, io->data);
	case RESSD_IO_WRITE:
		ressd_log_encode(&ressd->log, io);
		if (io->preflush)
			ret = preflush(ressd);
		return ret ? ret : write_record(ressd, io);
	}
	return -EINVAL;
}

/*
 * What core wants done next.  If there is nothing though somebody waits, the reason may be a read
 * in flight in the segment to be reused: its end must not be missed.  Under the lock.
 */
static bool next_io(struct ressd *ressd, struct ressd_io *io)
{
	bool wanted;

	if (ressd_log_next(&ressd->log, io))
		return true;
	wanted = !list_empty(&ressd->space_waiters) ||
		 ressd_log_synced(&ressd->log) < ressd->log.sync_wanted;
	if (!wanted || ressd->room_wanted) {
		WRITE_ONCE(ressd->room_wanted, wanted);
		return false;
	}
	WRITE_ONCE(ressd->room_wanted, true);
	smp_mb();	/* pairs with atomic_dec_and_test() in ressd_put_reader() */
	return ressd_log_next(&ressd->log, io);
}

/*
 * One I/O at a time, as core decides; whatever waits is looked at in between.  The mover and those
 * who wait for a ticket are woken each time, for any of it may be what they wait for.
 */
void ressd_log_worker(struct work_struct *work)
{
	struct ressd *ressd = container_of(work, struct ressd, log_work);
	struct ressd_io io;
	bool more;
	u64 start;
	int ret;

	for (;;) {
		ressd_retry_space_waiters(ressd);
		spin_lock(&ressd->lock);
		more = ressd->active && next_io(ressd, &io);
		spin_unlock(&ressd->lock);
		if (!more)
			break;
		start = ktime_get_ns();
		ret = do_io(ressd, &io);
		spin_lock(&ressd->lock);
		ressd_route_logged(ressd, ktime_get_ns() - start,
				   io.record ? io.record->nr_maps : 0);
		if (ret && !io.only_write)
			ressd->told_flush_errors = atomic_read(&ressd->flush_errors);
		else
			ressd_take_flush_errors(ressd);
		ressd_log_done(&ressd->log, &io, ret);
		if (ret)
			ressd->counters.errors++;
		spin_unlock(&ressd->lock);
		ressd_note_mode(ressd);
		ressd_complete_waiters(ressd);
		wake_up(&ressd->wait);
	}
	ressd_complete_waiters(ressd);
	wake_up(&ressd->wait);
}

void ressd_commit_timer(struct work_struct *work)
{
	struct ressd *ressd = container_of(to_delayed_work(work), struct ressd, commit_work);

	spin_lock(&ressd->lock);
	ressd_log_kick(&ressd->log);
	spin_unlock(&ressd->lock);
	queue_work(ressd->workqueue, &ressd->log_work);
}

static bool ticket_settled(struct ressd *ressd, u64 ticket)
{
	bool settled;

	spin_lock(&ressd->lock);
	settled = ressd_log_synced(&ressd->log) >= ticket || !ressd_log_works(ressd);
	spin_unlock(&ressd->lock);
	return settled;
}

int ressd_wait_ticket(struct ressd *ressd, u64 ticket)
{
	queue_work(ressd->workqueue, &ressd->log_work);
	wait_event(ressd->wait, ticket_settled(ressd, ticket));
	return ressd_log_works(ressd) ? 0 : -EIO;
}

int ressd_sync(struct ressd *ressd)
{
	u64 ticket;

	spin_lock(&ressd->lock);
	ticket = ressd_log_sync(&ressd->log);
	spin_unlock(&ressd->lock);
	return ressd_wait_ticket(ressd, ticket);
}
