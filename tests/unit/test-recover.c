// SPDX-License-Identifier: GPL-2.0-only
/* ressd-recover: what is taken, what is dropped, what is refused. */
#include <linux/errno.h>
#include <string.h>
#include "logbox.h"
#include "ressd-record.h"

const char test_suite[] = "recover";

static u8 *disk_block(u32 block)
{
	return box.disk + (size_t)block * RESSD_BLOCK_SIZE;
}

static struct ressd_record_header *header_at(u32 block)
{
	return (struct ressd_record_header *)disk_block(block);
}

/* Three synced records: log blocks 16 (lbn 10 11), 19 (lbn 20), 21 (lbn 10 30). */
static void three_records(void)
{
	box_format();
	box_write(10, 101);
	box_write(11, 111);
	box_sync();
	box_write(20, 201);
	box_sync();
	box_write(10, 102);
	box_write(30, 301);
	box_sync();
	CHECK_EQ(box.writes, 3);
}

TEST(blank_area_is_an_empty_log)
{
	box_format();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.log.map.nr_mapped, 0);
	CHECK_EQ(box.recovery.records, 0);
	CHECK_EQ(box_write(1, 1), 0);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(1), 1);
}

TEST(newest_contents_win)
{
	three_records();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 3);
	CHECK_EQ(box_read(10), 102);
	CHECK_EQ(box_read(11), 111);
	CHECK_EQ(box_read(20), 201);
	CHECK_EQ(box_read(30), 301);
	CHECK_EQ(box.log.map.nr_dirty, 4);
}

TEST(recovery_is_idempotent_and_writes_nothing)
{
	static u8 before[sizeof(box.disk)];

	three_records();
	memcpy(before, box.disk, sizeof(before));
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_recover(), 0);
	CHECK(!memcmp(before, box.disk, sizeof(before)), "the disk has changed");
	CHECK_EQ(box.log.map.nr_dirty, 4);
}

/* Its data is torn and nothing says that it was durable: the last record is dropped. */
TEST(torn_last_record_is_dropped)
{
	three_records();
	disk_block(23)[4095] ^= 1;
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 2);
	CHECK_EQ(box.recovery.dropped, 1);
	CHECK_EQ(box_read(10), 101);
	CHECK_EQ(box_read(30), 0);
	/* The next one stands in its place. */
	box_sync();
	CHECK_EQ(le64_to_cpu(header_at(21)->seq), 3);
	CHECK_EQ(le16_to_cpu(header_at(21)->nr_maps), 0);
	CHECK_EQ(le32_to_cpu(header_at(21)->flags), RESSD_RECORD_FIRST);
}

/* Behind a hole in the newest segment nothing can be seen: it looks like a power cut. */
TEST(records_behind_a_hole_are_dropped)
{
	three_records();
	memset(disk_block(19), 0, RESSD_BLOCK_SIZE);
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 1);
	CHECK_EQ(box_read(10), 101);
	three_records();
	header_at(19)->uuid[0] ^= 1;	/* as left by another format */
	ressd_record_seal(header_at(19));
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 1);
}

/* A missing record that a later one calls durable is damage, not a power cut. */
TEST(refuses_a_gap_that_the_next_segment_reveals)
{
	u32 i;

	box_format();
	for (i = 0; i < 3; i++) {
		box_write(i, i + 1);
		box_sync();
	}
	ressd_log_rotate(&box.log);
	box_write(3, 4);
	box_sync();
	box_write(4, 5);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.log.map.nr_dirty, 5);
	memset(disk_block(20), 0, RESSD_BLOCK_SIZE);	/* the third record, in slot 1 */
	CHECK(box_recover() == -EUCLEAN, "a durable record is gone, but recovery goes on");
	CHECK_HAS(box.error, "the log is damaged");
	CHECK_HAS(box.error, "ressdctl check");
}

TEST(stale_record_of_another_chain_does_not_follow)
{
	static u8 stale[2 * RESSD_BLOCK_SIZE];

	three_records();
	memcpy(stale, disk_block(19), sizeof(stale));	/* record 2 with its data */
	box_format();
	box_write(99, 1);
	box_write(98, 1);
	box_sync();
	memcpy(disk_block(19), stale, sizeof(stale));
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box.recovery.records, 1);
	CHECK_EQ(box_read(20), 0);
	CHECK_EQ(box_read(99), 1);
}

TEST(unmaps_survive)
{
	three_records();
	ressd_log_kill(&box.log, 10, 1);
	ressd_log_kill(&box.log, 20, 1);
	box_sync();
	CHECK_EQ(box_recover(), 0);
	CHECK_EQ(box_read(10), 0);	/* not 101 either */
	CHECK_EQ(box_read(20), 0);
	CHECK_EQ(box_read(11), 111);
	CHECK_EQ(box_read(30), 301);
}

TEST(entries_outside_the_device_are_refused)
{
	three_records();
	header_at(19)->entries[0].block = cpu_to_le32(BOX_NORMAL_BLOCKS);
	ressd_record_seal(header_at(19));
	header_at(21)->prev_crc = header_at(19)->crc;
	ressd_record_seal(header_at(21));
	CHECK(box_recover() == -EUCLEAN, "accepted");
	CHECK_HAS(box.error, "points outside the device, record 2");
}

/* Whatever the reserved area holds, recovery ends, stays in its memory and says why. */
TEST(random_damage_never_hurts)
{
	static u8 image[sizeof(box.disk)];
	u32 round, i, lbn = 0;

	box_format();
	for (i = 0; i < 70; i++) {
		if (box_write(lbn++ * 7 % BOX_NORMAL_BLOCKS, i + 1))
			break;
		if (i % 3 == 0)
			box_sync();
		box_run();
	}
	memcpy(image, box.disk, sizeof(image));
	for (round = 0; round < 2000; round++) {
		memcpy(box.disk, image, sizeof(image));
		for (i = 0; i <= round % 4; i++) {
			struct ressd_record_header *header;
			u32 block = test_below(BOX_BLOCKS);

			((u8 *)disk_block(block))[test_below(round % 2 ? 256 : 4096)] ^=
				1 << test_below(8);
			/* Half of the time the crc is right again: a hostile disk. */
			header = header_at(block);
			if (test_below(2) && header->magic == cpu_to_le64(RESSD_RECORD_MAGIC))
				ressd_record_seal(header);
		}
		if (box_recover())
			CHECK(box.error[0], "refused without a sentence");
	}
}
