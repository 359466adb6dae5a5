// SPDX-License-Identifier: GPL-2.0-only
/* Requests cut to the buffers and pages of the device; see ressd-split.h. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "ressd-split.h"

/* How far @sector is past a boundary of @unit. */
static u32 past(const struct ressd_split *split, u64 sector, u32 unit)
{
	u32 rest;

	div_u64_rem(split->start + sector, unit, &rest);
	return rest;
}

bool ressd_split_is_aligned(const struct ressd_split *split, u64 sector,
			    u32 unit)
{
	return !past(split, sector, unit);
}

u32 ressd_split_first(const struct ressd_split *split,
		      enum ressd_direction direction, u64 sector, u32 sectors)
{
	u32 longest = split->longest[direction], head;

	if (!longest)
		return sectors;
	head = split->align ? past(split, sector, split->align) : 0;
	return min(sectors, head ? split->align - head : longest);
}

bool ressd_split_is_alone(const struct ressd_split *split,
			  enum ressd_direction direction, u64 sector,
			  u32 sectors)
{
	u32 longest = split->longest[direction], into;

	if (!longest)
		return false;
	into = past(split, sector, longest);
	return !into || sectors > longest - into;
}

void ressd_split_count(const struct ressd_split *split,
		       enum ressd_direction direction, u64 sector, u32 sectors,
		       struct ressd_split_counters *counters)
{
	u32 longest = split->longest[direction];

	if (split->page) {
		if (ressd_split_is_aligned(split, sector, split->page))
			counters->aligned++;
		else
			counters->unaligned++;
	}
	if (!longest)
		return;
	if (sectors <= longest)
		counters->within++;
	else
		counters->over++;
}
