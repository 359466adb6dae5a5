// SPDX-License-Identifier: GPL-2.0-only
/* From single transfers to one figure; see rounds.h. */
#include <math.h>
#include <string.h>
#include "measure/rounds.h"
#include "measure/statistics.h"

static u64 bandwidth(u64 bytes, u64 ns)
{
	return ns ? (u64)((double)bytes * 1e9 / (double)ns) : 0;
}

/* Spread of the bandwidths of the last @kept of @count rounds, in percent of their mean. */
static u32 spread_of(const struct round *rounds, unsigned int count, unsigned int kept)
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

unsigned int rounds_kept(const struct round *rounds, unsigned int count)
{
	if (count <= ROUNDS_KEPT)
		return count;
	return spread_of(rounds, count, ROUNDS_KEPT) <= ROUNDS_SPREAD ? ROUNDS_KEPT :
	       count - 1;
}

/* Of a byte of the rounds that count. */
static double mean_cost(const struct round *rounds, unsigned int count, unsigned int kept)
{
	double bytes = 0, ns = 0;
	unsigned int i;

	for (i = count - kept; i < count; i++) {
		bytes += rounds[i].bytes;
		ns += rounds[i].ns;
	}
	return bytes > 0 ? ns / bytes : 0;
}

u32 rounds_uncertainty(const struct round *rounds, unsigned int count)
{
	const unsigned int kept = rounds_kept(rounds, count);
	const double mean = mean_cost(rounds, count, kept);
	double squares = 0, all = 0, percent;
	unsigned int i;

	if (count < 2)
		return 100;
	if (kept <= ROUNDS_KEPT || mean <= 0)
		return spread_of(rounds, count, kept);
	/* A round weighs as much as it has bytes. */
	for (i = count - kept; i < count; i++) {
		const double off = rounds[i].ns - mean * rounds[i].bytes;

		squares += off * off;
		all += mean * rounds[i].bytes;
	}
	percent = 400 * sqrt(squares) / all;
	return percent < 200 ? (u32)percent : 200;
}

bool rounds_want_more(const struct round *rounds, unsigned int count)
{
	if (count < ROUNDS_MIN)
		return true;
	return count < ROUNDS_MAX &&
	       spread_of(rounds, count, ROUNDS_KEPT) > ROUNDS_SPREAD;
}

#define PAUSED		4	/* times as long as the median: a call waited for something else */

/* Of the sorted @samples; what a call of them waited on average. */
static u64 pauses(const u64 *samples, const struct result *result)
{
	u64 i, sum = 0;

	for (i = result->ops; i && samples[i - 1] > PAUSED * result->median_ns; i--)
		sum += samples[i - 1] - result->median_ns;
	return sum / result->ops;
}

void rounds_result(const struct round *rounds, unsigned int count, u64 *samples,
		   struct result *result)
{
	const unsigned int kept = rounds_kept(rounds, count);
	unsigned int i;
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
	result->spread_percent = rounds_uncertainty(rounds, count);
	result->steady = count >= ROUNDS_MIN && result->spread_percent <= ROUNDS_SPREAD;
	result->done = result->ops > 0;
	if (!result->done)
		return;
	samples += skipped;
	stat_sort_ns(samples, result->ops);
	result->median_ns = samples[result->ops / 2];
	result->worst_ns = samples[result->ops - 1];
	result->pause_ns = pauses(samples, result);
}

u64 rounds_without_pauses(u64 ns, u64 calls, u64 pause_ns)
{
	const u64 pauses = calls * pause_ns, most = ns / 4 * 3;

	return ns - (pauses < most ? pauses : most);
}
