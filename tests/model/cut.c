// SPDX-License-Identifier: GPL-2.0-only
/* What survives a power cut; see cut.h. */
#include <string.h>
#include "cut.h"

static const char *const names[NR_CUT_KINDS] = {
	[CUT_NOTHING_LOST] = "nothing-lost",
	[CUT_ALL_LOST] = "all-lost",
	[CUT_PREFIX] = "prefix",
	[CUT_REQUESTS] = "requests",
	[CUT_SECTORS] = "sectors",
	[CUT_ONE_LOST] = "one-lost",
	[CUT_ONE_SURVIVES] = "one-survives",
	[CUT_TORN_REQUESTS] = "torn-requests",
	[CUT_ANY_SECTORS] = "any-sectors",
	[CUT_FIRST_BLOCKS] = "first-blocks",
	[CUT_LIST] = "keep",
};

const char *cut_name(enum cut_kind kind)
{
	return names[kind];
}

u32 cut_nr_writes(const struct disk *disk)
{
	const struct list_head *entry;
	u32 nr = 0;

	list_for_each(entry, &disk->writes)
		nr++;
	return nr;
}

u32 cut_nr_sectors(const struct disk *disk)
{
	const struct disk_write *write;
	u32 nr = 0;

	list_for_each_entry(write, &disk->writes, list)
		nr += write->nr;
	return nr;
}

void cut_draw(struct cut *cut, struct random *random)
{
	*cut = (struct cut) {
		.kind = random_below(random, CUT_LIST),
		.number = random_u64(random) >> 20,
	};
}

/* Which sectors of the write number @index may survive: *first .. *end - 1. */
static void pick_range(const struct cut *cut, struct random *random, u32 chosen, u32 index,
		       const struct disk_write *write, u32 *first, u32 *end)
{
	bool any = false;

	*first = 0;
	*end = write->nr;
	switch (cut->kind) {
	case CUT_NOTHING_LOST:
	case CUT_ANY_SECTORS:
	case CUT_FIRST_BLOCKS:
	case CUT_SECTORS:
		any = true;
		break;
	case CUT_PREFIX:
		if (index == chosen)
			*end = random_below(random, write->nr + 1);
		any = index <= chosen;
		break;
	case CUT_REQUESTS:
		any = index < 64 ? cut->number >> index & 1 : random_once_in(random, 2);
		break;
	case CUT_ONE_LOST:
		any = index != chosen;
		break;
	case CUT_ONE_SURVIVES:
		any = index == chosen;
		break;
	case CUT_TORN_REQUESTS:
		any = !random_once_in(random, 3);
		if (random_once_in(random, 3))
			*end = random_below(random, write->nr + 1);
		else if (random_once_in(random, 3))
			*first = random_below(random, write->nr);
		break;
	default:
		break;
	}
	if (!any)
		*end = 0;
}

/* Does sector @i of a write, number @at of all, survive where pick_range() allows it? */
static bool picks_sector(const struct cut *cut, struct random *random, u32 i, u32 at)
{
	switch (cut->kind) {
	case CUT_SECTORS:
		return at >= 64 || cut->number >> at & 1;
	case CUT_ANY_SECTORS:
		return random_once_in(random, 2);
	case CUT_FIRST_BLOCKS:
		return i >= 8 || random_once_in(random, 2);
	default:
		return true;
	}
}

void cut_decide(const struct cut *cut, const struct disk *disk, u8 *keep)
{
	struct random random = { .state = cut->number };
	u32 nr = cut_nr_writes(disk), index = 0, at = 0, i, first, end;
	u32 chosen = nr ? random_below(&random, nr) : 0;
	const struct disk_write *write;

	if (cut->kind == CUT_LIST) {
		u32 all = cut_nr_sectors(disk);

		for (i = 0; i < all; i++)
			keep[i] = i < cut->nr && cut->keep[i];
		return;
	}
	list_for_each_entry(write, &disk->writes, list) {
		pick_range(cut, &random, chosen, index++, write, &first, &end);
		for (i = 0; i < write->nr; i++, at++)
			keep[at] = i >= first && i < end && picks_sector(cut, &random, i, at);
	}
}
