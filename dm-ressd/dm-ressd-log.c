// SPDX-License-Identifier: GPL-2.0-only
/* I/O of the log, the superblock, recovery. */
#include <linux/blkdev.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "dm-ressd.h"

int ressd_log_rw(struct ressd *ressd, blk_opf_t opf, u32 block, u32 nr, void *buffer)
{
	return ressd_rw(ressd, ressd->reserved->bdev, opf, ressd_log_sector(ressd, block), nr,
			buffer);
}

int ressd_flush_devices(struct ressd *ressd)
{
	int ret = blkdev_issue_flush(ressd->normal->bdev);

	if (!ret && !ressd->same_dev)
		ret = blkdev_issue_flush(ressd->reserved->bdev);
	return ret;
}

/* In the constructor, before there is a geometry: the copies' places are known from the table. */
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
	if (!copies) {
		snprintf(error, size, "there is not enough memory to read the superblock");
		return -ENOMEM;
	}
	ret = ressd_log_rw(ressd, REQ_OP_READ, 0, 1, &copies[0]);
	if (!ret)
		ret = ressd_log_rw(ressd, REQ_OP_READ, last, 1, &copies[1]);
	if (ret)
		snprintf(error, size,
			 "the superblock cannot be read from the reserved area (error %d)", ret);
	else
		ret = ressd_super_choose(&copies[0], &copies[1], &ressd->super, error, size);
	vfree(copies);
	return ret;
}

#define PROGRESS_INTERVAL	(5 * HZ)	/* of a long activation, in the kernel log */

/* A reading of the reserved area under way, by the process that activates the device. */
struct reading {
	struct ressd *ressd;
	const char *what;		/* becomes of the log or area, for the progress */
	const char *of;			/* what the progress counts */
	unsigned long next_report;	/* jiffies */
};

static struct reading begin_reading(struct ressd *ressd, const char *what, const char *of)
{
	return (struct reading) {
		.ressd = ressd, .what = what, .of = of,
		.next_report = jiffies + PROGRESS_INTERVAL,
	};
}

static int read_blocks(void *context, u32 block, u32 nr, void *buffer)
{
	const struct reading *reading = context;

	cond_resched();
	if (fatal_signal_pending(current))
		return -EINTR;
	return ressd_log_rw(reading->ressd, REQ_OP_READ, block, nr, buffer);
}

static void report_progress(void *context, u32 done, u32 total)
{
	struct reading *reading = context;

	if (time_before(jiffies, reading->next_report))
		return;
	reading->next_report = jiffies + PROGRESS_INTERVAL;
	DMINFO("%s: %s, %u of %u %s are done", ressd_name(reading->ressd), reading->what, done,
	       total, reading->of);
}

/* 0 if the whole reserved area is zero: data that somebody may need is never formatted over. */
static int check_blank(struct ressd *ressd)
{
	struct reading reading = begin_reading(ressd,
					       "the reserved area is searched for old contents",
					       "blocks");
	const u32 nr_blocks = ressd->log.geom.nr_blocks;
	void *buffer = ressd->memory.records[0];
	u32 block, nr;
	int ret;

	for (block = 0; block < nr_blocks; block += nr) {
		nr = min_t(u32, nr_blocks - block, RESSD_MAX_RECORD_BLOCKS);
		ret = read_blocks(&reading, block, nr, buffer);
		if (ret == -EINTR) {
			DMERR("%s: the search of the reserved area was interrupted; nothing was changed, activate the device again",
			      ressd_name(ressd));
			return ret;
		}
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
		report_progress(&reading, block + nr, nr_blocks);
	}
	return 0;
}

/*
 * Writes both copies, the second first, by way of the block @super.  A cut in between leaves two
 * that differ in the length or in the stored options, or one that is blank, which
 * core/ressd-record.c tells apart from damage.
 */
static int write_super(struct ressd *ressd, const struct ressd_super_info *info,
		       struct ressd_super *super)
{
	const u32 last = ressd->log.geom.nr_blocks - 1;
	u32 copy;
	int ret = 0;

	for (copy = 2; !ret && copy--; ) {
		ressd_super_encode(super, info, copy);
		ret = ressd_log_rw(ressd, RESSD_LOG_WRITE | REQ_FUA, copy ? last : 0, 1,
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
		ret = write_super(ressd, &ressd->super, ressd->memory.merge);
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
	char error[RESSD_ERROR_SIZE];
	int ret;

	if (ressd->table.len == before && !ressd->super.uneven)
		return 0;
	/* The table before this one may have stored other options since this one was loaded. */
	ret = ressd->blank ? 0 : ressd_read_super(ressd, error, sizeof(error));
	if (ret) {
		DMERR("%s: %s", ressd_name(ressd), error);
		return ret;
	}
	ressd->super.table.len = ressd->table.len;
	ret = write_super(ressd, &ressd->super, ressd->memory.merge);
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

/* One message at a time; activation, which writes superblocks as well, is over by then. */
static DEFINE_MUTEX(store_lock);

int ressd_store_options(struct ressd *ressd, const struct ressd_options *options)
{
	struct ressd_super_info *info;
	struct ressd_super *super;
	int ret = -ENOMEM;

	info = kmalloc(sizeof(*info), GFP_KERNEL);
	super = vmalloc(RESSD_BLOCK_SIZE);
	if (info && super) {
		mutex_lock(&store_lock);
		*info = ressd->super;
		ressd_options_pack(options, info->options);
		ret = write_super(ressd, info, super);
		if (!ret)
			ressd->super = *info;
		mutex_unlock(&store_lock);
	} else {
		DMERR("%s: there is not enough memory to write the superblock",
		      ressd_name(ressd));
	}
	vfree(super);
	kfree(info);
	return ret;
}

static int recover(struct ressd *ressd, struct ressd_recovery *recovery)
{
	struct reading reading = begin_reading(ressd, "the log is being recovered", "steps");
	struct ressd_reader reader = {
		.read = read_blocks,
		.progress = report_progress,
		.context = &reading,
		.buffer = ressd->memory.records[1],
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
	ret = ressd_cover_restore(ressd);
	if (ret) {
		ressd->active = false;
		return ret;
	}
	if (recovered) {
		report_recovery(ressd, &recovery, start);
		ressd_cover_compare(ressd);
	}
	return 0;
}
