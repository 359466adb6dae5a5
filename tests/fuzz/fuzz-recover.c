// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the whole recovery fold over a small hostile area, in the packed form of area.h.
 * The mutator knows the format and puts checksums right, so that the fold gets beyond them.
 */
#include <stdlib.h>
#include <linux/kernel.h>
#include "fuzz.h"
#include "mutate.h"
#include "recovered.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct area_memory area;

	area_unpack(&area, data, size);
	recovered_check(&area);
	area_free(&area);
	return 0;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t limit, unsigned int seed)
{
	struct random random = { .state = seed };
	struct area_memory area;
	size_t changed;

	if (random_once_in(&random, 8))
		return LLVMFuzzerMutate(data, size, limit);
	area_unpack(&area, data, size);
	if (random_once_in(&random, 8))
		mutate_fix(&area, MUTATE_FIX_CHAIN);
	else
		mutate(&area, &random);
	changed = area_pack(&area, data, limit);
	area_free(&area);
	return changed ? changed : min_t(size_t, size, limit);
}
