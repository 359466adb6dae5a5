// SPDX-License-Identifier: GPL-2.0-only
/* What loads of applications gain by the log; see loads.h. */
#include <math.h>
#include <string.h>
#include "loads.h"

#define BLOCK		4096U
#define LOGGED		0.75	/* of the log, as in keep_to_region() */
#define ZIPF		1.1	/* as fio's random_distribution=zipf:1.1 */
#define STEP		1.1	/* ranks that are so near are written to alike */

const char *load_name(enum load load)
{
	static const char *const names[] = {
		[LOAD_COMMITS] = "commits",
		[LOAD_ZIPF] = "zipf",
		[LOAD_FLOWS] = "flows",
	};

	return names[load];
}

/*
 * A commit to an open block, if that was seen; else a flush with its write, or, where a write
 * completes when it is programmed, that.
 */
static u64 commit_ns(const struct load_costs *costs, const struct finding *units)
{
	if (units->usual_ns)
		return units->usual_ns;
	return costs->flush_ns ? costs->flush_ns + costs->in_order_ns : costs->direct_ns;
}

void load_costs_of(struct load_costs *costs, const struct measurements *measurements,
		   const struct finding *findings, const struct analysis *analysis)
{
	const struct rehearsal *rehearsal = &measurements->rehearsal[0];
	const struct finding *flush = &findings[PARAMETER_FLUSH_COST];
	const struct result *in_order = &measurements->sequential_write;

	memset(costs, 0, sizeof(*costs));
	if (!rehearsal->done)
		return;
	costs->direct_ns = rehearsal->direct_ns;
	costs->log_ns = rehearsal->log_ns;
	costs->move_ns = analysis->by_size[0].through_ns - rehearsal->log_ns;
	costs->in_order_ns = analyse_transfers_ns(in_order, BLOCK, in_order->pause_ns);
	costs->flush_ns = flush->status == STATUS_MEASURED ? flush->value : 0;
	costs->commit_ns = commit_ns(costs, &findings[PARAMETER_OPEN_UNITS]);
	costs->blocks = (rehearsal->working_set ? rehearsal->working_set :
			 measurements->normal_bytes) / BLOCK;
	costs->logged = LOGGED * measurements->log_bytes / BLOCK;
	costs->overwritten_percent = rehearsal->overwritten_percent;
}

/* Share of the writes that go to ranks below @rank, which begin with 1. */
static double below(double rank, double blocks)
{
	return (pow(rank, 1 - ZIPF) - 1) / (pow(blocks, 1 - ZIPF) - 1);
}

u32 load_zipf_overwritten(u64 blocks, u64 logged)
{
	double rank = 1, distinct = 0;

	if (blocks < 2 || !logged)
		return 0;
	while (rank < blocks) {
		const double end = fmin(fmax(rank * STEP, rank + 1), blocks);
		const double writes = (below(end, blocks) - below(rank, blocks)) * logged;

		distinct += (end - rank) * (1 - exp(-writes / (end - rank)));
		rank = end;
	}
	return distinct < logged ? 100 - 100 * distinct / logged : 0;
}

static u32 gain(u64 direct, u64 log, u64 move, u32 overwritten)
{
	const u64 through = log + move * (100 - overwritten) / 100;

	return direct && through ? direct * 100 / through : 0;
}

/*
 * A record of one block has a header.  What flows have logged goes home in order, or is not logged
 * at all: a flow that goes on is no small write.
 */
u32 load_gain(enum load load, const struct load_costs *costs)
{
	const u64 append = costs->commit_ns + costs->log_ns;

	switch (load) {
	case LOAD_COMMITS:
		return gain(costs->direct_ns + costs->flush_ns, append, costs->move_ns,
			    costs->overwritten_percent);
	case LOAD_ZIPF:
		return gain(costs->direct_ns, costs->log_ns, costs->move_ns,
			    load_zipf_overwritten(costs->blocks, costs->logged));
	default:
		return gain(costs->commit_ns, append, costs->in_order_ns, 0);
	}
}
