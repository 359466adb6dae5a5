/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The red-black tree of the map, over nodes of one array.
 *
 * A link is the distance between two nodes in the array, which has at most 2^30
 * of them (it has RESSD_MAX_RESERVED_BLOCKS).  So a node takes 20 bytes; with
 * the kernel's own tree, whose links are pointers, it would take 32.  That is
 * the memory of the target: there is a node for each 4 KiB of reserved area.
 *
 * Context: no locks inside; callers serialise all calls on one tree.
 */
#ifndef RESSD_TREE_H
#define RESSD_TREE_H

#include <linux/types.h>

struct ressd_node {
	union {
		struct {	/* in the tree; distance 0: there is none */
			s32 up;	/* twice that to the parent, 1 more: red */
			s32 child[2];	/* to the lower and the higher child */
		};
		struct {		/* on a list of core/ressd-dying.h: */
			u32 before;	/* a neighbour, or RESSD_NO_BLOCK */
			u32 after;
		};
	};
	u32 lbn;	/* normal-area block: the key */
	u32 crc;	/* crc32c of the data, once its record is written */
};

/* The lower (0) or higher (1) child of @node, or NULL. */
static inline struct ressd_node *ressd_tree_child(const struct ressd_node *node,
						  int side)
{
	if (!node->child[side])
		return NULL;
	return (struct ressd_node *)node + node->child[side];
}

/*
 * Puts @node, whose key is set and not in the tree yet, below @parent (NULL:
 * the tree is empty) on @side, where no child is.  *@root is the topmost node,
 * NULL for an empty tree.
 */
void ressd_tree_insert(struct ressd_node **root, struct ressd_node *node,
		       struct ressd_node *parent, int side);

/* Takes @node out of the tree that it is in. */
void ressd_tree_erase(struct ressd_node **root, struct ressd_node *node);

/* The node with the next higher key, or NULL. */
struct ressd_node *ressd_tree_next(const struct ressd_node *node);

#endif
