// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-mapping translation layer with greedy garbage collection.
 *
 * Every logical page may be anywhere. Each die set has its own blocks: one that
 * the host's pages go to, one that copies go to, erased ones, and the rest. A page
 * goes to the die that can take it first. A set with few erased blocks collects
 * garbage: it moves the valid pages of the block that has fewest and erases it.
 * That happens in the background on dies that are idle, and in the foreground, so
 * that the write waits, when no set has an erased block to give.
 *
 * Optionally a block is erased only when it is opened. The page that opens it waits.
 *
 * Optionally only part of the map is in RAM. The map's own pages are then written
 * like data, with numbers behind those of the host. A change of the map by garbage
 * collection costs nothing here: the moved page's spare bytes name it.
 *
 * Optionally there is a pseudo-SLC area: ssd-ftl-slc.c.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ssd-ftl-page.h"

static struct ftl_page *to_page_ftl(struct ssd_ftl *ftl)
{
	return container_of(ftl, struct ftl_page, ftl);
}

static u32 slot_at(const struct ftl_page *map, const struct ssd_place *place)
{
	return (place->block * map->ways + place->way) * map->rows + place->row;
}

/* The page is not valid any more where it was. */
static void invalidate(struct ftl_page *map, u32 page)
{
	u32 slot = map->slot[page];
	u32 block = slot / map->block_pages;

	if (slot == NO_SLOT)
		return;
	map->owner[slot] = SSD_NO_PAGE;
	map->slot[page] = NO_SLOT;
	map->valid[block]--;
	map->set[block % map->sets].valid--;
}

/* The page is now in the next row of @place->way. */
static void occupy(struct ftl_page *map, u32 page, struct ssd_place *place)
{
	u32 slot;

	place->row = ssd_nand_next_row(map->ftl.nand, place->block, place->way);
	slot = slot_at(map, place);
	map->slot[page] = slot;
	map->owner[slot] = page;
	map->valid[place->block]++;
	map->filled[place->block]++;
	map->set[place->block % map->sets].valid++;
}

static void open_block(struct ftl_page *map, struct page_set *set, enum stream stream, u64 time)
{
	set->open[stream] = ssd_free_take(&set->free);
	if (map->erase_on_open)
		ssd_nand_erase(map->ftl.nand, set->open[stream], time);
	if (set->free.count + 1 == map->low)
		set->since = time;
}

/* Is there an empty page, maybe after the erase that the block is to get? */
static bool has_room(const struct ftl_page *map, u32 block, u32 way)
{
	return ssd_nand_next_row(map->ftl.nand, block, way) < ssd_page_rows(map, block) ||
	       (map->erase_on_open && !map->filled[block]);
}

/* The way of a block with room whose die is free first, asking @first first. */
u32 ssd_page_best_way(const struct ftl_page *map, u32 block, u32 first, u64 start, u64 *free_at)
{
	u32 i, best = first;

	*free_at = U64_MAX;
	for (i = 0; i < map->ways && *free_at > start; i++) {
		u32 way = (first + i) % map->ways;
		u64 time = max(start, ssd_nand_die_free(map->ftl.nand, block, way));

		if (has_room(map, block, way) && time < *free_at) {
			*free_at = time;
			best = way;
		}
	}
	return best;
}

/* The closed block with the fewest valid pages, or NO_BLOCK if none has garbage. */
static u32 choose_victim(const struct ftl_page *map, u32 index)
{
	const struct page_set *set = &map->set[index];
	u32 block, best = NO_BLOCK, fewest = map->block_pages;

	for (block = index; block < map->slc_from; block += map->sets) {
		if (map->filled[block] && map->valid[block] < fewest &&
		    block != set->open[STREAM_HOST] && block != set->open[STREAM_COPY]) {
			best = block;
			fewest = map->valid[block];
		}
	}
	return best;
}

/* Move one valid page of the victim. Returns the time it is programmed. */
u64 ssd_page_move(struct ftl_page *map, struct page_set *set, u32 slot, u64 start)
{
	struct ssd_place from = ssd_page_place(map, slot), to = from;
	u32 page = map->owner[slot];
	u64 unused;

	if (ssd_page_full(map, set->open[STREAM_COPY]))
		open_block(map, set, STREAM_COPY, start);
	to.block = set->open[STREAM_COPY];
	if (ssd_nand_next_row(map->ftl.nand, to.block, to.way) == map->rows)
		to.way = ssd_page_best_way(map, to.block, to.way, start, &unused);
	invalidate(map, page);
	occupy(map, page, &to);
	if (from.block < map->slc_from)
		map->ftl.counters.gc_copies++;
	else
		map->ftl.counters.slc_copies++;
	return ssd_nand_copy(map->ftl.nand, &from, &to, page, start);
}

/* The first valid slot of a block, from @cursor on, or NO_SLOT. */
u32 ssd_page_next_valid(struct ftl_page *map, u32 block, u32 *cursor)
{
	for (; *cursor < map->block_pages; ++*cursor) {
		struct ssd_place place = {
			.block = block,
			.way = *cursor % map->ways,
			.row = *cursor / map->ways,
		};
		u32 slot = slot_at(map, &place);

		if (map->owner[slot] != SSD_NO_PAGE)
			return slot;
	}
	return NO_SLOT;
}

static void erase_victim(struct ftl_page *map, struct page_set *set, u64 start)
{
	if (!map->erase_on_open)
		ssd_nand_erase(map->ftl.nand, set->victim, start);
	map->filled[set->victim] = 0;
	ssd_free_give(&set->free, set->victim);
	set->victim = NO_BLOCK;
	map->ftl.counters.gc_blocks++;
}

/* Make sure that a block is being collected. Returns false if there is no garbage. */
static bool have_victim(struct ftl_page *map, u32 index)
{
	struct page_set *set = &map->set[index];

	if (set->victim == NO_BLOCK) {
		set->victim = choose_victim(map, index);
		set->cursor = 0;
	}
	return set->victim != NO_BLOCK;
}

/* Collect until the set has an erased block to give. Returns the end of the last copy. */
u64 ssd_page_collect(struct ftl_page *map, u32 index, u64 start)
{
	struct page_set *set = &map->set[index];
	u64 end = start;

	while (set->free.count < 2 && have_victim(map, index)) {
		u32 slot = ssd_page_next_valid(map, set->victim, &set->cursor);

		if (slot == NO_SLOT)
			erase_victim(map, set, end);
		else
			end = max(end, ssd_page_move(map, set, slot, map->serial ? end : start));
	}
	return end;
}

/* Collect on idle dies until @now. Returns the end of the last copy. */
static u64 collect_idle(struct ftl_page *map, u32 index, u64 from, u64 now)
{
	struct page_set *set = &map->set[index];
	u64 end = from;

	while ((set->victim != NO_BLOCK || set->free.count < map->low) &&
	       have_victim(map, index)) {
		u32 slot = ssd_page_next_valid(map, set->victim, &set->cursor);
		struct ssd_place place = ssd_page_place(map, slot == NO_SLOT ?
						       set->victim * map->block_pages : slot);
		u64 start = max(set->since,
				ssd_nand_die_free(map->ftl.nand, place.block, place.way));

		start = max(start, map->serial ? end : from);
		if (start >= now)
			break;
		if (slot == NO_SLOT)
			erase_victim(map, set, start);
		else
			end = max(end, ssd_page_move(map, set, slot, start));
	}
	return end;
}

static u64 page_ftl_background(struct ssd_ftl *ftl, u64 from, u64 now)
{
	struct ftl_page *map = to_page_ftl(ftl);
	u64 end = from;
	u32 i;

	for (i = 0; i < map->sets; i++)
		end = max(end, collect_idle(map, i, map->serial ? end : from, now));
	for (i = 0; i < map->sets && map->slc_blocks; i++)
		end = max(end, ssd_slc_fold(map, i, map->serial ? end : from, now));
	return end;
}

/* A set may take a page of the host: it has room, and enough garbage stays possible. */
static bool may_take(const struct ftl_page *map, const struct page_set *set)
{
	return set->valid < map->limit &&
	       (!ssd_page_full(map, set->open[STREAM_HOST]) || set->free.count >= 2);
}

/* The set and way whose die is free first. Returns false if no set has room. */
static bool choose_die(struct ftl_page *map, u64 start, u32 *index, u32 *way)
{
	u64 earliest = U64_MAX;
	u32 i;

	for (i = 0; i < map->sets && earliest > start; i++) {
		u32 candidate = (map->turn + i) % map->sets;
		const struct page_set *set = &map->set[candidate];
		u32 block = set->open[STREAM_HOST], candidate_way;
		u64 time;

		if (!may_take(map, set))
			continue;
		/* An erased block of the set stands for the one that would be opened. */
		if (ssd_page_full(map, block))
			block = ssd_free_next(&set->free);
		candidate_way = ssd_page_best_way(map, block, map->filled[block] % map->ways,
						  start, &time);
		if (time < earliest) {
			earliest = time;
			*index = candidate;
			*way = candidate_way;
		}
	}
	return earliest != U64_MAX;
}

/* The set with the most garbage among those the host may use. */
static u32 dirtiest_set(const struct ftl_page *map)
{
	u32 i, best = 0;

	for (i = 1; i < map->sets; i++) {
		if (map->set[i].valid < map->set[best].valid)
			best = i;
	}
	return best;
}

/* Program a page where it goes next. Returns the time its data have left. */
static u64 program_at(struct ftl_page *map, u32 page, struct ssd_place *place, u64 start)
{
	map->turn = (place->block % map->sets + 1) % map->sets;
	invalidate(map, page);
	occupy(map, page, place);
	return ssd_nand_program(map->ftl.nand, place, page, start);
}

/* Program a page of host or map. Returns the time its data have left. */
static u64 write_page(struct ftl_page *map, u32 page, u64 start)
{
	struct ssd_place place;
	struct page_set *set;
	u32 index = 0;

	if (ssd_slc_choose(map, start, &place)) {
		map->ftl.counters.slc_programs++;
		return program_at(map, page, &place, start);
	}
	while (!choose_die(map, start, &index, &place.way)) {
		u64 end = ssd_page_collect(map, dirtiest_set(map), start);

		if (map->serial)
			start = end;
	}
	set = &map->set[index];
	if (ssd_page_full(map, set->open[STREAM_HOST]))
		open_block(map, set, STREAM_HOST, start);
	place.block = set->open[STREAM_HOST];
	return program_at(map, page, &place, start);
}

/* Have the map entry of a page in RAM, to read or to change it. Returns when it is. */
static u64 touch_map(struct ftl_page *map, u32 page, bool change, u64 start)
{
	struct ssd_map_victim victim;
	u32 map_page;

	if (!map->ftl.geometry->map_pages)
		return start;
	map_page = page / (map->ftl.geometry->page_sectors * 128);
	if (ssd_map_cache_use(&map->cache, map_page, change, &victim)) {
		map->ftl.counters.map_hits++;
		return start;
	}
	if (victim.dirty) {
		start = write_page(map, map->ftl.geometry->pages + victim.map_page, start);
		map->ftl.counters.map_writes++;
	}
	map_page += map->ftl.geometry->pages;
	if (map->slot[map_page] != NO_SLOT) {
		struct ssd_place place = ssd_page_place(map, map->slot[map_page]);

		start = ssd_nand_read(map->ftl.nand, &place, map_page, start);
		map->ftl.counters.map_reads++;
	}
	return start;
}

static u64 page_ftl_write(struct ssd_ftl *ftl, u32 page, u64 start)
{
	struct ftl_page *map = to_page_ftl(ftl);

	return write_page(map, page, touch_map(map, page, true, start));
}

static u64 page_ftl_resolve(struct ssd_ftl *ftl, u32 page, u64 start)
{
	return touch_map(to_page_ftl(ftl), page, false, start);
}

static u64 page_ftl_ready(struct ssd_ftl *ftl)
{
	const struct ssd_nand *nand = ftl->nand;
	u64 earliest = U64_MAX;
	u32 die;

	for (die = 0; die < nand->die_sets * nand->ways; die++)
		earliest = min(earliest, nand->die_free[die]);
	return earliest;
}

static bool page_ftl_lookup(struct ssd_ftl *ftl, u32 page, struct ssd_place *place)
{
	struct ftl_page *map = to_page_ftl(ftl);

	if (map->slot[page] == NO_SLOT)
		return false;
	*place = ssd_page_place(map, map->slot[page]);
	return true;
}

static void page_ftl_discard(struct ssd_ftl *ftl, u32 page, u64 start)
{
	struct ftl_page *map = to_page_ftl(ftl);

	if (map->slot[page] == NO_SLOT)
		return;
	touch_map(map, page, true, start);
	invalidate(map, page);
}

/* The changes of the map that were not programmed are found in the pages' spare bytes. */
static void page_ftl_power_cycle(struct ssd_ftl *ftl, u64 on)
{
	struct ftl_page *map = to_page_ftl(ftl);
	u32 i;

	ssd_map_cache_clear(&map->cache);
	for (i = 0; i < map->sets; i++)
		map->set[i].since = on;
}

/* Each logical page is where the map says, and is there alone. */
static int check_pages(struct ftl_page *map, char *error, size_t size)
{
	const struct ssd_nand *nand = map->ftl.nand;
	u32 page, mapped = 0, owned = 0, slot;

	for (page = 0; page < map->logical; page++) {
		slot = map->slot[page];
		if (slot == NO_SLOT)
			continue;
		mapped++;
		if (map->owner[slot] != page || (nand->tag && nand->tag[slot] != page)) {
			scnprintf(error, size, "page %u is not where the map says", page);
			return -EINVAL;
		}
	}
	for (slot = 0; slot < nand->blocks * map->block_pages; slot++)
		owned += map->owner[slot] != SSD_NO_PAGE;
	if (owned != mapped) {
		scnprintf(error, size, "%u pages are mapped but %u places are in use", mapped,
			  owned);
		return -EINVAL;
	}
	return 0;
}

/* The counts of a block fit its pages. */
static bool block_fits(const struct ftl_page *map, u32 block)
{
	u32 way, i, filled = 0, valid = 0;

	for (way = 0; way < map->ways; way++)
		filled += ssd_nand_next_row(map->ftl.nand, block, way);
	for (i = 0; i < map->block_pages; i++)
		valid += map->owner[block * map->block_pages + i] != SSD_NO_PAGE;
	if (map->erase_on_open && block < map->slc_from && !map->filled[block])
		filled = 0;
	return filled == map->filled[block] && valid == map->valid[block];
}

/* No block of a set is lost: the erased ones are those in the ring. */
static int check_set(struct ftl_page *map, u32 index, char *error, size_t size)
{
	const struct page_set *set = &map->set[index];
	u32 block, i, erased = 0, valid = 0;
	bool wrong = !ssd_slc_fits(map, &set->slc);

	for (block = index; block < map->ftl.nand->blocks; block += map->sets) {
		wrong |= !block_fits(map, block);
		valid += map->valid[block];
		erased += !map->filled[block] && block != set->open[STREAM_HOST] &&
			  block != set->open[STREAM_COPY] && block < map->slc_from;
	}
	for (i = 0; i < set->free.count; i++) {
		block = set->free.block[(set->free.head + i) % set->free.size];
		wrong |= map->filled[block] || block % map->sets != index;
	}
	/* The last erased block goes only to the copies of a block under way. */
	wrong |= !erased && set->victim == NO_BLOCK;
	if (wrong || valid != set->valid || erased != set->free.count) {
		scnprintf(error, size,
			  "die set %u: %u blocks are erased and %u known as such; %u pages valid, %u counted%s",
			  index, erased, set->free.count, valid, set->valid,
			  wrong ? "; a block's state is wrong" : "");
		return -EINVAL;
	}
	return 0;
}

static int page_ftl_check(struct ssd_ftl *ftl, char *error, size_t size)
{
	struct ftl_page *map = to_page_ftl(ftl);
	int r = check_pages(map, error, size);
	u32 i;

	for (i = 0; !r && i < map->sets; i++)
		r = check_set(map, i, error, size);
	return r;
}

static void page_ftl_destroy(struct ssd_ftl *ftl)
{
	struct ftl_page *map = to_page_ftl(ftl);

	kvfree(map->set);
	kvfree(map->free_blocks);
	kvfree(map->slot);
	kvfree(map->owner);
	kvfree(map->valid);
	kvfree(map->filled);
	kvfree(map->slc_rings);
	ssd_map_cache_destroy(&map->cache);
	kvfree(map);
}

static const struct ssd_ftl_ops page_ftl_ops = {
	.name = "page",
	.destroy = page_ftl_destroy,
	.lookup = page_ftl_lookup,
	.resolve = page_ftl_resolve,
	.ready = page_ftl_ready,
	.write = page_ftl_write,
	.background = page_ftl_background,
	.discard = page_ftl_discard,
	.power_cycle = page_ftl_power_cycle,
	.check = page_ftl_check,
};

static int allocate(struct ftl_page *map)
{
	u32 blocks = map->ftl.geometry->total_blocks;

	map->set = kvcalloc(map->sets, sizeof(*map->set), GFP_KERNEL);
	map->free_blocks = kvcalloc(blocks, sizeof(u32), GFP_KERNEL);
	map->slot = kvcalloc(map->logical, sizeof(u32), GFP_KERNEL);
	map->owner = kvcalloc((size_t)blocks * map->block_pages, sizeof(u32), GFP_KERNEL);
	map->valid = kvcalloc(blocks, sizeof(u16), GFP_KERNEL);
	map->filled = kvcalloc(blocks, sizeof(u16), GFP_KERNEL);
	map->slc_rings = kvcalloc(2 * map->sets * map->slc_blocks + 1, sizeof(u32), GFP_KERNEL);
	if (!map->set || !map->free_blocks || !map->slot || !map->owner || !map->valid ||
	    !map->filled || !map->slc_rings)
		return -ENOMEM;
	return ssd_map_cache_create(&map->cache, map->ftl.geometry->map_cache_pages,
				    map->ftl.geometry->map_pages);
}

/* As if all pages had been written once, in order: dealt out over all dies. */
static void fill_page(struct ftl_page *map, u32 page)
{
	u32 dies = map->sets * map->ways, die = page % dies, depth = page / dies;
	struct ssd_place place = {
		.block = depth / map->rows * map->sets + die % map->sets,
		.way = die / map->sets,
	};

	occupy(map, page, &place);
	ssd_nand_fill(map->ftl.nand, &place, page);
}

static void set_up(struct ftl_page *map, const struct ssd_profile *profile)
{
	u32 i, block, spare, data_blocks;

	memset(map->slot, 0xff, map->logical * sizeof(u32));
	memset(map->owner, 0xff, (size_t)map->ftl.nand->blocks * map->block_pages * sizeof(u32));
	for (i = 0; i < map->sets; i++) {
		struct page_set *set = &map->set[i];

		set->open[STREAM_HOST] = NO_BLOCK;
		set->open[STREAM_COPY] = NO_BLOCK;
		set->victim = NO_BLOCK;
		ssd_free_init(&set->free, &map->free_blocks[i * map->blocks_per_set],
			      map->blocks_per_set);
		ssd_slc_set_up(map, i);
	}
	for (i = 0; profile->prefill && i < map->logical; i++)
		fill_page(map, i);
	for (block = 0; block < map->slc_from; block++) {
		if (!map->filled[block])
			ssd_free_give(&map->set[block % map->sets].free, block);
	}
	data_blocks = DIV_ROUND_UP(DIV_ROUND_UP(map->logical, map->block_pages), map->sets);
	spare = map->blocks_per_set - data_blocks;
	map->limit = (map->blocks_per_set - 4) * map->block_pages;
	map->low = div_u64((u64)map->blocks_per_set * profile->gc_threshold_ppm, 1000000);
	map->low = min(max(map->low, 2U), spare / 2);
}

int ssd_ftl_page_create(const struct ssd_profile *profile,
			const struct ssd_geometry *geometry,
			struct ssd_nand *nand, struct ssd_ftl **ftl)
{
	struct ftl_page *map = kvcalloc(1, sizeof(*map), GFP_KERNEL);

	if (!map)
		return -ENOMEM;
	map->ftl.ops = &page_ftl_ops;
	map->ftl.geometry = geometry;
	map->ftl.nand = nand;
	map->serial = profile->firmware == SSD_FIRMWARE_SERIAL;
	map->erase_on_open = profile->erase_on_open;
	map->ways = profile->ways;
	map->rows = geometry->rows;
	map->block_pages = geometry->block_pages;
	map->sets = nand->die_sets;
	map->slc_from = nand->slc_from;
	map->slc_blocks = geometry->slc_blocks / map->sets;
	map->blocks_per_set = map->slc_from / map->sets;
	map->logical = geometry->pages + geometry->map_pages;
	if (allocate(map)) {
		page_ftl_destroy(&map->ftl);
		return -ENOMEM;
	}
	set_up(map, profile);
	*ftl = &map->ftl;
	return 0;
}
