/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Damage with knowledge of the format: fields, entries and blocks are changed, and checksums then
 * put right so that what is read gets past them.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "area.h"
#include "random.h"

enum mutate_fix {
	MUTATE_FIX_NOTHING,	/* as a bad medium damages */
	MUTATE_FIX_CHECKSUMS,	/* every block with a magic gets a right crc */
	MUTATE_FIX_CHAIN,	/* and data crcs, prev_crc, summaries: all agrees again */
};

/* Changes one thing. */
void mutate_once(struct area_memory *area, struct random *random);

/* Puts checksums right throughout the area. */
void mutate_fix(struct area_memory *area, enum mutate_fix fix);

/* Some changes and a repair of checksums, all drawn from @random. */
void mutate(struct area_memory *area, struct random *random);

#endif
