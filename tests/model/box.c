// SPDX-License-Identifier: GPL-2.0-only
/* One instance of the log; see box.h. */
#include <stdlib.h>
#include <string.h>
#include <linux/errno.h>
#include "box.h"
#include "ressd-summary.h"

const u8 box_uuid[RESSD_UUID_SIZE] = "crash simulator";

static void *allocate(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		abort();
	return p;
}

void box_init(struct box *box, const struct layout *layout,
	      bool (*segment_busy)(void *context, u32 slot), void *context)
{
	size_t record_bytes = (size_t)layout->geom.record_blocks * RESSD_BLOCK_SIZE;
	u32 i;

	memset(box, 0, sizeof(*box));
	box->layout = *layout;
	box->nodes = allocate(ressd_map_nodes_bytes(layout->geom.nr_blocks));
	box->clean = allocate(ressd_map_clean_bytes(layout->geom.nr_blocks));
	box->regions = allocate(ressd_regions_bytes(layout->normal_blocks,
						    layout->geom.nr_blocks));
	box->segments = allocate(layout->geom.nr_segments * sizeof(box->segments[0]));
	for (i = 0; i < RESSD_RECORDS; i++)
		box->buffers[i] = allocate(record_bytes);
	box->summary = allocate(ressd_summary_bytes(&layout->geom));
	box->page = allocate(MAX_PAGE_BLOCKS * RESSD_BLOCK_SIZE);
	box->segment_busy = segment_busy;
	box->context = context;
}

void box_free(struct box *box)
{
	u32 i;

	free(box->nodes);
	free(box->clean);
	free(box->regions);
	free(box->segments);
	for (i = 0; i < RESSD_RECORDS; i++)
		free(box->buffers[i]);
	free(box->summary);
	free(box->page);
}

void box_tune(struct box *box, const struct layout *layout)
{
	box->layout = *layout;
	box->log.align_blocks = layout->align_blocks;
	box->log.page_blocks = layout->page_blocks;
	box->log.unit_blocks = layout->unit_blocks;
	box->log.unit_phase = layout->unit_phase;
	box->log.page_buffer = layout->rewrite ? box->page : NULL;
}

struct reading {
	struct ressd_reader reader;
	const struct box *box;
	struct replica *replica;
	u32 bad_read;			/* reads until one fails; 0: never */
};

/* What goes to the reader's buffer is not copied: the buffer is moved to where the blocks are. */
static int read_blocks(void *context, u32 block, u32 nr, void *buffer)
{
	struct reading *reading = context;
	struct replica *replica = reading->replica;
	size_t first = layout_log_sector(&reading->box->layout, block);
	void *bytes;

	if (first + nr * BLOCK_SECTORS > replica->nr)
		abort();		/* beyond the device */
	if (reading->bad_read && !--reading->bad_read)
		return -EIO;
	bytes = replica_read(replica, first, nr * BLOCK_SECTORS);
	if (buffer == reading->reader.buffer)
		reading->reader.buffer = bytes;
	else
		memcpy(buffer, bytes, nr * RESSD_BLOCK_SIZE);
	return 0;
}

int box_recover(struct box *box, struct replica *replica, u64 activation, u32 bad_read)
{
	struct reading reading = {
		.reader = { .read = read_blocks, .context = &reading, .buffer = box->buffers[1] },
		.box = box, .replica = replica, .bad_read = bad_read,
	};
	struct ressd_recovery recovery;

	ressd_log_init(&box->log, &(struct ressd_log_setup) {
		.geom = box->layout.geom,
		.uuid = box_uuid,
		.activation = activation,
		.normal_blocks = box->layout.normal_blocks,
		.cover_blocks = box->layout.cover_blocks,
		.nodes = box->nodes,
		.clean = box->clean,
		.regions = box->regions,
		.segments = box->segments,
		.buffers = box->buffers,
		.summary = box->summary,
		.segment_busy = box->segment_busy,
		.context = box->context,
	});
	box_tune(box, &box->layout);
	box->log.step_nodes = box->layout.step_nodes;
	box->log.record_unmaps = box->layout.record_unmaps;
	return ressd_recover(&box->log, &reading.reader, &recovery, box->error,
			     sizeof(box->error));
}

void box_read(const struct box *box, const struct image *image, u32 lbn, void *data)
{
	const struct ressd_map *map = &box->log.map;
	const struct ressd_node *node = ressd_map_find(map, lbn);
	const void *ram;
	u32 block;

	if (!node || ressd_map_is_clean(map, ressd_map_block(map, node))) {
		image_read(image, lbn * BLOCK_SECTORS, BLOCK_SECTORS, data);
		return;
	}
	block = ressd_map_block(map, node);
	ram = ressd_log_data(&box->log, block);
	if (ram)
		memcpy(data, ram, RESSD_BLOCK_SIZE);
	else
		image_read(image, layout_log_sector(&box->layout, block), BLOCK_SECTORS, data);
}
