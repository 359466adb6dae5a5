// SPDX-License-Identifier: GPL-2.0-only
/* What is read from the kernel and from the user: status, table lines, kernel log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dm/kernel-log.h"
#include "dm/ressd-status.h"
#include "dm/table-line.h"
#include "harness.h"

const char test_suite[] = "text";

TEST(status)
{
	struct ressd_status status;
	struct failure failure = { "" };

	CHECK(!ressd_status_parse(&status,
				  "12/6542 5/7 rw 6 writes 10 small_writes 9 new_key 18446744073709551615",
				  &failure), "%s", failure.text);
	CHECK_EQ(status.used_blocks, 12);
	CHECK_EQ(status.total_blocks, 6542);
	CHECK_EQ(status.dirty_blocks, 5);
	CHECK_EQ(status.mapped_blocks, 7);
	CHECK_STR(status.state, "rw");
	CHECK_EQ(status.nr_counters, 3);
	CHECK_EQ(ressd_status_get(&status, "small_writes", 0), 9);
	CHECK_EQ(ressd_status_get(&status, "new_key", 0), ~0ULL);
	CHECK_EQ(ressd_status_get(&status, "none", 42), 42);
}

TEST(status_of_other_versions)
{
	struct ressd_status status;
	struct failure failure = { "" };

	CHECK(!ressd_status_parse(&status, "0/1 0/0 Fail", &failure), "%s", failure.text);
	CHECK_EQ(status.nr_counters, 0);
	CHECK(!ressd_status_parse(&status, "0/1 0/0 rw 2 a 1 later words x", &failure), "%s",
	      failure.text);
	CHECK_EQ(status.nr_counters, 1);
}

TEST(status_with_many_counters)
{
	struct ressd_status status;
	struct failure failure = { "" };
	char text[8192];
	int i, n = sprintf(text, "0/1 0/0 rw 400");

	for (i = 0; i < 200; i++)
		n += sprintf(text + n, " key%d %d", i, i);
	CHECK(!ressd_status_parse(&status, text, &failure), "%s", failure.text);
	CHECK_EQ(status.nr_counters, STATUS_COUNTERS);
}

TEST(bad_status)
{
	static const char *const texts[] = {
		"", "rw", "1/2", "1/2 3/4", "12 3/4 rw", "1/2 3 rw", "a/b 3/4 rw", "1/2 3/4 rw x",
		"1/2 3/4 rw 2 a", "1/2 3/4 rw 2 a b", "1/2 3/4 rw 3 a 1 b", "-1/2 3/4 rw",
		"1/2 3/4 rw 4 a 1", "1/2 3/4 a_state_of_more_than_15_letters",
		"99999999999999999999/2 3/4 rw",
	};
	struct ressd_status status;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct failure failure = { "" };

		CHECK(ressd_status_parse(&status, texts[i], &failure), "'%s' passed", texts[i]);
		CHECK_HAS(failure.text, "is not understood");
	}
}

TEST(table_line_round_trip)
{
	static const char text[] =
		"0 7970816 ressd /dev/a 8 /dev/b 16 417792 4 small_write_sectors 8 on_full wait";
	struct table_line line;
	struct failure failure = { "" };
	char printed[TABLE_LINE_TEXT];

	CHECK(!table_line_parse(&line, text, &failure), "%s", failure.text);
	CHECK_STR(line.normal_path, "/dev/a");
	CHECK_STR(line.reserved_path, "/dev/b");
	CHECK_EQ(line.table.len, 7970816);
	CHECK_EQ(line.table.normal_start, 8);
	CHECK_EQ(line.table.reserved_start, 16);
	CHECK_EQ(line.table.reserved_sectors, 417792);
	CHECK_EQ(line.options.small_write_sectors, 8);
	CHECK_STR(table_line_print(&line, printed), text);
}

TEST(table_line_blanks_and_no_options)
{
	struct table_line line;
	struct failure failure = { "" };
	char printed[TABLE_LINE_TEXT];

	CHECK(!table_line_parse(&line, " 0  100 ressd\t/a 0\n/a 100 200 ", &failure), "%s",
	      failure.text);
	CHECK_STR(table_line_print(&line, printed), "0 100 ressd /a 0 /a 100 200 0");
}

TEST(bad_table_lines)
{
	static const struct {
		const char *text;
		const char *part;
	} cases[] = {
		{ "", "must begin with" },
		{ "0 100 linear /a 0", "must begin with" },
		{ "8 100 ressd /a 0 /a 100 200", "must start at 0" },
		{ "0 100 ressd /a 0 /a 100", "5 are needed" },
		{ "0 x ressd /a 0 /a 100 200", "number of sectors" },
		{ "0 100 ressd /a x /a 100 200", "normal start" },
		{ "0 100 ressd /a 0 /a x 200", "reserved start" },
		{ "0 100 ressd /a 0 /a 100 x", "reserved sectors" },
		{ "0 100 ressd /a 0 /a 100 200 2 on_full", "option words" },
		{ "0 100 ressd /a 0 /a 100 200 x", "option words" },
		{ "0 100 ressd /a 0 /a 100 200 2 on_full maybe", "on_full" },
		{ "0 100 ressd /a 0 /a 100 200 2 color red", "not an option" },
		{ "0 100 ressd /a 0 /a 100 200 2 %s%n %s%n", "not an option" },
	};
	struct table_line line;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct failure failure = { "" };

		CHECK(table_line_parse(&line, cases[i].text, &failure), "'%s' passed",
		      cases[i].text);
		CHECK_HAS(failure.text, cases[i].part);
	}
}

TEST(endless_table_lines)
{
	struct failure failure = { "" };
	struct table_line line;
	char *text = calloc(1, 20000);
	int i;

	for (i = 0; i < 5000; i++)
		strcat(text + i * 2, "0 ");
	CHECK(table_line_parse(&line, text, &failure), "5000 words passed");
	CHECK_HAS(failure.text, "more than");
	memset(text, 'x', 19990);
	memcpy(text, "0 8 ressd ", 10);
	strcpy(text + 19000, " 0 /a 0 8");
	CHECK(table_line_parse(&line, text, &failure), "a path of 19000 letters passed");
	CHECK_HAS(failure.text, "characters");
	free(text);
}

TEST(table_line_against_devices)
{
	struct blkdev dev = { .is_file = true, .path = "/a", .bytes = 16 << 20 };
	struct failure failure = { "" };
	struct table_line line;

	CHECK(!table_line_parse(&line, "0 16384 ressd /a 0 /a 16384 16384", &failure), "%s",
	      failure.text);
	CHECK(!table_line_check(&line, &dev, &dev, &failure), "%s", failure.text);
	line.table.reserved_start = 16376;
	CHECK(table_line_check(&line, &dev, &dev, &failure), "overlap");
	CHECK_HAS(failure.text, "overlap");
	line.table.reserved_start = 32768;
	CHECK(table_line_check(&line, &dev, &dev, &failure), "beyond the end");
	line.table.reserved_start = 16384;
	line.options.segment_sectors = 8192;
	CHECK(table_line_check(&line, &dev, &dev, &failure), "two segments only");
	CHECK_HAS(failure.text, "segments");
}

static const char *extract(const char *record, char *copy)
{
	strcpy(copy, record);
	return kernel_log_extract(copy);
}

TEST(kernel_log)
{
	char copy[512];

	CHECK_STR(extract("3,8,3,-;device-mapper: table: 254:0: ressd: bad (-EINVAL)\n", copy),
		  "bad");
	CHECK_STR(extract("3,8,3,-;device-mapper: table: 254:0: ressd: bad\n SUBSYSTEM=block\n",
			  copy), "bad");
	CHECK_STR(extract("3,1,1,-;device-mapper: ressd: 254:0: area + 8 (blank) is bad\n", copy),
		  "area + 8 (blank) is bad");
	CHECK_STR(extract("4,1,1,-;device-mapper: ressd: 254:0: careful\n", copy), "careful");
	CHECK_STR(extract("3,1,1,-;device-mapper: ressd: no number\n", copy), "no number");
}

TEST(kernel_log_of_others)
{
	static const char *const records[] = {
		"6,1,1,-;device-mapper: ressd: 254:0: recovered 5 blocks\n",
		"3,1,1,-;device-mapper: table: 254:0: ressd: preresume failed, error = -22\n",
		"3,1,1,-;device-mapper: table: 1:0: ressd: the table is refused for the reason logged above (-EINVAL)\n",
		"3,1,1,-;device-mapper: table: 254:0: linear: bad\n",
		"3,1,1,-;EXT4-fs (dm-0): ressd: bad\n",
		"no record", "", ";", "3,1,1,-;",
	};
	char copy[512];
	size_t i;

	for (i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		CHECK(!extract(records[i], copy), "%s", records[i]);
}

TEST(exit_codes)
{
	CHECK_EQ(exit_code_of(0), 0);
	CHECK_EQ(exit_code_of(-5), 1);
	CHECK_EQ(exit_code_of(-22), 2);
	CHECK_EQ(exit_code_of(-16), 3);
	CHECK_EQ(exit_code_of(-30), 3);
	CHECK_EQ(exit_code_of(-117), 4);
	CHECK_EQ(exit_code_of(-125), 130);
}
