// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text that blkparse(1) prints by default: device, processor, number, seconds, process, action,
 * kind, sector + sectors, as in
 *     8,0    1        7     0.000413092  1234  Q  WS 2048 + 8 [fio]
 * The requests are the lines with the action Q, which is their arrival at the block layer.
 */
#include <errno.h>
#include <string.h>
#include "parse.h"

enum word {
	WORD_DEVICE,
	WORD_TIME = 3,
	WORD_ACTION = 5,
	WORD_KIND,
	WORD_SECTOR,
	WORD_PLUS,
	WORD_SECTORS,
	WORDS,
};

/* "8,0" */
static bool is_device(const char *word)
{
	const char *comma = word + strspn(word, "0123456789");

	return comma > word && *comma == ',' && comma[1] &&
	       !comma[1 + strspn(comma + 1, "0123456789")];
}

/* F in front of the operation is a flush before it, F behind it the flag FUA. */
static int parse_kind(struct parser *parser, const char *kind, struct entry *entry)
{
	const char *at = strpbrk(kind, "RWDN");

	if (strspn(kind, "FRWDNASMEV") != strlen(kind))
		return parse_fail(parser, "'%.40s' is no kind of request that blkparse prints",
				  kind);
	if (!at || *at == 'N') {
		entry->request.op = TRACE_FLUSH;
		return *kind == 'F' ? PARSED_REQUEST : PARSED_NOTHING;
	}
	if (*at == 'D')
		return PARSED_DISCARD;
	entry->request.op = *at == 'R' ? TRACE_READ : TRACE_WRITE;
	entry->flush_first = *at == 'W' && *kind == 'F';
	entry->request.durable = *at == 'W' && strchr(at, 'F');
	return PARSED_REQUEST;
}

int parse_blkparse(struct parser *parser, char *text, struct entry *entry)
{
	char *words[WORDS];
	int kind, nr;

	/* The totals at the end, by processor and of all. */
	if (!strncmp(text, "CPU", 3) || !strncmp(text, "Total", 5))
		return PARSED_END;
	nr = parse_words(text, false, words, WORDS);
	if (nr < WORD_KIND || !is_device(words[WORD_DEVICE]))
		return parse_fail(parser,
				  "this is no line that blkparse prints: device, processor, number, seconds, process, action, kind, sector + sectors");
	if (strcmp(words[WORD_ACTION], "Q"))
		return PARSED_NOTHING;
	if (nr <= WORD_KIND)
		return parse_fail(parser, "the line ends before the kind of the request");
	if (parse_source(parser, words[WORD_DEVICE], entry) ||
	    parse_seconds(parser, words[WORD_TIME], &entry->request.arrival))
		return -EINVAL;
	kind = parse_kind(parser, words[WORD_KIND], entry);
	if (kind != PARSED_REQUEST || entry->request.op == TRACE_FLUSH)
		return kind;
	/* A flush with the flags of a write. */
	if (nr <= WORD_SECTORS && entry->flush_first) {
		entry->request.op = TRACE_FLUSH;
		entry->flush_first = false;
		entry->request.durable = false;
		return PARSED_REQUEST;
	}
	if (nr <= WORD_SECTORS || strcmp(words[WORD_PLUS], "+"))
		return parse_fail(parser, "a request has a place such as 2048 + 8 behind its kind");
	if (parse_place(parser, words[WORD_SECTOR], words[WORD_SECTORS], 512, 512, &entry->request))
		return -EINVAL;
	return PARSED_REQUEST;
}
