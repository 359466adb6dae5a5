// SPDX-License-Identifier: GPL-2.0-only
/* The log that is measured; see holds.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "holds.h"
#include "plain-log.h"
#include "ressd-summary.h"

struct ressd_log ressd;
struct ressd_io io;
u32 lbn_bits;

void init(u32 mib, u32 cover_blocks)
{
	struct ressd_log_setup setup = { .activation = 1, .segment_busy = never_busy };
	static const u8 uuid[RESSD_UUID_SIZE];
	void *buffers[RESSD_RECORDS];
	char error[200];
	u32 blocks, i;

	if (ressd_geom_init(&setup.geom, (u64)mib * 2048, 0, error, sizeof(error))) {
		fprintf(stderr, "lock-hold: %s\n", error);
		exit(2);
	}
	blocks = setup.geom.nr_blocks;
	for (lbn_bits = 1; 1U << lbn_bits < blocks; lbn_bits++)
		;
	setup.uuid = uuid;
	setup.normal_blocks = 1U << lbn_bits;
	setup.cover_blocks = cover_blocks;
	setup.nodes = allocate(ressd_map_nodes_bytes(blocks));
	setup.clean = allocate(ressd_map_clean_bytes(blocks));
	setup.regions = allocate(ressd_regions_bytes(setup.normal_blocks, blocks));
	setup.segments = allocate(setup.geom.nr_segments * sizeof(*setup.segments));
	for (i = 0; i < RESSD_RECORDS; i++)
		buffers[i] = allocate((size_t)setup.geom.record_blocks * RESSD_BLOCK_SIZE);
	setup.buffers = buffers;
	setup.summary = allocate(ressd_summary_bytes(&setup.geom));
	ressd_log_init(&ressd, &setup);
}

void done_with(void)
{
	u32 i;

	free(ressd.map.nodes);
	free(ressd.map.clean);
	free(ressd.map.regions.bits);
	free(ressd.segments);
	for (i = 0; i < RESSD_RECORDS; i++)
		free(ressd.records[i].buffer);
	free(ressd.summary);
}

/* As if records had been written and flushed. */
static void fill_anew(u32 mib, bool clean)
{
	u64 seq, last;

	init(mib, 0);
	last = ressd.geom.nr_segments - 3;
	for (seq = 1; seq <= last; seq++) {
		u32 slot = ressd_geom_slot_of_seq(&ressd.geom, seq);
		u32 block = ressd_geom_slot_start(&ressd.geom, slot) + 1;
		u32 end = ressd_geom_slot_end(&ressd.geom, slot);

		for (; block < end; block++) {
			ressd_map_insert(&ressd.map, block, lbn_of(block));
			if (clean)
				ressd_map_set_clean(&ressd.map, &ressd.map.nodes[block]);
			else
				ressd.segments[slot].live++;
		}
	}
	ressd.head_seq = last + 1;
	ressd.forgotten_seq = last + 2;
	ressd.records[0].segment_seq = ressd.head_seq;
	ressd.records[0].block =
		ressd_geom_slot_start(&ressd.geom,
				      ressd_geom_slot_of_seq(&ressd.geom, ressd.head_seq));
	ressd.first_pending = false;
}

/* Each step begins with a log as fill_anew() made it: a copy takes a tenth of the time. */
static struct filled {
	struct ressd_log log;
	struct ressd_node *nodes;
	unsigned long *clean, *regions;
	struct ressd_segment *segments;
} logs[2];

static void *copied(void *to, const void *from, size_t bytes)
{
	return memcpy(to ? to : allocate(bytes), from, bytes);
}

static void keep(struct filled *filled)
{
	const u32 blocks = ressd.geom.nr_blocks;

	filled->log = ressd;
	filled->nodes = copied(NULL, ressd.map.nodes, ressd_map_nodes_bytes(blocks));
	filled->clean = copied(NULL, ressd.map.clean, ressd_map_clean_bytes(blocks));
	filled->regions = copied(NULL, ressd.map.regions.bits,
				 ressd_regions_bytes(ressd.normal_blocks, blocks));
	filled->segments = copied(NULL, ressd.segments,
				  ressd.geom.nr_segments * sizeof(*ressd.segments));
}

void fill(u32 mib, bool clean)
{
	struct filled *made = &logs[clean];
	u32 blocks;

	if (!made->nodes) {
		fill_anew(mib, clean);
		keep(made);
		return;
	}
	ressd = made->log;
	blocks = ressd.geom.nr_blocks;
	copied(ressd.map.nodes, made->nodes, ressd_map_nodes_bytes(blocks));
	copied(ressd.map.clean, made->clean, ressd_map_clean_bytes(blocks));
	copied(ressd.map.regions.bits, made->regions,
	       ressd_regions_bytes(ressd.normal_blocks, blocks));
	copied(ressd.segments, made->segments, ressd.geom.nr_segments * sizeof(*ressd.segments));
	ressd_summary_start(ressd.summary, &ressd.geom, 0);
}

void forget_filled(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(logs); i++) {
		ressd = logs[i].log;
		done_with();
		free(logs[i].nodes);
		free(logs[i].clean);
		free(logs[i].regions);
		free(logs[i].segments);
		logs[i] = (struct filled) { };
	}
}

void settle(void)
{
	do {
		while (ressd_log_next(&ressd, &io)) {
			if (io.kind == RESSD_IO_WRITE)
				ressd_log_encode(&ressd, &io);
			ressd_log_done(&ressd, &io, 0);
		}
	} while (ressd_log_tidy(&ressd));
}
