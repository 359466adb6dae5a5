// SPDX-License-Identifier: GPL-2.0-only
/*
 * ressd-record: the bytes are those the format documents, and nothing that a disk may return
 * passes unless every field is right.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "harness.h"
#include "ressd-record.h"

TEST_SUITE("record");

static char error[RESSD_ERROR_SIZE];

static const struct ressd_super_info sample = {
	.uuid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	.table = { .len = 1 << 20, .normal_start = 2048, .reserved_start = 1 << 21,
		   .reserved_sectors = 65536 },
	.segment_sectors = 4096,
	.record_blocks = 128,
	.devices = 2,
	.options = "streams 4 on_full wait",
};

/* crc32c a bit at a time, so that the format does not rest on one implementation. */
static u32 slow_crc(const u8 *p, size_t bytes)
{
	u32 crc = ~0U;

	while (bytes--) {
		u32 bit;

		crc ^= *p++;
		/* Without a condition: behind one gcc 12 for armhf loads half of the constant. */
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (-(crc & 1) & 0x82f63b78U);
	}
	return crc;
}

/* Makes the crc of a changed block right again: a wrong field then has to be found itself. */
static void reseal(void *block)
{
	__le32 *crc = (__le32 *)((u8 *)block + 12);

	*crc = 0;
	*crc = cpu_to_le32(slow_crc(block, RESSD_BLOCK_SIZE));
}

static u64 le_at(const void *block, u32 offset, u32 bytes)
{
	const u8 *p = (const u8 *)block + offset;
	u64 value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

static enum ressd_super_verdict decode(const struct ressd_super *super, u32 copy)
{
	struct ressd_super_info info;

	error[0] = '\0';
	return ressd_super_decode(super, copy, &info, error, sizeof(error));
}

TEST(superblock_bytes)
{
	struct ressd_super super, sealed;

	ressd_super_encode(&super, &sample, 1);
	CHECK(!memcmp(&super, "dm0ressd", 8), "magic");
	CHECK_EQ(le_at(&super, 8, 4), 1);
	CHECK(!memcmp((u8 *)&super + 16, sample.uuid, 16), "uuid");
	CHECK_EQ(le_at(&super, 32, 4) | le_at(&super, 36, 4) | le_at(&super, 40, 4), 0);
	CHECK_EQ(le_at(&super, 44, 4), 1);
	CHECK_EQ(le_at(&super, 48, 8), 2048);
	CHECK_EQ(le_at(&super, 56, 8), 1 << 20);
	CHECK_EQ(le_at(&super, 64, 8), 1 << 21);
	CHECK_EQ(le_at(&super, 72, 8), 65536);
	CHECK_EQ(le_at(&super, 80, 4), 512);
	CHECK_EQ(le_at(&super, 84, 4), 128);
	CHECK_EQ(le_at(&super, 88, 4), 2);
	CHECK_EQ(le_at(&super, 92, 4), 0);
	CHECK(!memcmp((u8 *)&super + 96, "streams 4 on_full wait", 22), "options");
	CHECK(ressd_is_zero((u8 *)&super + 118, 4096 - 118), "rest");
	sealed = super;
	reseal(&sealed);
	CHECK_EQ(le_at(&super, 12, 4), le_at(&sealed, 12, 4));
}

TEST(superblock_round_trip)
{
	u32 round;

	for (round = 0; round < 500; round++) {
		struct ressd_super_info info = sample, back;
		struct ressd_super super;
		struct ressd_geom geom;
		u32 copy = test_below(2);

		test_random_bytes(info.uuid, sizeof(info.uuid));
		test_random_bytes(info.options, sizeof(info.options));
		info.devices = test_random();
		info.table.len = (1 + test_random() % (RESSD_NO_BLOCK - 1ULL)) * 8;
		info.table.normal_start = test_random() >> 1 & ~7ULL;
		info.table.reserved_start = test_random() >> 1 & ~7ULL;
		info.segment_sectors = 128 + 8 * test_below(4000);
		info.table.reserved_sectors = info.segment_sectors * (4ULL + test_below(50));
		CHECK(!ressd_geom_init(&geom, info.table.reserved_sectors, info.segment_sectors,
				       error, sizeof(error)), "%s", error);
		info.record_blocks = geom.record_blocks;
		ressd_super_encode(&super, &info, copy);
		CHECK_EQ(ressd_super_decode(&super, copy, &back, error, sizeof(error)),
			 RESSD_SUPER_GOOD);
		CHECK(!memcmp(info.uuid, back.uuid, 16) && info.table.len == back.table.len &&
		      info.table.normal_start == back.table.normal_start &&
		      info.table.reserved_start == back.table.reserved_start &&
		      info.table.reserved_sectors == back.table.reserved_sectors &&
		      info.segment_sectors == back.segment_sectors &&
		      info.devices == back.devices &&
		      !memcmp(info.options, back.options, sizeof(info.options)) &&
		      info.record_blocks == back.record_blocks, "came back different");
	}
}

TEST(superblock_every_bit_flip)
{
	struct ressd_super super;
	u32 bit;

	ressd_super_encode(&super, &sample, 0);
	for (bit = 0; bit < 8 * RESSD_BLOCK_SIZE; bit++) {
		((u8 *)&super)[bit / 8] ^= 1 << bit % 8;
		CHECK(decode(&super, 0) == (bit < 64 ? RESSD_SUPER_FOREIGN : RESSD_SUPER_DAMAGED),
		      "bit %u passes", bit);
		CHECK(error[0], "bit %u: no sentence", bit);
		((u8 *)&super)[bit / 8] ^= 1 << bit % 8;
	}
	CHECK_EQ(decode(&super, 0), RESSD_SUPER_GOOD);
}

/* Fields that are wrong although the crc is right: another version, another place. */
TEST(superblock_wrong_fields)
{
	static const struct {
		u32 offset;
		__le32 value;
		enum ressd_super_verdict verdict;
		const char *sentence;
	} cases[] = {
		{ 0, 0x11, RESSD_SUPER_FOREIGN, "neither blank nor formatted for ressd" },
		{ 8, 2, RESSD_SUPER_FOREIGN, "format version 2, this software knows version 1" },
		{ 8, 0, RESSD_SUPER_FOREIGN, "format version 0" },
		{ 32, ~0U, RESSD_SUPER_GOOD, "" },
		{ 36, 4, RESSD_SUPER_FOREIGN, "features 0x4" },
		{ 40, 0x80000000U, RESSD_SUPER_FOREIGN, "features 0x80000000" },
		{ 44, 1, RESSD_SUPER_FOREIGN, "superblock copy 1 stands in the place of copy 0" },
		/* A table without normal area was accepted, and everything divided by it. */
		{ 48, 4, RESSD_SUPER_DAMAGED, "the normal area starts at sector 4" },
		{ 56, 0, RESSD_SUPER_DAMAGED, "the target has 0 sectors" },
		{ 56, 8, RESSD_SUPER_GOOD, "" },
		{ 56, 12, RESSD_SUPER_DAMAGED, "multiples of 8" },
		{ 60, 8, RESSD_SUPER_DAMAGED, "less than 16 TiB" },
		{ 64, 4, RESSD_SUPER_DAMAGED, "the reserved area starts at sector 4" },
		{ 72, 65540, RESSD_SUPER_DAMAGED, "65540 sectors, but both must be" },
		{ 72, 8, RESSD_SUPER_DAMAGED, "hold at least 4 segments" },
		{ 76, ~0U, RESSD_SUPER_DAMAGED, "choose a smaller one" },
		{ 80, 0, RESSD_SUPER_DAMAGED, "segment size of 0 sectors" },
		{ 80, 15, RESSD_SUPER_DAMAGED, "segment_sectors is 120" },
		{ 80, ~0U, RESSD_SUPER_DAMAGED, "segment size of 34359738360 sectors" },
		{ 84, 64, RESSD_SUPER_DAMAGED, "records of 64 blocks, but they must be 128" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ressd_super super;
		__le32 value = cpu_to_le32(cases[i].value);

		ressd_super_encode(&super, &sample, 0);
		memcpy((u8 *)&super + cases[i].offset, &value, 4);
		reseal(&super);
		CHECK(decode(&super, 0) == cases[i].verdict, "offset %u value %u: '%s'",
		      cases[i].offset, cases[i].value, error);
		CHECK_HAS(error, cases[i].sentence);
	}
}

TEST(superblock_of_something_else)
{
	struct ressd_super super;
	u32 round;

	memset(&super, 0, sizeof(super));
	CHECK_EQ(decode(&super, 0), RESSD_SUPER_BLANK);
	for (round = 0; round < 200; round++) {
		u32 offset = test_below(sizeof(super));

		memset(&super, 0, sizeof(super));
		((u8 *)&super)[offset] = 1;
		CHECK_EQ(decode(&super, 0), RESSD_SUPER_FOREIGN);
		test_random_bytes(&super, sizeof(super));
		CHECK_EQ(decode(&super, 0), RESSD_SUPER_FOREIGN);
	}
}

/* What a copy can be, and what both together must give. */
enum state { GOOD, BLANK, FOREIGN, DAMAGED, OLDER, OTHER, NR_STATES };

static void make_copy(struct ressd_super *super, u32 copy, enum state state)
{
	struct ressd_super_info info = sample;

	if (state == OTHER)
		info.uuid[0] ^= 1;
	ressd_super_encode(super, &info, copy);
	if (state == BLANK)
		memset(super, 0, sizeof(*super));
	if (state == FOREIGN)
		test_random_bytes(super, sizeof(*super));
	if (state == DAMAGED)
		super->unused[7] ^= 1;
	if (state == OLDER) {
		super->version = cpu_to_le32(7);
		reseal(super);
	}
}

TEST(superblock_pairs)
{
	enum state a, b;

	for (a = 0; a < NR_STATES; a++) {
		for (b = 0; b < NR_STATES; b++) {
			bool good_a = a == GOOD || a == OTHER, good_b = b == GOOD || b == OTHER;
			bool foreign = a == FOREIGN || a == OLDER || b == FOREIGN || b == OLDER;
			struct ressd_super copies[2];
			struct ressd_super_info info;
			int ret, expected = -EINVAL;

			make_copy(&copies[0], 0, a);
			make_copy(&copies[1], 1, b);
			if (a == BLANK && b == BLANK)
				expected = -ENODATA;
			else if (good_a && good_b ? a == b : (good_a || good_b) && !foreign)
				expected = 0;
			ret = ressd_super_choose(&copies[0], &copies[1], &info, error,
						 sizeof(error));
			CHECK(ret == expected, "states %d and %d: %d, '%s'", a, b, ret, error);
			CHECK(!error[0] == (ret == -ENODATA || (good_a && good_b && a == b)),
			      "states %d and %d: '%s'", a, b, error);
			if (!ret)
				CHECK(info.uuid[0] == (1 ^ (a == OTHER || b == OTHER)) &&
				      info.table.len == sample.table.len, "states %d and %d", a, b);
			if (!ret && !(good_a && good_b))
				CHECK_HAS(error, good_a ? "copy 1 is damaged" : "copy 0 is damaged");
		}
	}
}

/* The normal area may grow, but not shrink. */
TEST(superblock_of_another_length)
{
	struct ressd_super_info info = sample;
	struct ressd_table table = sample.table;
	struct ressd_options options;

	ressd_options_default(&options);
	table.len = sample.table.len + 8;
	CHECK(!ressd_super_matches(&info, &table, &options, error, sizeof(error)), "%s", error);
	table.len = sample.table.len - 8;
	CHECK(ressd_super_matches(&info, &table, &options, error, sizeof(error)) == -EINVAL, "-8");
	CHECK_HAS(error, "cannot shrink");
}

/* Power failed between the writes of the two copies: both lengths are right, the old one counts. */
TEST(superblock_that_was_growing)
{
	struct ressd_super_info longer = sample, info;
	struct ressd_super copies[2];
	struct ressd_table table = sample.table;
	struct ressd_options options;
	u32 first;

	ressd_options_default(&options);
	longer.table.len += 80;
	for (first = 0; first < 2; first++) {
		ressd_super_encode(&copies[first], &longer, first);
		ressd_super_encode(&copies[!first], &sample, !first);
		CHECK(!ressd_super_choose(&copies[0], &copies[1], &info, error, sizeof(error)),
		      "copy %u: %s", first, error);
		CHECK_EQ(info.table.len, sample.table.len);
		CHECK(info.uneven, "copy %u", first);
		table.len = sample.table.len;
		CHECK(!ressd_super_matches(&info, &table, &options, error, sizeof(error)), "old");
		table.len = longer.table.len;
		CHECK(!ressd_super_matches(&info, &table, &options, error, sizeof(error)), "new");
		ressd_super_encode(&copies[!first], &longer, !first);
		CHECK(!ressd_super_choose(&copies[0], &copies[1], &info, error, sizeof(error)),
		      "%s", error);
		CHECK_EQ(info.table.len, longer.table.len);
		CHECK(!info.uneven, "copy %u", first);
	}
}

/*
 * Formerly copy 1 was always written first, also where it was the only intact one, as after a cut
 * in the write of copy 0: a second cut then left none, and the log was refused.
 */
TEST(torn_superblock_is_never_the_last_one)
{
	struct ressd_super_info changed = sample, info;
	static struct ressd_super new;
	struct ressd_super copies[2];
	u32 bad, copy, mask, i;

	/* Long enough for two sectors: a change of one does not tear. */
	memset(changed.options, 'a', RESSD_STORED_OPTIONS - 1);
	for (bad = 0; bad <= 2; bad++) {
		for (mask = 0; mask < 256; mask++) {
			ressd_super_encode(&copies[0], &sample, 0);
			ressd_super_encode(&copies[1], &sample, 1);
			if (bad < 2)
				copies[bad].crc = ~copies[bad].crc;
			copy = ressd_super_first(&copies[0]);
			ressd_super_encode(&new, &changed, copy);
			for (i = 0; i < 8; i++)
				if (mask >> i & 1)
					memcpy((u8 *)&copies[copy] + i * 512, (u8 *)&new + i * 512,
					       512);
			CHECK(!ressd_super_choose(&copies[0], &copies[1], &info, error,
						  sizeof(error)),
			      "copy %u is bad, sectors %x of copy %u are new: %s", bad, mask, copy,
			      error);
		}
	}
	memset(&copies[0], 0, sizeof(copies[0]));
	CHECK_EQ(ressd_super_first(&copies[0]), 0);
}

/* One that was written before there were stored options has zeroes there. */
TEST(superblock_without_options)
{
	struct ressd_super super;
	struct ressd_super_info info;

	ressd_super_encode(&super, &sample, 0);
	memset((u8 *)&super + 88, 0, RESSD_BLOCK_SIZE - 88);
	reseal(&super);
	CHECK_EQ(ressd_super_decode(&super, 0, &info, error, sizeof(error)), RESSD_SUPER_GOOD);
	CHECK_EQ(info.devices, 0);
	CHECK_STR(info.options, "");
}

/* Power failed while options were stored: the copies differ in them, and copy 0 counts. */
TEST(superblock_with_two_sets_of_options)
{
	struct ressd_super_info newer = sample, info;
	struct ressd_super copies[2];

	strcpy(newer.options, "streams 9");
	ressd_super_encode(&copies[0], &sample, 0);
	ressd_super_encode(&copies[1], &newer, 1);
	CHECK(!ressd_super_choose(&copies[0], &copies[1], &info, error, sizeof(error)), "%s",
	      error);
	CHECK_STR(info.options, sample.options);
	CHECK(!info.uneven, "this is no growth");
	memset(&copies[0], 0, sizeof(copies[0]));
	CHECK(!ressd_super_choose(&copies[0], &copies[1], &info, error, sizeof(error)), "%s",
	      error);
	CHECK_STR(info.options, "streams 9");
}

TEST(superblock_of_another_table)
{
	struct ressd_super_info info = sample;
	struct ressd_table table = sample.table;
	struct ressd_options options;
	u64 *fields[] = { &table.normal_start, &table.reserved_start, &table.reserved_sectors };
	u32 i;

	ressd_options_default(&options);
	CHECK(!ressd_super_matches(&info, &table, &options, error, sizeof(error)), "%s", error);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		*fields[i] += 8;
		CHECK(ressd_super_matches(&info, &table, &options, error, sizeof(error)) == -EINVAL,
		      "field %u", i);
		CHECK_HAS(error, "describes another device");
		*fields[i] -= 8;
	}
	options.segment_sectors = 4096;
	CHECK(!ressd_super_matches(&info, &table, &options, error, sizeof(error)), "%s", error);
	options.segment_sectors = 8192;
	CHECK(ressd_super_matches(&info, &table, &options, error, sizeof(error)) == -EINVAL, "seg");
	CHECK_HAS(error, "segment_sectors is 8192, but the reserved area was formatted with 4096");
	options.segment_sectors = 0;
	options.cover = RESSD_OFF;
	CHECK(!ressd_super_matches(&info, &table, &options, error, sizeof(error)), "%s", error);
	info.cover_blocks = 17;
	CHECK(ressd_super_matches(&info, &table, &options, error, sizeof(error)) == -EINVAL, "off");
	CHECK_HAS(error, "formatted with covers");
}

static struct ressd_geom geom;

#define BLOCK	70U	/* where the sample record stands: slot 1 of segments of 64 blocks */

static void make_record(struct ressd_record_header *header)
{
	CHECK(!ressd_geom_init(&geom, 64 * 8 * 8, 64 * 8, error, sizeof(error)), "%s", error);
	test_random_bytes(header, sizeof(*header));
	memset(header, 0, 128);
	header->magic = cpu_to_le64(RESSD_RECORD_MAGIC);
	header->version = cpu_to_le32(RESSD_FORMAT_VERSION);
	memcpy(header->uuid, sample.uuid, 16);
	header->seq = cpu_to_le64(1000);
	header->segment_seq = cpu_to_le64(17);
	header->tail_seq = cpu_to_le64(12);
	header->durable_seq = cpu_to_le64(990);
	header->activation = cpu_to_le64(0x1234);
	header->nr_maps = cpu_to_le16(30);
	header->nr_unmaps = cpu_to_le16(10);
	header->nr_blocks = cpu_to_le32(32);
	header->block = cpu_to_le32(BLOCK);
	ressd_record_seal(header);
}

static bool valid(const struct ressd_record_header *header, u32 block)
{
	return ressd_record_valid(header, sample.uuid, &geom, block);
}

/* The same with a header that says that it was written there. */
static bool valid_at(struct ressd_record_header *header, u32 block)
{
	header->block = cpu_to_le32(block);
	ressd_record_seal(header);
	return valid(header, block);
}

TEST(record_bytes)
{
	struct ressd_record_header header, sealed;

	make_record(&header);
	CHECK(!memcmp(&header, "ressdlog", 8), "magic");
	CHECK_EQ(le_at(&header, 32, 8), 1000);
	CHECK_EQ(le_at(&header, 40, 8), 17);
	CHECK_EQ(le_at(&header, 48, 8), 12);
	CHECK_EQ(le_at(&header, 56, 8), 990);
	CHECK_EQ(le_at(&header, 64, 8), 0x1234);
	CHECK_EQ(le_at(&header, 76, 2), 30);
	CHECK_EQ(le_at(&header, 78, 2), 10);
	CHECK_EQ(le_at(&header, 80, 4), 32);
	CHECK_EQ(le_at(&header, 88, 4), BLOCK);
	sealed = header;
	reseal(&sealed);
	CHECK_EQ(le_at(&header, 12, 4), le_at(&sealed, 12, 4));
}

/* The checksum of a header whose unused entries are not looked at. */
TEST(record_with_few_entries)
{
	static struct ressd_record_header header, other;
	static struct ressd_zeroes zeroes;
	u32 used, i;

	ressd_zeroes_init(&zeroes);
	for (used = 0; used <= RESSD_RECORD_ENTRIES; used++) {
		memset(&header, 0, sizeof(header));
		for (i = 0; i < sizeof(header) - sizeof(header.entries); i++)
			((u8 *)&header)[i] = test_below(256);
		for (i = 0; i < used; i++)
			header.entries[i].block = cpu_to_le32(test_below(~0U));
		other = header;
		ressd_record_seal(&header);
		ressd_record_seal_short(&other, &zeroes, used);
		CHECK_EQ(le32_to_cpu(other.crc), le32_to_cpu(header.crc));
	}
}

TEST(record_every_bit_flip)
{
	struct ressd_record_header header;
	u32 bit;

	make_record(&header);
	CHECK(valid(&header, BLOCK), "the sample is not valid");
	for (bit = 0; bit < 8 * RESSD_BLOCK_SIZE; bit++) {
		((u8 *)&header)[bit / 8] ^= 1 << bit % 8;
		CHECK(!valid(&header, BLOCK), "bit %u passes", bit);
		((u8 *)&header)[bit / 8] ^= 1 << bit % 8;
	}
	CHECK(valid(&header, BLOCK), "the sample is not valid any more");
}

TEST(record_wrong_fields)
{
	static const struct {
		u32 offset, bytes;
		u64 value;
		bool valid;
	} cases[] = {
		{ 0, 8, 0, false },
		{ 8, 4, 2, false },
		{ 16, 1, 99, false },			/* uuid of another format */
		{ 31, 1, 99, false },
		{ 40, 8, 0, false },			/* segment numbers start at 1 */
		{ 40, 8, 18, false },			/* would live in slot 2 */
		{ 40, 8, 25, true },
		{ 40, 8, 9, false },			/* older than its tail */
		{ 40, 8, RESSD_MAX_SEQ / 4 * 4 - 7, true },
		{ 40, 8, RESSD_MAX_SEQ + 1, false },	/* in the same slot, but too great */
		{ 40, 8, ~0ULL - 14, false },
		{ 32, 8, RESSD_MAX_SEQ, true },
		{ 32, 8, RESSD_MAX_SEQ + 1, false },
		{ 32, 8, ~0ULL, false },
		{ 48, 8, 17, true },
		{ 48, 8, 18, false },
		{ 56, 8, 999, true },
		{ 56, 8, 1000, false },			/* durable before it was written */
		{ 32, 8, 0, false },
		{ 76, 2, 31, true },			/* as many maps as data blocks */
		{ 76, 2, 32, false },
		{ 76, 2, 65535, false },
		{ 78, 2, 466, true },			/* 496 entries */
		{ 78, 2, 467, false },
		{ 78, 2, 65535, false },
		{ 80, 4, 57, true },			/* up to its segment's summary */
		{ 80, 4, 58, false },
		{ 88, 4, BLOCK + 1, false },		/* a copy that stands elsewhere */
		{ 88, 4, 0, false },
		{ 80, 4, 30, false },
		{ 80, 4, 0, false },
		{ 80, 4, 0xffffffff, false },
	};
	u32 i, byte;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ressd_record_header header;

		make_record(&header);
		for (byte = 0; byte < cases[i].bytes; byte++)
			((u8 *)&header)[cases[i].offset + byte] = cases[i].value >> 8 * byte;
		ressd_record_seal(&header);
		CHECK(valid(&header, BLOCK) == cases[i].valid, "case %u, offset %u, value %llu", i,
		      cases[i].offset, (unsigned long long)cases[i].value);
	}
}

/* The last slot is shorter by the superblock, and a record does not fit everywhere. */
TEST(record_in_the_wrong_place)
{
	struct ressd_record_header header;
	u32 block;

	make_record(&header);
	for (block = 1; block < geom.nr_blocks - 1; block++)
		CHECK(valid_at(&header, block) == (block >= 64 && block + 32 <= 127), "block %u",
		      block);
	header.segment_seq = cpu_to_le64(15);	/* slot 7: records in 448 to 509, summary in 510 */
	CHECK(valid_at(&header, 478), "478 + 32 = 510");
	CHECK(!valid_at(&header, 479), "over the summary");
}

TEST(record_chain)
{
	struct ressd_record_header header, next;
	struct ressd_link link;

	make_record(&header);
	ressd_record_link(&header, &link);
	next = header;
	CHECK(!ressd_record_follows(&next, &link), "follows itself");
	next.seq = cpu_to_le64(1001);
	next.prev_crc = header.crc;
	CHECK(ressd_record_follows(&next, &link), "the next one");
	next.segment_seq = cpu_to_le64(18);
	CHECK(ressd_record_follows(&next, &link), "in the next segment");
	next.segment_seq = cpu_to_le64(19);
	CHECK(!ressd_record_follows(&next, &link), "a segment later");
	next.segment_seq = cpu_to_le64(16);
	CHECK(!ressd_record_follows(&next, &link), "a segment earlier");
	next.segment_seq = cpu_to_le64(17);
	next.activation = cpu_to_le64(0x1235);
	CHECK(!ressd_record_follows(&next, &link), "another activation");
	next.flags = cpu_to_le32(RESSD_RECORD_FIRST);
	CHECK(ressd_record_follows(&next, &link), "the first one of another activation");
	next.seq = cpu_to_le64(1002);
	CHECK(!ressd_record_follows(&next, &link), "one is missing");
	next.seq = cpu_to_le64(1001);
	next.prev_crc = cpu_to_le32(le32_to_cpu(header.crc) ^ 1);
	CHECK(!ressd_record_follows(&next, &link), "behind another record");
}

TEST(record_random_noise)
{
	struct ressd_record_header header;
	u32 round;

	make_record(&header);
	for (round = 0; round < 300; round++) {
		test_random_bytes(&header, sizeof(header));
		CHECK(!valid(&header, BLOCK), "round %u", round);
	}
	memset(&header, 0, sizeof(header));
	CHECK(!valid(&header, BLOCK), "zero");
}

TEST(zero_test)
{
	u8 block[4096];
	u32 i;

	memset(block, 0, sizeof(block));
	CHECK(ressd_is_zero(block, sizeof(block)), "zero");
	for (i = 0; i < sizeof(block); i++) {
		block[i] = 0x80;
		CHECK(!ressd_is_zero(block, sizeof(block)), "byte %u", i);
		block[i] = 0;
	}
}
