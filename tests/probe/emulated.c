// SPDX-License-Identifier: GPL-2.0-only
/* An emulated drive and its host in virtual time; see emulated.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulated.h"
#include "ssd-drive.h"
#include "ssd-noise.h"

long shim_allocations_left = -1;

/*
 * The drive lives on its own clock, @drive_now, and the probe sees @shown: noise is in what is
 * shown, or a call that seems short would leave the drive busy.
 */
struct emulated {
	struct ssd_drive *drive;
	struct host host;
	uint64_t drive_now;
	uint64_t shown;
	struct ssd_noise noise;
};

static uint64_t show(struct emulated *emulated, uint64_t took)
{
	const uint64_t shown = ssd_noise_show(&emulated->noise, took);

	emulated->shown += shown;
	return shown;
}

static uint64_t transfer(struct emulated *emulated, bool write, uint64_t offset, uint32_t bytes)
{
	const uint32_t limit = emulated->drive->profile.max_request_kb * 1024;
	uint64_t now = emulated->drive_now;

	offset += emulated->host.offset;
	while (bytes) {
		const uint32_t piece = bytes < limit ? bytes : limit;

		now += emulated->host.host_ns;
		if (write)
			now = ssd_drive_write(emulated->drive, now, offset / 512, piece / 512,
					      false);
		else
			now = ssd_drive_read(emulated->drive, now, offset / 512, piece / 512);
		offset += piece;
		bytes -= piece;
	}
	offset = now - emulated->drive_now;
	emulated->drive_now = now;
	return show(emulated, offset);
}

uint64_t emulated_read(struct emulated *emulated, uint64_t offset, uint32_t bytes)
{
	return transfer(emulated, false, offset, bytes);
}

uint64_t emulated_write(struct emulated *emulated, uint64_t offset, uint32_t bytes)
{
	return transfer(emulated, true, offset, bytes);
}

uint64_t emulated_flush(struct emulated *emulated)
{
	uint64_t now = emulated->drive_now + emulated->host.host_ns, took;

	/* Without a cache that it knows of, the kernel sends no flush. */
	if (!emulated->drive->profile.write_cache)
		return show(emulated, 1000);
	if (emulated->drive->profile.lies_about_flush)
		now = ssd_drive_nothing(emulated->drive, now);
	else
		now = ssd_drive_flush(emulated->drive, now);
	took = now - emulated->drive_now;
	emulated->drive_now = now;
	return show(emulated, took);
}

void emulated_pause(struct emulated *emulated, uint64_t ns)
{
	emulated->drive_now += ns;
	emulated->shown += ns;
}

uint64_t emulated_now(const struct emulated *emulated)
{
	return emulated->shown;
}

uint64_t emulated_bytes(const struct emulated *emulated)
{
	return emulated->drive->geometry.sectors * 512 - emulated->host.offset;
}

bool emulated_one_at_a_time(const struct emulated *emulated)
{
	return emulated->drive->profile.queue_depth == 1;
}

/* What the pseudo-SLC area holds. */
static uint64_t fast_area(const struct emulated *emulated)
{
	const struct ssd_geometry *geometry = &emulated->drive->geometry;

	return (uint64_t)geometry->slc_blocks * (geometry->rows / 2) *
	       emulated->drive->profile.ways * geometry->page_sectors * 512;
}

void emulated_truth(const struct emulated *emulated, struct truth *truth)
{
	const struct ssd_profile *profile = &emulated->drive->profile;
	const struct ssd_geometry *geometry = &emulated->drive->geometry;
	const bool page_mapped = profile->ftl == SSD_FTL_PAGE;
	const uint64_t page = geometry->page_sectors * 512ULL;

	*truth = (struct truth){
		.page = profile->partial_update ? 0 : page,
		/* A map of pages deals them out over all sets, so their blocks are one. */
		.block = page * geometry->block_pages * (page_mapped ? profile->die_sets : 1),
		.page_mapped = page_mapped,
		.erases_on_open = profile->erase_on_open,
		.logs_shared = profile->ftl == SSD_FTL_LOG &&
			       profile->log_association == SSD_LOG_ASSOCIATION_FULL,
		.two_speeds = profile->program_slow_ns > profile->program_ns,
		.read_buffer = profile->read_buffer_kb * 1024ULL,
		.write_buffer = profile->write_cache ? profile->write_buffer_kb * 1024ULL : 0,
		.prefetch = profile->prefetch_pages * page,
		.merges_rewrites = profile->write_buffer_match == SSD_BUFFER_MATCH_ALL,
		.log_blocks = geometry->log_blocks,
		.fast_area = fast_area(emulated),
		/* Without a cache, what has completed needs no flush. */
		.flush_honoured = !profile->write_cache || !profile->lies_about_flush,
	};
	truth->block_phase = (truth->block - emulated->host.offset % truth->block) % truth->block;
}

/* The time of writes in order, ns for each byte. */
static double write_in_order(struct emulated *emulated, uint64_t from, uint64_t to)
{
	const uint32_t piece = 512 << 10;
	uint64_t at, ns = 0;

	for (at = from; at < to; at += piece)
		ns += emulated_write(emulated, at, piece);
	return (double)ns / (to - from);
}

double emulated_slowdown(struct emulated *emulated)
{
	/* In whole transfers, the last of which ends with the drive. */
	const uint64_t area = fast_area(emulated) >> 22 << 22;
	double fast;

	if (!area || area * 2 > emulated_bytes(emulated))
		return 1;
	fast = write_in_order(emulated, 0, area * 3 / 4);
	write_in_order(emulated, area * 3 / 4, area * 5 / 4);
	return write_in_order(emulated, area * 5 / 4, area * 2) / fast;
}

struct emulated *emulated_create(const char *text, const struct host *host, char *error,
				 unsigned int size)
{
	struct emulated *emulated = calloc(1, sizeof(*emulated));
	struct ssd_profile profile;

	if (!emulated) {
		snprintf(error, size, "no memory for a drive");
		return NULL;
	}
	emulated->host = *host;
	ssd_profile_init(&profile);
	if (ssd_profile_parse(&profile, text, error, size) ||
	    ssd_drive_create(&emulated->drive, &profile, NULL, NULL, error, size)) {
		free(emulated);
		return NULL;
	}
	ssd_noise_init(&emulated->noise, &profile);
	return emulated;
}

void emulated_destroy(struct emulated *emulated)
{
	ssd_drive_destroy(emulated->drive);
	free(emulated);
}
