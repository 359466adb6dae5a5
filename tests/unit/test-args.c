// SPDX-License-Identifier: GPL-2.0-only
/* ressd-args: every refusal has its sentence, every accepted set prints and parses back. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "harness.h"
#include "ressd-args.h"

TEST_SUITE("args");

#define MAX_WORDS	64

static char error[RESSD_ERROR_SIZE];

/* Cuts @line at its blanks; returns the number of words, at most @max. */
static u32 cut(char *line, char **words, u32 max)
{
	char *word;
	u32 nr = 0;

	while (nr < max && (word = strsep(&line, " ")))
		if (*word)
			words[nr++] = word;
	return nr;
}

/* Parses a line of words separated by blanks. */
static int parse(const char *line, struct ressd_options *options)
{
	static char copy[4096];
	char *words[MAX_WORDS];
	u32 nr;

	snprintf(copy, sizeof(copy), "%s", line);
	nr = cut(copy, words, MAX_WORDS);
	error[0] = '\0';
	ressd_options_default(options);
	return ressd_options_parse(options, nr, words, error, sizeof(error));
}

static void accepted(const char *line, struct ressd_options *options)
{
	CHECK(!parse(line, options), "'%s' refused: %s", line, error);
}

static void refused(const char *line, const char *sentence)
{
	struct ressd_options options;

	CHECK(parse(line, &options) == -EINVAL, "'%s' accepted", line);
	CHECK_HAS(error, sentence);
}

/* Each key: its default, and another value. */
static const struct {
	const char *key;
	size_t offset;
	u32 initial;
	const char *word;
	u32 value;
} keys[] = {
#define KEY(k, i, w, v) { #k, __builtin_offsetof(struct ressd_options, k), i, #w, v }
	KEY(small_write_sectors, 16, 64, 64),
	KEY(streams, 16, 3, 3),
	KEY(open_units, 0, 5, 5),
	KEY(route, RESSD_ROUTE_ALWAYS, never, RESSD_ROUTE_NEVER),
	KEY(log_cost_us, 0, 700, 700),
	KEY(move_threshold, 50, 70, 70),
	KEY(move_batch_sectors, 1024, 2048, 2048),
	KEY(move_block_sectors, 0, 4096, 4096),
	KEY(move_fill_blocks, 0, 9, 9),
	KEY(pace, RESSD_PACE_EVEN, burst, RESSD_PACE_BURST),
	KEY(commit, RESSD_COMMIT_WRITEBACK, writethrough, RESSD_COMMIT_WRITETHROUGH),
	KEY(commit_interval_ms, 100, 6, 6),
	KEY(log_align_sectors, 0, 32, 32),
	KEY(log_page_sectors, 0, 40, 40),
	KEY(log_rewrite, RESSD_OFF, on, RESSD_ON),
	KEY(log_discard, RESSD_OFF, on, RESSD_ON),
	KEY(segment_sectors, 0, 8192, 8192),
	KEY(cover, RESSD_ON, off, RESSD_OFF),
	KEY(on_full, RESSD_FULL_BYPASS, wait, RESSD_FULL_WAIT),
	KEY(split_read_sectors, 0, 2400, 2400),
	KEY(split_write_sectors, 0, 1200, 1200),
	KEY(align_sectors, 0, 24, 24),
	KEY(dispatch, RESSD_DISPATCH_NONE, bundle, RESSD_DISPATCH_BUNDLE),
	KEY(bundle_sectors, 0, 800, 800),
	KEY(pending_expire_ms, 10, 11, 11),
	KEY(dispatch_depth, 4, 7, 7),
};

static u32 value_of(const struct ressd_options *options, u32 key)
{
	return *(const u32 *)((const char *)options + keys[key].offset);
}

TEST(defaults_of_the_design)
{
	struct ressd_options options;
	u32 i;

	CHECK_EQ(sizeof(options), ARRAY_SIZE(keys) * sizeof(u32));
	ressd_options_default(&options);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		CHECK(value_of(&options, i) == keys[i].initial, "%s", keys[i].key);
}

TEST(no_words_keep_the_defaults)
{
	struct ressd_options options, defaults;
	char text[64];

	accepted("", &options);
	ressd_options_default(&defaults);
	CHECK(!memcmp(&options, &defaults, sizeof(options)), "changed");
	CHECK_EQ(ressd_options_print(&options, text, sizeof(text)), 1);
	CHECK_STR(text, "0");
}

TEST(every_key_is_stored)
{
	struct ressd_options options;
	char line[RESSD_OPTIONS_TEXT];
	u32 i, at = 0;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		at += snprintf(line + at, sizeof(line) - at, "%s %s ", keys[i].key, keys[i].word);
	accepted(line, &options);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		CHECK(value_of(&options, i) == keys[i].value, "%s", keys[i].key);
}

TEST(unknown_doubled_and_lonely_keys)
{
	refused("colour blue", "'colour' is not an option of ressd");
	refused("streams 4 streams 4", "option streams is given twice");
	refused("streams", "option streams has no value; write: streams <value>");
	refused("route always streams", "option streams has no value");
	refused("colour", "'colour' is not an option");
	refused("Streams 4", "'Streams' is not an option");
	refused("stream 4", "'stream' is not an option");
	refused("streamss 4", "'streamss' is not an option");
}

TEST(numbers_out_of_range)
{
	refused("small_write_sectors 0", "multiple of 8 from 8 to 256");
	refused("small_write_sectors 264", "small_write_sectors is '264'");
	refused("small_write_sectors 12", "multiple of 8");
	refused("streams 0", "streams is '0', but must be a number from 1 to 64");
	refused("streams 65", "number from 1 to 64");
	refused("move_block_sectors 8192 open_units 65",
		"open_units is '65', but must be a number from 0 to 64");
	refused("open_units 2", "set move_block_sectors first");
	refused("open_units 2 move_block_sectors 8192 streams 1", "streams 1 is the paper's rule");
	refused("log_cost_us 10000001", "number from 0 to 10000000");
	refused("move_threshold 0", "number from 1 to 95");
	refused("move_threshold 96", "number from 1 to 95");
	refused("move_batch_sectors 8200", "from 8 to 8192");
	refused("move_batch_sectors 0", "from 8 to 8192");
	refused("log_page_sectors 1032", "multiple of 8 from 0 to 1024");
	refused("move_block_sectors 4", "multiple of 8 from 0 to 524288");
	refused("move_block_sectors 524296", "from 0 to 524288");
	refused("move_fill_blocks 65537", "from 0 to 65536");
	refused("commit_interval_ms 0", "from 1 to 60000");
	refused("commit_interval_ms 60001", "from 1 to 60000");
	refused("log_align_sectors 1032", "from 0 to 1024");
	refused("segment_sectors 0", "from 128 to 524288");
	refused("segment_sectors 120", "from 128 to 524288");
	refused("segment_sectors 524296", "from 128 to 524288");
	refused("segment_sectors 132", "multiple of 8");
	refused("cover maybe", "must be one of: off on");
	refused("split_read_sectors 131080", "multiple of 8 from 0 to 131072");
	refused("split_write_sectors 4", "split_write_sectors is '4', but must be a multiple of 8");
	refused("align_sectors 12 split_write_sectors 512", "align_sectors is '12'");
}

TEST(splits_that_mean_nothing)
{
	refused("align_sectors 32", "only what is split is aligned: set split_read_sectors");
	refused("align_sectors 32 split_write_sectors 40",
		"split_write_sectors is 40, but must be a multiple of align_sectors, which is 32");
	refused("split_read_sectors 24 align_sectors 32 split_write_sectors 64",
		"split_read_sectors is 24, but must be a multiple of align_sectors");
	refused("split_write_sectors 32 align_sectors 64", "must be a multiple of align_sectors");
}

TEST(words_that_are_no_numbers)
{
	static const char *const bad[] = {
		"-1", "+1", "0x10", "1e1", "8.0", "8k", "eight", "4294967296", "4294967304",
		"18446744073709551615", "18446744073709551616", "18446744073709551624",
		"99999999999999999999999999999", "%s", "%n%n%n", "\xff", "8\n", "\t8",
	};
	char line[128];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(line, sizeof(line), "streams %s", bad[i]);
		refused(line, "number from 1 to 64");
		CHECK_HAS(error, bad[i]);
	}
}

TEST(enumerations)
{
	refused("route sometimes", "route is 'sometimes', but must be one of: always never");
	refused("commit sync", "must be one of: writeback writethrough");
	refused("on_full panic", "must be one of: bypass wait");
	refused("log_discard yes", "log_discard is 'yes', but must be one of: off on");
	refused("commit Writeback", "must be one of");
	refused("commit write", "must be one of");
	refused("commit 0", "must be one of");
}

TEST(policies_that_mean_nothing)
{
	struct ressd_options options;

	refused("dispatch fifo", "must be one of: none pai bundle bundle_rp");
	refused("dispatch pai", "dispatch is pai, but which requests are well-formed is not known");
	refused("dispatch bundle", "dispatch is bundle, but the size of a bundle is not known");
	refused("dispatch bundle_rp split_write_sectors 8",
		"dispatch is bundle_rp, but the size of a bundle is not known: set bundle_sectors");
	refused("dispatch_depth 0", "number from 1 to 256");
	refused("dispatch_depth 257", "number from 1 to 256");
	refused("pending_expire_ms 0", "number from 1 to 1000");
	refused("pending_expire_ms 1001", "number from 1 to 1000");
	refused("bundle_sectors 524296", "multiple of 8 from 0 to 524288");
	accepted("dispatch pai split_read_sectors 8", &options);
	accepted("dispatch bundle bundle_sectors 8192", &options);
	accepted("dispatch none", &options);
}

TEST(hostile_words)
{
	static char huge[3000];
	struct ressd_options options;
	char empty[] = "", key[] = "streams", value[] = "4";
	char *no_key[] = { empty, value }, *no_value[] = { key, empty };
	char *long_key[] = { huge, value }, *long_value[] = { key, huge };

	memset(huge, 'A', sizeof(huge) - 1);
	ressd_options_default(&options);
	CHECK(ressd_options_parse(&options, 2, no_key, error, sizeof(error)), "empty key");
	CHECK_HAS(error, "'' is not an option");
	CHECK(ressd_options_parse(&options, 2, no_value, error, sizeof(error)), "empty value");
	CHECK_HAS(error, "streams is ''");
	CHECK(ressd_options_parse(&options, 2, long_key, error, sizeof(error)), "long key");
	CHECK_HAS(error, "ressd(7)");	/* shortened, so that the remedy is still there */
	CHECK(ressd_options_parse(&options, 2, long_value, error, sizeof(error)), "long value");
	CHECK_HAS(error, "from 1 to 64");
	memset(huge, '9', sizeof(huge) - 1);
	CHECK(ressd_options_parse(&options, 2, long_value, error, sizeof(error)), "long number");
	memset(huge, '0', sizeof(huge) - 2);
	huge[sizeof(huge) - 2] = '4';
	CHECK(!ressd_options_parse(&options, 2, long_value, error, sizeof(error)), "zeros: %s",
	      error);
	CHECK_EQ(options.streams, 4);
	refused("%s%s%s%n 4", "'%s%s%s%n' is not an option");
}

/* A sentence never runs over the buffer it was given. */
TEST(small_error_buffers)
{
	static const char *const lines[] = { "colour blue", "commit sync", "streams 99",
		"small_write_sectors 9", "streams 1 streams 1", "streams", "dispatch pai",
		"dispatch bundle" };
	struct ressd_options options;
	char buffer[RESSD_ERROR_SIZE + 1];
	char copy[64], *words[4];
	size_t size;
	u32 i, nr;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		for (size = 1; size < 100; size++) {
			snprintf(copy, sizeof(copy), "%s", lines[i]);
			nr = cut(copy, words, ARRAY_SIZE(words));
			ressd_options_default(&options);
			memset(buffer, 0x5a, sizeof(buffer));
			CHECK(ressd_options_parse(&options, nr, words, buffer, size), "%s",
			      lines[i]);
			CHECK(memchr(buffer, 0, size), "%s: not terminated in %zu", lines[i], size);
			CHECK(!memchr_inv(buffer + size, 0x5a, sizeof(buffer) - size),
			      "%s: wrote beyond %zu", lines[i], size);
		}
	}
}

static void randomise(struct ressd_options *options)
{
	ressd_options_default(options);
	if (test_below(2))
		options->small_write_sectors = 8 * (1 + test_below(32));
	if (test_below(2))
		options->streams = 1 + test_below(64);
	if (test_below(2))
		options->route = test_below(2);
	if (test_below(2))
		options->move_threshold = 1 + test_below(95);
	if (test_below(2))
		options->move_batch_sectors = 8 * (1 + test_below(1024));
	if (test_below(2))
		options->pace = test_below(2);
	if (test_below(2))
		options->commit = test_below(2);
	if (test_below(2))
		options->commit_interval_ms = 1 + test_below(60000);
	if (test_below(2))
		options->log_align_sectors = 8 * test_below(129);
	if (test_below(2))
		options->segment_sectors = 128 + 8 * test_below(65521);
	options->cover = test_below(2);
	if (test_below(2))
		options->on_full = test_below(2);
	if (test_below(2))
		options->log_discard = test_below(2);
	if (test_below(2))
		options->split_read_sectors = 8 * test_below(3000);
	if (test_below(2))
		options->split_write_sectors = 8 * test_below(3000);
	if (test_below(2) && options->split_write_sectors) {
		options->align_sectors = options->split_write_sectors;
		options->split_read_sectors = options->align_sectors * test_below(5);
	}
	if (test_below(2))
		options->bundle_sectors = 8 * (1 + test_below(65536));
	if (test_below(2) && options->bundle_sectors)
		options->dispatch = RESSD_DISPATCH_BUNDLE + test_below(2);
	else if (test_below(2) && options->split_write_sectors)
		options->dispatch = RESSD_DISPATCH_PAI;
	if (test_below(2))
		options->pending_expire_ms = 1 + test_below(1000);
	if (test_below(2))
		options->dispatch_depth = 1 + test_below(256);
}

/* All of them, each with its longest value: RESSD_OPTIONS_TEXT is enough. */
TEST(all_options_fit)
{
	struct ressd_options options;
	char text[RESSD_OPTIONS_TEXT];

	accepted("small_write_sectors 248 streams 63 open_units 63 route adaptive move_threshold 95 move_batch_sectors 8192 move_block_sectors 524288 move_fill_blocks 65536 pace burst commit writethrough commit_interval_ms 60000 log_align_sectors 1024 log_page_sectors 1024 log_rewrite on log_discard on segment_sectors 524288 cover off on_full wait split_read_sectors 131072 split_write_sectors 131072 align_sectors 131072 dispatch bundle_rp bundle_sectors 524288 pending_expire_ms 1000 dispatch_depth 256",
		 &options);
	CHECK(ressd_options_print(&options, text, sizeof(text)) < (int)sizeof(text) - 64, "%s",
	      text);
}

TEST(print_and_parse_round_trip)
{
	u32 round;

	for (round = 0; round < 5000; round++) {
		struct ressd_options options, back;
		char text[RESSD_OPTIONS_TEXT], shorter[RESSD_OPTIONS_TEXT];
		unsigned int count = 0, words = 0;
		int n, at = 0;
		const char *p;

		randomise(&options);
		n = ressd_options_print(&options, text, sizeof(text));
		CHECK(n > 0 && (size_t)n == strlen(text), "%d for '%s'", n, text);
		CHECK(sscanf(text, "%u%n", &count, &at) == 1, "'%s'", text);
		for (p = text + at; *p; p++)
			words += *p == ' ';
		CHECK_EQ(words, count);
		accepted(text + at, &back);
		CHECK(!memcmp(&options, &back, sizeof(options)), "'%s' came back different", text);

		/* Cut short, it says how long it would be and stays within its buffer. */
		memset(shorter, 0x5a, sizeof(shorter));
		at = 1 + test_below(n);
		CHECK_EQ(ressd_options_print(&options, shorter, at), (unsigned int)n);
		CHECK(!memchr_inv(shorter + at, 0x5a, sizeof(shorter) - at), "overrun");
		CHECK(!strncmp(shorter, text, at - 1) && !shorter[at - 1], "'%s'", shorter);
	}
}

/* All options with their longest values fit into a superblock, and are the same when read back. */
TEST(stored_options)
{
	struct ressd_options options, back;
	char stored[RESSD_STORED_OPTIONS], whole[4096];

	accepted("", &options);
	memset(stored, 0xee, sizeof(stored));
	ressd_options_pack(&options, stored);
	CHECK_STR(stored, "");
	accepted("on_full wait segment_sectors 2048 streams 3", &options);
	ressd_options_pack(&options, stored);
	CHECK_STR(stored, "streams 3 on_full wait");
	CHECK(stored[RESSD_STORED_OPTIONS - 1] == '\0' && stored[40] == '\0', "not zero behind it");
	accepted("small_write_sectors 256 streams 64 open_units 64 route adaptive move_threshold 95 move_batch_sectors 8192 move_block_sectors 524288 move_fill_blocks 65536 pace burst commit writethrough commit_interval_ms 60000 log_align_sectors 1024 log_page_sectors 1024 log_rewrite on log_discard on on_full wait",
		 &options);
	ressd_options_pack(&options, stored);
	CHECK(ressd_options_print(&options, whole, sizeof(whole)) < (int)RESSD_STORED_OPTIONS,
	      "no room for '%s'", whole);
	CHECK_STR(stored, strchr(whole, ' ') + 1);
	accepted(stored, &back);
	CHECK(!memcmp(&options, &back, sizeof(options)), "came back different");
}

TEST(set_by_message)
{
	struct ressd_options options;

	ressd_options_default(&options);
	CHECK(!ressd_options_fixed(&options), "a format option by default");
	CHECK(!ressd_option_set(&options, "streams", "5", error, sizeof(error)), "%s", error);
	CHECK_EQ(options.streams, 5);
	CHECK(!ressd_option_set(&options, "commit", "writethrough", error, sizeof(error)), "%s",
	      error);
	CHECK_EQ(options.commit, RESSD_COMMIT_WRITETHROUGH);
	CHECK(!ressd_option_set(&options, "log_discard", "on", error, sizeof(error)), "%s", error);
	CHECK_EQ(options.log_discard, RESSD_ON);
	CHECK(ressd_option_set(&options, "segment_sectors", "8192", error, sizeof(error)),
	      "format option accepted");
	CHECK_HAS(error, "fixed when the reserved area is formatted");
	CHECK_EQ(options.segment_sectors, 0);
	CHECK(ressd_option_set(&options, "streams", "65", error, sizeof(error)), "65");
	CHECK(ressd_option_set(&options, "open_units", "2", error, sizeof(error)), "no unit size");
	CHECK_HAS(error, "set move_block_sectors first");
	CHECK_EQ(options.open_units, 0);
	CHECK_EQ(options.streams, 5);
	CHECK(ressd_option_set(&options, "align_sectors", "32", error, sizeof(error)), "no split");
	CHECK_HAS(error, "only what is split is aligned");
	CHECK(!ressd_option_set(&options, "split_read_sectors", "64", error, sizeof(error)), "%s",
	      error);
	CHECK(!ressd_option_set(&options, "align_sectors", "32", error, sizeof(error)), "%s",
	      error);
	CHECK(ressd_option_set(&options, "split_read_sectors", "0", error, sizeof(error)),
	      "align_sectors alone");
	CHECK(!ressd_option_set(&options, "dispatch", "pai", error, sizeof(error)), "%s", error);
	CHECK(ressd_option_set(&options, "dispatch", "bundle", error, sizeof(error)), "no size");
	CHECK_HAS(error, "set bundle_sectors first");
	CHECK_EQ(options.dispatch, RESSD_DISPATCH_PAI);
	CHECK(!ressd_option_set(&options, "bundle_sectors", "8192", error, sizeof(error)), "%s",
	      error);
	CHECK(!ressd_option_set(&options, "dispatch", "bundle_rp", error, sizeof(error)), "%s",
	      error);
	CHECK(ressd_option_set(&options, "bundle_sectors", "0", error, sizeof(error)), "in use");
	CHECK(ressd_option_set(&options, "nothing", "5", error, sizeof(error)), "unknown");
	CHECK_HAS(error, "'nothing' is not an option");
	CHECK(!ressd_options_fixed(&options), "a format option by message");
	options.segment_sectors = 8192;
	CHECK(!strcmp(ressd_options_fixed(&options), "segment_sectors"), "another one");
}

TEST(sectors_of_the_table)
{
	u64 value = 5;

	CHECK(!ressd_parse_u64("18446744073709551615", "normal start", &value, error,
			       sizeof(error)), "%s", error);
	CHECK_EQ(value, ~0ULL);
	CHECK(!ressd_parse_u64("0", "normal start", &value, error, sizeof(error)), "%s", error);
	CHECK_EQ(value, 0);
	CHECK(ressd_parse_u64("18446744073709551616", "normal start", &value, error,
			      sizeof(error)) == -EINVAL, "overflow");
	CHECK_HAS(error, "normal start is '18446744073709551616'");
	CHECK(ressd_parse_u64("", "reserved start", &value, error, sizeof(error)), "empty");
	CHECK_HAS(error, "reserved start is ''");
	CHECK(ressd_parse_u64("-1", "reserved start", &value, error, sizeof(error)), "negative");
	CHECK(ressd_parse_u64(" 1", "reserved start", &value, error, sizeof(error)), "blank");
}

static void table_refused(struct ressd_table table, bool same, const char *sentence)
{
	error[0] = '\0';
	CHECK(ressd_table_check(&table, 1 << 20, 1 << 16, same, error, sizeof(error)) == -EINVAL,
	      "accepted, not: %s", sentence);
	CHECK_HAS(error, sentence);
}

TEST(areas_of_the_table)
{
	struct ressd_table good = { 1 << 19, 8, 0, 1 << 16 };
	struct ressd_table table = good;

	CHECK(!ressd_table_check(&good, 1 << 20, 1 << 16, false, error, sizeof(error)), "%s",
	      error);
	table.len = 0;
	table_refused(table, false, "at least 8 and less than 16 TiB");
	table.len = 1ULL << 35;
	table_refused(table, false, "less than 16 TiB");
	table.len = (1 << 20) - 8;
	CHECK(!ressd_table_check(&table, 1 << 20, 1 << 16, false, error, sizeof(error)), "%s",
	      error);
	table.len = 1 << 20;
	table_refused(table, false, "the normal area ends at sector 8 + 1048576, but its device has only 1048576");
	table = good;
	table.normal_start = 4;
	table_refused(table, false, "the normal area starts at sector 4");
	table = good;
	table.len = 12;
	table_refused(table, false, "must be multiples of 8");
	table = good;
	table.normal_start = ~7ULL;
	table_refused(table, false, "the normal area ends");
	table = good;
	table.reserved_start = 8;
	table_refused(table, false, "the reserved area ends at sector 8 + 65536");
	table = good;
	table.reserved_sectors = ~7ULL;
	table_refused(table, false, "the reserved area ends");
	table = good;
	table.reserved_start = 3;
	table_refused(table, false, "the reserved area starts at sector 3");
}

TEST(overlapping_areas)
{
	u32 round;

	for (round = 0; round < 20000; round++) {
		struct ressd_table table = {
			.len = 8 * (1 + test_below(20)), .normal_start = 8 * test_below(20),
			.reserved_start = 8 * test_below(20),
			.reserved_sectors = 8 * (1 + test_below(20)),
		};
		bool overlap = false, refusal;
		u64 sector;

		for (sector = 0; sector < 400; sector += 8)
			overlap |= sector - table.normal_start < table.len &&
				   sector - table.reserved_start < table.reserved_sectors;
		refusal = ressd_table_check(&table, 400, 400, true, error, sizeof(error));
		CHECK_EQ(refusal, overlap);
		if (overlap)
			CHECK_HAS(error, "overlap; move one of them");
		CHECK(!ressd_table_check(&table, 400, 400, false, error, sizeof(error)),
		      "two devices cannot overlap: %s", error);
	}
}
