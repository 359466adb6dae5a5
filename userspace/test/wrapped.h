/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests that are linked with --wrap: what the sources call, which the test defines, and the
 * real functions.
 */
#ifndef WRAPPED_H
#define WRAPPED_H

#include "dm/blkdev.h"

int __wrap_blkdev_open(struct blkdev *dev, const char *path, enum blkdev_mode mode,
		       struct failure *failure);
int __wrap_blkdev_read(const struct blkdev *dev, u64 offset, void *buffer, size_t bytes,
		       struct failure *failure);
int __real_blkdev_read(const struct blkdev *dev, u64 offset, void *buffer, size_t bytes,
		       struct failure *failure);
int __wrap_blkdev_write(const struct blkdev *dev, u64 offset, const void *buffer, size_t bytes,
			struct failure *failure);
int __real_blkdev_write(const struct blkdev *dev, u64 offset, const void *buffer, size_t bytes,
			struct failure *failure);
int __wrap_blkdev_flush(const struct blkdev *dev, struct failure *failure);
int __real_blkdev_flush(const struct blkdev *dev, struct failure *failure);
void *__wrap_blkdev_buffer(size_t bytes);
void *__real_blkdev_buffer(size_t bytes);

#endif
