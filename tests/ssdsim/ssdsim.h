/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the parts of the module: block devices and their control files. */
#ifndef SSDSIM_H
#define SSDSIM_H

#include <linux/blk-mq.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "ssd-drive.h"
#include "ssd-store.h"

/**
 * struct ssdsim_device - one block device.
 * @list: in the list of devices; under the mutex of ssdsim-control.c
 * @disk: lives until its last user closes it, and this struct with it
 * @lock: protects @drive, @store and @cursor
 * @drive: timing
 * @store: contents
 * @cursor: position in the data of the request being served
 */
struct ssdsim_device {
	struct list_head list;
	struct gendisk *disk;
	struct blk_mq_tag_set tag_set;
	spinlock_t lock;	/* drive, store and cursor; interrupts off */
	struct ssd_drive *drive;
	struct ssd_store *store;
	struct {
		struct bio *bio;
		struct bvec_iter iter;
	} cursor;
};

/* Attributes below /sys/block/<name>/ssdsim/. */
extern const struct attribute_group *ssdsim_disk_groups[];

/**
 * ssdsim_device_create - make a block device and add it to the system.
 * @error: on failure one sentence
 *
 * Return: the device or an error pointer.
 */
struct ssdsim_device *ssdsim_device_create(const struct ssd_profile *profile,
					   char *error, size_t size);

/** ssdsim_device_remove - take it from the system; the contents are lost. */
void ssdsim_device_remove(struct ssdsim_device *device);

int ssdsim_control_init(void);
void ssdsim_control_exit(void);

#endif /* SSDSIM_H */
