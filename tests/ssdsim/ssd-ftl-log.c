// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hybrid log-block translation layer, block-associative.
 *
 * Every logical block has at most one data block, in which each page lies at its
 * home place, and at most one log block, to which writes are appended. There
 * are few log blocks. Opening one more than allowed merges another:
 *   switch   the log holds pages at their home places only and nothing is
 *            missing: it becomes the data block;
 *   partial  as before, but later pages are missing: they are copied into it;
 *   full     the newest version of each page is copied into a fresh block.
 *
 * A log page stays on the die of its home place, so every copy of a merge can stay
 * inside a die.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ssd-block-map.h"
#include "ssd-ftl.h"

#define NO_LOG		0xffff
#define NO_ROW		0xffff

/*
 * struct log_block - one open log block, a member of the list by use.
 * @logical: logical block it belongs to
 * @block: physical block
 * @at_home: every page in it lies at its home place and is the newest version
 * @previous, @next: list neighbours, indices of logs
 * @row: [block_pages] row that holds the newest version of each page, or NO_ROW
 */
struct log_block {
	u32 logical;
	u32 block;
	bool at_home;
	u16 previous;
	u16 next;
	u16 *row;
};

/*
 * struct ftl_log - the layer.
 * @logs: [log_blocks] the open ones are linked from @head (next to be merged
 *	first) to @tail (opened or used last); the others from @unused by @next
 * @log_of: [data_blocks] index of its log block, or NO_LOG
 */
struct ftl_log {
	struct ssd_ftl ftl;
	struct ssd_block_map blocks;
	enum ssd_log_victim victim;
	bool restart;
	u32 rows;
	u32 block_pages;
	struct log_block *logs;
	u16 *log_rows;
	u16 head;
	u16 tail;
	u16 unused;
	u16 *log_of;
};

static struct ftl_log *to_log_ftl(struct ssd_ftl *ftl)
{
	return container_of(ftl, struct ftl_log, ftl);
}

/* An erased block of the logical block's die set. */
static u32 take_erased(struct ftl_log *map, u32 logical)
{
	return ssd_block_map_take(&map->blocks, ssd_block_map_set(&map->blocks, logical));
}

static void unlink_log(struct ftl_log *map, u16 index)
{
	struct log_block *log = &map->logs[index];

	if (log->previous == NO_LOG)
		map->head = log->next;
	else
		map->logs[log->previous].next = log->next;
	if (log->next == NO_LOG)
		map->tail = log->previous;
	else
		map->logs[log->next].previous = log->previous;
}

static void link_log_last(struct ftl_log *map, u16 index)
{
	struct log_block *log = &map->logs[index];

	log->previous = map->tail;
	log->next = NO_LOG;
	if (map->tail == NO_LOG)
		map->head = index;
	else
		map->logs[map->tail].next = index;
	map->tail = index;
}

/* The log slot can be used again; its physical block is dealt with elsewhere. */
static void release_log(struct ftl_log *map, u16 index)
{
	struct log_block *log = &map->logs[index];

	unlink_log(map, index);
	map->log_of[log->logical] = NO_LOG;
	log->next = map->unused;
	map->unused = index;
}

static bool page_place(const struct ftl_log *map, u32 logical, u32 index,
		       struct ssd_place *place)
{
	u16 log_index = map->log_of[logical];

	if (!ssd_block_map_has(&map->blocks, logical * map->block_pages + index))
		return false;
	*place = ssd_block_map_home(&map->blocks, map->blocks.data[logical], index);
	if (log_index != NO_LOG && map->logs[log_index].row[index] != NO_ROW) {
		place->block = map->logs[log_index].block;
		place->row = map->logs[log_index].row[index];
	}
	return true;
}

/*
 * Copy to their home places in @target all mapped pages that are not there.
 * Returns the number of copies; *time moves on to the end of the last one.
 * This is the innermost loop of the emulation, so the places are stepped along
 * instead of being computed anew for each page.
 */
static u32 copy_home(struct ftl_log *map, u32 logical, u32 target, u64 *time)
{
	struct log_block *log = map->log_of[logical] == NO_LOG ? NULL :
				&map->logs[map->log_of[logical]];
	u32 page = logical * map->block_pages, end = page + map->block_pages;
	struct ssd_place to = { .block = target };
	u64 start = *time;
	u32 copies = 0, column = 0, index;

	for (index = 0; page < end; page++, index++) {
		struct ssd_place from = to;

		from.block = map->blocks.data[logical];
		if (log && log->row[index] != NO_ROW) {
			from.block = log->block;
			from.row = log->row[index];
		}
		if (from.block != target && ssd_block_map_has(&map->blocks, page)) {
			*time = max(*time, ssd_nand_copy(map->ftl.nand, &from, &to, page, start));
			copies++;
		}
		to.way = to.way + 1 == map->blocks.ways ? 0 : to.way + 1;
		if (++column == map->blocks.ways) {
			/* The next row begins one way further on. */
			column = 0;
			to.row++;
			to.way = to.way + 1 == map->blocks.ways ? 0 : to.way + 1;
		}
	}
	map->ftl.counters.merge_copies += copies;
	return copies;
}

/* Nothing of the logical block is left: give both its blocks back. */
static void drop_blocks(struct ftl_log *map, u32 logical, u64 start)
{
	u16 index = map->log_of[logical];

	if (index != NO_LOG) {
		ssd_block_map_erase(&map->blocks, map->logs[index].block, start);
		release_log(map, index);
	}
	ssd_block_map_replace(&map->blocks, logical, SSD_NO_BLOCK, start);
}

/* The log block becomes the data block, completed by copies where needed. */
static u64 merge_into_log(struct ftl_log *map, u16 index, u64 time)
{
	struct log_block *log = &map->logs[index];
	u32 logical = log->logical;

	if (copy_home(map, logical, log->block, &time))
		map->ftl.counters.partial_merges++;
	else
		map->ftl.counters.switch_merges++;
	release_log(map, index);
	ssd_block_map_replace(&map->blocks, logical, log->block, time);
	return time;
}

/* Log and data block are copied into a fresh block. */
static u64 merge_into_fresh(struct ftl_log *map, u16 index, u64 time)
{
	u32 logical = map->logs[index].logical;
	u32 fresh = take_erased(map, logical);

	copy_home(map, logical, fresh, &time);
	drop_blocks(map, logical, time);
	map->blocks.data[logical] = fresh;
	map->ftl.counters.full_merges++;
	return time;
}

/* Returns when the firmware can go on. */
static u64 merge_log(struct ftl_log *map, u16 index, u64 start)
{
	struct log_block *log = &map->logs[index];

	if (!map->blocks.live[log->logical]) {
		drop_blocks(map, log->logical, start);
		return start;
	}
	if (log->at_home)
		return merge_into_log(map, index, start);
	return merge_into_fresh(map, index, start);
}

/* The open log block to merge first, of one die set if it is that which is short. */
static u16 choose_victim(struct ftl_log *map, u32 logical, bool same_set)
{
	u32 sets = map->ftl.nand->die_sets;
	u16 index;

	for (index = map->head; index != NO_LOG; index = map->logs[index].next) {
		if (!same_set || map->logs[index].logical % sets == logical % sets)
			return index;
	}
	return NO_LOG;
}

/*
 * Open a log block. The die set keeps one erased block as the target of its
 * next full merge.
 */
static u16 open_log(struct ftl_log *map, u32 logical, u64 *time)
{
	u32 set = ssd_block_map_set(&map->blocks, logical);
	struct log_block *log;
	u16 index;

	while (ssd_block_map_erased(&map->blocks, set) < 2)
		*time = merge_log(map, choose_victim(map, logical, true), *time);
	if (map->unused == NO_LOG)
		*time = merge_log(map, choose_victim(map, logical, false), *time);

	index = map->unused;
	log = &map->logs[index];
	map->unused = log->next;
	log->logical = logical;
	log->block = take_erased(map, logical);
	log->at_home = true;
	memset(log->row, 0xff, map->block_pages * sizeof(u16));
	map->log_of[logical] = index;
	link_log_last(map, index);
	return index;
}

/*
 * The log block of @logical with room for page @index. With log_restart the
 * first page of a block always opens one (as with the sequential log block of
 * the FAST layer), otherwise a block that is rewritten from its start would
 * stay out of step with its log for ever.
 */
static u16 log_with_room(struct ftl_log *map, u32 logical, u32 index, u64 *time)
{
	u16 log_index = map->log_of[logical];

	if (log_index != NO_LOG) {
		struct ssd_place home = ssd_block_map_home(&map->blocks,
							   map->logs[log_index].block, index);
		bool restart = map->restart && !index;

		if (!restart &&
		    ssd_nand_next_row(map->ftl.nand, home.block, home.way) < map->rows)
			return log_index;
		*time = merge_log(map, log_index, *time);
	}
	return open_log(map, logical, time);
}

static bool log_is_full(const struct ftl_log *map, const struct log_block *log)
{
	u32 way;

	for (way = 0; way < map->blocks.ways; way++) {
		if (ssd_nand_next_row(map->ftl.nand, log->block, way) < map->rows)
			return false;
	}
	return true;
}

static u64 log_ftl_write(struct ssd_ftl *ftl, u32 page, u64 start)
{
	struct ftl_log *map = to_log_ftl(ftl);
	u32 logical = page / map->block_pages, index = page % map->block_pages;
	u16 log_index = log_with_room(map, logical, index, &start);
	struct log_block *log = &map->logs[log_index];
	struct ssd_place place = ssd_block_map_home(&map->blocks, log->block, index);
	u64 end;

	if (place.row != ssd_nand_next_row(ftl->nand, log->block, place.way))
		log->at_home = false;
	place.row = ssd_nand_next_row(ftl->nand, log->block, place.way);
	end = ssd_nand_program(ftl->nand, &place, page, start);
	log->row[index] = place.row;
	ssd_block_map_add(&map->blocks, page);

	if (map->victim == SSD_LOG_VICTIM_LRU) {
		unlink_log(map, log_index);
		link_log_last(map, log_index);
	}
	if (log->at_home && log_is_full(map, log))
		end = merge_into_log(map, log_index, end);
	return end;
}

static bool log_ftl_lookup(struct ssd_ftl *ftl, u32 page, struct ssd_place *place)
{
	struct ftl_log *map = to_log_ftl(ftl);

	return page_place(map, page / map->block_pages, page % map->block_pages, place);
}

static void log_ftl_discard(struct ssd_ftl *ftl, u32 page, u64 start)
{
	struct ftl_log *map = to_log_ftl(ftl);
	u32 logical = page / map->block_pages, index = page % map->block_pages;
	u16 log_index = map->log_of[logical];

	if (!ssd_block_map_remove(&map->blocks, page))
		return;
	if (log_index != NO_LOG)
		map->logs[log_index].row[index] = NO_ROW;
	if (!map->blocks.live[logical])
		drop_blocks(map, logical, start);
}

static bool lookup_for_check(void *layer, u32 page, struct ssd_place *place)
{
	return log_ftl_lookup(layer, page, place);
}

/* Every physical block is a data block, a log block or erased. */
static int log_ftl_check(struct ssd_ftl *ftl, char *error, size_t size)
{
	struct ftl_log *map = to_log_ftl(ftl);
	struct ssd_block_census census;
	u32 logical;
	int r;

	r = ssd_block_map_check(&map->blocks, lookup_for_check, ftl, error, size);
	if (r)
		return r;
	r = ssd_block_census_begin(&census, &map->blocks);
	if (r) {
		scnprintf(error, size, "no memory for the check");
		return r;
	}
	for (logical = 0; logical < ftl->geometry->data_blocks; logical++) {
		if (map->log_of[logical] != NO_LOG)
			ssd_block_census_add(&census, map->logs[map->log_of[logical]].block);
	}
	return ssd_block_census_end(&census, &map->blocks, error, size);
}

static void log_ftl_destroy(struct ssd_ftl *ftl)
{
	struct ftl_log *map = to_log_ftl(ftl);

	kvfree(map->logs);
	kvfree(map->log_rows);
	kvfree(map->log_of);
	ssd_block_map_destroy(&map->blocks);
	kvfree(map);
}

static const struct ssd_ftl_ops log_ftl_ops = {
	.name = "log",
	.destroy = log_ftl_destroy,
	.lookup = log_ftl_lookup,
	.write = log_ftl_write,
	.discard = log_ftl_discard,
	.check = log_ftl_check,
};

static int allocate(struct ftl_log *map)
{
	const struct ssd_geometry *geometry = map->ftl.geometry;
	u32 logs = geometry->log_blocks;

	map->logs = kvcalloc(logs, sizeof(*map->logs), GFP_KERNEL);
	map->log_rows = kvcalloc((size_t)logs * map->block_pages, sizeof(u16), GFP_KERNEL);
	map->log_of = kvcalloc(geometry->data_blocks, sizeof(u16), GFP_KERNEL);
	if (!map->logs || !map->log_rows || !map->log_of)
		return -ENOMEM;
	memset(map->log_of, 0xff, geometry->data_blocks * sizeof(u16));
	return 0;
}

static void link_unused_logs(struct ftl_log *map)
{
	u32 i, logs = map->ftl.geometry->log_blocks;

	map->head = NO_LOG;
	map->tail = NO_LOG;
	for (i = 0; i < logs; i++) {
		map->logs[i].row = &map->log_rows[(size_t)i * map->block_pages];
		map->logs[i].next = i + 1 < logs ? i + 1 : NO_LOG;
	}
}

int ssd_ftl_log_create(const struct ssd_profile *profile,
		       const struct ssd_geometry *geometry,
		       struct ssd_nand *nand, struct ssd_ftl **ftl)
{
	struct ftl_log *map = kvcalloc(1, sizeof(*map), GFP_KERNEL);

	if (!map)
		return -ENOMEM;
	map->ftl.ops = &log_ftl_ops;
	map->ftl.geometry = geometry;
	map->ftl.nand = nand;
	map->victim = profile->log_victim;
	map->restart = profile->log_restart;
	map->rows = geometry->rows;
	map->block_pages = geometry->block_pages;
	if (allocate(map) || ssd_block_map_create(&map->blocks, profile, geometry, nand)) {
		log_ftl_destroy(&map->ftl);
		return -ENOMEM;
	}
	link_unused_logs(map);
	*ftl = &map->ftl;
	return 0;
}
