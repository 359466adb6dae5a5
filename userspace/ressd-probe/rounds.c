// SPDX-License-Identifier: GPL-2.0-only
/* From single transfers to one figure; see rounds.h. */
#include <stdlib.h>
#include <string.h>
#include "rounds.h"

static u64 bandwidth(u64 bytes, u64 ns)
{
	return ns ? (u64)((double)bytes * 1e9 / (double)ns) : 0;
}

u32 rounds_spread(const struct round *rounds, unsigned int count, unsigned int kept)
{
	u64 slowest = ~0ULL, fastest = 0, sum = 0;
	unsigned int i;

	for (i = count - kept; i < count; i++) {
		u64 speed = bandwidth(rounds[i].bytes, rounds[i].ns);

		slowest = speed < slowest ? speed : slowest;
		fastest = speed > fastest ? speed : fastest;
		sum += speed;
	}
	return sum ? (u32)((fastest - slowest) * 100 * kept / sum) : 100;
}

bool rounds_want_more(const struct round *rounds, unsigned int count)
{
	if (count < ROUNDS_MIN)
		return true;
	return count < ROUNDS_MAX &&
	       rounds_spread(rounds, count, ROUNDS_KEPT) > ROUNDS_SPREAD;
}

static int compare(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

void rounds_result(const struct round *rounds, unsigned int count, u64 *samples,
		   struct result *result)
{
	unsigned int i, kept = count < ROUNDS_KEPT ? count : ROUNDS_KEPT;
	u64 bytes = 0, skipped = 0;

	memset(result, 0, sizeof(*result));
	for (i = 0; i < count; i++) {
		result->total_bytes += rounds[i].bytes;
		result->total_ns += rounds[i].ns;
		if (i < count - kept) {
			skipped += rounds[i].ops;
			continue;
		}
		bytes += rounds[i].bytes;
		result->ops += rounds[i].ops;
		result->ns += rounds[i].ns;
	}
	result->bandwidth = bandwidth(bytes, result->ns);
	result->spread_percent = rounds_spread(rounds, count, kept);
	result->steady = count >= ROUNDS_MIN && result->spread_percent <= ROUNDS_SPREAD;
	result->done = result->ops > 0;
	if (!result->done)
		return;
	samples += skipped;
	qsort(samples, result->ops, sizeof(*samples), compare);
	result->median_ns = samples[result->ops / 2];
	result->worst_ns = samples[result->ops - 1];
}

static double mean(const u64 *ns, unsigned int count)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		sum += (double)ns[i];
	return count ? sum / count : 0;
}

#define FEW_LONG	25	/* percent: a drive with that few keeps most of the region open */
#define APART	4	/* times that are so many times apart are of two kinds */

u32 rounds_elsewhere(u64 *ns, unsigned int count, unsigned int percent)
{
	double shorter, longer, share, here, there;
	unsigned int split = 0;

	if (count < ROUNDS_MIN)
		return 100;
	qsort(ns, count, sizeof(*ns), compare);
	/* On both sides of the middle of a logarithmic scale. */
	while (split < count - 1 && (double)ns[split] * (double)ns[split] <
	       (double)ns[0] * (double)ns[count - 1])
		split++;
	shorter = mean(ns, split);
	longer = mean(ns + split, count - split);
	if (longer < APART * shorter || (count - split) * 100 < FEW_LONG * count)
		return 100;
	share = (double)split / count;
	here = share * shorter + (1 - share) * longer;
	share = share * percent / 100;
	there = share * shorter + (1 - share) * longer;
	return (u32)(there * 100 / here);
}
