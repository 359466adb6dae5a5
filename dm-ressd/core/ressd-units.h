/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open units: which of its clustered blocks (units) the device keeps open for
 * direct writes.
 *
 * A device keeps a few units open for writing, and closes the least recently
 * used one when another is written to: that costs a merge.  It does not tell
 * which are open, so the same rule is followed here for the direct writes that
 * it gets.
 *
 * A random write to a unit that is open costs a page or less.  One to another
 * unit is better logged; but if a unit gets many of them it is cheaper to open
 * it: by then they have cost through the log about what the merge costs, so
 * this loses a factor of two at most to knowing the future.  Only writes to the
 * units used last count: of more than the device can keep open each is closed
 * again before it has got many.
 *
 * Context: the caller serialises all calls on one struct.
 */
#ifndef RESSD_UNITS_H
#define RESSD_UNITS_H

#include <linux/types.h>

#define RESSD_UNITS_MAX		64

/* docs/notebook/open-units.md: 4 to 32 were tried. */
#define RESSD_UNITS_WRITES	24

struct ressd_unit {
	u64 number;
	u64 used;	/* clock of the last write to it */
	u32 writes;	/* that were logged since it is a candidate */
};

struct ressd_unit_list {
	u32 nr;
	struct ressd_unit unit[RESSD_UNITS_MAX];
};

struct ressd_units {
	u64 clock;
	struct ressd_unit_list open;
	struct ressd_unit_list closed;	/* with logged writes, used last */
};

/* Forgets all units. */
void ressd_units_init(struct ressd_units *units);

/*
 * The device can keep @left units open for direct writes now, up to
 * RESSD_UNITS_MAX.
 */
void ressd_units_limit(struct ressd_units *units, u32 left);

bool ressd_units_is_open(const struct ressd_units *units, u64 number);

/*
 * A direct write goes to the unit @number: it is open then, if @left is not 0.
 */
void ressd_units_use(struct ressd_units *units, u64 number, u32 left);

/*
 * A small write to the unit @number, which is closed, could be logged.  True:
 * it should not, for it is one of so many that it pays to open the unit.
 */
bool ressd_units_pays(struct ressd_units *units, u64 number, u32 left);

#endif
