// SPDX-License-Identifier: GPL-2.0-only
/* A block device or file as a disk to measure; see disk.h. */
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <stddef.h>
#include <time.h>
#include "dm/blkdev.h"
#include "measure/disk.h"

static const struct blkdev *device_of(struct disk *disk)
{
	return ((struct disk_device *)((char *)disk - offsetof(struct disk_device, disk)))->dev;
}

static u64 device_now(struct disk *disk)
{
	struct timespec now;

	(void)disk;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int device_read(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		       struct failure *failure)
{
	const u64 start = device_now(disk);
	const int code = blkdev_read(device_of(disk), offset, data, bytes, failure);

	*ns = device_now(disk) - start;
	return code;
}

static int device_write(struct disk *disk, u64 offset, const void *data, u32 bytes, u64 *ns,
			struct failure *failure)
{
	const u64 start = device_now(disk);
	const int code = blkdev_write(device_of(disk), offset, data, bytes, failure);

	*ns = device_now(disk) - start;
	return code;
}

static int device_flush(struct disk *disk, u64 *ns, struct failure *failure)
{
	const u64 start = device_now(disk);
	const int code = blkdev_flush(device_of(disk), failure);

	*ns = device_now(disk) - start;
	return code;
}

static void device_pause(struct disk *disk, u64 ns)
{
	const struct timespec length = { ns / 1000000000, ns % 1000000000 };

	(void)disk;
	nanosleep(&length, NULL);
}

static const struct disk_ops device_ops = {
	.read = device_read,
	.write = device_write,
	.flush = device_flush,
	.pause = device_pause,
	.now = device_now,
};

/* A file's needs are those of the disk below it, so 4096 is the only safe answer. */
static u32 granule_of(const struct blkdev *dev)
{
	int bytes = BLKDEV_ALIGN;

	if (dev->is_file || ioctl(dev->fd, BLKSSZGET, &bytes))
		return BLKDEV_ALIGN;
	return bytes >= 512 && bytes <= (int)BLKDEV_ALIGN ? bytes : (int)BLKDEV_ALIGN;
}

void disk_device_init(struct disk_device *device, const struct blkdev *dev)
{
	*device = (struct disk_device){
		.disk = {
			.ops = &device_ops,
			.path = dev->path,
			.bytes = dev->bytes,
			.granule = granule_of(dev),
		},
		.dev = dev,
	};
}
