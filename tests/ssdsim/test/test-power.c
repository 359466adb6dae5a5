// SPDX-License-Identifier: GPL-2.0-only
/*
 * The power switch: single rules, and random drives under random load and random
 * cuts against an oracle that knows only what a host may rely on.
 */
#include <stdlib.h>
#include <string.h>

#include "ssd-host.h"
#include "ssd-words.h"
#include "test.h"

#define LONGEST		96	/* sectors of a write */
#define MOST_OUTSTANDING 8
#define CASES		24

/* A command sent whose completion the host has not seen. */
struct outstanding {
	struct ssd_command command;
	struct ssd_answer answer;
	u32 version;
	u32 *covered;
};

/*
 * struct rig - a drive, and what its host knows of each sector.
 * @newest: version sent last; @completed: last one that completed
 * @safe: oldest version that may be found after a cut
 * @zeros: last version that was a discard, which reads as zeros
 */
struct rig {
	struct ssd_host host;
	struct ssd_profile profile;
	u64 capacity;
	u64 now;
	u32 version;
	u32 *newest;
	u32 *completed;
	u32 *safe;
	u32 *zeros;
	u32 count;
	struct outstanding outstanding[MOST_OUTSTANDING];
	u64 digest;
	u64 between;
	u64 old;
};

static void make_sector(u32 *data, u32 sector, u32 version)
{
	u32 i;

	for (i = 2; i < 128; i++)
		data[i] = sector * 2654435761U ^ version * 40503U ^ i;
	data[0] = sector;
	data[1] = version;
}

static bool is_zero(const u32 *data)
{
	u32 i;

	for (i = 0; i < 128 && !data[i]; i++)
		;
	return i == 128;
}

static void copy(void *context, u64 sector, u32 sectors, bool write)
{
	struct rig *rig = context;
	u32 data[128], expected[128];

	for (; sectors--; sector++) {
		if (write) {
			make_sector(data, sector, rig->version);
			ssd_store_write(rig->host.store, sector, 1, data);
			continue;
		}
		ssd_store_read(rig->host.store, sector, 1, data);
		make_sector(expected, sector, rig->newest[sector]);
		EXPECT(rig->newest[sector] == rig->zeros[sector] ?
		       is_zero(data) : !memcmp(data, expected, 512),
		       "sector %llu reads as version %u, not %u", (unsigned long long)sector,
		       data[1], rig->newest[sector]);
	}
}

static struct rig *make_rig(const char *overrides)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	char error[256];
	u32 i;

	EXPECT(rig, "no memory");
	ssd_profile_init(&rig->profile);
	EXPECT(!ssd_profile_parse(&rig->profile,
				  "capacity_mb=8 block_pages=8 track_volatile=1 write_buffer_kb=64 check=1",
				  error, sizeof(error)), "%s", error);
	EXPECT(!ssd_profile_parse(&rig->profile, overrides, error, sizeof(error)), "%s", error);
	EXPECT(!ssd_host_create(&rig->host, &rig->profile, copy, rig, error, sizeof(error)),
	       "%s", error);
	rig->capacity = rig->host.drive->geometry.sectors;
	rig->newest = calloc(rig->capacity, sizeof(u32));
	rig->completed = calloc(rig->capacity, sizeof(u32));
	rig->safe = calloc(rig->capacity, sizeof(u32));
	rig->zeros = calloc(rig->capacity, sizeof(u32));
	EXPECT(rig->newest && rig->completed && rig->safe && rig->zeros, "no memory");
	for (i = 0; i < MOST_OUTSTANDING; i++) {
		rig->outstanding[i].covered = calloc(rig->capacity, sizeof(u32));
		EXPECT(rig->outstanding[i].covered, "no memory");
	}
	return rig;
}

static void free_rig(struct rig *rig)
{
	u32 i;

	for (i = 0; i < MOST_OUTSTANDING; i++)
		free(rig->outstanding[i].covered);
	free(rig->newest);
	free(rig->completed);
	free(rig->safe);
	free(rig->zeros);
	ssd_host_destroy(&rig->host);
	free(rig);
}

static void raise(u32 *versions, u64 sector, u32 version)
{
	versions[sector] = max(versions[sector], version);
}

/* The host learns of a completion. */
static void complete(struct rig *rig, u32 index)
{
	struct outstanding *done = &rig->outstanding[index];
	const struct ssd_command *command = &done->command;
	bool durable = command->fua || !rig->profile.write_cache;
	bool changes = command->operation == SSD_WRITE || command->operation == SSD_DISCARD;
	struct outstanding last;
	u64 i;

	EXPECT(!done->answer.failed, "a command failed without a reason");
	for (i = command->sector; changes && i < command->sector + command->sectors; i++) {
		raise(rig->completed, i, done->version);
		if (durable)
			raise(rig->safe, i, done->version);
	}
	for (i = 0; command->operation == SSD_FLUSH && i < rig->capacity; i++)
		raise(rig->safe, i, done->covered[i]);
	last = rig->outstanding[--rig->count];
	rig->outstanding[rig->count] = *done;
	*done = last;
}

static void complete_until(struct rig *rig, u64 now)
{
	u32 i;

	rig->now = now;
	for (i = rig->count; i--;) {
		if (rig->outstanding[i].answer.end <= now)
			complete(rig, i);
	}
}

static u64 first_end(const struct rig *rig)
{
	u64 end = ~0ULL;
	u32 i;

	for (i = 0; i < rig->count; i++)
		end = min(end, rig->outstanding[i].answer.end);
	return end;
}

/* What a discard leaves alone keeps its version. */
static void note_sent(struct rig *rig, struct ssd_command *command)
{
	u64 i;

	if (command->operation == SSD_DISCARD &&
	    !ssd_drive_whole_pages(rig->host.drive, &command->sector, &command->sectors))
		command->sectors = 0;
	for (i = command->sector; i < command->sector + command->sectors; i++) {
		rig->newest[i] = rig->version;
		if (command->operation == SSD_DISCARD)
			rig->zeros[i] = rig->version;
	}
}

/* Send a command now. Returns false if the power went while it was served. */
static bool send(struct rig *rig, enum ssd_operation operation, u64 sector, u64 sectors, bool fua)
{
	struct outstanding *own = &rig->outstanding[rig->count];
	struct ssd_command command = { operation, sector, sectors, fua };
	u64 cuts = rig->host.power.cut_number;

	EXPECT(rig->count < MOST_OUTSTANDING, "too many commands");
	EXPECT(!ssd_host_reserve(&rig->host, &command), "no memory");
	if (operation == SSD_FLUSH)
		memcpy(own->covered, rig->completed, rig->capacity * sizeof(u32));
	if (operation == SSD_WRITE || operation == SSD_DISCARD)
		rig->version++;
	own->answer = ssd_host_serve(&rig->host, &command, rig->now);
	own->command = command;
	own->version = rig->version;
	if (operation == SSD_WRITE || operation == SSD_DISCARD)
		note_sent(rig, &own->command);
	rig->count++;
	return rig->host.power.on && cuts == rig->host.power.cut_number;
}

static bool run(struct rig *rig, enum ssd_operation operation, u64 sector, u64 sectors, bool fua)
{
	bool served = send(rig, operation, sector, sectors, fua);

	if (served)
		complete_until(rig, rig->outstanding[rig->count - 1].answer.end);
	return served;
}

static bool write_at(struct rig *rig, u64 sector, u64 sectors)
{
	return run(rig, SSD_WRITE, sector, sectors, false);
}

static void order(struct rig *rig, const char *text)
{
	char error[256];

	EXPECT(!ssd_host_power_control(&rig->host, text, rig->now, error, sizeof(error)),
	       "'%s': %s", text, error);
}

static void power_on(struct rig *rig)
{
	rig->count = 0;
	ssd_power_settle(&rig->host.power);
	ssd_host_power_on(&rig->host, rig->now);
}

static u32 version_of(struct rig *rig, u64 sector)
{
	u32 data[128], expected[128];

	ssd_store_read(rig->host.store, sector, 1, data);
	make_sector(expected, sector, data[1]);
	if (is_zero(data))
		return 0;
	EXPECT(!memcmp(data, expected, 512), "sector %llu was never written so",
	       (unsigned long long)sector);
	return data[1];
}

/* Each sector is one version from the safe to the newest; that is the one from now on. */
static void check_survivors(struct rig *rig)
{
	u64 sector;

	for (sector = 0; sector < rig->capacity; sector++) {
		u32 version = version_of(rig, sector);

		rig->digest = ssd_dice(rig->digest, sector, version);
		if (!version)
			version = rig->zeros[sector];
		EXPECT(version >= rig->safe[sector] && version <= rig->newest[sector],
		       "sector %llu has version %u after a cut; safe was %u, newest %u",
		       (unsigned long long)sector, version, rig->safe[sector],
		       rig->newest[sector]);
		rig->old += version < rig->newest[sector];
		rig->between += version > rig->safe[sector] && version < rig->newest[sector];
		rig->newest[sector] = version;
		rig->completed[sector] = version;
		rig->safe[sector] = version;
		if (rig->zeros[sector] > version)
			rig->zeros[sector] = 0;
	}
}

static void expect_range(struct rig *rig, u64 sector, u64 sectors, u32 version)
{
	for (; sectors--; sector++)
		EXPECT(version_of(rig, sector) == version, "sector %llu has version %u, not %u",
		       (unsigned long long)sector, version_of(rig, sector), version);
}

static void cut_and_restore(struct rig *rig, const char *text)
{
	order(rig, text);
	EXPECT(!rig->host.power.on, "'%s' did not cut", text);
	power_on(rig);
}

static void flushed_survives(void)
{
	struct rig *rig = make_rig("");

	write_at(rig, 0, 8);
	run(rig, SSD_FLUSH, 0, 0, false);
	write_at(rig, 0, 4);
	run(rig, SSD_WRITE, 100, 8, true);
	write_at(rig, 200, 8);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 8, 1);
	expect_range(rig, 100, 8, 3);
	expect_range(rig, 200, 8, 0);
	EXPECT(rig->host.power.counters.lost_sectors == 12, "%llu sectors lost",
	       (unsigned long long)rig->host.power.counters.lost_sectors);
	check_survivors(rig);
	/* What fell back is durable: no cut brings the newer version out again. */
	cut_and_restore(rig, "cut now fate=kept");
	expect_range(rig, 200, 8, 0);
	write_at(rig, 200, 8);
	cut_and_restore(rig, "cut now fate=kept");
	expect_range(rig, 200, 8, 5);
	free_rig(rig);
}

/* A flush covers what had completed when it was sent, and only once it completes. */
static void flush_covers_what_completed(void)
{
	struct rig *rig = make_rig("queue_depth=8");

	write_at(rig, 0, 8);
	send(rig, SSD_WRITE, 100, 8, false);
	run(rig, SSD_FLUSH, 0, 0, false);
	EXPECT(!rig->count, "the flush ended before the write");
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 8, 1);
	expect_range(rig, 100, 8, 0);
	check_survivors(rig);

	write_at(rig, 200, 8);
	send(rig, SSD_FLUSH, 0, 0, false);
	rig->now = rig->outstanding[0].answer.end - 1;
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 200, 8, 0);
	check_survivors(rig);

	/* The same a nanosecond later. */
	write_at(rig, 200, 8);
	run(rig, SSD_FLUSH, 0, 0, false);
	send(rig, SSD_WRITE, 200, 8, false);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 200, 8, 4);
	free_rig(rig);
}

/* A version promised by a flush in flight stays so when it is overwritten. */
static void promise_outlives_overwriting(void)
{
	struct rig *rig = make_rig("queue_depth=8");
	u64 end;

	write_at(rig, 0, 8);
	send(rig, SSD_FLUSH, 0, 0, false);
	end = rig->outstanding[0].answer.end;
	send(rig, SSD_WRITE, 0, 8, false);
	complete_until(rig, end);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 8, 1);
	check_survivors(rig);
	free_rig(rig);
}

/* A version that a flush covers stays so though a write in flight had replaced it before. */
static void flush_covers_what_is_overwritten(void)
{
	u32 seed;

	/* Whether the store still has the version depends on the seed. */
	for (seed = 0; seed < 8; seed++) {
		struct rig *rig = make_rig("queue_depth=8");

		rig->host.power.seed = seed;
		write_at(rig, 0, 8);
		send(rig, SSD_WRITE, 0, 8, false);
		run(rig, SSD_FLUSH, 0, 0, false);
		cut_and_restore(rig, "cut now fate=lost");
		EXPECT(version_of(rig, 0) >= 1, "seed %u lost the first version", seed);
		check_survivors(rig);
		free_rig(rig);
	}
}

static void write_through_survives(void)
{
	struct rig *rig = make_rig("write_cache=0");

	write_at(rig, 0, 20);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 20, 1);
	free_rig(rig);
}

static void discards_are_at_risk(void)
{
	struct rig *rig = make_rig("");

	write_at(rig, 0, 64);
	run(rig, SSD_FLUSH, 0, 0, false);
	run(rig, SSD_DISCARD, 0, 32, false);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 64, 1);
	run(rig, SSD_DISCARD, 0, 32, false);
	run(rig, SSD_FLUSH, 0, 0, false);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 32, 0);
	expect_range(rig, 32, 32, 1);
	free_rig(rig);
}

/* What was in the drive's RAM must be read again, and nothing is done while it is off. */
static void cut_leaves_nothing_warm(void)
{
	struct rig *rig = make_rig("read_buffer_kb=64");
	u64 start, cold, warm, again;

	start = rig->now;
	run(rig, SSD_READ, 0, 8, false);
	cold = rig->now - start;
	start = rig->now;
	run(rig, SSD_READ, 0, 8, false);
	warm = rig->now - start;
	cut_and_restore(rig, "cut now");
	start = rig->now;
	run(rig, SSD_READ, 0, 8, false);
	again = rig->now - start;
	EXPECT(warm < cold && again == cold, "%llu ns, then %llu, after the cut %llu",
	       (unsigned long long)cold, (unsigned long long)warm, (unsigned long long)again);
	free_rig(rig);
}

/* Programmed is safe, without a flush. */
static void buffered_mode(void)
{
	struct rig *rig = make_rig("power_loss=buffered write_buffer_idle_us=1000");

	write_at(rig, 0, 8);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 8, 0);
	write_at(rig, 0, 8);
	rig->now += 10000000;
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 8, 2);
	write_at(rig, 0, 8);
	run(rig, SSD_FLUSH, 0, 0, false);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 8, 3);
	free_rig(rig);
}

static void liar(void)
{
	struct rig *rig = make_rig("lies_about_flush=1");
	u64 before;

	write_at(rig, 0, 8);
	before = rig->now;
	run(rig, SSD_FLUSH, 0, 0, false);
	EXPECT(rig->now - before == rig->profile.command_ns, "the flush took %llu ns",
	       (unsigned long long)(rig->now - before));
	run(rig, SSD_WRITE, 100, 8, true);
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 8, 0);
	expect_range(rig, 100, 8, 0);
	write_at(rig, 0, 8);
	rig->now += 10000000;
	cut_and_restore(rig, "cut now fate=lost");
	expect_range(rig, 0, 8, 3);
	free_rig(rig);
}

static void moments(void)
{
	struct rig *rig = make_rig("");
	u64 cuts = 0;
	u32 i;

	order(rig, "cut writes=3");
	EXPECT(write_at(rig, 0, 8) && run(rig, SSD_FLUSH, 0, 0, false) && write_at(rig, 8, 8),
	       "too early");
	EXPECT(!write_at(rig, 16, 8) && rig->host.power.cut_number == ++cuts, "not in the third");
	EXPECT(rig->host.power.counters.aborted == 1, "not in flight");
	EXPECT(!run(rig, SSD_READ, 0, 8, false) && rig->outstanding[rig->count - 1].answer.failed,
	       "a read without power");
	EXPECT(rig->host.power.counters.refused == 1, "not counted");
	power_on(rig);
	check_survivors(rig);

	/* Of a cut write exactly the first sectors arrive. */
	order(rig, "cut bytes=7000 fate=kept");
	EXPECT(write_at(rig, 0, 8) && !write_at(rig, 8, 8), "not in the second");
	power_on(rig);
	expect_range(rig, 0, 8, 4);
	expect_range(rig, 8, 5, 5);
	EXPECT(version_of(rig, 13) != 5, "a sector too many arrived");
	check_survivors(rig);

	order(rig, "cut flushes=2");
	EXPECT(run(rig, SSD_FLUSH, 0, 0, false) && write_at(rig, 0, 8), "too early");
	EXPECT(!run(rig, SSD_FLUSH, 0, 0, false), "not in the second flush");
	power_on(rig);
	check_survivors(rig);
	order(rig, "cut discards=1 range=64+8");
	EXPECT(run(rig, SSD_DISCARD, 0, 64, false), "out of the range");
	EXPECT(!run(rig, SSD_DISCARD, 0, 65, false), "not in the range");
	power_on(rig);
	check_survivors(rig);
	order(rig, "cut commands=2");
	EXPECT(run(rig, SSD_READ, 0, 8, false) && !run(rig, SSD_READ, 0, 8, false), "not second");
	power_on(rig);
	order(rig, "cut us=500");
	EXPECT(rig->host.power.deadline == rig->now + 500000, "wrong time");
	ssd_host_tick(&rig->host, rig->now + 499999);
	EXPECT(rig->host.power.on, "too early");
	ssd_host_tick(&rig->host, rig->now + 500000);
	EXPECT(!rig->host.power.on, "too late");
	power_on(rig);
	order(rig, "cut writes=1");
	order(rig, "cancel");
	EXPECT(write_at(rig, 0, 8), "a cancelled cut came");
	order(rig, "cut writes=5-9 seed=3");
	for (i = 1; write_at(rig, 0, 8); i++)
		;
	EXPECT(i >= 5 && i <= 9, "after %u writes", i);
	free_rig(rig);
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
	struct rig *rig = make_rig("");
	struct rig *plain = make_rig("track_volatile=0");
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
	order(rig, "cut now");
	EXPECT(ssd_host_power_control(&rig->host, "cut now", 0, error, sizeof(error)) &&
	       strstr(error, "switch it on first"), "said '%s'", error);
	EXPECT(ssd_host_power_control(&plain->host, "cut now", 0, error, sizeof(error)) &&
	       strstr(error, "track_volatile=1"), "said '%s'", error);
	free_rig(rig);
	free_rig(plain);
}

/* The fates do what they say. */
static void fates(void)
{
	struct rig *rig = make_rig("capacity_mb=16");
	const struct ssd_power_counters *counters = &rig->host.power.counters;
	u32 i, kept = 0, lost = 0, torn = 0;
	bool later = false;

	for (i = 0; i < 1000; i++)
		write_at(rig, i * 16, 16);
	cut_and_restore(rig, "cut now fate=writes");
	for (i = 0; i < 1000; i++) {
		u32 j, sectors = 0;

		for (j = 0; j < 16; j++)
			sectors += version_of(rig, i * 16 + j) != 0;
		kept += sectors == 16;
		lost += sectors == 0;
		torn += sectors > 0 && sectors < 16;
	}
	EXPECT(kept > 300 && lost > 200 && torn > 250, "%u kept, %u lost, %u torn", kept, lost,
	       torn);
	EXPECT(counters->tears >= torn, "%llu tears", (unsigned long long)counters->tears);
	EXPECT(counters->kept_sectors + counters->lost_sectors == 16000, "sectors are missing");
	check_survivors(rig);

	for (i = 0; i < 1000; i++)
		write_at(rig, i * 16, 16);
	cut_and_restore(rig, "cut now fate=order");
	for (kept = 0, torn = 0, i = 0; i < 1000; i++) {
		bool first = version_of(rig, i * 16) == 1001 + i;
		bool last = version_of(rig, i * 16 + 15) == 1001 + i;

		EXPECT(!later || (!first && !last), "write %u survives one that was lost", i);
		kept += first && last;
		later |= !first && !last;
	}
	EXPECT(kept > 0 && kept < 1000, "%u writes kept", kept);
	free_rig(rig);
}

static void random_step(struct rig *rig, u64 range)
{
	u64 sector = random_number(range);
	u64 sectors = min_t(u64, 1 + random_number(random_number(3) ? 16 : LONGEST),
			    rig->capacity - sector);

	if (rig->count == rig->profile.queue_depth)
		complete_until(rig, first_end(rig));
	switch (random_number(20)) {
	case 0:
	case 1:
		send(rig, SSD_FLUSH, 0, 0, false);
		break;
	case 2:
		send(rig, SSD_DISCARD, sector, min_t(u64, rig->capacity - sector, sectors * 8),
		     false);
		break;
	case 3:
	case 4:
		send(rig, SSD_READ, sector, sectors, false);
		break;
	default:
		send(rig, SSD_WRITE, sector, sectors, !random_number(15));
	}
	if (rig->host.power.on && !random_number(2))
		complete_until(rig, rig->now + random_number(random_number(4) ? 500000 : 20000000));
}

static void arm(struct rig *rig, u32 seed)
{
	static const char * const moments[] = {
		"writes=1-200", "bytes=1-3000000", "flushes=1-8", "commands=1-200", "us=1-200000",
		"discards=1-4",
	};
	char text[128];

	snprintf(text, sizeof(text), "cut %s seed=%u", moments[random_number(ARRAY_SIZE(moments))],
		 seed);
	order(rig, text);
}

static void random_profile(char *text, size_t size)
{
	static const char * const modes[] = {
		"ftl=page overprovision_ppm=150000 gc_threshold_ppm=50000 map_cache_pages=4 die_sets=2",
		"", "log_association=full", "power_loss=buffered", "write_cache=0", "interface_mb_s=2",
	};

	snprintf(text, size,
		 "queue_depth=%u ways=%u log_blocks=%u write_buffer_kb=%u write_buffer_match=%s write_buffer_idle_us=%u prefill=%u %s",
		 1 + random_number(MOST_OUTSTANDING), 1 + random_number(3), 2 + random_number(8),
		 40 + random_number(200), random_number(2) ? "tail" : "all",
		 random_number(2) ? 100 : 100000, random_number(2),
		 modes[random_number(ARRAY_SIZE(modes))]);
}

struct outcome {
	u64 digest;
	u64 kept;
	u64 lost;
	u64 tears;
	u64 between;
	u64 old;
};

static char current_profile[256];

/* @load_seed decides what is done, @cut_seed what the cuts do. */
static void torment(u64 load_seed, u32 cut_seed, struct outcome *outcome)
{
	struct rig *rig;
	char error[256];
	int cut;

	random_seed(load_seed);
	random_profile(current_profile, sizeof(current_profile));
	rig = make_rig(current_profile);
	for (cut = 0; cut < 12; cut++) {
		u64 range = random_number(2) ? 800 : rig->capacity;

		arm(rig, cut_seed);
		while (rig->host.power.on)
			random_step(rig, range);
		power_on(rig);
		check_survivors(rig);
		EXPECT(!ssd_drive_check(rig->host.drive, error, sizeof(error)), "%s", error);
		EXPECT(ssd_store_volatile_next(rig->host.store, 0) == rig->capacity,
		       "something is at risk after a cut");
		rig->now += 1000000;
	}
	*outcome = (struct outcome) {
		rig->digest, rig->host.power.counters.kept_sectors,
		rig->host.power.counters.lost_sectors, rig->host.power.counters.tears,
		rig->between, rig->old,
	};
	free_rig(rig);
}

static void print_current_profile(void)
{
	printf("# profile: %s\n", current_profile);
}

static void random_cuts(void)
{
	u64 seed = (u64)random_number(1000000) << 20;
	u64 kept = 0, lost = 0, tears = 0, between = 0, old = 0;
	u32 i, different = 0;

	describe_failure = print_current_profile;
	for (i = 0; i < CASES; i++) {
		struct outcome first, again, other;

		torment(seed + i, 5, &first);
		torment(seed + i, 5, &again);
		EXPECT(!memcmp(&first, &again, sizeof(first)), "the same seed, another outcome");
		torment(seed + i, 6, &other);
		different += other.digest != first.digest;
		kept += first.kept;
		lost += first.lost;
		tears += first.tears;
		between += first.between;
		old += first.old;
	}
	EXPECT(kept && lost && tears, "%llu kept, %llu lost, %llu torn", (unsigned long long)kept,
	       (unsigned long long)lost, (unsigned long long)tears);
	EXPECT(between && old, "%llu sectors between, %llu old", (unsigned long long)between,
	       (unsigned long long)old);
	EXPECT(different > CASES / 2, "the seed matters in %u of %u cases", different, CASES);
}

/* The oracle notices a drive that lies. */
static void oracle_notices(void)
{
	struct rig *rig = make_rig("lies_about_flush=1");
	u64 sector, violations = 0;

	write_at(rig, 0, 64);
	run(rig, SSD_FLUSH, 0, 0, false);
	cut_and_restore(rig, "cut now fate=lost");
	for (sector = 0; sector < 64; sector++)
		violations += version_of(rig, sector) < rig->safe[sector];
	EXPECT(violations == 64, "%llu of 64 sectors", (unsigned long long)violations);
	free_rig(rig);
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
	{ "random cuts match the oracle and follow the seed", random_cuts },
	{ "the oracle notices a drive that lies", oracle_notices },
	{ NULL, NULL },
};
