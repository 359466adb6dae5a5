// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: what users and other programs write: table lines, options, messages, status lines,
 * sizes.  Input: text.  What is accepted must be within its limits, and printed and read again
 * must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "cli/size.h"
#include "dm/ressd-status.h"
#include "dm/table-line.h"
#include "fuzz.h"

#define MAX_TEXT	4096
#define MAX_WORDS	64

static void require(bool holds, const char *what, const char *text)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: %s: %s\n", what, text);
	abort();
}

static unsigned int split(char *text, char **words)
{
	unsigned int nr = 0;
	char *rest, *word = strtok_r(text, "\n ", &rest);

	for (; word && nr < MAX_WORDS; word = strtok_r(NULL, "\n ", &rest))
		words[nr++] = word;
	return nr;
}

/* Printed options, parsed again, are the same options. */
static void check_round_trip(const struct ressd_options *options)
{
	char printed[1024], error[RESSD_ERROR_SIZE], *words[MAX_WORDS];
	struct ressd_options again;
	int n = ressd_options_print(options, printed, sizeof(printed));
	unsigned int nr;

	require(n > 0 && (size_t)n < sizeof(printed), "does not fit", printed);
	nr = split(printed, words);
	ressd_options_default(&again);
	require(nr && strtoul(words[0], NULL, 10) == nr - 1, "wrong count", words[0]);
	require(!ressd_options_parse(&again, nr - 1, words + 1, error, sizeof(error)),
		"printed options are refused", error);
	require(!memcmp(options, &again, sizeof(again)), "printed options differ", words[0]);
}

static void try_options(const char *text)
{
	char copy[MAX_TEXT], error[RESSD_ERROR_SIZE] = "", *words[MAX_WORDS];
	struct ressd_options options;
	unsigned int nr;
	u64 value;

	strcpy(copy, text);
	nr = split(copy, words);
	ressd_options_default(&options);
	if (!ressd_options_parse(&options, nr, words, error, sizeof(error)))
		check_round_trip(&options);
	else
		require(error[0], "refused without a sentence", text);
	ressd_options_default(&options);
	if (nr >= 2 && !ressd_option_set(&options, words[0], words[1], error, sizeof(error)))
		check_round_trip(&options);
	if (nr && ressd_parse_u64(words[0], "number", &value, error, sizeof(error)))
		require(error[0], "refused without a sentence", text);
}

static void check_table(const struct ressd_table *table, const char *text)
{
	char error[RESSD_ERROR_SIZE] = "";
	u64 limit = 1ULL << 40;

	if (ressd_table_check(table, limit, limit, true, error, sizeof(error))) {
		require(error[0], "refused without a sentence", text);
		return;
	}
	require(table->normal_start + table->len <= limit && table->len &&
		table->reserved_start + table->reserved_sectors <= limit &&
		(table->normal_start + table->len <= table->reserved_start ||
		 table->reserved_start + table->reserved_sectors <= table->normal_start),
		"areas out of range are accepted", text);
}

static void try_table_line(const char *text)
{
	static struct table_line line, again;
	static char printed[TABLE_LINE_TEXT];
	struct failure failure = { "" };

	memset(&line, 0, sizeof(line));
	memset(&again, 0, sizeof(again));
	if (table_line_parse(&line, text, &failure)) {
		require(failure.text[0], "refused without a sentence", text);
		return;
	}
	check_table(&line.table, text);
	check_round_trip(&line.options);
	require(!table_line_parse(&again, table_line_print(&line, printed), &failure),
		failure.text, printed);
	require(!memcmp(&line.table, &again.table, sizeof(line.table)) &&
		!memcmp(&line.options, &again.options, sizeof(line.options)) &&
		!strcmp(line.normal_path, again.normal_path) &&
		!strcmp(line.reserved_path, again.reserved_path), "differs when printed", printed);
}

static void try_others(const char *text)
{
	struct ressd_status status;
	struct failure failure = { "" };
	char printed[SIZE_TEXT];
	u64 bytes;

	if (!ressd_status_parse(&status, text, &failure))
		require(status.nr_counters <= STATUS_COUNTERS, "too many counters", text);
	else
		require(failure.text[0], "refused without a sentence", text);
	if (!size_parse(text, "size", 1 << 20, &bytes, &failure))
		size_print(bytes, printed);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char text[MAX_TEXT];

	size = min_t(size_t, size, sizeof(text) - 1);
	memcpy(text, data, size);
	text[size] = '\0';
	try_options(text);
	try_table_line(text);
	try_others(text);
	return 0;
}
