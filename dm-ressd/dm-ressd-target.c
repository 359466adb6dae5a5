// SPDX-License-Identifier: GPL-2.0-only
/* Life of the target: constructor, suspend and resume, limits. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/suspend.h>

#include "dm-ressd-target.h"
#include "dm-ressd-compat.h"

#define RESSD_POSITIONAL_ARGS	5

static int open_device(struct dm_target *ti, const char *name, const char *path,
		       struct dm_dev **dev, char *error, size_t size)
{
	int ret;

	if (!(dm_table_get_mode(ti->table) & RESSD_MODE_WRITE)) {
		snprintf(error, size,
			 "ressd cannot be read-only, for what is in the log must be written back; mount the file system read-only instead");
		return -EROFS;
	}
	ret = dm_get_device(ti, path, dm_table_get_mode(ti->table), dev);
	if (ret)
		snprintf(error, size,
			 "the %s device '%.100s' cannot be opened (error %d); check the path and that nothing else uses it",
			 name, path, ret);
	return ret;
}

/* Kinds of device that ressd cannot work on. */
static int check_device(const char *name, const struct dm_dev *dev, char *error,
			size_t size)
{
	unsigned int block_size = bdev_logical_block_size(dev->bdev);

	/* Opening it for writing does not tell: 6.1 lets that pass. */
	if (bdev_read_only(dev->bdev)) {
		snprintf(error, size,
			 "the %s device is read-only; make it writable with blockdev --setrw, or if it takes no writes any more copy all of it to another one and open that",
			 name);
		return -EROFS;
	}
	if (bdev_is_zoned(dev->bdev)) {
		snprintf(error, size,
			 "the %s device is zoned and cannot be overwritten in place; use dm-zoned",
			 name);
		return -EINVAL;
	}
	if (block_size > RESSD_BLOCK_SIZE) {
		snprintf(error, size,
			 "the %s device has logical blocks of %u bytes, but at most %u are possible; use another device",
			 name, block_size, RESSD_BLOCK_SIZE);
		return -EINVAL;
	}
	return 0;
}

static int parse_positional(struct ressd *ressd, struct dm_arg_set *args,
			    char *error, size_t size)
{
	struct dm_target *ti = ressd->ti;
	struct ressd_table *table = &ressd->table;
	const char *normal, *reserved, *start;
	int ret;

	if (args->argc < RESSD_POSITIONAL_ARGS) {
		snprintf(error, size,
			 "a ressd table line needs: <normal dev> <normal start> <reserved dev> <reserved start> <reserved sectors> [<#opt words> <opts>...]");
		return -EINVAL;
	}
	normal = dm_shift_arg(args);
	start = dm_shift_arg(args);
	reserved = dm_shift_arg(args);
	if (ressd_parse_u64(start, "normal start", &table->normal_start, error,
			    size) ||
	    ressd_parse_u64(dm_shift_arg(args), "reserved start",
			    &table->reserved_start, error, size) ||
	    ressd_parse_u64(dm_shift_arg(args), "reserved sectors",
			    &table->reserved_sectors, error, size))
		return -EINVAL;
	table->len = ti->len;

	ret = open_device(ti, "normal", normal, &ressd->normal, error, size);
	if (ret)
		return ret;
	ret = open_device(ti, "reserved", reserved, &ressd->reserved, error,
			  size);
	if (ret)
		return ret;
	ret = check_device("normal", ressd->normal, error, size);
	if (!ret)
		ret = check_device("reserved", ressd->reserved, error, size);
	if (ret)
		return ret;
	ressd->same_dev = ressd->normal->bdev == ressd->reserved->bdev;
	return ressd_table_check(table, bdev_nr_sectors(ressd->normal->bdev),
				 bdev_nr_sectors(ressd->reserved->bdev),
				 ressd->same_dev, error, size);
}

static int parse_options(struct ressd *ressd, struct dm_arg_set *args,
			 char *error, size_t size)
{
	u64 count = 0;

	ressd_options_default(&ressd->options);
	if (!args->argc)
		return 0;
	if (ressd_parse_u64(dm_shift_arg(args), "the number of option words",
			    &count, error, size))
		return -EINVAL;
	if (count != args->argc) {
		snprintf(error, size,
			 "the table line announces %llu option words, but has %u; correct the number",
			 (unsigned long long)count, args->argc);
		return -EINVAL;
	}
	return ressd_options_parse(&ressd->options, args->argc, args->argv,
				   error, size);
}

static int out_of_memory(const char *what, char *error, size_t size)
{
	snprintf(error, size,
		 "there is not enough memory for %s; use a smaller reserved area",
		 what);
	return -ENOMEM;
}

/* For commits that are written with their page; a larger one takes a reload. */
static int allocate_page(struct ressd *ressd, char *error, size_t size)
{
	const struct ressd_options *options = &ressd->options;

	if (options->log_rewrite != RESSD_ON || !options->log_page_sectors)
		return 0;
	ressd->memory.page =
		vmalloc((size_t)options->log_page_sectors << SECTOR_SHIFT);
	if (!ressd->memory.page)
		return out_of_memory("a page of the log", error, size);
	ressd->memory.max_page =
		options->log_page_sectors / RESSD_BLOCK_SECTORS;
	return 0;
}

/*
 * Where there is no room for it the log is refused, and no process killed: the
 * rest, too, is asked for when the nodes have left little.
 */
static void *allocate_large(size_t bytes)
{
	return __vmalloc(bytes,
			 GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

static int allocate_map(struct ressd *ressd, const struct ressd_geom *geom,
			char *error, size_t size)
{
	struct ressd_memory *memory = &ressd->memory;

	/*
	 * On 32 bits the size of too many would wrap around.  The nodes are
	 * nearly all of the map.  If they fail, what was freed of them may not
	 * be there for others yet.
	 */
	memory->nodes = allocate_large(array_size(geom->nr_blocks,
						  sizeof(struct ressd_node)));
	if (!memory->nodes)
		goto fail;
	memory->clean =
		allocate_large(ressd_map_clean_bytes(geom->nr_blocks));
	memory->segments = kvcalloc(geom->nr_segments,
				    sizeof(*memory->segments), GFP_KERNEL);
	ressd->readers = kvcalloc(geom->nr_segments, sizeof(*ressd->readers),
				  GFP_KERNEL);
	memory->region_bits =
		allocate_large(ressd_regions_bytes(ressd->table.len /
							   RESSD_BLOCK_SECTORS,
						   geom->nr_blocks));
	ressd->seen = alloc_percpu(struct ressd_seen);
	if (ressd->seen)
		ressd_flight_init(&ressd->flight, &ressd->seen->places);
	if (memory->clean && memory->segments && ressd->readers &&
	    memory->region_bits && ressd->seen)
		return 0;
fail:
	return out_of_memory("the map (21 bytes for each 4 KiB of reserved area)",
			     error, size);
}

static int allocate_buffers(struct ressd *ressd, const struct ressd_geom *geom,
			    char *error, size_t size)
{
	const u32 record_bytes = RESSD_MAX_RECORD_BLOCKS * RESSD_BLOCK_SIZE;
	u32 moves = ressd->options.move_batch_sectors / RESSD_BLOCK_SECTORS;
	struct ressd_memory *memory = &ressd->memory;
	bool complete;
	int i;

	memory->merge = vmalloc(RESSD_BLOCK_SIZE);
	memory->summary = vmalloc(ressd_summary_bytes(geom));
	complete = memory->merge && memory->summary &&
		   !ressd_move_space_init(&ressd->mover.space, moves);
	for (i = 0; complete && i < RESSD_RECORDS; i++) {
		memory->records[i] = vzalloc(record_bytes);
		complete = memory->records[i];
	}
	if (!complete || ressd_cover_init(ressd))
		return out_of_memory("the buffers", error, size);
	return allocate_page(ressd, error, size);
}

static int allocate(struct ressd *ressd, char *error, size_t size)
{
	struct ressd_geom geom;

	if (ressd_geom_init(&geom, ressd->table.reserved_sectors,
			    ressd->super.segment_sectors, error, size))
		return -EINVAL;
	if (allocate_map(ressd, &geom, error, size) ||
	    allocate_buffers(ressd, &geom, error, size))
		return -ENOMEM;
	ressd->workqueue = alloc_workqueue("ressd/%s",
					   WQ_MEM_RECLAIM | WQ_UNBOUND, 0,
					   ressd_name(ressd));
	if (!ressd->workqueue)
		return out_of_memory("the work queue", error, size);

	ressd_setup_log(ressd, &geom);
	if (ressd_find_pages(ressd))
		return out_of_memory("the buffers", error, size);
	return 0;
}

/* Reads the superblock, or prepares one for an area that is blank so far. */
static int load_super(struct ressd *ressd, char *error, size_t size)
{
	struct ressd_geom geom;
	int ret = ressd_read_super(ressd, error, size);

	if (!ret) {
		if (error[0])
			DMWARN("%s: %s", ressd_name(ressd), error);
		return ressd_super_matches(&ressd->super, &ressd->table,
					   &ressd->options, error, size);
	}
	if (ret != -ENODATA)
		return ret;
	ret = ressd_geom_init(&geom, ressd->table.reserved_sectors,
			      ressd->options.segment_sectors, error, size);
	if (ret)
		return ret;
	ressd->life = RESSD_BLANK;
	ressd->super.table = ressd->table;
	ressd->super.segment_sectors =
		geom.segment_blocks * RESSD_BLOCK_SECTORS;
	ressd->super.record_blocks = geom.record_blocks;
	ressd->super.devices = ressd->same_dev ? 1 : 2;
	ressd_options_pack(&ressd->options, ressd->super.options);
	if (ressd->options.cover == RESSD_ON)
		ressd->super.cover_blocks =
			ressd_cover_default(&geom, ressd->table.len);
	get_random_bytes(ressd->super.uuid, RESSD_UUID_SIZE);
	return 0;
}

static void init_lists(struct ressd *ressd)
{
	spin_lock_init(&ressd->lock);
	spin_lock_init(&ressd->done_lock);
	spin_lock_init(&ressd->meter.lock);
	mutex_init(&ressd->store_lock);
	INIT_LIST_HEAD(&ressd->instances);
	INIT_LIST_HEAD(&ressd->waiters.sync);
	INIT_LIST_HEAD(&ressd->waiters.record);
	INIT_LIST_HEAD(&ressd->waiters.space);
	INIT_LIST_HEAD(&ressd->waiters.merge);
	INIT_LIST_HEAD(&ressd->waiters.move);
	INIT_LIST_HEAD(&ressd->waiters.order);
	INIT_LIST_HEAD(&ressd->tracked);
	INIT_LIST_HEAD(&ressd->done);
	init_waitqueue_head(&ressd->wait);
	init_waitqueue_head(&ressd->mover.rest);
	INIT_WORK(&ressd->log_io.work, ressd_log_worker);
	INIT_WORK(&ressd->bio_work, ressd_bio_worker);
	INIT_WORK(&ressd->waiters.work, ressd_order_worker);
	INIT_DELAYED_WORK(&ressd->log_io.timer, ressd_commit_timer);
	ressd_shape_init(ressd);
}

/*
 * Meanwhile nothing is logged or moved but what a write waits for.  The memory
 * is saved before threads stop, and its map and the number of its next record
 * refer to the log as it was then: what the log took afterwards would be
 * written over, and what that claims to be durable be missed by recovery.  So
 * also the kernel that restores the memory must leave the log alone.
 */
static int power_event(struct notifier_block *power, unsigned long event,
		       void *data)
{
	struct ressd *ressd = container_of(power, struct ressd, power);
	bool begins = event == PM_HIBERNATION_PREPARE ||
		      event == PM_RESTORE_PREPARE;

	if (!begins && event != PM_POST_HIBERNATION && event != PM_POST_RESTORE)
		return NOTIFY_DONE;
	spin_lock(&ressd->lock);
	WRITE_ONCE(ressd->hibernating, begins);
	spin_unlock(&ressd->lock);
	/* A writer may have waited for the mover. */
	ressd_run_log(ressd);
	ressd_wake(ressd);
	return NOTIFY_OK;
}

static const struct ressd_upcalls upcalls = {
	.retry_space_waiters = ressd_retry_space_waiters,
	.mover_is_wanted = ressd_mover_is_wanted,
};

/* Frees what a constructor, complete or not, has acquired; in reverse order. */
static void ressd_free(struct ressd *ressd)
{
	int i;

	ressd_unregister(ressd);
	ressd_shape_exit(ressd);
	if (ressd->workqueue)
		destroy_workqueue(ressd->workqueue);
	ressd_free_page_vecs(ressd);
	for (i = 0; i < RESSD_RECORDS; i++)
		vfree(ressd->memory.records[i]);
	vfree(ressd->memory.page);
	vfree(ressd->memory.merge);
	vfree(ressd->memory.summary);
	ressd_cover_free(ressd);
	ressd_move_space_free(&ressd->mover.next_space);
	ressd_move_space_free(&ressd->mover.space);
	kvfree(ressd->readers);
	kvfree(ressd->memory.segments);
	free_percpu(ressd->seen);
	vfree(ressd->memory.region_bits);
	vfree(ressd->memory.clean);
	vfree(ressd->memory.nodes);
	ressd_exit_bios(ressd);
	if (ressd->reserved)
		dm_put_device(ressd->ti, ressd->reserved);
	if (ressd->normal)
		dm_put_device(ressd->ti, ressd->normal);
	kfree(ressd);
}

static void set_target_features(struct dm_target *ti)
{
	const struct ressd *ressd = ti->private;

	ti->num_flush_bios = 1;
	/*
	 * Also over a device without a volatile cache: the open record in RAM
	 * is one.
	 */
	ti->flush_supported = true;
	ti->num_discard_bios = 1;
	/* Whether the reserved device takes any or not: it gets none. */
	ti->discards_supported =
		bdev_max_discard_sectors(ressd->normal->bdev) > 0;
	ti->per_io_data_size = RESSD_PER_BIO_SIZE;
	ti->limit_swap_bios = true;
	/*
	 * Held bios are sent while map() returns; dm would start the accounting
	 * of one twice.  What the log takes or gives it accounts when it ends.
	 */
	ti->accounts_remapped_io = true;
}

/* The steps of the constructor that may fail; then with a sentence. */
static int construct(struct ressd *ressd, struct dm_arg_set *args, char *error,
		     size_t size)
{
	int ret;

	error[0] = '\0';
	ret = parse_positional(ressd, args, error, size);
	if (!ret)
		ret = parse_options(ressd, args, error, size);
	if (!ret)
		ret = ressd_register(ressd, error, size);
	if (!ret && ressd_init_bios(ressd))
		ret = out_of_memory("the reserve of bios", error, size);
	if (!ret)
		ret = ressd_check_change(ressd, true, error, size);
	if (!ret)
		ret = load_super(ressd, error, size);
	if (!ret)
		ret = allocate(ressd, error, size);
	if (ret)
		return ret;
	ret = register_pm_notifier(&ressd->power);
	if (ret)
		snprintf(error, size,
			 "the kernel does not report hibernation (error %d)",
			 ret);
	return ret;
}

/*
 * <normal dev> <normal start> <reserved dev> <reserved start> <reserved
 * sectors>
 *	[<#opt words> <opts>...]
 *
 * Writes nothing: an older table of the same device may still be doing I/O.
 */
static int ressd_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct dm_arg_set args = { .argc = argc, .argv = argv };
	char error[RESSD_ERROR_SIZE];
	struct ressd *ressd;
	int ret;

	ressd = kzalloc(sizeof(*ressd), GFP_KERNEL);
	if (!ressd) {
		ti->error = "there is not enough memory for the target";
		return -ENOMEM;
	}
	ressd->ti = ti;
	ressd->up = &upcalls;
	ressd->power.notifier_call = power_event;
	/* Until the first resume: no drain or repair waits for a mover. */
	ressd->suspending = true;
	init_lists(ressd);

	ret = construct(ressd, &args, error, sizeof(error));
	if (ret) {
		DMERR("%s: %s", ressd_name(ressd), error);
		ressd_free(ressd);
		/* ressdctl shows the user that sentence, not this one. */
		ti->error = "the table is refused for the reason logged above";
		return ret;
	}
	ressd_route_init(&ressd->route,
			 ressd->options.log_cost_us * (u64)NSEC_PER_USEC);
	ressd_pattern_init(&ressd->pattern);
	spin_lock(&ressd->lock);
	ressd_tune_router(ressd);
	spin_unlock(&ressd->lock);
	ressd_shape_prepare(ressd, &ressd->options);
	ressd_tune_shape(ressd);
	ti->private = ressd;
	set_target_features(ti);
	return 0;
}

static void ressd_dtr(struct dm_target *ti)
{
	struct ressd *ressd = ti->private;

	unregister_pm_notifier(&ressd->power);
	cancel_delayed_work_sync(&ressd->log_io.timer);
	ressd_free(ressd);
}

/* The opening record included: only then the device is served. */
static void report_recovery(struct ressd *ressd,
			    const struct ressd_recovery *recovery,
			    ktime_t start)
{
	/* The log's worker may already forget segments. */
	u32 mapped = data_race(ressd->log.map.nr_mapped);

	ressd->recovery_ms = ktime_ms_delta(ktime_get(), start);
	DMINFO("%s: recovered in %u ms: blocks %u, records %llu, segments by summary %llu",
	       ressd_name(ressd), ressd->recovery_ms, mapped,
	       (unsigned long long)recovery->records,
	       (unsigned long long)recovery->summaries);
}

static int activate(struct ressd *ressd)
{
	bool recovered = ressd->life == RESSD_FORMATTED;
	struct ressd_recovery recovery = { };
	ktime_t start = ktime_get();
	int ret = ressd_open_log(ressd, &recovery);

	if (ret)
		return ret;
	/* Pairs with the acquires of the log's worker and of status. */
	smp_store_release(&ressd->life, RESSD_ACTIVE);
	/*
	 * The opening record, before anything is served: see ressd_recover().
	 */
	if (recovered && ressd_sync(ressd)) {
		DMERR("%s: the log is recovered, but its opening record cannot be written; if the device takes no writes any more copy all of it to another one and open that",
		      ressd_name(ressd));
		ret = -EIO;
	} else {
		ret = ressd_cover_restore(ressd);
	}
	if (ret) {
		WRITE_ONCE(ressd->life, RESSD_FORMATTED);
		return ret;
	}
	if (recovered) {
		report_recovery(ressd, &recovery, start);
		ressd_cover_compare(ressd);
	}
	return 0;
}

/*
 * The table before this one, if there is one, is quiet by now, but has gone on
 * since this one was loaded: its log may have data again.  If so the device
 * stays suspended, and the old table can be loaded once more.
 */
static int begin_service(struct ressd *ressd)
{
	char error[RESSD_ERROR_SIZE];
	int ret = ressd_check_change(ressd, false, error, sizeof(error));

	if (ret) {
		DMERR("%s: %s", ressd_name(ressd), error);
		return ret;
	}
	ret = activate(ressd);
	if (!ret)
		ressd_discard_start(ressd);
	return ret;
}

/* Recovery belongs here: it can fail with a reason. */
static int ressd_preresume(struct dm_target *ti)
{
	struct ressd *ressd = ti->private;
	int ret = ressd->life == RESSD_ACTIVE ? 0 : begin_service(ressd);

	if (!ret)
		ret = ressd_mover_start(ressd);
	/* Else it stays suspended, and the next table may be another one. */
	if (!ret)
		ressd_release_log(ressd);
	return ret;
}

static void set_suspending(struct ressd *ressd, bool suspending)
{
	spin_lock(&ressd->lock);
	WRITE_ONCE(ressd->suspending, suspending);
	/* That of route adaptive has no caller who would end it. */
	if (suspending)
		WRITE_ONCE(ressd->mover.draining, false);
	spin_unlock(&ressd->lock);
	ressd_dispatch_suspend(ressd, suspending);
	/* On resume the mover runs already, but begins nothing before. */
	ressd_wake(ressd);
	/*
	 * On resume it forgets the segments that may be reused, before they can
	 * be discarded.
	 */
	ressd_run_log(ressd);
}

static void ressd_resume(struct dm_target *ti)
{
	set_suspending(ti->private, false);
}

/*
 * From here on no write waits for space, so that all bios can complete; a drain
 * is given up.
 */
static void ressd_presuspend(struct dm_target *ti)
{
	set_suspending(ti->private, true);
}

/*
 * All bios are done.  What is only in RAM goes to the device; then nothing
 * moves any more.
 */
static void ressd_postsuspend(struct dm_target *ti)
{
	struct ressd *ressd = ti->private;

	/*
	 * Removal comes here before dm waits for messages; what a repair has
	 * saved is synced then, and none begins any more.
	 */
	wait_event(ressd->wait, !READ_ONCE(ressd->errors.repairing));
	cancel_delayed_work_sync(&ressd->log_io.timer);
	/* The mover still runs: the sync may need the room that it makes. */
	if (ressd->life == RESSD_ACTIVE && ressd_sync(ressd))
		DMERR("%s: the log cannot be written; what was accepted since the last flush is lost with this table: if it was only suspended, resume it and use ressdctl recover",
		      ressd_name(ressd));
	ressd_mover_stop(ressd);
	/*
	 * After an error a write of the log may still be in flight, though
	 * nobody waits for it.  And the mover leaves a sync behind if a discard
	 * keeps it from a segment: when that ends the log would go on, beside
	 * the next table, or in memory that is free.
	 */
	ressd_hold_log(ressd);
	ressd_discard_stop(ressd);
	flush_workqueue(ressd->workqueue);
}

static int ressd_iterate_devices(struct dm_target *ti,
				 iterate_devices_callout_fn fn, void *data)
{
	struct ressd *ressd = ti->private;
	int ret =
		fn(ti, ressd->normal, ressd->table.normal_start, ti->len, data);

	if (!ret && !ressd->same_dev)
		ret = fn(ti, ressd->reserved, ressd->table.reserved_start,
			 ressd->table.reserved_sectors, data);
	return ret;
}

static void ressd_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct ressd *ressd = ti->private;

	/*
	 * The mapping unit is worth aligning to.  The logical block size stays
	 * the larger one of both devices: a read of a part of a logged block
	 * goes to the reserved device as it is.
	 */
	limits->io_min = max_t(unsigned int, limits->io_min, RESSD_BLOCK_SIZE);
	/* Or xfs writes pieces of blocks, which the log does not take. */
	limits->physical_block_size =
		max_t(unsigned int, limits->physical_block_size,
		      RESSD_BLOCK_SIZE);
	if (limits->max_discard_sectors)
		limits->discard_granularity =
			max(bdev_discard_granularity(ressd->normal->bdev),
			    RESSD_BLOCK_SIZE);
}

static struct target_type ressd_target = {
	.name = "ressd",
	.version = { 0, 1, 0 },
	.features = DM_TARGET_SINGLETON,
	.module = THIS_MODULE,
	.ctr = ressd_ctr,
	.dtr = ressd_dtr,
	.map = ressd_map_bio,
	.end_io = ressd_end_io,
	.preresume = ressd_preresume,
	.resume = ressd_resume,
	.presuspend = ressd_presuspend,
	.presuspend_undo = ressd_resume,
	.postsuspend = ressd_postsuspend,
	.status = ressd_status,
	.message = ressd_message,
	.iterate_devices = ressd_iterate_devices,
	.io_hints = ressd_io_hints,
};

static int __init ressd_init(void)
{
	int ret = dm_register_target(&ressd_target);

	if (ret)
		DMERR("the target cannot be registered: error %d", ret);
	return ret;
}

static void __exit ressd_exit(void)
{
	dm_unregister_target(&ressd_target);
}

module_init(ressd_init);
module_exit(ressd_exit);

MODULE_DESCRIPTION(DM_NAME
		   " target for flash devices with slow small random writes");
MODULE_AUTHOR("dm-ressd developers");
MODULE_LICENSE("GPL");
