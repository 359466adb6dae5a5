// SPDX-License-Identifier: GPL-2.0-only
/* A drive with a power switch and its oracle. See power-rig.h. */
#include <stdlib.h>
#include <string.h>

#include "power-rig.h"
#include "ssd-words.h"
#include "test.h"

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

struct rig *rig_create(const char *overrides)
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

void rig_destroy(struct rig *rig)
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

void rig_complete_until(struct rig *rig, u64 now)
{
	u32 i;

	rig->now = now;
	for (i = rig->count; i--;) {
		if (rig->outstanding[i].answer.end <= now)
			complete(rig, i);
	}
}

u64 rig_first_end(const struct rig *rig)
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
bool rig_send(struct rig *rig, enum ssd_operation operation, u64 sector, u64 sectors, bool fua)
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

bool rig_run(struct rig *rig, enum ssd_operation operation, u64 sector, u64 sectors, bool fua)
{
	bool served = rig_send(rig, operation, sector, sectors, fua);

	if (served)
		rig_complete_until(rig, rig->outstanding[rig->count - 1].answer.end);
	return served;
}

bool rig_write(struct rig *rig, u64 sector, u64 sectors)
{
	return rig_run(rig, SSD_WRITE, sector, sectors, false);
}

void rig_order(struct rig *rig, const char *text)
{
	char error[256];

	EXPECT(!ssd_host_power_control(&rig->host, text, rig->now, error, sizeof(error)),
	       "'%s': %s", text, error);
}

void rig_power_on(struct rig *rig)
{
	rig->count = 0;
	ssd_power_settle(&rig->host.power);
	ssd_host_power_on(&rig->host, rig->now);
}

u32 rig_version_of(struct rig *rig, u64 sector)
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
void rig_check_survivors(struct rig *rig)
{
	u64 sector;

	for (sector = 0; sector < rig->capacity; sector++) {
		u32 version = rig_version_of(rig, sector);

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

void rig_expect(struct rig *rig, u64 sector, u64 sectors, u32 version)
{
	for (; sectors--; sector++)
		EXPECT(rig_version_of(rig, sector) == version, "sector %llu has version %u, not %u",
		       (unsigned long long)sector, rig_version_of(rig, sector), version);
}

void rig_cut(struct rig *rig, const char *text)
{
	rig_order(rig, text);
	EXPECT(!rig->host.power.on, "'%s' did not cut", text);
	rig_power_on(rig);
}
