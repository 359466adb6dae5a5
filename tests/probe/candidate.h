/* SPDX-License-Identifier: GPL-2.0-only */
/* The emulated drives that ressd-probe is let loose on: profiles by name, and drawn ones. */
#ifndef PROBE_CANDIDATE_H
#define PROBE_CANDIDATE_H

#include <stdbool.h>
#include "emulated.h"

#define CANDIDATE_TEXT	65536U

/* One drive: @profile in words of tests/ssdsim, and its @host. */
struct candidate {
	char name[32];
	char profile[CANDIDATE_TEXT];
	struct host host;
};

/*
 * The profile @index of tests/ssdsim in @folder, in the size at which docs/ssdsim.md calibrates
 * it, with noise.  False, with a sentence on standard error, if it cannot be read.
 */
bool candidate_named(struct candidate *candidate, const char *folder, unsigned int index);

/* The name of profile @index; NULL behind the last. */
const char *candidate_name(unsigned int index);

/* Drive @number of @seed. */
void candidate_random(struct candidate *candidate, uint64_t seed, unsigned int number);

/*
 * A line for a guest that makes this drive: "NAME OFFSET WORD...", OFFSET being where the
 * partition begins that is to be measured, bytes; 0: the whole drive.
 */
void candidate_print(const struct candidate *candidate);

/* What is true of it but for what only a measurement knows; 1 and a sentence if it is no drive. */
int candidate_truth(const struct candidate *candidate, struct truth *truth);

#endif
