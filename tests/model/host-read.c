// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads: where they go, and whether what they found may be returned, as dm-ressd-read.c and
 * -end.c decide it.
 */
#include "host.h"

static void check_read(struct host *host, const struct op *op, const u64 *data, const char *what)
{
	u32 i;

	for (i = 0; i < op->nr; i++)
		host_check_sector(host, op->first + i, &data[i * SECTOR_WORDS], op->started, what);
}

static void settle_read(struct host *host, const struct op *op, const u64 *data)
{
	u32 i;

	for (i = 0; i < op->nr; i++)
		oracle_settle(&host->oracle, op->first + i, data[i * SECTOR_WORDS], op->started);
}

void host_start_read(struct host *host, struct op *op)
{
	const struct ressd_map *map = &host->box.log.map;
	const struct ressd_node *node = ressd_map_find(map, op_first_block(op));
	const u64 *ram;

	op->from_log = host_is_dirty(host, op_first_block(op));
	if (op->from_log) {
		op->block = ressd_map_block(map, node);
		ram = ressd_log_data(&host->box.log, op->block);
		if (ram) {
			ram += op->first % BLOCK_SECTORS * SECTOR_WORDS;
			check_read(host, op, ram, "a read from RAM");
			settle_read(host, op, ram);
			return;
		}
		if (ressd_repair_is_unproven(&host->box.log, op->block) &&
		    host->fault != FAULT_READS_UNPROVEN)
			return;		/* it fails */
		op->proven = ressd_repair_is_proven(&host->box.log, op->block);
		host->readers[ressd_geom_slot(&host->layout.geom, op->block)]++;
	}
	op->flush_errors = host->flush_errors - host_is_doubtful(host);
	oracle_pin(&host->oracle, op->first, op->nr, true);
	if (op->from_log)
		host_send(host, op);
	else
		host_dispatch(host, op);
}

/* A flush has failed while it was on its way: it may have seen what was there before. */
static bool read_is_doubtful(const struct host *host, const struct op *op)
{
	enum fault ignored = op->from_log ? FAULT_READS_UNPROVEN : FAULT_READS_BESIDE_FLUSH;

	return op->flush_errors != host->flush_errors && !op->proven && host->fault != ignored;
}

void host_end_read(struct host *host, struct op *op, bool error)
{
	u64 data[BLOCK_SECTORS * SECTOR_WORDS];
	bool good = !error && !read_is_doubtful(host, op);
	u32 from = op->first;

	if (op->from_log) {
		host->readers[ressd_geom_slot(&host->layout.geom, op->block)]--;
		from = layout_log_sector(&host->layout, op->block) + op->first % BLOCK_SECTORS;
	}
	disk_read(&host->disk, from, op->nr, data);
	if (good)
		check_read(host, op, data, "a read in flight");
	oracle_pin(&host->oracle, op->first, op->nr, false);
	if (good)
		settle_read(host, op, data);
	op->state = OP_FREE;
	host_retry(host);	/* the segment may have been busy only by this read */
}
