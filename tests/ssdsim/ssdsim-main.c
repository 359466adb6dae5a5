// SPDX-License-Identifier: GPL-2.0-only
/*
 * The emulated SSD as a block device.
 *
 * A request is served when it is queued: its data are copied and the drive
 * computes the time at which a real one would complete it. A timer completes it
 * then, with an error if the power was cut meanwhile.
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

/*
 * The part of a request that belongs to this driver. @cut_number: cuts of the power
 * before it was served.
 */
struct ssdsim_command {
	struct hrtimer timer;
	u64 cut_number;
	bool failed;
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
static void cursor_copy(void *context, u64 sector, u32 sectors, bool write)
{
	struct ssdsim_device *device = context;

	while (sectors) {
		struct bio_vec segment = bio_iter_iovec(device->cursor.bio, device->cursor.iter);
		u32 count = min(sectors, segment.bv_len >> SECTOR_SHIFT);
		void *data = bvec_kmap_local(&segment);

		if (write)
			ssd_store_write(device->host.store, sector, count, data);
		else
			ssd_store_read(device->host.store, sector, count, data);
		kunmap_local(data);
		if (!write)
			flush_dcache_page(segment.bv_page);
		cursor_advance(device, count << SECTOR_SHIFT);
		sector += count;
		sectors -= count;
	}
}

/* Returns false if the drive does not know such requests. */
static bool to_command(const struct request *request, struct ssd_command *command)
{
	*command = (struct ssd_command) {
		.sector = blk_rq_pos(request),
		.sectors = blk_rq_sectors(request),
		.fua = request->cmd_flags & REQ_FUA,
	};
	switch (req_op(request)) {
	case REQ_OP_READ:
		command->operation = SSD_READ;
		return true;
	case REQ_OP_WRITE:
		command->operation = SSD_WRITE;
		return true;
	case REQ_OP_DISCARD:
		command->operation = SSD_DISCARD;
		return true;
	case REQ_OP_FLUSH:
		command->operation = SSD_FLUSH;
		command->sector = 0;
		command->sectors = 0;
		return true;
	default:
		return false;
	}
}

/*
 * The lock makes the order certain: a command that completes well did so before the
 * time of any cut.
 */
static enum hrtimer_restart command_done(struct hrtimer *timer)
{
	struct ssdsim_command *own = container_of(timer, struct ssdsim_command, timer);
	struct request *request = blk_mq_rq_from_pdu(own);
	struct ssdsim_device *device = request->q->queuedata;
	unsigned long flags;

	spin_lock_irqsave(&device->lock, flags);
	own->failed |= own->cut_number != device->host.power.cut_number;
	spin_unlock_irqrestore(&device->lock, flags);
	blk_mq_complete_request(request);
	return HRTIMER_NORESTART;
}

static blk_status_t queue_request(struct blk_mq_hw_ctx *hw_queue,
				  const struct blk_mq_queue_data *queue_data)
{
	struct ssdsim_device *device = hw_queue->queue->queuedata;
	struct request *request = queue_data->rq;
	struct ssdsim_command *own = blk_mq_rq_to_pdu(request);
	struct ssd_command command;
	struct ssd_answer answer;
	unsigned long flags;
	u64 now;

	if (!to_command(request, &command))
		return BLK_STS_NOTSUPP;

	spin_lock_irqsave(&device->lock, flags);
	/* Before memory is found for what is written: that is no time of the host's. */
	now = ktime_get_ns();
	/*
	 * No memory now: the block layer tries the request again soon. While the power
	 * is off somebody else may be deciding what survived in the store.
	 */
	if (device->host.power.on && ssd_host_reserve(&device->host, &command)) {
		spin_unlock_irqrestore(&device->lock, flags);
		return BLK_STS_RESOURCE;
	}
	blk_mq_start_request(request);
	if (command.sectors)
		cursor_set(device, request);
	own->cut_number = device->host.power.cut_number;
	answer = ssd_host_serve(&device->host, &command, now);
	own->failed = answer.failed;
	spin_unlock_irqrestore(&device->lock, flags);

	ssdsim_timer_init(&own->timer, command_done);
	hrtimer_start(&own->timer, ns_to_ktime(answer.end), HRTIMER_MODE_ABS);
	return BLK_STS_OK;
}

static void complete_request(struct request *request)
{
	struct ssdsim_command *own = blk_mq_rq_to_pdu(request);

	blk_mq_end_request(request, own->failed ? BLK_STS_IOERR : BLK_STS_OK);
}

static enum hrtimer_restart cut_due(struct hrtimer *timer)
{
	struct ssdsim_device *device = container_of(timer, struct ssdsim_device, cut_timer);
	unsigned long flags;

	spin_lock_irqsave(&device->lock, flags);
	ssd_host_tick(&device->host, ktime_get_ns());
	spin_unlock_irqrestore(&device->lock, flags);
	return HRTIMER_NORESTART;
}

int ssdsim_power_control(struct ssdsim_device *device, const char *text, char *error, size_t size)
{
	unsigned long flags;
	u64 deadline;
	int r;

	spin_lock_irqsave(&device->lock, flags);
	r = ssd_host_power_control(&device->host, text, ktime_get_ns(), error, size);
	deadline = device->host.power.deadline;
	spin_unlock_irqrestore(&device->lock, flags);
	if (!r && deadline != SSD_POWER_NEVER)
		hrtimer_start(&device->cut_timer, ns_to_ktime(deadline), HRTIMER_MODE_ABS);
	return r;
}

void ssdsim_power_on(struct ssdsim_device *device)
{
	unsigned long flags;
	bool on;

	spin_lock_irqsave(&device->lock, flags);
	on = device->host.power.on;
	spin_unlock_irqrestore(&device->lock, flags);
	if (on)
		return;
	/* Long work on the store, which nobody else touches while the power is off. */
	ssd_power_settle(&device->host.power);
	/* The kernel's own copies of the old contents. */
	invalidate_bdev(device->disk->part0);
	spin_lock_irqsave(&device->lock, flags);
	ssd_host_power_on(&device->host, ktime_get_ns());
	spin_unlock_irqrestore(&device->lock, flags);
}

static const struct blk_mq_ops queue_operations = {
	.queue_rq = queue_request,
	.complete = complete_request,
};

static void free_device(struct ssdsim_device *device)
{
	ssd_host_destroy(&device->host);
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
		.write_cache = profile->write_cache && !profile->report_write_through,
		.fua = profile->fua,
	};
	struct gendisk *disk;
	int r;

	if (profile->discard)
		limits.discard_granularity = device->host.drive->geometry.page_sectors * 512;
	device->tag_set = (struct blk_mq_tag_set) {
		.ops = &queue_operations,
		.nr_hw_queues = 1,
		.queue_depth = profile->queue_depth,
		.numa_node = NUMA_NO_NODE,
		.cmd_size = sizeof(struct ssdsim_command),
		.flags = SSDSIM_TAG_SET_FLAGS,
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
	set_capacity(disk, device->host.drive->geometry.sectors);
	device->disk = disk;
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
	mutex_init(&device->control);
	ssdsim_timer_init(&device->cut_timer, cut_due);
	r = ssd_host_create(&device->host, profile, cursor_copy, device, error, size);
	if (r) {
		kfree(device);
		return ERR_PTR(r);
	}
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
	hrtimer_cancel(&device->cut_timer);
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
