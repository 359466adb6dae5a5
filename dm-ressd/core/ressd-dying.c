// SPDX-License-Identifier: GPL-2.0-only
/* Lists of dying log blocks; see ressd-dying.h. */
#include "ressd-dying.h"

static struct ressd_node *node_at(const struct ressd_map *map, u32 block)
{
	return block == RESSD_NO_BLOCK ? NULL : &map->nodes[block];
}

void ressd_dying_init(struct ressd_dying *list)
{
	list->first = RESSD_NO_BLOCK;
	list->last = RESSD_NO_BLOCK;
}

struct ressd_node *ressd_dying_first(const struct ressd_map *map,
				     const struct ressd_dying *list)
{
	return node_at(map, list->first);
}

struct ressd_node *ressd_dying_last(const struct ressd_map *map,
				    const struct ressd_dying *list)
{
	return node_at(map, list->last);
}

struct ressd_node *ressd_dying_before(const struct ressd_map *map,
				      const struct ressd_node *node)
{
	return node_at(map, node->before);
}

/*
 * Joins the neighbours @before and @after, each of which may be an end of
 * @list.
 */
static void join(const struct ressd_map *map, struct ressd_dying *list,
		 u32 before, u32 after)
{
	*(before == RESSD_NO_BLOCK ? &list->first : &map->nodes[before].after) =
		after;
	*(after == RESSD_NO_BLOCK ? &list->last : &map->nodes[after].before) =
		before;
}

static void insert(const struct ressd_map *map, struct ressd_dying *list,
		   const struct ressd_node *node, u32 before, u32 after)
{
	u32 block = ressd_map_block(map, node);

	join(map, list, before, block);
	join(map, list, block, after);
}

void ressd_dying_add_first(const struct ressd_map *map,
			   struct ressd_dying *list, struct ressd_node *node)
{
	insert(map, list, node, RESSD_NO_BLOCK, list->first);
}

void ressd_dying_add_last(const struct ressd_map *map, struct ressd_dying *list,
			  struct ressd_node *node)
{
	insert(map, list, node, list->last, RESSD_NO_BLOCK);
}

void ressd_dying_remove(const struct ressd_map *map, struct ressd_dying *list,
			struct ressd_node *node)
{
	join(map, list, node->before, node->after);
}
