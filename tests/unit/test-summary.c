// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-summary: the bytes are those that the format documents, what a disk may return passes only
 * if every field is right, and it says of a segment what the segment's records say.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "harness.h"
#include "ressd-args.h"
#include "ressd-summary.h"

TEST_SUITE("summary");

#define SLOT		2U
#define SEGMENT		9U		/* of 7: lives in slot 2 */

static const u8 uuid[RESSD_UUID_SIZE] = "summary test";
static struct ressd_geom geom;
static union {
	struct ressd_summary summary;
	u8 bytes[8 * RESSD_BLOCK_SIZE];
} box, other;
static struct ressd_record_header header;
static u32 next_block, place;
static u64 seq;

static void start(u32 segment_blocks)
{
	char error[RESSD_ERROR_SIZE];

	CHECK(!ressd_geom_init(&geom, 7ULL * 8 * segment_blocks, 8 * segment_blocks, error,
			       sizeof(error)), "%s", error);
	CHECK(ressd_summary_bytes(&geom) <= sizeof(box), "too large");
	memset(&box, 0x55, sizeof(box));
	ressd_summary_start(&box.summary, &geom, SEGMENT);
	next_block = ressd_geom_slot_start(&geom, SLOT);
	place = ressd_geom_slot_end(&geom, SLOT);
	seq = 100;
	memset(&header, 0, sizeof(header));
}

/* A log block that a record of @nr_maps can unmap: not one that only a later record will write. */
static u32 draw_unmap(u32 nr_maps)
{
	u32 unmap;

	do
		unmap = test_below(geom.nr_blocks);
	while (unmap > next_block + nr_maps && ressd_geom_slot(&geom, unmap) == SLOT);
	return unmap;
}

/* One more record with random entries and one block of padding; its header stays in @header. */
static void add(u32 nr_maps, u32 nr_unmaps)
{
	u32 i;

	header.seq = cpu_to_le64(seq++);
	header.segment_seq = cpu_to_le64(SEGMENT);
	header.tail_seq = cpu_to_le64(5);
	header.activation = cpu_to_le64(7);
	header.prev_crc = header.crc;
	header.nr_maps = cpu_to_le16(nr_maps);
	header.nr_unmaps = cpu_to_le16(nr_unmaps);
	header.nr_blocks = cpu_to_le32(1 + nr_maps);
	for (i = 0; i < nr_maps + nr_unmaps; i++) {
		header.entries[i].block = cpu_to_le32(i < nr_maps ? test_below(geom.nr_blocks) :
						      draw_unmap(nr_maps));
		header.entries[i].crc = cpu_to_le32(i < nr_maps ? test_random() : 0);
	}
	header.crc = cpu_to_le32(test_random());
	ressd_summary_add(&box.summary, &geom, &header, next_block);
	next_block += 1 + nr_maps;
}

static void seal(void)
{
	ressd_summary_seal(&box.summary, &geom, uuid, le64_to_cpu(box.summary.last_seq));
}

static bool valid(void)
{
	return ressd_summary_valid(&box.summary, uuid, &geom, place);
}

static bool header_valid(void)
{
	return ressd_summary_header_valid(&box.summary, uuid, &geom, place);
}

/* After a change of the arrays: the checksums fit again. */
static void reseal(void)
{
	box.summary.payload_crc = cpu_to_le32(ressd_crc(box.bytes + RESSD_BLOCK_SIZE,
							ressd_summary_bytes(&geom) -
							RESSD_BLOCK_SIZE));
	box.summary.crc = cpu_to_le32(ressd_block_crc(&box));
}

static u64 le_at(u32 offset, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | box.bytes[offset + bytes];
	return value;
}

TEST(bytes)
{
	u32 i, first_crc;

	start(1024);
	add(2, 0);
	first_crc = le32_to_cpu(header.crc);
	add(1, 2);
	seal();
	CHECK_EQ(ressd_summary_bytes(&geom), 4 * 4096);
	CHECK(!memcmp(box.bytes, "ressdsum", 8), "magic");
	CHECK_EQ(le_at(8, 4), 1);
	CHECK(!memcmp(box.bytes + 16, uuid, 16), "uuid");
	CHECK_EQ(le_at(32, 8), SEGMENT);
	CHECK_EQ(le_at(40, 8), 100);
	CHECK_EQ(le_at(48, 8), 101);
	CHECK_EQ(le_at(56, 8), 5);
	CHECK_EQ(le_at(64, 8), 101);
	CHECK_EQ(le_at(72, 8), 7);
	CHECK_EQ(le_at(80, 8), 7);
	CHECK_EQ(le_at(88, 4), 0);
	CHECK_EQ(le_at(92, 4), first_crc);
	CHECK_EQ(le_at(96, 4), le32_to_cpu(header.crc));
	CHECK_EQ(le_at(100, 4), 2 * 1024 + 1020);
	CHECK_EQ(le_at(104, 4), 2 * 1024 + 5);
	CHECK_EQ(le_at(108, 4), 2);
	CHECK_EQ(le_at(112, 4), 2);
	CHECK_EQ(le_at(116, 4) | le_at(124, 4), 0);
	for (i = 0; i < 1024; i++)
		CHECK((le_at(128 + 8 * i, 4) == RESSD_NO_BLOCK) == (i == 0 || i == 3 || i > 4),
		      "map %u", i);
	CHECK_EQ(le_at(128 + 8 * 4, 4), le32_to_cpu(header.entries[0].block));
	CHECK_EQ(le_at(128 + 8 * 4 + 4, 4), le32_to_cpu(header.entries[0].crc));
	CHECK_EQ(le_at(128 + 8 * 1024, 4), le32_to_cpu(header.entries[1].block));
	CHECK_EQ(le_at(128 + 8 * 1024 + 4, 4), le32_to_cpu(header.entries[2].block));
	CHECK(ressd_is_zero(box.bytes + 128 + 8 * 1024 + 8, 4 * 4096 - 128 - 8 * 1024 - 8),
	      "rest");
}

/* Slot 0 begins one block later, the last slot ends one earlier. */
TEST(first_and_last_slot)
{
	start(16);
	ressd_summary_start(&box.summary, &geom, 7);
	next_block = 1;
	add(13, 0);
	header.segment_seq = cpu_to_le64(7);
	place = 15;
	CHECK_EQ(next_block, place);
	seal();
	CHECK(valid(), "slot 0");
	CHECK_EQ(le_at(128 + 8 * 2, 4), le32_to_cpu(header.entries[0].block));

	start(16);
	ressd_summary_start(&box.summary, &geom, 6);
	next_block = 6 * 16;
	add(13, 0);
	place = 7 * 16 - 2;
	CHECK_EQ(next_block, place);
	seal();
	CHECK(valid(), "last slot");
}

/* Torn anywhere, or any bit wrong: not valid.  The first block alone shows what it can. */
TEST(every_bit_flip)
{
	u32 bit, byte;

	start(512);
	while (next_block + 40 < place)
		add(1 + test_below(30), test_below(20));
	seal();
	CHECK(valid() && header_valid(), "the sample is not valid");
	for (bit = 0; bit < 8 * RESSD_BLOCK_SIZE; bit++) {
		box.bytes[bit / 8] ^= 1 << bit % 8;
		CHECK(!valid() && !header_valid(), "bit %u passes", bit);
		box.bytes[bit / 8] ^= 1 << bit % 8;
	}
	for (byte = RESSD_BLOCK_SIZE; byte < ressd_summary_bytes(&geom); byte++) {
		box.bytes[byte] ^= 1 << byte % 8;
		CHECK(!valid() && header_valid(), "byte %u", byte);
		box.bytes[byte] ^= 1 << byte % 8;
	}
	CHECK(valid(), "the sample is not valid any more");
}

TEST(wrong_fields)
{
	static const struct {
		u32 offset, bytes;
		u64 value;
		bool valid;
	} cases[] = {
		{ 0, 8, RESSD_RECORD_MAGIC, false },
		{ 8, 4, 2, false },
		{ 16, 1, 99, false },		/* another format */
		{ 32, 8, 0, false },
		{ 32, 8, SEGMENT + 1, false },	/* lives in another slot */
		{ 32, 8, SEGMENT + 7, true },
		{ 40, 8, 0, false },
		{ 40, 8, 99, false },		/* more numbers than records */
		{ 40, 8, 101, false },
		{ 48, 8, 102, false },
		{ 48, 8, 99, false },
		{ 56, 8, SEGMENT, true },
		{ 56, 8, SEGMENT + 1, false },	/* its own segment is not dead */
		{ 64, 8, 102, false },		/* durable before it was written */
		{ 100, 4, 0, false },
		{ 104, 4, 2 * 64, false },	/* not one block */
		{ 104, 4, 3 * 64 - 1, true },
		{ 104, 4, 3 * 64, false },	/* records within the summary */
		{ 104, 4, ~0U, false },
		{ 108, 4, 0, false },
		{ 108, 4, 3, false },
		{ 112, 4, 864, true },
		{ 112, 4, 865, false },
		{ 112, 4, ~0U, false },
	};
	u32 i, byte;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(64);
		add(3, 1);
		add(0, 3);
		seal();
		for (byte = 0; byte < cases[i].bytes; byte++)
			box.bytes[cases[i].offset + byte] = cases[i].value >> 8 * byte;
		reseal();
		CHECK(valid() == cases[i].valid && header_valid() == cases[i].valid,
		      "case %u, offset %u, value %llu", i, cases[i].offset,
		      (unsigned long long)cases[i].value);
	}
}

/* What two fields make wrong together, or what nothing else would refuse. */
TEST(wrong_pairs_of_fields)
{
	struct ressd_summary *summary = &box.summary;
	u32 i;

	for (i = 0; i < 6; i++) {
		u64 segment_seq = RESSD_MAX_SEQ + 1;

		start(64);
		add(3, 1);
		add(0, 3);
		seal();
		switch (i) {
		case 1:
			summary->block = cpu_to_le32(place + 1);
			break;
		case 2:
			summary->last_seq = cpu_to_le64(RESSD_MAX_SEQ + 1);
			summary->first_seq = cpu_to_le64(RESSD_MAX_SEQ);
			break;
		case 3:				/* two numbers, around the end */
			summary->first_seq = cpu_to_le64(~0ULL);
			summary->last_seq = 0;
			summary->durable_seq = 0;
			break;
		case 4:				/* more records than blocks */
			summary->nr_records = cpu_to_le32(30);
			summary->last_seq = cpu_to_le64(129);
			break;
		case 5:				/* of this slot, but too large */
			while (ressd_geom_slot_of_seq(&geom, segment_seq) != SLOT)
				segment_seq++;
			summary->segment_seq = cpu_to_le64(segment_seq);
			break;
		}
		reseal();
		CHECK(valid() == !i && header_valid() == !i, "case %u", i);
	}
}

TEST(not_elsewhere)
{
	u32 block;

	start(64);
	add(3, 1);
	seal();
	for (block = 1; block < geom.nr_blocks - 1; block++)
		CHECK(ressd_summary_header_valid(&box.summary, uuid, &geom, block) ==
		      (block == place), "block %u", block);
}

/* A MAP where no data can be is hostile, whatever the checksums say. */
TEST(maps_only_where_data_is)
{
	u32 i;

	start(64);
	add(3, 1);
	add(2, 0);
	for (i = 0; i < 64; i++) {
		__le32 old = box.summary.maps[i].block;

		box.summary.maps[i].block = cpu_to_le32(1);
		seal();
		CHECK(valid() == (i > 0 && i < 7), "map %u", i);
		box.summary.maps[i].block = old;
	}
}

TEST(entries_outside_the_areas)
{
	start(64);
	add(3, 2);
	seal();
	CHECK(ressd_summary_in_range(&box.summary, &geom, geom.nr_blocks), "in range");
	header.entries[1].block = cpu_to_le32(1000000);
	ressd_summary_start(&box.summary, &geom, SEGMENT);
	ressd_summary_add(&box.summary, &geom, &header, 2 * 64);
	CHECK(ressd_summary_in_range(&box.summary, &geom, 1000001), "the last block");
	CHECK(!ressd_summary_in_range(&box.summary, &geom, 1000000), "MAP of block 1000000");
	header.entries[1].block = cpu_to_le32(1);
	header.entries[4].block = cpu_to_le32(geom.nr_blocks);
	ressd_summary_start(&box.summary, &geom, SEGMENT);
	ressd_summary_add(&box.summary, &geom, &header, 2 * 64);
	CHECK(!ressd_summary_in_range(&box.summary, &geom, 1000001), "UNMAP of no log block");
}

/*
 * Found by the fuzzer: a forged record unmapped a block of its segment that the next record wrote.
 * Record after record that block stayed mapped, by the summary it did not.
 */
TEST(no_unmap_before_its_map)
{
	static const struct {
		u32 block;
		bool kept;
	} cases[] = {
		{ 2 * 64 - 1, true },		/* the slot before */
		{ 2 * 64 + 1, true },		/* the record's own first and last block */
		{ 2 * 64 + 3, true },
		{ 2 * 64 + 4, false },		/* the next record */
		{ 3 * 64 - 1, false },		/* the end of the slot */
		{ 3 * 64, true },		/* the slot behind */
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(64);
		add(3, 2);
		header.entries[3].block = cpu_to_le32(cases[i].block);
		header.entries[4].block = cpu_to_le32(1);
		ressd_summary_start(&box.summary, &geom, SEGMENT);
		ressd_summary_add(&box.summary, &geom, &header, 2 * 64);
		CHECK(le32_to_cpu(box.summary.nr_unmaps) == 1U + cases[i].kept,
		      "block %u: %u UNMAPs", cases[i].block, le32_to_cpu(box.summary.nr_unmaps));
		CHECK_EQ(le32_to_cpu(ressd_summary_unmaps(&box.summary, &geom)[cases[i].kept]), 1);
	}
}

/* Exactly full still fits, one more does not, and never is anything written behind the end. */
TEST(overflow)
{
	u32 left, capacity;

	start(64);
	capacity = ressd_summary_capacity(&geom);
	CHECK_EQ(capacity, (4096 - 128 - 8 * 64) / 4);
	CHECK(capacity >= 64, "%u", capacity);
	for (left = capacity; left; left -= min_t(u32, left, 400))
		add(0, min_t(u32, left, 400));
	CHECK(ressd_summary_fits(&box.summary, &geom), "exactly full");
	CHECK_EQ(le32_to_cpu(ressd_summary_unmaps(&box.summary, &geom)[capacity - 1]),
		 le32_to_cpu(header.entries[le16_to_cpu(header.nr_unmaps) - 1].block));
	seal();
	CHECK(valid(), "exactly full, not valid");
	add(0, 1);
	CHECK(!ressd_summary_fits(&box.summary, &geom), "one too many");
	add(0, 400);
	add(1, 0);
	CHECK(!ressd_summary_fits(&box.summary, &geom), "still too many");
	CHECK_EQ(box.bytes[4096], 0x55);
}

/* One that missed the segment's first record must never be written. */
TEST(incomplete_is_useless)
{
	start(64);
	next_block += 3;
	add(2, 1);
	CHECK(!ressd_summary_fits(&box.summary, &geom), "fits");
	add(2, 0);
	CHECK(!ressd_summary_fits(&box.summary, &geom), "fits later");
}

/* Recovery goes on with a summary that it has read. */
TEST(goes_on_after_sealing)
{
	start(64);
	add(3, 1);
	seal();
	memcpy(&other, &box, sizeof(box));
	add(2, 2);
	CHECK_EQ(le32_to_cpu(box.summary.nr_records), 2);
	CHECK(memcmp(&other, &box, sizeof(box)), "nothing new");
	seal();
	CHECK(valid(), "not valid");
	CHECK_EQ(le32_to_cpu(box.summary.nr_unmaps), 3);
	CHECK_EQ(le64_to_cpu(box.summary.durable_seq), 101);
}

TEST(chain)
{
	struct ressd_link link, before = { 99, SEGMENT - 1, 7, 0, false };
	struct ressd_link first, second;

	start(64);
	add(3, 1);
	ressd_record_link(&header, &first);
	add(2, 2);
	ressd_record_link(&header, &second);
	seal();
	CHECK(ressd_summary_begins_with(&box.summary, &first), "its first record");
	CHECK(!ressd_summary_begins_with(&box.summary, &second), "its second record");
	ressd_summary_link(&box.summary, &link);
	CHECK_EQ(link.seq, 101);
	CHECK_EQ(link.segment_seq, SEGMENT);
	CHECK_EQ(link.activation, 7);
	CHECK_EQ(link.crc, le32_to_cpu(header.crc));

	CHECK(ressd_summary_follows(&box.summary, &before), "does not follow");
	CHECK(!ressd_summary_follows(&box.summary, &link), "follows itself");
	before.seq++;
	CHECK(!ressd_summary_follows(&box.summary, &before), "another number");
	before.seq--;
	before.crc++;
	CHECK(!ressd_summary_follows(&box.summary, &before), "another record");
	before.crc--;
	before.segment_seq--;
	CHECK(!ressd_summary_follows(&box.summary, &before), "a segment in between");
	before.segment_seq++;
	before.activation++;
	CHECK(!ressd_summary_follows(&box.summary, &before), "another activation");
	box.summary.flags = cpu_to_le32(RESSD_RECORD_FIRST);
	CHECK(ressd_summary_follows(&box.summary, &before), "the first of another activation");
}

TEST(random_noise)
{
	u32 round;

	start(64);
	for (round = 0; round < 300; round++) {
		test_random_bytes(&box, RESSD_BLOCK_SIZE);
		CHECK(!valid(), "round %u", round);
	}
	memset(&box, 0, sizeof(box));
	CHECK(!valid(), "zero");
}
