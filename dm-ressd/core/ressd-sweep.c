// SPDX-License-Identifier: GPL-2.0-only
/* Selection of what the mover moves; see ressd-sweep.h. */
#include "ressd-sweep.h"

u64 ressd_sweep_start(struct ressd_sweep *sweep, const struct ressd_log *log)
{
	const struct ressd_record *open = &log->records[log->open];

	sweep->last_segment = log->head_seq - 1;
	sweep->next_lbn = 0;
	return open->seq - 1;
}

u32 ressd_sweep_pick(struct ressd_sweep *sweep, const struct ressd_log *log,
		     struct ressd_move *moves, u32 max)
{
	struct ressd_node *node = NULL;
	u32 nr = 0;

	if (sweep->next_lbn < RESSD_NO_BLOCK)
		node = ressd_map_first_from(&log->map, sweep->next_lbn);
	for (; node && nr < max; node = ressd_map_next(node)) {
		u32 block = ressd_map_block(&log->map, node);

		if (ressd_map_is_clean(&log->map, block) ||
		    ressd_log_segment_seq(log, block) > sweep->last_segment)
			continue;
		moves[nr++] = (struct ressd_move) {
			.lbn = node->lbn, .block = block, .crc = node->crc,
		};
	}
	sweep->next_lbn = nr && node ? (u64)moves[nr - 1].lbn + 1 : RESSD_NO_BLOCK;
	return nr;
}

u32 ressd_sweep_run(const struct ressd_move *moves, u32 nr, bool sources)
{
	u32 i;

	for (i = 1; i < nr; i++)
		if (moves[i].lbn != moves[i - 1].lbn + 1 ||
		    (sources && moves[i].block != moves[i - 1].block + 1))
			break;
	return i;
}
