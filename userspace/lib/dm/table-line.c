// SPDX-License-Identifier: GPL-2.0-only
/* Table lines; see table-line.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dm/table-line.h"
#include "ressd-geom.h"

#define MAX_WORDS	64	/* far more than all options of the target */

static int parse_sectors(const char *word, const char *name, u64 *value, struct failure *failure)
{
	return ressd_parse_u64(word, name, value, failure->text, sizeof(failure->text));
}

static int copy_path(char *to, const char *from, const char *name, struct failure *failure)
{
	if (strlen(from) >= PATH_MAX)
		return fail(failure, -EINVAL, "%s is a path of more than %d characters", name,
			    PATH_MAX - 1);
	strcpy(to, from);
	return 0;
}

static int parse_options(struct table_line *line, unsigned int argc, char **argv,
			 struct failure *failure)
{
	u64 count;

	ressd_options_default(&line->options);
	if (!argc)
		return 0;
	if (ressd_parse_u64(argv[0], "the number of option words", &count, failure->text,
			    sizeof(failure->text)) ||
	    count != argc - 1)
		return fail(failure, -EINVAL,
			    "the number of option words is '%.40s', but %u words follow it; count keys and values",
			    argv[0], argc - 1);
	return ressd_options_parse(&line->options, argc - 1, argv + 1, failure->text,
				   sizeof(failure->text));
}

int table_line_parse_words(struct table_line *line, const char *len, unsigned int argc,
			   char **argv, struct failure *failure)
{
	if (argc < 5)
		return fail(failure, -EINVAL,
			    "%u words describe the areas, but 5 are needed: normal device, normal start, reserved device, reserved start, reserved sectors",
			    argc);
	if (copy_path(line->normal_path, argv[0], "the normal device", failure) ||
	    copy_path(line->reserved_path, argv[2], "the reserved device", failure) ||
	    parse_sectors(len, "the number of sectors", &line->table.len, failure) ||
	    parse_sectors(argv[1], "normal start", &line->table.normal_start, failure) ||
	    parse_sectors(argv[3], "reserved start", &line->table.reserved_start, failure) ||
	    parse_sectors(argv[4], "reserved sectors", &line->table.reserved_sectors, failure))
		return -EINVAL;
	return parse_options(line, argc - 5, argv + 5, failure);
}

static int parse_all_words(struct table_line *line, unsigned int words, char **word,
			   struct failure *failure)
{
	if (words < 3 || strcmp(word[2], "ressd"))
		return fail(failure, -EINVAL,
			    "the table line must begin with: 0 <sectors> ressd; see ressdctl(8)");
	if (strcmp(word[0], "0"))
		return fail(failure, -EINVAL,
			    "the table line starts at sector '%.40s', but must start at 0; a device made of several targets needs dmsetup",
			    word[0]);
	return table_line_parse_words(line, word[1], words - 3, word + 3, failure);
}

int table_line_parse(struct table_line *line, const char *text, struct failure *failure)
{
	char *word[MAX_WORDS], *rest, *copy = strdup(text);
	unsigned int words = 0;
	int code;

	if (!copy)
		return fail(failure, -ENOMEM, "not enough memory for the table line");
	for (word[0] = strtok_r(copy, " \t\n", &rest); word[words];
	     word[words] = strtok_r(NULL, " \t\n", &rest)) {
		if (++words == MAX_WORDS) {
			free(copy);
			return fail(failure, -EINVAL,
				    "the table line has more than %d words, which is more than all options of ressd",
				    MAX_WORDS - 1);
		}
	}
	code = parse_all_words(line, words, word, failure);
	free(copy);
	return code;
}

char *table_line_parameters(const struct table_line *line, char *text)
{
	int n = snprintf(text, TABLE_LINE_TEXT, "%s %llu %s %llu %llu ", line->normal_path,
			 (unsigned long long)line->table.normal_start, line->reserved_path,
			 (unsigned long long)line->table.reserved_start,
			 (unsigned long long)line->table.reserved_sectors);

	ressd_options_print(&line->options, text + n, TABLE_LINE_TEXT - n);
	return text;
}

char *table_line_print(const struct table_line *line, char *text)
{
	char parameters[TABLE_LINE_TEXT];

	snprintf(text, TABLE_LINE_TEXT, "0 %llu ressd %.*s", (unsigned long long)line->table.len,
		 TABLE_LINE_TEXT - 40, table_line_parameters(line, parameters));
	return text;
}

int table_line_check(const struct table_line *line, const struct blkdev *normal,
		     const struct blkdev *reserved, struct failure *failure)
{
	struct ressd_geom geom;

	if (ressd_table_check(&line->table, normal->bytes / 512, reserved->bytes / 512,
			      blkdev_same(normal, reserved), failure->text,
			      sizeof(failure->text)))
		return -EINVAL;
	return ressd_geom_init(&geom, line->table.reserved_sectors, line->options.segment_sectors,
			       failure->text, sizeof(failure->text));
}
