// SPDX-License-Identifier: GPL-2.0-only
/* Words, numbers and times of a line; see parse.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parse.h"

#define NS_PER_SECOND	1000000000ULL
#define BLANKS		" \t"

int parse_fail(const struct parser *parser, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return fail(parser->failure, -EINVAL, "%s:%llu: %s", parser->path, parser->line, text);
}

static char *trim(char *word)
{
	size_t length;

	word += strspn(word, BLANKS);
	length = strlen(word);
	while (length && strchr(BLANKS, word[length - 1]))
		word[--length] = 0;
	return word;
}

int parse_words(char *text, bool comma, char **words, int most)
{
	char *word;
	int nr = 0;

	while ((word = strsep(&text, comma ? "," : BLANKS))) {
		if (!comma && !*word)
			continue;
		if (nr == most)
			return most + 1;
		words[nr++] = comma ? trim(word) : word;
	}
	return nr;
}

int parse_number(const struct parser *parser, const char *name, const char *word, u64 most,
		 u64 *value)
{
	const size_t digits = strspn(word, "0123456789");

	errno = 0;
	*value = strtoull(word, NULL, 10);
	if (!digits || word[digits])
		return parse_fail(parser, "the %s is '%.40s', but must be a whole number", name,
				  word);
	if (errno || *value > most)
		return parse_fail(parser, "the %s is '%.40s', but may be %llu at most", name, word,
				  most);
	return 0;
}

int parse_seconds(const struct parser *parser, const char *word, u64 *ns)
{
	const size_t whole = strspn(word, "0123456789");
	const char *point = word + whole;
	const size_t part = *point == '.' ? strspn(point + 1, "0123456789") : 0;
	char digits[10] = "000000000";
	u64 seconds;

	if (!whole || (*point && (*point != '.' || !part || point[1 + part])))
		return parse_fail(parser,
				  "the time is '%.40s', but must be seconds such as 12.345678",
				  word);
	errno = 0;
	seconds = strtoull(word, NULL, 10);
	if (errno || seconds >= ~0ULL / NS_PER_SECOND)
		return parse_fail(parser, "the time is '%.40s' seconds, which is too large", word);
	memcpy(digits, point + 1, part < 9 ? part : 9);
	*ns = seconds * NS_PER_SECOND + strtoull(digits, NULL, 10);
	return 0;
}

int parse_place(const struct parser *parser, const char *offset, const char *size, u32 offset_unit,
		u32 size_unit, struct request *request)
{
	u64 at, bytes;

	if (parse_number(parser, "place", offset, TRACE_MAX_OFFSET / offset_unit, &at) ||
	    parse_number(parser, "size", size, TRACE_MAX_REQUEST / size_unit, &bytes))
		return -EINVAL;
	if (!bytes)
		return parse_fail(parser, "the size is 0, but a request has one byte at least");
	request->offset = at * offset_unit;
	request->bytes = bytes * size_unit;
	return 0;
}

int parse_source(const struct parser *parser, const char *word, struct entry *entry)
{
	if (!*word || strlen(word) >= sizeof(entry->source))
		return parse_fail(parser,
				  "the name of the disk has %zu characters, but must have 1 to %zu",
				  strlen(word), sizeof(entry->source) - 1);
	strcpy(entry->source, word);
	return 0;
}
