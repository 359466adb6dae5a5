/* SPDX-License-Identifier: GPL-2.0-only */
/* The record that the kernel writes first, for tests that make a log which holds data. */
#ifndef FIRST_RECORD_H
#define FIRST_RECORD_H

#include <string.h>
#include "harness.h"
#include "ressd-args.h"
#include "ressd-geom.h"
#include "ressd-record.h"

/*
 * Fills the first block of @record for the data in its second one, which is normal block @lbn.
 * Returns the log block where the record belongs, in an area of @sectors.
 */
static inline u32 first_record(struct ressd_record_header *record, const u8 *uuid, u64 sectors,
			       u32 segment_sectors, u32 lbn)
{
	char reason[RESSD_ERROR_SIZE];
	struct ressd_geom geom;
	u32 block;

	CHECK(!ressd_geom_init(&geom, sectors, segment_sectors, reason, sizeof(reason)),
	      "%s", reason);
	block = ressd_geom_slot_start(&geom, 1);
	record->magic = cpu_to_le64(RESSD_RECORD_MAGIC);
	record->version = cpu_to_le32(RESSD_FORMAT_VERSION);
	memcpy(record->uuid, uuid, RESSD_UUID_SIZE);
	record->seq = cpu_to_le64(1);
	record->segment_seq = cpu_to_le64(1);
	record->tail_seq = cpu_to_le64(1);
	record->activation = cpu_to_le64(7);
	record->nr_maps = cpu_to_le16(1);
	record->nr_blocks = cpu_to_le32(2);
	record->flags = cpu_to_le32(RESSD_RECORD_FIRST);
	record->block = cpu_to_le32(block);
	record->entries[0].block = cpu_to_le32(lbn);
	record->entries[0].crc = cpu_to_le32(ressd_crc(record + 1, RESSD_BLOCK_SIZE));
	ressd_record_seal(record);
	return block;
}

#endif
