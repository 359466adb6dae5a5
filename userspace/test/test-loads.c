// SPDX-License-Identifier: GPL-2.0-only
/* What loads of applications are said to gain by the suggested table line. */
#include "drives.h"
#include "report/sentences.h"

const char test_suite[] = "probe-loads";

#define MS	1000000ULL
/* How much wider than what was measured a range is, at least. */
#define LOW(gain)	((u32)((gain) * 100 / 1.1))
#define HIGH(gain)	((u32)((gain) * 100 * 1.1 + 0.5))

/* A drive with blocks of 128 pages, of which it keeps so many open. */
struct case_of_loads {
	struct measurements m;
	struct finding findings[NR_PARAMETERS];
	struct ressd_options options;
	struct analysis analysis;
};

static void with_units(struct case_of_loads *c, u64 units)
{
	*c = (struct case_of_loads){
		.m = drive(18, 16.3, 0.421, 0.421 * 12),
		.findings[PARAMETER_PAGE] = known(128 << 10),
		.findings[PARAMETER_BLOCK] = known_block(16 << 20),
		.findings[PARAMETER_OPEN_UNITS] = known(units),
	};
	c->m.rehearsal[0] = rehearsed(4096, 128 * MS, MS, 2 * MS);
	c->findings[PARAMETER_OPEN_UNITS].low = units;
	c->findings[PARAMETER_OPEN_UNITS].high = units;
	c->findings[PARAMETER_OPEN_UNITS].usual_ns = 2 * MS;
}

static const struct load_gain *gains_of(struct case_of_loads *c)
{
	c->analysis = analysis_with(&c->m, c->findings, &c->options);
	return c->analysis.load;
}

static void check_range(const struct load_gain *gain, u32 low, u32 high)
{
	CHECK_EQ(gain->low, low);
	CHECK_EQ(gain->high, high);
}

/* Those of commits are wider. */
static void check_commit(const struct load_gain *gains, double low, double high)
{
	check_range(&gains[LOAD_COMMIT], low * 100 / 1.2, high * 100 * 1.2 + 0.5);
}

/* 2 ms for the record, 1 for a page of the log's block, and a move that costs as much or twice. */
TEST(commits_pay_for_the_log_and_for_a_move)
{
	struct case_of_loads c;

	with_units(&c, 5);
	check_commit(gains_of(&c), 128.0 / (2 + 1 + 4), 128.0 / (2 + 1 + 2));
	CHECK_EQ(c.options.route, RESSD_ROUTE_ALWAYS);
	/* What is not steady is known less well. */
	c.m.rehearsal[0].spread_percent = 60;
	check_range(&gains_of(&c)[LOAD_COMMIT], 100 * 128 / 7 / 1.3, 100 * 128 / 5 * 1.3 + 0.5);
}

TEST(a_flush_may_cost_the_bare_drive_more_than_its_write)
{
	struct case_of_loads c;

	with_units(&c, 5);
	c.findings[PARAMETER_FLUSH_COST] = known(160 * MS);
	check_commit(gains_of(&c), 128.0 / 7, 160.0 / 5);
}

/* It is what a commit costs, where it was seen for sure; random writes may close some at once. */
TEST(a_flushed_write_that_closes_a_block_counts)
{
	struct case_of_loads c;

	with_units(&c, 5);
	c.findings[PARAMETER_OPEN_UNITS].effect = 128;
	check_commit(gains_of(&c), 256.0 / (2 + 2 + 4), 256.0 / (2 + 2 + 2));
	c.findings[PARAMETER_OPEN_UNITS].status = STATUS_INCONCLUSIVE;
	check_commit(gains_of(&c), 128.0 / (2 + 1 + 4), 128.0 / (2 + 1 + 2));
}

/* No block has fewer than 64 pages. */
TEST(without_a_page_blocks_of_the_log_cost_nothing_or_something)
{
	struct case_of_loads c;

	with_units(&c, 5);
	c.findings[PARAMETER_PAGE] = (struct finding){ 0 };
	check_commit(gains_of(&c), 128.0 / (2 + 2 + 4), 128.0 / (2 + 2));
	/* Shared ones may cost as much as of random writes: that is too wide to be said. */
	c.m.rehearsal[0].pauses = true;
	check_range(&gains_of(&c)[LOAD_COMMIT], 0, 0);
}

/* Of 32 KiB: the log holds far fewer commits, but a move costs no more than a random write. */
TEST(commits_that_take_a_page_fill_the_log_sooner)
{
	struct case_of_loads c;

	with_units(&c, 27);
	c.findings[PARAMETER_BLOCK] = (struct finding){ 0 };
	c.findings[PARAMETER_PAGE] = known(32 << 10);
	c.m.rehearsal[0] = rehearsed(4096, 64 * MS, MS, 2 * MS);
	c.findings[PARAMETER_OPEN_UNITS].usual_ns = 9 * MS;
	check_commit(gains_of(&c), 64.0 / (9 + 1 + 16), 64.0 / (9 + 2));
	CHECK_EQ(c.options.log_align_sectors, 64);
	c.m.rehearsal[0] = rehearsed(4096, 64 * MS, MS, 16 * MS);
	check_commit(gains_of(&c), 64.0 / (9 + 1 + 64), 64.0 / (9 + 16));
}

/* Without blocks what was to open none may have opened some. */
TEST(commits_that_cost_many_flushes_are_not_known)
{
	struct case_of_loads c;

	with_units(&c, 5);
	c.findings[PARAMETER_FLUSH_COST] = known(MS / 8);
	check_commit(gains_of(&c), 128.0 / (2 + 1 + 4), 128.0 / (2 + 1 + 2));
	c.findings[PARAMETER_BLOCK] = (struct finding){ 0 };
	c.findings[PARAMETER_PAGE] = (struct finding){ 0 };
	check_range(&gains_of(&c)[LOAD_COMMIT], 0, 0);
}

TEST(commits_of_unknown_cost_are_not_known)
{
	struct case_of_loads c;

	with_units(&c, 5);
	c.findings[PARAMETER_OPEN_UNITS] = (struct finding){ 0 };
	check_range(&gains_of(&c)[LOAD_COMMIT], 0, 0);
	check_range(&gains_of(&c)[LOAD_INSTALL], 0, 0);
	check_range(&gains_of(&c)[LOAD_COPY], LOW(1), HIGH(1));
}

/*
 * 1 s for files and journal, 0.4 for 200 flushes.  Metadata lie in one block and a half, and 300
 * pages fill a block of 128 each; both cost a random write.
 */
TEST(an_installation_gains_what_it_opens)
{
	struct case_of_loads c;

	with_units(&c, 5);
	check_range(&gains_of(&c)[LOAD_INSTALL], LOW(1.4 / 2.4),
		    HIGH(1 + (1.5 + 300 / 128.0) * 0.128 / 1.4));
	CHECK_EQ(c.options.open_units, 5);
	/* All that it writes to can be open. */
	with_units(&c, 27);
	check_range(&gains_of(&c)[LOAD_INSTALL], LOW(1), HIGH(1));
	CHECK_EQ(c.options.open_units, 27);
	/* Files and journal close each other's block: how often decides a range too wide. */
	with_units(&c, 1);
	check_range(&gains_of(&c)[LOAD_INSTALL], 0, 0);
	/* Where blocks are not known neither is how many of them metadata open. */
	with_units(&c, 5);
	c.findings[PARAMETER_BLOCK] = (struct finding){ 0 };
	check_range(&gains_of(&c)[LOAD_INSTALL], 0, 0);
}

/* Of a part of a drive, to which random writes overwrite a half in the log. */
TEST(the_commits_of_an_installation_gain_like_others_at_most)
{
	struct case_of_loads c;

	with_units(&c, 27);
	c.findings[PARAMETER_BLOCK] = (struct finding){ 0 };
	c.findings[PARAMETER_PAGE] = (struct finding){ 0 };
	c.m.rehearsal[0] = rehearsed(4096, 8 * MS, MS, 2 * MS);
	c.m.rehearsal[0].working_set = 1 << 28;
	c.m.rehearsal[0].overwritten_percent = 50;
	check_commit(gains_of(&c), 8 / (2 + 8 / 64.0 + 4), 8.0 / (2 + 1));
	CHECK_EQ(c.options.route, RESSD_ROUTE_ALWAYS);
	check_range(&gains_of(&c)[LOAD_INSTALL], LOW(1), 100 * 8.0 / (2 + 1) * 1.2 + 0.5);
}

TEST(route_adaptive_loses_little)
{
	struct case_of_loads c;

	with_units(&c, 27);
	c.findings[PARAMETER_BLOCK] = (struct finding){ 0 };
	c.m.rehearsal[0] = rehearsed(4096, 8 * MS, MS, 9 * MS);
	c.m.rehearsal[0].working_set = 1 << 28;
	check_range(&gains_of(&c)[LOAD_COMMIT], 80, HIGH(1));
	CHECK_EQ(c.analysis.verdict, VERDICT_LOCALITY);
	check_range(&gains_of(&c)[LOAD_INSTALL], LOW(1), HIGH(1));
	/* Where random writes fill the log, commits may go there though they lose, and try. */
	c.m.rehearsal[0] = rehearsed(4096, 8 * MS, MS / 2, 5 * MS);
	c.m.rehearsal[0].working_set = 1 << 28;
	c.findings[PARAMETER_OPEN_UNITS].usual_ns = 4 * MS;
	check_range(&gains_of(&c)[LOAD_COMMIT], 80 * 8 / (4 + 8 / 64.0 + 10) / 1.2, HIGH(1));
	CHECK(c.analysis.adaptive_takes, "it takes the log");
	CHECK_EQ(c.options.route, RESSD_ROUTE_ADAPTIVE);
}

TEST(a_copy_gains_by_cuts)
{
	struct case_of_loads c;

	with_units(&c, 5);
	check_range(&gains_of(&c)[LOAD_COPY], LOW(1), HIGH(1));
	c.findings[PARAMETER_PAGE].has_phase = true;
	c.findings[PARAMETER_CUT] = known(256 << 10);
	c.findings[PARAMETER_CUT].effect = 1.5;
	check_range(&gains_of(&c)[LOAD_COPY], LOW(1), HIGH(1.5));
}

/* It takes 1.6 times as long as before random writes; where blocks are known that ends soon. */
TEST(a_copy_may_pay_for_what_random_writes_left)
{
	struct case_of_loads c;

	with_units(&c, 5);
	c.findings[PARAMETER_FAST_AREA].usual_ns = (1 << 20) * 1e9 / 18e6 / 1.6;
	check_range(&gains_of(&c)[LOAD_COPY], LOW(1), HIGH(1));
	c.findings[PARAMETER_BLOCK] = (struct finding){ 0 };
	c.m.rehearsal[0].working_set = 1 << 28;
	check_range(&gains_of(&c)[LOAD_COPY], LOW(1 / 1.6), HIGH(1.6));
	/* Nor does one that has become faster. */
	c.findings[PARAMETER_FAST_AREA].usual_ns = 100 * MS;
	check_range(&gains_of(&c)[LOAD_COPY], LOW(1), HIGH(1));
	/* Of most of its time nothing is known. */
	c.findings[PARAMETER_FAST_AREA].usual_ns = 10 * MS;
	check_range(&gains_of(&c)[LOAD_COPY], 0, 0);
}

TEST(without_a_table_line_nothing_is_said)
{
	struct case_of_loads c;
	int load;

	with_units(&c, 5);
	c.m.rehearsal[0] = rehearsed(4096, MS, MS, 2 * MS);
	for (load = 0; load < NR_LOADS; load++)
		check_range(&gains_of(&c)[load], 0, 0);
	CHECK_EQ(c.analysis.verdict, VERDICT_NOT_WORTH);
}

/* Outwards, so that the range which is shown is not the narrower one. */
TEST(gains_for_people)
{
	static const struct {
		struct load_gain gain;
		const char *text;
	} cases[] = {
		{ { 0, 0 }, "not known" },
		{ { 90, 110 }, "0.9 to 1.1 times as fast" },
		{ { 65, 167 }, "0.6 to 1.7 times as fast" },
		{ { 548, 1045 }, "5.4 to 11 times as fast" },
		{ { 985, 991 }, "9.8 to 10 times as fast" },
		{ { 3429, 5082 }, "34 to 51 times as fast" },
	};
	char text[REPORT_GAIN_TEXT];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(report_gain(&cases[i].gain, text), cases[i].text);
}
