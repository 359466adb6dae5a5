// SPDX-License-Identifier: GPL-2.0-only
/* What a log still holds; see log-contents.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "log-contents.h"
#include "ressd-log.h"
#include "ressd-recover.h"
#include "ressd-summary.h"

/* Memory of one log, and the device to read it from. */
struct log_memory {
	const struct blkdev *dev;
	u64 offset;		/* of the reserved area, bytes */
	struct ressd_node *nodes;
	unsigned long *clean;
	struct ressd_segment *segments;
	void *summary;
	void *buffers[3];	/* two records, and scratch space of the reader */
	struct failure failure;	/* of the last read */
};

static int read_blocks(void *context, u32 block, u32 nr, void *buffer)
{
	struct log_memory *memory = context;

	return blkdev_read(memory->dev, memory->offset + (u64)block * RESSD_BLOCK_SIZE, buffer,
			   (size_t)nr * RESSD_BLOCK_SIZE, &memory->failure);
}

static bool never_busy(void *context, u32 slot)
{
	(void)context;
	(void)slot;
	return false;
}

static bool allocate(struct log_memory *memory, const struct ressd_geom *geom)
{
	size_t i;

	memory->nodes = calloc(1, ressd_map_nodes_bytes(geom->nr_blocks));
	memory->clean = calloc(1, ressd_map_clean_bytes(geom->nr_blocks));
	memory->segments = calloc(geom->nr_segments, sizeof(*memory->segments));
	memory->summary = blkdev_buffer(ressd_summary_bytes(geom));
	for (i = 0; i < 3; i++) {
		memory->buffers[i] = blkdev_buffer((size_t)geom->record_blocks * RESSD_BLOCK_SIZE);
		if (!memory->buffers[i])
			return false;
	}
	return memory->nodes && memory->clean && memory->segments && memory->summary;
}

static void release(struct log_memory *memory)
{
	size_t i;

	free(memory->nodes);
	free(memory->clean);
	free(memory->segments);
	free(memory->summary);
	for (i = 0; i < 3; i++)
		free(memory->buffers[i]);
}

static int count(struct log_memory *memory, const struct ressd_log_setup *setup, u64 *blocks,
		 struct failure *failure)
{
	struct ressd_reader reader = {
		.read = read_blocks,
		.context = memory,
		.buffer = memory->buffers[2],
	};
	struct ressd_recovery recovery;
	char error[RESSD_ERROR_SIZE] = "";
	struct ressd_log log;
	int code;

	ressd_log_init(&log, setup);
	code = ressd_recover(&log, &reader, &recovery, error, sizeof(error));
	if (code)
		return fail(failure, code, "%s", error[0] ? error : memory->failure.text);
	*blocks = log.map.nr_dirty;
	return 0;
}

int log_contents(const struct blkdev *dev, const struct ressd_super_info *info, u64 *blocks,
		 struct failure *failure)
{
	struct log_memory memory = { .dev = dev, .offset = info->table.reserved_start * 512 };
	struct ressd_log_setup setup = {
		.uuid = info->uuid,
		.activation = 1,	/* nothing is going to be written */
		.normal_blocks = info->table.len / RESSD_BLOCK_SECTORS,
		.align_blocks = 1,
		.segment_busy = never_busy,
	};
	int code;

	if (ressd_geom_init(&setup.geom, info->table.reserved_sectors, info->segment_sectors,
			    failure->text, sizeof(failure->text)))
		return -EINVAL;
	if (allocate(&memory, &setup.geom)) {
		setup.nodes = memory.nodes;
		setup.clean = memory.clean;
		setup.segments = memory.segments;
		setup.summary = memory.summary;
		setup.buffers[0] = memory.buffers[0];
		setup.buffers[1] = memory.buffers[1];
		code = count(&memory, &setup, blocks, failure);
	} else {
		code = fail(failure, -ENOMEM, "not enough memory to look through the log");
	}
	release(&memory);
	return code;
}
