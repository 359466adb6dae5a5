/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments of the programs. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdint.h>

/* The number that @text says for the argument @name; the end if it is none or above @max. */
uint64_t parse_number(const char *name, const char *text, uint64_t max);

#endif
