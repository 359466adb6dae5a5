// SPDX-License-Identifier: GPL-2.0-only
/* What a random write costs on a drive that pauses; see cycles.h. */
#include "measure/cycles.h"
#include "measure/statistics.h"

#define PAUSE_TIMES	16U	/* as long as usual, and longer than other loads hold one up: */
#define PAUSE_NS	250000000ULL
#define SPREAD		100	/* percent: all of the logs may not have been reclaimed yet */

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
	const unsigned int count = cycles->pauses < CYCLES ? cycles->pauses : CYCLES;
	const unsigned int first = (cycles->pauses - count) % (CYCLES + 1);
	const u64 writes = cycles->writes - cycles->writes_at[first];
	const u64 ns = cycles->ns - cycles->ns_at[first];

	cycles->writes_at[cycles->pauses % (CYCLES + 1)] = cycles->writes;
	cycles->ns_at[cycles->pauses % (CYCLES + 1)] = cycles->ns;
	cycles->pauses++;
	if (!count)
		return;
	cycles->result = (struct result){
		.done = true,
		.bandwidth = writes * bytes * 1e9 / ns,
		.median_ns = cycles->usual[USUAL_GROUPS / 2] / CYCLES_GROUP,
		.worst_ns = pause_ns,
		.spread_percent = SPREAD,
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
