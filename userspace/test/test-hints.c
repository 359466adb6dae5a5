// SPDX-License-Identifier: GPL-2.0-only
/* What devices say of themselves, and what becomes of it beside what was measured. */
#include <stdio.h>
#include <string.h>
#include "harness.h"
#include "hints.h"
#include "registers.h"

const char test_suite[] = "probe-hints";

static u64 value_of(const struct register_value *values, unsigned int count, const char *name)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!strcmp(values[i].name, name))
			return values[i].value;
	return 0;
}

TEST(nvme_namespace)
{
	u8 data[NVME_IDENTIFY_BYTES] = { 0 };
	struct register_value values[MAX_REGISTER_VALUES];
	unsigned int count;

	data[26] = 1;		/* the second format ... */
	data[128 + 4 + 2] = 12;	/* ... has blocks of 4096 bytes */
	data[46] = 32;
	CHECK_EQ(registers_nvme_namespace(data, values), 1);
	CHECK_EQ(value_of(values, 1, "nvme/io_boundary"), 131072);
	data[24] = 0x10;
	data[64] = 3;
	data[66] = 3;
	data[68] = 255;
	data[72] = 31;
	count = registers_nvme_namespace(data, values);
	CHECK_EQ(count, 5);
	CHECK_EQ(value_of(values, count, "nvme/write_granularity"), 16384);
	CHECK_EQ(value_of(values, count, "nvme/discard_granularity"), 1048576);
	CHECK_EQ(value_of(values, count, "nvme/optimal_write"), 131072);
	data[128 + 4 + 2] = 63;
	CHECK_EQ(registers_nvme_namespace(data, values), 0);
}

TEST(nvme_controller)
{
	u8 data[NVME_IDENTIFY_BYTES] = { 0 };
	struct register_value values[MAX_REGISTER_VALUES];

	data[77] = 5;
	data[525] = 7;
	CHECK_EQ(registers_nvme_controller(data, values), 2);
	CHECK_EQ(value_of(values, 2, "nvme/largest_transfer"), 131072);
	CHECK_EQ(value_of(values, 2, "nvme/volatile_cache"), 1);
}

TEST(emmc)
{
	u8 data[EXT_CSD_BYTES] = { 0 };
	struct register_value values[MAX_REGISTER_VALUES];
	unsigned int count;

	CHECK_EQ(registers_ext_csd(data, values), 0);
	data[224] = 8;
	data[225] = 6;
	data[265] = 4;
	data[266] = 1;
	data[250] = 2;		/* 512 Kbit */
	count = registers_ext_csd(data, values);
	CHECK_EQ(count, 5);
	CHECK_EQ(value_of(values, count, "emmc/erase_group"), 4 << 20);
	CHECK_EQ(value_of(values, count, "emmc/super_page"), 16384);
	CHECK_EQ(value_of(values, count, "emmc/optimal_write"), 16384);
	CHECK_EQ(value_of(values, count, "emmc/cache"), 65536);
}

TEST(scsi)
{
	u8 data[64] = { 0, 0xb0, 0, 60, 0, 0, 0, 32, 0, 0, 0x20, 0, 0, 0, 1, 0 };
	struct register_value values[MAX_REGISTER_VALUES];
	unsigned int count;

	data[31] = 64;
	count = registers_vpd_limits(data, sizeof(data), 512, values);
	CHECK_EQ(count, 4);
	CHECK_EQ(value_of(values, count, "scsi/transfer_granularity"), 16384);
	CHECK_EQ(value_of(values, count, "scsi/largest_transfer"), 4 << 20);
	CHECK_EQ(value_of(values, count, "scsi/optimal_transfer"), 131072);
	CHECK_EQ(value_of(values, count, "scsi/discard_granularity"), 32768);
	/* An old disk's page ends early; another page is none. */
	CHECK_EQ(registers_vpd_limits(data, 16, 512, values), 3);
	CHECK_EQ(registers_vpd_limits(data, 12, 512, values), 0);
	data[1] = 0xb1;
	CHECK_EQ(registers_vpd_limits(data, sizeof(data), 512, values), 0);
}

static struct hints saying(const char *name, const char *value)
{
	struct hints hints = { .count = 1 };

	hints.hint[0].name = name;
	snprintf(hints.hint[0].value, sizeof(hints.hint[0].value), "%s", value);
	return hints;
}

static struct finding after(const struct hints *hints, enum parameter parameter,
			    enum status status, enum confidence confidence, u64 value)
{
	struct finding findings[NR_PARAMETERS] = { 0 };

	findings[parameter].status = status;
	findings[parameter].confidence = confidence;
	findings[parameter].value = value;
	strcpy(findings[parameter].why, "it was seen");
	hints_check(hints, findings);
	return findings[parameter];
}

/* USB sticks, cards and eMMC without a command queue; others by the kernel's own queues. */
TEST(one_command_at_a_time)
{
	struct hints hints = saying("device/queue_depth", "1");

	CHECK(hints_one_at_a_time(&hints), "a stick");
	hints = saying("device/queue_depth", "32");
	CHECK(!hints_one_at_a_time(&hints), "an SSD");
	hints = saying("device/type", "SD");
	CHECK(hints_one_at_a_time(&hints), "a card");
	hints = saying("device/type", "MMC");
	hints.hint[hints.count++] = (struct hint){ .name = "device/cmdq_en", .value = "1" };
	CHECK(!hints_one_at_a_time(&hints), "eMMC with a queue");
	strcpy(hints.hint[1].value, "0");
	CHECK(hints_one_at_a_time(&hints), "eMMC without");
	hints = saying("queue/rotational", "0");
	CHECK(!hints_one_at_a_time(&hints), "nothing is said");
	hints = saying("mq/0/nr_tags", "1");
	CHECK(hints_one_at_a_time(&hints), "one queue of one tag");
	hints = saying("mq/0/nr_tags", "16");
	CHECK(!hints_one_at_a_time(&hints), "one queue of many");
	hints = saying("mq/0/nr_tags", "1");
	hints.hint[hints.count++] = (struct hint){ .name = "mq/1/nr_tags", .value = "1" };
	CHECK(!hints_one_at_a_time(&hints), "two queues");
}

TEST(hints_that_agree)
{
	const struct hints hints = saying("queue/physical_block_size", "16384");
	const struct finding page = after(&hints, PARAMETER_PAGE, STATUS_MEASURED,
					  CONFIDENCE_MEDIUM, 16384);

	CHECK_EQ(page.confidence, CONFIDENCE_MEDIUM);
	CHECK_STR(page.why, "it was seen; queue/physical_block_size agrees: 16 KiB");
}

TEST(hints_that_contradict)
{
	const struct hints hints = saying("device/preferred_erase_size", "4194304");
	struct finding block;

	block = after(&hints, PARAMETER_BLOCK, STATUS_MEASURED, CONFIDENCE_MEDIUM, 3 << 20);
	CHECK_EQ(block.confidence, CONFIDENCE_LOW);
	CHECK_EQ(block.value, 3 << 20);
	/* Two methods that agree are worth more than a claim. */
	block = after(&hints, PARAMETER_BLOCK, STATUS_MEASURED, CONFIDENCE_HIGH, 3 << 20);
	CHECK_EQ(block.confidence, CONFIDENCE_HIGH);
	block = after(&hints, PARAMETER_BLOCK, STATUS_MEASURED, CONFIDENCE_MEDIUM, 2 << 20);
	CHECK_EQ(block.confidence, CONFIDENCE_MEDIUM);
}

TEST(hints_alone)
{
	const struct hints hints = saying("device/preferred_erase_size", "4194304");
	const struct hints small = saying("device/preferred_erase_size", "512");
	struct finding block;

	block = after(&hints, PARAMETER_BLOCK, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW, 0);
	CHECK_EQ(block.status, STATUS_HINT);
	CHECK_EQ(block.value, 4 << 20);
	CHECK_HAS(block.why, "preferred_erase_size says 4096 KiB");
	/* SD cards say 512 bytes where they say nothing. */
	block = after(&small, PARAMETER_BLOCK, STATUS_NOT_DETECTABLE, CONFIDENCE_LOW, 0);
	CHECK_EQ(block.status, STATUS_NOT_DETECTABLE);
}
