/* SPDX-License-Identifier: GPL-2.0-only */
/* The files that the probe is told to write. */
#ifndef PROBE_OUTPUTS_H
#define PROBE_OUTPUTS_H

#include "arguments.h"

/*
 * Can all of them be written without overwriting anything?  To be asked before a device is opened,
 * not after an hour of measuring.  0, or a negative errno with a sentence; nothing is created.
 */
int outputs_check(const struct arguments *arguments, struct failure *failure);

#endif
