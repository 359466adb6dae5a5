// SPDX-License-Identifier: GPL-2.0-only
/* A log at rest; see image.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "log/image.h"
#include "ressd-summary.h"

#define WINDOW_BLOCKS	256U	/* 1 MiB a read: what a slow device likes */
#define JUMP_BLOCKS	8U	/* after a jump less is wanted: mostly headers */

static int read_device(void *context, u32 block, u32 nr, void *buffer, struct failure *failure)
{
	const struct log_device *device = context;

	return blkdev_read(device->dev, device->start * 512 + (u64)block * RESSD_BLOCK_SIZE,
			   buffer, (size_t)nr * RESSD_BLOCK_SIZE, failure);
}

struct log_source log_source_device(struct log_device *device)
{
	return (struct log_source) { .read = read_device, .context = device };
}

static bool allocate(struct log_image *image)
{
	const struct ressd_geom *geom = &image->geom;
	size_t i;

	image->nodes = calloc(geom->nr_blocks, sizeof(*image->nodes));
	image->clean = calloc(1, ressd_map_clean_bytes(geom->nr_blocks));
	image->segments = calloc(geom->nr_segments, sizeof(*image->segments));
	image->bad = calloc(geom->nr_blocks, 1);
	image->summary = blkdev_buffer(ressd_summary_bytes(geom));
	for (i = 0; i < ARRAY_SIZE(image->buffers); i++) {
		image->buffers[i] = blkdev_buffer((size_t)geom->record_blocks * RESSD_BLOCK_SIZE);
		if (!image->buffers[i])
			return false;
	}
	return image->nodes && image->clean && image->segments && image->bad && image->summary;
}

int log_image_open(struct log_image *image, const struct ressd_super_info *info,
		   const struct log_source *source, struct failure *failure)
{
	memset(image, 0, sizeof(*image));
	image->source = *source;
	image->info = *info;
	if (ressd_geom_init(&image->geom, info->table.reserved_sectors, info->segment_sectors,
			    failure->text, sizeof(failure->text)))
		return -EINVAL;
	if (!allocate(image))
		return fail(failure, -ENOMEM,
			    "not enough memory to look through the log: %u blocks need %llu MiB",
			    image->geom.nr_blocks,
			    ressd_map_nodes_bytes(image->geom.nr_blocks) >> 20);
	return 0;
}

void log_image_close(struct log_image *image)
{
	size_t i;

	free(image->nodes);
	free(image->clean);
	free(image->segments);
	free(image->summary);
	free(image->window);
	free(image->bad);
	for (i = 0; i < ARRAY_SIZE(image->buffers); i++)
		free(image->buffers[i]);
}

static int read_blocks(void *context, u32 block, u32 nr, void *buffer)
{
	struct log_image *image = context;

	return image->source.read(image->source.context, block, nr, buffer, &image->failure);
}

static bool never_busy(void *context, u32 slot)
{
	(void)context;
	(void)slot;
	return false;
}

int log_image_recover(struct log_image *image)
{
	struct ressd_log_setup setup = {
		.geom = image->geom,
		.uuid = image->info.uuid,
		.activation = 1,	/* nothing is going to be written */
		.normal_blocks = image->info.table.len / RESSD_BLOCK_SECTORS,
		.cover_blocks = image->info.cover_blocks,
		.nodes = image->nodes,
		.clean = image->clean,
		.segments = image->segments,
		.summary = image->summary,
		.buffers = image->buffers,
		.segment_busy = never_busy,
	};
	struct ressd_reader reader = {
		.read = read_blocks,
		.context = image,
		.buffer = image->buffers[RESSD_RECORDS],
	};

	ressd_log_init(&image->log, &setup);
	return ressd_recover(&image->log, &reader, &image->recovery, image->error,
			     sizeof(image->error));
}

static bool read_window(struct log_image *image, u32 block, u32 nr)
{
	image->window_nr = 0;
	if (!image->window)
		image->window = blkdev_buffer(WINDOW_BLOCKS * RESSD_BLOCK_SIZE);
	if (!image->window) {
		fail(&image->failure, -ENOMEM, "there is not enough memory to read the log");
		return false;
	}
	if (read_blocks(image, block, nr, image->window))
		return false;
	image->window_start = block;
	image->window_nr = nr;
	image->window_next = block + nr;
	return true;
}

/* A block that is bad is not tried again: drives take seconds for that. */
static void note_unreadable(struct log_image *image, u32 block)
{
	if (!image->nr_unreadable || block < image->first_unreadable) {
		image->first_unreadable = block;
		image->unreadable = image->failure;
	}
	image->nr_unreadable++;
	image->bad[block] = 1;
}

const void *log_image_block(struct log_image *image, u32 block)
{
	u32 nr = block == image->window_next ? WINDOW_BLOCKS : JUMP_BLOCKS;

	if (image->bad[block])
		return NULL;
	if (block - image->window_start < image->window_nr)
		goto found;
	nr = min_t(u32, block < image->single_until ? 1 : nr, image->geom.nr_blocks - block);
	if (read_window(image, block, nr))
		goto found;
	/* A bad sector must not hide its neighbours. */
	if (nr > 1)
		image->single_until = block + nr;
	if (nr == 1 || !read_window(image, block, 1)) {
		note_unreadable(image, block);
		return NULL;
	}
found:
	return image->window + (size_t)(block - image->window_start) * RESSD_BLOCK_SIZE;
}

void log_image_read_all(struct log_image *image,
			void (*progress)(void *context, u64 done, u64 total), void *context)
{
	u32 block;

	for (block = 0; block < image->geom.nr_blocks; block++) {
		log_image_block(image, block);
		if (progress)
			progress(context, block, image->geom.nr_blocks);
	}
}

static int read_or_damage(void *context, u32 block, u32 nr, void *buffer)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		const void *data = log_image_block(context, block + i);
		u8 *to = (u8 *)buffer + (size_t)i * RESSD_BLOCK_SIZE;

		if (data)
			memcpy(to, data, RESSD_BLOCK_SIZE);
		else
			memset(to, 0xff, RESSD_BLOCK_SIZE);
	}
	return 0;
}

struct ressd_reader log_image_reader(struct log_image *image)
{
	return (struct ressd_reader) {
		.read = read_or_damage, .context = image, .buffer = image->buffers[RESSD_RECORDS],
	};
}
