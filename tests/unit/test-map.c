// SPDX-License-Identifier: GPL-2.0-only
/* ressd-map against two arrays. */
#include <linux/string.h>
#include "harness.h"
#include "ressd-dying.h"
#include "ressd-map.h"

TEST_SUITE("map");

#define NR_LOG		700
#define NR_NORMAL	1500

static struct ressd_node nodes[NR_LOG];
static unsigned long clean[(NR_LOG + 31) / 32];
static struct ressd_map map;

/* The oracle: where each normal block is, and whether it is home too. */
static int block_of[NR_NORMAL];
static bool is_clean[NR_NORMAL];
static u32 free_blocks[NR_LOG], nr_free;

static void start(void)
{
	u32 i;

	memset(nodes, 0x55, sizeof(nodes));
	memset(clean, 0xff, sizeof(clean));
	ressd_map_init(&map, nodes, clean, NR_LOG);
	for (i = 0; i < NR_NORMAL; i++)
		block_of[i] = -1;
	memset(is_clean, 0, sizeof(is_clean));
	for (i = 0; i < NR_LOG; i++)
		free_blocks[i] = i;
	nr_free = NR_LOG;
}

static void check_counts(void)
{
	u32 i, mapped = 0, dirty = 0;

	for (i = 0; i < NR_NORMAL; i++) {
		mapped += block_of[i] >= 0;
		dirty += block_of[i] >= 0 && !is_clean[i];
	}
	CHECK_EQ(map.nr_mapped, mapped);
	CHECK_EQ(map.nr_dirty, dirty);
}

static void check_walk(u32 from)
{
	struct ressd_node *node = ressd_map_first_from(&map, from);
	u32 i;

	for (i = from; i < NR_NORMAL; i++) {
		if (block_of[i] < 0)
			continue;
		CHECK(node && node->lbn == i, "from %u: no node for %u", from, i);
		CHECK_EQ(ressd_map_block(&map, node), (u32)block_of[i]);
		CHECK_EQ(ressd_map_is_clean(&map, block_of[i]), is_clean[i]);
		node = ressd_map_next(node);
	}
	CHECK(!node, "a node after the last");
}

static void insert(u32 lbn)
{
	u32 pick = test_below(nr_free);

	block_of[lbn] = free_blocks[pick];
	free_blocks[pick] = free_blocks[--nr_free];
	ressd_map_insert(&map, block_of[lbn], lbn);
}

static void erase(u32 lbn)
{
	struct ressd_node *node = ressd_map_find(&map, lbn);

	ressd_map_erase(&map, node);
	CHECK_EQ(node->lbn, lbn);
	node->lbn = RESSD_NO_BLOCK;
	free_blocks[nr_free++] = block_of[lbn];
	block_of[lbn] = -1;
	is_clean[lbn] = false;
}

static void step(u32 lbn)
{
	struct ressd_node *node = ressd_map_find(&map, lbn);

	CHECK_EQ(node ? (int)ressd_map_block(&map, node) + 1 : 0, block_of[lbn] + 1);
	if (!node) {
		if (nr_free)
			insert(lbn);
	} else if (!is_clean[lbn] && test_below(3) == 0) {
		ressd_map_set_clean(&map, node);
		is_clean[lbn] = true;
	} else {
		erase(lbn);
	}
}

TEST(random_against_arrays)
{
	u32 round;

	start();
	for (round = 0; round < 60000; round++) {
		/* Sometimes a narrow range, so that it becomes full and empty. */
		step(test_below(round / 10000 % 2 ? 40 : NR_NORMAL));
		if (round % 100 == 0) {
			check_counts();
			check_walk(test_below(NR_NORMAL));
		}
	}
	check_counts();
	check_walk(0);
}

TEST(full_and_empty)
{
	u32 i;

	start();
	CHECK(!ressd_map_first_from(&map, 0), "an empty map has a node");
	CHECK(!ressd_map_find(&map, 0), "an empty map has a node");
	for (i = 0; i < NR_LOG; i++)
		insert(NR_NORMAL - 1 - i);
	check_counts();
	check_walk(0);
	for (i = 0; i < NR_LOG; i++)
		erase(NR_NORMAL - 1 - i);
	check_counts();
	CHECK(!ressd_map_first_from(&map, 0), "a node is left");
}

TEST(highest_block_numbers)
{
	start();
	ressd_map_insert(&map, 0, RESSD_NO_BLOCK - 1);
	ressd_map_insert(&map, 1, 0);
	CHECK_EQ(ressd_map_first_from(&map, 1)->lbn, RESSD_NO_BLOCK - 1);
	CHECK(!ressd_map_first_from(&map, RESSD_NO_BLOCK), "beyond the end");
	CHECK_EQ(ressd_map_find(&map, 0)->lbn, 0);
}

/* Black nodes on all ways below @node, which are equally many; the order and colours are right. */
static u32 check_subtree(const struct ressd_node *node, u64 least, u64 most)
{
	u32 black[2];
	int side;

	if (!node)
		return 0;
	CHECK(node->lbn >= least && node->lbn <= most, "%u is in the wrong place", node->lbn);
	for (side = 0; side < 2; side++) {
		const struct ressd_node *child = ressd_tree_child(node, side);

		CHECK(!(node->up & 1) || !child || !(child->up & 1), "red below red at %u",
		      node->lbn);
		CHECK(!child || child + (child->up - (child->up & 1)) / 2 == node,
		      "%u does not know its parent", child->lbn);
		black[side] = check_subtree(child, side ? node->lbn + 1ULL : least,
					    side ? most : node->lbn - 1ULL);
	}
	CHECK_EQ(black[0], black[1]);
	return black[0] + !(node->up & 1);
}

static void check_tree(void)
{
	CHECK(!map.root || !(map.root->up & 1), "a red root");
	CHECK(!map.root || map.root->up == 0, "the root has a parent");
	check_subtree(map.root, 0, RESSD_NO_BLOCK);
}

/* Ascending, descending and random, to the full and back: the tree stays balanced at every step. */
TEST(tree_stays_balanced)
{
	u32 i, round;

	start();
	for (i = 0; i < NR_LOG; i++) {
		insert(i < NR_LOG / 2 ? i : NR_NORMAL - i);
		check_tree();
	}
	for (i = 0; i < NR_LOG; i += 2) {
		erase(i < NR_LOG / 2 ? i : NR_NORMAL - i);
		check_tree();
	}
	for (round = 0; round < 20000; round++) {
		step(test_below(round / 5000 % 2 ? 30 : NR_NORMAL));
		check_tree();
	}
}

/* Nodes come to either end of a list, and leave from anywhere. */
TEST(dying_list_against_an_array)
{
	u32 order[NR_LOG], nr = 0, round, i, at;
	struct ressd_dying list;
	struct ressd_node *node;

	start();
	ressd_dying_init(&list);
	for (round = 0; round < 20000; round++) {
		bool grows = nr_free && test_below(round / 3000 % 2 ? 3 : 2);

		if (grows) {
			bool first = test_below(4) == 0;

			at = first ? 0 : nr;
			memmove(&order[at + 1], &order[at], (nr++ - at) * sizeof(order[0]));
			order[at] = free_blocks[--nr_free];
			(first ? ressd_dying_add_first : ressd_dying_add_last)(&map, &list,
									       &nodes[order[at]]);
		} else if (nr) {
			at = test_below(nr);
			ressd_dying_remove(&map, &list, &nodes[order[at]]);
			free_blocks[nr_free++] = order[at];
			memmove(&order[at], &order[at + 1], (--nr - at) * sizeof(order[0]));
		}
		CHECK_EQ(ressd_dying_is_empty(&list), !nr);
		if (round % 50)
			continue;
		CHECK(ressd_dying_first(&map, &list) == (nr ? &nodes[order[0]] : NULL), "first");
		node = ressd_dying_last(&map, &list);
		for (i = nr; i; i--, node = ressd_dying_before(&map, node))
			CHECK(node == &nodes[order[i - 1]], "backward at %u of %u", i, nr);
		CHECK(!node, "a node before the first");
	}
}

/* The price that the design promises. */
TEST(memory_per_block)
{
	CHECK_EQ(sizeof(struct ressd_node), 20);
	CHECK_EQ(ressd_map_nodes_bytes(1 << 20), (1ULL << 20) * sizeof(struct ressd_node));
	CHECK_EQ(ressd_map_nodes_bytes(1 << 28), 5ULL << 30);
	CHECK_EQ(ressd_map_clean_bytes(1 << 20), (1 << 20) / 8);
	CHECK_EQ(ressd_map_clean_bytes(1), sizeof(long));
	CHECK_EQ(ressd_map_clean_bytes(8 * sizeof(long) + 1), 2 * sizeof(long));
}
