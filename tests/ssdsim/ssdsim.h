/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the parts of the module: block devices and their control files. */
#ifndef SSDSIM_H
#define SSDSIM_H

#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "ssd-host.h"

/**
 * struct ssdsim_device - one block device.
 * @list: in the list of devices; under the mutex of ssdsim-control.c
 * @disk: lives until its last user closes it, and this struct with it
 * @control: one power command at a time; taken before @lock
 * @lock: protects @host and @cursor, but see ssd_power_settle()
 * @host: the emulated drive
 * @cut_timer: cuts the power at a time asked for
 * @cursor: position in the data of the request being served
 */
struct ssdsim_device {
	struct list_head list;
	struct gendisk *disk;
	struct blk_mq_tag_set tag_set;
	struct mutex control;	/* power commands */
	spinlock_t lock;	/* host and cursor; interrupts off */
	struct ssd_host host;
	struct hrtimer cut_timer;
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

/**
 * ssdsim_power_control - a command for the power switch, see ssd_power_control().
 * @error: on failure one sentence
 *
 * Context: @control is held. Return: 0 or an error.
 */
int ssdsim_power_control(struct ssdsim_device *device, const char *text, char *error, size_t size);

/** ssdsim_power_on - nothing if it is on. Context: @control is held. */
void ssdsim_power_on(struct ssdsim_device *device);

int ssdsim_control_init(void);
void ssdsim_control_exit(void);

#endif /* SSDSIM_H */
