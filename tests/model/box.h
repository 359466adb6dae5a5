/* SPDX-License-Identifier: GPL-2.0-only */
/* One instance of the log of core with all the memory it needs, and its recovery from a replica. */
#ifndef MODEL_BOX_H
#define MODEL_BOX_H

#include "replica.h"
#include "ressd-args.h"
#include "ressd-log.h"
#include "ressd-recover.h"

#define BLOCK_SECTORS	RESSD_BLOCK_SECTORS
#define MAX_PAGE_BLOCKS	24U		/* of a clustered page: a segment */

/* The device under test: the normal area, and behind it the reserved area. */
struct layout {
	struct ressd_geom geom;
	u32 normal_blocks;
	u32 align_blocks;
	u32 page_blocks;		/* see core's struct ressd_log */
	u32 unit_blocks;
	u32 unit_phase;
	bool rewrite;			/* commits with all of their page */
	u32 step_nodes;			/* that core looks at in one call */
	u32 record_unmaps;		/* that a record has at most */
	u32 cover_blocks;		/* see core's ressd-cover.h */
};

static inline u32 layout_sectors(const struct layout *layout)
{
	return (layout->normal_blocks + layout->geom.nr_blocks) * BLOCK_SECTORS;
}

/* First sector of a log block. */
static inline u32 layout_log_sector(const struct layout *layout, u32 block)
{
	return (layout->normal_blocks + block) * BLOCK_SECTORS;
}

struct box {
	struct layout layout;
	struct ressd_log log;
	struct ressd_node *nodes;
	unsigned long *clean;
	unsigned long *regions;
	struct ressd_segment *segments;
	void *buffers[RESSD_RECORDS];
	void *summary;
	void *page;
	bool (*segment_busy)(void *context, u32 slot);
	void *context;
	char error[RESSD_ERROR_SIZE];
};

void box_init(struct box *box, const struct layout *layout,
	      bool (*segment_busy)(void *context, u32 slot), void *context);
void box_free(struct box *box);

/* The log, and its next activations, take what may change of @layout while it is in use. */
void box_tune(struct box *box, const struct layout *layout);

/*
 * A new activation: the log starts empty, then recovers from @replica.  The read number @bad_read
 * fails, 0: none does.  Returns 0 or what recovery says.
 */
int box_recover(struct box *box, struct replica *replica, u64 activation, u32 bad_read);

/* The uuid of every simulated log. */
extern const u8 box_uuid[RESSD_UUID_SIZE];

/* What the normal block @lbn holds by map and @image; @data is a block. */
void box_read(const struct box *box, const struct image *image, u32 lbn, void *data);

#endif
