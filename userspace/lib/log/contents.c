// SPDX-License-Identifier: GPL-2.0-only
/* What a log still holds; see contents.h. */
#include <errno.h>
#include "dm/fs-end.h"
#include "log/contents.h"
#include "log/image.h"

static int recover(const struct blkdev *dev, const struct ressd_super_info *info, u64 *blocks,
		   bool *covered, struct failure *failure)
{
	struct log_device device = { .dev = dev, .start = info->table.reserved_start };
	struct log_source source = log_source_device(&device);
	struct log_image image;
	int code = log_image_open(&image, info, &source, failure);

	if (!code) {
		code = log_image_recover(&image);
		*blocks = image.log.map.nr_dirty;
		*covered = image.log.covered;
		if (code)
			fail(failure, code, "%s",
			     image.error[0] ? image.error : image.failure.text);
	}
	log_image_close(&image);
	return code;
}

int log_contents(const struct blkdev *dev, const struct ressd_super_info *info, u64 *blocks,
		 struct failure *failure)
{
	bool covered;

	return recover(dev, info, blocks, &covered, failure);
}

int log_is_covered(const struct blkdev *dev, const struct ressd_super_info *info, bool *covered,
		   struct failure *failure)
{
	u64 blocks;

	return recover(dev, info, &blocks, covered, failure);
}

int log_check_end(const struct blkdev *dev, const struct ressd_super_info *info,
		  struct failure *failure)
{
	struct failure unknown;
	bool covered;
	u64 blocks;
	int code = fs_check_end(dev, info->table.reserved_start * 512, failure);

	if (code == -EEXIST && !recover(dev, info, &blocks, &covered, &unknown) && blocks &&
	    !covered)
		return 0;
	return code;
}
