// SPDX-License-Identifier: GPL-2.0-only
/* Code that takes no lock, in all interleavings: what is searched stands in the other files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "copies.h"
#include "flight.h"
#include "notes.h"
#include "reads.h"
#include "space.h"

static const struct {
	const char *file, *what;
	const char *(*explore)(u32 stale, u32 *states);
} searches[] = {
	{ "copies", "copies into a record", explore_copies },
	{ "notes", "notes of a processor", explore_notes },
	{ "notes", "notes of two processors", explore_two_rings },
	{ "notes", "more notes than are judged at once", explore_more_notes },
	{ "notes", "notes in a full ring", explore_full_notes },
	{ "reads", "a read", explore_reads },
	{ "reads", "a read of several blocks", explore_long_reads },
	{ "reads", "a read beside a direct write", explore_reads_of_written },
	{ "reads", "a read beside a failed flush", explore_failed_flush },
	{ "reads", "a read beside two failed flushes", explore_two_failures },
	{ "space", "a write that needs a slot under a read", explore_write_for_slot },
	{ "space", "a sync that needs a slot under a read", explore_sync_for_slot },
	{ "space", "a discard of a slot", explore_discard },
	{ "flight", "a sweep", explore_sweep },
	{ "flight", "two sweeps", explore_two_sweeps },
	{ "flight", "fill a hole", explore_hole },
	{ "flight", "a block that is logged", explore_logged },
	{ "flight", "the end of a batch", explore_batch },
	{ "flight", "the end of two batches", explore_two_batches },
	{ "flight", "a repair", explore_repair },
	{ "flight", "a sweep beside a crowd", explore_sweep_listed },
	{ "flight", "two sweeps beside a crowd", explore_two_sweeps_listed },
	{ "flight", "the end of a batch beside a crowd", explore_batch_listed },
	{ "flight", "a repair beside a crowd", explore_repair_listed },
};

/*
 * interleave [STALE [FILE]]: the searches of FILE.c, or all; the first failure ends it, for a
 * planted bug is found then.
 */
int main(int argc, char **argv)
{
	u32 stale = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, states, i;
	const char *failure;

	for (i = 0; i < sizeof(searches) / sizeof(*searches); i++) {
		if (argc > 2 && strcmp(argv[2], searches[i].file))
			continue;
		failure = searches[i].explore(stale, &states);
		if (failure) {
			printf("not ok - interleave: %s: %s\n", searches[i].what, failure);
			return 1;
		}
		printf("ok - interleave: %s (%u states)\n", searches[i].what, states);
		fflush(stdout);
	}
	return 0;
}
