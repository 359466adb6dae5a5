// SPDX-License-Identifier: GPL-2.0-only
/* ressd-route and a host whose RAM takes two records before the device does: its trials. */
#include "routebox.h"

TEST_SUITE("route-ram");

#define RECORD_BLOCKS	127U

/* Blocks accepted, and how far they are; all of it is quicker than the device. */
struct ram {
	u32 open;			/* of the record that takes them */
	u32 in_flight;			/* of the one that is being written, 0: none */
	u32 logged, direct, most;	/* altogether; most: in RAM at once */
	u32 header_ns;			/* what a record costs beside its blocks */
	bool overwrites;		/* all writes are to one block */
};

/* The record in flight is written, and then the open one begins to be, if @due. */
static void record_done(struct ressd_route *route, struct ram *ram, const struct device *device,
			bool due)
{
	u64 ns = ram->header_ns;
	u32 i;

	for (i = 0; i < ram->in_flight; i++)
		ns += drawn(device, device->log);
	if (ram->in_flight)
		ressd_route_log_done(route, ns, ram->in_flight);
	ram->in_flight = due ? ram->open : 0;
	ram->open -= ram->in_flight;
}

static void accept_block(struct ressd_route *route, struct ram *ram, const struct device *device)
{
	if (ram->open == RECORD_BLOCKS)
		record_done(route, ram, device, true);
	if (!ram->overwrites || !ram->open)
		ram->open++;
	ram->logged++;
	ram->most = max(ram->most, ram->open + ram->in_flight);
	if (ram->open == RECORD_BLOCKS && !ram->in_flight)
		record_done(route, ram, device, true);
}

/* A write that is to be logged, as a whole; false: it waited, and that has changed meanwhile. */
static bool log_write(struct ressd_route *route, struct ram *ram, const struct device *device,
		      u32 nr)
{
	while (ressd_route_wants_write(route, ram->open, ram->in_flight)) {
		CHECK(ram->open + ram->in_flight, "it waits for nothing");
		record_done(route, ram, device, true);
	}
	if (!ressd_route_takes_log(route))
		return false;
	while (nr--)
		accept_block(route, ram, device);
	return true;
}

/* @writes of @nr blocks each: the device is written when RAM has no room, or when that is asked. */
static void use_ram(struct ressd_route *route, struct ram *ram, const struct device *device,
		    u32 nr, u32 writes)
{
	for (; writes; writes--) {
		bool log = ressd_route_small(route, nr, 0, 0);

		if (ressd_route_wants_move(route)) {
			while (ram->open || ram->in_flight)
				record_done(route, ram, device, true);
			bring_home(route, device, RESSD_ROUTE_LOG_TRIAL);
			ressd_route_move_ended(route, true);
			log = ressd_route_takes_log(route);
		}
		if (log && log_write(route, ram, device, nr))
			continue;
		if (ressd_route_times_direct(route))
			ressd_route_direct_done(route, drawn(device, device->direct) * nr, nr);
		ram->direct += nr;
	}
}

/*
 * Found by tools/bench.sh on the Intel drive: 255 blocks were logged, two whole records, before the
 * cost of the first was known by which the trial was lost.
 */
TEST(lost_trial_logs_little)
{
	const struct device device = { .direct = 41000, .log = 43000, .move = 60000 };
	u32 nr;

	for (nr = 1; nr <= 8; nr++) {
		struct ressd_route route;
		struct ram ram = { };

		ressd_route_init(&route, 0);
		use_ram(&route, &ram, &device, nr, 10000);
		CHECK(!log_wins(&route), "the log wins");
		CHECK(ram.logged >= 32 && ram.logged < 32 + nr, "%u: %u logged", nr, ram.logged);
		CHECK_EQ(ram.direct, 10000 * nr - ram.logged);
	}
}

/* Nor does any later trial. */
TEST(each_lost_trial_logs_little)
{
	const struct device device = { .direct = 100, .log = 120, .move = 150, .noise = 5 };
	struct ressd_route route;
	struct ram ram = { };

	ressd_route_init(&route, 0);
	use_ram(&route, &ram, &device, 1, 2000000);
	CHECK(ram.logged >= 2 * 32, "there was one trial only");
	CHECK_EQ(ram.logged % 32, 0);
	CHECK(ram.logged <= 6 * 32, "%u logged", ram.logged);
}

/* A drive's write buffer may take the first record at once: then one more is logged, not two. */
TEST(trial_lost_later_logs_one_record_more)
{
	struct device device = { .direct = 1000, .log = 100, .move = 150 };
	struct ressd_route route;
	struct ram ram = { };

	ressd_route_init(&route, 0);
	use_ram(&route, &ram, &device, 1, RESSD_ROUTE_DIRECT_TRIAL + 40);
	device.log = 2000;
	use_ram(&route, &ram, &device, 1, 5000);
	CHECK(!log_wins(&route), "the log wins");
	CHECK_EQ(ram.logged, 32 + RECORD_BLOCKS);
}

/*
 * Some devices pay a merge for the first write to the log.  So the rest of a trial counts though it
 * is less than a window; or in the next trial of the direct way that would not be seen.
 */
TEST(rest_of_a_trial_counts)
{
	struct device device = { .direct = 10000, .log = 5000, .move = 100 };
	struct ressd_route route;
	struct ram ram = { };

	ressd_route_init(&route, 0);
	use_ram(&route, &ram, &device, 1, RESSD_ROUTE_DIRECT_TRIAL + 40);
	device.log = 50;
	use_ram(&route, &ram, &device, 1, RESSD_ROUTE_LOG_TRIAL);
	CHECK(log_wins(&route), "the log does not win");
	CHECK_EQ(ressd_route_ns(&ressd_route_case(&route)->log), 50);
}

/*
 * Only the first record is short: what is measured after it is what the log costs in use.  In a
 * trial nothing is logged beside a record that is being written, in use RAM is full.
 */
TEST(trial_that_is_not_lost_fills_records)
{
	const struct device device = { .direct = 1000, .log = 60, .move = 120 };
	struct ressd_route route;
	struct ram ram = { };

	ressd_route_init(&route, 0);
	use_ram(&route, &ram, &device, 1, RESSD_ROUTE_DIRECT_TRIAL + RESSD_ROUTE_LOG_TRIAL);
	CHECK_EQ(ram.most, RECORD_BLOCKS);
	use_ram(&route, &ram, &device, 1, 20000);
	CHECK(log_wins(&route), "the log does not win");
	CHECK_EQ(ram.most, 2 * RECORD_BLOCKS);
	CHECK(ram.logged > 19000, "only %u logged", ram.logged);
}

/* A record costs a header and a command; a short one has them alone, and is not lost by that. */
TEST(short_record_does_not_mislead)
{
	u32 round;

	for (round = 0; round < 300; round++) {
		struct device device = { .direct = 1000 + test_below(1000000) };
		struct ram ram = { };
		struct ressd_route route;
		u64 through;

		/* Nearly all is the log's cost, and much as little as it must save. */
		device.log = (u64)device.direct * (40 + test_below(40)) / 100;
		device.move = device.direct / 100;
		ram.header_ns = test_below(device.log + device.direct);
		through = device.log + ram.header_ns / RECORD_BLOCKS + device.move;
		ressd_route_init(&route, 0);
		use_ram(&route, &ram, &device, 1, 10000);
		if (through * 1000 < device.direct * 795ULL)
			CHECK(ram.logged > 8000, "round %u: only %u logged", round, ram.logged);
	}
}

/* Overwritten in RAM, many writes may be few blocks; they are not waited for. */
TEST(overwrites_do_not_make_a_trial_wait)
{
	const struct device device = { .direct = 1000, .log = 2000, .move = 150 };
	struct ressd_route route;
	struct ram ram = { .overwrites = true };

	ressd_route_init(&route, 0);
	use_ram(&route, &ram, &device, 1, 5000);
	CHECK_EQ(ram.most, 1);
	CHECK(route.phase == RESSD_ROUTE_DIRECT || route.phase == RESSD_ROUTE_LOG,
	      "the trial goes on");
}

/* What was in RAM before the trial began is written first, and its cost counts as well. */
TEST(full_ram_is_written_first)
{
	const struct device device = { .direct = 1000, .log = 2000, .move = 150 };
	struct ram ram = { .open = 100, .in_flight = RECORD_BLOCKS };
	struct ressd_route route;

	ressd_route_init(&route, 0);
	use_ram(&route, &ram, &device, 1, 5000);
	CHECK(!log_wins(&route), "the log wins");
	CHECK_EQ(ram.logged, 0);
}

/* Whatever comes of it, who waits has something to wait for; without a trial nobody does. */
TEST(nobody_waits_for_nothing)
{
	struct ressd_route route;
	u32 i, blocks;

	ressd_route_init(&route, 0);
	for (i = 0; i < 300000; i++) {
		u32 open = test_below(RECORD_BLOCKS + 1), in_flight = test_below(RECORD_BLOCKS + 1);

		CHECK(!ressd_route_wants_write(&route, 0, 0), "phase %u", route.phase);
		if (route.phase != RESSD_ROUTE_TRY_LOG)
			CHECK(!ressd_route_wants_write(&route, open, in_flight), "phase %u",
			      route.phase);
		if (!test_below(4))
			ressd_route_flush(&route);
		blocks = 1 + test_below(8);
		if (!ressd_route_small(&route, blocks, test_below(20), i * 1000ULL)) {
			ressd_route_direct_done(&route, 1000 + test_below(1000), blocks);
			continue;
		}
		ressd_route_log_done(&route, test_below(4000), test_below(9));
		if (ressd_route_wants_move(&route) && test_below(2)) {
			ressd_route_move_done(&route, 1000 * blocks, blocks);
			ressd_route_move_ended(&route, test_below(2));
		}
	}
}

/* A trial in which no record can be written ends as well: by the number of writes. */
TEST(trial_without_a_record_ends)
{
	struct ressd_route route;
	u32 i;

	ressd_route_init(&route, 0);
	for (i = 0; i < 5000 && !ressd_route_wants_move(&route); i++)
		if (!ressd_route_small(&route, 1, 0, 0))
			ressd_route_direct_done(&route, 1000, 1);
	CHECK(ressd_route_wants_move(&route), "the trial goes on");
	ressd_route_move_ended(&route, false);
	CHECK(!ressd_route_takes_log(&route), "the log is taken");
}
