// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a read sees that looks at the regions without the lock, while the log changes the map: all
 * interleavings. Such a read loads a word once, so it is tried after each store to one of them,
 * inside of each call of the log: a block whose newest version is only in the log, and that the
 * call does not supersede from outside, must never look unmapped.
 *
 * The Makefile runs this once more with a bug planted in ressd-log.c, which must be found.
 */
#include <linux/string.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include "logbox.h"

TEST_SUITE("unlocked");

#define NR_LBNS		80U
#define ROUNDS		20000

static bool in_log[NR_LBNS];		/* before the call, and all through it */
static u64 contents[NR_LBNS];
static u32 stores;

static void check_regions(void)
{
	u32 lbn;

	stores++;
	for (lbn = 0; lbn < NR_LBNS; lbn++)
		CHECK(!in_log[lbn] || ressd_regions_may_hold(&box.log.map.regions, lbn, lbn),
		      "block %u looks unmapped", lbn);
}

/* All that is in the log is written back, and its segments can be used again. */
static void move_all(void)
{
	u32 lbn;

	box_sync();
	for (lbn = 0; lbn < NR_LBNS; lbn++) {
		if (!in_log[lbn])
			continue;
		CHECK(ressd_log_moved(&box.log, box_block(lbn), lbn), "block %u", lbn);
		in_log[lbn] = false;
	}
	ressd_log_reclaim(&box.log);
	box_run();
}

static void write_block(u32 lbn, u64 id)
{
	int ret;

	while ((ret = box_write(lbn, id))) {
		if (ret == -ENOSPC)
			move_all();
		else
			CHECK(box_run(), "error %d, and nothing to do", ret);
	}
	in_log[lbn] = true;
	contents[lbn] = id;
}

static void kill_blocks(u32 lbn, u32 nr)
{
	memset(&in_log[lbn], 0, nr);
	ressd_log_kill(&box.log, lbn, nr);
}

static void check_contents(void)
{
	u32 lbn;

	for (lbn = 0; lbn < NR_LBNS; lbn++)
		CHECK_EQ(box_read(lbn), in_log[lbn] ? contents[lbn] : 0);
}

static void step(u64 id)
{
	u32 lbn = test_below(NR_LBNS);

	switch (test_below(16)) {
	case 0:
		kill_blocks(lbn, 1 + test_below(min_t(u32, 8, NR_LBNS - lbn)));
		break;
	case 1:
		box_run();
		break;
	case 2:
		box_sync();
		break;
	case 3:
		if (!test_below(8))
			move_all();
		break;
	default:
		write_block(lbn, id);
	}
}

TEST(no_block_of_the_log_looks_unmapped)
{
	u64 id;

	memset(in_log, 0, sizeof(in_log));
	box_format();
	stores = 0;
	test_store_hook = check_regions;
	CHECK(box.log.map.regions.shift, "a region has but one block");
	for (id = 1; id <= ROUNDS; id++) {
		step(id);
		if (id % 64 == 0)
			check_contents();
	}
	test_store_hook = NULL;
	CHECK(stores > ROUNDS / 8, "only %u stores", stores);
}
