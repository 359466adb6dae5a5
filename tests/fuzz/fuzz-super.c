// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the superblocks.  Input: one byte of switches, then 128 bytes of each copy; the
 * rest of a copy is zero.  Switches 1 and 2 put the checksum of copy 0 or 1 right, 4 makes copy 1 a
 * twin of copy 0, 8 fills the last byte of both.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "fuzz.h"
#include "log/super-pair.h"
#include "ressd-record.h"

#define PREFIX	128

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void fill(struct ressd_super *super, u8 switches, u32 copy, const u8 *data, size_t size)
{
	memset(super, 0, sizeof(*super));
	memcpy(super, data, min_t(size_t, size, PREFIX));
	if (switches & 8)
		super->unused[sizeof(super->unused) - 1] = 1;
	if (switches & 1 << copy)
		ressd_record_seal((struct ressd_record_header *)super);	/* same place of the crc */
}

/* What a good superblock says must be a geometry that everybody can work with. */
static void check_good(const struct ressd_super_info *info)
{
	struct ressd_options options;
	struct ressd_geom geom;
	char error[RESSD_ERROR_SIZE];
	u32 slot;

	require(!ressd_geom_init(&geom, info->table.reserved_sectors, info->segment_sectors, error,
				 sizeof(error)), error);
	require(geom.nr_segments >= RESSD_MIN_SEGMENTS &&
		geom.nr_blocks <= RESSD_MAX_RESERVED_BLOCKS &&
		geom.record_blocks == info->record_blocks &&
		geom.record_blocks <= geom.segment_blocks, "geometry");
	for (slot = 0; slot < geom.nr_segments; slot = slot * 2 + 1)
		require(ressd_geom_slot_start(&geom, slot) < ressd_geom_slot_end(&geom, slot) &&
			ressd_geom_slot_end(&geom, slot) < geom.nr_blocks, "a slot's bounds");
	ressd_options_default(&options);
	require(!ressd_super_matches(info, &info->table, &options, error, sizeof(error)),
		"a superblock does not match itself");
}

static void check_verdict(const struct super_pair *pair)
{
	const struct super_copy *copies = pair->copies;

	require(pair->choice == 0 || pair->choice == -ENODATA || pair->choice == -EINVAL, "choice");
	require(pair->choice != -EINVAL || pair->error[0], "refused without a sentence");
	require(pair->choice != 0 || copies[0].verdict == RESSD_SUPER_GOOD ||
		copies[1].verdict == RESSD_SUPER_GOOD, "chosen, though no copy is good");
	require((pair->choice == -ENODATA) == (copies[0].verdict == RESSD_SUPER_BLANK &&
					       copies[1].verdict == RESSD_SUPER_BLANK), "blank");
	if (!pair->choice)
		check_good(&pair->info);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct super_pair pair;
	u8 switches = size ? data[0] : 0;
	size_t first = size ? min_t(size_t, size - 1, PREFIX) : 0;

	memset(&pair, 0, sizeof(pair));
	fill(&pair.copies[0].raw, switches, 0, data + !!size, first);
	fill(&pair.copies[1].raw, switches, 1, data + !!size + first, size - !!size - first);
	if (switches & 4) {
		pair.copies[1].raw = pair.copies[0].raw;
		pair.copies[1].raw.copy = cpu_to_le32(1);
		ressd_record_seal((struct ressd_record_header *)&pair.copies[1].raw);
	}
	pair.copies[0].readable = !(switches & 16);
	pair.copies[1].readable = true;
	super_pair_judge(&pair);
	if (pair.copies[0].readable)
		check_verdict(&pair);
	return 0;
}
