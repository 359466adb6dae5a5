// SPDX-License-Identifier: GPL-2.0-only
/* The words of one-line commands. See ssd-words.h. */
#include <linux/kernel.h>
#include <linux/string.h>

#include "ssd-words.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool ssd_word_next(const char **text, struct ssd_word *word)
{
	const char *start = *text, *end, *equals;

	while (is_space(*start))
		start++;
	end = start;
	while (*end && !is_space(*end))
		end++;
	*text = end;
	equals = memchr(start, '=', end - start);
	*word = (struct ssd_word) {
		.text = start,
		.length = (equals ? equals : end) - start,
		.value = equals ? equals + 1 : NULL,
		.value_length = equals ? end - equals - 1 : 0,
	};
	return end > start;
}

static bool same(const char *text, size_t length, const char *other)
{
	return strlen(other) == length && !memcmp(text, other, length);
}

bool ssd_word_is(const struct ssd_word *word, const char *name)
{
	return same(word->text, word->length, name);
}

bool ssd_value_is(const struct ssd_word *word, const char *value)
{
	return word->value && same(word->value, word->value_length, value);
}

/* Up to 18 digits, so that nothing overflows. */
static bool parse(const char *text, size_t length, u64 *number)
{
	size_t i;

	*number = 0;
	for (i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*number = *number * 10 + (text[i] - '0');
	}
	return length > 0 && length <= 18;
}

bool ssd_value_number(const struct ssd_word *word, u64 *number)
{
	return word->value && parse(word->value, word->value_length, number);
}

bool ssd_value_pair(const struct ssd_word *word, char between, u64 *first, u64 *second)
{
	const char *middle;
	size_t length;

	if (!word->value)
		return false;
	middle = memchr(word->value, between, word->value_length);
	if (!middle)
		return false;
	length = middle - word->value;
	return parse(word->value, length, first) &&
	       parse(middle + 1, word->value_length - length - 1, second);
}

static u64 stir(u64 value)
{
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93ULL;
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93ULL;
	return value ^ value >> 32;
}

u64 ssd_dice(u64 seed, u64 a, u64 b)
{
	/* Odd constants keep small numbers apart, and 0 from being a fixed point. */
	u64 value = stir(seed + 0x9e3779b97f4a7c15ULL);

	value = stir(value ^ (a + 0xbf58476d1ce4e5b9ULL));
	return stir(value ^ (b + 0x94d049bb133111ebULL));
}
