/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parsers of the formats share: one line in, at most one request out. */
#ifndef TRACE_PARSE_H
#define TRACE_PARSE_H

#include "trace.h"

struct parser {
	const char *path;
	u64 line;		/* number of the line, from 1 */
	u64 wait;		/* fio version 2: ns waited so far */
	u32 version;		/* of fio's log; 0: its first line has not been read */
	struct failure *failure;
};

/* What a line holds. */
enum parsed {
	PARSED_END = 3,		/* nothing that follows is a request */
	PARSED_DISCARD = 2,
	PARSED_REQUEST = 1,
	PARSED_NOTHING = 0,	/* a comment, or an event that is no request; negative: an error */
};

/* A request as its format has it: with its own time, and the name of its disk. */
struct entry {
	struct request request;	/* arrival: ns by the clock of the trace; line and source unset */
	char source[TRACE_SOURCE_NAME];
	bool flush_first;	/* a write that the cache must be flushed before */
};

/* They may change @text, a line without its end. */
int parse_blkparse(struct parser *parser, char *text, struct entry *entry);
int parse_msr(struct parser *parser, char *text, struct entry *entry);
int parse_spc(struct parser *parser, char *text, struct entry *entry);
int parse_fio(struct parser *parser, char *text, struct entry *entry);

/* The sentence behind "FILE:LINE: "; returns -EINVAL. */
int parse_fail(const struct parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Cuts @text into at most @most words: at commas, with the blanks around them (@comma), or at
 * blanks.  Returns how many there are, at most @most + 1.
 */
int parse_words(char *text, bool comma, char **words, int most);

/* A whole number of digits only, at most @most.  @name is for the sentence. */
int parse_number(const struct parser *parser, const char *name, const char *word, u64 most,
		 u64 *value);

/* Seconds with up to nine digits behind the point (more are cut off), as nanoseconds. */
int parse_seconds(const struct parser *parser, const char *word, u64 *ns);

/* Place and size of a read or write, in units of so many bytes; checks the limits. */
int parse_place(const struct parser *parser, const char *offset, const char *size, u32 offset_unit,
		u32 size_unit, struct request *request);

/* Copies the name of the disk. */
int parse_source(const struct parser *parser, const char *word, struct entry *entry);

#endif
