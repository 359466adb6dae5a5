/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What survives a power cut.  The volatile sectors of a disk are numbered write by write; a cut
 * says of each whether it survives.  Where writes overlap the later one that survives wins.
 *
 * A cut is a kind and a number, so that it can be made again, and means something still, when
 * operations before it were left out.  CUT_LIST names each sector instead.
 */
#ifndef MODEL_CUT_H
#define MODEL_CUT_H

#include "disk.h"

enum cut_kind {
	CUT_NOTHING_LOST,
	CUT_ALL_LOST,
	CUT_PREFIX,		/* the disk wrote in order and stopped somewhere */
	CUT_REQUESTS,		/* each write whole or not at all: bits of the number */
	CUT_SECTORS,		/* each sector: bits of the number */
	CUT_ONE_LOST,
	CUT_ONE_SURVIVES,
	CUT_TORN_REQUESTS,	/* each survives whole, not at all, or up to or from some sector */
	CUT_ANY_SECTORS,
	CUT_FIRST_BLOCKS,	/* the first 4 KiB of each any how, the rest whole */
	CUT_LIST,
	NR_CUT_KINDS
};

struct cut {
	enum cut_kind kind;
	u64 number;		/* what else decides */
	u32 nr;			/* CUT_LIST: sectors in @keep, those behind are lost */
	u8 *keep;		/* CUT_LIST: one byte a sector */
};

const char *cut_name(enum cut_kind kind);

/* Volatile writes and sectors of @disk. */
u32 cut_nr_writes(const struct disk *disk);
u32 cut_nr_sectors(const struct disk *disk);

/* A kind and a number at random. */
void cut_draw(struct cut *cut, struct random *random);

/* Sets keep[] of every volatile sector: the caller has room for cut_nr_sectors(). */
void cut_decide(const struct cut *cut, const struct disk *disk, u8 *keep);

#endif
