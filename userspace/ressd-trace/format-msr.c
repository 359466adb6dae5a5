// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format of the MSR Cambridge traces: time in 100 ns since 1601, host, number of the disk, Read
 * or Write, byte, bytes, response time, as in
 *   128166372003061629,hm,1,Read,383496192,32768,413
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "parse.h"

#define TICK_NS	100

int parse_msr(struct parser *parser, char *text, struct entry *entry)
{
	char disk[2 * TRACE_MAX_LINE];
	char *words[7];

	/* Some copies have a line of headings. */
	if (parser->line == 1 && !strncasecmp(text, "Timestamp", 9))
		return PARSED_NOTHING;
	if (parse_words(text, true, words, 7) < 6)
		return parse_fail(parser,
				  "a line of this format has 7 words between commas: time, host, disk, Read or Write, byte, bytes, response time");
	snprintf(disk, sizeof(disk), "%s_%s", words[1], words[2]);
	if (parse_number(parser, "time", words[0], ~0ULL / TICK_NS, &entry->request.arrival) ||
	    parse_source(parser, disk, entry) ||
	    parse_place(parser, words[4], words[5], 1, 1, &entry->request))
		return -EINVAL;
	entry->request.arrival *= TICK_NS;
	if (!strcasecmp(words[3], "Read"))
		entry->request.op = TRACE_READ;
	else if (!strcasecmp(words[3], "Write"))
		entry->request.op = TRACE_WRITE;
	else
		return parse_fail(parser, "'%.40s' is neither Read nor Write", words[3]);
	return PARSED_REQUEST;
}
