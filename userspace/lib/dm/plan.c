// SPDX-License-Identifier: GPL-2.0-only
/* Where things go on a device; see plan.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/size.h"
#include "dm/plan.h"
#include "ressd-geom.h"

#define MIB			1048576ULL
#define GIB			(1024 * MIB)
#define BLOCK			((u64)RESSD_BLOCK_SIZE)
#define CLUSTERED_BLOCK		(4 * MIB)
#define MIN_DEFAULT_REGION	(256 * MIB)
#define MIN_DEFAULT_RESERVED	MIB
#define MAX_DEFAULT_RESERVED	(4 * GIB)

static u64 align_down(u64 value, u64 step)
{
	return value - value % step;
}

/* To the very end, like the reserved area, which then lies within the region. */
static void default_region(u64 dev_bytes, struct region *region)
{
	const u64 end = align_down(dev_bytes, BLOCK);
	u64 bytes = dev_bytes / 10;

	if (bytes < MIN_DEFAULT_REGION)
		bytes = MIN_DEFAULT_REGION;
	if (bytes > 4 * GIB)
		bytes = 4 * GIB;
	region->offset = bytes < end ? align_down(end - bytes, CLUSTERED_BLOCK) : 0;
	region->bytes = end - region->offset;
}

static int parse_region(u64 dev_bytes, const char *text, struct region *region,
			struct failure *failure)
{
	const char *colon = strchr(text, ':');
	char offset[64];

	snprintf(offset, sizeof(offset), "%.*s", colon ? (int)(colon - text) : 63, text);
	if (size_parse(offset, "the offset of --region", dev_bytes, &region->offset, failure))
		return -EINVAL;
	if (region->offset >= dev_bytes)
		return fail(failure, -EINVAL,
			    "--region begins at byte %llu, but the device has only %llu bytes",
			    region->offset, dev_bytes);
	region->bytes = dev_bytes - region->offset;
	if (!colon) {
		u64 bytes = region->bytes < 4 * GIB ? region->bytes : 4 * GIB;

		region->bytes = align_down(bytes, BLOCK);
		return 0;
	}
	return size_parse(colon + 1, "the length of --region", dev_bytes, &region->bytes, failure);
}

int plan_region(u64 dev_bytes, const char *text, struct region *region, struct failure *failure)
{
	if (!text)
		default_region(dev_bytes, region);
	else if (parse_region(dev_bytes, text, region, failure))
		return -EINVAL;
	if (region->offset % BLOCK || region->bytes % BLOCK)
		return fail(failure, -EINVAL,
			    "--region is %llu:%llu bytes, but both must be multiples of 4096",
			    region->offset, region->bytes);
	if (region->bytes > dev_bytes - region->offset)
		return fail(failure, -EINVAL,
			    "--region ends at byte %llu + %llu, but the device has only %llu bytes",
			    region->offset, region->bytes, dev_bytes);
	if (region->bytes < REGION_MIN_BYTES)
		return fail(failure, -EINVAL,
			    "the region has %llu bytes, but at least %llu are needed to measure anything; choose a larger --region or device",
			    region->bytes, (unsigned long long)REGION_MIN_BYTES);
	return 0;
}

void plan_limit_region(struct region *region, u64 limit)
{
	const u64 most = limit < MIN_DEFAULT_REGION ? MIN_DEFAULT_REGION : limit;
	u64 less = 0;

	if (region->bytes > most)
		less = align_down(region->bytes - most + CLUSTERED_BLOCK - 1, CLUSTERED_BLOCK);
	if (less > region->bytes - MIN_DEFAULT_REGION)
		less -= CLUSTERED_BLOCK;
	region->offset += less;
	region->bytes -= less;
}

/* Areas begin on multiples of this: 4 MiB, less on a device of less than 64 times that. */
static u64 area_step(u64 dev_bytes)
{
	u64 step = CLUSTERED_BLOCK;

	while (step > RESSD_MIN_SEGMENT_BLOCKS * BLOCK && step * 64 > dev_bytes)
		step /= 2;
	return step;
}

static u64 default_reserved(u64 dev_bytes, char *why, size_t size)
{
	u64 bytes = dev_bytes / 20;

	snprintf(why, size, "5 %% of the device");
	if (bytes > MAX_DEFAULT_RESERVED) {
		bytes = MAX_DEFAULT_RESERVED;
		snprintf(why, size, "5 %% of the device would be more than 4 GiB");
	}
	if (bytes < MIN_DEFAULT_RESERVED) {
		bytes = MIN_DEFAULT_RESERVED;
		snprintf(why, size, "16 segments of 64 KiB, the least that is useful");
	}
	return bytes;
}

int plan_areas(u64 dev_bytes, u64 reserved_bytes, struct ressd_table *table, char *why,
	       size_t size, struct failure *failure)
{
	const u64 end = align_down(dev_bytes, BLOCK);
	struct ressd_geom geom;
	u64 start;

	if (reserved_bytes)
		snprintf(why, size, "as asked for");
	else
		reserved_bytes = default_reserved(dev_bytes, why, size);
	start = reserved_bytes < end ? align_down(end - reserved_bytes, area_step(dev_bytes)) : 0;
	if (!start)
		return fail(failure, -EINVAL,
			    "a reserved area of %llu bytes leaves no normal area on a device of %llu bytes; choose a smaller --reserved or a larger device",
			    reserved_bytes, dev_bytes);
	table->normal_start = 0;
	table->len = start / 512;
	table->reserved_start = start / 512;
	table->reserved_sectors = (end - start) / 512;
	if (ressd_geom_init(&geom, table->reserved_sectors, 0, failure->text,
			    sizeof(failure->text)))
		return -EINVAL;
	return 0;
}

bool plan_fit_block(u64 dev_bytes, u64 block, u64 first, bool may_grow, struct ressd_table *table,
		    char *why, size_t size)
{
	const u64 end = align_down(dev_bytes, BLOCK), wanted = block * PLAN_BLOCKS;
	u64 bytes = table->reserved_sectors * 512, start;
	const bool grow = may_grow && bytes < wanted && wanted <= dev_bytes / 8;

	if (block % BLOCK || first % BLOCK)
		return false;
	if (grow)
		bytes = wanted;
	if (bytes + block + first % block >= end)
		return false;
	start = end - bytes;
	start -= (start - first % block) % block;
	if (grow)
		snprintf(why, size, "%u clustered blocks, for a segment each", PLAN_BLOCKS);
	table->len = start / 512;
	table->reserved_start = start / 512;
	table->reserved_sectors = (end - start) / 512;
	return true;
}

u64 plan_mover_stride(const struct ressd_table *table, u32 bytes, unsigned int percent)
{
	const u64 pieces = table->reserved_sectors * 512 / 100 * percent / bytes;
	const u64 stride = pieces ? align_down(table->len * 512 / pieces, BLOCK) : 0;

	return stride > bytes ? stride : bytes;
}
