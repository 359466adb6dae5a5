// SPDX-License-Identifier: GPL-2.0-only
/* Crash states; see explore.h. */
#include <stdlib.h>
#include <string.h>
#include "explore.h"
#include "ressd-cover.h"

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

static void *allocate(size_t nr, size_t bytes)
{
	void *p = calloc(nr, bytes);

	if (!p)
		abort();
	return p;
}

void explorer_init(struct explorer *explorer, struct host *host, u64 seed, u32 per_moment)
{
	u32 blocks = host->layout.normal_blocks, i;
	u32 *places = allocate((KNOWN_RECOVERIES + 1) * blocks, sizeof(places[0]));

	*explorer = (struct explorer) {
		.host = host, .random = { .state = seed ^ 0x5eed }, .per_moment = per_moment,
		.known = allocate(KNOWN_RECOVERIES, sizeof(struct recovered)),
		.passed = allocate(blocks * BLOCK_SECTORS, sizeof(explorer->passed[0])),
	};
	for (i = 0; i < KNOWN_RECOVERIES; i++, places += blocks)
		explorer->known[i].blocks = places;
	explorer->scratch = places;
	explorer->covers = allocate(host->layout.cover_blocks + 1, RESSD_BLOCK_SIZE);
	for (i = 0; i < host->layout.cover_blocks; i++)
		ressd_cover_fill(explorer->covers + i * RESSD_BLOCK_SIZE, box_uuid, i);
	box_init(&explorer->after, &host->layout, never_busy, NULL);
	set_init(&explorer->tried, 1024);
	set_init(&explorer->contents, 1024);
}

void explorer_free(struct explorer *explorer)
{
	box_free(&explorer->after);
	free(explorer->known[0].blocks);
	free(explorer->known);
	free(explorer->passed);
	free(explorer->covers);
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

static bool is_cover(const struct explorer *explorer, u32 sector)
{
	const u8 *cover = explorer->covers + (size_t)sector * SECTOR_BYTES;
	const struct sector *held = explorer->host->replica.held[sector];

	return sector < explorer->host->layout.cover_blocks * BLOCK_SECTORS &&
	       !memcmp(held->words, cover, SECTOR_BYTES);
}

/* How many sectors of the blocks @first ... @end - 1 hold covers. */
static u32 nr_covers(const struct explorer *explorer, u32 first, u32 end)
{
	u32 sector, nr = 0;

	for (sector = first * BLOCK_SECTORS; sector < end * BLOCK_SECTORS; sector++)
		nr += is_cover(explorer, sector);
	return nr;
}

/* With a log that is covered all covers stand; else those of block 0 if any stands. */
static void check_covers(struct explorer *explorer, const struct recovered *recovered)
{
	struct host *host = explorer->host;
	u32 blocks = host->layout.cover_blocks;
	u32 first, others;

	if (!blocks || host->cover.unsafe)
		return;
	first = nr_covers(explorer, 0, 1);
	others = nr_covers(explorer, 1, blocks);
	if (recovered->covered && first + others != blocks * BLOCK_SECTORS)
		violation(host, "the log counts, and %u of %u sectors of covers stand",
			  first + others, blocks * BLOCK_SECTORS);
	if (others && first != BLOCK_SECTORS)
		violation(host, "%u sectors of covers stand behind block 0, and %u of it", others,
			  first);
	if (explorer->drained && first + others)
		violation(host, "%u sectors of covers stand after a drain", first + others);
}

/* Where a sector is: at home, in spite of a copy in the log, if that is not covered. */
static u32 place_of(const struct explorer *explorer, const struct recovered *recovered, u32 sector)
{
	u32 block = recovered->blocks[sector / BLOCK_SECTORS];

	if (block == RESSD_NO_BLOCK ||
	    (explorer->host->layout.cover_blocks && !recovered->covered &&
	     !is_cover(explorer, sector)))
		return sector;
	return layout_log_sector(&explorer->host->layout, block) + sector % BLOCK_SECTORS;
}

/* Lists where the recovered map has each normal block. */
static void list_map(const struct explorer *explorer, u32 *blocks)
{
	const struct ressd_map *map = &explorer->after.log.map;
	const struct ressd_node *node;
	u32 lbn;

	for (lbn = 0; lbn < explorer->host->layout.normal_blocks; lbn++)
		blocks[lbn] = RESSD_NO_BLOCK;
	for (node = ressd_map_first_from(map, 0); node; node = ressd_map_next(node))
		blocks[node->lbn] = ressd_map_block(map, node);
}

static void recover(struct explorer *explorer)
{
	struct host *host = explorer->host;

	if (box_recover(&explorer->after, &host->replica, host->activation + 1, 0))
		violation(host, "after a crash recovery refuses: %s", explorer->after.error);
}

/* What recovery makes of the replica. */
static const struct recovered *look_up(struct explorer *explorer)
{
	u64 log_hash = explorer->host->replica.log_hash;
	struct recovered *recovered = &explorer->known[log_hash % KNOWN_RECOVERIES];

	if (!recovered->known || recovered->log_hash != log_hash) {
		recovered->known = false;
		recover(explorer);
		list_map(explorer, recovered->blocks);
		recovered->nr_mapped = explorer->after.log.map.nr_mapped;
		recovered->covered = explorer->after.log.covered;
		recovered->log_hash = log_hash;
		recovered->known = true;
	}
#ifdef MODEL_VERIFY
	recover(explorer);
	list_map(explorer, explorer->scratch);
	if (memcmp(explorer->scratch, recovered->blocks,
		   explorer->host->layout.normal_blocks * sizeof(u32)))
		violation(explorer->host, "the simulator itself is wrong: another recovery");
#endif
	return recovered;
}

/* Compares every sector of the recovered device with the oracle. */
static void check_survivors(struct explorer *explorer, const struct recovered *recovered)
{
	struct host *host = explorer->host;
	u32 lbn, i;

	check_covers(explorer, recovered);
	for (lbn = 0; lbn < host->layout.normal_blocks; lbn++) {
		bool logged = recovered->blocks[lbn] != RESSD_NO_BLOCK;
		const struct sector **passed = &explorer->passed[lbn * BLOCK_SECTORS];

		for (i = 0; i < BLOCK_SECTORS; i++) {
			u32 from = place_of(explorer, recovered, lbn * BLOCK_SECTORS + i);
			const struct sector *contents = host->replica.held[from];

			if (passed[i] == contents)
				continue;
			check_sector(host, lbn * BLOCK_SECTORS + i, logged, contents);
			passed[i] = contents;
		}
	}
	if (explorer->drained && recovered->nr_mapped)
		violation(host, "a crash after a drain leaves %u blocks mapped",
			  recovered->nr_mapped);
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
	check_survivors(explorer, look_up(explorer));
	explorer->checking = false;
#ifdef MODEL_VERIFY
	replica_verify(&host->replica);
#endif
	return true;
}

/* Something may have changed: what the oracle allows, or what a sector in memory is. */
static void begin_moment(struct explorer *explorer)
{
	memset(explorer->passed, 0, explorer->host->layout.normal_blocks * BLOCK_SECTORS *
	       sizeof(explorer->passed[0]));
}

static bool try_cut(struct explorer *explorer, const struct cut *cut)
{
	replica_cut(&explorer->host->replica, &explorer->host->disk, cut);
	return try_replica(explorer);
}

void explore_cut(struct explorer *explorer, const struct cut *cut)
{
	begin_moment(explorer);
	replica_follow(&explorer->host->replica, &explorer->host->disk.durable);
	try_cut(explorer, cut);
}

bool explore_is_plain(struct explorer *explorer)
{
	u32 blocks = explorer->host->layout.cover_blocks;

	return blocks && !look_up(explorer)->covered && !nr_covers(explorer, 0, blocks);
}

void explore_view(struct explorer *explorer)
{
	begin_moment(explorer);
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
	begin_moment(explorer);
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
