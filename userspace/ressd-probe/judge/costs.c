// SPDX-License-Identifier: GPL-2.0-only
/* What the mover's work costs, from what was measured; see analyse.h. */
#include "judge/analyse.h"

#define BLOCK		4096U
#define FILL_PERCENT	90		/* of the time of a whole block */
#define FILL_LEAST	16		/* blocks; of fewer the time is that of merges alone */

double analyse_transfers_ns(const struct result *result, u64 bytes, u64 pause_ns)
{
	const double ns = result->bandwidth ? bytes * 1e9 / result->bandwidth : 0;

	if (!result->ns)
		return ns;
	return ns * rounds_without_pauses(result->ns, result->ops, pause_ns) / result->ns;
}

double analyse_rewrite_ns(const struct measurements *measurements, u64 bytes)
{
	const struct result *read = &measurements->sequential_read;
	const struct result *write = &measurements->sequential_write;

	return analyse_transfers_ns(read, bytes, read->pause_ns) +
	       analyse_transfers_ns(write, bytes, write->pause_ns);
}

static u64 fill_by_distances(const struct measurements *measurements, u64 block_bytes)
{
	/* Not of all blocks written to in order is the merge seen in the time of measuring. */
	const u64 level = analyse_rewrite_ns(measurements, block_bytes) * FILL_PERCENT / 100;
	u64 before_nr = 0, before_ns = 0;
	int i;

	for (i = NR_STRIDES; i--; ) {
		const u64 nr = block_bytes / MEASURED_STRIDE(i);
		const u64 ns = nr * analyse_transfers_ns(&measurements->by_stride[i], BLOCK, 0);

		if (!ns || nr < FILL_LEAST)
			continue;
		if (ns > level && before_ns <= level)
			return before_nr + 1 +
			       (nr - before_nr) * (level - before_ns) / (ns - before_ns);
		before_nr = nr;
		before_ns = ns;
	}
	return 0;
}

/* To read a block from the log. */
static double logged_ns(const struct measurements *measurements)
{
	const struct result *read = &measurements->random_read[SIZE_4K];

	return analyse_transfers_ns(read, BLOCK, read->pause_ns);
}

static u64 blocks_of_visit(const struct rehearsal *rehearsal)
{
	return (u64)rehearsal->visit_pieces * (rehearsal->size / BLOCK);
}

bool analyse_knows_distances(const struct measurements *measurements)
{
	int i;

	for (i = 0; i < NR_STRIDES; i++)
		if (measurements->by_stride[i].done)
			return true;
	return false;
}

u64 analyse_fill_from(const struct measurements *measurements, u64 block_bytes)
{
	const struct rehearsal *rehearsal = &measurements->rehearsal[0];
	const double whole = analyse_rewrite_ns(measurements, block_bytes);
	const u64 fill = fill_by_distances(measurements, block_bytes);
	const u64 nr = blocks_of_visit(rehearsal);
	const double visit = nr * (rehearsal->move_ns - logged_ns(measurements));

	/* Where it took longer the distances say more, but a quick run has none. */
	if (visit <= 0 || (visit > whole ? analyse_knows_distances(measurements) :
					   !fill || nr < fill))
		return fill;
	/* What was rehearsed has all its merges in it. */
	return nr * whole / visit + 1;
}

bool analyse_can_rewrite(const struct measurements *measurements, const struct finding *block)
{
	return block->status == STATUS_MEASURED && block->confidence >= CONFIDENCE_MEDIUM &&
	       block->value && block->has_phase &&
	       (measurements->disk_offset + block->phase) % block->value == 0;
}

u64 analyse_move_ns(const struct measurements *measurements, const struct rehearsal *rehearsal,
		    const struct finding *block)
{
	const struct result *read = &measurements->sequential_read;
	const struct result *write = &measurements->sequential_write;
	const u64 blocks = blocks_of_visit(rehearsal);
	u64 fill;
	double whole;

	if (!blocks || !read->bandwidth || !write->bandwidth ||
	    !measurements->random_read[SIZE_4K].bandwidth ||
	    !analyse_can_rewrite(measurements, block))
		return rehearsal->move_ns;
	whole = analyse_rewrite_ns(measurements, block->value) / blocks + logged_ns(measurements);
	fill = analyse_fill_from(measurements, block->value);
	if (!fill)
		return rehearsal->move_ns;
	if (blocks >= fill)
		return whole;
	return whole < rehearsal->move_ns ? whole : rehearsal->move_ns;
}
