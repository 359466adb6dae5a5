// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format of the Storage Performance Council (fin1, fin2, websearch): unit, sector, bytes, r or
 * w, seconds, and perhaps more words, as in
 *   0,20941264,8192,W,0.551706
 */
#include <errno.h>
#include <string.h>
#include "parse.h"

int parse_spc(struct parser *parser, char *text, struct entry *entry)
{
	char *words[5];

	if (parse_words(text, true, words, 5) < 5)
		return parse_fail(parser,
				  "a line of this format has 5 words between commas: unit, sector, bytes, r or w, seconds");
	if (parse_source(parser, words[0], entry) ||
	    parse_place(parser, words[1], words[2], 512, 1, &entry->request) ||
	    parse_seconds(parser, words[4], &entry->request.arrival))
		return -EINVAL;
	if (!strcasecmp(words[3], "r"))
		entry->request.op = TRACE_READ;
	else if (!strcasecmp(words[3], "w"))
		entry->request.op = TRACE_WRITE;
	else
		return parse_fail(parser, "'%.40s' is neither r nor w", words[3]);
	return PARSED_REQUEST;
}
