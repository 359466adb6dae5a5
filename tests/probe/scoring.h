/* SPDX-License-Identifier: GPL-2.0-only */
/* What the probe says of a drive beside what is true. */
#ifndef PROBE_SCORING_H
#define PROBE_SCORING_H

#include "emulated.h"
#include "judge/finding.h"

/*
 * A line for each of the NR_PARAMETERS @findings that was looked for, on standard output: "DRIVE
 * PARAMETER OUTCOME CONFIDENCE FOUND TRUE shows|hidden SECONDS WHY".
 */
void print_scores(const char *name, const struct truth *truth, const struct finding *findings);

#endif
