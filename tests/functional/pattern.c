// SPDX-License-Identifier: GPL-2.0-only
/* Contents of a sector; see pattern.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "pattern.h"

#define WORDS		(SECTOR_SIZE / sizeof(uint64_t))
#define MAGIC		0x656c6361726f2d72ULL
#define GOLDEN		0x9e3779b97f4a7c15ULL

/* The first words of a sector; random words derived from them follow. */
enum { WORD_MAGIC, WORD_SECTOR, WORD_VERSION, WORD_FIRST_RANDOM };

uint64_t mix64(uint64_t value)
{
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}

uint64_t next_random(uint64_t *state)
{
	*state += GOLDEN;
	return mix64(*state);
}

void pattern_fill(void *sector_data, uint64_t seed, uint64_t sector, uint64_t version)
{
	uint64_t words[WORDS];
	uint64_t state = mix64(seed + GOLDEN * sector) ^ version;
	size_t i;

	if (!version) {
		memset(sector_data, 0, SECTOR_SIZE);
		return;
	}
	words[WORD_MAGIC] = MAGIC ^ seed;
	words[WORD_SECTOR] = sector;
	words[WORD_VERSION] = version;
	for (i = WORD_FIRST_RANDOM; i < WORDS; i++)
		words[i] = next_random(&state);
	memcpy(sector_data, words, SECTOR_SIZE);
}

static bool is_zero(const uint64_t *words)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		if (words[i])
			return false;
	return true;
}

bool pattern_decode(const void *sector_data, uint64_t seed, uint64_t sector, uint64_t *version)
{
	uint64_t words[WORDS], expected[WORDS];

	memcpy(words, sector_data, SECTOR_SIZE);
	if (is_zero(words)) {
		*version = 0;
		return true;
	}
	if (!words[WORD_VERSION])
		return false;
	pattern_fill(expected, seed, sector, words[WORD_VERSION]);
	*version = words[WORD_VERSION];
	return !memcmp(words, expected, SECTOR_SIZE);
}

void pattern_describe(const void *sector_data, uint64_t seed, char *text, size_t size)
{
	uint64_t words[WORDS], expected[WORDS];

	memcpy(words, sector_data, SECTOR_SIZE);
	if (is_zero(words)) {
		snprintf(text, size, "zeros");
		return;
	}
	if (words[WORD_MAGIC] != (MAGIC ^ seed)) {
		snprintf(text, size, "foreign bytes, beginning with %016" PRIx64 " %016" PRIx64,
			 words[0], words[1]);
		return;
	}
	pattern_fill(expected, seed, words[WORD_SECTOR], words[WORD_VERSION]);
	snprintf(text, size, "sector %" PRIu64 " version %" PRIx64 "%s", words[WORD_SECTOR],
		 words[WORD_VERSION],
		 memcmp(words, expected, SECTOR_SIZE) ? ", mixed with something else" : "");
}
