// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest time under the lock: what the module does with the log under one hold of ressd->lock,
 * in instructions, for logs of several sizes.  Each step that could grow with the log is taken in
 * the state that is worst for it; the loops around core are those of the module, with its limits.
 */
#include <stdio.h>
#include <linux/kernel.h>
#include "count.h"
#include "holds.h"

#define LIMIT		100000ULL	/* instructions */

static u64 longest;

void report(const char *what, u64 nr)
{
	printf("  %s: %llu instructions\n", what, (unsigned long long)nr);
	if (nr > longest)
		longest = nr;
}

void measure(const char *what, void (*call)(void *context), void *context)
{
	report(what, count_call(call, context));
}

void sample(const char *what, void (*call)(void *context), void *context)
{
	u32 i, j;

	for (i = 0; i < SAMPLES; i++) {
		measure(what, call, context);
		for (j = 0; j < SPREAD; j++)
			call(context);
	}
}

static void measure_all(const char *name, u32 mib)
{
	longest = 0;
	printf("log of %s:\n", name);
	measure_log(mib);
	measure_mover(mib);
	forget_filled();
	measure_covers(mib);
	printf("%s - lock-hold: no hold of more than %llu instructions, log of %s (%llu)\n",
	       longest && longest <= LIMIT ? "ok" : "not ok", LIMIT, name,
	       (unsigned long long)longest);
	printf("# result lock-hold/%s/instructions %llu instructions <=%llu\n", name,
	       (unsigned long long)longest, LIMIT);
	fflush(stdout);
}

int main(void)
{
	static const struct {
		const char *name;
		u32 mib;
	} sizes[] = {
		{ "64-mib", 64 }, { "1-gib", 1024 }, { "4-gib", 4096 }, { "16-gib", 16384 },
	};
	bool good = true;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		measure_all(sizes[i].name, sizes[i].mib);
		good &= longest && longest <= LIMIT;
	}
	return !good;
}
