/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Valid logs: the kernel's log protocol driven at random on an area in memory, with power cuts.
 * The area always holds what a real device could hold after the power failed.
 */
#ifndef FUZZ_LIFE_H
#define FUZZ_LIFE_H

#include "area.h"
#include "random.h"

/*
 * Does @operations random ones on @area, which holds a good log: writes, direct writes, moves,
 * syncs, reclaims, rotates; then leaves it as a power cut would.  Blocks written get contents that
 * are mostly zero.  Exits with a sentence if the log cannot be recovered.
 */
void life_run(struct area_memory *area, struct random *random, u32 operations);

/*
 * Carries out what @log wants written, into @area.  Returns the number of I/Os; stops after
 * @limit of them.
 */
u32 life_write(struct area_memory *area, struct ressd_log *log, u32 limit);

#endif
