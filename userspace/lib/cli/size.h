/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes as people write them: 4096, 64M, 1.5 is not one, 10%, 128s (sectors). */
#ifndef RESSD_SIZE_H
#define RESSD_SIZE_H

#include <linux/types.h>
#include "cli/failure.h"

/*
 * Reads a number of bytes: decimal digits and an optional unit, K/KiB, M/MiB, G/GiB, T/TiB (powers
 * of 1024), s (512-byte sectors) or % (of @whole bytes; refused when @whole is 0).  @name is the
 * argument's name for the sentence.  0, or -EINVAL with a sentence.
 */
int size_parse(const char *text, const char *name, u64 whole, u64 *bytes, struct failure *failure);

#define SIZE_TEXT	32

/* Writes "4 KiB", "1.5 GiB": for people, rounded.  Returns @text (at least SIZE_TEXT bytes). */
const char *size_print(u64 bytes, char *text);

#endif
