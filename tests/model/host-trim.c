// SPDX-License-Identifier: GPL-2.0-only
/*
 * Discards of segments that may be reused, as dm-ressd-log-discard.c sends them.  What a sector
 * holds afterwards nobody promises: zeroes, what was there, or something else, each sector for
 * itself.  And a loss of power may bring any of them back.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/errno.h>
#include "host.h"

enum { TRIM_ZEROES, TRIM_GARBAGE, TRIM_MIXED, TRIM_ENDS, NR_TRIM_KINDS };

/* Does the device leave sector @i of @nr as it is? */
static bool is_left(u32 kind, struct random *random, u32 i, u32 nr)
{
	switch (kind) {
	case TRIM_MIXED:
		return random_once_in(random, 3);
	case TRIM_ENDS:
		return i < BLOCK_SECTORS || i >= nr - BLOCK_SECTORS;
	default:
		return false;
	}
}

static void choose_contents(u64 *words, u32 nr, u64 number)
{
	struct random random = { .state = number };
	u32 kind = number % NR_TRIM_KINDS, i, j;

	for (i = 0; i < nr; i++, words += SECTOR_WORDS) {
		bool zero = kind == TRIM_ZEROES || (kind != TRIM_GARBAGE &&
						    random_once_in(&random, 2));

		if (is_left(kind, &random, i, nr))
			continue;
		for (j = 0; j < SECTOR_WORDS; j++)
			words[j] = zero ? 0 : random_u64(&random);
	}
}

/* Core keeps nothing of a segment that is discarded: neither a block nor an UNMAP. */
static void check_forgotten(struct host *host, u32 slot)
{
	const struct ressd_log *log = &host->box.log;
	u32 block = ressd_geom_slot_start(&log->geom, slot);
	u32 end = ressd_geom_slot_end(&log->geom, slot);

	for (; block < end; block++)
		if (log->map.nodes[block].lbn != RESSD_NO_BLOCK)
			violation(host, "log block %u is discarded, and still that of block %u",
				  block, log->map.nodes[block].lbn);
}

static void begin(struct host *host, u64 number)
{
	const struct ressd_geom *geom = &host->layout.geom;
	u32 slot, block, first, nr;
	u64 *data;

	if (!ressd_log_take_discard(&host->box.log, &slot))
		return;
	check_forgotten(host, slot);
	block = ressd_geom_slot_start(geom, slot);
	first = layout_log_sector(&host->layout, block);
	nr = (ressd_geom_slot_end(geom, slot) + geom->summary_blocks - block) * BLOCK_SECTORS;
	data = malloc((size_t)nr * SECTOR_BYTES);
	if (!data)
		abort();
	disk_read(&host->disk, first, nr, data);
	choose_contents(data, nr, number);
	host->trim = disk_submit(&host->disk, first, nr, data);
	free(data);
	host->trimming = true;
	host->trim_slot = slot;
	if (host->fault != FAULT_TRIM_NOT_BUSY)
		host->readers[slot]++;
	host_trace(host, "discard of slot %u begins", slot);
}

static void end(struct host *host, bool error, u64 number)
{
	if (error)
		disk_fail(&host->disk, host->trim, number);
	else
		disk_complete(&host->disk, host->trim, false);
	host->trimming = false;
	if (host->fault != FAULT_TRIM_NOT_BUSY)
		host->readers[host->trim_slot]--;
	host_trace(host, "discard of slot %u %s", host->trim_slot, error ? "fails" : "done");
	host_retry(host);	/* the head may have waited for it */
}

void host_trim_step(struct host *host, bool error, u64 number)
{
	if (host->trimming)
		end(host, error, number);
	else if (host->config.discards)
		begin(host, number);
}
