// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hybrid log-block translation layer.
 *
 * Every logical block has at most one data block, in which page p lies at its
 * home place, and at most one log block, to which writes are appended. There
 * are few log blocks. Opening one more than allowed merges another:
 *   switch   the log holds pages at their home places only and nothing is
 *            missing: it becomes the data block;
 *   partial  as before, but later pages are missing: they are copied into it;
 *   full     the newest version of each page is copied into a fresh block.
 *
 * Home places run diagonally over the ways (as parity does in RAID 5), so that
 * no power-of-two stride of writes falls on a single die. A log page stays on
 * the die of its home place, so every copy of a merge can stay inside a die.
 * A logical block keeps to one die set for the same reason.
 */
#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#include "ssd-ftl.h"

#define NO_BLOCK	0xffffffffU
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

/* Erased blocks of one die set, used first in, first out. */
struct free_ring {
	u32 *block;
	u32 head;
	u32 count;
};

/*
 * struct ftl_log - the layer.
 * @logs: [log_blocks] the open ones are linked from @head (next to be merged
 *	first) to @tail (opened or used last); the others from @unused by @next
 * @data: [data_blocks] physical data block of a logical block, or NO_BLOCK
 * @log_of: [data_blocks] index of its log block, or NO_LOG
 * @mapped: [pages] the page was written and not discarded
 * @live: [data_blocks] mapped pages
 */
struct ftl_log {
	struct ssd_ftl ftl;
	enum ssd_log_victim victim;
	bool restart;
	u32 ways;
	u32 rows;
	u32 block_pages;
	u32 blocks_per_set;
	struct log_block *logs;
	u16 *log_rows;
	u16 head;
	u16 tail;
	u16 unused;
	u32 *data;
	u16 *log_of;
	unsigned long *mapped;
	u16 *live;
	struct free_ring *free;
	u32 *free_blocks;
};

static struct ftl_log *to_log_ftl(struct ssd_ftl *ftl)
{
	return container_of(ftl, struct ftl_log, ftl);
}

/* Where page @index of a block lies in a data block. */
static struct ssd_place home_place(const struct ftl_log *map, u32 block, u32 index)
{
	u32 row = index / map->ways;

	return (struct ssd_place) {
		.block = block,
		.way = (index + row) % map->ways,
		.row = row,
	};
}

static struct free_ring *ring_of(struct ftl_log *map, u32 logical)
{
	return &map->free[logical % map->ftl.nand->die_sets];
}

static u32 take_free_block(struct ftl_log *map, u32 logical)
{
	struct free_ring *ring = ring_of(map, logical);
	u32 block = ring->block[ring->head];

	ring->head = (ring->head + 1) % map->blocks_per_set;
	ring->count--;
	return block;
}

static void give_free_block(struct ftl_log *map, u32 block)
{
	struct free_ring *ring = ring_of(map, block);

	ring->block[(ring->head + ring->count) % map->blocks_per_set] = block;
	ring->count++;
}

/* Erase in the background; the die set is busy with it, the firmware is not. */
static void erase_block(struct ftl_log *map, u32 block, u64 start)
{
	ssd_nand_erase(map->ftl.nand, block, start);
	give_free_block(map, block);
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

	if (!test_bit((size_t)logical * map->block_pages + index, map->mapped))
		return false;
	*place = home_place(map, map->data[logical], index);
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

		from.block = map->data[logical];
		if (log && log->row[index] != NO_ROW) {
			from.block = log->block;
			from.row = log->row[index];
		}
		if (from.block != target && test_bit(page, map->mapped)) {
			*time = max(*time, ssd_nand_copy(map->ftl.nand, &from, &to, page, start));
			copies++;
		}
		to.way = to.way + 1 == map->ways ? 0 : to.way + 1;
		if (++column == map->ways) {
			/* The next row begins one way further on. */
			column = 0;
			to.row++;
			to.way = to.way + 1 == map->ways ? 0 : to.way + 1;
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
		erase_block(map, map->logs[index].block, start);
		release_log(map, index);
	}
	if (map->data[logical] != NO_BLOCK)
		erase_block(map, map->data[logical], start);
	map->data[logical] = NO_BLOCK;
}

/* The log block becomes the data block, completed by copies where needed. */
static u64 merge_into_log(struct ftl_log *map, u16 index, u64 time)
{
	struct log_block *log = &map->logs[index];
	u32 logical = log->logical;
	u32 old = map->data[logical];

	if (copy_home(map, logical, log->block, &time))
		map->ftl.counters.partial_merges++;
	else
		map->ftl.counters.switch_merges++;
	map->data[logical] = log->block;
	release_log(map, index);
	if (old != NO_BLOCK)
		erase_block(map, old, time);
	return time;
}

/* Log and data block are copied into a fresh block. */
static u64 merge_into_fresh(struct ftl_log *map, u16 index, u64 time)
{
	u32 logical = map->logs[index].logical;
	u32 fresh = take_free_block(map, logical);

	copy_home(map, logical, fresh, &time);
	drop_blocks(map, logical, time);
	map->data[logical] = fresh;
	map->ftl.counters.full_merges++;
	return time;
}

/* Returns when the firmware can go on. */
static u64 merge_log(struct ftl_log *map, u16 index, u64 start)
{
	struct log_block *log = &map->logs[index];

	if (!map->live[log->logical]) {
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
	struct log_block *log;
	u16 index;

	while (ring_of(map, logical)->count < 2)
		*time = merge_log(map, choose_victim(map, logical, true), *time);
	if (map->unused == NO_LOG)
		*time = merge_log(map, choose_victim(map, logical, false), *time);

	index = map->unused;
	log = &map->logs[index];
	map->unused = log->next;
	log->logical = logical;
	log->block = take_free_block(map, logical);
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
		struct ssd_place home = home_place(map, map->logs[log_index].block, index);

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

	for (way = 0; way < map->ways; way++) {
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
	struct ssd_place place = home_place(map, log->block, index);
	u64 end;

	if (place.row != ssd_nand_next_row(ftl->nand, log->block, place.way))
		log->at_home = false;
	place.row = ssd_nand_next_row(ftl->nand, log->block, place.way);
	end = ssd_nand_program(ftl->nand, &place, page, start);
	log->row[index] = place.row;
	if (!test_and_set_bit(page, map->mapped))
		map->live[logical]++;

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

	if (!test_and_clear_bit(page, map->mapped))
		return;
	if (log_index != NO_LOG)
		map->logs[log_index].row[index] = NO_ROW;
	if (!--map->live[logical])
		drop_blocks(map, logical, start);
}

/* Each logical block alone: counts, and that its mapped pages are somewhere. */
static int check_logical(struct ftl_log *map, u32 logical, char *error, size_t size)
{
	u32 index, live = 0;

	for (index = 0; index < map->block_pages; index++) {
		struct ssd_place place;

		if (!page_place(map, logical, index, &place))
			continue;
		live++;
		if (place.block >= map->ftl.nand->blocks ||
		    place.row >= ssd_nand_next_row(map->ftl.nand, place.block, place.way) ||
		    (map->ftl.nand->tag &&
		     map->ftl.nand->tag[((size_t)place.block * map->ways + place.way) *
					map->rows + place.row] !=
		     logical * map->block_pages + index)) {
			scnprintf(error, size, "page %u of block %u is not where it should be",
				  index, logical);
			return -EINVAL;
		}
	}
	if (live != map->live[logical]) {
		scnprintf(error, size, "logical block %u counts %u pages but has %u", logical,
			  map->live[logical], live);
		return -EINVAL;
	}
	return 0;
}

/* Every physical block is a data block, a log block or free, and only one of these. */
static int check_blocks(struct ftl_log *map, char *error, size_t size)
{
	u32 blocks = map->ftl.nand->blocks, sets = map->ftl.nand->die_sets;
	unsigned long *seen = bitmap_zalloc(blocks, GFP_KERNEL);
	u32 set, logical, i, used = 0;
	bool twice = false;

	if (!seen) {
		scnprintf(error, size, "no memory for the check");
		return -ENOMEM;
	}
	for (logical = 0; logical < map->ftl.geometry->data_blocks; logical++) {
		u16 log = map->log_of[logical];

		if (map->data[logical] != NO_BLOCK) {
			twice |= __test_and_set_bit(map->data[logical], seen);
			used++;
		}
		if (log != NO_LOG) {
			twice |= __test_and_set_bit(map->logs[log].block, seen);
			used++;
		}
	}
	for (set = 0; set < sets; set++) {
		struct free_ring *ring = &map->free[set];

		for (i = 0; i < ring->count; i++) {
			u32 block = ring->block[(ring->head + i) % map->blocks_per_set];

			twice |= __test_and_set_bit(block, seen);
			twice |= block % sets != set;
			used++;
		}
	}
	bitmap_free(seen);
	if (twice || used != blocks) {
		scnprintf(error, size, "%u of %u blocks accounted for%s", used, blocks,
			  twice ? ", some of them twice or in the wrong die set" : "");
		return -EINVAL;
	}
	return 0;
}

static int log_ftl_check(struct ssd_ftl *ftl, char *error, size_t size)
{
	struct ftl_log *map = to_log_ftl(ftl);
	u32 logical;
	int r;

	for (logical = 0; logical < ftl->geometry->data_blocks; logical++) {
		r = check_logical(map, logical, error, size);
		if (r)
			return r;
	}
	return check_blocks(map, error, size);
}

static void log_ftl_destroy(struct ssd_ftl *ftl)
{
	struct ftl_log *map = to_log_ftl(ftl);

	kvfree(map->logs);
	kvfree(map->log_rows);
	kvfree(map->data);
	kvfree(map->log_of);
	bitmap_free(map->mapped);
	kvfree(map->live);
	kvfree(map->free);
	kvfree(map->free_blocks);
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
	u32 blocks = geometry->data_blocks, logs = geometry->log_blocks;

	map->logs = kvcalloc(logs, sizeof(*map->logs), GFP_KERNEL);
	map->log_rows = kvcalloc((size_t)logs * map->block_pages, sizeof(u16), GFP_KERNEL);
	map->data = kvcalloc(blocks, sizeof(u32), GFP_KERNEL);
	map->log_of = kvcalloc(blocks, sizeof(u16), GFP_KERNEL);
	map->mapped = bitmap_zalloc(geometry->pages, GFP_KERNEL);
	map->live = kvcalloc(blocks, sizeof(u16), GFP_KERNEL);
	map->free = kvcalloc(map->ftl.nand->die_sets, sizeof(*map->free), GFP_KERNEL);
	map->free_blocks = kvcalloc(geometry->total_blocks, sizeof(u32), GFP_KERNEL);
	if (!map->logs || !map->log_rows || !map->data || !map->log_of || !map->mapped ||
	    !map->live || !map->free || !map->free_blocks)
		return -ENOMEM;
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

/* As if the whole drive had been written once, in order. */
static void fill_block(struct ftl_log *map, u32 logical)
{
	u32 first = logical * map->block_pages, index;

	map->data[logical] = logical;
	map->live[logical] = map->block_pages;
	bitmap_set(map->mapped, first, map->block_pages);
	for (index = 0; index < map->block_pages; index++) {
		struct ssd_place home = home_place(map, logical, index);

		ssd_nand_fill(map->ftl.nand, &home, first + index);
	}
}

int ssd_ftl_log_create(const struct ssd_profile *profile,
		       const struct ssd_geometry *geometry,
		       struct ssd_nand *nand, struct ssd_ftl **ftl)
{
	struct ftl_log *map = kvcalloc(1, sizeof(*map), GFP_KERNEL);
	u32 logical, block, set;

	if (!map)
		return -ENOMEM;
	map->ftl.ops = &log_ftl_ops;
	map->ftl.geometry = geometry;
	map->ftl.nand = nand;
	map->victim = profile->log_victim;
	map->restart = profile->log_restart;
	map->ways = profile->ways;
	map->rows = geometry->rows;
	map->block_pages = geometry->block_pages;
	map->blocks_per_set = geometry->total_blocks / nand->die_sets;
	if (allocate(map)) {
		log_ftl_destroy(&map->ftl);
		return -ENOMEM;
	}
	link_unused_logs(map);
	for (set = 0; set < nand->die_sets; set++)
		map->free[set].block = &map->free_blocks[(size_t)set * map->blocks_per_set];
	for (logical = 0; logical < geometry->data_blocks; logical++) {
		map->log_of[logical] = NO_LOG;
		map->data[logical] = NO_BLOCK;
		if (profile->prefill)
			fill_block(map, logical);
	}
	for (block = profile->prefill ? geometry->data_blocks : 0; block < nand->blocks; block++)
		give_free_block(map, block);
	*ftl = &map->ftl;
	return 0;
}
