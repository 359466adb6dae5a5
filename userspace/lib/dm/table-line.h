/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole table line of the target, between text and struct.  The grammar and its sentences are
 * those of the kernel (core/ressd-args.h), so a line that passes here passes there.
 */
#ifndef RESSD_TABLE_LINE_H
#define RESSD_TABLE_LINE_H

#include <limits.h>
#include "cli/failure.h"
#include "dm/blkdev.h"
#include "ressd-args.h"

#define TABLE_LINE_TEXT	(2 * PATH_MAX + RESSD_OPTIONS_TEXT)

struct table_line {
	char normal_path[PATH_MAX];
	char reserved_path[PATH_MAX];
	struct ressd_table table;	/* sectors */
	struct ressd_options options;
};

/*
 * Reads "0 <len> ressd <normal dev> <normal start> <reserved dev> <reserved start>
 * <reserved sectors> [<#opt words> <opts>...]".  0, or -EINVAL with a sentence.
 */
int table_line_parse(struct table_line *line, const char *text, struct failure *failure);

/* Reads the same from separate words: what follows the target's name, with @len in sectors. */
int table_line_parse_words(struct table_line *line, const char *len, unsigned int argc,
			   char **argv, struct failure *failure);

/* What follows "0 <len> ressd " in the line.  @text has TABLE_LINE_TEXT bytes; returned. */
char *table_line_parameters(const struct table_line *line, char *text);

/* The whole line.  @text has TABLE_LINE_TEXT bytes; returned. */
char *table_line_print(const struct table_line *line, char *text);

/*
 * Checks the line against both devices as the kernel will: bounds, alignment, overlap, geometry.
 * 0, or -EINVAL with a sentence.
 */
int table_line_check(const struct table_line *line, const struct blkdev *normal,
		     const struct blkdev *reserved, struct failure *failure);

#endif
