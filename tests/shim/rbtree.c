// SPDX-License-Identifier: GPL-2.0-only
/*
 * A treap behind the kernel's rbtree interface; see linux/rbtree.h.
 *
 * Every node has a priority, a hash of its address; the tree is a heap of the priorities, so its
 * expected depth is logarithmic whatever the order of the keys.  Insertion rotates the new leaf up,
 * erasure rotates the node down until it is a leaf.
 */
#include <stdint.h>
#include <linux/rbtree.h>

static u32 priority(const struct rb_node *node)
{
	u64 x = (u64)(uintptr_t)node / sizeof(void *);

	x *= 0x9e3779b97f4a7c15ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return (u32)(x >> 32);
}

/* The pointer that leads to @node. */
static struct rb_node **link_to(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *up = node->rb_up;

	if (!up)
		return &root->rb_node;
	return up->rb_left == node ? &up->rb_left : &up->rb_right;
}

/* Lifts @node above its parent, keeping the order. */
static void rotate_up(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent = node->rb_up;
	struct rb_node **link = link_to(parent, root);
	struct rb_node *inner;

	if (parent->rb_left == node) {
		inner = node->rb_right;
		node->rb_right = parent;
		parent->rb_left = inner;
	} else {
		inner = node->rb_left;
		node->rb_left = parent;
		parent->rb_right = inner;
	}
	if (inner)
		inner->rb_up = parent;
	node->rb_up = parent->rb_up;
	parent->rb_up = node;
	*link = node;
}

void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	while (node->rb_up && priority(node->rb_up) < priority(node))
		rotate_up(node, root);
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *left, *right, *child;

	while ((left = node->rb_left) && (right = node->rb_right))
		rotate_up(priority(left) < priority(right) ? right : left, root);
	child = node->rb_left ? node->rb_left : node->rb_right;
	*link_to(node, root) = child;
	if (child)
		child->rb_up = node->rb_up;
}

void rb_replace_node(struct rb_node *victim, struct rb_node *fresh, struct rb_root *root)
{
	*link_to(victim, root) = fresh;
	*fresh = *victim;
	if (fresh->rb_left)
		fresh->rb_left->rb_up = fresh;
	if (fresh->rb_right)
		fresh->rb_right->rb_up = fresh;
}

static struct rb_node *leftmost(struct rb_node *node)
{
	while (node && node->rb_left)
		node = node->rb_left;
	return node;
}

static struct rb_node *rightmost(struct rb_node *node)
{
	while (node && node->rb_right)
		node = node->rb_right;
	return node;
}

struct rb_node *rb_first(const struct rb_root *root)
{
	return leftmost(root->rb_node);
}

struct rb_node *rb_last(const struct rb_root *root)
{
	return rightmost(root->rb_node);
}

struct rb_node *rb_next(const struct rb_node *node)
{
	if (node->rb_right)
		return leftmost(node->rb_right);
	while (node->rb_up && node->rb_up->rb_right == node)
		node = node->rb_up;
	return node->rb_up;
}

struct rb_node *rb_prev(const struct rb_node *node)
{
	if (node->rb_left)
		return rightmost(node->rb_left);
	while (node->rb_up && node->rb_up->rb_left == node)
		node = node->rb_up;
	return node->rb_up;
}
