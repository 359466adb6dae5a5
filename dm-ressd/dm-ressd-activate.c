// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an activation does with the log: superblock, formatting, recovery.
 */
#include <linux/blkdev.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "dm-ressd-log.h"

static bool slot_busy(void *context, u32 slot)
{
	struct ressd *ressd = context;

	return ressd_slot_is_read(&ressd->readers[slot]);
}

static void settle_copies(void *context, u32 record)
{
	struct ressd *ressd = context;

	ressd_copies_settle(&ressd->copies[record]);
}

void ressd_tune_log(struct ressd *ressd)
{
	const struct ressd_options *options = &ressd->options;
	struct ressd_log *log = &ressd->log;
	u32 page = options->log_page_sectors / RESSD_BLOCK_SECTORS;

	log->align_blocks =
		max_t(u32, options->log_align_sectors / RESSD_BLOCK_SECTORS, 1);
	log->unit_blocks = options->move_block_sectors / RESSD_BLOCK_SECTORS;
	log->page_blocks = page <= log->unit_blocks ? page : 0;
	if (log->page_blocks)
		div_u64_rem(ressd_device_block(ressd->reserved,
					       ressd->table.reserved_start),
			    log->unit_blocks, &log->unit_phase);
	log->page_buffer =
		options->log_rewrite == RESSD_ON ? ressd->memory.page : NULL;
}

void ressd_setup_log(struct ressd *ressd, const struct ressd_geom *geom)
{
	ressd_log_init(&ressd->log,
		       &(struct ressd_log_setup){
			       .geom = *geom,
			       .uuid = ressd->super.uuid,
			       .activation = get_random_u64() | 1,
			       .normal_blocks =
				       ressd->table.len / RESSD_BLOCK_SECTORS,
			       .cover_blocks = ressd->super.cover_blocks,
			       .nodes = ressd->memory.nodes,
			       .clean = ressd->memory.clean,
			       .regions = ressd->memory.region_bits,
			       .segments = ressd->memory.segments,
			       .buffers = ressd->memory.records,
			       .summary = ressd->memory.summary,
			       .segment_busy = slot_busy,
			       .settle = settle_copies,
			       .context = ressd,
		       });
	ressd->regions = ressd->log.map.regions;
	ressd_tune_log(ressd);
	ressd->errors.noted_mode = RESSD_MODE_RW;
}

/*
 * In the constructor, before there is a geometry: the copies' places are known
 * from the table.
 */
int ressd_read_super(struct ressd *ressd, char *error, size_t size)
{
	u32 last = ressd->table.reserved_sectors / RESSD_BLOCK_SECTORS - 1;
	struct ressd_super *copies;
	int ret;

	if (ressd->table.reserved_sectors < 2 * RESSD_BLOCK_SECTORS ||
	    ressd->table.reserved_sectors / RESSD_BLOCK_SECTORS >
		    RESSD_MAX_RESERVED_BLOCKS) {
		struct ressd_geom geom;

		/* Says why such a size cannot be. */
		return ressd_geom_init(&geom, ressd->table.reserved_sectors, 0,
				       error, size);
	}
	copies = vmalloc(2 * RESSD_BLOCK_SIZE);
	if (!copies) {
		snprintf(error, size,
			 "there is not enough memory to read the superblock");
		return -ENOMEM;
	}
	ret = ressd_log_rw(ressd, REQ_OP_READ, 0, 1, &copies[0]);
	if (!ret)
		ret = ressd_log_rw(ressd, REQ_OP_READ, last, 1, &copies[1]);
	if (ret)
		snprintf(error, size,
			 "the superblock cannot be read from the reserved area (error %d)",
			 ret);
	else
		ret = ressd_super_choose(&copies[0], &copies[1], &ressd->super,
					 error, size);
	vfree(copies);
	return ret;
}

/* Of a long activation, in the kernel log. */
#define PROGRESS_INTERVAL	(5 * HZ)

/*
 * A reading of the reserved area under way, by the process that activates the
 * device.
 */
struct reading {
	struct ressd *ressd;
	const char *what;		/* becomes of it, for the progress */
	const char *of;			/* what the progress counts */
	unsigned long next_report;	/* jiffies */
};

static struct reading begin_reading(struct ressd *ressd, const char *what,
				    const char *of)
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
	DMINFO("%s: %s, %u of %u %s are done", ressd_name(reading->ressd),
	       reading->what, done, total, reading->of);
}

/*
 * 0 if the whole reserved area is zero: an area that holds data is never
 * formatted.
 */
static int check_blank(struct ressd *ressd)
{
	struct reading reading =
		begin_reading(ressd,
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
			DMERR("%s: the reserved area cannot be read at block %u (error %d); nothing was changed, activate the device again once it can be read",
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
 * Durably.  Where the block layer would flush for FUA it is done here, by
 * @flush: a flush that fails is no mere error of this write.
 */
static int write_copy(struct ressd *ressd, u32 block, void *super,
		      int (*flush)(struct ressd *ressd))
{
	bool fua = ressd_fua_needs_no_flush(ressd->reserved->bdev);
	int ret = ressd_log_rw(ressd, RESSD_LOG_WRITE | (fua ? REQ_FUA : 0),
			       block, 1, super);

	return ret || fua ? ret : flush(ressd);
}

/*
 * Writes both copies by way of the block @super; the second first, unless it is
 * the only intact one.  A cut in between leaves two that differ in the length
 * or in the stored options, or one that is blank, which core/ressd-record.c
 * tells apart from damage.
 */
static int write_super(struct ressd *ressd, const struct ressd_super_info *info,
		       struct ressd_super *super,
		       int (*flush)(struct ressd *ressd))
{
	const u32 last = ressd->log.geom.nr_blocks - 1;
	u32 i, copy = 0;
	int ret = 0;

	if (!ressd_log_rw(ressd, REQ_OP_READ, 0, 1, super))
		copy = ressd_super_first(super);
	for (i = 0; !ret && i < 2; i++, copy = !copy) {
		ressd_super_encode(super, info, copy);
		ret = write_copy(ressd, copy ? last : 0, super, flush);
	}
	if (ret)
		DMERR("%s: the superblock cannot be written (error %d); try again once the device is well",
		      ressd_name(ressd), ret);
	return ret;
}

/*
 * If it fails, what the table before this one has left unflushed may be gone,
 * and the next flush would succeed.
 */
static int first_flush(struct ressd *ressd)
{
	int ret = ressd_flush_devices(ressd);

	if (ret && ressd->errors.unflushed)
		ressd->errors.inherited = true;
	return ret;
}

/* A counterfeit card has no memory at its end, and returns zeroes there. */
static bool supers_are_there(struct ressd *ressd)
{
	const u32 last = ressd->log.geom.nr_blocks - 1;
	struct ressd_super *super = ressd->memory.merge;
	u32 copy;

	for (copy = 0; copy < 2; copy++)
		if (ressd_log_rw(ressd, REQ_OP_READ, copy ? last : 0, 1,
				 super) ||
		    memcmp(super->uuid, ressd->super.uuid, RESSD_UUID_SIZE))
			return false;
	return true;
}

/*
 * One superblock is enough for the next table, which would be served: there
 * must be none.
 */
static void blank_supers(struct ressd *ressd)
{
	const u32 last = ressd->log.geom.nr_blocks - 1;
	void *block = ressd->memory.merge;
	int ret;

	memset(block, 0, RESSD_BLOCK_SIZE);
	ret = write_copy(ressd, last, block, first_flush);
	if (write_copy(ressd, 0, block, first_flush) || ret)
		DMERR("%s: what is left of the superblocks cannot be made blank",
		      ressd_name(ressd));
}

static int format_blank(struct ressd *ressd)
{
	int ret = ressd->life == RESSD_FORMATTING ? 0 : check_blank(ressd);

	if (ret)
		return ret;
	/*
	 * If this fails half way and is tried again, the area is not blank any
	 * more.
	 */
	WRITE_ONCE(ressd->life, RESSD_FORMATTING);
	ret = write_super(ressd, &ressd->super, ressd->memory.merge,
			  first_flush);
	if (!ret && !supers_are_there(ressd)) {
		DMERR("%s: the reserved area does not keep what is written there, so the device is broken, or its capacity counterfeit; f3probe tells how large it is",
		      ressd_name(ressd));
		blank_supers(ressd);
		ret = -EIO;
	}
	if (!ret)
		DMINFO("%s: formatted the blank reserved area, %u segments of %u KiB",
		       ressd_name(ressd), ressd->log.geom.nr_segments,
		       ressd->log.geom.segment_blocks * 4);
	return ret;
}

/*
 * Makes both superblock copies say the length of the table, which may be larger
 * than before.  Must end before the first block beyond the old length is
 * served: until then either length is right.
 */
static int adopt_length(struct ressd *ressd)
{
	const u64 before = ressd->super.table.len;
	char error[RESSD_ERROR_SIZE];
	int ret;

	if (ressd->table.len == before && !ressd->super.uneven)
		return 0;
	/*
	 * The table before this one may have stored other options since this
	 * one was loaded.
	 */
	ret = ressd->life != RESSD_FORMATTED ? 0 :
	      ressd_read_super(ressd, error, sizeof(error));
	if (ret) {
		DMERR("%s: %s", ressd_name(ressd), error);
		return ret;
	}
	ressd->super.table.len = ressd->table.len;
	ret = write_super(ressd, &ressd->super, ressd->memory.merge,
			  ressd_flush_devices);
	if (ret) {
		ressd->super.table.len = before;
		ressd->super.uneven = true;
		return ret;
	}
	ressd->super.uneven = false;
	DMINFO("%s: the normal area has %llu sectors now, it had %llu",
	       ressd_name(ressd), (unsigned long long)ressd->table.len,
	       (unsigned long long)before);
	return 0;
}

/* Activation, which writes superblocks as well, is over by then. */
int ressd_store_options(struct ressd *ressd,
			const struct ressd_options *options)
{
	struct ressd_super_info *info;
	struct ressd_super *super;
	int ret = -ENOMEM;

	info = kmalloc(sizeof(*info), GFP_NOIO);
	super = ressd_vmalloc_noio(RESSD_BLOCK_SIZE);
	if (info && super) {
		mutex_lock(&ressd->store_lock);
		*info = ressd->super;
		ressd_options_pack(options, info->options);
		ret = write_super(ressd, info, super, ressd_flush);
		if (!ret)
			ressd->super = *info;
		mutex_unlock(&ressd->store_lock);
	} else {
		DMERR("%s: there is not enough memory to write the superblock",
		      ressd_name(ressd));
	}
	vfree(super);
	kfree(info);
	/* What others had written may be gone with a flush that has failed. */
	spin_lock(&ressd->lock);
	ressd_take_flush_errors(ressd);
	spin_unlock(&ressd->lock);
	ressd_note_mode(ressd);
	return ret;
}

static int recover(struct ressd *ressd, struct ressd_recovery *recovery)
{
	struct reading reading =
		begin_reading(ressd, "the log is being recovered", "steps");
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
	ressd_setup_log(ressd, &geom);
	ret = ressd_recover(&ressd->log, &reader, recovery, error,
			    sizeof(error));
	if (ret == -EINTR) {
		DMERR("%s: recovery was interrupted; nothing was changed, activate the device again",
		      ressd_name(ressd));
		return ret;
	}
	if (ret) {
		DMERR("%s: %s", ressd_name(ressd),
		      error[0] ? error :
				 "the log cannot be read from the reserved area; nothing was changed, activate the device again once it can be read");
		return ret;
	}
	/* What was read may so far be in the device's cache only. */
	ret = first_flush(ressd);
	if (ret) {
		DMERR("%s: the device cannot be flushed (error %d); activate it again once it is well",
		      ressd_name(ressd), ret);
		return ret;
	}
	return 0;
}

int ressd_open_log(struct ressd *ressd, struct ressd_recovery *recovery)
{
	int ret = ressd->life == RESSD_FORMATTED ? recover(ressd, recovery) :
						   format_blank(ressd);

	return ret ? ret : adopt_length(ressd);
}
