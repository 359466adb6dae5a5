/* SPDX-License-Identifier: GPL-2.0-only */
/* --resume: results are noted in a file, and an interrupted measurement goes on from it. */
#ifndef PROBE_RESUME_H
#define PROBE_RESUME_H

#include "probe.h"

/*
 * Reads the file into probe->session, if there is one: what stands there is not measured again.
 * 0, or -EINVAL with a sentence when it is that of another device, region, mode or --reserved, or
 * no such file at all.
 */
int resume_load(struct probe *probe, struct failure *failure);

/* Writes the file anew; an error is shown once, and does not end the measurement. */
void resume_save(struct probe *probe);

#endif
