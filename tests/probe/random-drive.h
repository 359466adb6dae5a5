/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Drives drawn from a seed, for the score of ressd-probe.  Nothing here comes from the probe or is
 * known to it.
 */
#ifndef PROBE_RANDOM_DRIVE_H
#define PROBE_RANDOM_DRIVE_H

#include "emulated.h"

#define RANDOM_DRIVE_TEXT	2048

/*
 * Drive @number of @seed: @profile (RANDOM_DRIVE_TEXT bytes) in words of tests/ssdsim, and
 * @host.
 */
void random_drive(uint64_t seed, unsigned int number, char *profile, struct host *host);

#endif
