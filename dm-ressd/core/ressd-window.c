// SPDX-License-Identifier: GPL-2.0-only
/* Reading for recovery; see ressd-window.h. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "ressd-window.h"

#define READ_AHEAD_BLOCKS	32U	/* while records are short */
#define LONG_RECORD_BLOCKS	16U	/* reading ahead is mostly data then */

/* To the @nr blocks from @block on, at most geom->record_blocks. */
static int move_to(struct ressd_window *window, u32 block, u32 nr)
{
	const struct ressd_reader *reader = window->reader;
	int ret;

	window->nr = 0;
	ret = reader->read(reader->context, block, nr, reader->buffer);
	if (ret)
		return ret;
	window->start = block;
	window->nr = nr;
	return 0;
}

static const void *in_window(const struct ressd_window *window, u32 block)
{
	if (block - window->start >= window->nr)
		return NULL;
	return (const u8 *)window->reader->buffer +
	       (size_t)(block - window->start) * RESSD_BLOCK_SIZE;
}

const void *ressd_window_block(struct ressd_window *window, u32 block, int *ret)
{
	const struct ressd_geom *geom = window->geom;
	u32 end = ressd_geom_slot_end(geom, ressd_geom_slot(geom, block));

	*ret = 0;
	if (!in_window(window, block)) {
		u32 nr = min_t(u32, window->ahead, geom->record_blocks);

		*ret = move_to(window, block, min_t(u32, nr, end - block));
	}
	return in_window(window, block);
}

int ressd_window_header(struct ressd_window *window, u32 block,
			const struct ressd_record_header **header)
{
	int ret;

	*header = ressd_window_block(window, block, &ret);
	if (!*header)
		return ret;
	if (!ressd_record_valid(*header, window->uuid, window->geom, block))
		return 0;
	window->ahead = le32_to_cpu((*header)->nr_blocks) < LONG_RECORD_BLOCKS ?
			READ_AHEAD_BLOCKS : 1;
	return 1;
}

bool ressd_window_summary(struct ressd_window *window, u32 slot,
			  const struct ressd_summary **summary)
{
	const struct ressd_geom *geom = window->geom;
	u32 block = ressd_geom_slot_end(geom, slot);
	u32 whole = geom->summary_blocks + 2;
	int ret;

	if (whole <= geom->record_blocks)
		ret = move_to(window, block - 1, whole);
	else
		ret = move_to(window, block, 1);
	*summary = in_window(window, block);
	return !ret &&
	       ressd_summary_header_valid(*summary, window->uuid, geom, block);
}

bool ressd_window_copy_summary(struct ressd_window *window, u32 slot,
			       struct ressd_summary *copy)
{
	const struct ressd_reader *reader = window->reader;
	const struct ressd_geom *geom = window->geom;
	u32 block = ressd_geom_slot_end(geom, slot);

	if (in_window(window, block + geom->summary_blocks - 1)) {
		memcpy(copy, in_window(window, block),
		       ressd_summary_bytes(geom));
	} else if (reader->read(reader->context, block, geom->summary_blocks,
				copy)) {
		return false;
	}
	return ressd_summary_valid(copy, window->uuid, geom, block);
}
