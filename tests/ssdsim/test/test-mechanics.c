// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of single mechanisms: what a known state and a known command must cost.
 * The drive of these tests has clustered pages of 8 KB (2 channels), blocks of
 * 32 pages (4 ways x 8 rows) and simple round times.
 */
#include <string.h>

#include "test.h"

#define US		1000ULL
#define PAGE		16U		/* sectors of a clustered page */
#define BLOCK		(32U * PAGE)	/* sectors of a clustered block */

/* Times of the test drive. */
#define READ_NS		(20 * US)
#define PROGRAM_NS	(200 * US)
#define ERASE_NS	(1000 * US)
#define BUS_READ_NS	(4000 * 10ULL)
#define BUS_WRITE_NS	(4000 * 20ULL)
#define COMMAND_NS	(5 * US)
#define HOST_READ_NS	(7 * US)
#define TRANSFER_NS(sectors)	((sectors) * 512 * 10ULL)

static const char test_profile[] =
	"capacity_mb=16 channels=2 planes=1 ways=4 die_sets=2 block_pages=8 page_bytes=4096\n"
	"spare_bytes=0 read_ns=20000 program_ns=200000 erase_ns=1000000 bus_read_ps=10000\n"
	"bus_write_ps=20000 copyback=1 log_blocks=3 log_restart=0 read_buffer_kb=16\n"
	"write_buffer_kb=32 command_ns=5000 host_read_ns=7000 interface_mb_s=100 check=1\n"
	"write_buffer_idle_us=0\n";

#define SMALL_BUS(ns)	((ns) * 4096 / 4000)

#include "drive-test.h"

static u64 write_block(struct ssd_drive *drive, u64 now, u32 block, u32 first, u32 pages)
{
	u32 page;

	for (page = first; page < first + pages; page++)
		now = ssd_drive_write(drive, now, block * BLOCK + page * PAGE, PAGE, false);
	return ssd_drive_flush(drive, now);
}

/* Push all log blocks out by single-page writes to other blocks. */
static u64 use_other_logs(struct ssd_drive *drive, u64 now)
{
	u32 block;

	for (block = 10; block < 10 + drive->geometry.log_blocks; block++)
		now = write_block(drive, now, block, 5, 1);
	return now;
}

DRIVE_TEST(read_costs_one_page, "")
{
	u64 miss = COMMAND_NS + HOST_READ_NS + READ_NS + SMALL_BUS(BUS_READ_NS) + TRANSFER_NS(8);
	u64 hit = COMMAND_NS + TRANSFER_NS(8);
	u64 now = later(0), end = ssd_drive_read(drive, now, 1000 * PAGE, 8);

	EXPECT(end - now == miss, "a miss took %llu ns, not %llu",
	       (unsigned long long)(end - now), (unsigned long long)miss);
	now = later(end);
	end = ssd_drive_read(drive, now, 1000 * PAGE + 8, 8);
	EXPECT(end - now == hit, "a hit took %llu ns, not %llu",
	       (unsigned long long)(end - now), (unsigned long long)hit);
	EXPECT(drive->counters.read_buffer_hits == 1 && drive->nand.reads == 1,
	       "%llu hits, %llu reads", (unsigned long long)drive->counters.read_buffer_hits,
	       (unsigned long long)drive->nand.reads);
	/* 16 KB are two pages: the third page displaces the first. */
	end = ssd_drive_read(drive, end, 2000 * PAGE, 2 * PAGE);
	ssd_drive_read(drive, end, 1000 * PAGE, 8);
	EXPECT(drive->nand.reads == 4, "%llu reads", (unsigned long long)drive->nand.reads);
}

DRIVE_TEST(long_read_is_a_pipeline, "read_buffer_kb=0")
{
	u64 page_ns = max(SMALL_BUS(BUS_READ_NS), TRANSFER_NS(PAGE));
	u64 expected = COMMAND_NS + HOST_READ_NS + READ_NS + SMALL_BUS(BUS_READ_NS) +
		       7 * page_ns + TRANSFER_NS(PAGE);
	u64 now = later(0), end = ssd_drive_read(drive, now, 0, 8 * PAGE);

	EXPECT(end - now == expected, "took %llu ns, not %llu",
	       (unsigned long long)(end - now), (unsigned long long)expected);
}

DRIVE_TEST(unwritten_pages_cost_no_nand, "prefill=0")
{
	u64 now = later(0);
	u64 end = ssd_drive_read(drive, now, 0, PAGE);

	EXPECT(end - now == COMMAND_NS + TRANSFER_NS(PAGE), "took %llu ns",
	       (unsigned long long)(end - now));
	end = ssd_drive_write(drive, end, 0, 8, false);
	ssd_drive_flush(drive, end);
	EXPECT(!drive->nand.reads && drive->nand.programs == 1, "%llu reads, %llu programs",
	       (unsigned long long)drive->nand.reads, (unsigned long long)drive->nand.programs);
}

DRIVE_TEST(partial_write_is_completed, "")
{
	u64 accept = COMMAND_NS + TRANSFER_NS(8);
	u64 flush = COMMAND_NS + READ_NS + SMALL_BUS(BUS_READ_NS) + SMALL_BUS(BUS_WRITE_NS) +
		    PROGRAM_NS;
	u64 now = later(0), end = ssd_drive_write(drive, now, 0, 8, false);

	EXPECT(end - now == accept, "the write took %llu ns", (unsigned long long)(end - now));
	now = later(end);
	end = ssd_drive_flush(drive, now);
	EXPECT(end - now == flush, "the flush took %llu ns, not %llu",
	       (unsigned long long)(end - now), (unsigned long long)flush);
	EXPECT(drive->counters.rmw_reads == 1, "no read-modify-write");
	now = later(end);
	end = ssd_drive_flush(drive, now);
	EXPECT(end - now == COMMAND_NS, "an empty flush took %llu ns",
	       (unsigned long long)(end - now));
}

DRIVE_TEST(adjacent_writes_become_pages, "")
{
	u64 now = 0;
	u32 sector;

	for (sector = 0; sector < 2 * PAGE; sector += 4)
		now = ssd_drive_write(drive, now, sector, 4, false);
	ssd_drive_flush(drive, now);
	EXPECT(drive->nand.programs == 2 && !drive->nand.reads, "%llu programs, %llu reads",
	       (unsigned long long)drive->nand.programs, (unsigned long long)drive->nand.reads);
	EXPECT(drive->counters.write_buffer_merges == 6, "%llu writes joined",
	       (unsigned long long)drive->counters.write_buffer_merges);
}

/* Two halves of a page with another write between them. */
static u64 interleaved(struct ssd_drive *drive)
{
	/* A long command keeps the firmware from draining in between. */
	u64 now = ssd_drive_write(drive, 0, 100 * PAGE, PAGE, false);

	now = ssd_drive_write(drive, now, 0, 8, false);
	now = ssd_drive_write(drive, now, 50 * PAGE, 8, false);
	now = ssd_drive_write(drive, now, 8, 8, false);
	ssd_drive_flush(drive, now);
	return drive->counters.write_buffer_merges;
}

#define SLOW_NAND "bus_write_ps=1000000 interface_mb_s=1000 "

DRIVE_TEST(buffer_joins_only_the_last, SLOW_NAND "write_buffer_match=tail")
{
	EXPECT(interleaved(drive) == 0, "a write joined an older entry");
	EXPECT(drive->nand.programs == 4, "%llu programs",
	       (unsigned long long)drive->nand.programs);
}

DRIVE_TEST(cache_joins_any, SLOW_NAND "write_buffer_match=all")
{
	EXPECT(interleaved(drive) == 1, "the write did not join its page");
	EXPECT(drive->nand.programs == 3, "%llu programs",
	       (unsigned long long)drive->nand.programs);
}

/* Two pages written and flushed; returns the time of the flush. */
static u64 flush_of_two(struct ssd_drive *drive, u64 now, u32 first, u32 second)
{
	u64 start;

	now = ssd_drive_write(drive, now, first * PAGE, PAGE, false);
	start = ssd_drive_write(drive, now, second * PAGE, PAGE, false);
	return ssd_drive_flush(drive, start) - start;
}

DRIVE_TEST(dies_work_side_by_side, "bus_write_ps=1000 interface_mb_s=1000")
{
	/* Home places run diagonally: pages 0, 7 and 10 lie on way 0, page 1 on way 1. */
	u64 two_dies = flush_of_two(drive, later(0), 0, 1);
	u64 one_die = flush_of_two(drive, later(later(0)), 7, 10);

	EXPECT(two_dies < PROGRAM_NS + PROGRAM_NS / 2, "two dies took %llu ns",
	       (unsigned long long)two_dies);
	EXPECT(one_die > 2 * PROGRAM_NS - PROGRAM_NS / 2, "one die took %llu ns",
	       (unsigned long long)one_die);
}

DRIVE_TEST(written_page_leaves_the_read_buffer, "")
{
	u64 now = ssd_drive_read(drive, 0, 0, 8);

	now = ssd_drive_write(drive, now, 0, PAGE, false);
	now = ssd_drive_flush(drive, now);
	ssd_drive_read(drive, now, 0, 8);
	EXPECT(drive->nand.reads == 2 && !drive->counters.read_buffer_hits,
	       "an old version was taken from the read buffer");
}

DRIVE_TEST(full_buffer_makes_writes_wait, "bus_write_ps=60000")
{
	/* Writing a page to the NAND takes longer than its arrival and sets the pace. */
	const u64 page_ns = SMALL_BUS(3 * BUS_WRITE_NS);
	u64 now = later(0), first, end;
	u32 page;

	first = ssd_drive_write(drive, now, 40 * BLOCK, PAGE, false) - now;
	now = later(now);
	end = now;
	for (page = 0; page < 200; page++)
		end = ssd_drive_write(drive, end, page * PAGE, PAGE, false);
	EXPECT(first == COMMAND_NS + TRANSFER_NS(PAGE), "the first took %llu ns",
	       (unsigned long long)first);
	/* The buffer holds the last four; the die of one may still be programming. */
	EXPECT(end - now >= 195 * page_ns && end - now <= 197 * page_ns + PROGRAM_NS,
	       "200 pages took %llu ns", (unsigned long long)(end - now));
}

DRIVE_TEST(buffer_is_drained_when_full, "write_buffer_idle_us=1000000")
{
	u64 now = later(0), end = ssd_drive_write(drive, now, 0, 4 * PAGE, false);

	EXPECT(end - now == COMMAND_NS + TRANSFER_NS(4 * PAGE), "filling it took %llu ns",
	       (unsigned long long)(end - now));
	end = ssd_drive_read(drive, end + 500000 * US, 2000 * PAGE, 8);
	EXPECT(!drive->nand.programs, "it was drained before it was full");
	now = end;
	end = ssd_drive_write(drive, now, 4 * PAGE, PAGE, false);
	EXPECT(end - now == COMMAND_NS + SMALL_BUS(BUS_WRITE_NS) + TRANSFER_NS(PAGE),
	       "one page more took %llu ns", (unsigned long long)(end - now));
	ssd_drive_read(drive, end + 900000 * US, 2000 * PAGE, 8);
	EXPECT(drive->nand.programs == 5, "only %llu pages were drained",
	       (unsigned long long)drive->nand.programs);
}

DRIVE_TEST(buffer_is_drained_when_idle, "write_buffer_idle_us=1000")
{
	u64 now = ssd_drive_write(drive, later(0), 0, 2 * PAGE, false);

	now = ssd_drive_read(drive, now + 999 * US, 2000 * PAGE, 8);
	EXPECT(!drive->nand.programs, "it was drained early");
	ssd_drive_read(drive, now + 1001 * US, 2000 * PAGE, 8);
	EXPECT(drive->nand.programs == 1, "%llu pages were drained within 1 us",
	       (unsigned long long)drive->nand.programs);
}

DRIVE_TEST(write_through_waits_for_the_nand, "write_cache=0")
{
	u64 now = later(0), end = ssd_drive_write(drive, now, 0, PAGE, false);
	u64 expected = COMMAND_NS + TRANSFER_NS(PAGE) + SMALL_BUS(BUS_WRITE_NS) + PROGRAM_NS;

	EXPECT(end - now == expected, "took %llu ns, not %llu", (unsigned long long)(end - now),
	       (unsigned long long)expected);
}

DRIVE_TEST(forced_unit_access_waits_for_the_nand, "fua=1")
{
	u64 now = later(0), end = ssd_drive_write(drive, now, 0, PAGE, true);

	EXPECT(end - now == COMMAND_NS + TRANSFER_NS(PAGE) + SMALL_BUS(BUS_WRITE_NS) + PROGRAM_NS,
	       "took %llu ns", (unsigned long long)(end - now));
}

/* The buffer takes four pages; a longer write waits until its last page is programmed. */
DRIVE_TEST(write_longer_than_the_buffer_waits_for_the_nand, "write_buffer_through=1")
{
	u64 end = ssd_drive_write(drive, later(0), 0, 4 * PAGE, false);

	EXPECT(end < drive->nand.programmed_at || drive->write_buffer.count,
	       "four pages waited for the NAND");
	end = ssd_drive_write(drive, end, 4 * PAGE, 4 * PAGE + 8, false);
	EXPECT(!drive->write_buffer.count && end == drive->nand.programmed_at,
	       "%u pages are buffered, programmed %llu ns after the end",
	       drive->write_buffer.count, (unsigned long long)(drive->nand.programmed_at - end));
	EXPECT(drive->counters.rmw_reads == 1, "%llu pages were completed by a read",
	       (unsigned long long)drive->counters.rmw_reads);
}

DRIVE_TEST(whole_block_is_switched, "")
{
	write_block(drive, 0, 3, 0, 32);
	EXPECT(drive->ftl->counters.switch_merges == 1 && !drive->nand.copies &&
	       drive->nand.erases == 1, "%llu switch merges, %llu copies, %llu erases",
	       (unsigned long long)drive->ftl->counters.switch_merges,
	       (unsigned long long)drive->nand.copies, (unsigned long long)drive->nand.erases);
}

DRIVE_TEST(half_block_is_completed, "")
{
	use_other_logs(drive, write_block(drive, 0, 3, 0, 12));
	EXPECT(drive->ftl->counters.partial_merges == 1 && drive->nand.copies == 20 &&
	       drive->nand.erases == 1, "%llu partial merges, %llu copies, %llu erases",
	       (unsigned long long)drive->ftl->counters.partial_merges,
	       (unsigned long long)drive->nand.copies, (unsigned long long)drive->nand.erases);
}

DRIVE_TEST(stray_page_costs_a_block, "")
{
	u64 now = write_block(drive, 0, 3, 17, 1), end;

	now = write_block(drive, now, 4, 17, 1);
	now = later(write_block(drive, now, 5, 17, 1));
	end = write_block(drive, now, 6, 17, 1);
	EXPECT(drive->ftl->counters.full_merges == 1 && drive->nand.copies == 32 &&
	       drive->nand.erases == 2, "%llu full merges, %llu copies, %llu erases",
	       (unsigned long long)drive->ftl->counters.full_merges,
	       (unsigned long long)drive->nand.copies, (unsigned long long)drive->nand.erases);
	/* Eight rows, the four dies side by side. */
	EXPECT(end - now >= 8 * (READ_NS + PROGRAM_NS) &&
	       end - now <= 8 * (READ_NS + PROGRAM_NS) + 2 * ERASE_NS + 3 * PROGRAM_NS,
	       "the write took %llu ns", (unsigned long long)(end - now));
}

/* The same with copies over the bus, which is then the bottleneck. */
DRIVE_TEST(copies_over_the_bus_take_the_bus, "copyback=0")
{
	u64 now = write_block(drive, 0, 3, 17, 1), end;

	now = write_block(drive, now, 4, 17, 1);
	now = later(write_block(drive, now, 5, 17, 1));
	end = write_block(drive, now, 6, 17, 1);
	EXPECT(drive->nand.copies == 32, "%llu copies", (unsigned long long)drive->nand.copies);
	EXPECT(end - now >= 32 * (SMALL_BUS(BUS_READ_NS) + SMALL_BUS(BUS_WRITE_NS)),
	       "the write took %llu ns", (unsigned long long)(end - now));
}

/* All writes to a block before it is merged share one merge, in whatever order. */
DRIVE_TEST(one_merge_for_many_writes, "")
{
	static const u8 order[] = { 9, 30, 2, 17, 5, 22, 11, 28 };
	u64 now = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		now = write_block(drive, now, 3, order[i], 1);
	EXPECT(!drive->nand.copies, "%llu copies", (unsigned long long)drive->nand.copies);
	use_other_logs(drive, now);
	EXPECT(drive->ftl->counters.full_merges == 1 && drive->nand.copies == 32,
	       "%llu full merges", (unsigned long long)drive->ftl->counters.full_merges);
}

DRIVE_TEST(victim_lru_spares_the_used, "log_victim=lru")
{
	u64 now = write_block(drive, 0, 3, 9, 1);

	now = write_block(drive, now, 4, 9, 1);
	now = write_block(drive, now, 5, 9, 1);
	now = write_block(drive, now, 3, 10, 1);
	now = write_block(drive, now, 6, 9, 1);
	EXPECT(drive->ftl->counters.full_merges == 1, "%llu merges",
	       (unsigned long long)drive->ftl->counters.full_merges);
	write_block(drive, now, 3, 11, 1);
	EXPECT(drive->ftl->counters.full_merges == 1, "the log block in use was merged");
}

DRIVE_TEST(victim_fifo_takes_the_first, "log_victim=fifo")
{
	u64 now = write_block(drive, 0, 3, 9, 1);

	now = write_block(drive, now, 4, 9, 1);
	now = write_block(drive, now, 5, 9, 1);
	now = write_block(drive, now, 3, 10, 1);
	now = write_block(drive, now, 6, 9, 1);
	write_block(drive, now, 3, 11, 1);
	EXPECT(drive->ftl->counters.full_merges == 2, "%llu merges",
	       (unsigned long long)drive->ftl->counters.full_merges);
}

/* A stray page puts the log out of step; a rewrite from the start mends that. */
DRIVE_TEST(restart_puts_log_in_step, "log_restart=1")
{
	u64 now = write_block(drive, 0, 3, 9, 1);

	write_block(drive, now, 3, 0, 32);
	EXPECT(drive->ftl->counters.full_merges == 1 &&
	       drive->ftl->counters.switch_merges == 1, "%llu full, %llu switch merges",
	       (unsigned long long)drive->ftl->counters.full_merges,
	       (unsigned long long)drive->ftl->counters.switch_merges);
}

DRIVE_TEST(discarded_block_is_not_copied, "")
{
	u64 now = write_block(drive, 0, 3, 17, 1);

	now = ssd_drive_discard(drive, now, 3 * BLOCK, BLOCK);
	EXPECT(drive->nand.erases == 2, "%llu erases", (unsigned long long)drive->nand.erases);
	now = write_block(drive, now, 3, 17, 1);
	use_other_logs(drive, now);
	EXPECT(drive->nand.copies == 1, "%llu copies", (unsigned long long)drive->nand.copies);
}

DRIVE_TEST(partial_discard_is_ignored, "")
{
	u64 now = ssd_drive_discard(drive, 0, 1, 2 * PAGE - 2), reads;

	reads = drive->nand.reads;
	ssd_drive_read(drive, now, 0, 2 * PAGE);
	EXPECT(drive->nand.reads == reads + 2, "pages got lost");
	now = ssd_drive_discard(drive, now, 1, 3 * PAGE - 2);
	ssd_drive_read(drive, now, 5 * PAGE, 2 * PAGE);
	reads = drive->nand.reads;
	ssd_drive_read(drive, now, 0, 3 * PAGE);
	EXPECT(drive->nand.reads == reads + 2, "only the middle page is whole");
}

DRIVE_TEST(read_goes_before_waiting_writes, SLOW_NAND "write_buffer_kb=128")
{
	const u64 page_ns = 4096 * 1000;
	u64 now = later(0), end;
	u32 page;

	for (page = 0; page < 8; page++)
		now = ssd_drive_write(drive, now, page * PAGE, PAGE, false);
	end = ssd_drive_read(drive, now, 2000 * PAGE, 8);
	/* At most the transfer in flight and a program on its die delay it. */
	EXPECT(end - now < COMMAND_NS + HOST_READ_NS + READ_NS + SMALL_BUS(BUS_READ_NS) +
			   TRANSFER_NS(8) + page_ns + PROGRAM_NS,
	       "the read took %llu ns", (unsigned long long)(end - now));
	end = ssd_drive_read(drive, end, 7 * PAGE, PAGE);
	EXPECT(drive->counters.write_buffer_hits == 1, "buffered data were not found");
}

DRIVE_TEST(commands_wait_for_each_other, "")
{
	u64 now = later(0), first = ssd_drive_read(drive, now, 0, PAGE);
	u64 second = ssd_drive_read(drive, now, 64 * PAGE, PAGE);

	EXPECT(second - first == first - now, "%llu and %llu ns",
	       (unsigned long long)(first - now), (unsigned long long)(second - first));
}

DRIVE_TEST(counters_start_again, "")
{
	char text[4096];
	u64 now = write_block(drive, 0, 3, 17, 4);

	ssd_drive_print(drive, text, sizeof(text));
	EXPECT(strstr(text, "\nhost_writes 4\n") && strstr(text, "\nnand_programs 4\n") &&
	       strstr(text, "\nwrite_amplification 1.000\n"), "counted:\n%s", text);
	EXPECT(drive->counters.busy_ns > 0 && drive->counters.busy_ns <= now,
	       "busy %llu of %llu ns", (unsigned long long)drive->counters.busy_ns,
	       (unsigned long long)now);
	ssd_drive_reset_counters(drive);
	ssd_drive_print(drive, text, sizeof(text));
	EXPECT(strstr(text, "\nhost_writes 0\n") && strstr(text, "\nnand_programs 0\n") &&
	       strstr(text, "\nwrite_amplification 0.000\n"), "after the reset:\n%s", text);
}

/* Each allocation of a drive fails once; the sanitizer finds what leaks. */
static void creation_survives_lack_of_memory(void)
{
	struct ssd_profile profile;
	int allowed;

	ssd_profile_init(&profile);
	profile.check = 1;
	profile.read_buffer_kb = 16;
	for (allowed = 0; ; allowed++) {
		struct ssd_drive *drive;
		char error[256] = "";
		int r;

		shim_allocations_left = allowed;
		r = ssd_drive_create(&drive, &profile, NULL, NULL, error, sizeof(error));
		shim_allocations_left = -1;
		if (!r) {
			ssd_drive_destroy(drive);
			break;
		}
		EXPECT(strstr(error, "no memory"), "said '%s'", error);
	}
	EXPECT(allowed > 10, "only %d allocations", allowed);
}

const struct test mechanics_tests[] = {
	{ "a read costs one clustered page, a buffered one none", read_costs_one_page },
	{ "a long read is a pipeline of NAND and interface", long_read_is_a_pipeline },
	{ "pages never written cost no NAND work", unwritten_pages_cost_no_nand },
	{ "a partial write is completed by a read", partial_write_is_completed },
	{ "adjacent writes become whole pages", adjacent_writes_become_pages },
	{ "a write buffer joins only the last write", buffer_joins_only_the_last },
	{ "a write cache joins any buffered write", cache_joins_any },
	{ "dies work side by side", dies_work_side_by_side },
	{ "a written page leaves the read buffer", written_page_leaves_the_read_buffer },
	{ "a full buffer makes writes wait for the NAND", full_buffer_makes_writes_wait },
	{ "a buffer is drained when it is full", buffer_is_drained_when_full },
	{ "a buffer is drained when the host is idle", buffer_is_drained_when_idle },
	{ "write-through waits for the NAND", write_through_waits_for_the_nand },
	{ "forced unit access waits for the NAND", forced_unit_access_waits_for_the_nand },
	{ "a write longer than the buffer waits for the NAND",
	  write_longer_than_the_buffer_waits_for_the_nand },
	{ "a block written whole is switched", whole_block_is_switched },
	{ "a block written in part is completed", half_block_is_completed },
	{ "a stray page costs the copy of a block", stray_page_costs_a_block },
	{ "without copy-back copies take the bus", copies_over_the_bus_take_the_bus },
	{ "many writes to a block share one merge", one_merge_for_many_writes },
	{ "log_victim=lru spares the log block in use", victim_lru_spares_the_used },
	{ "log_victim=fifo takes the first opened", victim_fifo_takes_the_first },
	{ "log_restart puts the log back in step", restart_puts_log_in_step },
	{ "a discarded block is not copied", discarded_block_is_not_copied },
	{ "pages discarded in part keep their data", partial_discard_is_ignored },
	{ "a read goes before waiting writes", read_goes_before_waiting_writes },
	{ "commands are served one after the other", commands_wait_for_each_other },
	{ "counters are printed and start again", counters_start_again },
	{ "creation survives lack of memory", creation_survives_lack_of_memory },
	{ NULL, NULL },
};
