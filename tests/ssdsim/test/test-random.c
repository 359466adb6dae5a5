// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random drives under random load against a naive oracle: the data read back
 * are those written, time never runs backwards, no block is ever lost, NAND
 * rules hold, and flushed data survive the loss of everything volatile.
 */
#include <stdlib.h>
#include <string.h>

#include "ssd-store.h"
#include "test.h"

#define DRIVES		40
#define STEPS		1500
#define LONGEST		200	/* sectors of a command */

/*
 * struct rig - a drive, its contents, and what these must be.
 * @version: of each sector as last written; 0 is "zeros"
 * @flushed: of each sector as of the last flush that ended after it
 * @writing: version of the command in progress
 */
struct rig {
	struct ssd_drive *drive;
	struct ssd_store *store;
	u32 *version;
	u32 *flushed;
	u32 writing;
	u64 expected_sector;
	bool gap;
	u64 now;
};

/* Contents of a sector: position and version, so that neither can be mistaken. */
static void make_sector(u32 *data, u32 sector, u32 version)
{
	u32 i;

	for (i = 0; i < 128; i++)
		data[i] = version ? sector * 2654435761U ^ version * 40503U ^ i : 0;
	if (version) {
		data[0] = sector;
		data[1] = version;
	}
}

static void arrived(void *context, u64 sector, u32 sectors)
{
	struct rig *rig = context;
	u32 data[128];

	rig->gap |= sector != rig->expected_sector;
	rig->expected_sector = sector + sectors;
	for (; sectors--; sector++) {
		make_sector(data, sector, rig->writing);
		ssd_store_write(rig->store, sector, 1, data);
		rig->version[sector] = rig->writing;
	}
}

static void durable(void *context, u64 sector, u32 sectors)
{
	struct rig *rig = context;

	ssd_store_commit(rig->store, sector, sectors);
}

static const struct ssd_drive_events rig_events = {
	.arrived = arrived,
	.durable = durable,
};

static u32 one_of(const u32 *choices, u32 count)
{
	return choices[random_number(count)];
}

#define ONE_OF(...) one_of((const u32[]){ __VA_ARGS__ }, \
			   sizeof((const u32[]){ __VA_ARGS__ }) / sizeof(u32))

static void random_profile(struct ssd_profile *profile)
{
	ssd_profile_init(profile);
	profile->capacity_mb = 8 + random_number(8);
	profile->channels = ONE_OF(1, 2, 4, 5);
	profile->planes = ONE_OF(1, 2);
	profile->ways = ONE_OF(1, 2, 3, 4);
	profile->die_sets = ONE_OF(1, 2, 3, 4);
	profile->page_bytes = ONE_OF(512, 2048, 4096);
	profile->block_pages = ONE_OF(4, 8, 16, 31);
	profile->channel_sets = ONE_OF(1, 2, 3);
	profile->channel_sets = min(profile->channel_sets, profile->ways * profile->die_sets);
	profile->program_slow_ns = ONE_OF(0, 900000);
	profile->copyback = random_number(2);
	profile->firmware = random_number(2);
	profile->ftl = ONE_OF(SSD_FTL_LOG, SSD_FTL_PAGE);
	profile->overprovision_ppm = ONE_OF(0, 30000, 300000);
	profile->gc_threshold_ppm = ONE_OF(0, 10000, 200000);
	profile->erase_on_open = profile->ftl == SSD_FTL_PAGE && ONE_OF(0, 1);
	profile->map_cache_pages = profile->ftl == SSD_FTL_PAGE ? ONE_OF(0, 1, 2, 100) : 0;
	profile->queue_depth = ONE_OF(1, 8);
	profile->log_blocks = ONE_OF(1, 2, 3, 8);
	profile->log_association = random_number(2);
	if (profile->log_association == SSD_LOG_ASSOCIATION_FULL)
		profile->log_blocks = max(profile->log_blocks, 2U);
	profile->log_victim = random_number(2);
	profile->log_restart = random_number(2);
	profile->read_buffer_kb = ONE_OF(0, 16, 64, 256);
	profile->write_buffer_kb = ONE_OF(40, 64, 255);
	profile->write_buffer_match = random_number(2);
	profile->partial_read = random_number(2);
	profile->partial_update = random_number(2);
	profile->prefetch_pages = profile->read_buffer_kb ? ONE_OF(0, 0, 1, 5) : 0;
	profile->write_buffer_order = random_number(2);
	profile->write_buffer_drain = random_number(2);
	profile->write_buffer_idle_us = ONE_OF(0, 1000, 1000000);
	profile->write_buffer_through = random_number(2);
	profile->write_cache = random_number(8) != 0;
	profile->prefill = random_number(2);
	profile->track_volatile = 1;
	profile->check = 1;
	/* Whether the host or the NAND is the slower one differs. */
	profile->interface_mb_s = ONE_OF(2, 20, 500);
}

static void in_order(struct rig *rig, u64 end)
{
	EXPECT(end >= rig->now, "time ran backwards: %llu after %llu", (unsigned long long)end,
	       (unsigned long long)rig->now);
	/* Sometimes the host thinks, sometimes it sends the next command early. */
	switch (random_number(3)) {
	case 0:
		rig->now = end;
		break;
	case 1:
		rig->now = end + random_number(20000000);
		break;
	}
}

static void contents_match(struct rig *rig, u64 sector, u32 sectors)
{
	u32 data[128], expected[128];

	for (; sectors--; sector++) {
		ssd_store_read(rig->store, sector, 1, data);
		make_sector(expected, sector, rig->version[sector]);
		EXPECT(!memcmp(data, expected, 512), "sector %llu has version %u, not %u",
		       (unsigned long long)sector, data[1], rig->version[sector]);
	}
}

static void do_write(struct rig *rig, u64 sector, u32 sectors)
{
	bool fua = !random_number(20);
	u64 end;

	EXPECT(!ssd_store_reserve(rig->store, sector, sectors), "no memory");
	rig->writing++;
	rig->expected_sector = sector;
	end = ssd_drive_write(rig->drive, rig->now, sector, sectors, fua);
	EXPECT(!rig->gap && rig->expected_sector == sector + sectors,
	       "the data did not arrive in one ascending run");
	if (fua || !rig->drive->profile.write_cache)
		memcpy(&rig->flushed[sector], &rig->version[sector], sectors * sizeof(u32));
	in_order(rig, end);
}

static void do_flush(struct rig *rig)
{
	u64 end = ssd_drive_flush(rig->drive, rig->now);
	u64 sectors = rig->drive->geometry.sectors;

	memcpy(rig->flushed, rig->version, sectors * sizeof(u32));
	EXPECT(ssd_store_volatile_next(rig->store, 0) == sectors, "a flush left sectors volatile");
	EXPECT(end >= rig->drive->nand.programmed_at, "the flush ended before its programs");
	in_order(rig, end);
}

static void do_discard(struct rig *rig, u64 sector, u64 sectors)
{
	u64 end = ssd_drive_discard(rig->drive, rig->now, sector, sectors);

	if (ssd_drive_whole_pages(rig->drive, &sector, &sectors)) {
		ssd_store_discard(rig->store, sector, sectors);
		/* What a discard is worth when the power fails is tested in test-power.c. */
		ssd_store_commit(rig->store, sector, sectors);
		memset(&rig->version[sector], 0, sectors * sizeof(u32));
		memset(&rig->flushed[sector], 0, sectors * sizeof(u32));
	}
	in_order(rig, end);
}

/* Volatile is what the write buffer holds, no more and no less. */
static void volatile_is_buffered(struct rig *rig)
{
	const struct ssd_write_buffer *buffer = &rig->drive->write_buffer;
	u64 capacity = rig->drive->geometry.sectors, sector;
	u8 *buffered = calloc(capacity, 1);
	u32 age, i;

	EXPECT(buffered, "no memory");
	for (age = 0; age < buffer->count; age++) {
		const struct ssd_write_entry *entry = ssd_write_buffer_at(buffer, age);

		for (i = 0; i < buffer->page_sectors; i++)
			buffered[(u64)entry->page * buffer->page_sectors + i] |=
				test_bit(i, entry->sectors);
	}
	for (sector = 0; sector < capacity; sector++)
		EXPECT(ssd_store_volatile(rig->store, sector) == buffered[sector],
		       "sector %llu is %sin the buffer", (unsigned long long)sector,
		       buffered[sector] ? "" : "not ");
	free(buffered);
}

/* All volatile sectors fall back: what comes to light is flushed or newer. */
static void lose_everything_volatile(struct rig *rig)
{
	u64 sectors = rig->drive->geometry.sectors;
	u64 sector = ssd_store_volatile_next(rig->store, 0);
	u32 data[128], expected[128];

	for (; sector < sectors; sector = ssd_store_volatile_next(rig->store, sector)) {
		ssd_store_revert(rig->store, sector);
		ssd_store_read(rig->store, sector, 1, data);
		EXPECT(data[1] >= rig->flushed[sector] && data[1] <= rig->version[sector],
		       "sector %llu fell back to %u; flushed %u, written %u",
		       (unsigned long long)sector, data[1], rig->flushed[sector],
		       rig->version[sector]);
		make_sector(expected, sector, data[1]);
		EXPECT(!memcmp(data, expected, 512), "sector %llu is torn",
		       (unsigned long long)sector);
		rig->version[sector] = data[1];
	}
	contents_match(rig, 0, sectors);
}

static void one_step(struct rig *rig, bool hot)
{
	u64 capacity = rig->drive->geometry.sectors;
	u64 range = hot ? max(capacity / 16, (u64)LONGEST) : capacity;
	u64 sector = random_number(range);
	u32 sectors = random_number(3) ? 8 : 1 + random_number(LONGEST);

	sectors = min_t(u64, sectors, capacity - sector);
	switch (random_number(24)) {
	case 0:
		do_flush(rig);
		break;
	case 1:
		do_discard(rig, sector, min(capacity - sector, (u64)sectors * 20));
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		contents_match(rig, sector, sectors);
		in_order(rig, ssd_drive_read(rig->drive, rig->now, sector, sectors));
		break;
	default:
		do_write(rig, sector, sectors);
	}
}

/* Blocks that are erased when they are opened although they hold nothing yet. */
static u32 unused_at_first(const struct ssd_drive *drive)
{
	const struct ssd_geometry *geometry = &drive->geometry;

	if (!drive->profile.erase_on_open)
		return 0;
	return geometry->total_blocks - (drive->profile.prefill ? geometry->data_blocks : 0);
}

/* What the counters say must fit together. */
static void counters_fit(struct rig *rig)
{
	const struct ssd_nand *nand = &rig->drive->nand;
	const struct ssd_ftl_counters *ftl = &rig->drive->ftl->counters;
	const struct ssd_drive_counters *host = &rig->drive->counters;
	u64 merges = ftl->switch_merges + ftl->partial_merges + ftl->full_merges;
	u64 erased = 0;
	u32 block;

	for (block = 0; block < nand->blocks; block++)
		erased += nand->erase_count[block];
	EXPECT(erased == nand->erases, "%llu erases, the blocks say %llu",
	       (unsigned long long)nand->erases, (unsigned long long)erased);
	EXPECT(nand->reads == nand->copies + host->page_reads + host->rmw_reads +
			      host->prefetch_reads + ftl->map_reads,
	       "%llu reads of unknown purpose", (unsigned long long)nand->reads);
	EXPECT(ftl->merge_copies + ftl->gc_copies == nand->copies,
	       "%llu copies, merges made %llu, garbage collection %llu",
	       (unsigned long long)nand->copies, (unsigned long long)ftl->merge_copies,
	       (unsigned long long)ftl->gc_copies);
	/* Blocks that are erased late were collected, or never used. */
	if (rig->drive->profile.ftl == SSD_FTL_PAGE)
		EXPECT(!merges && nand->erases >= ftl->gc_blocks &&
		       nand->erases <= ftl->gc_blocks + unused_at_first(rig->drive),
		       "%llu erases, %llu collected", (unsigned long long)nand->erases,
		       (unsigned long long)ftl->gc_blocks);
	else
		EXPECT(merges > 0, "nothing was merged");
	EXPECT(nand->programs > nand->copies, "nothing happened");
	EXPECT(host->busy_ns <= max(rig->drive->busy_until, rig->now), "busier than time passed");
}

static void run_load(struct rig *rig)
{
	char error[256];
	int step;

	for (step = 0; step < STEPS; step++) {
		one_step(rig, step / 300 % 2);
		EXPECT(rig->drive->write_buffer.used <= rig->drive->write_buffer.capacity,
		       "the write buffer holds more than its capacity");
		if (step % 100 == 99) {
			EXPECT(!ssd_drive_check(rig->drive, error, sizeof(error)), "%s", error);
			contents_match(rig, 0, rig->drive->geometry.sectors);
			volatile_is_buffered(rig);
		}
	}
	counters_fit(rig);
	lose_everything_volatile(rig);
}

/* The drive under test, for the report of a failure. */
static struct ssd_profile current_profile;

static void print_current_profile(void)
{
	char text[2048], *c;

	ssd_profile_print(&current_profile, text, sizeof(text));
	for (c = text; *c; c++) {
		if (*c == '\n')
			*c = ' ';
	}
	printf("# profile: %s\n", text);
}

static void one_drive(void)
{
	struct rig rig = { 0 };
	char error[256];

	random_profile(&current_profile);
	EXPECT(!ssd_drive_create(&rig.drive, &current_profile, &rig_events, &rig, error,
				 sizeof(error)), "%s", error);
	rig.store = ssd_store_create(rig.drive->geometry.sectors, true);
	rig.version = calloc(rig.drive->geometry.sectors, sizeof(u32));
	rig.flushed = calloc(rig.drive->geometry.sectors, sizeof(u32));
	EXPECT(rig.store && rig.version && rig.flushed, "no memory");
	run_load(&rig);
	free(rig.version);
	free(rig.flushed);
	ssd_store_destroy(rig.store);
	ssd_drive_destroy(rig.drive);
}

static void random_drives(void)
{
	int i;

	describe_failure = print_current_profile;
	for (i = 0; i < DRIVES; i++)
		one_drive();
}

const struct test random_tests[] = {
	{ "random drives under random load match the oracle", random_drives },
	{ NULL, NULL },
};
