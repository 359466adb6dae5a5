// SPDX-License-Identifier: GPL-2.0-only
/* What a log still holds; see contents.h. */
#include <errno.h>
#include "log/contents.h"
#include "log/image.h"

int log_contents(const struct blkdev *dev, const struct ressd_super_info *info, u64 *blocks,
		 struct failure *failure)
{
	struct log_device device = { .dev = dev, .start = info->table.reserved_start };
	struct log_source source = log_source_device(&device);
	struct log_image image;
	int code = log_image_open(&image, info, &source, failure);

	if (!code) {
		code = log_image_recover(&image);
		*blocks = image.log.map.nr_dirty;
		if (code)
			fail(failure, code, "%s",
			     image.error[0] ? image.error : image.failure.text);
	}
	log_image_close(&image);
	return code;
}
