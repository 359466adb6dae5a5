// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the mechanisms of page mapping, of a parallel firmware and of the buffers
 * beyond a simple one: what a known state and a known command must cost.
 */
#include <string.h>

#include "test.h"

#define US	1000ULL
#define PAGE	8U	/* sectors of a page */

/* Two dies on two buses with round times: 40 us a page over a bus. */
static const char test_profile[] =
	"capacity_mb=8 channels=1 planes=1 channel_sets=2 ways=1 die_sets=2 block_pages=16\n"
	"page_bytes=4096 spare_bytes=0 read_ns=20000 program_ns=200000 erase_ns=1000000\n"
	"bus_read_ps=10000 bus_write_ps=10000 ftl=page firmware=parallel read_buffer_kb=0\n"
	"write_buffer_kb=32 command_ns=5000 host_read_ns=0 interface_mb_s=1000 check=1\n"
	"write_buffer_idle_us=0 overprovision_ppm=100000 gc_threshold_ppm=0\n";

#define BUS_NS		40960ULL
#define LINK_NS		4096ULL
#define READ_NS		(20 * US + BUS_NS)
#define COMMAND_NS	(5 * US)

#include "drive-test.h"

static u64 fill(struct ssd_drive *drive, u64 now, u32 first, u32 pages)
{
	u32 page;

	for (page = first; page < first + pages; page++)
		now = ssd_drive_write(drive, now, (u64)page * PAGE, PAGE, false);
	return ssd_drive_flush(drive, now);
}

/* Pages 0 and 1 were filled on different dies, 0 and 2 on the same one. */
static u64 two_reads(struct ssd_drive *drive, u32 second)
{
	u64 now = later(0), a = ssd_drive_read(drive, now, 0, PAGE);
	u64 b = ssd_drive_read(drive, now, second * PAGE, PAGE);

	return max(a, b) - now;
}

DRIVE_TEST(queued_reads_overlap_on_dies, "queue_depth=2")
{
	u64 both = two_reads(drive, 1), expected = 2 * COMMAND_NS + READ_NS + LINK_NS;

	EXPECT(both == expected, "two reads took %llu ns, not %llu", (unsigned long long)both,
	       (unsigned long long)expected);
}

DRIVE_TEST(queued_reads_wait_for_a_die, "queue_depth=2")
{
	u64 both = two_reads(drive, 2), expected = COMMAND_NS + 2 * READ_NS + LINK_NS;

	EXPECT(both == expected, "two reads took %llu ns, not %llu", (unsigned long long)both,
	       (unsigned long long)expected);
}

DRIVE_TEST(unqueued_reads_do_not_overlap, "queue_depth=1")
{
	u64 both = two_reads(drive, 1), expected = 2 * (COMMAND_NS + READ_NS + LINK_NS);

	EXPECT(both == expected, "two reads took %llu ns, not %llu", (unsigned long long)both,
	       (unsigned long long)expected);
}

DRIVE_TEST(one_bus_is_shared, "queue_depth=2 channel_sets=1")
{
	u64 both = two_reads(drive, 1), expected = COMMAND_NS + READ_NS + BUS_NS + LINK_NS;

	EXPECT(both == expected, "two reads took %llu ns, not %llu", (unsigned long long)both,
	       (unsigned long long)expected);
}

/* A short read finds a gap between the transfers that were planned before it. */
DRIVE_TEST(a_bus_is_taken_between_reservations, "")
{
	struct ssd_bus *bus = &drive->nand.bus[0];

	EXPECT(ssd_bus_reserve(bus, 1000, 100) == 1000, "the first is not where it was asked for");
	EXPECT(ssd_bus_reserve(bus, 1200, 100) == 1200, "the second is not either");
	EXPECT(ssd_bus_reserve(bus, 1000, 100) == 1100, "the gap was not found");
	EXPECT(ssd_bus_reserve(bus, 900, 200) == 1300, "a reservation overlaps");
	EXPECT(bus->spans == 1, "%u spans, but they all touch", bus->spans);
}

DRIVE_TEST(garbage_is_reclaimed_without_copies, "")
{
	u64 now = 0;
	u32 pass;

	for (pass = 0; pass < 6; pass++)
		now = fill(drive, now, 0, drive->geometry.pages);
	EXPECT(drive->ftl->counters.gc_blocks > 4 * drive->geometry.data_blocks,
	       "%llu blocks collected", (unsigned long long)drive->ftl->counters.gc_blocks);
	EXPECT(drive->ftl->counters.gc_copies < 2 * drive->geometry.pages / 10,
	       "%llu copies although whole blocks are rewritten",
	       (unsigned long long)drive->ftl->counters.gc_copies);
}

/* Write amplification of uniform random writes, after the drive has been written over twice. */
static double amplification(const char *overrides)
{
	struct ssd_drive *drive = make_drive(overrides);
	u32 i, writes = 2 * drive->geometry.pages;
	u64 now = 0;
	double result;

	for (i = 0; i < 2 * writes; i++) {
		if (i == writes)
			ssd_drive_reset_counters(drive);
		now = ssd_drive_write(drive, now, (u64)random_number(drive->geometry.pages) * PAGE,
				      PAGE, false);
	}
	ssd_drive_flush(drive, now);
	result = (double)drive->nand.programs / writes;
	finish(drive);
	return result;
}

/* Greedy collection of uniform writes copies about as theory says, and less with more room. */
static void more_room_means_fewer_copies(void)
{
	double little = amplification("overprovision_ppm=100000");
	double much = amplification("overprovision_ppm=300000");

	EXPECT(little > 2.5 && little < 6, "10 %% to spare: %.2f programs a write", little);
	EXPECT(much > 1.1 && much < 2.2, "30 %% to spare: %.2f programs a write", much);
}

/* With an idle host the set has erased blocks again before the next write. */
DRIVE_TEST(garbage_is_collected_when_idle, "gc_threshold_ppm=60000")
{
	u64 now = fill(drive, 0, 0, drive->geometry.pages), copies, blocks;
	u32 i;

	for (i = 0; i < drive->geometry.pages; i++)
		now = ssd_drive_write(drive, now, (u64)random_number(drive->geometry.pages) * PAGE,
				      PAGE, false);
	now = later(ssd_drive_flush(drive, now));
	ssd_drive_read(drive, now, 0, PAGE);
	copies = drive->nand.copies;
	blocks = drive->nand.erases;
	now = ssd_drive_write(drive, later(now), 0, PAGE, false);
	ssd_drive_flush(drive, now);
	EXPECT(copies && drive->nand.copies == copies && drive->nand.erases == blocks,
	       "a single write after a pause had to wait for garbage collection");
}

#define ONE_DIE "die_sets=1 channel_sets=1 "

/* In an MLC block of 16 rows the rows 2, 4 ... 14 and 15 are slow. */
DRIVE_TEST(slow_pages_take_longer, ONE_DIE "program_slow_ns=700000 write_cache=0 prefill=0")
{
	u64 now = later(0), took;
	u32 row;

	for (row = 0; row < 16; row++) {
		bool slow = (row && row % 2 == 0) || row == 15;

		took = ssd_drive_write(drive, now, (u64)row * PAGE, PAGE, false) - now;
		EXPECT(took == COMMAND_NS + LINK_NS + BUS_NS + (slow ? 700 * US : 200 * US),
		       "row %u took %llu ns", row, (unsigned long long)took);
		now = later(now);
	}
}

DRIVE_TEST(map_misses_cost_reads, "map_cache_pages=1 capacity_mb=16 prefill=1")
{
	u64 now = later(0), hit, miss;

	/* A page of the map covers 1024 pages of 4 KB: the drive has four of them. */
	now = later(ssd_drive_read(drive, now, 0, PAGE));
	hit = ssd_drive_read(drive, now, 3 * PAGE, PAGE) - now;
	now = later(now);
	miss = ssd_drive_read(drive, now, 2048 * PAGE, PAGE) - now;
	EXPECT(hit == COMMAND_NS + READ_NS + LINK_NS, "a hit took %llu ns",
	       (unsigned long long)hit);
	EXPECT(miss == hit + READ_NS, "a miss took %llu ns", (unsigned long long)miss);
	now = fill(drive, later(now), 0, 1);
	EXPECT(!drive->ftl->counters.map_writes, "a clean map page was written");
	fill(drive, now, 2048, 1);
	EXPECT(drive->ftl->counters.map_writes == 1, "%llu map pages were written",
	       (unsigned long long)drive->ftl->counters.map_writes);
}

DRIVE_TEST(prefetched_pages_are_there, "read_buffer_kb=64 prefetch_pages=2")
{
	u64 now = later(0), took;

	now = later(ssd_drive_read(drive, now, 0, PAGE));
	EXPECT(drive->counters.prefetch_reads == 2, "%llu pages prefetched",
	       (unsigned long long)drive->counters.prefetch_reads);
	took = ssd_drive_read(drive, now, PAGE, PAGE) - now;
	EXPECT(took == COMMAND_NS + LINK_NS, "a prefetched page took %llu ns",
	       (unsigned long long)took);
	EXPECT(drive->counters.read_buffer_hits == 1, "it was not found in the buffer");
}

/* The read that follows at once waits for the prefetch, no longer. */
DRIVE_TEST(prefetched_pages_take_their_time, ONE_DIE "read_buffer_kb=64 prefetch_pages=1")
{
	u64 now = later(0), end = ssd_drive_read(drive, now, 0, PAGE);
	u64 second = ssd_drive_read(drive, end, PAGE, PAGE);

	EXPECT(second == now + COMMAND_NS + 2 * READ_NS + LINK_NS, "both took %llu ns",
	       (unsigned long long)(second - now));
}

DRIVE_TEST(partial_reads_move_what_they_want, "planes=2 partial_read=1")
{
	u64 now = later(0), one = ssd_drive_read(drive, now, 0, 8) - now, two;

	now = later(now);
	two = ssd_drive_read(drive, now, 2 * 16, 16) - now;
	EXPECT(one == COMMAND_NS + READ_NS + LINK_NS, "half a page took %llu ns",
	       (unsigned long long)one);
	EXPECT(two == one + BUS_NS, "a page took %llu ns", (unsigned long long)two);
}

DRIVE_TEST(partial_updates_read_nothing, "partial_update=1")
{
	u64 now = ssd_drive_write(drive, later(0), 0, 1, false);

	ssd_drive_flush(drive, now);
	EXPECT(!drive->nand.reads && drive->nand.programs == 1, "%llu reads, %llu programs",
	       (unsigned long long)drive->nand.reads, (unsigned long long)drive->nand.programs);
}

#define CACHE "write_buffer_match=all write_buffer_order=lru write_buffer_drain=room "

/* Eight pages fit; those used most stay, and nothing is written before it must be. */
DRIVE_TEST(a_cache_keeps_what_is_used, CACHE)
{
	u64 now = later(0);
	u32 page;

	for (page = 0; page < 8; page++)
		now = ssd_drive_write(drive, now, page * PAGE, PAGE, false);
	now = ssd_drive_write(drive, later(now), 0, PAGE, false);
	EXPECT(!drive->nand.programs, "it was drained although there was room");
	now = ssd_drive_write(drive, now, 100 * PAGE, PAGE, false);
	EXPECT(drive->nand.programs == 1, "%llu programs",
	       (unsigned long long)drive->nand.programs);
	now = later(ssd_drive_read(drive, now, 0, PAGE));
	EXPECT(drive->counters.write_buffer_hits == 1, "the page used last had to go");
	ssd_drive_read(drive, now, PAGE, PAGE);
	EXPECT(drive->counters.write_buffer_hits == 1, "the page not used for longest stayed");
}

/* The map cache is empty after a power cut, but what it had to program is not forgotten. */
DRIVE_TEST(power_cut_empties_the_map_cache, "map_cache_pages=2 capacity_mb=16 write_cache=0")
{
	u64 now = later(fill(drive, 0, 0, 1)), reads;

	/* The first map page is in RAM, changed; the second one, too, not changed. */
	now = later(ssd_drive_read(drive, now, 1024 * PAGE, PAGE));
	reads = drive->ftl->counters.map_reads;
	now = later(ssd_drive_read(drive, now, 3 * PAGE, PAGE));
	EXPECT(drive->ftl->counters.map_reads == reads, "the map page was not in RAM");
	ssd_drive_power_cycle(drive, now, now);
	now = later(ssd_drive_read(drive, now, 1024 * PAGE, PAGE));
	now = later(ssd_drive_read(drive, now, 3 * PAGE, PAGE));
	EXPECT(drive->ftl->counters.map_reads == reads + 2, "%llu map pages were read",
	       (unsigned long long)(drive->ftl->counters.map_reads - reads));
	/* The changed one must be programmed when it has to go, the other one not. */
	now = later(ssd_drive_read(drive, now, 2048 * PAGE, PAGE));
	EXPECT(!drive->ftl->counters.map_writes, "a clean map page was programmed");
	ssd_drive_read(drive, now, 3072 * PAGE, PAGE);
	EXPECT(drive->ftl->counters.map_writes == 1, "%llu map pages were programmed",
	       (unsigned long long)drive->ftl->counters.map_writes);
}

DRIVE_TEST(power_cut_empties_the_read_buffer, "read_buffer_kb=64 prefetch_pages=2")
{
	u64 now = later(ssd_drive_read(drive, later(0), 0, PAGE)), took;

	EXPECT(drive->counters.prefetch_reads == 2, "nothing was prefetched");
	ssd_drive_power_cycle(drive, now, now);
	took = ssd_drive_read(drive, now, PAGE, PAGE) - now;
	EXPECT(took == COMMAND_NS + READ_NS + LINK_NS && !drive->counters.read_buffer_hits,
	       "a prefetched page took %llu ns after a power cut", (unsigned long long)took);
}

/* Neither what is buffered nor the command under way delays the host after a power cut. */
DRIVE_TEST(power_cut_empties_the_write_buffer, "write_buffer_idle_us=1000000")
{
	u64 now = later(0), end, took;

	end = ssd_drive_write(drive, now, 0, 8 * PAGE, false);
	ssd_drive_power_cycle(drive, now + 1, now + 2);
	EXPECT(now + 2 < end, "the write ended before the cut");
	took = ssd_drive_write(drive, now + 2, 8 * PAGE, 8 * PAGE, false) - (now + 2);
	EXPECT(took == COMMAND_NS + 8 * LINK_NS, "the write took %llu ns",
	       (unsigned long long)took);
	EXPECT(!drive->nand.programs, "what was lost was programmed");
	ssd_drive_flush(drive, later(now));
	EXPECT(drive->nand.programs == 8, "%llu pages were programmed",
	       (unsigned long long)drive->nand.programs);
}

/* Garbage is collected before the cut and after it, but not while there is no power. */
DRIVE_TEST(no_work_without_power, "gc_threshold_ppm=60000")
{
	u64 now = fill(drive, 0, 0, drive->geometry.pages), copies, on;
	u32 i;

	for (i = 0; i < drive->geometry.pages; i++)
		now = ssd_drive_write(drive, now, (u64)random_number(drive->geometry.pages) * PAGE,
				      PAGE, false);
	now = ssd_drive_flush(drive, now);
	ssd_drive_nothing(drive, now);
	copies = drive->nand.copies;
	on = later(now);
	ssd_drive_power_cycle(drive, now, on);
	ssd_drive_nothing(drive, on);
	EXPECT(drive->nand.copies == copies, "%llu pages were copied while the power was off",
	       (unsigned long long)(drive->nand.copies - copies));
	ssd_drive_power_cycle(drive, later(on), later(later(on)));
	EXPECT(drive->nand.copies > copies, "nothing was copied while the power was on");
}

/* Every 16th page opens a block, whose erase its write waits for; the others take 200 us. */
DRIVE_TEST(a_block_is_erased_when_it_is_opened, ONE_DIE "erase_on_open=1 write_cache=0 prefill=0")
{
	u64 now = later(0);
	u32 page;

	for (page = 0; page < 5 * 16; page++) {
		const u64 took = ssd_drive_write(drive, now, page % 16 * PAGE, PAGE, false) - now;
		const u64 expected = COMMAND_NS + LINK_NS + BUS_NS + 200 * US +
				     (page % 16 ? 0 : 1000 * US);

		EXPECT(took == expected, "page %u took %llu ns, not %llu", page,
		       (unsigned long long)took, (unsigned long long)expected);
		now = later(now);
	}
	EXPECT(drive->nand.erases == 5, "%llu erases", (unsigned long long)drive->nand.erases);
}

/* 20,000 pages, now and then a pause of at most @pause ns, and a few power cuts. */
static void write_anywhere(struct ssd_drive *drive, u64 pause)
{
	u64 now = 0;
	u32 i;

	for (i = 0; i < 20000; i++) {
		now = ssd_drive_write(drive, now, (u64)random_number(drive->geometry.pages) * PAGE,
				      PAGE, false);
		if (!random_number(300))
			now += (u64)random_number(pause / US) * US;
		if (!random_number(2000))
			ssd_drive_power_cycle(drive, now, now + 1);
	}
}

/* When a block is erased changes nothing about what is copied; finish() looks at the map. */
DRIVE_TEST(erasing_late_loses_nothing, "erase_on_open=1 gc_threshold_ppm=60000")
{
	double early, late;

	write_anywhere(drive, 40000 * US);
	random_seed(1);
	early = amplification("overprovision_ppm=100000");
	random_seed(1);
	late = amplification("overprovision_ppm=100000 erase_on_open=1");
	EXPECT(late > 0.97 * early && late < 1.03 * early,
	       "%.2f programs a write, %.2f with early erases", late, early);
}

/* A pseudo-SLC area of 256 pages in blocks of 8, on both dies. */
#define SLC		"slc_mb=1 slc_program_ns=50000"
#define SLC_PAGES	256U

static u64 counter(const struct ssd_drive *drive, bool copies)
{
	return copies ? drive->ftl->counters.slc_copies : drive->ftl->counters.slc_programs;
}

/* A page that is written and flushed alone, and waits for nothing. */
static u64 flushed_write(struct ssd_drive *drive, u64 now, u32 page)
{
	return ssd_drive_flush(drive, ssd_drive_write(drive, now, (u64)page * PAGE, PAGE, false)) -
	       now;
}

DRIVE_TEST(the_pseudo_slc_area_is_faster, SLC)
{
	struct ssd_drive *plain = make_drive("");
	u64 fast = flushed_write(drive, later(0), 7), slow = flushed_write(plain, later(0), 7);

	EXPECT(slow - fast == 150 * US, "%llu ns faster, not %llu",
	       (unsigned long long)(slow - fast), (unsigned long long)(150 * US));
	finish(plain);
}

DRIVE_TEST(a_full_pseudo_slc_area_is_passed_by, SLC)
{
	u64 now = fill(drive, 0, 0, SLC_PAGES), took;

	EXPECT(counter(drive, false) == SLC_PAGES, "it took %llu pages",
	       (unsigned long long)counter(drive, false));
	took = flushed_write(drive, now, SLC_PAGES);
	EXPECT(counter(drive, false) == SLC_PAGES && took > 200 * US,
	       "the next one went there, too, or took only %llu ns", (unsigned long long)took);
	EXPECT(!counter(drive, true), "the host was never idle, but pages were folded");
}

DRIVE_TEST(the_pseudo_slc_area_is_folded_when_idle, SLC)
{
	u64 now = fill(drive, 0, 0, SLC_PAGES), took;

	/* Half of them are written once more, straight to the other blocks. */
	now = fill(drive, now, 0, SLC_PAGES / 2);
	ssd_drive_nothing(drive, now + 50000 * US);
	EXPECT(!counter(drive, true), "folding did not wait for the host to be idle");
	now = later(now);
	ssd_drive_nothing(drive, now);
	/* A block that is open on each die is not folded. */
	EXPECT(counter(drive, true) >= SLC_PAGES / 2 - 16 && counter(drive, true) <= SLC_PAGES / 2,
	       "%llu pages were folded", (unsigned long long)counter(drive, true));
	took = flushed_write(drive, later(now), 9);
	EXPECT(took < 200 * US, "a write after it took %llu ns", (unsigned long long)took);
}

/* finish() then compares the map with the NAND. */
DRIVE_TEST(the_pseudo_slc_area_loses_nothing, SLC " die_sets=4 overprovision_ppm=50000")
{
	write_anywhere(drive, 400000 * US);
	EXPECT(counter(drive, true) && counter(drive, false) > counter(drive, true),
	       "%llu pages went in, %llu were folded", (unsigned long long)counter(drive, false),
	       (unsigned long long)counter(drive, true));
}

const struct test page_tests[] = {
	{ "queued reads of two dies overlap", queued_reads_overlap_on_dies },
	{ "queued reads of one die follow each other", queued_reads_wait_for_a_die },
	{ "without a queue reads do not overlap", unqueued_reads_do_not_overlap },
	{ "two dies on one bus share it", one_bus_is_shared },
	{ "a bus is taken between reservations", a_bus_is_taken_between_reservations },
	{ "rewriting in order leaves garbage without copies", garbage_is_reclaimed_without_copies },
	{ "more over-provisioning means fewer copies", more_room_means_fewer_copies },
	{ "garbage is collected while the host is idle", garbage_is_collected_when_idle },
	{ "slow pages of an MLC block take longer", slow_pages_take_longer },
	{ "a block is erased when it is opened", a_block_is_erased_when_it_is_opened },
	{ "erasing late loses nothing", erasing_late_loses_nothing },
	{ "a map page not in RAM costs a read, a changed one a program", map_misses_cost_reads },
	{ "prefetched pages are read from RAM", prefetched_pages_are_there },
	{ "prefetching takes the time of the reads", prefetched_pages_take_their_time },
	{ "a partial read moves only what it wants", partial_reads_move_what_they_want },
	{ "partial_update=1 writes parts without reading", partial_updates_read_nothing },
	{ "an associative cache keeps what is used", a_cache_keeps_what_is_used },
	{ "a power cut empties the map cache", power_cut_empties_the_map_cache },
	{ "a power cut empties the read buffer", power_cut_empties_the_read_buffer },
	{ "a power cut empties the write buffer", power_cut_empties_the_write_buffer },
	{ "no work is done without power", no_work_without_power },
	{ "programs of the pseudo-SLC area are faster", the_pseudo_slc_area_is_faster },
	{ "a full pseudo-SLC area is passed by", a_full_pseudo_slc_area_is_passed_by },
	{ "the pseudo-SLC area is folded when the host is idle",
	  the_pseudo_slc_area_is_folded_when_idle },
	{ "the pseudo-SLC area loses nothing", the_pseudo_slc_area_loses_nothing },
	{ NULL, NULL },
};
