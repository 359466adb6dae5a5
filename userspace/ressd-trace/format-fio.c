// SPDX-License-Identifier: GPL-2.0-only
/*
 * The logs of fio's write_iolog. Version 2 has lines "file action offset length", and "file wait
 * microseconds"; in version 3 the time, in microseconds, comes first:
 *   100137 /dev/sdx write 12419072 4096
 */
#include <errno.h>
#include <string.h>
#include "parse.h"

#define US_NS	1000

static int parse_header(struct parser *parser, const char *text)
{
	if (!strcmp(text, "fio version 2 iolog"))
		parser->version = 2;
	else if (!strcmp(text, "fio version 3 iolog"))
		parser->version = 3;
	else
		return parse_fail(parser,
				  "the first line of a log of fio is 'fio version 2 iolog' or 'fio version 3 iolog'");
	return PARSED_NOTHING;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

/* "wait" of version 2. */
static int parse_wait(struct parser *parser, const char *word)
{
	u64 us;

	if (parse_number(parser, "time to wait", word, TRACE_MAX_SECONDS * 1000000, &us))
		return -EINVAL;
	if (parser->wait > TRACE_MAX_SECONDS * 1000000 * US_NS)
		return parse_fail(parser, "the waits add up to more than a year");
	parser->wait += us * US_NS;
	return PARSED_NOTHING;
}

/* @words: file, action, and perhaps offset and length. */
static int parse_action(struct parser *parser, char **words, int nr, struct entry *entry)
{
	const char *action = words[1];

	if (is_one_of(action, "add", "open", "close"))
		return PARSED_NOTHING;
	if (nr < 3)
		return parse_fail(parser, "'%.40s' has no offset and length behind it", action);
	if (!strcmp(action, "wait") && parser->version == 2)
		return parse_wait(parser, words[2]);
	if (parse_source(parser, words[0], entry))
		return -EINVAL;
	if (is_one_of(action, "sync", "datasync", "sync_file_range")) {
		entry->request.op = TRACE_FLUSH;
		return PARSED_REQUEST;
	}
	if (!strcmp(action, "trim"))
		return PARSED_DISCARD;
	if (strcmp(action, "read") && strcmp(action, "write"))
		return parse_fail(parser, "'%.40s' is no action of a log of fio", action);
	entry->request.op = *action == 'r' ? TRACE_READ : TRACE_WRITE;
	if (nr < 4)
		return parse_fail(parser, "'%s' has no length behind its offset", action);
	if (parse_place(parser, words[2], words[3], 1, 1, &entry->request))
		return -EINVAL;
	return PARSED_REQUEST;
}

int parse_fio(struct parser *parser, char *text, struct entry *entry)
{
	char *words[5];
	int nr, first;

	if (!parser->version)
		return parse_header(parser, text);
	first = parser->version == 3;
	nr = parse_words(text, false, words, 4 + first);
	if (nr < 2 + first || nr > 4 + first)
		return parse_fail(parser, "a line of version %u has %s", parser->version,
				  first ? "time, file, action, and perhaps offset and length" :
					  "file, action, and perhaps offset and length");
	if (first) {
		if (parse_number(parser, "time", words[0], ~0ULL / US_NS,
				 &entry->request.arrival))
			return -EINVAL;
		entry->request.arrival *= US_NS;
	} else {
		entry->request.arrival = parser->wait;
	}
	return parse_action(parser, words + first, nr - first, entry);
}
