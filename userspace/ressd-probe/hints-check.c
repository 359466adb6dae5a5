// SPDX-License-Identifier: GPL-2.0-only
/* Measured and claimed, side by side; see hints.h.  Pure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hints.h"

/* Hints that mean a parameter, the most telling first. */
static const struct {
	enum parameter parameter;
	const char *name;
	u64 least;		/* bytes; smaller ones are what the kernel assumes of any disk */
} claims[] = {
	{ PARAMETER_PAGE, "nvme/write_granularity", 8192 },
	{ PARAMETER_PAGE, "emmc/optimal_write", 8192 },
	{ PARAMETER_PAGE, "emmc/super_page", 8192 },
	{ PARAMETER_PAGE, "scsi/transfer_granularity", 8192 },
	{ PARAMETER_PAGE, "queue/physical_block_size", 8192 },
	{ PARAMETER_BLOCK, "device/preferred_erase_size", 262144 },
	{ PARAMETER_BLOCK, "emmc/erase_group", 262144 },
	{ PARAMETER_BLOCK, "nvme/discard_granularity", 262144 },
	{ PARAMETER_BLOCK, "queue/discard_granularity", 262144 },
	{ PARAMETER_WRITE_BUFFER, "emmc/cache", 1024 },
};

#define NR_CLAIMS	(sizeof(claims) / sizeof(claims[0]))

static void add_sentence(struct finding *finding, const char *name, u64 claimed, bool agrees)
{
	const size_t used = strlen(finding->why);

	snprintf(finding->why + used, sizeof(finding->why) - used, "; %s %s %llu KiB", name,
		 agrees ? "agrees:" : "says", claimed >> 10);
}

/*
 * A claim that is a multiple or a part of what was measured is no contradiction: a card may ask for
 * whole erase groups of several blocks.
 */
static void compare(struct finding *finding, const char *name, u64 claimed)
{
	const bool related = finding->value && (claimed % finding->value == 0 ||
						finding->value % claimed == 0);

	if (finding->status == STATUS_MEASURED) {
		add_sentence(finding, name, claimed, claimed == finding->value);
		if (!related && finding->confidence == CONFIDENCE_MEDIUM)
			finding->confidence = CONFIDENCE_LOW;
	} else if (finding->status != STATUS_BOUNDED) {
		finding->status = STATUS_HINT;
		finding->confidence = CONFIDENCE_LOW;
		finding->value = claimed;
		finding->low = claimed;
		finding->high = claimed;
		finding->method = "what the device says";
		add_sentence(finding, name, claimed, false);
	}
}

void hints_check(const struct hints *hints, struct finding *findings)
{
	bool done[NR_PARAMETERS] = { false };
	size_t i;

	for (i = 0; i < NR_CLAIMS; i++) {
		const char *text = hints_get(hints, claims[i].name);
		const u64 claimed = text ? strtoull(text, NULL, 10) : 0;

		if (claimed < claims[i].least || done[claims[i].parameter])
			continue;
		done[claims[i].parameter] = true;
		compare(&findings[claims[i].parameter], claims[i].name, claimed);
	}
}
