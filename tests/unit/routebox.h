/* SPDX-License-Identifier: GPL-2.0-only */
/* A device of known costs, for the tests of ressd-route. */
#ifndef ROUTEBOX_H
#define ROUTEBOX_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include "harness.h"
#include "ressd-route.h"

/* What a block costs, in ns. */
struct device {
	u32 direct, log, move;
	u32 noise;			/* percent that each cost is drawn up or down by */
	u32 burst;			/* one in so many direct blocks costs 1000 times more */
};

static inline u64 drawn(const struct device *device, u32 cost)
{
	if (!device->noise)
		return cost;
	return cost - cost * device->noise / 100 + test_below(2 * cost * device->noise / 100 + 1);
}

static inline void bring_home(struct ressd_route *route, const struct device *device, u32 blocks)
{
	for (; blocks; blocks--)
		ressd_route_move_done(route, drawn(device, device->move), 1);
}

static inline bool log_wins(const struct ressd_route *route)
{
	return ressd_route_case(route)->log_wins;
}

#endif
