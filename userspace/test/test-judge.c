// SPDX-License-Identifier: GPL-2.0-only
/* The decisions on a drive's parameters, on made-up and on recorded samples. */
#include <math.h>
#include "harness.h"
#include "judge/judge.h"
#include "measure/statistics.h"
#include "noisy.h"

const char test_suite[] = "probe-judge";

/* A time of @ns give or take @noise, now and then with something else in between. */
static double noisy(double ns, double noise)
{
	return noisy_time(ns, noise, 50);
}

TEST(sizes_are_powers_and_three_times_powers)
{
	CHECK_EQ(judge_next_size(8 << 10), 12 << 10);
	CHECK_EQ(judge_next_size(12 << 10), 16 << 10);
	CHECK_EQ(judge_next_size(16 << 10), 24 << 10);
	CHECK_EQ(judge_next_size(192 << 10), 256 << 10);
}

TEST(medians_and_ranks)
{
	double values[] = { 9, 1, 5, 1 }, odd[] = { 3, 1, 2 };

	CHECK(stat_median(odd, 3) == 2, "%f", odd[1]);
	CHECK(!stat_rank(values, 4), "memory");
	CHECK(values[0] == 4 && values[1] == 1.5 && values[2] == 3 && values[3] == 1.5, "ties");
}

TEST(rank_sums)
{
	double low[32], high[32];
	int i;

	for (i = 0; i < 32; i++) {
		low[i] = noisy(100e3, 0.2);
		high[i] = noisy(200e3, 0.2);
	}
	CHECK(stat_rank_sum(high, 32, low, 32) > JUDGE_CLEAR, "%f",
	      stat_rank_sum(high, 32, low, 32));
	CHECK(fabs(stat_rank_sum(low, 32, low, 32)) < 0.01, "equal samples differ");
	CHECK(judge_pairs(high, low, 32) > JUDGE_CLEAR, "%f", judge_pairs(high, low, 32));
	CHECK(fabs(stat_ratio(high, 32, low, 32) - 2) < 0.3, "%f", stat_ratio(high, 32, low, 32));
}

#define POSITIONS	255U
#define PASSES		4U

/* Writes of 8 KiB at every 4 KiB: those across a border of @page take @factor as long. */
static unsigned int scan(u32 page, u32 phase, double factor, double noise,
			 struct page_candidate *candidates)
{
	static double times[POSITIONS * PASSES];
	unsigned int i;

	for (i = 0; i < POSITIONS * PASSES; i++) {
		const u32 middle = (i % POSITIONS + 1) * JUDGE_UNIT;
		const bool crosses = page && (middle + page - phase) % page == 0;

		times[i] = noisy(crosses ? 500e3 * factor : 500e3, noise);
	}
	return judge_page_scan(times, POSITIONS, PASSES, candidates, 3);
}

TEST(page_borders_stand_out)
{
	static const u32 pages[] = { 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256 };
	struct page_candidate candidates[3];
	unsigned int i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		const u32 page = pages[i] << 10;
		const u32 phase = test_below(pages[i] / 4) * JUDGE_UNIT;

		CHECK(scan(page, phase, 1.8, 0.2, candidates) > 0, "%u KiB: nothing", pages[i]);
		CHECK_EQ(candidates[0].page, page);
		CHECK_EQ(candidates[0].phase, phase);
	}
}

TEST(no_borders_no_page)
{
	struct page_candidate candidates[3];
	int i;

	for (i = 0; i < 20; i++)
		CHECK(scan(0, 0, 1, 0.2, candidates) == 0 || candidates[0].deviate < JUDGE_PLAIN,
		      "a page of %u bytes out of noise", candidates[0].page);
}

/* MLC: half the writes take four times as long.  The difference is a fifth of the fast ones. */
TEST(small_differences_among_slow_pages)
{
	static double a[1024], b[1024];
	int i;

	for (i = 0; i < 1024; i++) {
		a[i] = noisy(test_below(2) ? 4e6 : 1.2e6, 0.1);
		b[i] = noisy(test_below(2) ? 4e6 : 1.0e6, 0.1);
	}
	CHECK(judge_fast_kind(a, b, 1024) > JUDGE_CLEAR, "%f", judge_fast_kind(a, b, 1024));
	CHECK(fabs(judge_fast_kind(b, b, 1024)) < 0.01, "equal samples differ");
}

TEST(onset_of_waiting)
{
	double times[128];
	int i;

	for (i = 0; i < 128; i++)
		times[i] = (i < 63 ? 45e3 : i % 4 == 3 ? 235e3 : 45e3) * (1 + test_below(50) / 1e3);
	CHECK_EQ(judge_onset(times, 128), 63);
	for (i = 0; i < 128; i++)
		times[i] = 45e3 * (1 + test_below(100) / 1e3);
	CHECK_EQ(judge_onset(times, 128), 0);
}

TEST(modes_of_mlc)
{
	struct mode_judgement judgement;
	double logs[512];
	int i;

	for (i = 0; i < 512; i++)
		logs[i] = log(noisy(i / 4 % 2 ? 2.4e6 : 0.9e6, 0.1));
	judge_modes(logs, 512, 128, &judgement);
	CHECK_EQ(judgement.modes, 2);
	CHECK_EQ(judgement.lag, 8);
	CHECK(fabs(judgement.ratio - 2.67) < 0.4, "%f", judgement.ratio);
}

/* The pattern is faint, and every twentieth write meets something else: folding takes that out. */
TEST(modes_beside_interference)
{
	struct mode_judgement judgement;
	double logs[512];
	int i;

	for (i = 0; i < 512; i++) {
		const bool slow = i % 4 == 0 || i % 4 == 3;

		logs[i] = log(noisy(slow ? 1.5e6 : 0.9e6, 0.1) + (test_below(20) ? 0 : 20e6));
	}
	judge_modes(logs, 512, 128, &judgement);
	CHECK_EQ(judgement.modes, 2);
	CHECK_EQ(judgement.lag % 4, 0);
	CHECK(fabs(judgement.ratio - 1.67) < 0.2, "%f", judgement.ratio);
}

TEST(modes_of_slc)
{
	struct mode_judgement judgement;
	double logs[512];
	int i;

	for (i = 0; i < 512; i++)
		logs[i] = log(noisy(0.9e6, 0.1));
	judge_modes(logs, 512, 128, &judgement);
	CHECK_EQ(judgement.modes, 1);
}

/*
 * A pseudo-SLC area that is used up, or folded now and then: two kinds of times, but in no order
 * that repeats itself (taken for MLC, with high confidence, on drawn drives).
 */
TEST(modes_beside_changes_of_level)
{
	struct mode_judgement judgement;
	unsigned int left = 0;
	double logs[512];
	bool slow = false;
	int i;

	for (i = 0; i < 512; i++)
		logs[i] = log(noisy(i < 200 ? 0.4e6 : 0.9e6, 0.05));
	judge_modes(logs, 512, 128, &judgement);
	CHECK(judgement.modes != 2, "one change is no second kind");
	for (i = 0; i < 512; i++) {
		if (!left--) {
			slow = !slow;
			left = 10 + test_below(60);
		}
		logs[i] = log(noisy(slow ? 0.9e6 : 0.4e6, 0.05));
	}
	judge_modes(logs, 512, 128, &judgement);
	CHECK(judgement.modes != 2, "changes at random, lag %u", judgement.lag);
}

/*
 * In a guest, times have next to no noise, and the host's own work repeats itself: that is no
 * second kind of pages (seen on the ssdsim-sc profile as a block device).
 */
TEST(modes_beside_the_pattern_of_a_quiet_host)
{
	struct mode_judgement judgement;
	double logs[512];
	int i;

	for (i = 0; i < 512; i++)
		logs[i] = log(noisy(i % 51 < 17 ? 1.52e6 : 1.5e6, 0.001));
	judge_modes(logs, 512, 128, &judgement);
	CHECK_EQ(judgement.modes, 1);
}

/* On a drive without any noise tiny differences repeat themselves. */
TEST(modes_of_a_silent_drive)
{
	struct mode_judgement judgement;
	double logs[512];
	int i;

	for (i = 0; i < 512; i++)
		logs[i] = log(i % 64 ? 0.5e6 + i % 4 * 100 : 15e6);
	judge_modes(logs, 512, 128, &judgement);
	CHECK_EQ(judgement.modes, 1);
}

/* Garbage collection makes two kinds of times as well, but in no order. */
TEST(garbage_collection_is_no_mlc)
{
	struct mode_judgement judgement;
	double logs[512];
	int i;

	for (i = 0; i < 512; i++)
		logs[i] = log(noisy(test_below(3) ? 0.9e6 : 2.4e6, 0.1));
	judge_modes(logs, 512, 128, &judgement);
	CHECK(judgement.modes != 2, "%u modes", judgement.modes);
}

/* Filling a drive whose pseudo-SLC area ends after 100 parts. */
TEST(slowdown_for_good)
{
	double times[256], ratio;
	int i;

	for (i = 0; i < 256; i++)
		times[i] = noisy(i < 100 ? 4e6 : 11e6, 0.1) + (test_below(20) ? 0 : 30e6);
	CHECK_EQ(judge_slowdown(times, 256, &ratio), 100);
	CHECK(fabs(ratio - 2.75) < 0.2, "%f", ratio);
}

TEST(no_slowdown)
{
	double times[256], ratio;
	int i;

	for (i = 0; i < 256; i++)
		times[i] = noisy(test_below(10) ? 4e6 : 30e6, 0.2);
	CHECK_EQ(judge_slowdown(times, 256, &ratio), 0);
	/* Faster is not slower, and some time slower is not for good. */
	for (i = 0; i < 256; i++)
		times[i] = noisy(i < 100 ? 11e6 : 4e6, 0.1);
	CHECK_EQ(judge_slowdown(times, 256, &ratio), 0);
	for (i = 0; i < 256; i++)
		times[i] = noisy(i >= 100 && i < 180 ? 11e6 : 4e6, 0.1);
	CHECK_EQ(judge_slowdown(times, 256, &ratio), 0);
	for (i = 0; i < 256; i++)
		times[i] = noisy(4e6 + i * 4e4, 0.1);
	CHECK_EQ(judge_slowdown(times, 256, &ratio), 0);
	CHECK_EQ(judge_slowdown(times, 12, &ratio), 0);
}

#define STRIDE		65536U

static void scan_blocks(u64 block, u64 border, unsigned int count,
			struct block_judgement *judgement)
{
	static double times[4096];
	unsigned int i;

	for (i = 0; i < count; i++) {
		const u64 at = (u64)i * STRIDE, before = at - STRIDE;
		const bool first = i && (at + block - border) / block !=
				   (before + block - border) / block;

		times[i] = noisy(first ? 60e6 : 1e6, 0.2);
	}
	judge_block_scan(times, count, STRIDE, judgement);
}

TEST(block_borders)
{
	static const u32 blocks[] = { 512, 768, 1152, 4096, 5120, 12288, 16384, 24576 };
	struct block_judgement judgement;
	unsigned int i;

	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		const u64 block = (u64)blocks[i] << 10;

		scan_blocks(block, test_below(blocks[i] / 4) * 4096ULL, 4096, &judgement);
		CHECK(judgement.period > 0, "%u KiB: nothing", blocks[i]);
		CHECK(fabs(judgement.period - block) < STRIDE / 2, "%u KiB: %f", blocks[i],
		      judgement.period / 1024);
	}
}

TEST(no_blocks_in_noise)
{
	struct block_judgement judgement;
	static double times[4096];
	int i, j;

	for (j = 0; j < 10; j++) {
		for (i = 0; i < 4096; i++)
			times[i] = noisy(test_below(40) ? 1e6 : 60e6, 0.2);
		judge_block_scan(times, 4096, STRIDE, &judgement);
		CHECK(judgement.evidence < 30, "evidence %f for %f", judgement.evidence,
		      judgement.period);
	}
}

TEST(edges_give_size_and_place)
{
	struct edge_judgement judgement;
	static bool slow[12 * 32];
	u64 start[12];
	int e;

	/* Blocks of 1152 units from 100 on; the windows drift, as a guessed period does. */
	for (e = 0; e < 12; e++) {
		start[e] = 100 + e * 1152ULL - 16 + e;
		slow[e * 32 + 16 - e] = true;
	}
	slow[5 * 32 + 2] = true;	/* something else */
	judge_block_edges(slow, start, 12, 32, 1150, 4, &judgement);
	CHECK_EQ(judgement.period, 1152);
	CHECK_EQ(judgement.border, 100);
	CHECK_EQ(judgement.hits, 12);
	CHECK(judgement.second < 6, "%u", judgement.second);
}

/* Slow writes one after the other, at a large stride, once made a period of 0: an endless loop. */
TEST(slow_neighbours_end_the_search)
{
	struct block_judgement judgement;
	double times[256];
	int i;

	for (i = 0; i < 256; i++)
		times[i] = i % 16 < 2 ? 60e6 : 1e6;
	judge_block_scan(times, 256, 512 << 10, &judgement);
	CHECK(judgement.period == 0 || judgement.period > 1 << 20, "%f", judgement.period);
}
