// SPDX-License-Identifier: GPL-2.0-only
/* Sizes and places. */
#include "cli/size.h"
#include "dm/plan.h"
#include "harness.h"
#include "ressd-geom.h"

const char test_suite[] = "probe-plan";

static u64 bytes_of(const char *text, u64 whole)
{
	struct failure failure = { "" };
	u64 bytes = 0;

	CHECK(!size_parse(text, "it", whole, &bytes, &failure), "%s: %s", text, failure.text);
	return bytes;
}

TEST(sizes)
{
	CHECK_EQ(bytes_of("0", 0), 0);
	CHECK_EQ(bytes_of("4096", 0), 4096);
	CHECK_EQ(bytes_of("8s", 0), 4096);
	CHECK_EQ(bytes_of("4K", 0), 4096);
	CHECK_EQ(bytes_of("3MiB", 0), 3 << 20);
	CHECK_EQ(bytes_of("2T", 0), 2ULL << 40);
	CHECK_EQ(bytes_of("5%", 1000), 50);
	CHECK_EQ(bytes_of("100%", ~0ULL), ~0ULL);
	CHECK_EQ(bytes_of("18446744073709551615", 0), ~0ULL);
}

TEST(bad_sizes)
{
	static const char *const texts[] = {
		"", "-1", " 1", "+1", "K", "1.5M", "1X", "1MM", "101%", "18446744073709551616",
		"16777216T", "0x10", "1 M", "%s%n",
	};
	struct failure failure;
	size_t i;
	u64 bytes;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		failure.text[0] = '\0';
		CHECK(size_parse(texts[i], "the size", 1000, &bytes, &failure), "'%s' passed",
		      texts[i]);
		CHECK_HAS(failure.text, "the size is '");
	}
	CHECK(size_parse("5%", "the size", 0, &bytes, &failure), "a share of nothing");
}

TEST(printed_sizes)
{
	char text[SIZE_TEXT];

	CHECK_STR(size_print(0, text), "0 B");
	CHECK_STR(size_print(4096, text), "4 KiB");
	CHECK_STR(size_print(1536, text), "1.5 KiB");
	CHECK_STR(size_print(~0ULL, text), "16777216 TiB");
}

static void check_areas(u64 dev_bytes)
{
	struct failure failure = { "" };
	struct ressd_table table;
	struct ressd_geom geom;
	char why[96];

	CHECK(!plan_areas(dev_bytes, 0, &table, why, sizeof(why), &failure), "%llu: %s",
	      dev_bytes, failure.text);
	CHECK(!ressd_table_check(&table, dev_bytes / 512, dev_bytes / 512, true, failure.text,
				 sizeof(failure.text)), "%llu: %s", dev_bytes, failure.text);
	CHECK(!ressd_geom_init(&geom, table.reserved_sectors, 0, failure.text,
			       sizeof(failure.text)), "%llu: %s", dev_bytes, failure.text);
	CHECK(geom.nr_segments >= 16, "%llu: %u segments", dev_bytes, geom.nr_segments);
	CHECK_EQ(table.reserved_start + table.reserved_sectors, dev_bytes / 4096 * 8);
	CHECK_EQ(table.reserved_start, table.len);
	CHECK(table.reserved_sectors * 512 >= dev_bytes / 20 || dev_bytes > 80ULL << 30,
	      "%llu: %llu sectors are less than 5 %%", dev_bytes, table.reserved_sectors);
	if (dev_bytes >= 256 << 20)
		CHECK_EQ(table.reserved_start % 8192, 0);
}

TEST(areas_fit_any_device)
{
	int i;

	for (i = 22; i < 44; i++) {
		check_areas(1ULL << i);
		check_areas((1ULL << i) + 512);
		check_areas((1ULL << i) + 4096 * 777);
	}
	for (i = 0; i < 2000; i++)
		check_areas((4ULL << 20) + test_random() % (1ULL << (23 + i % 20)) / 512 * 512);
}

/* So the probe can format the area that it suggests: it has overwritten it anyway. */
TEST(region_covers_reserved_area)
{
	int i;

	for (i = 0; i < 2000; i++) {
		u64 dev_bytes = (4ULL << 20) + test_random() % (1ULL << (23 + i % 20)) / 512 * 512;
		struct failure failure = { "" };
		struct ressd_table table;
		struct region region;
		char why[96];

		CHECK(!plan_areas(dev_bytes, 0, &table, why, sizeof(why), &failure), "%s",
		      failure.text);
		CHECK(!plan_region(dev_bytes, NULL, &region, &failure), "%s", failure.text);
		CHECK(table.reserved_start * 512 >= region.offset, "%llu: begins before",
		      dev_bytes);
		CHECK_EQ(region.offset + region.bytes,
			 (table.reserved_start + table.reserved_sectors) * 512);
	}
}

TEST(areas_too_large)
{
	struct failure failure = { "" };
	struct ressd_table table;
	char why[96];

	CHECK(plan_areas(1 << 20, 0, &table, why, sizeof(why), &failure), "1 MiB has no room");
	CHECK_HAS(failure.text, "no normal area");
	CHECK(plan_areas(1 << 30, 1 << 30, &table, why, sizeof(why), &failure), "all of it");
	CHECK(plan_areas(1 << 30, ~0ULL, &table, why, sizeof(why), &failure), "more than all");
	CHECK(plan_areas(0, 0, &table, why, sizeof(why), &failure), "nothing");
}

TEST(asked_size_is_the_least)
{
	struct failure failure = { "" };
	struct ressd_table table;
	char why[96];

	CHECK(!plan_areas(1 << 30, 100 << 20, &table, why, sizeof(why), &failure), "%s",
	      failure.text);
	CHECK_EQ(table.reserved_sectors, (100 << 20) / 512);
	CHECK(!plan_areas((1 << 30) + 4096, 100 << 20, &table, why, sizeof(why), &failure), "%s",
	      failure.text);
	CHECK_EQ(table.reserved_sectors, (104 << 20) / 512 + 8 - 8192);
}

static struct region region_of(u64 dev_bytes, const char *text)
{
	struct failure failure = { "" };
	struct region region = { 0 };

	CHECK(!plan_region(dev_bytes, text, &region, &failure), "%s", failure.text);
	CHECK(region.offset + region.bytes <= dev_bytes, "%llu + %llu leave the device",
	      region.offset, region.bytes);
	CHECK_EQ(region.offset % 4096, 0);
	CHECK_EQ(region.bytes % 4096, 0);
	return region;
}

TEST(regions)
{
	CHECK_EQ(region_of(60ULL << 30, NULL).bytes, 4ULL << 30);
	CHECK_EQ(region_of(60ULL << 30, NULL).offset, 56ULL << 30);
	CHECK_EQ(region_of(10ULL << 30, NULL).bytes, 1ULL << 30);
	CHECK_EQ(region_of(1ULL << 30, NULL).bytes, 256 << 20);
	CHECK_EQ(region_of((64 << 20) + 512, NULL).bytes, 64 << 20);
	CHECK_EQ(region_of(1ULL << 30, "16M").bytes, 1008 << 20);
	CHECK_EQ(region_of(1ULL << 30, "16M:32M").bytes, 32 << 20);
	CHECK_EQ(region_of(1ULL << 30, "50%:50%").offset, 512 << 20);
	CHECK_EQ(region_of(60ULL << 30, "0").bytes, 4ULL << 30);
}

TEST(bad_regions)
{
	static const struct {
		const char *text;
		const char *part;
	} cases[] = {
		{ "1G", "begins at byte" }, { "1023M:2M", "ends at byte" },
		{ "1:1M", "multiples of 4096" }, { "0:1000001", "multiples of 4096" },
		{ "0:4K", "at least" }, { "x", "must be a number" }, { ":1M", "must be a number" },
		{ "0:", "must be a number" }, { "0:1M:1M", "unit" },
		{ "18446744073709547520:8192", "begins at byte" },
		{ "4096:18446744073709547520", "ends at byte" },
	};
	struct region region;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct failure failure = { "" };

		CHECK(plan_region(1 << 30, cases[i].text, &region, &failure), "%s passed",
		      cases[i].text);
		CHECK_HAS(failure.text, cases[i].part);
	}
}

/* A card of 32 GB in a machine with 4 GB: the region was more than may be kept, and refused. */
TEST(a_region_fits_into_memory)
{
	static const u64 limits[] = { 0, 256 << 20, 257 << 20, 999999999, 3ULL << 30, 1ULL << 40 };
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const struct region whole = region_of((32ULL << 30) + 12345, NULL);
		struct region region = whole;

		plan_limit_region(&region, limits[i]);
		CHECK(region.bytes <= limits[i] || region.bytes < 260 << 20 ||
		      region.bytes == whole.bytes, "%llu of %llu", region.bytes, limits[i]);
		CHECK(region.bytes >= 256 << 20, "%llu is little", region.bytes);
		CHECK(region.bytes + (4 << 20) > limits[i] || region.bytes == whole.bytes,
		      "%llu of %llu is less than fits", region.bytes, limits[i]);
		CHECK_EQ(region.offset + region.bytes, whole.offset + whole.bytes);
		CHECK_EQ(region.offset % (4 << 20), 0);
	}
}

/* 5 % reserved: a sweep moves 2.5 % of the device, so every fortieth block, or so. */
TEST(mover_stride)
{
	struct ressd_table table = { .len = 95000 * 8, .reserved_sectors = 5000 * 8 };

	CHECK_EQ(plan_mover_stride(&table, 4096, PLAN_HALF_LOG), 38 * 4096);
	CHECK_EQ(plan_mover_stride(&table, 8192, PLAN_HALF_LOG), 76 * 4096);
	CHECK_EQ(plan_mover_stride(&table, 4096, PLAN_VISITS), 20 * 4096);
	table.reserved_sectors = 8;
	CHECK_EQ(plan_mover_stride(&table, 8192, PLAN_HALF_LOG), 8192);
	table.reserved_sectors = 4 * table.len;
	CHECK_EQ(plan_mover_stride(&table, 4096, PLAN_HALF_LOG), 4096);
}

#define MIB	1048576ULL

static struct ressd_table areas(u64 dev_bytes, u64 reserved)
{
	struct ressd_table table = { 0 };
	struct failure failure;
	char why[96];

	CHECK(!plan_areas(dev_bytes, reserved, &table, why, sizeof(why), &failure), "%s",
	      failure.text);
	return table;
}

/* The reserved area of 50 MiB becomes one of 16 blocks that begins with one. */
TEST(areas_fit_the_block)
{
	struct ressd_table table = areas(1024 * MIB, 0);
	char why[96] = "";

	CHECK(plan_fit_block(1024 * MIB, 6 * MIB, 2 * MIB, true, &table, why, sizeof(why)), "fits");
	CHECK_EQ((table.reserved_start * 512 - 2 * MIB) % (6 * MIB), 0);
	CHECK(table.reserved_sectors * 512 >= 96 * MIB &&
	      table.reserved_sectors * 512 < 102 * MIB, "%llu", table.reserved_sectors);
	CHECK_EQ(table.reserved_start + table.reserved_sectors, 2048 * 1024);
	CHECK_EQ(table.len, table.reserved_start);
	CHECK_HAS(why, "16 clustered blocks");
}

/* As much as asked for, or a block more; and not an eighth of a small device. */
TEST(areas_that_do_not_grow)
{
	struct ressd_table table = areas(1024 * MIB, 20 * MIB);
	char why[96] = "as asked for";

	CHECK(plan_fit_block(1024 * MIB, 4 * MIB, 0, false, &table, why, sizeof(why)), "fits");
	CHECK_EQ(table.reserved_sectors * 512, 20 * MIB);
	CHECK_STR(why, "as asked for");
	table = areas(256 * MIB, 0);
	CHECK(plan_fit_block(256 * MIB, 4 * MIB, 0, true, &table, why, sizeof(why)), "fits");
	CHECK_EQ(table.reserved_start * 512 % (4 * MIB), 0);
	CHECK(table.reserved_sectors * 512 <= 16 * MIB, "%llu", table.reserved_sectors);
	table = areas(64 * MIB, 0);
	CHECK(!plan_fit_block(64 * MIB, 128 * MIB, 0, true, &table, why, sizeof(why)),
	      "no room for one");
	CHECK(!plan_fit_block(64 * MIB, 4 * MIB, 512, true, &table, why, sizeof(why)),
	      "borders within a log block");
}
