// SPDX-License-Identifier: GPL-2.0-only
/* What a random write costs on a drive that pauses; see cycles.h. */
#include <math.h>
#include "measure/cycles.h"
#include "measure/statistics.h"

#define PAUSE_TIMES	16U	/* as long as usual, and longer than other loads hold one up: */
#define PAUSE_NS	250000000ULL
#define SPREAD		200	/* percent of one cycle; of several less, but never above: */
#define MOST_SPREAD	100

static void learn_usual(struct cycles *cycles, u64 ns)
{
	cycles->usual[cycles->groups++] = ns;
	if (cycles->groups < USUAL_GROUPS)
		return;
	stat_sort_ns(cycles->usual, USUAL_GROUPS);
	cycles->pause_ns = cycles->usual[USUAL_GROUPS / 2] * PAUSE_TIMES;
	if (cycles->pause_ns < PAUSE_NS)
		cycles->pause_ns = PAUSE_NS;
}

/* A pause, which is the last one now, has taken @pause_ns. */
static void end_cycle(struct cycles *cycles, u32 bytes, u64 pause_ns)
{
	const u64 writes = cycles->writes - cycles->first_writes;
	const u64 ns = cycles->ns - cycles->first_ns;
	const u32 spread = cycles->pauses ? SPREAD / sqrt(cycles->pauses) : MOST_SPREAD;

	if (pause_ns > cycles->longest_ns)
		cycles->longest_ns = pause_ns;
	if (!cycles->pauses++) {
		cycles->first_writes = cycles->writes;
		cycles->first_ns = cycles->ns;
		return;
	}
	cycles->result = (struct result){
		.done = true,
		.bandwidth = writes * bytes * 1e9 / ns,
		.median_ns = cycles->usual[USUAL_GROUPS / 2] / CYCLES_GROUP,
		.worst_ns = pause_ns,
		.spread_percent = spread < MOST_SPREAD ? spread : MOST_SPREAD,
		.ops = writes,
		.ns = ns,
		.total_bytes = cycles->writes * bytes,
		.total_ns = cycles->ns,
	};
}

void cycles_note(struct cycles *cycles, u32 bytes, u64 ns)
{
	if (!cycles->pause_ns) {
		learn_usual(cycles, ns);
		return;
	}
	cycles->writes += CYCLES_GROUP;
	cycles->ns += ns;
	if (ns >= cycles->pause_ns)
		end_cycle(cycles, bytes, ns);
}
