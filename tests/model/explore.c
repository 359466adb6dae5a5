// SPDX-License-Identifier: GPL-2.0-only
/* Crash states; see explore.h. */
#include <stdlib.h>
#include <string.h>
#include "explore.h"

#define FEW_SECTORS	6U	/* all subsets are tried */
#define SOME_SECTORS	8U	/* one block: all subsets are tried at times */
#define FEW_WRITES	4U	/* all subsets of whole writes are tried */

/* ---- the set of states that were tried ---- */

static void set_init(struct hash_set *set, u32 size)
{
	set->size = size;
	set->nr = 0;
	set->keys = calloc(size, sizeof(set->keys[0]));
	if (!set->keys)
		abort();
}

static bool set_add(struct hash_set *set, u64 key);

static void set_grow(struct hash_set *set)
{
	struct hash_set bigger;
	u32 i;

	set_init(&bigger, 2 * set->size);
	for (i = 0; i < set->size; i++)
		if (set->keys[i])
			set_add(&bigger, set->keys[i]);
	free(set->keys);
	*set = bigger;
}

/* False if it was there. */
static bool set_add(struct hash_set *set, u64 key)
{
	u32 i;

	key += !key;
	if (set->nr >= set->size / 2)
		set_grow(set);
	for (i = key & (set->size - 1); set->keys[i]; i = (i + 1) & (set->size - 1))
		if (set->keys[i] == key)
			return false;
	set->keys[i] = key;
	set->nr++;
	return true;
}

/* ---- one state ---- */

static bool never_busy(void *context, u32 slot)
{
	(void)context;
	(void)slot;
	return false;
}

void explorer_init(struct explorer *explorer, struct host *host, u64 seed, u32 per_moment)
{
	*explorer = (struct explorer) {
		.host = host, .random = { .state = seed ^ 0x5eed }, .per_moment = per_moment,
	};
	box_init(&explorer->after, &host->layout, never_busy, NULL);
	set_init(&explorer->tried, 1024);
	set_init(&explorer->contents, 1024);
}

void explorer_free(struct explorer *explorer)
{
	box_free(&explorer->after);
	free(explorer->tried.keys);
	free(explorer->contents.keys);
}

static void check_sector(struct host *host, u32 sector, bool logged, const struct sector *contents)
{
	char allowed[600];

	if (!contents->uniform)
		violation(host, "after a crash sector %u of block %u is none that was written",
			  sector, sector / BLOCK_SECTORS);
	if (oracle_may_survive(&host->oracle, sector, contents->words[0]))
		return;
	oracle_explain(&host->oracle, sector, allowed, sizeof(allowed));
	violation(host, "after a crash sector %u of block %u, %s, is %llx; versions:%s", sector,
		  sector / BLOCK_SECTORS, logged ? "in the log" : "at home",
		  (unsigned long long)contents->words[0], allowed);
}

/* Compares every sector of the recovered device with the oracle. */
static void check_survivors(struct explorer *explorer)
{
	struct host *host = explorer->host;
	const struct ressd_map *map = &explorer->after.log.map;
	const struct ressd_node *node = ressd_map_first_from(map, 0);
	u32 lbn, from, i;

	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		bool logged = node && node->lbn == lbn;

		from = lbn * BLOCK_SECTORS;
		if (logged) {
			from = layout_log_sector(&host->layout, ressd_map_block(map, node));
			node = ressd_map_next(node);
		}
		for (i = 0; i < BLOCK_SECTORS; i++)
			check_sector(host, lbn * BLOCK_SECTORS + i, logged,
				     host->replica.held[from + i]);
	}
	if (explorer->drained && map->nr_mapped)
		violation(host, "a crash after a drain leaves %u blocks mapped", map->nr_mapped);
}

/* Recovers what the replica holds, and compares; false: that was done before. */
static bool try_replica(struct explorer *explorer)
{
	struct host *host = explorer->host;
	u64 contents = host->replica.hash;
	u64 promise = (host->oracle.narrowed + 1) * 0x9e3779b97f4a7c15ULL;

	if (!set_add(&explorer->tried, contents ^ promise))
		return false;
	explorer->nr_contents += set_add(&explorer->contents, contents);
	explorer->states++;
	explorer->checking = true;
	if (box_recover(&explorer->after, &host->replica, host->activation + 1, 0))
		violation(host, "after a crash recovery refuses: %s", explorer->after.error);
	check_survivors(explorer);
	explorer->checking = false;
#ifdef MODEL_VERIFY
	replica_verify(&host->replica);
#endif
	return true;
}

static bool try_cut(struct explorer *explorer, const struct cut *cut)
{
	replica_cut(&explorer->host->replica, &explorer->host->disk, cut);
	return try_replica(explorer);
}

void explore_cut(struct explorer *explorer, const struct cut *cut)
{
	replica_follow(&explorer->host->replica, &explorer->host->disk.durable);
	try_cut(explorer, cut);
}

void explore_view(struct explorer *explorer)
{
	replica_follow(&explorer->host->replica, &explorer->host->disk.view);
	try_replica(explorer);
}

/* ---- many states ---- */

/* Every subset of @nr writes or sectors. */
static void try_subsets(struct explorer *explorer, enum cut_kind kind, u32 nr)
{
	struct cut cut = { .kind = kind };

	for (; !(cut.number >> nr); cut.number++)
		try_cut(explorer, &cut);
}

static void try_at_random(struct explorer *explorer)
{
	u32 left = explorer->per_moment, attempts = 2 * left;
	struct cut cut;

	while (left && attempts--) {
		cut_draw(&cut, &explorer->random);
		left -= try_cut(explorer, &cut);
	}
}

void explore(struct explorer *explorer)
{
	const struct disk *disk = &explorer->host->disk;
	u64 promise = explorer->host->oracle.narrowed;
	u32 writes, sectors;

	if (!explorer->per_moment ||
	    (explorer->changes == disk->changes && explorer->promise == promise))
		return;
	explorer->changes = disk->changes;
	explorer->promise = promise;
	explorer->moments++;
	replica_follow(&explorer->host->replica, &disk->durable);
	writes = cut_nr_writes(disk);
	sectors = cut_nr_sectors(disk);
	if (sectors <= FEW_SECTORS ||
	    (sectors <= SOME_SECTORS && random_once_in(&explorer->random, 8)))
		try_subsets(explorer, CUT_SECTORS, sectors);
	else if (writes <= FEW_WRITES)
		try_subsets(explorer, CUT_REQUESTS, writes);
	if (sectors > FEW_SECTORS)
		try_at_random(explorer);
}
