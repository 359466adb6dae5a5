// SPDX-License-Identifier: GPL-2.0-only
/* Open units; see ressd-units.h. */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ressd-units.h"

void ressd_units_init(struct ressd_units *units)
{
	memset(units, 0, sizeof(*units));
}

/* The place of @number; list->nr: it has none. */
static u32 find(const struct ressd_unit_list *list, u64 number)
{
	u32 i;

	for (i = 0; i < list->nr && list->unit[i].number != number; i++)
		;
	return i;
}

static struct ressd_unit *least_recently_used(struct ressd_unit_list *list)
{
	struct ressd_unit *oldest = list->unit, *unit;

	for (unit = list->unit; unit < list->unit + list->nr; unit++)
		if (unit->used < oldest->used)
			oldest = unit;
	return oldest;
}

/*
 * The unit @number; it is entered if it is not there.  @left, not 0, have room.
 */
static struct ressd_unit *enter(struct ressd_unit_list *list, u64 number,
				u32 left)
{
	struct ressd_unit *unit = &list->unit[find(list, number)];

	if (unit < list->unit + list->nr)
		return unit;
	unit = list->nr < left ? &list->unit[list->nr++] :
				 least_recently_used(list);
	*unit = (struct ressd_unit) { .number = number };
	return unit;
}

static void limit(struct ressd_unit_list *list, u32 left)
{
	while (list->nr > left) {
		struct ressd_unit *oldest = least_recently_used(list);

		*oldest = list->unit[--list->nr];
	}
}

void ressd_units_limit(struct ressd_units *units, u32 left)
{
	limit(&units->open, left);
	limit(&units->closed, left);
}

bool ressd_units_is_open(const struct ressd_units *units, u64 number)
{
	return find(&units->open, number) < units->open.nr;
}

bool ressd_units_is_held(const struct ressd_units *units, u64 number, u32 left)
{
	const struct ressd_unit_list *open = &units->open;
	const u32 place = find(open, number);
	u32 i, later = 0;

	if (place == open->nr || !open->unit[place].writes)
		return false;
	for (i = 0; i < open->nr; i++)
		later += open->unit[i].writes &&
			 open->unit[i].used > open->unit[place].used;
	return later < left;
}

u32 ressd_units_since(const struct ressd_units *units, u64 clock, u64 number)
{
	u32 i, nr = 0;

	for (i = 0; i < units->open.nr; i++)
		nr += units->open.unit[i].used > clock &&
		      units->open.unit[i].number != number;
	return nr;
}

void ressd_units_use(struct ressd_units *units, u64 number, u32 left,
		     u32 writes)
{
	struct ressd_unit *unit;

	if (!left)
		return;
	unit = enter(&units->open, number, left);
	unit->used = ++units->clock;
	unit->writes += writes;
}

/* Is @unit, which is closed, worth more than the one that it would close? */
static bool is_worth_more(struct ressd_units *units, struct ressd_unit *unit,
			  u32 left, bool early)
{
	u32 enough = early ? 0 : RESSD_UNITS_WRITES - 1;
	const struct ressd_unit *oldest;

	if (units->open.nr >= left) {
		oldest = least_recently_used(&units->open);
		if (unit->since <= oldest->used) {
			unit->since = units->clock;
			unit->writes = 0;
		}
		if (early)
			enough = min(oldest->writes, RESSD_UNITS_WRITES - 1);
	}
	return ++unit->writes > enough;
}

bool ressd_units_pays(struct ressd_units *units, u64 number, u32 left,
		      bool early)
{
	struct ressd_unit *unit;

	if (!left)
		return false;
	unit = enter(&units->closed, number, left);
	unit->used = ++units->clock;
	if (!is_worth_more(units, unit, left, early))
		return false;
	*unit = units->closed.unit[--units->closed.nr];
	return true;
}
