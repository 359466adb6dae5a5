/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of dying log blocks, whose UNMAP is not durable yet, in the order of
 * their deaths.  The links are indices of map nodes, in the memory that the
 * tree no longer needs for them.
 *
 * Context: no locks inside; callers serialise all calls on one map.
 */
#ifndef RESSD_DYING_H
#define RESSD_DYING_H

#include "ressd-map.h"

struct ressd_dying {
	u32 first, last;		/* RESSD_NO_BLOCK: the list is empty */
};

void ressd_dying_init(struct ressd_dying *list);

static inline bool ressd_dying_is_empty(const struct ressd_dying *list)
{
	return list->first == RESSD_NO_BLOCK;
}

/*
 * The ends of a list, and the one before a node that is on one; NULL: there is
 * none.
 */
struct ressd_node *ressd_dying_first(const struct ressd_map *map,
				     const struct ressd_dying *list);
struct ressd_node *ressd_dying_last(const struct ressd_map *map,
				    const struct ressd_dying *list);
struct ressd_node *ressd_dying_before(const struct ressd_map *map,
				      const struct ressd_node *node);

/*
 * Puts @node, which is neither in the tree nor on a list, at an end of @list.
 */
void ressd_dying_add_first(const struct ressd_map *map,
			   struct ressd_dying *list, struct ressd_node *node);
void ressd_dying_add_last(const struct ressd_map *map, struct ressd_dying *list,
			  struct ressd_node *node);

/* Takes @node off @list, on which it must be. */
void ressd_dying_remove(const struct ressd_map *map, struct ressd_dying *list,
			struct ressd_node *node);

#endif
