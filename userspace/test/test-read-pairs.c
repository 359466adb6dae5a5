// SPDX-License-Identifier: GPL-2.0-only
/* Reads in pairs on a made-up card: what it remembers is found, and no search outlasts its time. */
#include <string.h>
#include "disk-clock.h"
#include "find/survey.h"
#include "harness.h"

const char test_suite[] = "probe-read-pairs";

#define BLOCKS		262144U		/* 1 GiB */
#define BLOCK		4096U
#define SECOND		1000000000ULL

/* A card that remembers the blocks it read last, and, where it reads ahead, those behind them. */
static struct {
	u64 byte_ns;		/* of every read */
	u64 miss_ns;		/* more, of one that begins with a block not remembered */
	u64 remembered;		/* blocks */
	u64 ahead;		/* blocks */
	u32 odd;		/* so many reads in a hundred take the other time */
	u64 brought;		/* blocks so far */
	u64 when[BLOCKS];	/* ->brought when it came, plus one; 0: never */
	u32 random;
} card;

static struct measure measure;
static struct survey survey;
static struct failure failure;

static void bring(u64 block)
{
	if (block < BLOCKS)
		card.when[block] = ++card.brought;
}

static bool is_odd(void)
{
	card.random = card.random * 1664525U + 1013904223U;
	return (card.random >> 8) % 100 < card.odd;
}

static int card_read(struct disk *disk, u64 offset, void *data, u32 bytes, u64 *ns,
		     struct failure *why)
{
	const u64 first = offset / BLOCK, end = (offset + bytes) / BLOCK;
	const bool remembered = card.when[first] &&
				card.brought - card.when[first] < card.remembered;
	u64 block;

	(void)disk;
	(void)data;
	(void)why;
	for (block = first; block < end + (remembered ? 0 : card.ahead); block++)
		bring(block);
	return disk_spend(ns, bytes * card.byte_ns +
			      (remembered == is_odd() ? card.miss_ns : 0));
}

/* 100 MB/s, 0.4 ms for a miss; nothing is uncertain and nothing read ahead. */
static void new_card(u64 remembered)
{
	memset(&card, 0, sizeof(card));
	disk_clock = 0;
	card.byte_ns = 10;
	card.miss_ns = 400000;
	card.remembered = remembered;
}

/* Runs one search for at most @ns (0: for as long as it takes); the seconds that it took. */
static double seconds_of(int (*find)(struct survey *survey, struct failure *failure), u64 ns)
{
	static const struct disk_ops ops = {
		.read = card_read, .pause = disk_pause, .now = disk_now,
	};
	struct disk disk = { .ops = &ops, .path = "a test card", .granule = 512 };

	measure_interrupted = false;
	measure = (struct measure){ .disk = &disk, .bytes = BLOCKS * (u64)BLOCK };
	CHECK(!measure_init(&measure, &failure), "%s", failure.text);
	survey = (struct survey){ .measure = &measure, .deadline = ns };
	CHECK(!find(&survey, &failure), "%s", failure.text);
	measure_release(&measure);
	return (double)disk_clock / SECOND;
}

TEST(what_is_remembered_is_found)
{
	const struct finding *finding = &survey.finding[PARAMETER_READ_BUFFER];

	new_card(512);
	seconds_of(find_read_buffer, 0);
	CHECK_EQ(finding->status, STATUS_BOUNDED);
	CHECK(finding->low <= 512 * BLOCK && finding->high >= 512 * BLOCK, "%llu to %llu: %s",
	      finding->low, finding->high, finding->why);
}

TEST(what_is_read_ahead_is_found)
{
	const struct finding *finding = &survey.finding[PARAMETER_PREFETCH];

	new_card(512);
	card.ahead = 32;
	seconds_of(find_prefetch, 0);
	CHECK_EQ(finding->status, STATUS_BOUNDED);
	CHECK(finding->low <= 32 * BLOCK && finding->high >= 32 * BLOCK, "%llu to %llu: %s",
	      finding->low, finding->high, finding->why);
}

static void check_no_time(const struct finding *finding)
{
	CHECK_EQ(finding->status, STATUS_INCONCLUSIVE);
	CHECK(strstr(finding->why, "no time was left"), "%s", finding->why);
}

/*
 * Each question of whether a read is remembered was asked to its end, a hundred times 16 MB, and
 * however late it was: an SD card that remembers all and whose reads differ much held up the probe
 * for minutes, --quick too.
 */
TEST(a_search_of_the_read_buffer_keeps_its_time)
{
	double took;

	new_card(BLOCKS);
	card.byte_ns = 200;
	card.odd = 20;
	took = seconds_of(find_read_buffer, 20 * SECOND);
	/* The last pair may have begun in time: 32 MB at 5 MB/s. */
	CHECK(took < 27, "%.1f s", took);
	check_no_time(&survey.finding[PARAMETER_READ_BUFFER]);
}

/* What is remembered was settled in time, but not in what unit, or whether S bytes twice agree. */
TEST(the_end_of_a_search_of_the_read_buffer_keeps_its_time)
{
	u64 whole, deadline;
	double took;

	new_card(BLOCKS);
	card.byte_ns = 100;
	whole = seconds_of(find_read_buffer, 0);
	for (deadline = 1; deadline < whole; deadline++) {
		new_card(BLOCKS);
		card.byte_ns = 100;
		took = seconds_of(find_read_buffer, deadline * SECOND);
		/* 36 MB twice. */
		CHECK(took < deadline + 7.6, "%.1f s, not %llu", took, deadline);
	}
}

TEST(a_search_of_prefetching_keeps_its_time)
{
	u64 deadline;
	double took;

	for (deadline = 1; deadline < 60; deadline++) {
		new_card(BLOCKS);
		card.ahead = 900;
		card.odd = 30;
		took = seconds_of(find_prefetch, deadline * SECOND / 2);
		CHECK(took < deadline / 2.0 + 0.1, "%.1f s, not %.1f", took, deadline / 2.0);
		if (took >= deadline / 2.0)
			check_no_time(&survey.finding[PARAMETER_PREFETCH]);
	}
}
