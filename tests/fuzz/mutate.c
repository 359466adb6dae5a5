// SPDX-License-Identifier: GPL-2.0-only
/* Damage with knowledge of the format; see mutate.h. */
#include <string.h>
#include <linux/kernel.h>
#include "mutate.h"
#include "ressd-summary.h"

static struct ressd_record_header *header_at(const struct area_memory *area, u32 block)
{
	struct ressd_record_header *header = area_block(area, block);

	return header->magic == cpu_to_le64(RESSD_RECORD_MAGIC) ? header : NULL;
}

static struct ressd_summary *summary_at(const struct area_memory *area, u32 block)
{
	struct ressd_summary *summary = area_block(area, block);

	return summary->magic == cpu_to_le64(RESSD_SUMMARY_MAGIC) ? summary : NULL;
}

/* A block inside the ring, preferably one with a header or a summary. */
static u32 pick_block(const struct area_memory *area, struct random *random, bool header)
{
	u32 block = 0, tries = header ? 64 : 1;

	while (tries--) {
		block = 1 + random_below(random, area->nr_blocks - 2);
		if (!header || header_at(area, block) || summary_at(area, block))
			break;
	}
	return block;
}

/* Values at which comparisons change their mind. */
static u64 odd_value(const struct area_memory *area, struct random *random, u64 old)
{
	const u64 values[] = {
		0, 1, old + 1, old - 1, old ^ 1ULL << random_below(random, 64), ~0ULL, ~0ULL >> 1,
		area->nr_blocks, area->nr_blocks - 1, area->geom.segment_blocks,
		area->geom.nr_segments, area->info.table.len / RESSD_BLOCK_SECTORS,
		random_u64(random), random_below(random, 16), RESSD_RECORD_ENTRIES,
	};

	return values[random_below(random, ARRAY_SIZE(values))];
}

/* One field of a header, whatever lies there. */
static void change_field(struct area_memory *area, struct random *random)
{
	u8 *block = area_block(area, pick_block(area, random, true));
	u32 bytes = 1U << random_below(random, 4);
	u32 at = random_below(random, 160 / bytes) * bytes;
	u64 value = 0;

	memcpy(&value, block + at, bytes);
	value = odd_value(area, random, value);
	memcpy(block + at, &value, bytes);
}

static void change_entry(struct area_memory *area, struct random *random)
{
	/* A summary's entries begin at the same place. */
	struct ressd_record_header *header = area_block(area, pick_block(area, random, true));
	u32 nr = le16_to_cpu(header->nr_maps) + le16_to_cpu(header->nr_unmaps);
	struct ressd_entry *entry = &header->entries[random_below(random,
					clamp_t(u32, nr, 1, RESSD_RECORD_ENTRIES))];

	entry->block = cpu_to_le32(odd_value(area, random, le32_to_cpu(entry->block)));
}

static void flip_bits(struct area_memory *area, struct random *random)
{
	u8 *block = area_block(area, pick_block(area, random, false));
	const u8 bit = 1 << random_below(random, 8);

	block[random_below(random, RESSD_BLOCK_SIZE)] ^= bit;
}

static void copy_block(struct area_memory *area, struct random *random)
{
	u32 from = pick_block(area, random, true), to = pick_block(area, random, false);

	memcpy(area_block(area, to), area_block(area, from), RESSD_BLOCK_SIZE);
}

/* A sector as it was in another block: torn or misplaced writes. */
static void copy_sector(struct area_memory *area, struct random *random)
{
	u32 from = pick_block(area, random, false), to = pick_block(area, random, true);
	u32 sector = random_below(random, RESSD_BLOCK_SECTORS) * 512;

	memcpy((u8 *)area_block(area, to) + sector, (u8 *)area_block(area, from) + sector, 512);
}

static void blank_blocks(struct area_memory *area, struct random *random)
{
	u32 block = pick_block(area, random, random_once_in(random, 2));
	u32 nr = random_once_in(random, 4) ? 1 + random_below(random, 16) : 1;

	nr = min_t(u32, nr, area->nr_blocks - 1 - block);
	memset(area_block(area, block), 0, (size_t)nr * RESSD_BLOCK_SIZE);
}

void mutate_once(struct area_memory *area, struct random *random)
{
	static void (*const kinds[])(struct area_memory *area, struct random *random) = {
		change_field, change_field, change_entry, flip_bits, copy_block, copy_sector,
		blank_blocks,
	};

	kinds[random_below(random, ARRAY_SIZE(kinds))](area, random);
}

static void fix_data(struct area_memory *area, struct ressd_record_header *header, u32 block)
{
	u32 nr = min_t(u32, le16_to_cpu(header->nr_maps), RESSD_RECORD_ENTRIES), i;

	for (i = 0; i < nr && block + 1 + i < area->nr_blocks; i++)
		header->entries[i].crc = cpu_to_le32(ressd_crc(area_block(area, block + 1 + i),
							       RESSD_BLOCK_SIZE));
}

/* The record that stands before @header by its number. */
static struct ressd_record_header *find_before(const struct area_memory *area,
					       const struct ressd_record_header *header)
{
	u64 seq = le64_to_cpu(header->seq) - 1;
	u32 block;

	for (block = 1; block < area->nr_blocks - 1; block++) {
		struct ressd_record_header *found = header_at(area, block);

		if (found && le64_to_cpu(found->seq) == seq)
			return found;
	}
	return NULL;
}

/* The header with the lowest number of at least @seq, or NULL. */
static struct ressd_record_header *find_from(const struct area_memory *area, u64 seq, u32 *at)
{
	struct ressd_record_header *best = NULL, *header;
	u32 block;

	for (block = 1; block < area->nr_blocks - 1; block++) {
		header = header_at(area, block);
		if (header && le64_to_cpu(header->seq) >= seq &&
		    (!best || le64_to_cpu(header->seq) < le64_to_cpu(best->seq))) {
			best = header;
			*at = block;
		}
	}
	return best;
}

/* In the order of their numbers, for each crc goes into the next one. */
static void fix_chain(struct area_memory *area)
{
	struct ressd_record_header *header, *before;
	u64 seq = 0;
	u32 block;

	while ((header = find_from(area, seq, &block))) {
		before = find_before(area, header);
		fix_data(area, header, block);
		if (before)
			header->prev_crc = before->crc;
		ressd_record_seal(header);
		seq = le64_to_cpu(header->seq) + 1;
		if (!seq)
			return;
	}
}

static void seal_summary(struct area_memory *area, struct ressd_summary *summary)
{
	size_t bytes = ressd_summary_bytes(&area->geom);

	summary->payload_crc = cpu_to_le32(ressd_crc((u8 *)summary + RESSD_BLOCK_SIZE,
						     bytes - RESSD_BLOCK_SIZE));
	summary->crc = cpu_to_le32(ressd_block_crc(summary));
}

/* Makes a summary say what the records of its slot say now. */
static void rebuild_summary(struct area_memory *area, struct ressd_summary *summary, u32 slot)
{
	u32 block = ressd_geom_slot_start(&area->geom, slot);
	u32 end = ressd_geom_slot_end(&area->geom, slot);
	const struct ressd_record_header *header = area_block(area, block);

	if (!ressd_record_valid(header, area->info.uuid, &area->geom, block))
		return;
	ressd_summary_start(summary, &area->geom, le64_to_cpu(header->segment_seq));
	while (block < end && ressd_record_valid(header, area->info.uuid, &area->geom, block)) {
		ressd_summary_add(summary, &area->geom, header, block);
		block += le32_to_cpu(header->nr_blocks);
		header = area_block(area, block);
	}
	if (ressd_summary_fits(summary, &area->geom))
		ressd_summary_seal(summary, &area->geom, area->info.uuid,
				   le64_to_cpu(summary->last_seq));
}

static void fix_summaries(struct area_memory *area, bool rebuild)
{
	u32 slot;

	for (slot = 0; slot < area->geom.nr_segments; slot++) {
		struct ressd_summary *summary =
			summary_at(area, ressd_geom_slot_end(&area->geom, slot));

		if (summary && rebuild)
			rebuild_summary(area, summary, slot);
		else if (summary)
			seal_summary(area, summary);
	}
}

void mutate_fix(struct area_memory *area, enum mutate_fix fix)
{
	u32 block;

	if (fix == MUTATE_FIX_NOTHING)
		return;
	if (fix == MUTATE_FIX_CHAIN)
		fix_chain(area);
	for (block = 1; fix == MUTATE_FIX_CHECKSUMS && block < area->nr_blocks - 1; block++) {
		struct ressd_record_header *header = header_at(area, block);

		if (header)
			ressd_record_seal(header);
	}
	fix_summaries(area, fix == MUTATE_FIX_CHAIN);
}

void mutate(struct area_memory *area, struct random *random)
{
	u32 nr = 1 + random_below(random, 4);

	while (nr--)
		mutate_once(area, random);
	mutate_fix(area, random_below(random, 3));
}
