// SPDX-License-Identifier: GPL-2.0-only
/* See model-drive.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "ssd-drive.h"
#include "model-drive.h"

/* The host's own time for a command, as fio in the benchmark machine shows it. */
#define HOST_NS	14000U

long shim_allocations_left = -1;

struct model_drive {
	struct ssd_profile profile;
	struct ssd_drive *drive;
	u64 now;
	u64 offset;			/* sectors: a partition begins there */
	u32 host_ns;
	u32 depth;
	u64 ends[MODEL_DRIVE_DEPTH];	/* of the commands in flight, or later ones in their place */
};

struct model_drive *model_drive_create(const char *profile)
{
	struct model_drive *drive = calloc(1, sizeof(*drive));
	char text[65536], error[256];
	FILE *file = fopen(profile, "r");
	size_t length;

	if (!drive || !file) {
		fprintf(stderr, "mover-model: cannot open profile %s: %s\n", profile,
			strerror(errno));
		return NULL;
	}
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	drive->depth = 1;
	drive->host_ns = HOST_NS;
	ssd_profile_init(&drive->profile);
	if (ssd_profile_parse(&drive->profile, text, error, sizeof(error))) {
		fprintf(stderr, "mover-model: %s: %s\n", profile, error);
		return NULL;
	}
	return drive;
}

int model_drive_set(struct model_drive *drive, const char *word)
{
	char error[256];
	int ret = ssd_profile_parse(&drive->profile, word, error, sizeof(error));

	if (ret)
		fprintf(stderr, "mover-model: %s\n", error);
	return ret;
}

int model_drive_start(struct model_drive *drive)
{
	char error[256];
	int ret = ssd_drive_create(&drive->drive, &drive->profile, NULL, NULL, error,
				   sizeof(error));

	if (ret)
		fprintf(stderr, "mover-model: %s\n", error);
	return ret;
}

void model_drive_host(struct model_drive *drive, u64 offset, u32 host_ns)
{
	drive->offset = offset;
	drive->host_ns = host_ns ? host_ns : HOST_NS;
}

u64 model_drive_sectors(const struct model_drive *drive)
{
	return drive->drive->geometry.sectors - drive->offset;
}

u64 model_drive_now(const struct model_drive *drive)
{
	return drive->now;
}

u64 model_drive_erases(const struct model_drive *drive)
{
	return drive->drive->nand.erases;
}

void model_drive_wait(struct model_drive *drive, u64 until)
{
	drive->now = max(drive->now, until);
}

/* The place of the command that ends first, or has ended. */
static u64 *first_end(struct model_drive *drive)
{
	u64 *first = drive->ends;
	u32 i;

	for (i = 1; i < drive->depth; i++)
		if (drive->ends[i] < *first)
			first = &drive->ends[i];
	return first;
}

static void wait_for_all(struct model_drive *drive)
{
	u32 i;

	for (i = 0; i < drive->depth; i++)
		drive->now = max(drive->now, drive->ends[i]);
}

void model_drive_depth(struct model_drive *drive, u32 depth)
{
	depth = min(depth, MODEL_DRIVE_DEPTH);
	if (depth == drive->depth)
		return;
	wait_for_all(drive);
	drive->depth = depth;
	memset(drive->ends, 0, sizeof(drive->ends));
}

u32 model_drive_in_flight(const struct model_drive *drive)
{
	u32 nr = 0, i;

	for (i = 0; i < drive->depth; i++)
		nr += drive->ends[i] > drive->now;
	return nr;
}

static void transfer(struct model_drive *drive, u64 sector, u32 sectors, bool write)
{
	sector += drive->offset;
	while (sectors) {
		u32 piece = min(sectors, drive->profile.max_request_kb * 2);
		u64 *end = first_end(drive);

		drive->now += drive->host_ns;
		*end = write ? ssd_drive_write(drive->drive, drive->now, sector, piece, false) :
			       ssd_drive_read(drive->drive, drive->now, sector, piece);
		drive->now = max(drive->now, *first_end(drive));
		sector += piece;
		sectors -= piece;
	}
}

void model_drive_read(struct model_drive *drive, u64 sector, u32 sectors)
{
	transfer(drive, sector, sectors, false);
}

void model_drive_write(struct model_drive *drive, u64 sector, u32 sectors)
{
	transfer(drive, sector, sectors, true);
}

void model_drive_flush(struct model_drive *drive)
{
	wait_for_all(drive);
	if (!drive->profile.write_cache)
		return;		/* the kernel sends none */
	drive->now = drive->profile.lies_about_flush ?
		     ssd_drive_nothing(drive->drive, drive->now) :
		     ssd_drive_flush(drive->drive, drive->now);
}

void model_drive_discard(struct model_drive *drive, u64 sector, u32 sectors)
{
	drive->now += drive->host_ns;
	drive->now = ssd_drive_discard(drive->drive, drive->now, sector + drive->offset, sectors);
}
