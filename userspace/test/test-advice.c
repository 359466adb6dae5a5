// SPDX-License-Identifier: GPL-2.0-only
/* The options that a verdict comes with: which are advised, from what is known of the drive. */
#include <string.h>
#include "drives.h"

const char test_suite[] = "probe-advice";

/* A drive that is worth it, with these findings. */
static struct analysis advised(const struct finding *findings, struct ressd_options *options)
{
	struct measurements m = drive(85, 16.3, 0.421, 0.421 * 12);

	return analysis_with(&m, findings, options);
}

/* Where the route is adaptive, and the device takes discards; nowhere else. */
TEST(discards_of_an_empty_log)
{
	struct measurements low = drive(85, 16.3, 0.421, 0.421 * 12);
	struct measurements fast = drive(129, 20.2, 6.54, 6.54 * 2);
	struct ressd_options options;

	CHECK_EQ(analysis_of(&low, &options).verdict, VERDICT_WORTH);
	CHECK_EQ(options.log_discard, RESSD_OFF);
	low.takes_discards = true;
	analysis_of(&low, &options);
	CHECK_EQ(options.log_discard, RESSD_OFF);
	CHECK_EQ(analysis_of(&fast, &options).verdict, VERDICT_LOCALITY);
	CHECK_EQ(options.route, RESSD_ROUTE_ADAPTIVE);
	CHECK_EQ(options.log_discard, RESSD_OFF);
	fast.takes_discards = true;
	analysis_of(&fast, &options);
	CHECK_EQ(options.log_discard, RESSD_ON);
}

TEST(known_parameters_become_options)
{
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options;

	findings[PARAMETER_PAGE] = known(48 << 10);
	findings[PARAMETER_BLOCK] = known_block(2 << 20);
	advised(findings, &options);
	CHECK_EQ(options.log_align_sectors, 0);
	CHECK_EQ(options.log_page_sectors, 96);
	CHECK_EQ(options.move_batch_sectors % 96, 0);
	CHECK_EQ(options.segment_sectors, 4096);
	findings[PARAMETER_BLOCK] = (struct finding){ 0 };
	advised(findings, &options);
	CHECK_EQ(options.log_align_sectors, 96);
	CHECK_EQ(options.log_page_sectors, 0);
}

static bool is_advised(const struct analysis *analysis, const char *key)
{
	unsigned int i;

	for (i = 0; i < analysis->nr_advice; i++)
		if (!strcmp(analysis->advice[i].key, key))
			return true;
	return false;
}

/* Pages that do not begin with the disk cannot be told to the target. */
TEST(long_writes_are_cut_if_they_gain)
{
	struct measurements m = drive(85, 16.3, 0.421, 0.421 * 12);
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options;
	struct analysis analysis;

	findings[PARAMETER_PAGE] = known_block(48 << 10);
	findings[PARAMETER_CUT] = known(0);
	advised(findings, &options);
	CHECK_EQ(options.split_write_sectors, 0);
	findings[PARAMETER_CUT] = known(240 << 10);
	analysis = advised(findings, &options);
	CHECK_EQ(options.split_write_sectors, 480);
	CHECK_EQ(options.align_sectors, 96);
	CHECK(is_advised(&analysis, "split_write_sectors"), "it is not said");
	m.disk_offset = 1 << 20;
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(options.split_write_sectors, 0);
}

/* Found by make demo: Postmark on the Samsung profile fell from 1.83 times bare to 1.50. */
TEST(an_order_by_which_only_reads_gain_is_not_advised)
{
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options;

	findings[PARAMETER_DISPATCH] = known(5 << 20);
	findings[PARAMETER_DISPATCH].low = 2;
	advised(findings, &options);
	CHECK_EQ(options.dispatch, RESSD_DISPATCH_NONE);
	CHECK_EQ(options.bundle_sectors, 0);
}

/*
 * 16 MiB are read and written in 0.4 s. 64 blocks take 0.256 s one by one, 256 take 0.64 s: between
 * them it is better to rewrite all. Found on the Samsung profile: one ordered write's time, taken
 * for any number of them, had it rewrite from 26 blocks on, and lose a third of its speed.
 */
TEST(rewriting_pays_from_where_the_curves_meet)
{
	struct measurements m = drive(80 * 1.048576, 16.3, 0.421, 0.421 * 12);
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options;
	struct analysis analysis;

	findings[PARAMETER_BLOCK] = known_block(16 << 20);
	m.sequential_read = steady(80 * 1.048576);
	m.by_stride[3] = steady(0.4096);	/* 16 writes of 10 ms */
	m.by_stride[2] = steady(1.024);		/* 64 of 4 ms */
	m.by_stride[1] = steady(1.6384);	/* 256 of 2.5 ms */
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(options.move_block_sectors, 32768);
	/* Nine tenths of the 400 ms of a whole block. */
	CHECK_EQ(options.move_fill_blocks, 117);
	m.by_stride[1] = steady(16.384);
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(options.move_fill_blocks, 0);
	CHECK(is_advised(&analysis, "move_fill_blocks"), "never, and that is known");

	/* Found on the Super Talent twin: measuring ended just below the time of a block. */
	m.by_stride[2] = steady(0.66);		/* 64 of 6.2 ms: 397 ms */
	analysis = analysis_with(&m, findings, &options);
	CHECK(options.move_fill_blocks > 16 && options.move_fill_blocks < 64, "%u",
	      options.move_fill_blocks);

	/* Found there, too: of four writes to a block one more merge was seen than they cause. */
	m.by_stride[4] = steady(0.0364);	/* 4 of 450 ms */
	analyse(&m, findings, &analysis, &options);
	CHECK(options.move_fill_blocks >= 16, "%u", options.move_fill_blocks);
}

/*
 * Found on the Super Talent twin: measurements before had left blocks open, and two merges of 300
 * ms in the sequential writes had the probe advise never to rewrite a block.
 */
TEST(merges_of_other_blocks_are_no_cost_of_rewriting)
{
	struct measurements m = drive(80 * 1.048576, 16.3, 0.421, 0.421 * 12);
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options;

	findings[PARAMETER_BLOCK] = known_block(16 << 20);
	m.sequential_read = steady(80 * 1.048576);
	m.by_stride[3] = steady(0.4096);	/* 16 writes of 10 ms */
	m.by_stride[2] = steady(1.024);		/* 64 of 4 ms */
	m.by_stride[1] = steady(1.6384);	/* 256 of 2.5 ms */
	/* 42 MB in 0.5 s, and 0.6 s of merges. */
	m.sequential_write = (struct result){
		.done = true, .bandwidth = 40 * 1048576 / 1.1, .ops = 80, .ns = 1100000000,
		.pause_ns = 600000000 / 80,
	};
	analysis_with(&m, findings, &options);
	CHECK(options.move_fill_blocks >= 115 && options.move_fill_blocks <= 119, "%u",
	      options.move_fill_blocks);
	/* And the gain is that of blocks rewritten, where they are. */
	CHECK_EQ(analyse_fill_from(&m, 16 << 20), options.move_fill_blocks);
}

/*
 * Found on the slow card, where the ordered writes' curve is flat: from 29 blocks on all were
 * rewritten, though the rehearsal had brought 53 home in less time: a fifth of the speed.
 */
TEST(rewriting_does_not_pay_where_a_rehearsed_visit_is_faster)
{
	struct measurements m = drive(80 * 1.048576, 16.3, 0.421, 0.421 * 12);
	struct rehearsal *rehearsal = &m.rehearsal[0];

	m.sequential_read = steady(80 * 1.048576);	/* 0.4 s for a block of 16 MiB */
	m.by_stride[3] = steady(0.4096);	/* 16 writes of 10 ms */
	m.by_stride[2] = steady(0.66);		/* 64 of 6.2 ms: 397 ms */
	CHECK(analyse_fill_from(&m, 16 << 20) < 64, "by the curve");
	*rehearsal = (struct rehearsal){
		.done = true, .size = 4096, .visit_pieces = 80, .move_ns = 4250000,
	};
	/* 80 blocks in 0.32 s, and 20 ms to read them from the log. */
	CHECK(analyse_fill_from(&m, 16 << 20) >= 98 && analyse_fill_from(&m, 16 << 20) <= 102, "%llu",
	      analyse_fill_from(&m, 16 << 20));
	/* In 0.48 s: as the curve says. */
	rehearsal->move_ns = 6250000;
	CHECK(analyse_fill_from(&m, 16 << 20) < 64, "as the curve says");
}

/*
 * Quick runs measure no distances: on the Transcend profile they promised 182 times, for the mover
 * would rewrite whole blocks, and advised a line by which it does not, and which gains 55 times.
 */
TEST(rewriting_pays_where_only_a_rehearsed_visit_is_known)
{
	struct measurements m = drive(80 * 1.048576, 16.3, 0.421, 0.421 * 12);
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options;
	struct analysis analysis;

	findings[PARAMETER_BLOCK] = known_block(16 << 20);
	m.sequential_read = steady(80 * 1.048576);	/* 0.4 s for a block of 16 MiB */
	m.rehearsal[0] = rehearsed(4096, 300000000, 50000, 10250000);
	m.rehearsal[0].visit_pieces = 80;
	analysis = analysis_with(&m, findings, &options);
	/* 80 blocks in 0.8 s. */
	CHECK(options.move_fill_blocks >= 40 && options.move_fill_blocks <= 42, "%u",
	      options.move_fill_blocks);
	/* 300 ms over 0.05 + 400 / 80 + 0.25 ms */
	CHECK_EQ(analysis.by_size[0].gain_percent / 100, 56);

	/* Where it is known that it never pays a gain by it was promised as well. */
	m.by_stride[1] = steady(16.384);
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(options.move_fill_blocks, 0);
	CHECK_EQ(analysis.by_size[0].gain_percent / 100, 29);
	m.by_stride[1].done = false;

	/* The target counts blocks from the start of the disk: so it cannot rewrite these. */
	findings[PARAMETER_BLOCK].phase = 4096;
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(options.move_fill_blocks, 0);
	CHECK_EQ(analysis.by_size[0].gain_percent / 100, 29);
}

/*
 * Found with a card that keeps one block of 4 MiB open: log and mover took turns in it eight times
 * a block, each time with a merge, and random writes were three times as slow as they could be.
 */
TEST(with_one_open_block_a_batch_is_all_of_a_block)
{
	struct measurements m = drive(80 * 1.048576, 16.3, 0.421, 0.421 * 12);
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options;

	findings[PARAMETER_BLOCK] = known_block(4 << 20);
	findings[PARAMETER_OPEN_UNITS] = known_block(1);
	findings[PARAMETER_OPEN_UNITS].low = 1;
	findings[PARAMETER_OPEN_UNITS].high = 1;
	analysis_with(&m, findings, &options);
	CHECK_EQ(options.open_units, 1);
	CHECK_EQ(options.move_batch_sectors, 8192);
	findings[PARAMETER_OPEN_UNITS].low = 2;
	findings[PARAMETER_OPEN_UNITS].high = 2;
	analysis_with(&m, findings, &options);
	CHECK_EQ(options.open_units, 2);
	CHECK_EQ(options.move_batch_sectors, 1024);
}

/*
 * Where only a lower bound was known the route was adaptive.  Its trials write few blocks back all
 * over the drive, so the target went the direct way: no gain where it was to be 8 to 76.
 */
TEST(at_least_so_many_open_blocks_are_open_units)
{
	struct measurements m = drive(80 * 1.048576, 16.3, 0.15, 1.4);
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct finding *units = &findings[PARAMETER_OPEN_UNITS];
	struct ressd_options options;
	struct analysis analysis;

	findings[PARAMETER_BLOCK] = known_block(4 << 20);
	*units = known_block(64);
	units->status = STATUS_BOUNDED;
	units->low = 64;
	units->high = ~0ULL;
	units->usual_ns = 1000000;
	m.rehearsal[0] = rehearsed(4096, 27000000, 300000, 3000000);
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(analysis.verdict, VERDICT_WORTH);
	CHECK_EQ(options.route, RESSD_ROUTE_ALWAYS);
	CHECK_EQ(options.open_units, 64);
	/* Writes to no block cost more: its log blocks are shared.  5.1 times became 2.4. */
	m.rehearsal[0].working_set = 700 << 20;
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(options.open_units, 0);
	m.rehearsal[0].working_set = 0;
	/* A write to an open one costs more than through the log. */
	units->usual_ns = 4000000;
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(options.route, RESSD_ROUTE_ALWAYS);
	CHECK_EQ(options.open_units, 0);
	/* Few, or more: that the target must not take for few. */
	units->low = 4;
	units->usual_ns = 1000000;
	analysis = analysis_with(&m, findings, &options);
	CHECK_EQ(options.open_units, 0);
}

/* A quick run on a slow drive has measured no ordered writes: that is not "never". */
TEST(without_ordered_writes_nothing_is_said_of_rewriting)
{
	struct measurements m = drive(80 * 1.048576, 16.3, 0.421, 0.421 * 12);
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options;
	struct analysis analysis;

	findings[PARAMETER_BLOCK] = known_block(16 << 20);
	m.sequential_read = steady(80 * 1.048576);
	analysis = analysis_with(&m, findings, &options);
	CHECK(is_advised(&analysis, "move_block_sectors"), "the block is known");
	CHECK(!is_advised(&analysis, "move_fill_blocks"), "what its writes cost is not");
}

/* Where pages are mapped one by one a block has no place that the table could be laid out by. */
TEST(blocks_without_places_change_nothing)
{
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options, defaults;

	ressd_options_default(&defaults);
	findings[PARAMETER_BLOCK] = known(2 << 20);
	advised(findings, &options);
	CHECK_EQ(options.segment_sectors, defaults.segment_sectors);
	CHECK_EQ(options.move_block_sectors, defaults.move_block_sectors);
}

TEST(uncertain_parameters_change_nothing)
{
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options, defaults;

	ressd_options_default(&defaults);
	findings[PARAMETER_PAGE] = known(16 << 10);
	findings[PARAMETER_PAGE].confidence = CONFIDENCE_LOW;
	findings[PARAMETER_BLOCK] = known_block(2 << 20);
	findings[PARAMETER_BLOCK].status = STATUS_BOUNDED;
	advised(findings, &options);
	CHECK_EQ(options.log_align_sectors, defaults.log_align_sectors);
	CHECK_EQ(options.segment_sectors, defaults.segment_sectors);
}

TEST(largest_write_that_gains)
{
	struct measurements m = drive(85, 16.3, 0.421, 0.421 * 12);
	struct ressd_options options;
	struct analysis analysis;
	unsigned int i;

	m.rehearsal[0] = rehearsed(4096, 1000, 50, 50);
	m.rehearsal[1] = rehearsed(8192, 500, 50, 50);
	m.rehearsal[2] = rehearsed(16384, 130, 50, 50);
	m.rehearsal[3] = rehearsed(32768, 115, 50, 50);
	analysis = analysis_of(&m, &options);
	CHECK_EQ(options.small_write_sectors, 32);
	CHECK_EQ(options.on_full, RESSD_FULL_WAIT);
	for (i = 0; i < analysis.nr_advice; i++)
		CHECK(analysis.advice[i].reason[0] && analysis.advice[i].key, "advice %u", i);
	CHECK_STR(analysis.advice[0].key, "small_write_sectors");
	CHECK_HAS(analysis.advice[0].reason, "of 32 KiB 1.15 times");
}

/* An option that the target does not know yet must not be in its table line. */
TEST(advice_is_known_to_the_target)
{
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct ressd_options options, parsed;
	char text[512], error[RESSD_ERROR_SIZE], *words[64], *word, *save;
	struct analysis analysis;
	unsigned int count = 0;

	findings[PARAMETER_PAGE] = known(16 << 10);
	findings[PARAMETER_BLOCK] = known(4 << 20);
	analysis = advised(findings, &options);
	CHECK(analysis.nr_advice >= 9, "%u", analysis.nr_advice);
	ressd_options_print(&options, text, sizeof(text));
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		words[count++] = word;
	ressd_options_default(&parsed);
	CHECK(!ressd_options_parse(&parsed, count - 1, words + 1, error, sizeof(error)), "%s",
	      error);
	CHECK(!memcmp(&parsed, &options, sizeof(parsed)), "the line says the same");
}

/* A partition that begins in the middle of a block: its borders count from the disk's start. */
TEST(blocks_of_a_partition)
{
	struct finding findings[NR_PARAMETERS] = { 0 };
	struct measurements m = drive(85, 16.3, 0.421, 0.421 * 12);
	struct ressd_options options;

	findings[PARAMETER_BLOCK] = known(4 << 20);
	findings[PARAMETER_BLOCK].has_phase = true;
	findings[PARAMETER_BLOCK].phase = 3 << 20;
	m.disk_offset = 1 << 20;
	/* The first border is 3 MiB into the partition, 4 MiB into the disk. */
	analysis_with(&m, findings, &options);
	CHECK_EQ(options.move_block_sectors, 8192);
	m.disk_offset = 0;
	analysis_with(&m, findings, &options);
	CHECK_EQ(options.move_block_sectors, 0);
}
