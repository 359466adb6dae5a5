// SPDX-License-Identifier: GPL-2.0-only
/*
 * What core uses of the kernel.  In userspace that is core/port: a wrong crc or list there would
 * make every other test worthless.  In the kernel it is the original, which the port must be like.
 */
#include <linux/crc32c.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include "harness.h"

TEST_SUITE("port");

TEST(crc32c_known_answers)
{
	u8 buffer[32];
	u32 i;

	/* RFC 3720 B.4, which inverts before and after. */
	memset(buffer, 0, sizeof(buffer));
	CHECK_EQ(~crc32c(~0U, buffer, 32), 0x8a9136aaU);
	memset(buffer, 0xff, sizeof(buffer));
	CHECK_EQ(~crc32c(~0U, buffer, 32), 0x62a8ab43U);
	for (i = 0; i < 32; i++)
		buffer[i] = i;
	CHECK_EQ(~crc32c(~0U, buffer, 32), 0x46dd794eU);
	CHECK_EQ(~crc32c(~0U, "123456789", 9), 0xe3069283U);
	CHECK_EQ(crc32c(5, buffer, 0), 5);
}

TEST(crc32c_in_pieces)
{
	u8 buffer[257];
	u32 whole, round;

	test_random_bytes(buffer, sizeof(buffer));
	whole = crc32c(~0U, buffer, sizeof(buffer));
	for (round = 0; round < 1000; round++) {
		u32 cut = test_below(sizeof(buffer) + 1);
		u32 crc = crc32c(~0U, buffer, cut);

		CHECK_EQ(crc32c(crc, buffer + cut, sizeof(buffer) - cut), whole);
	}
}

TEST(memchr_inv_finds_first)
{
	u8 buffer[100];
	u32 i;

	for (i = 0; i < sizeof(buffer); i++) {
		memset(buffer, 7, sizeof(buffer));
		CHECK(!memchr_inv(buffer, 7, i), "i %u", i);
		buffer[i] = 8;
		CHECK(!memchr_inv(buffer, 7, i), "i %u", i);
		CHECK(memchr_inv(buffer, 7, sizeof(buffer)) == buffer + i, "i %u", i);
	}
}

TEST(little_endian)
{
	__le32 value = cpu_to_le32(0x01020304);
	__le64 wide = cpu_to_le64(0x0102030405060708ULL);
	__le16 narrow = cpu_to_le16(0x0102);

	CHECK(!memcmp(&value, "\4\3\2\1", 4), "u32");
	CHECK(!memcmp(&wide, "\10\7\6\5\4\3\2\1", 8), "u64");
	CHECK(!memcmp(&narrow, "\2\1", 2), "u16");
	CHECK_EQ(le32_to_cpu(value), 0x01020304);
	CHECK_EQ(le64_to_cpu(wide), 0x0102030405060708ULL);
	CHECK_EQ(le16_to_cpu(narrow), 0x0102);
}

TEST(rounding)
{
	CHECK_EQ(DIV_ROUND_UP(17, 8), 3);
	CHECK_EQ(clamp_t(u32, 9, 1, 5), 5);
}

struct entry {
	struct list_head list;
	u32 value;
};

TEST(list_order)
{
	LIST_HEAD(head);
	LIST_HEAD(other);
	struct entry entries[5], *entry, *after;
	u32 i, sum = 0;

	for (i = 0; i < 5; i++) {
		entries[i].value = i;
		list_add_tail(&entries[i].list, &head);
	}
	list_move(&entries[4].list, &head);		/* 4 0 1 2 3 */
	list_del(&entries[1].list);			/* 4 0 2 3 */
	list_splice_tail_init(&head, &other);
	CHECK(list_empty(&head), "spliced");
	CHECK_EQ(list_first_entry(&other, struct entry, list)->value, 4);
	CHECK_EQ(list_last_entry(&other, struct entry, list)->value, 3);
	list_for_each_entry_safe(entry, after, &other, list) {
		sum = sum * 10 + entry->value;
		list_del_init(&entry->list);
	}
	CHECK_EQ(sum, 4023);
	CHECK(list_empty(&other), "all gone");
}
