/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The map: a red-black tree from normal-area block to log block (RE section
 * 3.2).
 *
 * There is one node for each block of the reserved area, in one preallocated
 * array, and the index of the node *is* the log block.  So nothing is allocated
 * on the I/O path, and memory is 20 bytes per 4 KiB of reserved area (plus one
 * bit, see below), whatever happens.
 *
 * State of a log block:
 *	free	 lbn == RESSD_NO_BLOCK
 *	dirty	 in the tree: the log holds the only current copy of normal
 *		 block @lbn
 *	clean	 in the tree, clean bit set: the mover has copied it home, both
 *		 copies are equal.  Reads use the normal area.  It stays in the
 *		 tree until its segment may be reused, so that a direct write to
 *		 @lbn still finds it and makes its death durable (UNMAP).
 *	dying	 not in the tree, lbn kept, on the log's list of UNMAPs not yet
 *		 written.  The clean bit then says that its UNMAP is sealed into
 *		 the record in flight.
 *
 * Context: no locks inside; callers serialise all calls (the kernel with
 * ressd->lock).  Only the regions are looked at without it.
 */
#ifndef RESSD_MAP_H
#define RESSD_MAP_H

#include "ressd-format.h"
#include "ressd-regions.h"
#include "ressd-tree.h"

struct ressd_map {
	struct ressd_node *root;	/* of the tree */
	struct ressd_node *nodes;	/* nr of them */
	unsigned long *clean;		/* bitmap of nr bits */
	struct ressd_regions regions;	/* if their bits are not NULL */
	u32 nr;
	u32 nr_mapped;			/* nodes in the tree */
	u32 nr_dirty;			/* of these, not clean */
};

/*
 * Bytes the two arrays need for @nr log blocks; of the nodes they may be more
 * than 32 bits can say.
 */
u64 ressd_map_nodes_bytes(u32 nr);
size_t ressd_map_clean_bytes(u32 nr);

/*
 * @nodes and @clean stay the caller's and must live as long as the map.
 * Without regions, which the caller may add before it maps anything.
 */
void ressd_map_init(struct ressd_map *map, struct ressd_node *nodes,
		    unsigned long *clean, u32 nr);

static inline u32 ressd_map_block(const struct ressd_map *map,
				  const struct ressd_node *node)
{
	return node - map->nodes;
}

bool ressd_map_is_clean(const struct ressd_map *map, u32 block);

/* Not that, of a node in the tree: is home older than the log? */
static inline bool ressd_map_is_dirty(const struct ressd_map *map,
				      const struct ressd_node *node)
{
	return !ressd_map_is_clean(map, ressd_map_block(map, node));
}

/* The node that maps @lbn, or NULL. */
struct ressd_node *ressd_map_find(const struct ressd_map *map, u32 lbn);

/* The node with the lowest normal block >= @lbn, or NULL. */
struct ressd_node *ressd_map_first_from(const struct ressd_map *map, u32 lbn);

/*
 * The node after @node, which is in the tree, in ascending normal-area order,
 * or NULL.
 */
static inline struct ressd_node *ressd_map_next(const struct ressd_node *node)
{
	return ressd_tree_next(node);
}

/* Maps @lbn, which must not be mapped, to the free log block @block, dirty. */
void ressd_map_insert(struct ressd_map *map, u32 block, u32 lbn);

/*
 * Takes @node out of the tree; its lbn stays, so the caller sets it to
 * RESSD_NO_BLOCK or not.
 */
void ressd_map_erase(struct ressd_map *map, struct ressd_node *node);

/*
 * The same, for a newer version: the caller maps its lbn again before it
 * releases the lock.  Who looks at the regions without the lock sees it mapped
 * all the time.
 */
void ressd_map_take_out(struct ressd_map *map, struct ressd_node *node);

/* A dirty @node is home now. */
void ressd_map_set_clean(struct ressd_map *map, struct ressd_node *node);

/* What a clean @node has at home cannot be relied on: it is dirty again. */
void ressd_map_set_dirty(struct ressd_map *map, struct ressd_node *node);

/*
 * A dying node, taken off its list, becomes dirty again; its lbn must not be
 * mapped.
 */
void ressd_map_revive(struct ressd_map *map, struct ressd_node *node);

/* The mark of a dying block: is its UNMAP in the record in flight? */
void ressd_map_mark_sealed(struct ressd_map *map, u32 block, bool sealed);

static inline bool ressd_map_is_sealed(const struct ressd_map *map, u32 block)
{
	return ressd_map_is_clean(map, block);
}

#endif
