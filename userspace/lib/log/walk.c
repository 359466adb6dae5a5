// SPDX-License-Identifier: GPL-2.0-only
/* The records of a segment slot; see walk.h. */
#include <string.h>
#include "log/walk.h"

int log_walk_slot(struct log_image *image, u32 slot, bool loose_too, u32 *unreadable,
		  int (*visit)(void *context, const struct log_spot *spot), void *context)
{
	struct log_spot spot = { .slot = slot, .block = ressd_geom_slot_start(&image->geom, slot) };
	u32 end = ressd_geom_slot_end(&image->geom, slot);
	int code;

	if (unreadable)
		*unreadable = RESSD_NO_BLOCK;
	while (spot.block < end && (!spot.loose || loose_too)) {
		const void *block = log_image_block(image, spot.block);

		if (!block && unreadable && *unreadable == RESSD_NO_BLOCK)
			*unreadable = spot.block;
		if (!block || !ressd_record_valid(block, image->info.uuid, &image->geom,
						  spot.block)) {
			spot.loose = true;
			spot.block++;
			continue;
		}
		memcpy(&spot.header, block, sizeof(spot.header));
		code = visit(context, &spot);
		if (code)
			return code;
		spot.block += spot.loose ? 1 : le32_to_cpu(spot.header.nr_blocks);
	}
	return 0;
}
