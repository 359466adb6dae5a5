/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NAND of a drive: dies that are busy while they read, program and erase,
 * and the channels that move pages between them and the controller. Time and
 * the rules of NAND (erase before program, rows of a block in ascending order)
 * are kept here; what is stored where is the business of the FTL.
 *
 * All channels and planes of a clustered page work together, so one die here
 * stands for channels x planes real ones, and one bus for as many channels. A
 * drive may have several such buses; die d is on bus d modulo their number. A die
 * does one thing after the other. A bus is reserved for the time of a transfer, so
 * that another die can use it while the first one is still busy.
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

#define SSD_BUS_SPANS	32

/**
 * struct ssd_bus - when a bus is reserved.
 * @begin, @end: spans of time, ascending; spans that touch are one
 * @spans: how many; the oldest is forgotten when there are too many
 */
struct ssd_bus {
	u64 begin[SSD_BUS_SPANS];
	u64 end[SSD_BUS_SPANS];
	u32 spans;
};

struct ssd_nand {
	u32 die_sets;
	u32 ways;
	u32 rows;
	u32 blocks;
	u32 read_ns;
	u32 program_ns;
	u32 program_slow_ns;
	u32 slc_program_ns;
	u32 slc_from;		/* first block of the pseudo-SLC area, or @blocks */
	u32 erase_ns;
	u32 planes;
	u32 buses;
	u32 bus_read_ns;	/* one clustered page out of the registers */
	u32 bus_write_ns;	/* one clustered page into the registers */
	bool copyback;

	struct ssd_bus *bus;	/* [buses] */
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

/** ssd_nand_die_free - the die that holds @way of @block is free from then on. */
u64 ssd_nand_die_free(const struct ssd_nand *nand, u32 block, u32 way);

/**
 * ssd_bus_reserve - take a bus for a while.
 * @earliest: not before this
 *
 * Return: the begin of the first gap that is long enough, now reserved.
 */
u64 ssd_bus_reserve(struct ssd_bus *bus, u64 earliest, u64 length);

/**
 * ssd_nand_read - array to controller.
 * @start: not earlier than this
 * @page: logical page expected there
 *
 * Return: time the data are in the controller.
 */
u64 ssd_nand_read(struct ssd_nand *nand, const struct ssd_place *place, u32 page, u64 start);

/**
 * ssd_nand_read_part - as above, moving only a part over the bus: the channels move
 * one NAND page each, side by side, then the next.
 * @rounds: times they do, 1 to planes
 * @first: time the first NAND pages are in the controller
 */
u64 ssd_nand_read_part(struct ssd_nand *nand, const struct ssd_place *place, u32 page,
		       u32 rounds, u64 start, u64 *first);

/**
 * ssd_nand_program - controller to array.
 *
 * Return: time the data have left the controller; the die goes on programming.
 */
u64 ssd_nand_program(struct ssd_nand *nand, const struct ssd_place *place, u32 page, u64 start);

/**
 * ssd_nand_copy - move a page, by copy-back if it stays on its die, else over a bus.
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
