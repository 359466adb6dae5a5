// SPDX-License-Identifier: GPL-2.0-only
/* Mean, percentiles and histogram; see latency.h. */
#include <stdlib.h>
#include <string.h>
#include "latency.h"

#define WORST	10000	/* one of so many */

static int compare(const void *a, const void *b)
{
	const u64 one = *(const u64 *)a, other = *(const u64 *)b;

	return (one > other) - (one < other);
}

static u64 mean_of(const u64 *times, u64 nr)
{
	double sum = 0;
	u64 i;

	for (i = 0; i < nr; i++)
		sum += times[i];
	return sum / nr + 0.5;
}

/* The smallest time that @permille of all do not exceed. */
static u64 percentile(const u64 *times, u64 nr, u32 permille)
{
	return times[(nr * permille + 999) / 1000 - 1];
}

static u32 bucket_of(u64 ns)
{
	u32 bucket = 0;

	while (ns >>= 1)
		bucket++;
	return bucket;
}

void latency_of(u64 *times, u64 nr, struct latency *latency)
{
	const u64 worst = nr > WORST ? nr / WORST : 1;
	u64 i;

	memset(latency, 0, sizeof(*latency));
	if (!nr)
		return;
	qsort(times, nr, sizeof(*times), compare);
	latency->nr = nr;
	latency->mean = mean_of(times, nr);
	latency->p50 = percentile(times, nr, 500);
	latency->p99 = percentile(times, nr, 990);
	latency->p999 = percentile(times, nr, 999);
	latency->worst = mean_of(times + nr - worst, worst);
	latency->max = times[nr - 1];
	for (i = 0; i < nr; i++)
		latency->bucket[bucket_of(times[i])]++;
}
