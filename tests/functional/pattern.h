/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contents of a sector that say where they belong and how new they are, so that a difference can
 * be explained: bytes of another sector, an older version, two versions mixed.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECTOR_SIZE	512U

/* Version 0 is a sector full of zeros, as a blank device has it. */
void pattern_fill(void *sector_data, uint64_t seed, uint64_t sector, uint64_t version);

/* True if the 512 bytes are exactly some version of that sector; then *@version is set. */
bool pattern_decode(const void *sector_data, uint64_t seed, uint64_t sector, uint64_t *version);

/* Says in words what the 512 bytes are. */
void pattern_describe(const void *sector_data, uint64_t seed, char *text, size_t size);

/* A good mixing function: the random numbers of all tests come from it. */
uint64_t mix64(uint64_t value);

/* Next number of a random sequence; *@state is its seed. */
uint64_t next_random(uint64_t *state);

#endif
