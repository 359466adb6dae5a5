// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which share of usual write patterns goes to the log: synthetic ones, and what ext4, xfs and a
 * database have written (traces/).  Told as results, and held against what must be so; with one
 * stream the answer must be the paper's rule's, write by write.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "ressd-route.h"
#include "ressd-pattern.h"

TEST_SUITE("shares");

#define SMALL_SECTORS	16U
#define MAX_PARTS	4
#define WRITES		16384U

/* A part of a pattern whose share is told by itself. */
struct part {
	const char *name;
	u32 writes;
	u32 small;			/* to the log, by the pattern identifier with 16 streams, */
	u32 small_one;			/* with one stream, */
	u32 adaptive;			/* and where route adaptive finds that the log costs more */
};

static struct part parts[MAX_PARTS];
static struct ressd_pattern many, one;
static struct ressd_route route;
static u64 last_end;

/* Small and random by RE section 3.3: it does not begin where the write before it ended. */
static bool papers_rule(u64 sector, u32 sectors)
{
	bool random = sector != last_end;

	last_end = sector + sectors;
	return random && sectors <= SMALL_SECTORS;
}

/* A page-mapped device: a block costs 100 us directly, 170 us through the log and home. */
static bool goes_to_log(u32 sectors)
{
	u32 blocks = (sectors + 7) / 8;
	bool log = ressd_route_small(&route, blocks, 0, 0);

	if (!log) {
		ressd_route_direct_done(&route, 100000 * blocks, blocks);
		return false;
	}
	ressd_route_log_done(&route, 20000 * blocks, blocks);
	if (ressd_route_wants_move(&route)) {
		ressd_route_move_done(&route, 150000 * RESSD_ROUTE_LOG_TRIAL,
				      RESSD_ROUTE_LOG_TRIAL);
		ressd_route_move_ended(&route, true);
	}
	return true;
}

static void note(struct part *part, u64 sector, u32 sectors)
{
	bool small = ressd_pattern_write(&many, sector, sectors, false);
	bool small_one = ressd_pattern_write(&one, sector, sectors, false);

	CHECK_EQ(small_one, papers_rule(sector, sectors));
	part->writes++;
	part->small += small;
	part->small_one += small_one;
	part->adaptive += small && goes_to_log(sectors);
}

static void begin(void)
{
	const struct ressd_pattern_options sixteen = {
		.streams = 16, .small_sectors = SMALL_SECTORS,
	};
	const struct ressd_pattern_options papers = {
		.streams = 1, .small_sectors = SMALL_SECTORS,
	};

	memset(parts, 0, sizeof(parts));
	ressd_pattern_init(&many);
	ressd_pattern_set(&many, &sixteen);
	ressd_pattern_init(&one);
	ressd_pattern_set(&one, &papers);
	ressd_route_init(&route, 0);
	last_end = ~0ULL;
}

static double percent(u32 count, u32 all)
{
	return 100.0 * count / all;
}

/* Tells the shares of @part of the pattern @name, and checks the one of 16 streams. */
static void expect(const char *name, const struct part *part, double least, double most)
{
	double share = percent(part->small, part->writes);

	printf("# result log-share/%s/streams-16 %.2f %%\n", name, share);
	printf("# result log-share/%s/streams-1 %.2f %%\n", name,
	       percent(part->small_one, part->writes));
	printf("# result log-share/%s/adaptive-where-the-log-costs-more %.2f %%\n", name,
	       percent(part->adaptive, part->writes));
	CHECK(share >= least && share <= most, "%s: %.2f %% of %u go to the log, not %g to %g",
	      name, share, part->writes, least, most);
}

/* @writers sequential writers, far from each other, take turns. */
static void interleave(u32 writers, u32 sectors)
{
	u32 i;

	begin();
	for (i = 0; i < WRITES; i++)
		note(&parts[0], (i % writers) * 100000000ULL + (u64)(i / writers) * sectors,
		     sectors);
}

TEST(sequential)
{
	interleave(1, 8);
	expect("sequential-4k", &parts[0], 0, 1);
	interleave(1, 1);
	expect("sequential-512", &parts[0], 0, 1);
	interleave(1, 1024);
	expect("sequential-512k", &parts[0], 0, 0);
}

TEST(interleaved_streams)
{
	char name[32];
	u32 writers;

	for (writers = 2; writers <= 16; writers *= 2) {
		interleave(writers, 8);
		snprintf(name, sizeof(name), "streams-%u-4k", writers);
		expect(name, &parts[0], 0, 1);
		CHECK_EQ(parts[0].small_one, parts[0].writes);
	}
	/* One more than can be followed. */
	interleave(17, 8);
	expect("streams-17-4k", &parts[0], 99, 100);
}

/* Writers that come in random order, as threads do. */
TEST(streams_in_random_order)
{
	u64 next[12] = { };
	u32 i, writer;

	begin();
	for (i = 0; i < WRITES; i++) {
		writer = test_below(12);
		note(&parts[0], writer * 100000000ULL + next[writer], 8);
		next[writer] += 8;
	}
	expect("streams-12-random-order-4k", &parts[0], 0, 2);
}

TEST(strided)
{
	u32 i;

	begin();
	for (i = 0; i < WRITES; i++)
		note(&parts[0], (u64)i * 32, 8);
	expect("strided-4k-every-16k", &parts[0], 99, 100);
}

TEST(reverse)
{
	u32 i;

	begin();
	for (i = WRITES; i; i--)
		note(&parts[0], (u64)i * 8, 8);
	expect("reverse-4k", &parts[0], 99, 100);
}

TEST(uniform_random)
{
	static const u32 sizes[] = { 1, 8, 16 };
	static const char * const names[] = { "random-512", "random-4k", "random-8k" };
	u32 i, size;

	for (size = 0; size < 3; size++) {
		begin();
		for (i = 0; i < WRITES; i++)
			note(&parts[0], test_below(65536) * 8ULL, sizes[size]);
		expect(names[size], &parts[0], 99, 100);
	}
	begin();
	for (i = 0; i < WRITES; i++)
		note(&parts[0], test_below(65536) * 8ULL, 24);
	expect("random-12k", &parts[0], 0, 0);
}

/* Eight sequential writers among as many random writes: each kind goes its own way. */
TEST(mixed)
{
	u64 next[8] = { };
	u32 i;

	begin();
	for (i = 0; i < WRITES; i++) {
		u32 writer = i / 2 % 8;

		if (i % 2) {
			note(&parts[1], (1ULL << 40) + test_below(1 << 20) * 8ULL, 8);
			continue;
		}
		note(&parts[0], writer * 100000000ULL + next[writer], 8);
		next[writer] += 8;
	}
	expect("mixed-8-streams", &parts[0], 0, 1);
	expect("mixed-random", &parts[1], 99, 100);
}

/* A log that is written in pieces of less than a page: the last page again and again. */
TEST(page_rewritten_until_full)
{
	u32 page, i;

	begin();
	for (page = 0; page < WRITES / 4; page++)
		for (i = 0; i < 4; i++)
			note(&parts[0], page * 8ULL, 8);
	expect("append-page-four-times", &parts[0], 70, 76);
}

/* The regions of a trace: parts 0 .. nr - 1; whatever lies in none is part nr. */
struct region {
	struct part *part;
	u64 first, last;
};

struct trace {
	struct region regions[64];
	u32 nr_regions;
	u32 nr_parts;
	char names[MAX_PARTS][16];
};

static struct part *part_named(struct trace *trace, const char *name)
{
	u32 i;

	for (i = 0; i < trace->nr_parts; i++)
		if (!strcmp(trace->names[i], name))
			return &parts[i];
	CHECK(i < MAX_PARTS - 1, "the trace has too many names");
	strcpy(trace->names[trace->nr_parts++], name);
	return &parts[i];
}

static struct part *part_at(struct trace *trace, u64 sector)
{
	u32 i;

	for (i = 0; i < trace->nr_regions; i++)
		if (sector >= trace->regions[i].first && sector <= trace->regions[i].last)
			return trace->regions[i].part;
	return &parts[trace->nr_parts];
}

/* Plays a trace; returns the number of its writes. */
static u32 play(const char *path, struct trace *trace)
{
	unsigned long long first, last;
	char line[128], name[16];
	u32 sectors, writes = 0;
	FILE *file = fopen(path, "r");

	CHECK(file, "%s cannot be opened", path);
	memset(trace, 0, sizeof(*trace));
	begin();
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		if (sscanf(line, "region %15s %llu %llu", name, &first, &last) == 3) {
			struct region *region = &trace->regions[trace->nr_regions++];

			CHECK(trace->nr_regions < 64, "%s has too many regions", path);
			region->part = part_named(trace, name);
			region->first = first;
			region->last = last;
			continue;
		}
		CHECK(sscanf(line, "%llu %u", &first, &sectors) == 2, "%s: '%s'", path, line);
		note(part_at(trace, first), first, sectors);
		writes++;
	}
	fclose(file);
	return writes;
}

/*
 * Journals are written in order, so they pass by the log.  New files are, too: the allocators put
 * them one behind the other, in as many places as there are groups.
 */
TEST(journal_of_ext4)
{
	struct trace trace;

	CHECK(play(TRACES "/ext4.trace", &trace) > 1000, "too few writes");
	CHECK_STR(trace.names[0], "journal");
	expect("ext4-journal", &parts[0], 0, 2);
	expect("ext4-files", &parts[1], 0, 6);
}

TEST(journal_of_xfs)
{
	struct trace trace;

	CHECK(play(TRACES "/xfs.trace", &trace) > 500, "too few writes");
	CHECK_STR(trace.names[0], "journal");
	expect("xfs-journal", &parts[0], 0, 2);
	expect("xfs-files", &parts[1], 0, 20);
}

/*
 * A frame is 24 bytes longer than a page, so every transaction writes the page again in which the
 * one before it ended: those writes are random, the rest of the log is not.  What a checkpoint
 * brings to its place is.
 */
TEST(database_with_write_ahead_log)
{
	struct trace trace;

	CHECK(play(TRACES "/wal.trace", &trace) > 1000, "too few writes");
	CHECK_STR(trace.names[0], "journal");
	CHECK_STR(trace.names[1], "log");
	CHECK_STR(trace.names[2], "pages");
	expect("wal-journal", &parts[0], 0, 2);
	expect("wal-log", &parts[1], 20, 34);
	expect("wal-pages", &parts[2], 99, 100);
}
