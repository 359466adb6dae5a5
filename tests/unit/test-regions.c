// SPDX-License-Identifier: GPL-2.0-only
/* ressd-regions, as the map keeps them, against an array of what is mapped. */
#include <linux/string.h>
#include "harness.h"
#include "ressd-map.h"

TEST_SUITE("regions");

#define NR_LOG		60
#define MAX_NORMAL	4000

static struct ressd_node nodes[NR_LOG];
static unsigned long clean[NR_LOG / 32 + 1];
static unsigned long bits[NR_LOG * RESSD_REGIONS_PER_BLOCK / 32 + 2];
static struct ressd_map map;

static u32 nr_normal;
static int block_of[MAX_NORMAL + 1];	/* -1: not mapped */
static bool used[NR_LOG];

static void start(u32 normal_blocks)
{
	u32 i;

	memset(bits, 0x55, sizeof(bits));
	memset(used, 0, sizeof(used));
	nr_normal = normal_blocks;
	for (i = 0; i <= MAX_NORMAL; i++)
		block_of[i] = -1;
	CHECK(ressd_regions_bytes(nr_normal, NR_LOG) <= sizeof(bits), "larger than it may be");
	ressd_map_init(&map, nodes, clean, NR_LOG);
	ressd_regions_init(&map.regions, bits, nr_normal, NR_LOG);
	i = ressd_regions_bytes(nr_normal, NR_LOG);
	CHECK(i == sizeof(bits) || ((u8 *)bits)[i] == 0x55, "it reaches beyond its end");
}

/* Whole regions, so that the answer is exact. */
static bool is_mapped(u32 first, u32 last)
{
	u32 i = ressd_regions_start(&map.regions, first);
	u32 end = ressd_regions_start(&map.regions, last) + (1U << map.regions.shift);

	for (; i < end && i <= nr_normal; i++)
		if (block_of[i] >= 0)
			return true;
	return false;
}

static void check_all(void)
{
	u32 i;

	for (i = 0; i <= nr_normal; i++)
		CHECK_EQ(ressd_regions_may_hold(&map.regions, i, i), is_mapped(i, i));
}

static void check_range(void)
{
	u32 first = test_below(nr_normal), last = first + test_below(nr_normal - first + 1);

	CHECK_EQ(ressd_regions_may_hold(&map.regions, first, last), is_mapped(first, last));
}

static void insert(u32 block, u32 lbn)
{
	used[block] = true;
	block_of[lbn] = block;
	ressd_map_insert(&map, block, lbn);
}

/* Inserts, erases, or has another log block take over the newer version. */
static void step(u32 lbn)
{
	int old = block_of[lbn];
	u32 block = test_below(NR_LOG);

	if (old < 0) {
		if (!used[block])
			insert(block, lbn);
		return;
	}
	used[old] = false;
	if (used[block] || test_below(3)) {
		ressd_map_erase(&map, &nodes[old]);
		block_of[lbn] = -1;
	} else {
		ressd_map_take_out(&map, &nodes[old]);
		CHECK(ressd_regions_may_hold(&map.regions, lbn, lbn),
		      "block %u is unmapped before its newer version is", lbn);
		nodes[old].lbn = RESSD_NO_BLOCK;
		insert(block, lbn);
		return;
	}
	nodes[old].lbn = RESSD_NO_BLOCK;
}

static void random_steps(u32 normal_blocks)
{
	u32 round;

	start(normal_blocks);
	check_all();
	for (round = 0; round < 6000; round++) {
		/* Few or many different blocks: regions become full and empty. */
		step(test_below(round / 1000 % 2 ? 50 : nr_normal));
		check_range();
		if (round % 100 == 0)
			check_all();
	}
}

/* One region for each block, for two, for 16; and numbers that are no powers of two. */
TEST(random_against_an_array)
{
	random_steps(100);
	CHECK_EQ(map.regions.shift, 0);
	random_steps(NR_LOG * RESSD_REGIONS_PER_BLOCK);
	CHECK_EQ(map.regions.shift, 0);
	random_steps(NR_LOG * RESSD_REGIONS_PER_BLOCK + 1);
	CHECK_EQ(map.regions.shift, 1);
	random_steps(MAX_NORMAL - 1);
	CHECK_EQ(map.regions.shift, 5);
}

TEST(highest_block_numbers)
{
	u32 last = RESSD_NO_BLOCK - 1;

	CHECK_EQ(ressd_regions_bytes(last, 1 << 20), (1 << 20) / 2);
	start(100);
	map.regions.shift = 25;		/* of 2^32 blocks 128 regions */
	ressd_map_insert(&map, 0, last);
	CHECK(ressd_regions_may_hold(&map.regions, 0, last), "the last block of a long range");
	CHECK(ressd_regions_may_hold(&map.regions, last, last), "the last block");
	CHECK(!ressd_regions_may_hold(&map.regions, 0, last - (1U << 25)), "all regions before");
}

/* The price that the design promises: at most half a byte for each log block, and a word. */
TEST(memory_per_log_block)
{
	u32 normal;

	for (normal = 1; normal < 1U << 31; normal += normal / 7 + 1)
		CHECK(ressd_regions_bytes(normal, 131072) <= 65536 + sizeof(long), "%u blocks",
		      normal);
}
