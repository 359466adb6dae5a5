// SPDX-License-Identifier: GPL-2.0-only
/* The reserved area on its device; see area.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "log/area.h"
#include "log/super-pair.h"
#include "ressd-cover.h"

static u64 super_offset(const struct ressd_table *table, u32 copy)
{
	return table->reserved_start * 512 + super_copy_offset(copy, table->reserved_sectors);
}

/* Neither blank nor good: what else is it?  libblkid may know. */
static int inspect_foreign(struct area *area, const struct blkdev *dev,
			   const struct ressd_table *table, struct failure *failure)
{
	char signature[128];
	int found = blkdev_signature(dev, table->reserved_start * 512,
				     table->reserved_sectors * 512, signature,
				     sizeof(signature), failure);

	if (found < 0)
		return found;
	if (found)
		snprintf(area->what, sizeof(area->what), "the reserved area holds %s", signature);
	if (found || area->what[0])
		area->kind = AREA_FOREIGN;
	return 0;
}

int area_inspect(struct area *area, const struct blkdev *dev, const struct ressd_table *table,
		 struct failure *failure)
{
	struct ressd_super *copies = blkdev_buffer(2 * RESSD_BLOCK_SIZE);
	int code, verdict;

	memset(area, 0, sizeof(*area));
	if (!copies)
		return fail(failure, -ENOMEM, "not enough memory for two superblocks");
	code = blkdev_read(dev, super_offset(table, 0), &copies[0], RESSD_BLOCK_SIZE,
			   failure);
	if (!code)
		code = blkdev_read(dev, super_offset(table, 1), &copies[1], RESSD_BLOCK_SIZE,
				   failure);
	if (!code) {
		verdict = ressd_super_choose(&copies[0], &copies[1], &area->info, area->what,
					     sizeof(area->what));
		area->kind = verdict ? AREA_BLANK : AREA_RESSD;
		if (verdict == -ENODATA)
			area->what[0] = '\0';
		if (verdict)
			code = inspect_foreign(area, dev, table, failure);
	}
	free(copies);
	return code;
}

static int make_uuid(u8 *uuid, struct failure *failure)
{
	if (getrandom(uuid, RESSD_UUID_SIZE, 0) != RESSD_UUID_SIZE)
		return fail(failure, -EIO, "the kernel gives no random numbers for a UUID: %s",
			    strerror(errno));
	uuid[6] = (uuid[6] & 0x0f) | 0x40;	/* version 4: random */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
	return 0;
}

/*
 * Old records are foreign under the new UUID anyway; without their first headers nobody who dumps
 * the area takes them for current.
 */
static int blank_segments(const struct blkdev *dev, const struct ressd_table *table,
			  const struct ressd_geom *geom, const void *zeroes,
			  struct failure *failure)
{
	u32 slot;
	int code = 0;

	for (slot = 0; !code && slot < geom->nr_segments; slot++) {
		u64 block = ressd_geom_slot_start(geom, slot);

		code = blkdev_write(dev, table->reserved_start * 512 + block * RESSD_BLOCK_SIZE,
				    zeroes, RESSD_BLOCK_SIZE, failure);
	}
	return code;
}

static int change_super(const struct blkdev *dev, const struct ressd_table *table,
			const struct ressd_super_info *info, u32 copy, bool alone,
			struct failure *failure)
{
	struct ressd_super super;

	if (info)
		ressd_super_encode(&super, info, copy);
	return super_copy_change(dev, table->reserved_start * 512, table->reserved_sectors, copy,
				 info ? &super : NULL, alone, failure);
}

/* Copy 1 first: of new ones, it is alone until the other is there; of old ones, the other is. */
static int change_supers(const struct blkdev *dev, const struct ressd_table *table,
			 const struct ressd_super_info *info, struct failure *failure)
{
	int code = change_super(dev, table, info, 1, info, failure);

	return code ? code : change_super(dev, table, info, 0, !info, failure);
}

int area_format(const struct blkdev *dev, const struct table_line *line, u32 devices, u8 *uuid,
		struct failure *failure)
{
	struct ressd_super_info info = { .table = line->table, .devices = devices };
	struct ressd_geom geom;
	void *zeroes;
	int code;

	if (ressd_geom_init(&geom, line->table.reserved_sectors, line->options.segment_sectors,
			    failure->text, sizeof(failure->text)))
		return -EINVAL;
	info.segment_sectors = geom.segment_blocks * RESSD_BLOCK_SECTORS;
	info.record_blocks = geom.record_blocks;
	ressd_options_pack(&line->options, info.options);
	if (line->options.cover == RESSD_ON)
		info.cover_blocks = ressd_cover_default(&geom, line->table.len);
	code = make_uuid(info.uuid, failure);
	if (code)
		return code;
	zeroes = blkdev_buffer(RESSD_BLOCK_SIZE);
	if (!zeroes)
		return fail(failure, -ENOMEM, "not enough memory to blank the log");

	/* The old superblocks go first: no cut may leave one that describes a half blanked log. */
	code = change_supers(dev, &line->table, NULL, failure);
	if (!code)
		code = blank_segments(dev, &line->table, &geom, zeroes, failure);
	/* Durable before the first new one has its magic. */
	if (!code)
		code = change_supers(dev, &line->table, &info, failure);
	free(zeroes);
	memcpy(uuid, info.uuid, RESSD_UUID_SIZE);
	return code;
}

int area_store_options(const struct blkdev *dev, const struct ressd_super_info *info,
		       const struct ressd_options *options, struct failure *failure)
{
	struct ressd_super *super = blkdev_buffer(RESSD_BLOCK_SIZE);
	struct ressd_super_info changed = *info;
	u32 copy;
	int code = 0;

	if (!super)
		return fail(failure, -ENOMEM, "not enough memory for a superblock");
	ressd_options_pack(options, changed.options);
	/* One after the other: a cut damages at most one copy. */
	for (copy = 2; !code && copy--; ) {
		ressd_super_encode(super, &changed, copy);
		code = blkdev_write(dev, super_offset(&info->table, copy), super, RESSD_BLOCK_SIZE,
				    failure);
		if (!code)
			code = blkdev_flush(dev, failure);
	}
	free(super);
	return code;
}

#define ERASED_AT_ONCE	1048576U

static int erase_rest(const struct blkdev *dev, const struct ressd_table *table,
		      void (*progress)(void *context, u64 done, u64 total), void *context,
		      struct failure *failure)
{
	const u64 end = table->reserved_sectors * 512;
	void *zeroes = blkdev_buffer(ERASED_AT_ONCE);
	u64 done = 0;
	int code = zeroes ? 0 : fail(failure, -ENOMEM, "not enough memory to erase the log");

	while (!code && done < end) {
		u64 bytes = end - done < ERASED_AT_ONCE ? end - done : ERASED_AT_ONCE;

		code = blkdev_write(dev, table->reserved_start * 512 + done, zeroes, bytes,
				    failure);
		done += bytes;
		progress(context, done, end);
	}
	free(zeroes);
	return code ? code : blkdev_flush(dev, failure);
}

int area_erase(const struct blkdev *dev, const struct ressd_super_info *info,
	       void (*progress)(void *context, u64 done, u64 total), void *context,
	       struct failure *failure)
{
	const u32 last = info->table.reserved_start ? 1 : 0;
	int code = change_super(dev, &info->table, NULL, !last, false, failure);

	if (!code)
		code = change_super(dev, &info->table, NULL, last, true, failure);
	return code ? code : erase_rest(dev, &info->table, progress, context, failure);
}

/*
 * Reads superblock @copy at @offset: 1 and @info if it is good, or damaged but the other one is;
 * 0, or a negative errno, -EPROTONOSUPPORT for one of another version.
 */
static int read_copy(const struct blkdev *dev, u64 offset, u32 copy,
		     struct ressd_super_info *info, struct failure *failure)
{
	struct ressd_super *super = blkdev_buffer(RESSD_BLOCK_SIZE);
	enum ressd_super_verdict verdict;
	char reason[RESSD_ERROR_SIZE];
	int code;

	if (!super)
		return fail(failure, -ENOMEM, "not enough memory for a superblock");
	code = blkdev_read(dev, offset, super, RESSD_BLOCK_SIZE, failure);
	if (!code) {
		verdict = ressd_super_decode(super, copy, info, reason, sizeof(reason));
		code = verdict == RESSD_SUPER_GOOD;
		if (verdict == RESSD_SUPER_FOREIGN &&
		    super->magic == cpu_to_le64(RESSD_SUPER_MAGIC) &&
		    le32_to_cpu(super->copy) == copy)
			code = fail(failure, -EPROTONOSUPPORT, "%s: %s", dev->path, reason);
		if (verdict == RESSD_SUPER_DAMAGED)
			code = super_copy_other(dev, super, copy, offset, info, failure);
	}
	free(super);
	return code;
}

int area_find_at_end(const struct blkdev *dev, struct ressd_super_info *info,
		     struct failure *failure)
{
	u64 end = blkdev_blocks_end(dev);

	return end ? read_copy(dev, end - RESSD_BLOCK_SIZE, 1, info, failure) : 0;
}

/* Where the copies differ, the length and the options that count are not in each of them. */
static void settle(const struct blkdev *dev, struct ressd_super_info *info)
{
	const u64 start = info->table.reserved_start, sectors = info->table.reserved_sectors;
	struct super_pair pair;

	super_pair_read(&pair, dev, start, sectors);
	if (!pair.choice && pair.info.table.reserved_start == start &&
	    pair.info.table.reserved_sectors == sectors)
		*info = pair.info;
}

int area_find(const struct blkdev *dev, struct ressd_super_info *info, struct failure *failure)
{
	const struct ressd_table *table = &info->table;
	const u64 sectors = blkdev_blocks_end(dev) / 512;
	struct failure at_begin;
	int end = area_find_at_end(dev, info, failure), begin;

	if (end > 0 && table->reserved_sectors <= sectors &&
	    table->reserved_start == sectors - table->reserved_sectors) {
		settle(dev, info);
		return 1;
	}
	begin = sectors ? read_copy(dev, 0, 0, info, &at_begin) : 0;
	if (begin > 0 && !table->reserved_start && table->reserved_sectors <= sectors) {
		settle(dev, info);
		return 1;
	}
	if (end < 0)
		return end;
	return begin < 0 ? fail(failure, begin, "%s", at_begin.text) : 0;
}

char *uuid_print(const u8 *uuid, char *text)
{
	char *at = text;
	int i;

	for (i = 0; i < RESSD_UUID_SIZE; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		at += sprintf(at, "%02x", uuid[i]);
	}
	return text;
}
