// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the record header and the summary of a segment.  Input: segments, size of a segment,
 * le16 block, one byte of switches (1: put the checksums right, 2: and the UUID, 4: it is a
 * summary, and stands where one does), then the header or summary, the rest of it zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "fuzz.h"
#include "ressd-summary.h"

#define PREFIX	5

static const u8 uuid[RESSD_UUID_SIZE] = "fuzz";

/* What every reader of an intact header relies on. */
static void check_valid(const struct ressd_geom *geom, const struct ressd_record_header *header,
			u32 block)
{
	u32 slot = ressd_geom_slot(geom, block);
	u32 nr_maps = le16_to_cpu(header->nr_maps), nr_blocks = le32_to_cpu(header->nr_blocks);
	u64 segment_seq = le64_to_cpu(header->segment_seq);

	if (nr_maps + le16_to_cpu(header->nr_unmaps) <= RESSD_RECORD_ENTRIES &&
	    nr_maps + 1 <= nr_blocks && block >= ressd_geom_slot_start(geom, slot) &&
	    (u64)block + nr_blocks <= ressd_geom_slot_end(geom, slot) &&
	    segment_seq && segment_seq % geom->nr_segments == slot &&
	    le64_to_cpu(header->tail_seq) <= segment_seq &&
	    le64_to_cpu(header->durable_seq) < le64_to_cpu(header->seq))
		return;
	fprintf(stderr, "fuzz: a header out of range is accepted at block %u of slot %u\n", block,
		slot);
	abort();
}

static void try_header(const struct ressd_geom *geom, u32 block, u8 switches, const u8 *data,
		       size_t size)
{
	struct ressd_record_header header = { 0 };

	memcpy(&header, data, min_t(size_t, size, sizeof(header)));
	if (switches & 2)
		memcpy(header.uuid, uuid, sizeof(header.uuid));
	if (switches & 1)
		ressd_record_seal(&header);
	/* Readers ask only about blocks that records may use. */
	if (block < ressd_geom_slot_end(geom, ressd_geom_slot(geom, block)) &&
	    ressd_record_valid(&header, uuid, geom, block))
		check_valid(geom, &header, block);
}

static void check_summary(const struct ressd_geom *geom, const struct ressd_summary *summary,
			  u32 slot)
{
	u32 start = ressd_geom_slot_start(geom, slot), next = le32_to_cpu(summary->next_block);
	u64 first = le64_to_cpu(summary->first_seq), last = le64_to_cpu(summary->last_seq);

	if (le32_to_cpu(summary->nr_unmaps) > ressd_summary_capacity(geom) || next <= start ||
	    next > ressd_geom_slot_end(geom, slot) || !first || last < first ||
	    last - first >= next - start ||
	    le64_to_cpu(summary->segment_seq) % geom->nr_segments != slot) {
		fprintf(stderr, "fuzz: a summary out of range is accepted in slot %u\n", slot);
		abort();
	}
	/* Reads every entry: the sanitizer watches. */
	ressd_summary_in_range(summary, geom, 1000);
}

static void try_summary(const struct ressd_geom *geom, u32 slot, u8 switches, const u8 *data,
			size_t size)
{
	size_t bytes = ressd_summary_bytes(geom);
	struct ressd_summary *summary = calloc(1, bytes);
	u32 block = ressd_geom_slot_end(geom, slot);

	if (!summary)
		abort();
	memcpy(summary, data, min_t(size_t, size, bytes));
	if (switches & 2)
		memcpy(summary->uuid, uuid, sizeof(summary->uuid));
	if (switches & 1) {
		summary->payload_crc = cpu_to_le32(ressd_crc((u8 *)summary + RESSD_BLOCK_SIZE,
							     bytes - RESSD_BLOCK_SIZE));
		summary->crc = cpu_to_le32(ressd_block_crc(summary));
	}
	if (ressd_summary_valid(summary, uuid, geom, block))
		check_summary(geom, summary, slot);
	free(summary);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char error[RESSD_ERROR_SIZE];
	struct ressd_geom geom;
	u32 segment_blocks, block, slot;

	if (size < PREFIX)
		return 0;
	segment_blocks = RESSD_MIN_SEGMENT_BLOCKS + data[1] * 8;
	if (ressd_geom_init(&geom, (u64)segment_blocks * (RESSD_MIN_SEGMENTS + data[0] % 60) * 8,
			    segment_blocks * 8, error, sizeof(error)))
		abort();
	block = 1 + (data[2] | data[3] << 8) % (geom.nr_blocks - 2);
	slot = ressd_geom_slot(&geom, block);
	if (data[4] & 4 && slot < geom.nr_segments)
		try_summary(&geom, slot, data[4], data + PREFIX, size - PREFIX);
	else if (slot < geom.nr_segments)
		try_header(&geom, block, data[4], data + PREFIX, size - PREFIX);
	return 0;
}
