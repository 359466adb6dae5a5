// SPDX-License-Identifier: GPL-2.0-only
/*
 * The emulated SSD as a block device.
 *
 * A request is served when it is queued: its data are copied and the drive
 * computes the time at which a real one would complete it. A timer completes it
 * then.
 */
#include <linux/bio.h>
#include <linux/bvec.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "ssdsim-compat.h"
#include "ssdsim.h"

/* The part of a request that belongs to this driver. */
struct ssdsim_command {
	struct hrtimer timer;
};

static void cursor_set(struct ssdsim_device *device, struct request *request)
{
	device->cursor.bio = request->bio;
	device->cursor.iter = request->bio->bi_iter;
}

static void cursor_advance(struct ssdsim_device *device, u32 bytes)
{
	struct bio *bio = device->cursor.bio;

	bio_advance_iter(bio, &device->cursor.iter, bytes);
	if (!device->cursor.iter.bi_size && bio->bi_next) {
		device->cursor.bio = bio->bi_next;
		device->cursor.iter = bio->bi_next->bi_iter;
	}
}

/* Copy between the request at the cursor and the store. */
static void cursor_copy(struct ssdsim_device *device, u64 sector, u32 sectors, bool write)
{
	while (sectors) {
		struct bio_vec segment = bio_iter_iovec(device->cursor.bio, device->cursor.iter);
		u32 count = min(sectors, segment.bv_len >> SECTOR_SHIFT);
		void *data = bvec_kmap_local(&segment);

		if (write)
			ssd_store_write(device->store, sector, count, data);
		else
			ssd_store_read(device->store, sector, count, data);
		kunmap_local(data);
		if (!write)
			flush_dcache_page(segment.bv_page);
		cursor_advance(device, count << SECTOR_SHIFT);
		sector += count;
		sectors -= count;
	}
}

static void sectors_arrived(void *context, u64 sector, u32 sectors)
{
	cursor_copy(context, sector, sectors, true);
}

static void sectors_durable(void *context, u64 sector, u32 sectors)
{
	struct ssdsim_device *device = context;

	ssd_store_commit(device->store, sector, sectors);
}

static const struct ssd_drive_events drive_events = {
	.arrived = sectors_arrived,
	.durable = sectors_durable,
};

static u64 serve_discard(struct ssdsim_device *device, u64 now, u64 sector, u64 sectors)
{
	u64 end = ssd_drive_discard(device->drive, now, sector, sectors);

	if (ssd_drive_whole_pages(device->drive, &sector, &sectors))
		ssd_store_discard(device->store, sector, sectors);
	return end;
}

/* Returns the time of completion. */
static u64 serve(struct ssdsim_device *device, struct request *request, u64 now)
{
	u64 sector = blk_rq_pos(request);
	u32 sectors = blk_rq_sectors(request);

	switch (req_op(request)) {
	case REQ_OP_READ:
		cursor_set(device, request);
		cursor_copy(device, sector, sectors, false);
		return ssd_drive_read(device->drive, now, sector, sectors);
	case REQ_OP_WRITE:
		cursor_set(device, request);
		return ssd_drive_write(device->drive, now, sector, sectors,
				       request->cmd_flags & REQ_FUA);
	case REQ_OP_DISCARD:
		return serve_discard(device, now, sector, sectors);
	default:
		return ssd_drive_flush(device->drive, now);
	}
}

static bool is_supported(const struct request *request)
{
	switch (req_op(request)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
	case REQ_OP_DISCARD:
	case REQ_OP_FLUSH:
		return true;
	default:
		return false;
	}
}

static blk_status_t queue_request(struct blk_mq_hw_ctx *hw_queue,
				  const struct blk_mq_queue_data *queue_data)
{
	struct ssdsim_device *device = hw_queue->queue->queuedata;
	struct request *request = queue_data->rq;
	struct ssdsim_command *command = blk_mq_rq_to_pdu(request);
	unsigned long flags;
	u64 end;

	if (!is_supported(request))
		return BLK_STS_NOTSUPP;

	spin_lock_irqsave(&device->lock, flags);
	/* No memory now: the block layer tries the request again soon. */
	if (req_op(request) == REQ_OP_WRITE &&
	    ssd_store_reserve(device->store, blk_rq_pos(request), blk_rq_sectors(request))) {
		spin_unlock_irqrestore(&device->lock, flags);
		return BLK_STS_RESOURCE;
	}
	blk_mq_start_request(request);
	end = serve(device, request, ktime_get_ns());
	spin_unlock_irqrestore(&device->lock, flags);

	hrtimer_start(&command->timer, ns_to_ktime(end), HRTIMER_MODE_ABS);
	return BLK_STS_OK;
}

static enum hrtimer_restart command_done(struct hrtimer *timer)
{
	struct ssdsim_command *command = container_of(timer, struct ssdsim_command, timer);

	blk_mq_complete_request(blk_mq_rq_from_pdu(command));
	return HRTIMER_NORESTART;
}

static void complete_request(struct request *request)
{
	blk_mq_end_request(request, BLK_STS_OK);
}

static int init_request(struct blk_mq_tag_set *set, struct request *request,
			unsigned int hw_queue, unsigned int numa_node)
{
	struct ssdsim_command *command = blk_mq_rq_to_pdu(request);

	ssdsim_timer_init(&command->timer, command_done);
	return 0;
}

static const struct blk_mq_ops queue_operations = {
	.queue_rq = queue_request,
	.complete = complete_request,
	.init_request = init_request,
};

static void free_device(struct ssdsim_device *device)
{
	if (device->store)
		ssd_store_destroy(device->store);
	if (device->drive)
		ssd_drive_destroy(device->drive);
	kfree(device);
}

static void free_disk(struct gendisk *disk)
{
	free_device(disk->private_data);
}

static const struct block_device_operations disk_operations = {
	.owner = THIS_MODULE,
	.free_disk = free_disk,
};

static int create_queue(struct ssdsim_device *device, const struct ssd_profile *profile)
{
	struct ssdsim_limits limits = {
		.max_request = profile->max_request_kb * 1024,
		.write_cache = profile->write_cache,
		.fua = profile->fua,
	};
	struct gendisk *disk;
	int r;

	if (profile->discard)
		limits.discard_granularity = device->drive->geometry.page_sectors * 512;
	device->tag_set = (struct blk_mq_tag_set) {
		.ops = &queue_operations,
		.nr_hw_queues = 1,
		.queue_depth = profile->queue_depth,
		.numa_node = NUMA_NO_NODE,
		.cmd_size = sizeof(struct ssdsim_command),
		.flags = BLK_MQ_F_SHOULD_MERGE,
	};
	r = blk_mq_alloc_tag_set(&device->tag_set);
	if (r)
		return r;
	disk = ssdsim_alloc_disk(&device->tag_set, &limits, device);
	if (IS_ERR(disk)) {
		blk_mq_free_tag_set(&device->tag_set);
		return PTR_ERR(disk);
	}
	disk->fops = &disk_operations;
	disk->private_data = device;
	strscpy(disk->disk_name, profile->name, DISK_NAME_LEN);
	set_capacity(disk, device->drive->geometry.sectors);
	device->disk = disk;
	return 0;
}

static int create_drive(struct ssdsim_device *device, const struct ssd_profile *profile,
			char *error, size_t size)
{
	int r = ssd_drive_create(&device->drive, profile, &drive_events, device, error, size);

	if (r)
		return r;
	device->store = ssd_store_create(device->drive->geometry.sectors,
					 profile->track_volatile);
	if (!device->store) {
		scnprintf(error, size, "no memory for the contents of a drive of %u MiB",
			  profile->capacity_mb);
		return -ENOMEM;
	}
	return 0;
}

struct ssdsim_device *ssdsim_device_create(const struct ssd_profile *profile,
					   char *error, size_t size)
{
	struct ssdsim_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	int r;

	if (!device) {
		scnprintf(error, size, "no memory for a device");
		return ERR_PTR(-ENOMEM);
	}
	spin_lock_init(&device->lock);
	r = create_drive(device, profile, error, size);
	if (r)
		goto out_with_device;
	r = create_queue(device, profile);
	if (r) {
		scnprintf(error, size, "the kernel cannot make a disk for '%s' (error %d)",
			  profile->name, r);
		goto out_with_device;
	}
	r = device_add_disk(NULL, device->disk, ssdsim_disk_groups);
	if (r) {
		scnprintf(error, size,
			  "the kernel cannot add disk '%s' (error %d); is the name in use?",
			  profile->name, r);
		goto out_with_disk;
	}
	return device;

out_with_disk:
	/* The kernel calls free_disk only for disks that were added. */
	put_disk(device->disk);
	blk_mq_free_tag_set(&device->tag_set);
out_with_device:
	free_device(device);
	return ERR_PTR(r);
}

void ssdsim_device_remove(struct ssdsim_device *device)
{
	del_gendisk(device->disk);
	blk_mq_free_tag_set(&device->tag_set);
	put_disk(device->disk);
}

static int __init ssdsim_init(void)
{
	return ssdsim_control_init();
}

static void __exit ssdsim_exit(void)
{
	ssdsim_control_exit();
}

module_init(ssdsim_init);
module_exit(ssdsim_exit);
MODULE_DESCRIPTION("Emulated SSD with the mechanics of real flash drives");
MODULE_LICENSE("GPL");
