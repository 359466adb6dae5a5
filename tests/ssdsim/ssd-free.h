/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Erased blocks of one die set, used first in, first out so that all wear alike.
 * Plain C, no locks: the caller serialises.
 */
#ifndef SSD_FREE_H
#define SSD_FREE_H

#include <linux/types.h>

/**
 * struct ssd_free_ring - the ring.
 * @block: [size] memory of the caller's
 * @head: the block to be used next
 * @count: erased blocks
 * @size: blocks of the die set, so that all of them fit
 */
struct ssd_free_ring {
	u32 *block;
	u32 head;
	u32 count;
	u32 size;
};

static inline void ssd_free_init(struct ssd_free_ring *ring, u32 *block, u32 size)
{
	*ring = (struct ssd_free_ring) { .block = block, .size = size };
}

/** ssd_free_next - the block that ssd_free_take() would return; there is one. */
static inline u32 ssd_free_next(const struct ssd_free_ring *ring)
{
	return ring->block[ring->head];
}

/** ssd_free_take - remove the next block; there is one. */
static inline u32 ssd_free_take(struct ssd_free_ring *ring)
{
	u32 block = ring->block[ring->head];

	ring->head = ring->head + 1 == ring->size ? 0 : ring->head + 1;
	ring->count--;
	return block;
}

/** ssd_free_give - a block was erased. */
static inline void ssd_free_give(struct ssd_free_ring *ring, u32 block)
{
	u32 slot = ring->head + ring->count++;

	ring->block[slot < ring->size ? slot : slot - ring->size] = block;
}

#endif /* SSD_FREE_H */
