// SPDX-License-Identifier: GPL-2.0-only
/* Whether a log was used in between; see use.h. */
#include <linux/crc32c.h>
#include <linux/kernel.h>
#include "log/use.h"
#include "ressd-summary.h"

static void count_record(struct log_use *use, u32 block, u64 newest, __le32 crc)
{
	const __le32 both[2] = { cpu_to_le32(block), crc };

	use->newest = max(use->newest, newest);
	use->crc = crc32c(use->crc, both, sizeof(both));
}

static void count_block(struct log_use *use, const struct log_image *image, const void *data,
			u32 block)
{
	const struct ressd_geom *geom = &image->geom;
	const struct ressd_record_header *header = data;
	const struct ressd_summary *summary = data;

	if (ressd_record_valid(header, image->info.uuid, geom, block))
		count_record(use, block, le64_to_cpu(header->seq), header->crc);
	else if (block == ressd_geom_slot_end(geom, ressd_geom_slot(geom, block)) &&
		 ressd_summary_header_valid(summary, image->info.uuid, geom, block))
		count_record(use, block, le64_to_cpu(summary->last_seq), summary->crc);
}

static void count_slot(struct log_use *use, struct log_image *image, u32 slot, const u8 *spared)
{
	const u32 end = ressd_geom_slot_end(&image->geom, slot);
	u32 block = ressd_geom_slot_start(&image->geom, slot);

	/* The first block of the summary stands at @end. */
	for (; block <= end; block++) {
		const void *data = spared[block] ? NULL : log_image_block(image, block);

		if (data)
			count_block(use, image, data, block);
	}
}

int log_use_read(struct log_use *use, const struct blkdev *dev, const struct ressd_super_info *info,
		 const u8 *spared, struct failure *failure)
{
	struct log_device device = { .dev = dev, .start = info->table.reserved_start };
	struct log_source source = log_source_device(&device);
	struct log_image image;
	int code = log_image_open(&image, info, &source, failure);
	u32 slot;

	*use = (struct log_use) { .crc = ~0U };
	for (slot = 0; !code && slot < image.geom.nr_segments; slot++)
		count_slot(use, &image, slot, spared);
	log_image_close(&image);
	return code;
}
