/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words of one-line commands: "word word key=value key=LOW-HIGH".
 *
 * Plain C: compiled into the kernel module and in userspace.
 */
#ifndef SSD_WORDS_H
#define SSD_WORDS_H

#include <linux/types.h>

/**
 * struct ssd_word - one word of a command.
 * @text: the word, not terminated; @length: its characters up to "=" or the end
 * @value: what follows "="; NULL without "="
 * @value_length: its characters
 */
struct ssd_word {
	const char *text;
	size_t length;
	const char *value;
	size_t value_length;
};

/** ssd_word_next - take the next word off @text. Return: false if there is none. */
bool ssd_word_next(const char **text, struct ssd_word *word);

/** ssd_word_is - is this the name of the word? */
bool ssd_word_is(const struct ssd_word *word, const char *name);

/** ssd_value_is - is this its value? */
bool ssd_value_is(const struct ssd_word *word, const char *value);

/** ssd_value_number - the value as a whole decimal number. Return: false if it is none. */
bool ssd_value_number(const struct ssd_word *word, u64 *number);

/**
 * ssd_value_pair - the value as two numbers with a character between.
 *
 * Return: false if it is none.
 */
bool ssd_value_pair(const struct ssd_word *word, char between, u64 *first, u64 *second);

/** ssd_dice - a number that is a fixed function of the three, each bit even. */
u64 ssd_dice(u64 seed, u64 a, u64 b);

#endif /* SSD_WORDS_H */
