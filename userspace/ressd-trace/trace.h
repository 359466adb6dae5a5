/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block trace in memory: what was requested, where, and when.
 *
 * trace_load() reads a file of one of four formats, line by line, and refuses what no disk could
 * have been asked for, with a sentence that names the file and the line.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stdbool.h>
#include <linux/types.h>
#include "cli/failure.h"

/* Limits of what is taken for a trace. */
#define TRACE_MAX_LINE		4096		/* characters, with the end of the line */
#define TRACE_MAX_REQUEST	(16U << 20)	/* bytes */
#define TRACE_MAX_OFFSET	0x1000000000000000ULL	/* bytes */
#define TRACE_MAX_SECONDS	31536000ULL	/* a year, from the first request to the last */
#define TRACE_MAX_SOURCES	256
#define TRACE_SOURCE_NAME	64

enum trace_op {
	TRACE_READ,
	TRACE_WRITE,
	TRACE_FLUSH,
	TRACE_OPS,
};

enum trace_format {
	FORMAT_UNKNOWN,
	FORMAT_BLKPARSE,
	FORMAT_MSR,
	FORMAT_SPC,
	FORMAT_FIO,
};

struct request {
	u64 arrival;		/* ns after the first request */
	u64 offset;		/* bytes */
	u32 bytes;		/* 0 for a flush */
	u32 line;		/* of the file */
	u16 source;		/* index of struct trace's sources */
	u8 op;
	bool durable;		/* a write with FUA */
};

struct trace {
	struct request *list;	/* in the order of arrival */
	u64 nr;
	u64 allocated;
	u64 count[TRACE_OPS];
	u64 discards;		/* seen and left out */
	u64 others;		/* requests of other sources than the one that is wanted */
	enum trace_format format;
	char sources[TRACE_MAX_SOURCES][TRACE_SOURCE_NAME];
	u32 nr_sources;
};

/* What is taken of a file. */
struct trace_wanted {
	enum trace_format format;	/* FORMAT_UNKNOWN: recognised by the first line */
	const char *source;		/* only requests to this disk of the trace; NULL: all */
	u64 limit;			/* only so many requests; 0: all */
	bool sort;			/* lines need not be in the order of arrival */
};

/* 0, or a negative errno with a sentence.  Release with trace_free() in both cases. */
int trace_load(struct trace *trace, const char *path, const struct trace_wanted *wanted,
	       struct failure *failure);
void trace_free(struct trace *trace);

/* Puts requests into the order of arrival; those that arrive together stay as they are. */
void trace_sort(struct trace *trace);

/* Counts the requests of each kind anew. */
void trace_count(struct trace *trace);

/* The name of a format, and the format of a name (FORMAT_UNKNOWN if there is none). */
const char *trace_format_name(enum trace_format format);
enum trace_format trace_format_of(const char *name);

#endif
