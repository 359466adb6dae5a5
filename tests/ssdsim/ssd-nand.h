/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NAND of a drive: dies that are busy while they read, program and erase,
 * and the channels that move pages between them and the controller. Time and
 * the rules of NAND (erase before program, rows of a block in ascending order)
 * are kept here; what is stored where is the business of the FTL.
 *
 * All channels and planes of a clustered page work together, so one die here
 * stands for channels x planes real ones, and there is one bus.
 *
 * Plain C, no locks: the caller serialises. Times are nanoseconds.
 */
#ifndef SSD_NAND_H
#define SSD_NAND_H

#include <linux/types.h>

#include "ssd-profile.h"

#define SSD_NO_PAGE	0xffffffffU

/**
 * struct ssd_place - one physical clustered page.
 * @block: clustered block
 * @way: die of the block's die set
 * @row: page within the block on that die
 */
struct ssd_place {
	u32 block;
	u32 way;
	u32 row;
};

struct ssd_nand {
	u32 die_sets;
	u32 ways;
	u32 rows;
	u32 blocks;
	u32 read_ns;
	u32 program_ns;
	u32 erase_ns;
	u32 bus_read_ns;	/* one clustered page out of the registers */
	u32 bus_write_ns;	/* one clustered page into the registers */
	bool copyback;

	u64 bus_free;		/* the channels are free from then on */
	u64 *die_free;		/* [die_sets x ways] the die is free from then on */
	u64 programmed_at;	/* the last program of any die ends then */

	u16 *next_row;		/* [blocks x ways] lowest row that may be programmed */
	u32 *erase_count;	/* [blocks] */
	u32 *tag;		/* [blocks x ways x rows] logical page, or NULL: unchecked */

	u64 reads;		/* page reads, those of copies included */
	u64 programs;		/* page programs, those of copies included */
	u64 copies;
	u64 erases;
	u64 violations;		/* NAND rules broken or wrong page read: must stay 0 */
};

/**
 * ssd_nand_create - an erased NAND.
 *
 * Return: 0 or -ENOMEM. Destroy it in both cases.
 */
int ssd_nand_create(struct ssd_nand *nand, const struct ssd_profile *profile,
		    const struct ssd_geometry *geometry);
void ssd_nand_destroy(struct ssd_nand *nand);

/** ssd_nand_next_row - first row of a block not yet programmed on @way. */
static inline u32 ssd_nand_next_row(const struct ssd_nand *nand, u32 block, u32 way)
{
	return nand->next_row[block * nand->ways + way];
}

/**
 * ssd_nand_read - array to controller.
 * @start: not earlier than this
 * @page: logical page expected there
 *
 * Return: time the data are in the controller.
 */
u64 ssd_nand_read(struct ssd_nand *nand, const struct ssd_place *place, u32 page, u64 start);

/**
 * ssd_nand_program - controller to array.
 *
 * Return: time the data have left the controller; the die goes on programming.
 */
u64 ssd_nand_program(struct ssd_nand *nand, const struct ssd_place *place, u32 page, u64 start);

/**
 * ssd_nand_copy - move a page within its die, by copy-back or over the bus.
 * @from, @to: on the same die
 *
 * Return: time the copy is programmed.
 */
u64 ssd_nand_copy(struct ssd_nand *nand, const struct ssd_place *from,
		  const struct ssd_place *to, u32 page, u64 start);

/** ssd_nand_erase - start erasing a block; nobody waits for the end. */
void ssd_nand_erase(struct ssd_nand *nand, u32 block, u64 start);

/** ssd_nand_fill - mark a row as programmed with @page before time begins. */
void ssd_nand_fill(struct ssd_nand *nand, const struct ssd_place *place, u32 page);

#endif /* SSD_NAND_H */
