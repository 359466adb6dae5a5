/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels, in one place; Kbuild looks for what the preprocessor cannot see. */
#ifndef SSDSIM_COMPAT_H
#define SSDSIM_COMPAT_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>

/* Requests are merged unless a driver refuses; it had to ask for that. */
#ifdef SSDSIM_HAS_BLK_MQ_F_SHOULD_MERGE
#define SSDSIM_TAG_SET_FLAGS BLK_MQ_F_SHOULD_MERGE
#else
#define SSDSIM_TAG_SET_FLAGS 0
#endif

/**
 * struct ssdsim_limits - of the block device; sizes in bytes.
 */
struct ssdsim_limits {
	u32 max_request;
	u32 discard_granularity;	/* 0: no discard */
	bool write_cache;
	bool fua;
};

/* Limits are given when a queue is made; they were set one by one. */
#ifdef BLK_FEAT_WRITE_CACHE

static inline struct gendisk *ssdsim_alloc_disk(struct blk_mq_tag_set *set,
						const struct ssdsim_limits *limits, void *data)
{
	struct queue_limits queue_limits = {
		.logical_block_size = 512,
		.physical_block_size = 512,
		.max_hw_sectors = limits->max_request >> SECTOR_SHIFT,
		.max_segments = USHRT_MAX,
		.discard_granularity = limits->discard_granularity,
		.max_hw_discard_sectors = limits->discard_granularity ? UINT_MAX >> 9 : 0,
	};

	if (limits->write_cache)
		queue_limits.features |= BLK_FEAT_WRITE_CACHE;
	if (limits->write_cache && limits->fua)
		queue_limits.features |= BLK_FEAT_FUA;
	return blk_mq_alloc_disk(set, &queue_limits, data);
}

#else

static inline struct gendisk *ssdsim_alloc_disk(struct blk_mq_tag_set *set,
						const struct ssdsim_limits *limits, void *data)
{
	struct gendisk *disk = blk_mq_alloc_disk(set, data);
	struct request_queue *queue;

	if (IS_ERR(disk))
		return disk;
	queue = disk->queue;
	blk_queue_logical_block_size(queue, 512);
	blk_queue_physical_block_size(queue, 512);
	blk_queue_max_hw_sectors(queue, limits->max_request >> SECTOR_SHIFT);
	blk_queue_max_segments(queue, USHRT_MAX);
	blk_queue_write_cache(queue, limits->write_cache, limits->fua);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, queue);
	if (limits->discard_granularity) {
		queue->limits.discard_granularity = limits->discard_granularity;
		blk_queue_max_discard_sectors(queue, UINT_MAX >> 9);
	}
	return disk;
}

#endif

#ifdef SSDSIM_HAS_hrtimer_setup
#define ssdsim_timer_init(timer, function) \
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS)
#else
static inline void ssdsim_timer_init(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *timer))
{
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = function;
}
#endif

#endif /* SSDSIM_COMPAT_H */
