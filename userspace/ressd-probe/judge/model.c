// SPDX-License-Identifier: GPL-2.0-only
/* The analytical model of RE section 3.5; see model.h. */
#include <linux/minmax.h>
#include "judge/model.h"
#include "ressd-format.h"

static u64 block_ns(u64 bytes_per_second)
{
	return RESSD_BLOCK_SIZE * 1000000000ULL / bytes_per_second;
}

void model_evaluate(const struct bandwidths *bandwidths, u32 alpha_percent, struct cost *cost)
{
	u64 move = block_ns(bandwidths->random_read) + block_ns(bandwidths->ordered_write);
	u64 total;

	cost->direct_ns = block_ns(bandwidths->random_write);
	cost->log_ns = block_ns(bandwidths->sequential_write);
	cost->move_ns = move * (100 - alpha_percent) / 100;
	total = cost->log_ns + cost->move_ns;
	cost->gain_percent = ~0U;
	if (total)
		cost->gain_percent = min_t(u64, cost->direct_ns * 100 / total, ~0U);
	cost->worth = total < cost->direct_ns;
}
