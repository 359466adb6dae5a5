/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a run that fails as short as it can be (delta debugging): events are left out in ever
 * smaller groups, those that stay are made plainer, and at last the cut is reduced to the fewest
 * sectors that have to survive.
 */
#ifndef MODEL_SHRINK_H
#define MODEL_SHRINK_H

#include "script.h"

/*
 * @script fails with @verdict.  Both are replaced by the shortest that were found within @seconds
 * of processor time.
 */
void shrink(struct script *script, struct verdict *verdict, u32 seconds);

#endif
