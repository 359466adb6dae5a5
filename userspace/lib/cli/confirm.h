/* SPDX-License-Identifier: GPL-2.0-only */
/* Asking the user before data is destroyed. */
#ifndef RESSD_CONFIRM_H
#define RESSD_CONFIRM_H

#include <stdbool.h>
#include "cli/failure.h"

/*
 * Prints @question (a sentence on what will be destroyed) and waits for "yes".  0 if @yes was given
 * on the command line or the user typed it; -EPERM with a sentence if the user did not, or if there
 * is no terminal to ask on.
 */
int confirm(const char *question, bool yes, struct failure *failure);

#endif
