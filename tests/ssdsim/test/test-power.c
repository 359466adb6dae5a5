// SPDX-License-Identifier: GPL-2.0-only
/* The power switch: single rules. */
#include <string.h>

#include "power-rig.h"
#include "test.h"

static void flushed_survives(void)
{
	struct rig *rig = rig_create("");

	rig_write(rig, 0, 8);
	rig_run(rig, SSD_FLUSH, 0, 0, false);
	rig_write(rig, 0, 4);
	rig_run(rig, SSD_WRITE, 100, 8, true);
	rig_write(rig, 200, 8);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 8, 1);
	rig_expect(rig, 100, 8, 3);
	rig_expect(rig, 200, 8, 0);
	EXPECT(rig->host.power.counters.lost_sectors == 12, "%llu sectors lost",
	       (unsigned long long)rig->host.power.counters.lost_sectors);
	rig_check_survivors(rig);
	/* What fell back is durable: no cut brings the newer version out again. */
	rig_cut(rig, "cut now fate=kept");
	rig_expect(rig, 200, 8, 0);
	rig_write(rig, 200, 8);
	rig_cut(rig, "cut now fate=kept");
	rig_expect(rig, 200, 8, 5);
	rig_destroy(rig);
}

/* A flush covers what had completed when it was sent, and only once it completes. */
static void flush_covers_what_completed(void)
{
	struct rig *rig = rig_create("queue_depth=8");

	rig_write(rig, 0, 8);
	rig_send(rig, SSD_WRITE, 100, 8, false);
	rig_run(rig, SSD_FLUSH, 0, 0, false);
	EXPECT(!rig->count, "the flush ended before the write");
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 8, 1);
	rig_expect(rig, 100, 8, 0);
	rig_check_survivors(rig);

	rig_write(rig, 200, 8);
	rig_send(rig, SSD_FLUSH, 0, 0, false);
	rig->now = rig->outstanding[0].answer.end - 1;
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 200, 8, 0);
	rig_check_survivors(rig);

	/* The same a nanosecond later. */
	rig_write(rig, 200, 8);
	rig_run(rig, SSD_FLUSH, 0, 0, false);
	rig_send(rig, SSD_WRITE, 200, 8, false);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 200, 8, 4);
	rig_destroy(rig);
}

/* A version promised by a flush in flight stays so when it is overwritten. */
static void promise_outlives_overwriting(void)
{
	struct rig *rig = rig_create("queue_depth=8");
	u64 end;

	rig_write(rig, 0, 8);
	rig_send(rig, SSD_FLUSH, 0, 0, false);
	end = rig->outstanding[0].answer.end;
	rig_send(rig, SSD_WRITE, 0, 8, false);
	rig_complete_until(rig, end);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 8, 1);
	rig_check_survivors(rig);
	rig_destroy(rig);
}

/* A version that a flush covers stays so though a write in flight had replaced it before. */
static void flush_covers_what_is_overwritten(void)
{
	u32 seed;

	/* Whether the store still has the version depends on the seed. */
	for (seed = 0; seed < 8; seed++) {
		struct rig *rig = rig_create("queue_depth=8");

		rig->host.power.seed = seed;
		rig_write(rig, 0, 8);
		rig_send(rig, SSD_WRITE, 0, 8, false);
		rig_run(rig, SSD_FLUSH, 0, 0, false);
		rig_cut(rig, "cut now fate=lost");
		EXPECT(rig_version_of(rig, 0) >= 1, "seed %u lost the first version", seed);
		rig_check_survivors(rig);
		rig_destroy(rig);
	}
}

static void write_through_survives(void)
{
	struct rig *rig = rig_create("write_cache=0");

	rig_write(rig, 0, 20);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 20, 1);
	rig_destroy(rig);
}

static void discards_are_at_risk(void)
{
	struct rig *rig = rig_create("");

	rig_write(rig, 0, 64);
	rig_run(rig, SSD_FLUSH, 0, 0, false);
	rig_run(rig, SSD_DISCARD, 0, 32, false);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 64, 1);
	rig_run(rig, SSD_DISCARD, 0, 32, false);
	rig_run(rig, SSD_FLUSH, 0, 0, false);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 32, 0);
	rig_expect(rig, 32, 32, 1);
	rig_destroy(rig);
}

/* What was in the drive's RAM must be read again, and nothing is done while it is off. */
static void cut_leaves_nothing_warm(void)
{
	struct rig *rig = rig_create("read_buffer_kb=64");
	u64 start, cold, warm, again;

	start = rig->now;
	rig_run(rig, SSD_READ, 0, 8, false);
	cold = rig->now - start;
	start = rig->now;
	rig_run(rig, SSD_READ, 0, 8, false);
	warm = rig->now - start;
	rig_cut(rig, "cut now");
	start = rig->now;
	rig_run(rig, SSD_READ, 0, 8, false);
	again = rig->now - start;
	EXPECT(warm < cold && again == cold, "%llu ns, then %llu, after the cut %llu",
	       (unsigned long long)cold, (unsigned long long)warm, (unsigned long long)again);
	rig_destroy(rig);
}

/* Programmed is safe, without a flush. */
static void buffered_mode(void)
{
	struct rig *rig = rig_create("power_loss=buffered write_buffer_idle_us=1000");

	rig_write(rig, 0, 8);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 8, 0);
	rig_write(rig, 0, 8);
	rig->now += 10000000;
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 8, 2);
	rig_write(rig, 0, 8);
	rig_run(rig, SSD_FLUSH, 0, 0, false);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 8, 3);
	rig_destroy(rig);
}

static void liar(void)
{
	struct rig *rig = rig_create("lies_about_flush=1");
	u64 before;

	rig_write(rig, 0, 8);
	before = rig->now;
	rig_run(rig, SSD_FLUSH, 0, 0, false);
	EXPECT(rig->now - before == rig->profile.command_ns, "the flush took %llu ns",
	       (unsigned long long)(rig->now - before));
	rig_run(rig, SSD_WRITE, 100, 8, true);
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 8, 0);
	rig_expect(rig, 100, 8, 0);
	rig_write(rig, 0, 8);
	rig->now += 10000000;
	rig_cut(rig, "cut now fate=lost");
	rig_expect(rig, 0, 8, 3);
	rig_destroy(rig);
}

static void moments(void)
{
	struct rig *rig = rig_create("");
	u64 cuts = 0;
	u32 i;

	rig_order(rig, "cut writes=3");
	EXPECT(rig_write(rig, 0, 8) && rig_run(rig, SSD_FLUSH, 0, 0, false) && rig_write(rig, 8, 8),
	       "too early");
	EXPECT(!rig_write(rig, 16, 8) && rig->host.power.cut_number == ++cuts, "not in the third");
	EXPECT(rig->host.power.counters.aborted == 1, "not in flight");
	EXPECT(!rig_run(rig, SSD_READ, 0, 8, false) &&
	       rig->outstanding[rig->count - 1].answer.failed, "a read without power");
	EXPECT(rig->host.power.counters.refused == 1, "not counted");
	rig_power_on(rig);
	rig_check_survivors(rig);

	/* Of a cut write exactly the first sectors arrive. */
	rig_order(rig, "cut bytes=7000 fate=kept");
	EXPECT(rig_write(rig, 0, 8) && !rig_write(rig, 8, 8), "not in the second");
	rig_power_on(rig);
	rig_expect(rig, 0, 8, 4);
	rig_expect(rig, 8, 5, 5);
	EXPECT(rig_version_of(rig, 13) != 5, "a sector too many arrived");
	rig_check_survivors(rig);

	rig_order(rig, "cut flushes=2");
	EXPECT(rig_run(rig, SSD_FLUSH, 0, 0, false) && rig_write(rig, 0, 8), "too early");
	EXPECT(!rig_run(rig, SSD_FLUSH, 0, 0, false), "not in the second flush");
	rig_power_on(rig);
	rig_check_survivors(rig);
	rig_order(rig, "cut discards=1 range=64+8");
	EXPECT(rig_run(rig, SSD_DISCARD, 0, 64, false), "out of the range");
	EXPECT(!rig_run(rig, SSD_DISCARD, 0, 65, false), "not in the range");
	rig_power_on(rig);
	rig_check_survivors(rig);
	rig_order(rig, "cut commands=2");
	EXPECT(rig_run(rig, SSD_READ, 0, 8, false) && !rig_run(rig, SSD_READ, 0, 8, false), "not second");
	rig_power_on(rig);
	rig_order(rig, "cut us=500");
	EXPECT(rig->host.power.deadline == rig->now + 500000, "wrong time");
	ssd_host_tick(&rig->host, rig->now + 499999);
	EXPECT(rig->host.power.on, "too early");
	ssd_host_tick(&rig->host, rig->now + 500000);
	EXPECT(!rig->host.power.on, "too late");
	rig_power_on(rig);
	rig_order(rig, "cut writes=1");
	rig_order(rig, "cancel");
	EXPECT(rig_write(rig, 0, 8), "a cancelled cut came");
	rig_order(rig, "cut writes=5-9 seed=3");
	for (i = 1; rig_write(rig, 0, 8); i++)
		;
	EXPECT(i >= 5 && i <= 9, "after %u writes", i);
	rig_destroy(rig);
}

static void refusals(void)
{
	static const char * const cases[][2] = {
		{ "", "use on, off, cut or cancel" },
		{ "cut", "the cut has no moment" },
		{ "cut seed=5", "the cut has no moment" },
		{ "cut writes=0", "1 to 10^15" },
		{ "cut writes=9-5", "1 to 10^15" },
		{ "cut writes", "1 to 10^15" },
		{ "cut writes=-5", "1 to 10^15" },
		{ "cut writes=5x", "1 to 10^15" },
		{ "cut writes=9999999999999999999999", "1 to 10^15" },
		{ "cut writes=1 bytes=5", "one moment" },
		{ "cut now us=5", "one moment" },
		{ "cut us=5 now", "'now' is not known" },
		{ "cut now fate=", "fate= is not possible" },
		{ "cut now seed=x", "seed=x is not possible" },
		{ "cut writes=1 range=0+0", "FIRST+SECTORS" },
		{ "cut writes=1 range=16384+1", "FIRST+SECTORS" },
		{ "cut writes=1 range=5", "FIRST+SECTORS" },
		{ "cut now range=0+8", "leave it out" },
		{ "cut flushes=1 range=0+8", "leave it out" },
		{ "cut soon", "'soon' is not known" },
	};
	struct rig *rig = rig_create("");
	struct rig *plain = rig_create("track_volatile=0");
	char error[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		error[0] = '\0';
		EXPECT(ssd_host_power_control(&rig->host, cases[i][0], 0, error, sizeof(error)),
		       "'%s' was accepted", cases[i][0]);
		EXPECT(strstr(error, cases[i][1]), "'%s' said '%s'", cases[i][0], error);
		EXPECT(rig->host.power.on && rig->host.power.trigger == SSD_TRIGGER_NONE,
		       "'%s' had an effect", cases[i][0]);
	}
	rig_order(rig, "cut now");
	EXPECT(ssd_host_power_control(&rig->host, "cut now", 0, error, sizeof(error)) &&
	       strstr(error, "switch it on first"), "said '%s'", error);
	EXPECT(ssd_host_power_control(&plain->host, "cut now", 0, error, sizeof(error)) &&
	       strstr(error, "track_volatile=1"), "said '%s'", error);
	rig_destroy(rig);
	rig_destroy(plain);
}

/* The fates do what they say. */
static void fates(void)
{
	struct rig *rig = rig_create("capacity_mb=16");
	const struct ssd_power_counters *counters = &rig->host.power.counters;
	u32 i, kept = 0, lost = 0, torn = 0;
	bool later = false;

	for (i = 0; i < 1000; i++)
		rig_write(rig, i * 16, 16);
	rig_cut(rig, "cut now fate=writes");
	for (i = 0; i < 1000; i++) {
		u32 j, sectors = 0;

		for (j = 0; j < 16; j++)
			sectors += rig_version_of(rig, i * 16 + j) != 0;
		kept += sectors == 16;
		lost += sectors == 0;
		torn += sectors > 0 && sectors < 16;
	}
	EXPECT(kept > 300 && lost > 200 && torn > 250, "%u kept, %u lost, %u torn", kept, lost,
	       torn);
	EXPECT(counters->tears >= torn, "%llu tears", (unsigned long long)counters->tears);
	EXPECT(counters->kept_sectors + counters->lost_sectors == 16000, "sectors are missing");
	rig_check_survivors(rig);

	for (i = 0; i < 1000; i++)
		rig_write(rig, i * 16, 16);
	rig_cut(rig, "cut now fate=order");
	for (kept = 0, torn = 0, i = 0; i < 1000; i++) {
		bool first = rig_version_of(rig, i * 16) == 1001 + i;
		bool last = rig_version_of(rig, i * 16 + 15) == 1001 + i;

		EXPECT(!later || (!first && !last), "write %u survives one that was lost", i);
		kept += first && last;
		later |= !first && !last;
	}
	EXPECT(kept > 0 && kept < 1000, "%u writes kept", kept);
	rig_destroy(rig);
}

/* The oracle notices a drive that lies. */
static void oracle_notices(void)
{
	struct rig *rig = rig_create("lies_about_flush=1");
	u64 sector, violations = 0;

	rig_write(rig, 0, 64);
	rig_run(rig, SSD_FLUSH, 0, 0, false);
	rig_cut(rig, "cut now fate=lost");
	for (sector = 0; sector < 64; sector++)
		violations += rig_version_of(rig, sector) < rig->safe[sector];
	EXPECT(violations == 64, "%llu of 64 sectors", (unsigned long long)violations);
	rig_destroy(rig);
}

const struct test power_tests[] = {
	{ "flushed and FUA data survive a power cut", flushed_survives },
	{ "a flush covers what had completed, once it completes", flush_covers_what_completed },
	{ "a flush in flight covers what is overwritten meanwhile", promise_outlives_overwriting },
	{ "a flush covers what a write in flight replaces", flush_covers_what_is_overwritten },
	{ "write-through data survive a power cut", write_through_survives },
	{ "discards can be undone by a power cut until flushed", discards_are_at_risk },
	{ "a power cut leaves nothing warm", cut_leaves_nothing_warm },
	{ "power_loss=buffered: programmed data survive", buffered_mode },
	{ "lies_about_flush: only programmed data survive", liar },
	{ "a cut comes at its moment", moments },
	{ "bad power commands are refused with a sentence", refusals },
	{ "writes are kept, torn and lost, or lost in order", fates },
	{ "the oracle notices a drive that lies", oracle_notices },
	{ NULL, NULL },
};
