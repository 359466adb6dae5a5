// SPDX-License-Identifier: GPL-2.0-only
/*
 * A red-black tree; see ressd-tree.h.  A red node has no red child, and all
 * ways from the root down to where a child is missing hold the same number of
 * black nodes: so none is more than twice as long as another.
 */
#include "ressd-tree.h"

static struct ressd_node *parent_of(const struct ressd_node *node)
{
	s32 distance = (node->up - (node->up & 1)) / 2;

	return distance ? (struct ressd_node *)node + distance : NULL;
}

static void set_parent(struct ressd_node *node, const struct ressd_node *parent)
{
	s32 distance = parent ? parent - node : 0;

	node->up = distance * 2 + (node->up & 1);
}

static bool is_red(const struct ressd_node *node)
{
	return node && node->up & 1;
}

static void set_red(struct ressd_node *node, bool red)
{
	node->up = node->up - (node->up & 1) + red;
}

/* @child, which may be NULL, becomes the child of @parent on @side. */
static void hang(struct ressd_node *parent, int side, struct ressd_node *child)
{
	parent->child[side] = child ? child - parent : 0;
	if (child)
		set_parent(child, parent);
}

static int side_of(const struct ressd_node *parent,
		   const struct ressd_node *node)
{
	return ressd_tree_child(parent, 1) == node;
}

/* @heir, which may be NULL, takes the place of @node below its parent. */
static void take_place(struct ressd_node **root, const struct ressd_node *node,
		       struct ressd_node *heir)
{
	struct ressd_node *parent = parent_of(node);

	if (parent) {
		hang(parent, side_of(parent, node), heir);
		return;
	}
	*root = heir;
	if (heir)
		set_parent(heir, NULL);
}

/* @node goes down to @side; its child on the other side takes its place. */
static void rotate(struct ressd_node **root, struct ressd_node *node, int side)
{
	struct ressd_node *rising = ressd_tree_child(node, !side);

	take_place(root, node, rising);
	hang(node, !side, ressd_tree_child(rising, side));
	hang(rising, side, node);
}

void ressd_tree_insert(struct ressd_node **root, struct ressd_node *node,
		       struct ressd_node *parent, int side)
{
	node->up = 1;
	node->child[0] = 0;
	node->child[1] = 0;
	if (parent)
		hang(parent, side, node);
	else
		*root = node;

	/* @node is red; its parent may be, too. */
	while (is_red(parent)) {
		struct ressd_node *grandparent = parent_of(parent);
		struct ressd_node *uncle;

		side = side_of(grandparent, parent);
		uncle = ressd_tree_child(grandparent, !side);
		if (is_red(uncle)) {
			set_red(parent, false);
			set_red(uncle, false);
			set_red(grandparent, true);
			node = grandparent;
			parent = parent_of(node);
			continue;
		}
		if (side_of(parent, node) != side) {
			rotate(root, parent, side);
			parent = node;
		}
		set_red(parent, false);
		set_red(grandparent, true);
		rotate(root, grandparent, !side);
		break;
	}
	set_red(*root, false);
}

/*
 * @node, which has two children, and the next higher one below it swap their
 * places and colours.
 */
static void swap_with_next(struct ressd_node **root, struct ressd_node *node)
{
	struct ressd_node *next = ressd_tree_next(node);
	struct ressd_node *lower = ressd_tree_child(node, 0),
			  *higher = ressd_tree_child(node, 1);
	struct ressd_node *parent = parent_of(next),
			  *rest = ressd_tree_child(next, 1);
	bool red = is_red(node);

	take_place(root, node, next);
	set_red(node, is_red(next));
	set_red(next, red);
	hang(next, 0, lower);
	hang(node, 0, NULL);
	hang(node, 1, rest);
	if (parent == node) {
		hang(next, 1, node);
	} else {
		hang(next, 1, higher);
		hang(parent, 0, node);
	}
}

/* Below @parent on @side a black node is missing on all ways. */
static void restore_black(struct ressd_node **root, struct ressd_node *parent,
			  int side)
{
	while (parent) {
		struct ressd_node *sibling = ressd_tree_child(parent, !side);
		struct ressd_node *node = parent;

		if (is_red(sibling)) {
			set_red(sibling, false);
			set_red(parent, true);
			rotate(root, parent, side);
			sibling = ressd_tree_child(parent, !side);
		}
		if (is_red(ressd_tree_child(sibling, 0)) ||
		    is_red(ressd_tree_child(sibling, 1))) {
			if (!is_red(ressd_tree_child(sibling, !side))) {
				set_red(ressd_tree_child(sibling, side), false);
				set_red(sibling, true);
				rotate(root, sibling, !side);
				sibling = ressd_tree_child(parent, !side);
			}
			set_red(sibling, is_red(parent));
			set_red(parent, false);
			set_red(ressd_tree_child(sibling, !side), false);
			rotate(root, parent, side);
			return;
		}
		set_red(sibling, true);
		if (is_red(parent)) {
			set_red(parent, false);
			return;
		}
		parent = parent_of(node);
		if (parent)
			side = side_of(parent, node);
	}
}

void ressd_tree_erase(struct ressd_node **root, struct ressd_node *node)
{
	struct ressd_node *parent, *child;
	int side;

	if (node->child[0] && node->child[1])
		swap_with_next(root, node);
	parent = parent_of(node);
	side = parent ? side_of(parent, node) : 0;
	child = ressd_tree_child(node, !node->child[0]);
	take_place(root, node, child);
	/* An only child is red, and its parent black. */
	if (child)
		set_red(child, false);
	else if (!is_red(node))
		restore_black(root, parent, side);
}

struct ressd_node *ressd_tree_next(const struct ressd_node *node)
{
	struct ressd_node *next = ressd_tree_child(node, 1);
	const struct ressd_node *parent;

	if (next) {
		while (next->child[0])
			next = ressd_tree_child(next, 0);
		return next;
	}
	for (parent = parent_of(node); parent; parent = parent_of(node)) {
		if (!side_of(parent, node))
			return (struct ressd_node *)parent;
		node = parent;
	}
	return NULL;
}
