// SPDX-License-Identifier: GPL-2.0-only
/* What is compared while the host runs; see host.h. */
#include <string.h>
#include "host.h"

void host_check_sector(struct host *host, u32 sector, const u64 *words, u64 since,
		       const char *what)
{
	char allowed[600];

	if (memcmp(words, words + 1, SECTOR_BYTES - sizeof(words[0])))
		violation(host, "%s of sector %u returns what no write has written", what,
			  sector);
	if (oracle_may_read(&host->oracle, sector, words[0], since))
		return;
	oracle_explain(&host->oracle, sector, allowed, sizeof(allowed));
	violation(host, "%s of sector %u (block %u) returns %llx, since %llu, versions:%s", what,
		  sector, sector / BLOCK_SECTORS, (unsigned long long)words[0],
		  (unsigned long long)since, allowed);
}

/* What a failed flush may have taken must not be read. */
static bool read_fails(const struct host *host, u32 lbn)
{
	const struct ressd_map *map = &host->box.log.map;
	const struct ressd_node *node = ressd_map_find(map, lbn);
	u32 block = node ? ressd_map_block(map, node) : 0;
	bool logged = node && !ressd_map_is_clean(map, block);

	if (logged && ressd_log_data(&host->box.log, block))
		return false;
	if (host_is_doubtful(host) && !(logged && ressd_repair_is_proven(&host->box.log, block)))
		return true;
	return logged && ressd_repair_is_unproven(&host->box.log, block) &&
	       host->fault != FAULT_READS_UNPROVEN;
}

void host_check_reads(struct host *host)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	u32 lbn, i;

	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		if (read_fails(host, lbn))
			continue;
		box_read(&host->box, &host->disk.view, lbn, data);
		for (i = 0; i < BLOCK_SECTORS; i++) {
			const u64 *words = &data[i * SECTOR_WORDS];
			u32 sector = lbn * BLOCK_SECTORS + i;
			u64 since = host->oracle.now + 1;

			host_check_sector(host, sector, words, since, "a read");
			oracle_settle(&host->oracle, sector, words[0], since);
		}
	}
}

void host_check_home(struct host *host)
{
	u64 data[RESSD_BLOCK_SIZE / sizeof(u64)];
	u32 lbn, i;

	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		disk_read(&host->disk, lbn * BLOCK_SECTORS, BLOCK_SECTORS, data);
		for (i = 0; i < BLOCK_SECTORS; i++)
			host_check_sector(host, lbn * BLOCK_SECTORS + i, &data[i * SECTOR_WORDS],
					  host->oracle.now + 1, "after a drain, a plain read");
	}
}

struct books {
	u32 mapped, dirty, dying, sealed, used;
	u32 live[MAX_SLOTS];
};

static void count_map(struct host *host, struct books *books)
{
	const struct ressd_log *log = &host->box.log;
	const struct ressd_node *node, *last = NULL;

	for (node = ressd_map_first_from(&log->map, 0); node; node = ressd_map_next(node)) {
		u32 block = ressd_map_block(&log->map, node);

		if (++books->mapped > log->map.nr || (last && node->lbn <= last->lbn))
			violation(host, "the tree is broken at block %u", node->lbn);
		last = node;
		if (!ressd_map_is_clean(&log->map, block)) {
			books->dirty++;
			books->live[ressd_geom_slot(&log->geom, block)]++;
		}
	}
	for (node = ressd_dying_last(&log->map, &log->unmaps); node;
	     node = ressd_dying_before(&log->map, node))
		if (++books->dying > log->map.nr || node->lbn == RESSD_NO_BLOCK)
			violation(host, "the list of UNMAPs is broken");
	for (node = ressd_dying_last(&log->map, &log->sealed_unmaps); node;
	     node = ressd_dying_before(&log->map, node))
		if (++books->sealed > log->map.nr || node->lbn == RESSD_NO_BLOCK)
			violation(host, "the list of sealed UNMAPs is broken");
}

/* A region's bit is set if and only if a block of it is mapped. */
static void check_regions(struct host *host)
{
	const struct ressd_map *map = &host->box.log.map;
	u32 lbn;

	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		u32 start = ressd_regions_start(&map->regions, lbn);
		const struct ressd_node *node = ressd_map_first_from(map, start);
		bool mapped = node && ressd_regions_start(&map->regions, node->lbn) == start;

		if (ressd_regions_may_hold(&map->regions, lbn, lbn) != mapped)
			violation(host, "the region of block %u says that it is %smapped", lbn,
				  mapped ? "not " : "");
	}
}

/* What core keeps twice must agree: tree, regions, list of dying nodes, and all the counts. */
void host_check_log(struct host *host)
{
	const struct ressd_log *log = &host->box.log;
	struct books books = { };
	u32 i;

	count_map(host, &books);
	check_regions(host);
	for (i = 0; i < log->map.nr; i++)
		books.used += log->map.nodes[i].lbn != RESSD_NO_BLOCK;
	if (books.mapped != log->map.nr_mapped || books.dirty != log->map.nr_dirty ||
	    books.dying != log->nr_unmaps ||
	    books.used != books.mapped + books.dying + books.sealed)
		violation(host, "%u mapped (%u counted), %u dirty (%u), %u dying (%u), %u sealed, %u in use",
			  books.mapped, log->map.nr_mapped, books.dirty, log->map.nr_dirty,
			  books.dying, log->nr_unmaps, books.sealed, books.used);
	for (i = 0; i < log->geom.nr_segments; i++)
		if (log->segments[i].live != books.live[i])
			violation(host, "segment slot %u has %u live blocks, but counts %u", i,
				  books.live[i], log->segments[i].live);
}
