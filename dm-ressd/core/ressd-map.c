// SPDX-License-Identifier: GPL-2.0-only
/* The map from normal-area block to log block; see ressd-map.h. */
#include <linux/bug.h>
#include "ressd-map.h"

#define BITS_PER_WORD	(8 * sizeof(unsigned long))

u64 ressd_map_nodes_bytes(u32 nr)
{
	return (u64)nr * sizeof(struct ressd_node);
}

size_t ressd_map_clean_bytes(u32 nr)
{
	return ((size_t)nr + BITS_PER_WORD - 1) / BITS_PER_WORD *
	       sizeof(unsigned long);
}

void ressd_map_init(struct ressd_map *map, struct ressd_node *nodes,
		    unsigned long *clean, u32 nr)
{
	size_t i;

	*map = (struct ressd_map) { .nodes = nodes, .clean = clean, .nr = nr };
	for (i = 0; i < nr; i++)
		nodes[i].lbn = RESSD_NO_BLOCK;
	for (i = 0; i < ressd_map_clean_bytes(nr) / sizeof(unsigned long); i++)
		clean[i] = 0;
}

bool ressd_map_is_clean(const struct ressd_map *map, u32 block)
{
	return map->clean[block / BITS_PER_WORD] >> (block % BITS_PER_WORD) & 1;
}

static void write_clean_bit(struct ressd_map *map, u32 block, bool clean)
{
	unsigned long mask = 1UL << (block % BITS_PER_WORD);
	unsigned long *word = &map->clean[block / BITS_PER_WORD];

	*word = clean ? *word | mask : *word & ~mask;
}

struct ressd_node *ressd_map_first_from(const struct ressd_map *map, u32 lbn)
{
	struct ressd_node *best = NULL, *node = map->root;

	while (node) {
		if (node->lbn < lbn) {
			node = ressd_tree_child(node, 1);
		} else {
			best = node;
			if (node->lbn == lbn)
				break;
			node = ressd_tree_child(node, 0);
		}
	}
	return best;
}

struct ressd_node *ressd_map_find(const struct ressd_map *map, u32 lbn)
{
	struct ressd_node *node = ressd_map_first_from(map, lbn);

	return node && node->lbn == lbn ? node : NULL;
}

void ressd_map_insert(struct ressd_map *map, u32 block, u32 lbn)
{
	struct ressd_node *node = &map->nodes[block];
	struct ressd_node *parent = NULL, *other = map->root;
	int side = 0;

	WARN_ON_ONCE(node->lbn != RESSD_NO_BLOCK);
	while (other) {
		parent = other;
		if (WARN_ON_ONCE(parent->lbn == lbn))
			return;
		side = lbn > parent->lbn;
		other = ressd_tree_child(parent, side);
	}
	node->lbn = lbn;
	node->crc = 0;
	ressd_tree_insert(&map->root, node, parent, side);
	write_clean_bit(map, block, false);
	if (map->regions.bits)
		ressd_regions_set(&map->regions, lbn);
	map->nr_mapped++;
	map->nr_dirty++;
}

void ressd_map_take_out(struct ressd_map *map, struct ressd_node *node)
{
	ressd_tree_erase(&map->root, node);
	map->nr_mapped--;
	if (ressd_map_is_dirty(map, node))
		map->nr_dirty--;
	write_clean_bit(map, ressd_map_block(map, node), false);
}

/*
 * Does the tree have another node of the region of @lbn, which has just left
 * it?
 */
static bool region_is_mapped(const struct ressd_map *map, u32 lbn)
{
	u32 start = ressd_regions_start(&map->regions, lbn);
	const struct ressd_node *node;

	if (!map->regions.shift)
		return false;
	node = ressd_map_first_from(map, start);
	return node && ressd_regions_start(&map->regions, node->lbn) == start;
}

void ressd_map_erase(struct ressd_map *map, struct ressd_node *node)
{
	ressd_map_take_out(map, node);
	if (map->regions.bits && !region_is_mapped(map, node->lbn))
		ressd_regions_clear(&map->regions, node->lbn);
}

void ressd_map_set_clean(struct ressd_map *map, struct ressd_node *node)
{
	WARN_ON_ONCE(!ressd_map_is_dirty(map, node));
	write_clean_bit(map, ressd_map_block(map, node), true);
	map->nr_dirty--;
}

void ressd_map_set_dirty(struct ressd_map *map, struct ressd_node *node)
{
	WARN_ON_ONCE(ressd_map_is_dirty(map, node));
	write_clean_bit(map, ressd_map_block(map, node), false);
	map->nr_dirty++;
}

void ressd_map_revive(struct ressd_map *map, struct ressd_node *node)
{
	u32 lbn = node->lbn, crc = node->crc;

	node->lbn = RESSD_NO_BLOCK;
	ressd_map_insert(map, ressd_map_block(map, node), lbn);
	node->crc = crc;
}

void ressd_map_mark_sealed(struct ressd_map *map, u32 block, bool sealed)
{
	write_clean_bit(map, block, sealed);
}
