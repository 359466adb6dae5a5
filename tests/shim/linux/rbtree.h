/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's rbtree interface, so that the map of core compiles in userspace.
 *
 * Behind it stands our own treap (tests/shim/rbtree.c), not a red-black tree: callers of the
 * kernel's interface can see the order of the nodes but not how the tree is balanced.  A node has
 * the kernel's size (three words), because core promises 32 bytes per block.
 */
#ifndef SHIM_LINUX_RBTREE_H
#define SHIM_LINUX_RBTREE_H

#include <linux/container_of.h>
#include <linux/types.h>

struct rb_node {
	struct rb_node *rb_up;		/* itself: in no tree */
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT			((struct rb_root){ NULL })
#define RB_EMPTY_ROOT(root)	(!(root)->rb_node)
#define RB_EMPTY_NODE(node)	((node)->rb_up == (node))
#define RB_CLEAR_NODE(node)	((node)->rb_up = (node))

#define rb_entry(pointer, type, member)		container_of(pointer, type, member)
#define rb_entry_safe(pointer, type, member) ({					\
	__typeof__(pointer) shim_rb = (pointer);				\
										\
	shim_rb ? rb_entry(shim_rb, type, member) : NULL; })
#define rb_parent(node)				((node)->rb_up)

/* Hangs @node at @link, the empty child pointer of @parent that a search ended at. */
static inline void rb_link_node(struct rb_node *node, struct rb_node *parent,
				struct rb_node **link)
{
	node->rb_up = parent;
	node->rb_left = NULL;
	node->rb_right = NULL;
	*link = node;
}

/* Balances after rb_link_node. */
void rb_insert_color(struct rb_node *node, struct rb_root *root);
void rb_erase(struct rb_node *node, struct rb_root *root);

/* In ascending order; NULL at the end. */
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_last(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *node);
struct rb_node *rb_prev(const struct rb_node *node);

/* Puts @fresh where @victim was; both must sort alike. */
void rb_replace_node(struct rb_node *victim, struct rb_node *fresh, struct rb_root *root);

#endif
