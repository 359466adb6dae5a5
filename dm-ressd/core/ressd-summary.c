// SPDX-License-Identifier: GPL-2.0-only
/* Codec of a segment's summary; see ressd-summary.h. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "ressd-summary.h"

size_t ressd_summary_bytes(const struct ressd_geom *geom)
{
	return (size_t)geom->summary_blocks * RESSD_BLOCK_SIZE;
}

u32 ressd_summary_capacity(const struct ressd_geom *geom)
{
	size_t used = sizeof(struct ressd_summary) +
		      geom->segment_blocks * sizeof(struct ressd_entry);

	return (ressd_summary_bytes(geom) - used) / sizeof(__le32);
}

const __le32 *ressd_summary_unmaps(const struct ressd_summary *summary,
				   const struct ressd_geom *geom)
{
	return (const __le32 *)&summary->maps[geom->segment_blocks];
}

void ressd_summary_start(struct ressd_summary *summary,
			 const struct ressd_geom *geom, u64 segment_seq)
{
	memset(summary, 0, sizeof(*summary));
	memset(summary->maps, 0xff,
	       geom->segment_blocks * sizeof(summary->maps[0]));
	summary->segment_seq = cpu_to_le64(segment_seq);
}

/* It can not be told from one that has overflowed. */
static void make_useless(struct ressd_summary *summary,
			 const struct ressd_geom *geom)
{
	summary->nr_unmaps = cpu_to_le32(ressd_summary_capacity(geom) + 1);
}

static void add_first(struct ressd_summary *summary,
		      const struct ressd_record_header *header)
{
	summary->first_seq = header->seq;
	summary->first_activation = header->activation;
	summary->first_prev_crc = header->prev_crc;
	summary->first_crc = header->crc;
	summary->flags = header->flags;
}

/*
 * An UNMAP of a block of this segment that only a later record can write unmaps
 * nothing, but would unmap what that record puts there once it came after all
 * MAPs: it is left out.  No log that we have written has one.
 */
static bool unmaps_nothing(const struct ressd_geom *geom, u32 unmap, u32 block,
			   u32 nr_maps)
{
	return unmap > block + nr_maps &&
	       ressd_geom_slot(geom, unmap) == ressd_geom_slot(geom, block);
}

static void add_unmaps(struct ressd_summary *summary,
		       const struct ressd_geom *geom,
		       const struct ressd_record_header *header, u32 block)
{
	__le32 *unmaps = (__le32 *)&summary->maps[geom->segment_blocks];
	u32 nr_maps = le16_to_cpu(header->nr_maps),
	    nr_unmaps = le16_to_cpu(header->nr_unmaps);
	u32 at = le32_to_cpu(summary->nr_unmaps);
	u32 i;

	for (i = nr_maps; i < nr_maps + nr_unmaps; i++) {
		__le32 unmap = header->entries[i].block;

		if (unmaps_nothing(geom, le32_to_cpu(unmap), block, nr_maps))
			continue;
		if (at < ressd_summary_capacity(geom))
			unmaps[at] = unmap;
		at++;
	}
	summary->nr_unmaps = cpu_to_le32(at);
}

void ressd_summary_add(struct ressd_summary *summary,
		       const struct ressd_geom *geom,
		       const struct ressd_record_header *header, u32 block)
{
	u32 nr_maps = le16_to_cpu(header->nr_maps);

	if (!summary->nr_records) {
		u32 slot = ressd_geom_slot(geom, block);

		add_first(summary, header);
		if (block != ressd_geom_slot_start(geom, slot))
			make_useless(summary, geom);
	}
	memcpy(&summary->maps[(block + 1) % geom->segment_blocks],
	       header->entries, nr_maps * sizeof(header->entries[0]));
	add_unmaps(summary, geom, header, block);
	summary->last_seq = header->seq;
	summary->tail_seq = header->tail_seq;
	summary->flags =
		(summary->flags & ~cpu_to_le32(RESSD_RECORD_UNCOVERED)) |
		(header->flags & cpu_to_le32(RESSD_RECORD_UNCOVERED));
	summary->activation = header->activation;
	summary->epoch = header->epoch;
	summary->last_crc = header->crc;
	summary->next_block =
		cpu_to_le32(block + le32_to_cpu(header->nr_blocks));
	summary->nr_records = cpu_to_le32(le32_to_cpu(summary->nr_records) + 1);
}

bool ressd_summary_fits(const struct ressd_summary *summary,
			const struct ressd_geom *geom)
{
	return le32_to_cpu(summary->nr_unmaps) <= ressd_summary_capacity(geom);
}

static u32 payload_crc(const struct ressd_summary *summary,
		       const struct ressd_geom *geom)
{
	return ressd_crc((const u8 *)summary + RESSD_BLOCK_SIZE,
			 ressd_summary_bytes(geom) - RESSD_BLOCK_SIZE);
}

void ressd_summary_seal(struct ressd_summary *summary,
			const struct ressd_geom *geom, const u8 *uuid,
			u64 durable_seq)
{
	__le32 *unmaps = (__le32 *)&summary->maps[geom->segment_blocks];
	u32 nr = le32_to_cpu(summary->nr_unmaps);
	u32 slot =
		ressd_geom_slot_of_seq(geom, le64_to_cpu(summary->segment_seq));

	memset(&unmaps[nr], 0,
	       (ressd_summary_capacity(geom) - nr) * sizeof(unmaps[0]));
	summary->magic = cpu_to_le64(RESSD_SUMMARY_MAGIC);
	summary->version = cpu_to_le32(RESSD_FORMAT_VERSION);
	memcpy(summary->uuid, uuid, RESSD_UUID_SIZE);
	summary->durable_seq = cpu_to_le64(durable_seq);
	summary->block = cpu_to_le32(ressd_geom_slot_end(geom, slot));
	summary->payload_crc = cpu_to_le32(payload_crc(summary, geom));
	summary->crc = cpu_to_le32(ressd_block_crc(summary));
}

/* Numbers and places of the records, which must agree with one another. */
static bool records_valid(const struct ressd_summary *summary,
			  const struct ressd_geom *geom, u32 slot)
{
	u64 first = le64_to_cpu(summary->first_seq),
	    last = le64_to_cpu(summary->last_seq);
	u32 nr_records = le32_to_cpu(summary->nr_records);
	u32 start = ressd_geom_slot_start(geom, slot);
	u32 next = le32_to_cpu(summary->next_block);

	return first && nr_records && last - first == nr_records - 1 &&
	       last >= first && next > start &&
	       next <= ressd_geom_slot_end(geom, slot) &&
	       nr_records <= next - start &&
	       le64_to_cpu(summary->durable_seq) <= last;
}

bool ressd_summary_header_valid(const struct ressd_summary *summary,
				const u8 *uuid, const struct ressd_geom *geom,
				u32 block)
{
	u64 segment_seq = le64_to_cpu(summary->segment_seq);
	u32 slot = ressd_geom_slot(geom, block);

	return summary->magic == cpu_to_le64(RESSD_SUMMARY_MAGIC) &&
	       le32_to_cpu(summary->version) == RESSD_FORMAT_VERSION &&
	       !memcmp(summary->uuid, uuid, RESSD_UUID_SIZE) &&
	       le32_to_cpu(summary->crc) == ressd_block_crc(summary) &&
	       block == ressd_geom_slot_end(geom, slot) &&
	       le32_to_cpu(summary->block) == block &&
	       le64_to_cpu(summary->last_seq) <= RESSD_MAX_SEQ &&
	       segment_seq <= RESSD_MAX_SEQ && segment_seq &&
	       ressd_geom_slot_of_seq(geom, segment_seq) == slot &&
	       le64_to_cpu(summary->tail_seq) <= segment_seq &&
	       ressd_summary_fits(summary, geom) &&
	       records_valid(summary, geom, slot);
}

/*
 * A MAP can only stand behind the header of the first record and before the end
 * of the last.
 */
static bool maps_valid(const struct ressd_summary *summary,
		       const struct ressd_geom *geom, u32 slot)
{
	u32 start =
		ressd_geom_slot_start(geom, slot) - slot * geom->segment_blocks;
	u32 next =
		le32_to_cpu(summary->next_block) - slot * geom->segment_blocks;
	u32 i;

	for (i = 0; i < geom->segment_blocks; i++)
		if ((i <= start || i >= next) &&
		    le32_to_cpu(summary->maps[i].block) != RESSD_NO_BLOCK)
			return false;
	return true;
}

bool ressd_summary_valid(const struct ressd_summary *summary, const u8 *uuid,
			 const struct ressd_geom *geom, u32 block)
{
	return ressd_summary_header_valid(summary, uuid, geom, block) &&
	       le32_to_cpu(summary->payload_crc) ==
		       payload_crc(summary, geom) &&
	       maps_valid(summary, geom, ressd_geom_slot(geom, block));
}

bool ressd_summary_in_range(const struct ressd_summary *summary,
			    const struct ressd_geom *geom, u32 normal_blocks)
{
	const __le32 *unmaps = ressd_summary_unmaps(summary, geom);
	u32 i;

	for (i = 0; i < geom->segment_blocks; i++) {
		u32 lbn = le32_to_cpu(summary->maps[i].block);

		if (lbn != RESSD_NO_BLOCK && lbn >= normal_blocks)
			return false;
	}
	for (i = 0; i < le32_to_cpu(summary->nr_unmaps); i++)
		if (le32_to_cpu(unmaps[i]) >= geom->nr_blocks)
			return false;
	return true;
}

void ressd_summary_link(const struct ressd_summary *summary,
			struct ressd_link *link)
{
	link->seq = le64_to_cpu(summary->last_seq);
	link->segment_seq = le64_to_cpu(summary->segment_seq);
	link->activation = le64_to_cpu(summary->activation);
	link->crc = le32_to_cpu(summary->last_crc);
	link->uncovered = le32_to_cpu(summary->flags) & RESSD_RECORD_UNCOVERED;
}

bool ressd_summary_follows(const struct ressd_summary *summary,
			   const struct ressd_link *link)
{
	return le64_to_cpu(summary->first_seq) == link->seq + 1 &&
	       le32_to_cpu(summary->first_prev_crc) == link->crc &&
	       le64_to_cpu(summary->segment_seq) == link->segment_seq + 1 &&
	       (le64_to_cpu(summary->first_activation) == link->activation ||
		le32_to_cpu(summary->flags) & RESSD_RECORD_FIRST);
}

bool ressd_summary_begins_with(const struct ressd_summary *summary,
			       const struct ressd_link *first)
{
	return le64_to_cpu(summary->segment_seq) == first->segment_seq &&
	       le64_to_cpu(summary->first_seq) == first->seq &&
	       le64_to_cpu(summary->first_activation) == first->activation &&
	       le32_to_cpu(summary->first_crc) == first->crc;
}
