/* SPDX-License-Identifier: GPL-2.0-only */
/* What must hold whenever recovery has ended, whatever stood on the device. */
#ifndef FUZZ_RECOVERED_H
#define FUZZ_RECOVERED_H

#include "area.h"

/*
 * Recovers @area and, if it is accepted, opens the log as the kernel does and recovers once more.
 * Ends the program with a sentence when something does not hold: an entry out of range, a
 * refusal without a sentence, an area changed by recovery, more reads than the area has reason for,
 * a WARN, another map after the opening.  @area is changed by the opening.  Returns what recovery
 * did: 0 or -EUCLEAN.
 */
int recovered_check(struct area_memory *area);

#endif
