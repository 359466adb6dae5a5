// SPDX-License-Identifier: GPL-2.0-only
/* Open units (core/ressd-units.c), beside a device that keeps as many open, the last used ones. */
#include <linux/kernel.h>
#include "harness.h"
#include "ressd-units.h"

TEST_SUITE("units");

static struct ressd_units units;

/* The device: its open units, the last used first. */
static struct {
	u32 nr, most;
	u64 open[RESSD_UNITS_MAX];
	u32 opened;
} device;

static void reset(u32 most)
{
	ressd_units_init(&units);
	device.nr = 0;
	device.opened = 0;
	device.most = most;
}

static void device_writes(u64 number)
{
	u32 i;

	for (i = 0; i < device.nr && device.open[i] != number; i++)
		;
	if (i == device.nr) {
		device.opened++;
		if (device.nr < device.most)
			device.nr++;
		else
			i--;
	}
	for (; i; i--)
		device.open[i] = device.open[i - 1];
	device.open[0] = number;
}

/* A small random write, routed as ressd-pattern.c does. Returns whether it is logged. */
static bool write_small(u64 number)
{
	if (!ressd_units_is_open(&units, number) &&
	    !ressd_units_pays(&units, number, device.most, true))
		return true;
	ressd_units_use(&units, number, device.most, 1);
	device_writes(number);
	return false;
}

/* As many writes to random ones of @span units; returns how many were logged. */
static u32 write_random(u32 nr, u32 span)
{
	u32 i, logged = 0;

	for (i = 0; i < nr; i++)
		logged += write_small(test_below(span));
	return logged;
}

TEST(units_that_fit_are_opened_once_each)
{
	reset(25);
	CHECK_EQ(write_random(20000, 25), 0);
	CHECK_EQ(device.opened, 25);
}

/* Of more than fit the same stay open: found with 40 units in use, 882 erases instead of 238. */
TEST(of_units_that_do_not_fit_the_same_stay_open)
{
	u32 span;

	for (span = 26; span < 400; span += 7) {
		u32 logged, opened;

		reset(25);
		write_random(20000, span);
		opened = device.opened;
		CHECK(opened < 25 + 20000 / RESSD_UNITS_WRITES / 4, "%u units of %u were opened",
		      opened, span);
		logged = write_random(20000, span);
		CHECK(device.opened - opened <= logged / RESSD_UNITS_WRITES / 4,
		      "%u units of %u were opened, %u writes logged", device.opened - opened, span,
		      logged);
	}
}

/* What is no longer written to gives way when as much as a merge costs was logged. */
TEST(other_units_are_opened_when_they_are_used_instead)
{
	u32 logged;

	reset(25);
	write_random(20000, 25);
	logged = 0;
	while (device.opened < 45 && logged < 20000)
		logged += write_small(100 + test_below(20));
	CHECK(logged <= 20 * (RESSD_UNITS_WRITES - 1), "%u were logged", logged);
}

/* Found with SQLite after mkfs, whose copies of the superblock had all units open: 144 logged. */
TEST(units_written_to_once_give_way_soon)
{
	u32 i, logged = 0;

	reset(25);
	for (i = 0; i < 25; i++)
		CHECK(!write_small(1000 + i), "unit %u", i);
	for (i = 0; i < 25 * 3; i++)
		logged += write_small(i % 25);
	CHECK_EQ(logged, 25);
	/* Large writes do not count. */
	reset(25);
	for (i = 0; i < 25; i++)
		ressd_units_use(&units, 1000 + i, 25, 0);
	CHECK_EQ(write_random(1000, 25), 0);
}

/* What is thought to be open is: the device has closed nothing that was not forgotten here. */
TEST(open_units_are_those_of_the_device)
{
	u32 i, j;

	reset(10);
	for (i = 0; i < 30000; i++) {
		if (test_below(4))
			write_small(test_below(9));
		else
			write_small(test_below(13));
		for (j = 0; j < units.open.nr; j++) {
			u32 place = 0;

			while (place < device.nr && device.open[place] != units.open.unit[j].number)
				place++;
			CHECK(place < device.nr, "unit %llu is not open",
			      (unsigned long long)units.open.unit[j].number);
		}
	}
	CHECK(device.opened, "nothing was opened");
}

TEST(limit_forgets_the_least_recently_used)
{
	u32 i;

	reset(4);
	for (i = 0; i < 4; i++)
		ressd_units_use(&units, i, 4, 1);
	ressd_units_use(&units, 0, 4, 1);
	ressd_units_limit(&units, 2);
	CHECK(ressd_units_is_open(&units, 0), "used last");
	CHECK(ressd_units_is_open(&units, 3), "used before");
	CHECK(!ressd_units_is_open(&units, 1) && !ressd_units_is_open(&units, 2), "forgotten");
	ressd_units_limit(&units, 0);
	CHECK(!ressd_units_is_open(&units, 0), "none is left");
	ressd_units_use(&units, 7, 0, 1);
	CHECK(!ressd_units_is_open(&units, 7), "none can be opened");
	CHECK(!ressd_units_pays(&units, 7, 0, true), "nor is it worth it");
}

TEST(writes_elsewhere_let_a_candidate_go)
{
	u32 i;

	reset(3);
	for (i = 20; i < 23; i++)
		ressd_units_use(&units, i, 3, RESSD_UNITS_WRITES);
	for (i = 1; i < RESSD_UNITS_WRITES; i++)
		CHECK(write_small(1), "write %u", i);
	for (i = 10; i < 13; i++)
		CHECK(write_small(i), "another unit");
	CHECK(write_small(1), "it has begun anew");
}
