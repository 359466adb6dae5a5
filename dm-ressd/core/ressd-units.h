/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open units: which of its clustered blocks (units) the device keeps open for
 * direct writes.
 *
 * A device keeps a few units open for writing, and closes the least recently
 * used one when another is written to: that costs a merge.  It does not tell
 * which are open, so the same rule is followed here for what it gets: direct
 * writes, and the mover's visits.
 *
 * A random write to a unit that is open costs a page or less.  One to another
 * unit is better logged, unless its unit should be open instead of the one that
 * the device would close for it, the least recently used.  It should if it has
 * got more small writes, since that one got its last, than that one since it
 * was opened.  RESSD_UNITS_WRITES suffice: these have cost through the log
 * about what the merge costs.  So what is written to once (by mkfs) or by large
 * writes (a unit that is filled is closed) gives way soon, and of more units
 * than can be open, all used alike, the same ones stay open.
 *
 * Context: the caller serialises all calls on one struct.
 */
#ifndef RESSD_UNITS_H
#define RESSD_UNITS_H

#include <linux/types.h>

#define RESSD_UNITS_MAX		64

/* docs/notebook/applications.md: 8 to 1000 were tried. */
#define RESSD_UNITS_WRITES	24U

struct ressd_unit {
	u64 number;
	u64 used;	/* clock of the last write to it */
	u64 since;	/* closed: clock from which on its writes count */
	u32 writes;	/* small ones; open: since then */
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

/* It is, and fewer than @left others with writes were used after it. */
bool ressd_units_is_held(const struct ressd_units *units, u64 number, u32 left);

/* How many units but @number have been used since @clock. */
u32 ressd_units_since(const struct ressd_units *units, u64 clock, u64 number);

/*
 * What goes to the unit @number counts as @writes small writes: it is open
 * then, if @left is not 0.
 */
void ressd_units_use(struct ressd_units *units, u64 number, u32 left,
		     u32 writes);

/*
 * A small write to the unit @number, which is closed, could be logged.  True:
 * it should not, for it pays to open the unit.  Not @early: not before it has
 * got RESSD_UNITS_WRITES.
 */
bool ressd_units_pays(struct ressd_units *units, u64 number, u32 left,
		      bool early);

#endif
