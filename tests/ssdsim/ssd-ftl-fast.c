// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hybrid log-block translation layer, fully associative: all data blocks share the log
 * blocks, as in the FAST layer (Lee et al. 2007).
 *
 * One log block is the sequential one. It takes the first page of a logical block and then
 * each page that comes next after the last it took, all at their home places, so that it
 * can become the data block:
 *   switch   it is full, or nothing else is mapped: nothing is copied;
 *   partial  the pages that it lacks are copied into it, because the first page of another
 *            block wants a sequential log block.
 * Every other page goes to the random log blocks, a ring filled in the order of arrival.
 * When all are full the oldest is reclaimed:
 *   full     of each logical block that has a valid page in it the newest version of each
 *            page, wherever it is, is copied into a fresh data block. What is in the
 *            sequential log block stays there: it will replace the data block anyway.
 *
 * A page in a random log block is on whatever die was next, so its copy takes the bus.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ssd-block-map.h"
#include "ssd-ftl.h"

#define NO_SLOT		0xffffffffU
#define NO_LOGICAL	0xffffffffU

/* Index of the sequential log block, and of the first random one. */
#define SEQUENTIAL	0U
#define FIRST_RANDOM	1U

/*
 * struct ftl_fast - the layer. A slot is a page of a log block: index of the log block
 * times @block_pages, plus the number of the page.
 * @logs: log blocks, the sequential one included
 * @log: [logs] physical block, or SSD_NO_BLOCK
 * @valid: [logs] pages whose newest version is in it
 * @owner: [logs x block_pages] the page whose newest version is in the slot, or SSD_NO_PAGE
 * @slot: [pages] of the newest version; NO_SLOT: it is in the data block
 * @sequential_of: logical block of the sequential log block, or NO_LOGICAL
 * @sequential_next: the page it takes next
 * @random: the random log block being filled; @random_next: its next page
 */
struct ftl_fast {
	struct ssd_ftl ftl;
	struct ssd_block_map blocks;
	u32 block_pages;
	u32 logs;
	u32 *log;
	u32 *valid;
	u32 *owner;
	u32 *slot;
	u32 sequential_of;
	u32 sequential_next;
	u32 random;
	u32 random_next;
};

static struct ftl_fast *to_fast_ftl(struct ssd_ftl *ftl)
{
	return container_of(ftl, struct ftl_fast, ftl);
}

static u32 slot_at(const struct ftl_fast *map, u32 log, u32 index)
{
	return log * map->block_pages + index;
}

/* All log blocks are filled like data blocks: diagonally over the dies. */
static struct ssd_place slot_place(const struct ftl_fast *map, u32 slot)
{
	return ssd_block_map_home(&map->blocks, map->log[slot / map->block_pages],
				  slot % map->block_pages);
}

/* Where the newest version of a mapped page is. */
static struct ssd_place newest_place(const struct ftl_fast *map, u32 page)
{
	if (map->slot[page] != NO_SLOT)
		return slot_place(map, map->slot[page]);
	return ssd_block_map_home(&map->blocks, map->blocks.data[page / map->block_pages],
				  page % map->block_pages);
}

/* No log block holds the newest version of the page any more. */
static void leave_log(struct ftl_fast *map, u32 page)
{
	u32 slot = map->slot[page];

	if (slot == NO_SLOT)
		return;
	map->owner[slot] = SSD_NO_PAGE;
	map->valid[slot / map->block_pages]--;
	map->slot[page] = NO_SLOT;
}

/*
 * Program the newest version of a page into a slot; only now is it mapped, for merges that
 * make room for it must not look for it. Returns when its data have left.
 */
static u64 program_slot(struct ftl_fast *map, u32 page, u32 slot, u64 start)
{
	struct ssd_place place = slot_place(map, slot);

	leave_log(map, page);
	ssd_block_map_add(&map->blocks, page);
	map->slot[page] = slot;
	map->owner[slot] = page;
	map->valid[slot / map->block_pages]++;
	return ssd_nand_program(map->ftl.nand, &place, page, start);
}

static bool is_in_sequential(const struct ftl_fast *map, u32 page)
{
	return map->slot[page] != NO_SLOT && map->slot[page] / map->block_pages == SEQUENTIAL;
}

/*
 * Copy to their home places in @target the newest versions of all mapped pages from
 * @index on that are not in the sequential log block. Returns the number of copies; *time
 * moves on to the end of the last one.
 */
static u32 copy_home(struct ftl_fast *map, u32 logical, u32 target, u32 index, u64 *time)
{
	u64 start = *time;
	u32 copies = 0;

	for (; index < map->block_pages; index++) {
		u32 page = logical * map->block_pages + index;
		struct ssd_place from, to;

		if (!ssd_block_map_has(&map->blocks, page) || is_in_sequential(map, page))
			continue;
		from = newest_place(map, page);
		to = ssd_block_map_home(&map->blocks, target, index);
		*time = max(*time, ssd_nand_copy(map->ftl.nand, &from, &to, page, start));
		leave_log(map, page);
		copies++;
	}
	map->ftl.counters.merge_copies += copies;
	return copies;
}

static void forget_sequential(struct ftl_fast *map)
{
	map->log[SEQUENTIAL] = SSD_NO_BLOCK;
	map->sequential_of = NO_LOGICAL;
}

/*
 * The sequential log block becomes the data block, completed by copies where needed. A page
 * that was written again since has its newest version in a random log block and keeps it.
 * Returns when the firmware can go on.
 */
static u64 close_sequential(struct ftl_fast *map, u64 time)
{
	u32 logical = map->sequential_of, block = map->log[SEQUENTIAL], index;

	if (copy_home(map, logical, block, map->sequential_next, &time))
		map->ftl.counters.partial_merges++;
	else
		map->ftl.counters.switch_merges++;
	for (index = 0; index < map->sequential_next; index++) {
		u32 page = logical * map->block_pages + index;

		if (is_in_sequential(map, page))
			leave_log(map, page);
	}
	ssd_block_map_replace(&map->blocks, logical, block, time);
	forget_sequential(map);
	return time;
}

static void open_sequential(struct ftl_fast *map, u32 logical)
{
	map->log[SEQUENTIAL] = ssd_block_map_take(&map->blocks,
						  ssd_block_map_set(&map->blocks, logical));
	map->sequential_of = logical;
	map->sequential_next = 0;
}

/* Returns when the firmware can go on. */
static u64 merge_into_fresh(struct ftl_fast *map, u32 logical, u64 time)
{
	u32 fresh = ssd_block_map_take(&map->blocks, ssd_block_map_set(&map->blocks, logical));

	copy_home(map, logical, fresh, 0, &time);
	ssd_block_map_replace(&map->blocks, logical, fresh, time);
	map->ftl.counters.full_merges++;
	return time;
}

/* Empty a random log block and erase it. Returns when the firmware can go on. */
static u64 reclaim(struct ftl_fast *map, u32 log, u64 time)
{
	u32 index;

	for (index = 0; map->valid[log]; index++) {
		u32 page = map->owner[slot_at(map, log, index)];

		if (page != SSD_NO_PAGE)
			time = merge_into_fresh(map, page / map->block_pages, time);
	}
	ssd_block_map_erase(&map->blocks, map->log[log], time);
	map->log[log] = SSD_NO_BLOCK;
	return time;
}

/*
 * Fill the next random log block of the ring, which is the oldest. Their blocks are dealt
 * out over the die sets, so that each set gives its share.
 */
static u64 next_random(struct ftl_fast *map, u64 time)
{
	map->random = map->random + 1 < map->logs ? map->random + 1 : FIRST_RANDOM;
	if (map->log[map->random] != SSD_NO_BLOCK)
		time = reclaim(map, map->random, time);
	map->log[map->random] = ssd_block_map_take(&map->blocks,
						   ssd_block_map_set(&map->blocks, map->random));
	map->random_next = 0;
	return time;
}

static u64 write_sequential(struct ftl_fast *map, u32 page, u64 start)
{
	u64 end = program_slot(map, page, slot_at(map, SEQUENTIAL, map->sequential_next++), start);

	if (map->sequential_next == map->block_pages)
		end = close_sequential(map, end);
	return end;
}

static u64 write_random(struct ftl_fast *map, u32 page, u64 start)
{
	if (map->log[map->random] == SSD_NO_BLOCK || map->random_next == map->block_pages)
		start = next_random(map, start);
	return program_slot(map, page, slot_at(map, map->random, map->random_next++), start);
}

static u64 fast_ftl_write(struct ssd_ftl *ftl, u32 page, u64 start)
{
	struct ftl_fast *map = to_fast_ftl(ftl);
	u32 logical = page / map->block_pages, index = page % map->block_pages;

	if (!index) {
		if (map->sequential_of != NO_LOGICAL)
			start = close_sequential(map, start);
		open_sequential(map, logical);
	}
	if (map->sequential_of == logical && map->sequential_next == index)
		return write_sequential(map, page, start);
	return write_random(map, page, start);
}

static bool fast_ftl_lookup(struct ssd_ftl *ftl, u32 page, struct ssd_place *place)
{
	struct ftl_fast *map = to_fast_ftl(ftl);

	if (!ssd_block_map_has(&map->blocks, page))
		return false;
	*place = newest_place(map, page);
	return true;
}

static void fast_ftl_discard(struct ssd_ftl *ftl, u32 page, u64 start)
{
	struct ftl_fast *map = to_fast_ftl(ftl);
	u32 logical = page / map->block_pages;

	if (!ssd_block_map_remove(&map->blocks, page))
		return;
	leave_log(map, page);
	if (map->blocks.live[logical])
		return;
	if (map->sequential_of == logical) {
		ssd_block_map_erase(&map->blocks, map->log[SEQUENTIAL], start);
		forget_sequential(map);
	}
	ssd_block_map_replace(&map->blocks, logical, SSD_NO_BLOCK, start);
}

/* What the log blocks hold and what the pages say fits together. */
static int check_logs(const struct ftl_fast *map, char *error, size_t size)
{
	u32 log, index, page, in_logs = 0, valid = 0;

	for (page = 0; page < map->ftl.geometry->pages; page++)
		in_logs += map->slot[page] != NO_SLOT;
	for (log = 0; log < map->logs; log++) {
		u32 owned = 0;

		for (index = 0; index < map->block_pages; index++) {
			u32 slot = slot_at(map, log, index);

			page = map->owner[slot];
			if (page == SSD_NO_PAGE)
				continue;
			owned++;
			if (map->slot[page] != slot || map->log[log] == SSD_NO_BLOCK)
				owned = map->block_pages + 1;
		}
		if (owned != map->valid[log]) {
			scnprintf(error, size, "log block %u counts %u pages but has %u", log,
				  map->valid[log], owned);
			return -EINVAL;
		}
		valid += owned;
	}
	if (in_logs != valid) {
		scnprintf(error, size, "%u pages are in log blocks, which have %u", in_logs, valid);
		return -EINVAL;
	}
	return 0;
}

static bool lookup_for_check(void *layer, u32 page, struct ssd_place *place)
{
	return fast_ftl_lookup(layer, page, place);
}

static int fast_ftl_check(struct ssd_ftl *ftl, char *error, size_t size)
{
	struct ftl_fast *map = to_fast_ftl(ftl);
	struct ssd_block_census census;
	u32 log;
	int r;

	r = ssd_block_map_check(&map->blocks, lookup_for_check, ftl, error, size);
	if (!r)
		r = check_logs(map, error, size);
	if (r)
		return r;
	r = ssd_block_census_begin(&census, &map->blocks);
	if (r) {
		scnprintf(error, size, "no memory for the check");
		return r;
	}
	for (log = 0; log < map->logs; log++) {
		if (map->log[log] != SSD_NO_BLOCK)
			ssd_block_census_add(&census, map->log[log]);
	}
	return ssd_block_census_end(&census, &map->blocks, error, size);
}

static void fast_ftl_destroy(struct ssd_ftl *ftl)
{
	struct ftl_fast *map = to_fast_ftl(ftl);

	kvfree(map->log);
	kvfree(map->valid);
	kvfree(map->owner);
	kvfree(map->slot);
	ssd_block_map_destroy(&map->blocks);
	kvfree(map);
}

static const struct ssd_ftl_ops fast_ftl_ops = {
	.name = "log",
	.destroy = fast_ftl_destroy,
	.lookup = fast_ftl_lookup,
	.write = fast_ftl_write,
	.discard = fast_ftl_discard,
	.check = fast_ftl_check,
};

static int allocate(struct ftl_fast *map)
{
	size_t slots = (size_t)map->logs * map->block_pages, pages = map->ftl.geometry->pages;

	map->log = kvcalloc(map->logs, sizeof(u32), GFP_KERNEL);
	map->valid = kvcalloc(map->logs, sizeof(u32), GFP_KERNEL);
	map->owner = kvcalloc(slots, sizeof(u32), GFP_KERNEL);
	map->slot = kvcalloc(pages, sizeof(u32), GFP_KERNEL);
	if (!map->log || !map->valid || !map->owner || !map->slot)
		return -ENOMEM;
	memset(map->log, 0xff, map->logs * sizeof(u32));
	memset(map->owner, 0xff, slots * sizeof(u32));
	memset(map->slot, 0xff, pages * sizeof(u32));
	return 0;
}

int ssd_ftl_fast_create(const struct ssd_profile *profile,
			const struct ssd_geometry *geometry,
			struct ssd_nand *nand, struct ssd_ftl **ftl)
{
	struct ftl_fast *map = kvcalloc(1, sizeof(*map), GFP_KERNEL);

	if (!map)
		return -ENOMEM;
	map->ftl.ops = &fast_ftl_ops;
	map->ftl.geometry = geometry;
	map->ftl.nand = nand;
	map->block_pages = geometry->block_pages;
	map->logs = geometry->log_blocks;
	map->sequential_of = NO_LOGICAL;
	map->random = FIRST_RANDOM;
	if (allocate(map) || ssd_block_map_create(&map->blocks, profile, geometry, nand)) {
		fast_ftl_destroy(&map->ftl);
		return -ENOMEM;
	}
	*ftl = &map->ftl;
	return 0;
}
